/**
 * The shape of an engine that hears events: one value of state, one step. The runtime runs one event
 * at a time per engine and session, saves the state by compare-and-set before any action leaves, and
 * may call a step twice after a lost race: writes to people's files are idempotent.
 */
import type { Json } from '../ports/json.ts'
import type { Action, EngineName } from './actions.ts'
import type { EventOf, SessionEvent } from './events.ts'
import type { Busy, SessionFacts } from './facts.ts'

export interface StepContext {
  /** Characters that this engine may add to the model's context at this moment; 0 when nothing is carried. */
  readonly chars: number
  /** A new action id. */
  newId(): string
  /** What keeps the session from being idle now. */
  readonly busy: ReadonlySet<Busy>
}

export interface LedgerLine {
  /** A stable word: what was done or held back. */
  readonly what: string
  readonly reason?: string
  /** The engine's own line for people. */
  readonly text: string
  readonly detail?: Json
}

export interface Step<S> {
  /** The same object back means: nothing to save. */
  readonly state: S
  readonly actions: readonly Action[]
  readonly ledger: readonly LedgerLine[]
}

export interface Engine<S> {
  readonly name: EngineName
  readonly initial: S
  /** Nothing in it is worth a file: a session that begins from `initial` instead loses nothing. Left out: it always is worth one. */
  isForgettable?(state: S): boolean
  /** Drops what must not survive a restart. */
  encode(state: S): Json
  /** Throws an `OutriggerError` naming the field; the runtime then starts from `initial`. */
  decode(json: Json): S
  handle(
    state: S,
    event: Exclude<SessionEvent, { readonly kind: 'turn-ending' }>,
    facts: SessionFacts,
    context: StepContext,
  ): Promise<Step<S>>
  /** Takes part in the end of a turn; a `hold-stop` keeps the agent going. */
  stopping?(state: S, event: EventOf<'turn-ending'>, facts: SessionFacts, context: StepContext): Promise<Step<S>>
}

/** An engine whose state's type the runtime does not need to know. */
// biome-ignore lint/suspicious/noExplicitAny: the runtime passes a state only back to the engine it came from
export type AnyEngine = Engine<any>
