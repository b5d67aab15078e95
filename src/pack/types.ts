/**
 * What pack's two sides say to each other: the text side (journal, fold, state, trust) is `PackProject`;
 * the session side, the verbs and the doors use nothing else of it.
 */
import type { AgentRef } from '../session/events.ts'
import type { SessionFacts } from '../session/facts.ts'
import type { ExtraRule } from '../text/redact.ts'

/** Keys of a state, in the order in which they stand. */
export const sections = [
  'read_first',
  'read_if_needed',
  'decisions',
  'learnings',
  'discarded',
  'in_progress',
  'next',
  'unknowns',
  'stale',
] as const
export type Section = (typeof sections)[number]

export type EntryKind = 'ckpt' | 'designation' | 'code' | 'hand' | 'migration'

/** Operations that take a line away; `restore` and `edit` are the other two. */
export const retireKeys = [
  'retire_answered',
  'retire_done',
  'retire_learned',
  'retire_reversed',
  'retire_superseded',
  'retire_dropped',
] as const
export type RetireKey = (typeof retireKeys)[number]

export interface PackConfig {
  readonly enabled: boolean
  readonly teach: boolean
  readonly afterCompaction: boolean
  /** UTF-16 units of a state. */
  readonly maxChars: number
  /** Estimated tokens of a state: two sevenths of its bytes, rounded up. */
  readonly maxTokens: number
  /** UTF-16 units of one line. */
  readonly lineMax: number
  /** Earlier states that are kept. */
  readonly history: number
  readonly zones: { readonly strong: number; readonly soft: number; readonly hard: number; readonly wallCap: number }
  readonly auto: { readonly graceMs: number; readonly tries: number }
  readonly designate: 'session' | 'aside' | 'off'
  readonly designateTimeoutMs: number
  readonly designateMaxTokens: number
  readonly reinject: 'context' | 'message'
  readonly pendingTtlMs: number
  readonly trust: 'ask' | 'always'
  /** Beside the ones that are known (`text/checks.ts`). */
  readonly testCommands: readonly string[]
  readonly redact: { readonly allow: readonly string[]; readonly extra: readonly ExtraRule[] }
  readonly dsh: { readonly fresh: 'new-session' | 'compact' | 'handover' | null }
}

export const defaultPackConfig: PackConfig = {
  enabled: true,
  teach: true,
  afterCompaction: true,
  maxChars: 8_000,
  maxTokens: 3_000,
  lineMax: 1_200,
  history: 20,
  zones: { strong: 0.3, soft: 0.5, hard: 0.7, wallCap: 0.95 },
  auto: { graceMs: 10_000, tries: 3 },
  designate: 'session',
  designateTimeoutMs: 120_000,
  designateMaxTokens: 4_000,
  reinject: 'context',
  pendingTtlMs: 600_000,
  trust: 'ask',
  testCommands: [],
  redact: { allow: [], extra: [] },
  dsh: { fresh: null },
}

/** A trailer that was taken out of an answer: masked, ready to be kept or appended. Plain data. */
export interface TakenTrailer {
  /** First 12 hex digits; tells the same trailer again. */
  readonly key: string
  /** As stored, escaped and masked. */
  readonly body: string
  /** `none` without one. */
  readonly session: string
  /** ms since the epoch. */
  readonly at: number
  readonly flags: readonly string[]
}

export const ignoredReasons = ['in-code', 'in-quote', 'in-list', 'in-html', 'inline', 'unclosed', 'too-long', 'too-many'] as const
export type IgnoredReason = (typeof ignoredReasons)[number]

export interface Ignored {
  /** Of the answer, from 1. */
  readonly line: number
  readonly reason: IgnoredReason
}

export interface Seam {
  readonly level: 'none' | 'simple' | 'strong'
  readonly task: string | null
}

/** What a rule of redaction found, by its name. */
export interface Redacted {
  readonly rule: string
  readonly count: number
}

export interface Taken {
  readonly trailers: readonly TakenTrailer[]
  readonly ignored: readonly Ignored[]
  readonly seam: Seam
  readonly redacted: readonly Redacted[]
}

export interface TakeInput {
  /** Earlier answers of the turn, oldest first, then its last one. Lines of `ignored` are those of the text they stand in. */
  readonly texts: readonly string[]
  readonly session?: string
  /** The host's own id of the turn. Without it every trailer counts as new, unless `turn` is given. */
  readonly turnId?: string
  readonly turn?: number
  /** Why the turn ended unless it completed, `inbox`; a helper agent's id goes to `agent`. */
  readonly flags?: readonly string[]
  readonly agent?: string
  /** ms since the epoch; now when left out. */
  readonly at?: number
}

export interface CapturedClause {
  /** Always `cNN.k`; `null`: an operation. */
  readonly id: string | null
  readonly keyword: string
  readonly section: Section | null
  readonly text: string
}

export interface Captured {
  readonly id: string
  readonly key: string
  readonly duplicate: boolean
  readonly clauses: readonly CapturedClause[]
}

