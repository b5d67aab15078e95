/** Engines that a test writes in one line, and a runtime around them with time that stands still. */
import type { Json } from '../../src/ports/json.ts'
import { type Asked, createOutrigger, type Door, type Outrigger, type OutriggerOptions } from '../../src/runtime/outrigger.ts'
import type { LedgerEntry } from '../../src/runtime/project.ts'
import { createVirtualTime, type VirtualTime } from '../../src/runtime/virtual-time.ts'
import type { Action, ActionKind, EngineName } from '../../src/session/actions.ts'
import { doorKinds } from '../../src/session/door-kinds.ts'
import type { AnyEngine, Engine, StepContext } from '../../src/session/engine.ts'
import type { EventKind, SessionEvent } from '../../src/session/events.ts'
import type { SessionFacts } from '../../src/session/facts.ts'
import { type MemoryStore, memoryStore } from './memory-store.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test names the fields of the action it wants
export type Wanted = { readonly kind: ActionKind } & Record<string, any>

export interface Heard {
  readonly event: SessionEvent
  readonly facts: SessionFacts
  readonly chars: number
  readonly busy: readonly string[]
}

export interface FakeEngine {
  readonly engine: AnyEngine
  readonly heard: Heard[]
  kinds(): readonly EventKind[]
}

type Answerer = (
  event: SessionEvent,
  context: StepContext,
  facts: SessionFacts,
  count: number,
) => readonly Wanted[] | undefined | Promise<readonly Wanted[] | undefined>

/** Its state is the number of events it heard. */
export function fakeEngine(name: EngineName, answer: Answerer = () => []): FakeEngine {
  const heard: Heard[] = []
  const step = async (state: number, event: SessionEvent, facts: SessionFacts, context: StepContext) => {
    heard.push({ event, facts, chars: context.chars, busy: [...context.busy] })
    const wanted = (await answer(event, context, facts, state)) ?? []
    const actions = wanted.map(action => ({ id: context.newId(), engine: name, ...action }) as unknown as Action)
    return { state: state + 1, actions, ledger: [] }
  }
  const engine: Engine<number> = {
    name,
    initial: 0,
    encode: state => state as Json,
    decode: json => {
      if (typeof json !== 'number') throw new Error('the state is no number')
      return json
    },
    handle: step,
    stopping: step,
  }
  return { engine, heard, kinds: () => heard.map(({ event }) => event.kind) }
}

export const everything: ReadonlySet<ActionKind> = new Set(doorKinds)

export const allDoor: Door = {
  name: 'dsh',
  carries: everything,
  contextAt: new Set<EventKind>(['session-started', 'person-spoke', 'turn-started', 'tool-finished', 'compacted']),
}

// biome-ignore lint/suspicious/noExplicitAny: a test names the fields that matter
export const event = <K extends EventKind>(kind: K, rest: any = {}): Extract<SessionEvent, { kind: K }> =>
  ({ session: 's', project: '/p', at: 1_000, kind, ...rest }) as Extract<SessionEvent, { kind: K }>

export interface Runtime {
  readonly outrigger: Outrigger
  readonly store: MemoryStore
  readonly ledger: LedgerEntry[]
  readonly asked: Asked[]
  readonly delivered: Action[]
  readonly time: VirtualTime
  /** Time goes on; what is due fires. */
  pass(ms: number): Promise<void>
}

export function runtimeOf(fakes: readonly FakeEngine[], options: Partial<OutriggerOptions> = {}): Runtime {
  const time = createVirtualTime(1_000)
  const store = memoryStore({ clock: time.clock })
  const ledger: LedgerEntry[] = []
  const asked: Asked[] = []
  const delivered: Action[] = []
  const outrigger = createOutrigger({
    root: '/p',
    store: async () => store,
    clock: time.clock,
    timers: time.timers,
    engines: fakes.map(fake => fake.engine),
    ledger: { write: async entries => void ledger.push(...entries) },
    door: allDoor,
    deliver: (_, actions) => void delivered.push(...actions),
    observe: one => void asked.push(one),
    ...options,
  })
  const pass = (ms: number) => time.moveTo(time.clock.now() + ms, outrigger.idle)
  return { outrigger, store, ledger, asked, delivered, time, pass }
}

export const texts = (actions: readonly Action[], kind: ActionKind = 'add-context'): readonly unknown[] =>
  actions.filter(action => action.kind === kind).map(action => (action as { text?: string | null }).text)
