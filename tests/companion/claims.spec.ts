import { describe, expect, it } from 'vitest'
import { statedIn } from '../../src/companion/claims/in-readme.ts'
import { readExpectedCount } from '../../src/companion/claims/readme-count.ts'
import { isWholeCommand, runIn } from '../../src/companion/claims/runs.ts'
import { companionWorld } from '../support/companion-world.ts'

describe('the expected count', () => {
  const below = (text: string) => readExpectedCount(`# A\n\n## Expected count\n\n${text}\n`)?.n ?? null
  it.each([
    ['34 PASS', 34],
    ['**9** PASS', 9],
    ['| 9 | PASS |', 9],
    ['9,001 PASS', 9_001],
    ['`9` PASS', 9],
    ['9\u00a0PASS', 9],
    ['0 PASS', 0],
    ['first 7 PASS, then 8 PASS', 7],
    ['```\n12 PASS\n```', 12],
  ])('is read from %j', (text, n) => expect(below(text)).toBe(n))

  it.each([
    '9 PASSED',
    'v9 PASS',
    '-9 PASS',
    '9 pass',
    '1.9 PASS',
    '12345678 PASS',
    '<!-- 9 PASS -->',
    '## Next\n\n9 PASS',
    '# Next\n9 PASS',
  ])('is not read from %j', text => expect(below(text)).toBeNull())

  it.each([
    ['```\n## Expected count\n9 PASS\n```\n'],
    ['## expected count\n9 PASS\n'],
    ['### Expected count\n9 PASS\n'],
    ['## Expected count of things\n9 PASS\n'],
  ])('needs its heading: %j', text => expect(readExpectedCount(text)).toBeNull())

  it('takes any line end, a byte order mark and closing signs', () => {
    expect(readExpectedCount('\uFEFF## Expected count ##\r\n\r\n9 PASS\r\n')).toMatchObject({ n: 9, line: 3, column: 1 })
    expect(readExpectedCount('## Expected count\r9 PASS')).toMatchObject({ n: 9 })
  })

  it('is the first number after the first such text where the older reading is asked for', () => {
    const text = '```\n## Expected count\n```\n## Other\n12 PASS\n'
    expect(readExpectedCount(text)).toBeNull()
    expect(readExpectedCount(text, true)?.n).toBe(12)
  })
})

describe('numbers that a README states', () => {
  const found = (text: string) => statedIn(text).map(({ id, expected, measure }) => [id, expected, measure])
  it.each([
    ['34 tests.', [['tests-phrase', 34, 'total']]],
    ['It has **34** unit tests.', [['tests-phrase', 34, 'total']]],
    ['1,024 automated tests', [['tests-phrase', 1_024, 'total']]],
    ['34 passing tests', [['tests-phrase', 34, 'passed']]],
    ['34 tests pass', [['tests-phrase', 34, 'passed']]],
    ['[34 tests](tests/) are there', [['tests-phrase', 34, 'total']]],
    ['![t](https://img.shields.io/badge/tests-34%20passing-green)', [['badge', 34, 'passed']]],
    ['![t](https://img.shields.io/badge/tests-34-green)', [['badge', 34, 'total']]],
    ['![t](https://img.shields.io/badge/tests-34_tests-green.svg)', [['badge', 34, 'total']]],
    ['## Expected count\n\n34 PASS', [['expected-count', 34, 'passed']]],
    ['| part | tests |\n| --- | --- |\n| a | 3 |\n| b | 4 |\n| **Total** | 8 |', [['tests-table', 8, 'rows']]],
  ])('are claims in %j', (text, claims) => expect(found(text)).toEqual(claims))

  it.each([
    '~30 tests',
    '30+ tests',
    '≥ 30 tests',
    'over 30 tests',
    'more than 30 tests',
    'at least 30 tests',
    '30 testing hours',
    'v30 tests',
    '1.30 tests',
    '```\n30 tests\n```',
    '30 tests <!-- outrigger: no claim -->',
    '# Changelog\n\n30 tests were added',
    '# Release notes\n\n## 1.0\n\n30 tests',
    '| a | b |\n| --- | --- |\n| 30 tests | x |',
    '| part | tests |\n| --- | --- |\n| a | 3 |\n| Total | 3 |',
    '| tests | passing |\n| --- | --- |\n| 1 | 3 |\n| 2 | 4 |\n| Total | 7 |',
  ])('are no claims in %j', text => expect(found(text)).toEqual([]))

  it('stand at their line and column', () => {
    expect(statedIn('\uFEFF# A\n\nHas **34** tests\n')).toMatchObject([{ line: 3, column: 7 }])
  })
})

