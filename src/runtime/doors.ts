/** What a door hands to the runtime and what it gets back. */
import type { Clock } from '../ports/clock.ts'
import type { Store } from '../ports/store.ts'
import type { Action, ActionKind, FailureReason } from '../session/actions.ts'
import type { AnyEngine } from '../session/engine.ts'
import type { EventKind, EventOf, SessionEvent } from '../session/events.ts'
import type { SessionFacts } from '../session/facts.ts'
import type { TakeMark } from './progress.ts'
import type { Ledger } from './project.ts'
import type { HoldPart } from './turn-end.ts'
import type { Timers } from './wakes.ts'

/** What a door is able to do, said once as data. */
export interface Door {
  readonly name: 'dsh' | 'claude-code' | 'hook' | 'mcp' | 'cli' | 'replay'
  /**
   * Kinds of actions that this door carries out at all. `add-context` also needs a moment (`contextAt`), `hold-stop` goes only
   * with the answer of `mayStop`, `reply` only with that of a `command-run`.
   */
  readonly carries: ReadonlySet<ActionKind>
  /** Events whose answer can carry context into the model's next request; a context without one waits for the next. */
  readonly contextAt: ReadonlySet<EventKind>
  /** The smaller rooms of command hooks. */
  readonly narrow?: boolean
  /** Its process ends with the event: facts and waiting contexts are kept in the store. */
  readonly shortLived?: boolean
}

/** One action as an engine asked for it, before merging. */
export interface Asked {
  readonly at: number
  readonly on: EventKind
  readonly session: string
  readonly action: Action
}

export interface OutriggerOptions {
  /** Absolute root of the project. */
  readonly root: string
  /** Opens the store. When it rejects, states live in memory and the mode `no store` says so. */
  store(): Promise<Store>
  readonly clock: Clock
  readonly timers: Timers
  readonly engines: readonly AnyEngine[]
  readonly ledger: Pick<Ledger, 'write'>
  /** Commands of the configuration that run tests. */
  readonly testCommands?: readonly string[]
  /** The door of calls that name none. */
  readonly door: Door
  /** Takes actions that come of their own accord or late. Without it they go with the session's next answer. */
  deliver?(session: string, actions: readonly Action[]): void
  /** Was this content written by an engine of ours? Then the `file-changed` is dropped. */
  isOwnWrite?(path: string): boolean
  /** Where the work stands, while a loop is armed. Left out: only which files were written tells whether a round got anywhere. */
  readonly mark?: TakeMark
  /** Modes of the platform that the status line shows, as `no store`. */
  modes?(): readonly string[]
  /** Sees every action as the engine asked for it. */
  observe?(asked: Asked): void
}

export type HandledEvent = Exclude<SessionEvent, { readonly kind: 'turn-ending' }>

export interface StopAnswer {
  /** One text of all engines; the agent goes on with it. `null`: it may stop. */
  readonly hold: string | null
  /** Whose the parts of the hold are, in order; for doors that show it. */
  readonly parts?: readonly HoldPart[]
  /** What else was asked for; never a `hold-stop`. */
  readonly actions: readonly Action[]
}

export interface Outrigger {
  /**
   * What the engines ask for after this event, merged, in the order to carry out. Contexts are one action an
   * engine; of `status` there is at most one, its text the whole line (`null`: clear it). Never rejects. Resolves
   * within 9 s (`session-started`), 2 s (`person-spoke`, `turn-started`) or 1 s; what is late comes later.
   */
  handle(event: HandledEvent, door?: Door): Promise<readonly Action[]>
  /** The agent would stop now: may it? Call it with every stop moment of the host. Never rejects; within 9 s. */
  mayStop(event: EventOf<'turn-ending'>, door?: Door): Promise<StopAnswer>
  /** The door could not carry an action out. The engine hears `action-failed`, the ledger gets its line. */
  failed(actionId: string, reason: FailureReason): Promise<void>
  /** The composed status line of a session; `null` when nobody says anything. */
  status(session: string): string | null
  /** Facts of a live session. */
  facts(session: string): SessionFacts | undefined
  /** Run something in the session's turn, as an event is. */
  enqueue<T>(session: string, run: () => Promise<T>): Promise<T>
  /** Degraded modes that hold now: `<engine>: set aside`, `<engine>: config`, `no store`. */
  modes(): readonly string[]
  /** Some session goes on by itself, as with a countdown or an armed loop: ending the process would end it. */
  isInFlow(): boolean
  /** Resolves when nothing is running or waits its turn. */
  idle(): Promise<void>
  /** Waits for what is running, then lets timers and states go. */
  close(): Promise<void>
}