/** `outrigger.pack.capture/1`. */
export interface CaptureDocument {
  readonly stream: string
  readonly captured: readonly Captured[]
  readonly ignored: readonly Ignored[]
  readonly seam: Seam
  readonly redacted: readonly Redacted[]
  /** Project-relative path. */
  readonly journal: string
  /** `lockless`: the store could not be opened. */
  readonly notes: readonly string[]
}

export interface Retired {
  readonly id: string
  readonly key: RetireKey
  readonly by: 'trailer' | 'model' | 'code' | 'hand' | 'migration'
  readonly reason: string | null
}

export type RejectedWhy = 'not-an-id' | 'unknown-id' | 'ambiguous' | 'wrong-section' | 'already-retired'

export interface Rejected {
  readonly entry: string
  readonly key: string
  readonly token: string
  readonly why: RejectedWhy
}

export interface Fidelity {
  readonly score: number
  readonly lines: number
  readonly artifacts: number
  readonly frontier: number
}

export const degradedNotes = ['cut', 'no-model', 'model-blocked', 'model-unparseable', 'git-unknown', 'lockless'] as const
export type SaveNote = (typeof degradedNotes)[number] | 'gate-missing' | 'migrated' | 'hand-edited' | 'torn-tail'

/** `outrigger.pack.save/1`. */
export interface SaveDocument {
  readonly stream: string
  readonly revision: number
  readonly unchanged: boolean
  readonly outcome: 'ok' | 'degraded'
  readonly notes: readonly SaveNote[]
  readonly designation: 'off' | 'applied' | 'blocked' | 'failed'
  readonly reason: string | null
  readonly cursor: string
  readonly state: { readonly path: string; readonly chars: number; readonly tokens: number }
  readonly lines: { readonly live: number; readonly shown: number; readonly shortened: number; readonly dropped: number }
  readonly dropped: readonly string[]
  readonly shortened: readonly string[]
  readonly retired: readonly Retired[]
  readonly rejected: readonly Rejected[]
  readonly unrouted: readonly string[]
  readonly fidelity: Fidelity
  /** The older files that were read. */
  readonly migrated: readonly string[] | null
  readonly handoff?: { readonly path: string; readonly chars: number; readonly leftOut: readonly string[] }
  /** Keys of a model's reply that are none. */
  readonly ignoredKeys?: readonly string[]
}

/** What a model made of the entries: its words, or why there are none. */
export type Designation =
  | { readonly kind: 'reply'; readonly text: string }
  /** `no-model`, a timeout, a host's words: the state is complete without it. */
  | { readonly kind: 'failed'; readonly reason: string }

export interface SaveInput {
  readonly stream: string
  readonly session?: string
  /** Facts of the session, for the frontier and for evidence; `null`: git alone. Left out: the last ones kept for `session`. */
  readonly facts?: SessionFacts | null
  /** Helper agents now; left out: those of the facts. */
  readonly agents?: readonly AgentRef[] | 'timed-out'
  readonly designation?: Designation
  /** Write the hand-over view for this goal, too. */
  readonly goal?: string
  /** Lines that a model named for the goal. */
  readonly relevant?: readonly string[]
  readonly expectRevision?: number
  readonly maxChars?: number
  readonly maxTokens?: number
}

export type TrustLevel = 'own' | 'changed' | 'foreign'

export interface StaleCite {
  readonly id: string
  readonly cite: string
  readonly why: 'changed' | 'missing' | 'suspect'
}

/** `outrigger.pack.load/1`. */
export interface LoadDocument {
  readonly stream: string
  readonly revision: number
  readonly trust: { readonly level: TrustLevel; readonly confirmed: boolean }
  readonly nonce: string | null
  readonly flagged: readonly string[]
  readonly stale: readonly StaleCite[]
  readonly pending: { readonly entries: number; readonly after: string }
  /** The whole text for the next context; `null`: not confirmed. */
  readonly text: string | null
  /** For people, when the text is withheld: up to 20 lines of what changed. */
  readonly changes?: readonly string[]
}

export interface LoadInput {
  readonly stream: string
  /** A person confirms what is there now. Never set for a model. */
  readonly trust?: boolean
  /** The hand-over view for this goal instead of the state. */
  readonly goal?: string
  /** A hand-over file that `save` wrote, project-relative. */
  readonly file?: string
  /** UTF-16 units for the whole text; a smaller view of the state is made to fit. */
  readonly room?: number
  /** The rules that close the text say that nobody answers it. Default `pack.reinject` is `context`. */
  readonly asContext?: boolean
}

export type LineState = 'live' | 'retired' | 'twin' | 'journal'

export interface ShownLine {
  readonly id: string
  readonly section: Section | null
  readonly keyword: string | null
  readonly text: string
  readonly state: LineState
  /** It stands in the last written state. */
  readonly shown: boolean
}

export interface ShownEntry {
  readonly id: string
  readonly at: string
  readonly session: string
  readonly kind: EntryKind
  readonly flags: readonly string[]
  readonly state: 'intact' | 'edited' | 'torn'
  readonly text: string
  readonly lines: readonly ShownLine[]
}

/** `outrigger.pack.show/1`. */
export interface ShowDocument {
  readonly stream: string
  readonly entries: readonly ShownEntry[]
  readonly missing: readonly string[]
  readonly state: { readonly revision: number; readonly text: string } | null
}

