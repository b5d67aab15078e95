import { describe, expect, it } from 'vitest'
import { type Ended, type Played, play } from '../../src/runtime/tape.ts'
import type { SessionEvent } from '../../src/session/events.ts'
import { event, type FakeEngine, fakeEngine, type Wanted } from '../support/engines.ts'

async function run(
  fakes: readonly FakeEngine[],
  events: readonly SessionEvent[],
  drainMs = 60_000,
): Promise<{ played: Played[]; ended: Ended }> {
  const lines = play(events, {
    root: '/root',
    engines: () => fakes.map(fake => fake.engine),
    decode: line => line,
    encode: played => played,
    drainMs,
  })
  const played: Played[] = []
  for (;;) {
    const next = await lines.next()
    if (next.done === true) return { played, ended: next.value }
    played.push(next.value)
  }
}

const at = (time: number, rest: object = {}) => event('person-spoke', { text: 'x', at: time, ...rest })
const shown = (played: readonly Played[]) => played.map(({ at: time, on, byTimer, action }) => [time, on, byTimer, action.kind])

describe('the player', () => {
  it('gives the actions of the events, the project being ours', async () => {
    const keel = fakeEngine('keel', heard =>
      heard.kind === 'person-spoke' ? [{ kind: 'add-context', text: 'a', summary: 'a' }] : [],
    )
    const { played, ended } = await run([keel], [at(5), event('compacted', { at: 6 }), at(7)])
    expect(shown(played)).toEqual([
      [5, 'person-spoke', false, 'add-context'],
      [7, 'person-spoke', false, 'add-context'],
    ])
    expect(ended).toEqual({ events: 3, actions: 2 })
    expect(new Set(keel.heard.map(({ event }) => event.project))).toEqual(new Set(['/root']))
  })

  it('asks before a turn ends, and nothing can be held there', async () => {
    const keel = fakeEngine('keel', heard => (heard.kind === 'turn-ending' ? [{ kind: 'hold-stop', text: 'wait', id: 'h' }] : []))
    const { played, ended } = await run([keel], [event('turn-ended', { turn: 1, reason: 'completed', answer: 'x', at: 5 })])
    expect(shown(played)).toEqual([[5, 'turn-ending', false, 'hold-stop']])
    expect(ended.events).toBe(1)
    expect(keel.heard.at(-1)?.event).toMatchObject({ kind: 'action-failed', action: 'h', reason: 'no-carrier' })
  })

  it('fires wakes in due order at their own time, between the events and after the last one', async () => {
    const keel = fakeEngine('keel', heard => {
      if (heard.kind !== 'person-spoke') return [{ kind: 'notify', level: 'info', text: String(heard.at) }]
      return [
        { kind: 'wake', key: 'b', due: 300 },
        { kind: 'wake', key: 'a', due: 200 },
        { kind: 'wake', key: 'c', due: 70_000 },
      ]
    })
    const { played } = await run([keel], [at(100), event('compacted', { at: 250 })], 10_000)
    expect(shown(played)).toEqual([
      [200, 'woke', true, 'notify'],
      [250, 'compacted', false, 'notify'],
      [300, 'woke', true, 'notify'],
    ])
    expect((await run([fakeEngine('keel', () => [{ kind: 'wake', key: 'c', due: 70_000 }])], [at(100)])).played).toEqual([])
  })

  it('answers a model call with the next answer of its session, else with its time-out', async () => {
    const ask: Wanted = { kind: 'ask-model', id: 'q1', prompt: '', mode: 'aside', maxTokens: 1, timeoutMs: 1_000 }
    const keel = fakeEngine('keel', heard => (heard.kind === 'person-spoke' ? [ask] : []))
    await run(
      [keel],
      [
        at(100),
        event('model-answered', { session: 'other', ask: 'x', text: 'no', at: 150 }),
        event('model-answered', { ask: 'x', text: 'yes', at: 200 }),
      ],
    )
    expect(keel.heard.map(({ event }) => event).filter(({ session }) => session === 's')[1]).toMatchObject({
      kind: 'model-answered',
      ask: 'q1',
      text: 'yes',
    })
    const late = fakeEngine('keel', heard =>
      heard.kind === 'person-spoke' ? [ask] : [{ kind: 'notify' as const, level: 'info', text: heard.kind }],
    )
    const { played } = await run([late], [at(100)])
    expect(late.heard[1]?.event).toMatchObject({ kind: 'model-failed', ask: 'q1', reason: 'timeout', at: 1_100 })
    expect(shown(played)[1]).toEqual([1_100, 'model-failed', true, 'notify'])
  })

  it('plays twice what it played once', async () => {
    const make = () => fakeEngine('keel', (_, context) => [{ kind: 'notify', level: 'info', text: context.newId() }])
    const events = [at(5), at(6), at(9)]
    expect((await run([make()], events)).played).toEqual((await run([make()], events)).played)
  })
})
