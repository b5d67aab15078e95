/**
 * The words of the REPL that every part and every door shares: what a run answers, what an error says, what the journal holds, what can be configured.
 * Field names are the ones of the documents that leave the program.
 */
import type { Json } from '../ports/json.ts'
import type { NameKind, ReadyEdit, RewriteKind } from './compile/program.ts'

export type { NameKind, ReadyEdit, RewriteKind } from './compile/program.ts'
export type { FixedEntry, LateTape, LostReason, Stamp, Tape, TranscribedCall } from './worker/tape.ts'

export type Outcome = 'ok' | 'threw' | 'rejected' | 'timeout' | 'aborted' | 'exited'

/** `json`: `value` holds it. `graph`: whole, but not JSON. `opaque`: has parts that cannot be stored. */
export type ValueKind = 'none' | 'json' | 'graph' | 'opaque'

export type Echo = 'return' | 'last'

export interface CellPosition {
  /** From 1. */
  readonly line: number
  /** From 1, UTF-16 units. */
  readonly column: number
}

export interface CellFrame extends CellPosition {
  readonly cell: number
  readonly name?: string
}

/** Fields in this order in documents. */
export interface CellError {
  /** `OUT-…`, or `REPL_…` for a refused request. */
  readonly code: string
  readonly name: string
  readonly message: string
  readonly phase: 'parse' | 'link' | 'run' | 'value' | 'kernel'
  /** What became of the names: as before the cell, in part as the cell set them, or as before the cell because the worker was replaced. */
  readonly state: 'unchanged' | 'partial' | 'rolled-back'
  readonly worker?: 'kept' | 'replaced'
  readonly position?: CellPosition
  /** The source line of `position`, at most 200 units, and the column of `position` in it. */
  readonly frame?: { readonly text: string; readonly column: number }
  /** At most 10, topmost first. */
  readonly frames?: readonly CellFrame[]
  readonly tool?: { readonly name: string; readonly call: number }
  /** At most 16 messages. */
  readonly causes?: readonly string[]
  /** At most 3. */
  readonly help?: readonly string[]
  readonly edit?: ReadyEdit & { readonly expected_target?: number }
  readonly detail?: string
}

export interface Warning {
  readonly code: string
  readonly message: string
  readonly cell?: number
  readonly position?: CellPosition
}

