import { describe, expect, it } from 'vitest'
import { createCompanionEngine } from '../../src/companion/engine.ts'
import { type CompanionState, decodeState, encodeState, noState } from '../../src/companion/judge/state.ts'
import type { ActionKind } from '../../src/session/actions.ts'
import type { Step, StepContext } from '../../src/session/engine.ts'
import type { SessionEvent } from '../../src/session/events.ts'
import { emptyFacts } from '../../src/session/fold.ts'
import { noWrites } from '../../src/session/writes.ts'
import { companionWorld, type WorldOptions } from '../support/companion-world.ts'

const files = {
  'package.json': '{"name":"demo"}',
  'README.md': '34 tests\n',
  'src/one.ts': '',
  'tests/one.test.ts': "import '../src/one.ts'\n",
}

async function session(options: WorldOptions = {}) {
  const world = await companionWorld(files, options)
  const engine = createCompanionEngine(world.companion, { isPatient: true })
  let state: CompanionState = noState
  let ids = 0
  const base = { session: 's', project: world.root, at: 0 }
  const context = (rest: Partial<StepContext> = {}): StepContext => ({
    chars: 10_000,
    newId: () => `a${++ids}`,
    busy: new Set(),
    carries: new Set<ActionKind>(['add-context', 'status', 'hold-stop']),
    writes: noWrites,
    peers: { toldInTurn: () => [], edgesOf: () => [], outline: async () => [] },
    ...rest,
  })
  const hear = async (event: object, rest?: Partial<StepContext>): Promise<Step<CompanionState>> => {
    const full = { ...base, ...event } as SessionEvent
    const facts = emptyFacts('s', world.root, 0)
    const step =
      full.kind === 'turn-ending'
        ? await engine.stopping!(state, full, facts, context(rest))
        : await engine.handle(state, full, facts, context(rest))
    state = step.state
    return step
  }
  const call = (tool: string, more: object = {}) =>
    hear({ kind: 'tool-finished', turn: 1, call: `c${++ids}`, tool, input: {}, ok: true, output: '', ...more })
  return { world, engine, hear, call, state: () => state, restart: () => void (state = decodeState(encodeState(state))) }
}

describe('the engine', () => {
  it('gives a note as context, with the line that it is on in front of the first line', async () => {
    const { hear, call } = await session()
    expect(await hear({ kind: 'session-started', source: 'startup' })).toMatchObject({ actions: [], ledger: [] })
    const step = await call('edit', { written: ['src/one.ts'] })
    expect(step.actions).toMatchObject([{ kind: 'add-context', engine: 'companion', summary: 'Tests 0.97' }])
    expect(step.ledger.map(({ what }) => what)).toEqual(['activated', 'suggest'])
  })

  it('says at the end of a turn how much is open, and takes it back', async () => {
    const { hear, call } = await session()
    const end = () => hear({ kind: 'turn-ended', turn: 1, reason: 'completed', answer: '' })
    await call('edit', { written: ['src/one.ts'] })
    expect((await end()).actions).toMatchObject([{ kind: 'status', text: 'companion: 1 open' }])
    await call('edit', { written: ['tests/one.test.ts'] })
    expect((await end()).actions).toMatchObject([{ kind: 'status', text: null }])
    expect((await hear({ kind: 'turn-ended', turn: 1, reason: 'aborted', answer: '' })).actions).toEqual([])
  })

  it('holds a turn once a window where it is asked to, and not while others work', async () => {
    const { hear, call } = await session({ config: { atTurnEnd: 'hold' } })
    await call('edit', { written: ['src/one.ts'] })
    await call('bash', { input: { command: 'npm test' }, output: ' Tests  36 passed (36)\n' })
    const ending = (rest?: Partial<StepContext>) => hear({ kind: 'turn-ending', turn: 1, answer: '', again: false }, rest)
    expect((await ending({ busy: new Set(['background']) })).actions).toEqual([])
    const [hold] = (await ending()).actions
    expect(hold).toMatchObject({ kind: 'hold-stop' })
    expect((hold as { text: string }).text).toBe(
      [
        "[companion] before you stop: 2 companions of this turn's changes were not touched.",
        '- tests/one.test.ts - for src/one.ts',
        '- README.md:1 - the claim differs from the last whole run',
        'Touch them, or say in one sentence why they may stay.',
      ].join('\n'),
    )
    expect((await ending()).actions).toEqual([])
  })

  it('says again what did not arrive', async () => {
    const { hear, call } = await session()
    const { actions } = await call('edit', { written: ['src/one.ts'] })
    expect((await call('edit', { written: ['src/one.ts'] })).actions).toEqual([])
    await hear({ kind: 'action-failed', action: actions[0]!.id, reason: 'no-carrier' })
    expect((await call('edit', { written: ['src/one.ts'] })).actions).toHaveLength(1)
  })

  it('remembers over a restart, and forgets what is no state of ours', async () => {
    const { call, restart, engine } = await session({ config: { cooldownCalls: 0 } })
    await call('edit', { written: ['src/one.ts'] })
    restart()
    expect((await call('edit', { written: ['src/one.ts'] })).ledger.map(({ text }) => text)).toEqual([
      'companion: suppressed deduped Tests',
    ])
    for (const json of [null, 3, {}, { format: 1 }, { format: 1, agents: [1, ['a'], ['b', null]] }]) {
      expect(engine.decode(json as never)).toEqual(noState)
    }
  })

  it('is worth no file until something was told', async () => {
    const { call, state, engine } = await session()
    await call('edit', { written: ['README.md'] })
    expect(engine.isForgettable!(state())).toBe(true)
    await call('edit', { written: ['src/one.ts'] })
    expect(engine.isForgettable!(state())).toBe(false)
  })

  it('never throws at a host', async () => {
    const { world, call } = await session()
    Object.defineProperty(world.companion, 'compiled', {
      value: () => {
        throw new Error('broken\nin two lines')
      },
    })
    const step = await call('edit', { written: ['src/one.ts'] }).catch(error => error)
    expect(step.actions).toEqual([])
    expect(step.ledger.map(({ text }: { text: string }) => text)).toContain('companion: failed judge broken in two lines')
  })
})

describe('as tools', () => {
  it('the verbs keep to twenty paths and sixteen KiB', async () => {
    const tests = Object.fromEntries(
      Array.from({ length: 5 }, (_, n) => [`tests/${'x'.repeat(150)}${n}.test.ts`, "import '../src/one.ts'\n"]),
    )
    const world = await companionWorld({ ...files, ...tests }, { config: { evidence: ['imports'] } })
    await expect(world.verb('for', { paths: Array.from({ length: 21 }, () => 'src/one.ts') }, 'mcp')).rejects.toMatchObject({
      code: 'COMPANION_USAGE',
    })
    const { paths } = await world.verb('for', { paths: ['src/one.ts'], limit: 2 }, 'mcp')
    expect(paths[0].companions.length).toBeLessThanOrEqual(2)
    const cut = await (await companionWorld({ ...files, ...tests })).verb(
      'for',
      { paths: Array.from({ length: 20 }, () => 'src/one.ts'), limit: 20 },
      'mcp',
    )
    expect(Buffer.byteLength(JSON.stringify(cut))).toBeLessThanOrEqual(16 * 1024)
    expect(cut.truncated).toBe(true)
  })
})
