/** companion's verbs on the built program: exit codes, documents and texts as a script sees them. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { buildProgram, type Finished, type Program } from '../../support/cli/program.ts'
import { edge, playform } from '../../support/companion-world.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let program: Program
beforeAll(async () => {
  program = await buildProgram()
})
afterAll(() => program?.remove())

const parse = {
  'package.json': '{"name":"demo"}\n',
  'src/parse.ts': 'export const parse = 1\n',
  'tests/parse.test.ts': "import { parse } from '../src/parse'\n",
  'README.md': '# demo\n\n34 tests.\n',
}

function project(files: Readonly<Record<string, string>>): string {
  const folder = program.folder(files)
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], {
      cwd: folder,
      env: program.env,
      stdio: 'ignore',
    })
  git('init', '-q', '-b', 'main')
  git('add', '-A')
  git('commit', '-q', '-m', 'all')
  return folder
}

const run = (folder: string, args: readonly string[], stdin?: string): Promise<Finished> =>
  program.run(folder, ['companion', ...args], stdin === undefined ? {} : { stdin })
const jsonLines = ({ out }: Finished) =>
  out
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
const events = (...list: readonly object[]) => list.map(event => `${JSON.stringify(event)}\n`).join('')
const edit = (path: string, more: object = {}) => ({
  tool: 'Edit',
  input: { file_path: path, old_string: 'a', new_string: 'b' },
  ...more,
})

describe('companion judge', () => {
  it('notes, waits for sub-calls, travels, dedupes: one state over one stream (W11, W22, W23, W27)', async () => {
    const folder = project(parse)
    const ended = await run(
      folder,
      ['judge', '--stream', '--json'],
      events(
        edit('src/parse.ts'),
        edit('src/parse.ts'),
        edit('tests/parse.test.ts'),
        edit('src/parse.ts'),
        edit('src/parse.ts', { parent: 'p' }),
      ),
    )
    expect(ended.code).toBe(0)
    const said = jsonLines(ended)
    expect(said[0]).toMatchObject({
      schema: 'outrigger.companion.judge/1',
      judged: true,
      note: {
        summary: 'Tests 0.97',
        intent: 'Tests',
        k: 0.9707,
        candidates: [{ path: 'tests/parse.test.ts', for: 'src/parse.ts', k: 0.9707, missing: false }],
      },
      abstained: null,
      reconciliation: null,
      ledger: ['companion: suggest Tests 0.97 1 candidates call edit'],
    })
    expect(said[0].note.text).toBe(
      '[companion] intent=Tests confidence=0.97 candidates=1\n- tests/parse.test.ts - because it imports src/parse.ts; its name follows src/parse.ts\nnote: these tests exercise what changed; update them if its behaviour moved.',
    )
    expect(said.slice(1).map(({ abstained }) => abstained.code)).toEqual(['deduped', 'no-signal', 'travelling', 'sub-call'])
    expect(existsSync(join(folder, '.outrigger'))).toBe(false)
  })

  it('keeps its state in a file of its own, and touches no other (W7, W1)', async () => {
    const folder = project({ ...playform, ...edge, '.outrigger/config.yml': 'companion: {compat: playform}\n' })
    const glob = events({ tool: 'Glob', input: { pattern: 'Source/Test/*/Test.ts' } })
    const first = jsonLines(await run(folder, ['judge', '--state', 'kept.json', '--json'], glob))[0]
    expect(first.ledger).toEqual([
      'test-suggester: reconciliation clear hook-x (40 expected, 40 actual)',
      'test-suggester: suggest Suite 0.65 4 candidates call glob',
    ])
    const rest = jsonLines(await run(folder, ['judge', '--state', 'kept.json', '--stream', '--json'], glob.repeat(7)))
    expect(rest.map(({ note }) => note !== null)).toEqual([false, false, false, false, false, false, true])
    expect(JSON.parse(readFileSync(join(folder, 'kept.json'), 'utf8'))).toMatchObject({ schema: 'outrigger.companion.state/1' })
    writeFileSync(join(folder, 'other.json'), '{"a":1}')
    const refused = await run(folder, ['judge', '--state', 'other.json', '--json'], glob)
    expect({ code: refused.code, error: JSON.parse(refused.out).error.code }).toEqual({ code: 2, error: 'COMPANION_BAD_STATE' })
    expect(readFileSync(join(folder, 'other.json'), 'utf8')).toBe('{"a":1}')
  })

  it.each([
    ['', 'COMPANION_BAD_EVENT'],
    ['[]', 'COMPANION_BAD_EVENT'],
    ['{"input":{}}', 'COMPANION_BAD_EVENT'],
    ['{"kind":"nothing"}', 'COMPANION_BAD_EVENT'],
    [JSON.stringify({ tool: 'edit', output: 'x'.repeat(1024 * 1024) }), 'COMPANION_TOO_BIG'],
  ])('refuses what is no event: %.20j', async (text, code) => {
    const ended = await run(project(parse), ['judge', '--json'], text)
    expect({ exit: ended.code, code: JSON.parse(ended.out).error.code }).toEqual({ exit: 2, code })
  })
})