export interface LogEntry {
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

export interface LateEntry extends LogEntry {
  readonly cell: number
}

export interface CallSummary {
  readonly call: number
  /** `tools.read` */
  readonly name: string
  readonly outcome: 'ok' | 'error' | 'unsettled'
}

/** `pure`: nothing from outside. `recorded`: time, randomness, calls. `stamped`: files were read too. `effect`: the outside may have changed. */
export type CellClass = 'pure' | 'recorded' | 'stamped' | 'effect'

export interface Effect {
  readonly kind: string
  readonly subject?: string
  readonly count: number
}

export interface Durability {
  readonly class: CellClass
  readonly effects: readonly Effect[]
  /** Names that a restart would lose; each is named once. */
  readonly atRisk: readonly { readonly name: string; readonly reason: string }[]
}

export type RecoveryReason = 'worker-exit' | 'timeout' | 'memory' | 'host-restart' | 'restart' | 'restore' | 'idle'
export type BindingStatus = 'exact' | 'replayed' | 'snapshot' | 'lost'

export interface Recovery {
  readonly reason: RecoveryReason
  readonly counts: Readonly<Record<BindingStatus, number>>
  /** Sorted by name. */
  readonly bindings: readonly {
    readonly name: string
    readonly status: BindingStatus
    readonly reason?: string
    readonly cell: number
  }[]
  readonly interrupted?: { readonly cell: number; readonly calls: readonly string[] }
  readonly timersDropped: number
  readonly ms: number
}

export interface Timing {
  readonly queuedMs: number
  readonly compileMs: number
  readonly computeMs: number
  readonly wallMs: number
}

export interface RewriteNote {
  readonly kind: RewriteKind
  readonly description: string
  readonly source?: string
}

export interface NameDifferences {
  /** Sorted. */
  readonly added: readonly string[]
  /** Existed before and now hold another value or kind. */
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

/** Trouble that a hint answers. */
export type TipTrigger = 'binding' | 'platform' | 'parse' | 'arguments' | 'long-cell'

/** The answer to a run. Optional fields are absent, never null. */
export interface RunResult {
  /** True exactly when `outcome` is `ok`. */
  readonly ok: boolean
  readonly cell: number
  readonly outcome: Outcome
  readonly valueKind: ValueKind
  readonly value?: Json
  readonly preview?: string
  /** `v<cell>`: the preview is cut, or the value is not JSON. */
  readonly handle?: string
  readonly logs: readonly LogEntry[]
  readonly logsOmittedBytes?: number
  readonly error?: CellError
  readonly warnings: readonly Warning[]
  readonly late?: readonly LateEntry[]
  readonly calls?: readonly CallSummary[]
  readonly bindings: NameDifferences
  readonly durability: Durability
  readonly recovery?: Recovery
  readonly rewrites?: readonly RewriteNote[]
  /** A hint for the model, one line; `n` counts those of its kind in the session. */
  readonly tip?: { readonly trigger: TipTrigger; readonly n: number; readonly text: string }
  readonly timing: Timing
}

/** What a caller offers to programs under `tools`; `parameters` is a JSON schema. */
export interface ToolDeclaration {
  readonly name: string
  readonly description?: string
  readonly parameters?: Json
  /** JSON schema of the result, for `capabilities.inspect`. */
  readonly result?: Json
}

/** A call that a program made and the parent is to carry out. */
export interface ToolCall {
  readonly cell: number
  readonly call: number
  readonly namespace: string
  readonly name: string
  readonly arguments: Json
  /** Aborted when the cell ends before the call has settled. */
  readonly signal: AbortSignal
}

export type ToolOutcome = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string }

export interface RunOptions {
  readonly description?: string
  readonly computeMs?: number
  readonly wallMs?: number
  /** Default `return`. */
  readonly echo?: Echo
  /** Other namespaces beside `tools`, each with its members. */
  readonly namespaces?: Readonly<Record<string, readonly ToolDeclaration[]>>
  readonly tools?: readonly ToolDeclaration[]
  /** Carries out calls of `tools` and of the other namespaces. Never throws for a failing tool. */
  readonly call?: (call: ToolCall) => Promise<ToolOutcome>
  /** Cancels the run, queued or running. */
  readonly signal?: AbortSignal
  readonly origin?: 'run' | 'edit' | 'nested'
  /** The edit that made this source; kept in the journal. */
  readonly edit?: { readonly target: number; readonly request: Json }
}

export type {
  BeginRecord,
  CallRecord,
  CheckRecord,
  ConfirmRecord,
  DeclaredName,
  EndRecord,
  JournalRecord,
  LateRecord,
  MaybeBlob,
  OpaqueName,
  OpenRecord,
  RecoverRecord,
  SecretUse,
  StateRecord,
  StoredComponent,
} from './records.ts'

export interface ReplConfig {
  readonly enabled: boolean
  readonly computeMs: number
  readonly wallMs: number
  readonly heapMb: number
  /** 0: off. */
  readonly rssMb: number
  readonly outputBytes: number
  readonly modelChars: number
  readonly previewChars: number
  /** 0: never. */
  readonly idleMs: number
  readonly maxWorkers: number
  readonly maxNestedRuns: number
  readonly checkpoint: 'auto' | 'off'
  readonly checkpointBudgetMs: number
  readonly checkpointMaxMs: number
  readonly checkpointComponentMb: number
  readonly checkpointSessionMb: number
  readonly keepCheckpoints: number
  readonly record: boolean
  readonly recoverMs: number
  readonly fsync: boolean
  readonly env: 'inherit' | 'minimal'
  readonly envDeny: readonly string[]
  readonly decorators: 'auto' | 'standard' | 'legacy'
  readonly jsx: 'off' | 'react-jsx'
  readonly prelude: readonly string[]
  readonly tips: boolean
  readonly tipCooldown: number
  readonly tipEscalation: number
  readonly canonicalizeCalls: boolean
  readonly cordisTools: boolean
}

export const defaultReplConfig: ReplConfig = {
  enabled: true,
  computeMs: 60_000,
  wallMs: 600_000,
  heapMb: 512,
  rssMb: 2_048,
  outputBytes: 1024 * 1024,
  modelChars: 16_000,
  previewChars: 4_000,
  idleMs: 900_000,
  maxWorkers: 8,
  maxNestedRuns: 8,
  checkpoint: 'auto',
  checkpointBudgetMs: 15,
  checkpointMaxMs: 2_000,
  checkpointComponentMb: 64,
  checkpointSessionMb: 256,
  keepCheckpoints: 8,
  record: true,
  recoverMs: 30_000,
  fsync: false,
  env: 'inherit',
  envDeny: [],
  decorators: 'auto',
  jsx: 'off',
  prelude: [],
  tips: true,
  tipCooldown: 3,
  tipEscalation: 2,
  canonicalizeCalls: true,
  cordisTools: false,
}

/** What an edit answers: the run of the changed source, why nothing was changed, or with `dry_run` whether the changed source parses. */
export type EditResult =
  | ({ readonly edited: true; readonly target: number } & RunResult)
  | { readonly ok: false; readonly edited: false; readonly target?: number; readonly error: EditFailure }
  | { readonly ok: true; readonly edited: false; readonly target: number; readonly parses: boolean; readonly error?: CellError }

/** Code, message and help of an edit that was refused; no cell was made. */
export interface EditFailure {
  readonly code: string
  readonly message: string
  readonly help?: readonly string[]
  readonly subject?: string
}

/** One kind of edit, `target?`, `expected_target?`, `dry_run?`; other fields are not looked at. */
export type EditInput = Readonly<Record<string, unknown>>

export interface HistoryCell {
  readonly cell: number
  readonly parent: number
  /** ISO 8601 with milliseconds. */
  readonly at: string
  /** `running` until it has ended. */
  readonly outcome: Outcome | 'running'
  readonly class: CellClass
  readonly lines: number
  /** Declared, changed or removed. */
  readonly names: readonly string[]
  readonly description?: string
  readonly edit?: { readonly target: number }
  readonly source?: string
}

export interface HistoryQuery {
  readonly from?: number
  readonly to?: number
  /** Default 100, the newest. */
  readonly limit?: number
  readonly source?: boolean
}

export interface History {
  readonly cells: readonly HistoryCell[]
  readonly head: number
}

export interface BindingState {
  readonly name: string
  readonly kind: NameKind
  readonly type: string
  readonly preview: string
  readonly cell: number
  readonly bytes?: number
  /** What a restart would make of it now. */
  readonly recover: BindingStatus
  readonly reason?: string
}

export interface SessionState {
  readonly mode: 'durable' | 'volatile'
  readonly head: number
  readonly cwd: string
  readonly bindings: readonly BindingState[]
  readonly lost: readonly { readonly name: string; readonly cell: number; readonly reason: string }[]
  readonly named: readonly { readonly name: string; readonly cell: number; readonly at: string }[]
  readonly atRisk: readonly string[]
  readonly pending: { readonly timers: number; readonly handles: number }
  readonly worker: { readonly pid: number; readonly rssMb: number } | null
}

export interface PageQuery {
  /** `v<cell>` */
  readonly handle: string
  readonly path?: readonly (string | number)[]
  readonly offset?: number
  readonly limit?: number
}

export interface Page {
  readonly text: string
  readonly total: number
  readonly type: string
}

export interface LogsPage {
  readonly text: string
  readonly total: number
  readonly omittedBytes: number
}

export interface SavedState {
  readonly name: string
  readonly cell: number
  /** Names that a restart would lose. */
  readonly atRisk: readonly string[]
}

export interface RestoredState {
  readonly head: number
  readonly recovery: Recovery
}

export interface Pruned {
  readonly blobs: number
  readonly bytes: number
}

/**
 * One session, opened by its only writer. Runs are answered in the order in which they were asked; the other calls do not wait for them. Refusals are
 * `OutriggerError`s with a `REPL_…` code; what a program does wrong is a result.
 */
export interface ReplSession {
  readonly name: string
  readonly cwd: string
  /** Cells so far. */
  readonly cells: number
  readonly head: number
  run(code: string, options?: RunOptions): Promise<RunResult>
  /** Change a cell that was sent and run the result as a new one. The target is fixed when this is called. */
  edit(input: EditInput, options?: RunOptions): Promise<EditResult>
  /** The source of a cell as submitted; `undefined` when there is no such cell. */
  source(cell: number): Promise<string | undefined>
  /** The newest cell; 0 when there is none. */
  latest(): number
  /** What a cell is recognised by, in copies of the session too, and the cell before it; `undefined` when there is no such cell. */
  node(cell: number): { readonly node: string; readonly parent: number } | undefined
  history(query?: HistoryQuery): Promise<History>
  state(): Promise<SessionState>
  page(query: PageQuery): Promise<Page>
  logs(query: { readonly cell: number; readonly offset?: number; readonly limit?: number }): Promise<LogsPage>
  /** End the worker now and bring its names back; a running cell ends as `exited`. */
  restart(): Promise<Recovery>
  /** Name the head as it is when the cells asked for before have settled. Throws `REPL_BAD_NAME`, `REPL_LIMIT`. */
  save(name: string): Promise<SavedState>
  /** Make that state or cell the head. Throws `REPL_UNKNOWN_STATE`, `REPL_UNKNOWN_CELL`. */
  restore(target: { readonly name: string } | { readonly cell: number }): Promise<RestoredState>
  /** Throws `REPL_UNKNOWN_STATE`. */
  forget(name: string): Promise<void>
  /** Make the empty start the head. */
  reset(): Promise<RestoredState>
  /** Write a session of its own whose head is that cell. `to` is a folder or a name, as at opening. Throws `REPL_UNKNOWN_CELL`, `REPL_HELD`, `REPL_BAD_REQUEST` when it is not empty. */
  fork(cell: number, to: string): Promise<void>
  /** Remove stored parts that no kept copy, named state or listed cell needs. */
  prune(): Promise<Pruned>
  /** A door's word on what its host made of a result. */
  confirm(cell: number, how: 'confirmed' | 'altered', note?: string): Promise<void>
  /** End the worker if everything it knows can be had again without loss and nothing is going on; whether there is none now. */
  rest(): Promise<boolean>
  /** SIGKILL to the worker and nothing else; its process id, `null` when there is none. */
  kill9(): number | null
  /** Applies at the next cell, or the next worker where it says so. */
  configure(config: ReplConfig): void
  /** Running cells are cancelled, the worker ends, the lease is let go. */
  /** Its history was removed while it was open: cells are refused (`REPL_GONE`) until it is opened anew, without names. */
  isGone(): boolean
  close(): Promise<void>
}
