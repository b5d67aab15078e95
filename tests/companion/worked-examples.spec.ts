import { describe, expect, it } from 'vitest'
import { type CompanionWorld, companionWorld, edge, playform } from '../support/companion-world.ts'

const manifest = { 'package.json': '{"name":"demo"}\n' }
const play = (config: Readonly<Record<string, never>> | object = {}) => ({ config: { compat: 'playform', ...config } })
const glob = { tool: 'glob', input: { pattern: 'Source/Test/*/Test.ts' } }
const parse = {
  ...manifest,
  'src/parse.ts': 'export const parse = 1\n',
  'tests/parse.test.ts': "import { parse } from '../src/parse'\n",
}

async function forPath(world: CompanionWorld, path: string) {
  const { paths } = await world.verb('for', { paths: [path] })
  return paths[0].companions
}

describe('the playform profile', () => {
  it('names the suites of an open glob as they stand (W1)', async () => {
    const world = await companionWorld({ ...playform, ...edge }, play())
    const judgement = world.call(glob)
    expect(world.lines(judgement)).toEqual([
      'reconciliation clear hook-x (40 expected, 40 actual)',
      'suggest Suite 0.65 4 candidates call glob',
    ])
    expect(judgement.ledger[0]!.text).toMatch(/^test-suggester: /)
    expect(judgement.note!.text).toBe(
      [
        '[test-suggester] intent=Suite confidence=0.65 candidates=4',
        '- Source/Test/<Suite>/Test.ts',
        '- Source/Test/<Suite>/README.md',
        '- Maintain/Run-Smokes.mjs',
        '- README.md',
        'note: because test-shape, path-shape, loop-shape; check these before you call the work done.',
      ].join('\n'),
    )
    expect(judgement.reconciliation).toMatchObject({ status: 'clear', package: 'hook-x', dir: '.' })
  })

  it('holds back what is only half evident (W2)', async () => {
    const world = await companionWorld(playform, play())
    const judgement = world.call({ tool: 'bash', input: { command: 'node --test Source/Test/Core/Test.ts' } })
    expect(world.lines(judgement).at(-1)).toBe('abstained ambiguous Suite 0.57')
    expect(judgement).toMatchObject({ note: null, abstained: { code: 'ambiguous', intent: 'Suite', k: 0.5744 } })
  })

  it.each([{ threshold: 0.75 }, { parity: ['gate'] }])(
    'lets a number that somebody wrote raise the gate (W3): %j',
    async config => {
      const world = await companionWorld({ ...playform, ...edge }, play(config))
      const judgement = world.call(glob)
      expect(world.lines(judgement)).toContain('abstained ambiguous Suite 0.65')
      expect(world.lines(judgement)).toContain('unreachable Suite gate 0.75 max 0.65')
      const { intents } = await world.verb('packs', {})
      expect(intents[0]).toMatchObject({ id: 'Suite', reachable: false, gate: 0.75, kMax: 0.6457 })
    },
  )

  it('leaves out the file at hand (W4)', async () => {
    const world = await companionWorld(playform, play())
    const judgement = world.call({ tool: 'grep', input: { pattern: '34 PASS', path: 'README.md' } })
    expect(world.lines(judgement)).toContain('suggest Counts 0.55 1 candidates call grep')
    expect(judgement.note!.candidates.map(each => each.path)).toEqual(['SCHEME.md'])
  })

  it('puts the one suite of a command into the targets (W5)', async () => {
    const world = await companionWorld(playform, play())
    const judgement = world.call({ tool: 'bash', input: { command: 'ls Source/Test/Core/Test.ts | xargs -n1 node --test' } })
    expect(world.lines(judgement)).toContain('suggest Suite 0.65 4 candidates call bash')
    expect(judgement.note!.candidates.map(each => each.path)).toEqual([
      'Source/Test/Core/Test.ts',
      'Source/Test/Core/README.md',
      'Maintain/Run-Smokes.mjs',
      'README.md',
    ])
  })

  it('tells what drifted before anything else (W6)', async () => {
    const { 'Target/Test/Edge/Test.js': _, ...unbuilt } = edge
    const loose = {
      'Source/Test/Loose/README.md': '# Loose\n',
      'Source/Test/Loose/Test.ts': '\n',
      'Target/Test/Loose/Test.js': '\n',
    }
    const world = await companionWorld({ ...playform, ...unbuilt, ...loose }, play())
    const judgement = world.call({ tool: 'read', input: { file_path: 'README.md' } })
    expect(judgement.note!.text).toBe(
      [
        '[test-suggester] reconciliation package=hook-x drifts=2 expected=40 actual=34',
        "- Target/Test/Edge/Test.js - not in the aggregate runner's roster (expected 6, actual 0)",
        '- Source/Test/Loose/README.md - no "## Expected count" (expected 0, actual 0)',
        'note: the smoke claims drifted from the tree; fix the README count, the suite file or the roster - Target/ is never edited.',
      ].join('\n'),
    )
    expect(world.lines(judgement)).toEqual(['reconciliation drift 2 drifts hook-x (40 expected, 34 actual) call read'])
    expect(judgement.note!.summary).toBe('Reconciliation 2 drifts')
  })

  it('rests for as many calls as the cooldown says (W7)', async () => {
    const world = await companionWorld({ ...playform, ...edge }, play())
    const said = Array.from({ length: 8 }, () => world.call(glob))
    expect(said.map(({ note }) => note !== null)).toEqual([true, false, false, false, false, false, false, true])
    for (const judgement of said.slice(1, 7)) expect(world.lines(judgement)).toEqual(['suppressed cooldown Suite'])
  })

  it('says nothing in a workspace of others (W8)', async () => {
    const { 'Documentation/ARCHIVE-STYLE.md': _, ...foreign } = playform
    const world = await companionWorld({ ...foreign, ...edge }, play())
    const judgement = world.call(glob)
    expect(world.lines(judgement)).toEqual(['abstained foreign-workspace  0.00'])
    expect(judgement).toMatchObject({ judged: false, abstained: { code: 'foreign-workspace' } })
  })

  it('takes no part of a word for a word (W9)', async () => {
    const world = await companionWorld(playform, play())
    const judgement = world.call({ tool: 'bash', input: { command: 'npm run contest -- latest' } })
    expect(world.lines(judgement).filter(line => /Suite|Counts/.test(line))).toEqual([])
    expect(judgement.abstained).toEqual({ code: 'no-signal' })
  })

  it('ignores a pack that points out of the root (W10)', async () => {
    const pack = 'version: 1\nintents:\n  - {id: Suite, domain: test, signals: [{id: test-shape, weight: 5}], targets: [../x]}\n'
    const world = await companionWorld({ ...playform, '.dsh/pack.yml': pack }, play())
    const judgement = world.call({ tool: 'bash', input: { command: 'node --test Source/Test/Core/Test.ts' } })
    expect(world.lines(judgement)).toContain('pack repo ignored PACK_TARGET')
    expect(world.lines(judgement).at(-1)).toBe('abstained ambiguous Suite 0.57')
  })
})

