import { describe, expect, it } from 'vitest'
import { defaultConfig, identities, profileDefaults } from '../../src/companion/config.ts'
import { companionWorld, edge, playform } from '../support/companion-world.ts'

const manifest = { 'package.json': '{"name":"demo"}' }
const pair = (name: string) => ({ [`src/${name}.ts`]: '', [`tests/${name}.test.ts`]: '' })
const files = { ...manifest, ...pair('one'), ...pair('two'), ...pair('three'), ...pair('four') }

describe('notes', () => {
  it('rest for six judged calls, whatever happens in between', async () => {
    const world = await companionWorld(files)
    expect(world.edit('src/one.ts').note).not.toBeNull()
    expect(world.lines(world.edit('src/two.ts'))).toEqual(['suppressed cooldown Tests'])
    world.hear({ kind: 'person-spoke', text: 'more' })
    expect(world.lines(world.edit('src/two.ts'))).toEqual(['suppressed cooldown Tests'])
    for (let n = 0; n < 4; n++) world.edit('src/two.ts')
    expect(world.edit('src/two.ts').note).not.toBeNull()
  })

  it('are capped until a person speaks; nobody else opens a window', async () => {
    const world = await companionWorld(files, { config: { cooldownCalls: 0, maxNotesPerTurn: 1, maxStrikes: 0 } })
    expect(world.edit('src/one.ts').note).not.toBeNull()
    expect(world.lines(world.edit('src/two.ts'))).toEqual(['suppressed cap Tests'])
    for (const by of ['host', 'plugin', 'goal'] as const) world.hear({ kind: 'turn-started', turn: 2, by })
    expect(world.edit('src/two.ts').note).toBeNull()
    world.hear({ kind: 'turn-started', turn: 3, by: 'person' })
    expect(world.edit('src/two.ts').note).not.toBeNull()
  })

  it('come again after twenty-five judged calls without a person', async () => {
    const world = await companionWorld(files, { config: { cooldownCalls: 0, maxNotesPerTurn: 1 } })
    expect(world.edit('src/one.ts').note).not.toBeNull()
    for (let n = 0; n < 24; n++) expect(world.edit('src/two.ts').note).toBeNull()
    expect(world.edit('src/two.ts').note).not.toBeNull()
  })

  it('stop after two that nobody followed, until one is', async () => {
    const world = await companionWorld(files, { config: { cooldownCalls: 0, maxNotesPerTurn: 9 } })
    expect(world.edit('src/one.ts').note).not.toBeNull()
    expect(world.edit('src/two.ts').note).not.toBeNull()
    expect(world.lines(world.edit('src/three.ts'))).toEqual(['suppressed struck Tests'])
    world.edit('tests/two.test.ts')
    expect(world.edit('src/three.ts').note).not.toBeNull()
  })

  it('name a pair a second and last time in a later window, unless its companion was written', async () => {
    const world = await companionWorld(files, { config: { cooldownCalls: 0 } })
    const speak = () => world.hear({ kind: 'person-spoke', text: 'go' })
    expect(world.edit('src/one.ts').note).not.toBeNull()
    speak()
    expect(world.edit('src/one.ts').note).not.toBeNull()
    speak()
    expect(world.lines(world.edit('src/one.ts'))).toEqual(['suppressed struck Tests'])
    world.edit('tests/one.test.ts')
    speak()
    expect(world.edit('src/one.ts').note).not.toBeNull()
  })

  it('are each agent’s own', async () => {
    const world = await companionWorld(files)
    expect(world.edit('src/one.ts').note).not.toBeNull()
    expect(world.edit('src/one.ts', { agent: 'helper' }).note).not.toBeNull()
  })

  it('come of no call that failed, of no tool of ours, of no reading', async () => {
    const world = await companionWorld(files)
    expect(world.edit('src/one.ts', { ok: false })).toMatchObject({ note: null, abstained: { code: 'not-judged' } })
    expect(world.call({ tool: 'read', input: { file_path: 'src/one.ts' } }).abstained).toEqual({ code: 'not-judged' })
    for (const tool of ['companions_for', 'mcp__outrigger__keel_ok', 'pack_save', 'next_suggest', 'claims_check']) {
      expect(world.call({ tool, input: {} }).abstained).toEqual({ code: 'own-call' })
    }
    const failed = await companionWorld(files, { config: { emitOn: ['edit'] } })
    expect(failed.edit('src/one.ts', { ok: false })).toMatchObject({ judged: true, abstained: { code: 'failed-call' } })
  })

  it('are off when the engine is, with one line', async () => {
    const world = await companionWorld(files, { config: { enabled: false } })
    expect(world.lines(world.edit('src/one.ts'))).toEqual(['disabled (enabled=false)'])
    expect(world.edit('src/one.ts')).toMatchObject({ ledger: [], abstained: { code: 'disabled' } })
  })

  it('keep to their limits: candidates first, then whole lines, at last the reason', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 4 }, (_, n) => [`tests/${'long'.repeat(30)}${n}.test.ts`, "import '../src/one.ts'\n"]),
    )
    const tree = { ...manifest, 'src/one.ts': '', ...many }
    const few = (await companionWorld(tree, { config: { maxCandidates: 2 } })).edit('src/one.ts').note!
    expect(few.text).toMatch(/candidates=2\n- .*\n- .*\nnote:/)
    const short = (await companionWorld(tree, { config: { maxNoteChars: 500 } })).edit('src/one.ts').note!
    expect(short.text.length).toBeLessThanOrEqual(500)
    expect(short.candidates.length).toBeLessThan(4)
    const bare = (await companionWorld(tree, { config: { maxNoteChars: 200 } })).edit('src/one.ts').note!
    expect(bare.text).not.toContain('because')
    expect(bare.candidates).toHaveLength(1)
  })

  it('of intents that nobody knows are none', async () => {
    const world = await companionWorld(files, { config: { intents: ['typo'] } })
    expect(world.edit('src/one.ts')).toMatchObject({ note: null, abstained: { code: 'no-signal' }, ledger: [] })
  })

  it('leave to keel what keel told', async () => {
    const world = await companionWorld({ ...manifest, 'src/one.ts': '', 'docs/one.md': 'See src/one.ts.\n' })
    const { judgeEvent } = await import('../../src/companion/judge/judge.ts')
    const { noState } = await import('../../src/companion/judge/state.ts')
    const event = {
      kind: 'tool-finished',
      session: 's',
      project: world.root,
      at: 0,
      turn: 1,
      call: 'c',
      tool: 'edit',
      input: {},
      ok: true,
      output: '',
      written: ['src/one.ts'],
    } as const
    const context = { declaredBy: () => [], toldByKeel: () => new Set(['docs/one.md']), newId: () => 'a' }
    expect(judgeEvent(world.judge, noState, event, context).abstained).toMatchObject({ code: 'travelling', intent: 'Docs' })
    const declared = judgeEvent(world.judge, noState, event, {
      ...context,
      declaredBy: () => ['docs/one.md'],
      toldByKeel: () => new Set(),
    })
    expect(declared.note!.text).toContain('it declares src/one.ts as a source')
  })
})