export interface ListedStream {
  readonly stream: string
  readonly revision: number
  /** ISO 8601; `null`: never saved. */
  readonly saved: string | null
  readonly entries: number
  /** Entries after the cursor of the state. */
  readonly unsaved: number
  readonly trust: TrustLevel
  /** There are files of the older tool only. */
  readonly legacy: boolean
}

/** `outrigger.pack.list/1`. */
export interface ListDocument {
  readonly streams: readonly ListedStream[]
}

export interface DiffLine {
  readonly id: string
  readonly section: Section
  readonly text: string
}

/** `outrigger.pack.diff/1`. */
export interface DiffDocument {
  readonly stream: string
  readonly from: number
  readonly to: number
  readonly added: readonly DiffLine[]
  readonly removed: readonly (DiffLine & { readonly why: 'retired' | 'dropped' | 'gone'; readonly reason: string | null })[]
  readonly changed: readonly { readonly id: string; readonly section: Section; readonly from: string; readonly to: string }[]
  readonly scalars: readonly { readonly key: string; readonly from: string; readonly to: string }[]
}

export type FindingCode =
  | 'bad-utf8'
  | 'over-cap'
  | 'state-unreadable'
  | 'lost-line'
  | 'torn'
  | 'edited'
  | 'merged-id'
  | 'unrouted'
  | 'rejected'
  | 'state-behind'
  | 'changed'
  | 'foreign'

export interface Finding {
  readonly stream: string
  readonly code: FindingCode
  readonly severity: 'error' | 'warning'
  readonly id?: string
  readonly line?: number
  readonly message: string
}

/** `outrigger.pack.verify/1`. */
export interface VerifyDocument {
  readonly ok: boolean
  readonly entries: number
  readonly findings: readonly Finding[]
}

/** `outrigger.pack.prompt/1`. */
export interface PromptDocument {
  readonly stream: string
  readonly prompt: string
  readonly cursor: string
  readonly tokens: number
}

/** Where the notes stand with git: `neither` is what people are told about once. */
export type Placement = 'tracked' | 'ignored' | 'neither' | 'no-git'

export interface PackProject {
  readonly root: string
  readonly config: PackConfig

  /** Find and mask the trailers of a turn. Pure but for fresh keys; writes nothing. */
  take(input: TakeInput): Taken
  /** Append trailers in order; known keys are duplicates. Makes the stream. Resolves after the fsync. Throws `PACK_STREAM_BUSY`, `PACK_WRITE_FAILED` and the faults of a name. `known`: ids by key beside the newest 256. */
  append(
    stream: string,
    trailers: readonly TakenTrailer[],
    known?: ReadonlyMap<string, string>,
  ): Promise<Omit<CaptureDocument, 'ignored' | 'seam' | 'redacted'>>
  /** `take`, then `append`. */
  capture(stream: string, input: TakeInput): Promise<CaptureDocument>

  /** Fold, assemble, write `state.md` and `status.md`. Makes the stream. Throws `PACK_CAP_TOO_SMALL`, `PACK_REVISION_MOVED`, `PACK_LOST_LINE` and what `append` throws. */
  save(input: SaveInput): Promise<SaveDocument>
  /** What a model is asked for a save; its reply goes to `save` as the designation. */
  prompt(stream: string, goal?: string): Promise<PromptDocument>
  /** Text for the next context. Writes nothing but, with `trust`, its record. */
  load(input: LoadInput): Promise<LoadDocument>
  /** A person takes what is there now as theirs. */
  trust(stream: string): Promise<TrustLevel>

  show(stream: string, ids?: readonly string[]): Promise<ShowDocument>
  list(): Promise<ListDocument>
  diff(stream: string, from?: number, to?: number): Promise<DiffDocument>
  verify(stream?: string): Promise<VerifyDocument>

  /** A title as a stream's name; `null`: it names none. */
  streamOfTitle(title: string): string | null
  /** The name as it may be used. Throws `PACK_BAD_STREAM`, `PACK_RESERVED_STREAM`, `PACK_STREAM_CASE`. `inbox` passes when `own` says that the engine asks. */
  checkStream(name: string, own?: 'own'): string
  /** Names of the streams that have a folder, and of those that the older tool left. */
  streams(): readonly string[]
  exists(stream: string): boolean
  /** Live lines of `next`, `in_progress` and `unknowns`, oldest first, `[]` for an unknown stream. */
  outline(stream: string): Promise<readonly { readonly id: string; readonly section: Section; readonly text: string }[]>

  placement(): Promise<Placement>
  /** Add the folder to git's own exclude file, or take it away again. Answers whether it is there now. */
  setPrivate(on: boolean): Promise<boolean>
  isPrivate(): boolean

  /** Entries of the journal by key and by their words: session, NUL, body as stored. Empty for an unknown stream. */
  filed(stream: string): Promise<readonly { readonly key: string; readonly id: string; readonly words: string }[]>

  /** Keep what the frontier of a later save needs of a session. */
  keepFacts(session: string, facts: SessionFacts): Promise<void>
}