describe('tests of a source', () => {
  it('are named with their reasons, the strongest first (W11)', async () => {
    const world = await companionWorld(parse)
    const judgement = world.edit('src/parse.ts')
    expect(world.lines(judgement)).toEqual(['suggest Tests 0.97 1 candidates call edit'])
    expect(judgement.note!.text).toBe(
      [
        '[companion] intent=Tests confidence=0.97 candidates=1',
        '- tests/parse.test.ts - because it imports src/parse.ts; its name follows src/parse.ts',
        'note: these tests exercise what changed; update them if its behaviour moved.',
      ].join('\n'),
    )
    expect(judgement.note!.summary).toBe('Tests 0.97')
    expect(await forPath(world, 'src/parse.ts')).toMatchObject([
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
    ])
  })

  it('stand in a folder beside it under its own name (W12)', async () => {
    const world = await companionWorld({ ...manifest, 'src/net/http.ts': '', 'src/net/__tests__/http.ts': '' })
    expect(world.edit('src/net/http.ts').note).toMatchObject({ intent: 'Tests', summary: 'Tests 0.79' })
  })

  it('are none of them when ten import it (W13)', async () => {
    const tests = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`tests/t${n}.test.ts`, "import '../src/log.ts'\n"]))
    const world = await companionWorld({ ...manifest, 'src/log.ts': '', ...tests })
    expect(world.lines(world.edit('src/log.ts'))).toEqual(['abstained ambiguous Tests 0.62'])
  })

  it('reach it through one file (W14)', async () => {
    const world = await companionWorld({
      ...manifest,
      'src/a/deep.ts': 'export const deep = 1\n',
      'src/index.ts': "export * from './a/deep.ts'\n",
      'tests/api.test.ts': "import { deep } from '../src/index.ts'\n",
    })
    const { note } = world.edit('src/a/deep.ts')
    expect(note).toMatchObject({ summary: 'Tests 0.76' })
    expect(note!.text).toContain('it imports src/a/deep.ts through src/index.ts')
  })

  it('are found in Python packages (W15)', async () => {
    const world = await companionWorld({
      'pyproject.toml': '[project]\nname = "acme"\n',
      'src/acme/io/read.py': 'def read(): pass\n',
      'tests/io/test_read.py': 'from acme.io.read import read\n',
    })
    expect(world.edit('src/acme/io/read.py').note).toMatchObject({ summary: 'Tests 0.97' })
  })

  it.each([
    ['cmd/run.go', { 'go.mod': 'module x/y\n', 'cmd/run.go': '', 'cmd/run_test.go': '' }],
    ['crate/src/lex.rs', { 'crate/Cargo.toml': '[package]\nname = "lex"\n', 'crate/src/lex.rs': '', 'crate/tests/lex.rs': '' }],
    ['src/main/java/x/Cart.java', { 'pom.xml': '', 'src/main/java/x/Cart.java': '', 'src/test/java/x/CartTest.java': '' }],
  ])('follow the habits of other languages (W16): %s', async (path, files) => {
    const world = await companionWorld(files)
    expect(await forPath(world, path)).toMatchObject([{ intent: 'Tests', k: 0.7858 }])
  })

  it('are named by stem as long as one source has it (W17)', async () => {
    const world = await companionWorld({ ...manifest, 'src/core/router.ts': '', 'tests/integration/http/router.test.ts': '' })
    expect(await forPath(world, 'src/core/router.ts')).toMatchObject([{ k: 0.7521 }])
    const two = await companionWorld({
      ...manifest,
      'src/core/router.ts': '',
      'src/web/router.ts': '',
      'tests/integration/http/router.test.ts': '',
    })
    expect(await forPath(two, 'src/core/router.ts')).toEqual([])
    const { intents } = await two.verb('explain', { path: 'src/core/router.ts' })
    expect(intents[0]).toMatchObject({ id: 'Tests', verdict: 'below-gate', candidates: [{ k: 0.5634, verdict: 'below-gate' }] })
  })

  it('are missed where siblings have them (W28)', async () => {
    const names = ['one', 'two', 'three']
    const files = Object.fromEntries(
      names.flatMap(name => [
        [`src/${name}.ts`, ''],
        [`tests/${name}.test.ts`, ''],
      ]),
    )
    const world = await companionWorld({ ...manifest, ...files })
    world.write('src/new.ts', '')
    const { note } = world.call({ tool: 'write', input: { file_path: 'src/new.ts', content: '' } })
    expect(note!.text).toContain('- tests/new.test.ts (missing) - because 3 of 3 siblings have one')
    expect(note!.candidates[0]!.k).toBeCloseTo(0.8581, 4)
  })
})