describe('companion for', () => {
  it('gives the document of the table, and refuses what it must', async () => {
    const folder = project(parse)
    const found = await run(folder, ['for', 'src/parse.ts', '--json'])
    expect(found.code).toBe(0)
    expect(JSON.parse(found.out)).toEqual({
      schema: 'outrigger.companion.for/1',
      paths: [
        {
          path: 'src/parse.ts',
          kind: 'source',
          companions: [
            {
              path: 'tests/parse.test.ts',
              intent: 'Tests',
              priority: 1,
              k: 0.9707,
              missing: false,
              because: ['it imports src/parse.ts', 'its name follows src/parse.ts'],
              evidence: [
                { signal: 'convention', weight: 1.9, strength: 1, contribution: 1.9, detail: { exact: true } },
                { signal: 'imports', weight: 2.2, strength: 1, contribution: 2.2, detail: { depth: 1, fan: 1 } },
              ],
            },
          ],
        },
      ],
    })
    for (const [args, code] of [
      [['for', '../else.ts'], 'COMPANION_OUTSIDE'],
      [['for', 'src/gone.ts'], 'COMPANION_NO_SUCH_PATH'],
      [['for', 'src/parse.ts', '--until', 'nothing'], 'COMPANION_USAGE'],
    ] as const) {
      const refused = await run(folder, [...args, '--json'])
      expect({ exit: refused.code, code: JSON.parse(refused.out).error.code }).toEqual({ exit: 2, code })
    }
    expect((await run(folder, ['for', 'src/gone.ts', '--removed'])).out).toBe('src/gone.ts: no companions\n')
    writeFileSync(join(folder, '.outrigger.yml'), '')
  })

  it('names every fault of its configuration', async () => {
    const folder = project({ ...parse, '.outrigger/config.yml': 'companion: {maxNoteChars: 1, nothing: 2}\n' })
    const refused = await run(folder, ['for', 'src/parse.ts', '--json'])
    expect(refused.code).toBe(2)
    expect(JSON.parse(refused.out).error).toMatchObject({
      code: 'COMPANION_BAD_CONFIG',
      faults: [{ key: 'companion.maxNoteChars' }, { key: 'companion.nothing' }],
    })
  })
})