describe('a run', () => {
  it.each([
    ['\u001b[2m      Tests \u001b[22m \u001b[1m2 failed\u001b[22m | 30 passed | 1 skipped | 1 todo (34)', 'vitest', 30, 2, 34],
    ['      Tests  2 failed | 30 passed | 1 skipped | 1 todo (34)', 'vitest', 30, 2, 34],
    ['Tests:       1 skipped, 1 todo, 33 passed, 35 total', 'jest', 33, 0, 35],
    ['# tests 5\n# suites 1\n# pass 3\n# fail 1\n# cancelled 1\n# skipped 0\n# todo 0', 'node', 3, 2, 5],
    ['ℹ tests 5\nℹ pass 5\nℹ fail 0', 'node', 5, 0, 5],
    ['== 1 failed, 30 passed, 2 skipped, 1 xfailed, 3 warnings in 0.10s ==', 'pytest', 30, 1, 34],
    ['30 passed in 1.2s', 'pytest', 30, 0, 30],
    [
      'test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished',
      'cargo',
      7,
      0,
      8,
    ],
    ['--- PASS: TestA (0.00s)\n    --- PASS: TestA/sub\n--- FAIL: TestB\n--- SKIP: TestC', 'go', 1, 1, 3],
  ])('is read from %j', (output, runner, passed, failed, total) => {
    expect(runIn(output)).toMatchObject({ runner, passed, failed, total, partial: false })
  })

  it('that says itself that it left something out is partial', () => {
    expect(runIn('30 passed, 4 deselected in 1.2s')).toMatchObject({ partial: true })
    expect(runIn('test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out')).toMatchObject({ partial: true })
  })

  it('whose output was cut counts when it has one summary only', () => {
    const cut = '… 900 bytes left out …\n'
    expect(runIn(`${cut} Tests  3 passed (3)`)).toMatchObject({ partial: false })
    expect(runIn(`${cut} Tests  3 passed (3)\n Tests  4 passed (4)`)).toMatchObject({ partial: true, total: 7 })
    expect(runIn(`${cut}--- PASS: TestA`)).toMatchObject({ partial: true })
  })

  it.each(['ok   pkg 0.1s', 'all 3 tests passed', 'Tests are passed (3)', ''])('is none in %j', output =>
    expect(runIn(output)).toBeNull(),
  )

  it.each([
    'npm test',
    'npm run test',
    'pnpm test -- --run',
    'npx vitest run',
    'cd app && npx vitest run --reporter dot 2>&1 | tail -5',
    'CI=1 jest --ci --coverage',
    'pytest -q --tb=short',
    'python -m pytest -n 4',
    'go test ./... -race -count=1',
    'cargo test --workspace',
    'node --test --test-reporter spec > out.log',
    'time npm t',
  ])('of everything is %j', command => expect(isWholeCommand(command, [])).toBe(true))

  it.each([
    'npx vitest run tests/a.test.ts',
    'npx vitest run -t name',
    'pytest -k name',
    'pytest tests',
    'go test ./pkg',
    'npm test && npm test',
    'npm run build',
    'vitest run a && npm test',
    'jest --changedSince main',
    'echo npm test',
  ])('of everything is not %j', command => expect(isWholeCommand(command, [])).toBe(false))

  it('is what the configuration says', () => expect(isWholeCommand('make check', ['make check'])).toBe(true))
})

