/**
 * The shape of an engine that hears events: one value of state, one step. The runtime runs one event
 * at a time per engine and session, saves the state by compare-and-set before any action leaves, and
 * may call a step twice after a lost race: writes to people's files are idempotent.
 */
import type { Json } from '../ports/json.ts'
import type { Action, ActionKind, EngineName } from './actions.ts'
import type { EventOf, SessionEvent } from './events.ts'
import type { Busy, SessionFacts } from './facts.ts'
import type { Writes } from './writes.ts'

/** What a document of the project declares, as keel sees it now. */
export interface DeclaredEdge {
  /** Project-relative. */
  readonly child: string
  /** Project-relative, or absolute outside; `null` when the reference names no file. */
  readonly target: string | null
  /** Why the document is behind its source; `null`: it is not. */
  readonly suspect: string | null
}

/** An open line of the session's work stream, as pack keeps it. */
export interface OpenLine {
  readonly id: string
  readonly section: string
  readonly text: string
}

/** What an engine answers to the others, through the runtime only. Reads, never changes anything. */
export interface Answers<S> {
  /** Documents that the session was told about in the turn that is open. */
  toldInTurn?(state: S): readonly string[]
  /** Edges whose document or source this is. */
  edgesOf?(path: string): readonly DeclaredEdge[]
  outline?(state: S): Promise<readonly OpenLine[]>
}

/** The same for the session at hand. Nothing where the engine that knows is off. */
export interface Peers {
  toldInTurn(): readonly string[]
  edgesOf(path: string): readonly DeclaredEdge[]
  outline(): Promise<readonly OpenLine[]>
}

export interface StepContext {
  /** Characters that this engine may add to the model's context at this moment; 0 when nothing is carried. */
  readonly chars: number
  /** A new action id. */
  newId(): string
  /** What keeps the session from being idle now. */
  readonly busy: ReadonlySet<Busy>
  /** Kinds of actions that the door of this moment carries out at all. */
  readonly carries: ReadonlySet<ActionKind>
  /** Every write of the session, this event's included (`session/writes.ts`). */
  readonly writes: Writes
  readonly peers: Peers
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
  readonly answers?: Answers<S>
  /** It is about to go on by itself (a save, a countdown, a fresh start, an armed loop): engines after it wait. */
  isInFlow?(state: S): boolean
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