describe('companion check', () => {
  it('agrees, differs, and says so in every form (W24, W26)', async () => {
    const folder = project({
      ...parse,
      'good.log': 'Tests: 1 skipped, 33 passed, 34 total\n',
      'bad.log': ' Tests  36 passed (36)\n',
      'none.log': 'nothing\n',
    })
    expect(await run(folder, ['check', '--results', 'good.log'])).toMatchObject({
      code: 0,
      out: '1 claim: 1 ok, 0 drift, 0 unknown\n',
    })
    const bad = await run(folder, ['check', '--results', 'bad.log', '--format', 'json'])
    expect(bad.code).toBe(1)
    expect(JSON.parse(bad.out)).toEqual({
      schema: 'outrigger.companion.check/1',
      ok: false,
      claims: [
        {
          id: 'tests-phrase',
          file: 'README.md',
          line: 3,
          column: 1,
          text: '34 tests',
          expected: 34,
          actual: 36,
          measure: 'total',
          status: 'drift',
          package: 'demo',
        },
      ],
      drifts: [
        {
          file: 'README.md',
          line: 3,
          reason: 'the claim differs from the last whole run',
          expected: 34,
          actual: 36,
          package: 'demo',
        },
      ],
      packages: [{ name: 'demo', dir: '.', expected: 34, actual: 36, drifts: 1 }],
      untouched: [],
      totals: { claims: 1, ok: 0, drift: 1, unknown: 0 },
    })
    expect((await run(folder, ['check', '--results', 'bad.log'])).out).toBe(
      'README.md:3 the claim differs from the last whole run (expected 34, actual 36)\n1 claim: 0 ok, 1 drift, 0 unknown\n',
    )
    const { runs } = JSON.parse((await run(folder, ['check', '--results', 'bad.log', '--format', 'sarif'])).out)
    expect(runs[0].tool.driver.name).toBe('outrigger companion')
    expect(runs[0].results).toMatchObject([
      {
        ruleId: 'companion/claim',
        level: 'error',
        locations: [{ physicalLocation: { artifactLocation: { uri: 'README.md' }, region: { startLine: 3 } } }],
      },
    ])
    expect(await run(folder, ['check'])).toMatchObject({ code: 0, out: '1 claim: 0 ok, 0 drift, 1 unknown (no-run)\n' })
    expect((await run(folder, ['check', '--strict'])).code).toBe(1)
    expect((await run(folder, ['check', '--results', 'none.log'])).code).toBe(2)
    expect((await run(folder, ['check', '--results', 'gone.log'])).code).toBe(3)
  })

  it('names companions that stayed untouched since a revision', async () => {
    const folder = project(parse)
    writeFileSync(join(folder, 'src/parse.ts'), 'export const parse = 2\n')
    const warned = await run(folder, ['check', '--since', 'main', '--json'])
    expect(warned.code).toBe(0)
    expect(JSON.parse(warned.out).untouched).toEqual([
      {
        path: 'src/parse.ts',
        companion: 'tests/parse.test.ts',
        intent: 'Tests',
        k: 0.9707,
        because: ['it imports src/parse.ts', 'its name follows src/parse.ts'],
      },
    ])
    expect((await run(folder, ['check', '--since', 'main', '--require'])).code).toBe(1)
    expect(JSON.parse((await run(folder, ['check', '--since', 'main', '--min-k', '0.99', '--json'])).out).untouched).toEqual([])
    expect((await run(folder, ['check', '--since', 'nothing'])).code).toBe(2)
    writeFileSync(join(folder, 'tests/parse.test.ts'), '')
    expect(JSON.parse((await run(folder, ['check', '--since', 'main', '--json'])).out).untouched).toEqual([])
  })

  it('looks at every suite of a workspace, and at no other', async () => {
    const { 'Target/Test/Edge/Test.js': _, ...unbuilt } = edge
    const config = { '.outrigger/config.yml': 'companion: {compat: playform}\n' }
    const drifted = await run(project({ ...playform, ...unbuilt, ...config }), ['check', '--json'])
    expect(drifted.code).toBe(1)
    expect(JSON.parse(drifted.out)).toMatchObject({
      claims: [],
      drifts: [{ file: 'Target/Test/Edge/Test.js', line: 1, expected: 6, actual: 0, package: 'hook-x' }],
      packages: [{ name: 'hook-x', dir: '.', expected: 40, actual: 34, drifts: 1 }],
    })
    expect(await run(project({ ...parse, ...config }), ['check', '--json'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('"foreign":true'),
    })
  })
})

describe('companion packs and explain', () => {
  it('show what counts', async () => {
    const folder = project(parse)
    expect(await run(folder, ['packs'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('Tests (builtin) priority 1, gate 0.75, at most 1.00'),
    })
    writeFileSync(join(folder, 'README.md'), 'x')
    const explained = JSON.parse((await run(folder, ['explain', 'src/parse.ts', '--json'])).out)
    expect(explained).toMatchObject({
      schema: 'outrigger.companion.explain/1',
      kind: 'source',
      package: { dir: '.', name: 'demo' },
    })
    const mistyped = await run(folder, ['explain', 'lib/parse.ts', '--json'])
    expect([mistyped.code, JSON.parse(mistyped.out).error]).toMatchObject([
      2,
      { code: 'COMPANION_NO_SUCH_PATH', hint: 'did you mean src/parse.ts?' },
    ])
    for (const { candidates } of explained.intents) {
      for (const { sum, k, evidence } of candidates) {
        expect(evidence.reduce((total: number, each: { contribution: number }) => total + each.contribution, 0)).toBeCloseTo(
          sum,
          3,
        )
        expect(1 / (1 + Math.exp(-(sum - 0.6)))).toBeCloseTo(k, 4)
      }
    }
    execFileSync('mkdir', ['-p', join(folder, '.outrigger')])
    writeFileSync(join(folder, '.outrigger/pack.yml'), 'version: 7\n')
    expect((await run(folder, ['packs'])).code).toBe(1)
    const refused = await run(folder, ['check', '--json'])
    expect({ exit: refused.code, code: JSON.parse(refused.out).error.code }).toEqual({ exit: 2, code: 'COMPANION_BAD_PACK' })
  })
})