describe('claims in a session', () => {
  const files = { 'package.json': '{"name":"demo"}', 'README.md': '34 tests\n', 'src/a.ts': '' }
  const ran = (count: number) => ({
    tool: 'bash',
    input: { command: 'npx vitest run' },
    output: ` Tests  ${count} passed (${count})\n`,
  })

  it('are told once, again when they drift anew, and confirmed when corrected', async () => {
    const world = await companionWorld(files, { config: { cooldownCalls: 0 } })
    expect(world.call(ran(36)).reconciliation).toMatchObject({ status: 'note' })
    expect(world.call(ran(36)).reconciliation).toMatchObject({ status: 'deduped' })
    world.write('README.md', '36 tests\n')
    const confirmed = world.edit('README.md')
    expect(world.lines(confirmed)).toContain('reconciliation clear demo (36 expected, 36 actual)')
    world.hear({ kind: 'person-spoke', text: 'more' })
    expect(world.call(ran(37)).reconciliation).toMatchObject({ status: 'note', expected: 36, actual: 37 })
  })

  it('rest after a note, and count against the cap', async () => {
    const world = await companionWorld(files)
    world.call(ran(36))
    expect(world.lines(world.call(ran(37)))).toContain('reconciliation skipped cooldown demo')
    const capped = await companionWorld(files, { config: { maxNotesPerTurn: 0 } })
    expect(capped.lines(capped.call(ran(36)))).toContain('reconciliation skipped cap demo')
  })

  it('expire when code changes, and not when the README does', async () => {
    const world = await companionWorld(files, { config: { cooldownCalls: 0 } })
    world.call(ran(34))
    expect(world.edit('README.md').reconciliation).toMatchObject({ status: 'clear' })
    expect(world.edit('src/a.ts').reconciliation).toBeNull()
    world.call(ran(34))
    world.hear({ kind: 'file-changed', path: 'src/a.ts', by: 'outside' })
    expect(world.edit('README.md').reconciliation).toBeNull()
  })

  it('are not refuted by a run that failed', async () => {
    const world = await companionWorld(files)
    expect(world.call({ ...ran(36), output: ' Tests  1 failed | 35 passed (36)\n' })).toMatchObject({
      note: null,
      reconciliation: null,
    })
    const { claims } = await world.verb('check', {})
    expect(claims).toMatchObject([{ status: 'unknown', why: 'failing-run', actual: null }])
  })

  it('that contradict each other are unknown', async () => {
    const world = await companionWorld({ ...files, 'README.md': '34 tests\n\n35 tests\n' })
    world.call(ran(34))
    const { claims, totals } = await world.verb('check', {})
    expect(claims.map((each: { why: string }) => each.why)).toEqual(['ambiguous', 'ambiguous'])
    expect(totals).toEqual({ claims: 2, ok: 0, drift: 0, unknown: 2 })
  })

  it('of packs are counted in the tree', async () => {
    const pack = [
      'version: 1',
      'claims:',
      '  - {id: engines, files: [README.md], text: "{n} engines", measure: {files: "src/engines/*/index.ts"}}',
      '  - {id: keys, files: [README.md], text: "{n} keys", measure: {json: {file: data.json, pointer: /a~1b}}}',
      '  - {id: todo, files: [README.md], text: "{n} marks", measure: {lines: {files: "src/**", text: "mark:"}}}',
      '  - {id: gone, files: [README.md], text: "{n} wheels", measure: {files: "*"}, required: true}',
    ].join('\n')
    const world = await companionWorld({
      'package.json': '{"name":"demo"}',
      'README.md': '3 engines, 2 keys\n1 marks\n',
      'src/engines/a/index.ts': 'mark: 1\n',
      'src/engines/b/index.ts': '',
      'data.json': '{"a/b":[1,2]}',
      '.outrigger/pack.yml': pack,
    })
    const checked = await world.verb('check', {})
    expect(checked.ok).toBe(false)
    expect(checked.drifts).toEqual([
      { file: 'README.md', line: 1, reason: 'the claim differs from the tree', expected: 3, actual: 2, package: 'demo' },
      { file: 'README.md', line: 1, reason: 'the claim pattern matched nothing', expected: 0, actual: 0, package: 'demo' },
    ])
    expect(checked.totals).toEqual({ claims: 4, ok: 2, drift: 2, unknown: 0 })
  })
})

describe('a long line', () => {
  const long = 100_000
  const spaces = ' '.repeat(long)
  it.each([
    ['vitest', `Tests${spaces}x`],
    ['jest', `Tests:${spaces}x`],
    ['pytest', `${'1 passed, '.repeat(long / 10)}x`],
    ['node', `# tests 1${spaces}x`],
  ])('costs no more than its length in the output of a run: %s', (_, line) => {
    const began = performance.now()
    expect(runIn(line, true)).toBeNull()
    expect(performance.now() - began).toBeLessThan(1_000)
  })

  it.each([
    ['the rule of a table', `|tests|\n---${spaces}x`],
    ['a fence', `${'`'.repeat(long)}\u2028`],
    ['a heading', `#${spaces}\u2028`],
    ['numbers', '7 tests '.repeat(long / 8)],
    ['words of doubt', `${'~ '.repeat(long / 2)}7 tests`],
  ])('costs no more than its length in a README: %s', (_, text) => {
    const began = performance.now()
    statedIn(text)
    expect(performance.now() - began).toBeLessThan(1_000)
  })
})