describe('what the older hook reads literally', () => {
  const play = (parity: string, more: object = {}) => ({ config: { compat: 'playform', parity: [parity], ...more } })

  it('is exclusion by any part of a path', async () => {
    const glob = { tool: 'read', input: { file_path: 'README.md' } }
    const tree = { ...playform, 'Source/Test/TargetPicker/README.md': '# none\n' }
    expect((await companionWorld(tree, play('calls'))).call(glob).reconciliation).toMatchObject({ status: 'note' })
    expect((await companionWorld(tree, play('exclude'))).call(glob).reconciliation).toMatchObject({ status: 'clear' })
  })

  it('is the first number after the first such text', async () => {
    const tree = { ...playform, 'Source/Test/Core/README.md': '```\n## Expected count\n```\n\n12 PASS\n' }
    expect((await companionWorld(tree, play('calls'))).call({ tool: 'read', input: {} }).reconciliation).toMatchObject({
      expected: 0,
    })
    expect((await companionWorld(tree, play('count'))).call({ tool: 'read', input: {} }).reconciliation).toMatchObject({
      expected: 12,
    })
  })

  it('is the suite that stays as written', async () => {
    const call = { tool: 'bash', input: { command: 'ls Source/Test/Core/Test.ts | xargs -n1 node --test' } }
    const { note } = (await companionWorld(playform, play('suite'))).call(call)
    expect(note!.candidates[0]!.path).toBe('Source/Test/<Suite>/Test.ts')
  })

  it('is a window with any turn', async () => {
    const glob = { tool: 'glob', input: { pattern: 'Source/Test/*/Test.ts' } }
    const limits = { cooldownCalls: 0, maxNotesPerTurn: 1 }
    for (const [parity, isOpened] of [
      ['self', false],
      ['reset', true],
    ] as const) {
      const world = await companionWorld({ ...playform, ...edge }, play(parity, limits))
      expect(world.call(glob).note).not.toBeNull()
      world.hear({ kind: 'turn-started', turn: 2, by: 'host' })
      expect(world.call(glob).note !== null).toBe(isOpened)
    }
  })

  it('is a package without a name', async () => {
    const tree = { ...playform, 'sub/package.json': '{"type":"module"}', 'sub/Source/Test/Core/README.md': '', 'sub/a.ts': '' }
    const call = { tool: 'read', input: { file_path: 'sub/a.ts' } }
    expect((await companionWorld(tree, play('calls'))).call(call).reconciliation).toMatchObject({ package: 'hook-x' })
    expect((await companionWorld(tree, play('stubs'))).call(call).reconciliation).toMatchObject({ package: 'sub', dir: 'sub' })
  })

  it('is the file at hand', async () => {
    const call = { tool: 'grep', input: { pattern: '34 PASS', path: 'README.md' } }
    const { note } = (await companionWorld(playform, play('self'))).call(call)
    expect(note!.candidates.map(({ path }) => path)).toEqual(['README.md', 'SCHEME.md'])
  })

  it('is a call like others, failed or made inside one', async () => {
    const call = { tool: 'glob', input: { pattern: 'Source/Test/*/Test.ts' } }
    const tree = { ...playform, ...edge }
    expect((await companionWorld(tree, play('self'))).call({ ...call, ok: false }).abstained).toEqual({ code: 'failed-call' })
    expect((await companionWorld(tree, play('calls'))).call({ ...call, ok: false }).note).not.toBeNull()
    expect((await companionWorld(tree, play('calls'))).call({ ...call, parent: 'p' }).note).not.toBeNull()
  })

  it('is a number that counts although nobody wrote it', async () => {
    const call = { tool: 'glob', input: { pattern: 'Source/Test/*/Test.ts' } }
    expect((await companionWorld({ ...playform, ...edge }, play('gate'))).call(call).note).toBeNull()
  })
})

describe('a profile', () => {
  it('has one name for label and log', () => {
    expect(identities.playform).toEqual({
      label: 'test-suggester',
      source: 'test-suggester',
      logFile: '~/.dsh/playform/hook-dsh-test-suggester.log',
      bundle: '0.2.1',
    })
    expect(profileDefaults.playform.logFile).toBe(identities.playform.logFile)
    expect(profileDefaults.playform.logFile).toContain(`hook-dsh-${identities.playform.label}`)
    expect(defaultConfig.logFile).toBe('')
  })

  it('says what it would log', async () => {
    const general = await companionWorld(manifest)
    expect((await general.verb('packs', {})).activation).toMatch(
      /^companion: activated \(bundle \d[\w.-]*, intents 4, threshold 0\.75\)$/,
    )
    const play = await companionWorld(playform, { config: { compat: 'playform', intents: ['Suite'] } })
    expect((await play.verb('packs', {})).activation).toBe('test-suggester: activated (bundle 0.2.1, intents 1, threshold 0.75)')
  })
})
