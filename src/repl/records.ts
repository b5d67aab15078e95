/** Records of a session's journal, as they lie in the store. */
import type { Json } from '../ports/json.ts'
import type { SecretPlace } from './secret-bytes.ts'
import type {
  BindingStatus,
  CallSummary,
  CellClass,
  CellError,
  Echo,
  Effect,
  LogEntry,
  NameKind,
  Outcome,
  Recovery,
  RecoveryReason,
  RewriteNote,
  Timing,
  TipTrigger,
  ValueKind,
  Warning,
} from './types.ts'
import type { FixedEntry, LateTape, LostReason, Stamp, Tape, TranscribedCall } from './worker/tape.ts'

/** One journal record; `v: 1`, `at` (ms), `epoch` of the writer that held the session. A reader ignores fields it does not know. */
interface Recorded {
  readonly v: 1
  readonly at: number
  readonly epoch: number
}

/** A part of a record, or the SHA-256 of the blob `repl/blob/<sha256>` that holds its JSON text. */
export type MaybeBlob<T> = T | { readonly blob: string; readonly bytes: number }

export interface OpenRecord extends Recorded {
  readonly k: 'open'
  readonly cwd: string
  readonly env: {
    readonly node: string
    readonly v8: string
    readonly icu: string
    readonly platform: string
    readonly arch: string
    readonly tz: string
    readonly lang: string
  }
  readonly language: number
  readonly prelude: readonly string[]
  /** The journal goes on from before the record of this number: it and those up to here do not count. */
  readonly cut?: number
}

export interface BeginRecord extends Recorded {
  readonly k: 'begin'
  readonly cell: number
  /** Cell that was the head; 0 at the start. */
  readonly parent: number
  readonly source: MaybeBlob<string>
  /** What stands behind the marks in the source. */
  readonly secrets?: readonly SecretUse[]
  readonly description?: string
  readonly echo: Echo
  readonly language: number
  readonly origin: 'run' | 'edit' | 'nested'
  readonly edit?: { readonly target: number; readonly request: Json }
}

export interface CallRecord extends Recorded {
  readonly k: 'call'
  readonly cell: number
  readonly call: number
  readonly namespace: string
  readonly member: string
  readonly arguments: MaybeBlob<Json>
}

export interface DeclaredName {
  readonly name: string
  readonly kind: NameKind
  /** Range in the source of the cell, UTF-16 units. */
  readonly start?: number
  readonly end?: number
  /** What would bind it again without running the cell. */
  readonly entry?: MaybeBlob<FixedEntry>
}

export interface EndRecord extends Recorded {
  readonly k: 'end'
  readonly cell: number
  readonly outcome: Outcome
  readonly error?: MaybeBlob<CellError>
  readonly completion: { readonly kind: ValueKind; readonly hash?: string; readonly preview?: string }
  /** Bytes of the completion, base64 or a blob; for handles. */
  readonly value?: MaybeBlob<string>
  readonly names: {
    readonly added: readonly DeclaredName[]
    readonly changed: readonly DeclaredName[]
    readonly removed: readonly string[]
  }
  readonly touch: readonly string[]
  readonly dynamic: boolean
  /** Writes a property of a platform object or of `globalThis`. */
  readonly world?: boolean
  /** Names of earlier entries whose function or class has state of its own by now. */
  readonly unfixed?: readonly string[]
  readonly class: CellClass
  readonly effects: readonly Effect[]
  readonly stamps?: MaybeBlob<readonly Stamp[]>
  /** What ambient sources gave the cell; absent when they gave nothing. */
  readonly tape?: MaybeBlob<Tape>
  /** Members that the request offered, by namespace; for running the cell again. */
  readonly namespaces?: Readonly<Record<string, readonly string[]>>
  readonly cwd?: string
  /** The bindings are those before the cell: the worker was replaced. */
  readonly rolledBack?: boolean
  /** What stands behind the marks in the tape, the transcript. */
  readonly secrets?: { readonly tape?: readonly SecretUse[]; readonly transcript?: readonly SecretUse[] }
  readonly calls: MaybeBlob<readonly (CallSummary & { readonly value?: Json; readonly message?: string })[]>
  /** Every call with what it answered, for running the cell again; absent when there were none. */
  readonly transcript?: MaybeBlob<readonly TranscribedCall[]>
  readonly warnings: readonly Warning[]
  readonly rewrites: readonly RewriteNote[]
  readonly logs: MaybeBlob<readonly LogEntry[]>
  readonly logsOmittedBytes?: number
  readonly timing: Timing
  /** The kind of the hint that was given after the cell. */
  readonly tip?: TipTrigger
}

export interface SecretUse {
  /** SHA-256 of the value; empty for what only looks like a secret. */
  readonly secret: string
  /** The variable that held it. */
  readonly env?: string
}

/** Activity of a cell after its end. */
export interface LateRecord extends Recorded {
  readonly k: 'late'
  readonly cell: number
  readonly tape: MaybeBlob<LateTape>
  /** The cell that ran meanwhile; absent: it was between two cells. */
  readonly during?: number
  /** What stands behind the marks in the tape. */
  readonly secrets?: readonly SecretUse[]
}

export interface StoredComponent {
  /** Sorted. */
  readonly names: readonly string[]
  /** SHA-256 of the bytes; `repl/blob/<hash>` holds them. */
  readonly hash: string
  readonly bytes: number
  /** Cells whose source is needed to read the bytes again. */
  readonly cells?: readonly number[]
  /** Where secrets of the environment stood. */
  readonly secrets?: readonly SecretPlace[]
}

export interface OpaqueName {
  readonly name: string
  readonly reason: LostReason
  /** Where in the value, and what. */
  readonly detail?: string
}

/** Copies of what was bound after the cell. */
export interface CheckRecord extends Recorded {
  readonly k: 'check'
  readonly cell: number
  readonly components: readonly StoredComponent[]
  readonly opaque: readonly OpaqueName[]
}

export interface StateRecord extends Recorded {
  readonly k: 'state'
  readonly action: 'save' | 'delete' | 'restore' | 'reset'
  readonly name?: string
  /** The head that is named or becomes the head; 0: the empty start. */
  readonly cell: number
}

/** A door's word on what its host made of a result. */
export interface ConfirmRecord extends Recorded {
  readonly k: 'confirm'
  readonly cell: number
  readonly how: 'confirmed' | 'altered'
  readonly note?: string
}

/** The worker was replaced; names that are not named came back exactly. */
export interface RecoverRecord extends Recorded {
  readonly k: 'recover'
  readonly head: number
  readonly reason: RecoveryReason
  readonly counts: Readonly<Record<BindingStatus, number>>
  readonly statuses: Recovery['bindings']
  /** A cell that had begun and not ended. */
  readonly interrupted?: number
}

export type JournalRecord =
  | OpenRecord
  | BeginRecord
  | CallRecord
  | EndRecord
  | LateRecord
  | CheckRecord
  | StateRecord
  | ConfirmRecord
  | RecoverRecord