describe('history', () => {
  const files = { ...manifest, 'db/schema.ts': '', 'api/routes.ts': '', 'a.ts': '', 'b.ts': '' }
  const commits = (n: number) => [
    ...Array.from({ length: 5 }, () => ['db/schema.ts', 'api/routes.ts']),
    ['db/schema.ts'],
    ...Array.from({ length: n - 6 }, (_, at) => [at % 2 === 0 ? 'a.ts' : 'b.ts']),
  ]

  it('names partners (W18)', async () => {
    const world = await companionWorld(files, { commits: commits(12) })
    const found = await forPath(world, 'db/schema.ts')
    expect(found).toMatchObject([
      {
        path: 'api/routes.ts',
        intent: 'Partners',
        k: 0.8699,
        because: ['it changed with db/schema.ts in 5 of 6 commits'],
        evidence: [{ detail: { support: 5, commits: 6, confidence: 0.8333, lift: 2, of: 12 } }],
      },
    ])
  })

  it('is silent while it is short (W19)', async () => {
    const world = await companionWorld(files, { commits: commits(9) })
    expect(await forPath(world, 'db/schema.ts')).toEqual([])
    const { sources } = await world.verb('explain', { path: 'db/schema.ts' })
    expect(sources.find((each: { id: string }) => each.id === 'cochange')).toEqual({
      id: 'cochange',
      status: 'silent',
      why: 'history-short',
      facts: { commits: 9, read: 10, skipped: 1 },
    })
  })

  it.each([
    [6, 'suggest Changelog 0.77 1 candidates call edit'],
    [4, 'abstained ambiguous Changelog 0.70'],
  ])('knows how often code comes with a line in the changelog (W20): %i of 12', async (share, line) => {
    const changelog = { ...manifest, 'CHANGELOG.md': '# Changes\n\n## [Unreleased]\n', 'src/a.ts': '' }
    const world = await companionWorld(changelog, {
      commits: Array.from({ length: 12 }, (_, at) => (at < share ? ['src/a.ts', 'CHANGELOG.md'] : ['src/a.ts'])),
    })
    expect(world.lines(world.edit('src/a.ts'))).toContain(line)
  })
})

