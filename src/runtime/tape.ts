/**
 * One player for recorded and written-down sessions: the clock is that of the events, timers fire in due
 * order, the store is in memory, and a model answers what the recording answers. No machine behind it.
 */
import type { Clock } from '../ports/clock.ts'
import type { Store } from '../ports/store.ts'
import type { Action } from '../session/actions.ts'
import { doorKinds } from '../session/door-kinds.ts'
import type { AnyEngine } from '../session/engine.ts'
import type { EventKind, SessionEvent } from '../session/events.ts'
import { type Asked, createOutrigger, type Door, type HandledEvent } from './outrigger.ts'
import { createScratchStore } from './scratch-store.ts'
import { createVirtualTime } from './virtual-time.ts'

export interface World {
  readonly clock: Clock
  readonly store: Store
}

export interface Played extends Asked {
  /** A timer caused it, not an event of the recording. */
  readonly byTimer: boolean
}

export interface TapeOptions<Line, Out> {
  /** Absolute; takes the place of the recording's own project. */
  readonly root: string
  engines(world: World): readonly AnyEngine[]
  /** `undefined`: nothing to play. */
  decode(line: Line): SessionEvent | undefined
  encode(played: Played): Out
  /** ms after the last event in which timers still fire. */
  readonly drainMs: number
  readonly testCommands?: readonly string[]
}

export interface Ended {
  readonly events: number
  readonly actions: number
}

/** Carries out everything, at every moment at which some host can. */
const door: Door = {
  name: 'replay',
  carries: new Set(doorKinds),
  contextAt: new Set<EventKind>(['session-started', 'compacted', 'person-spoke', 'turn-started', 'tool-finished', 'command-run']),
}

/** Play lines through the engines. Gives one line for each action that an engine asked for, in order. */
export async function* play<Line, Out>(
  lines: Iterable<Line> | AsyncIterable<Line>,
  options: TapeOptions<Line, Out>,
): AsyncGenerator<Out, Ended> {
  const counts = { events: 0, actions: 0 }
  let player: Player | undefined
  for await (const line of lines) {
    const event = options.decode(line)
    if (event === undefined || event.kind === 'woke') continue
    counts.events++
    player ??= createPlayer(event.at, options)
    await player.hear({ ...event, project: options.root })
    yield* out()
  }
  await player?.drain(options.drainMs)
  yield* out()
  return counts

  function* out(): Generator<Out> {
    for (const played of player?.take() ?? []) {
      counts.actions++
      yield options.encode(played)
    }
  }
}

interface Player {
  hear(event: SessionEvent): Promise<void>
  drain(ms: number): Promise<void>
  take(): readonly Played[]
}

function createPlayer<Line, Out>(start: number, options: TapeOptions<Line, Out>): Player {
  const time = createVirtualTime(start)
  const store = createScratchStore(time.clock)
  const played: Played[] = []
  /** Model calls without an answer, oldest first. */
  const asks: { readonly session: string; readonly id: string; readonly stop: () => void }[] = []
  const running: Promise<void>[] = []
  let byTimer = false

  const outrigger = createOutrigger({
    root: options.root,
    store: async () => store,
    clock: time.clock,
    timers: time.timers,
    engines: options.engines({ clock: time.clock, store }),
    ledger: { write: async () => {} },
    door,
    deliver: (session, actions) => carryOut(session, actions),
    observe: asked => played.push({ ...asked, at: time.clock.now(), byTimer }),
    ...(options.testCommands !== undefined && { testCommands: options.testCommands }),
  })

  async function settle(): Promise<void> {
    await outrigger.idle()
    while (running.length > 0) {
      await Promise.all(running.splice(0))
      await outrigger.idle()
    }
  }

  function carryOut(session: string, actions: readonly Action[]): void {
    for (const action of actions) {
      if (action.kind === 'ask-model') {
        const stop = time.timers.after(action.timeoutMs, () => {
          forget(action.id)
          running.push(
            give({
              kind: 'model-failed',
              session,
              project: options.root,
              at: time.clock.now(),
              ask: action.id,
              reason: 'timeout',
            }),
          )
        })
        asks.push({ session, id: action.id, stop })
      }
      if (action.kind === 'cancel-model') forget(action.ask)
    }
  }

  function forget(id: string): void {
    const at = asks.findIndex(ask => ask.id === id)
    if (at === -1) return
    asks[at]!.stop()
    asks.splice(at, 1)
  }

  /** The recording's answer belongs to the oldest call of its session, whatever its own was named. */
  function answered(event: SessionEvent): SessionEvent {
    if (event.kind !== 'model-answered' && event.kind !== 'model-failed') return event
    const ask = asks.find(({ session }) => session === event.session)
    if (ask === undefined) return event
    forget(ask.id)
    return { ...event, ask: ask.id }
  }

  async function give(event: SessionEvent): Promise<void> {
    if (event.kind === 'turn-ending') carryOut(event.session, (await outrigger.mayStop(event)).actions)
    else carryOut(event.session, await outrigger.handle(event as HandledEvent))
  }

  async function moveTo(at: number): Promise<void> {
    byTimer = true
    await time.moveTo(at, settle)
    byTimer = false
  }

  return {
    async hear(event) {
      await moveTo(event.at)
      await give(answered(event))
      await settle()
    },
    async drain(ms) {
      await moveTo(time.clock.now() + ms)
      await outrigger.close()
    },
    take: () => played.splice(0),
  }
}