describe('documents', () => {
  it('speak of files and of what they export (W21)', async () => {
    const world = await companionWorld({
      ...manifest,
      'src/cache.ts': 'export class LruCache {}\n',
      'docs/perf.md': 'See `LruCache` in src/cache.ts:12\n',
      'README.md': 'It has an `LruCache`.\n',
    })
    const judgement = world.edit('src/cache.ts', {
      input: { file_path: 'src/cache.ts', old_string: 'class LruCache', new_string: 'class LruCache2' },
    })
    expect(world.lines(judgement)).toEqual(['suggest Docs 0.96 2 candidates call edit'])
    expect(judgement.note!.candidates.map(({ path, k }) => [path, Number(k.toFixed(4))])).toEqual([
      ['docs/perf.md', 0.9569],
      ['README.md', 0.7685],
    ])
  })
})

describe('a session', () => {
  it('does not name what was written already (W22)', async () => {
    const world = await companionWorld(parse)
    expect(world.edit('src/parse.ts').note).not.toBeNull()
    expect(world.edit('tests/parse.test.ts').note).toBeNull()
    expect(world.lines(world.edit('src/parse.ts'))).toEqual(['abstained travelling Tests 0.97'])
  })

  it('does not name a pair twice in a window (W23)', async () => {
    const world = await companionWorld(parse, { config: { cooldownCalls: 0 } })
    expect(world.edit('src/parse.ts').note).not.toBeNull()
    expect(world.lines(world.edit('src/parse.ts'))).toEqual(['suppressed deduped Tests'])
  })

  it('tells a number that a whole run refutes (W24)', async () => {
    const world = await companionWorld({ ...manifest, 'README.md': '# demo\n\n34 tests.\n' })
    const judgement = world.call({ tool: 'bash', input: { command: 'npx vitest run' }, output: '      Tests  36 passed (36)\n' })
    expect(world.lines(judgement)).toEqual(['reconciliation drift 1 drifts demo (34 expected, 36 actual) call bash'])
    expect(judgement.note!.text).toBe(
      [
        '[companion] reconciliation package=demo drifts=1 expected=34 actual=36',
        '- README.md:3 - the claim differs from the last whole run (expected 34, actual 36)',
        'note: these numbers were counted; correct the text, or the code if the text is right.',
      ].join('\n'),
    )
    expect(judgement.reconciliation).toMatchObject({
      dir: '.',
      status: 'note',
      drifts: [{ file: 'README.md:3', reason: 'the claim differs from the last whole run', expected: 34, actual: 36 }],
    })
  })

  it('believes no part of a run (W25)', async () => {
    const world = await companionWorld({ ...manifest, 'README.md': '# demo\n\n34 tests.\n' })
    const judgement = world.call({
      tool: 'bash',
      input: { command: 'npx vitest run tests/a.test.ts' },
      output: ' Tests  3 passed (3)\n',
    })
    expect(judgement).toMatchObject({ note: null, reconciliation: null })
  })

  it('counts what a report counts (W26)', async () => {
    const world = await companionWorld({
      ...manifest,
      'README.md': '# demo\n\n34 tests.\n',
      'out.log': 'Tests:       1 skipped, 33 passed, 34 total\n',
    })
    const checked = await world.verb('check', { results: ['out.log'] })
    expect(checked).toMatchObject({
      ok: true,
      claims: [{ id: 'tests-phrase', status: 'ok', measure: 'total', expected: 34, actual: 34 }],
    })
  })

  it('waits with files of sub-calls for the outer call (W27)', async () => {
    const world = await companionWorld(parse)
    const inner = world.edit('src/parse.ts', { parent: 'p' })
    expect(inner).toMatchObject({ note: null, judged: false, abstained: { code: 'sub-call' }, ledger: [] })
    const outer = world.call({ tool: 'run_code', call: 'p', input: { code: '' } })
    expect(outer.note!.candidates).toMatchObject([{ path: 'tests/parse.test.ts', for: 'src/parse.ts' }])
    expect(world.lines(outer)).toEqual(['suggest Tests 0.97 1 candidates call run_code'])
  })
})
