/**
 * What keel's parts hand to one another. Entries and spans come from `child.ts`, anchor views from
 * `anchors.ts`, the snapshot from `sweep.ts`; `assess.ts` turns a snapshot into the list of `Edge`
 * that every verb, message and report filters and renders (contract: the edge object of the command
 * line's JSON).
 */

/** First 12 lower-case hex digits of a content id. */
export type Hex12 = string & { readonly __hex12: unique symbol }

/** Bytes of a file, end exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

export type EntryStamp =
  | { readonly kind: 'none' }
  | { readonly kind: 'hex'; readonly value: Hex12 }
  | { readonly kind: 'ok'; readonly value: null; readonly reason: string | null }
  /** `value` is the text after `@`. */
  | { readonly kind: 'bad'; readonly value: string }
  | { readonly kind: 'conflict'; readonly values: readonly Hex12[] }

export type EntryKind = 'path' | 'wikilink' | 'url'
export type EntryStyle = 'plain' | 'single' | 'double' | 'lenient' | 'comment'

export type EntryScope =
  | { readonly type: 'file' }
  | {
      readonly type: 'section'
      readonly heading: string
      readonly slug: string
      readonly level: number
      readonly line: number /** The section's bytes in the file. */
      readonly span: Span
    }

export interface Entry {
  readonly kind: EntryKind
  /** Decoded, without stamp and outer white space: what the edge id hashes and stamps never change. */
  readonly text: string
  /** Wikilink: the name. Path: the textual split of `spec` §5.1's last rule (the sweep may split otherwise). URL: the whole. */
  readonly ref: string
  readonly anchor: string | null
  /** Wikilinks: the shown alias. */
  readonly alias?: string
  readonly stamp: EntryStamp
  readonly scope: EntryScope
  readonly style: EntryStyle
  /** The item's source, quotes included. */
  readonly span: Span
  /** `@` to the stamp's last byte; `null` without one. */
  readonly stampSpan: Span | null
  /** Where ` @hex12` would be inserted. */
  readonly stampAt: number
  /** From 1; UTF-16 columns, a BOM has none. */
  readonly line: number
  readonly column: number
  /** n-th (from 0) among entries of equal scope and text; part of the edge id. */
  readonly ordinal: number
  /** Spans of repeated file-level items merged into this one; `norm` drops their stamps too. */
  readonly repeats: readonly { readonly span: Span; readonly text: string; readonly stampSpan?: Span | null }[]
  /** Bad stamps: the text with what stands in the stamp's place, for a file that is named so (`readAsFile` in `entry.ts`). */
  readonly whole?: string
  /** Text of the item at `span` where it differs from `text`: another spelling of an edge declared twice. */
  readonly spanText?: string
}

export type ProblemCode =
  | 'KEEL_NOT_UTF8'
  | 'KEEL_CHILD_TOO_LARGE'
  | 'KEEL_YAML_ITEM'
  | 'KEEL_DUPLICATE_KEY'
  | 'KEEL_STRAY_COMMENT'
  | 'KEEL_EMPTY_REF'

export interface Problem {
  readonly code: ProblemCode
  readonly level: 'error' | 'warning'
  readonly line: number
  readonly column: number
  readonly message: string
}

/** One document's declarations (`child.ts`: `parseChild(bytes)`). */
export interface ParsedChild {
  readonly entries: readonly Entry[]
  readonly problems: readonly Problem[]
  /** The whole block with its fences; `null` without one. */
  readonly frontmatter: Span | null
  /** Merge markers: never rewritten. */
  readonly conflicted: boolean
}

/** Every id by which a slice accepts a stamp. */
export interface SliceIds {
  readonly norm: Hex12
  readonly raw: Hex12
  readonly lf: Hex12
  /** `lf` with none, one and two final LFs. */
  readonly tail: readonly Hex12[]
  /** Absent: text. `binary` knows only `raw`; `large` (over 16 MiB) only `raw` and `lf`. `norm` repeats `raw` in both. */
  readonly only?: 'binary' | 'large'
}

export type IdForm = 'norm' | 'raw' | 'lf' | 'tail' | 'index'

export type AnchorMatch = 'exact' | 'plain' | 'unicode' | 'ordinal' | 'slug' | 'id' | 'folded' | 'nested' | 'lines' | 'symbol'
/** How the ref was found, when not literally. */
export type RefMatch = 'decoded' | 'unicode' | 'by-stamp'

/** What an anchor names in one content of a target. */
export type AnchorView =
  | {
      readonly kind: 'found'
      /** `null` for a whole file. */
      readonly match: AnchorMatch | null
      /** Text of the heading; `null` for other anchors. */
      readonly heading: string | null
      readonly span: Span
      readonly firstLine: number
      readonly lastLine: number
      readonly binary: boolean
      readonly ids: SliceIds
      /** Others that the same name could mean (namesakes), with the anchor that names each. */
      readonly namesakes: readonly { readonly anchor: string; readonly ids: SliceIds }[]
    }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unsupported' }
  /** With an anchor: over 16 MiB or not UTF-8. */
  | { readonly kind: 'unreadable'; readonly why: string }

export type EdgeState =
  | 'skipped'
  | 'opaque'
  | 'suspect'
  | 'unresolved'
  | 'unknown'
  | 'unreadable'
  | 'pending-stamp'
  | 'ok-requested'
  | 'clean'

export type SuspectReason =
  | 'conflict'
  | 'ambiguous'
  | 'source-parked'
  | 'source-moved'
  | 'source-missing'
  | 'source-not-file'
  | 'unsupported-anchor'
  | 'anchor-missing'
  | 'bad-stamp'
  | 'stamp-removed'
  | 'needs-reason'
  | 'needs-person'
  | 'anchor-moved'
  | 'changed'

export type EdgeClass = 'moved' | 'broken' | 'unverified'

export interface Suggestion {
  readonly ref: string
  readonly anchor: string | null
  readonly basis: 'content' | 'git' | 'similar'
  readonly score: number
}

export interface ChainLink {
  readonly via: string
  readonly root: string
  readonly edge: string
}

export interface EdgeDiff {
  readonly status: 'ok' | 'unavailable'
  readonly why: 'no-copy' | 'binary' | 'too-large' | 'moved-again' | 'outside-project' | null
  readonly text: string | null
  readonly basis: 'baseline' | 'git' | null
}

export interface Blame {
  readonly commit?: string
  readonly author?: string
  readonly date?: string
  readonly subject?: string
  readonly uncommitted?: true
}

/** One declared edge as everybody sees it. The JSON of every verb carries this object unchanged. */
export interface Edge {
  /** 16 hex digits. */
  readonly id: string
  readonly child: string
  readonly line: number
  readonly column: number
  readonly scope:
    | { readonly type: 'file' }
    | { readonly type: 'section'; readonly heading: string; readonly level: number; readonly line: number }
  readonly kind: EntryKind
  readonly ref: string
  readonly anchor: string | null
  /** Project-relative, or absolute outside; `null` when the ref names no file. */
  readonly target: string | null
  readonly stamp: {
    readonly kind: 'none' | 'hex' | 'ok' | 'bad' | 'conflict'
    readonly value: string | null
    readonly values?: readonly string[]
    readonly reason?: string | null
  }
  readonly state: EdgeState
  readonly reason: SuspectReason | null
  readonly class: EdgeClass | null
  readonly current: Hex12 | null
  readonly old: Hex12 | null
  readonly form: IdForm | null
  readonly match: AnchorMatch | RefMatch | null
  readonly heading: string | null
  readonly suggest: Suggestion | null
  readonly chain: readonly ChainLink[]
  readonly stale?: boolean
  readonly detail?: string
  readonly diff?: EdgeDiff
  readonly blame?: Blame
}

/** `<edge id> <reason> <current or nothing>`: what a session is told once. */
export type SuspectKey = string

export interface LocatedProblem extends Problem {
  readonly file: string
}

/** What a refresh leaves behind for everyone who asks. */
export interface Assessment {
  /** Sorted by child, line, column. */
  readonly edges: readonly Edge[]
  readonly problems: readonly LocatedProblem[]
  readonly cycles: readonly (readonly string[])[]
  readonly children: number
  /** Distinct existing targets. */
  readonly sources: number
  /** Fixed heads of `spec/keel.md` §8.6, each once. */
  readonly degraded: readonly string[]
  /** ms since the epoch. */
  readonly sweptAt: number
}

/** S1, S2 and S3 are three scopes of one refresh. */
export type RefreshScope =
  | { readonly kind: 'full'; readonly ignoreCache?: boolean; readonly searchMoves?: boolean }
  /** Project-relative paths that a write named. */
  | { readonly kind: 'files'; readonly paths: readonly string[] }
  | { readonly kind: 'known' }

export interface RefreshOptions {
  /** 0: none. */
  readonly budgetMs?: number
  readonly signal?: AbortSignal
  progress?(what: string, done: number, total: number): void
  /** Full sweeps: a commit whose versions of the children tell which stamps were known before, ahead of `HEAD`'s. */
  readonly since?: string
}

export interface Refreshed extends Assessment {
  /** Targets whose content id differs from before this refresh. */
  readonly movedTargets: readonly string[]
  /** Children whose bytes differ from before, with their scope ids before and after (`reviewed.ts`). */
  readonly movedChildren: readonly string[]
  readonly found: readonly string[]
  readonly gone: readonly string[]
  /** Scope ids of the edges of the moved children, before this refresh and now; `null` where the edge was or is not there. */
  readonly movedScopes: readonly { readonly edge: string; readonly before: Hex12 | null; readonly after: Hex12 | null }[]
}

/** A reference that can be put right (`keel fix`). `from` and `to` are `ref[#anchor]`, wikilinks with brackets and alias. */
export interface Proposal {
  readonly edge: string
  readonly child: string
  readonly reason: SuspectReason
  readonly from: string
  readonly to: string
  readonly basis: Suggestion['basis']
  readonly score: number
}

export interface FixResult {
  /** Every proposal that was handed in, with what became of it. */
  readonly proposals: readonly (Proposal & { readonly applied: boolean })[]
  readonly written: readonly string[]
  readonly skipped: readonly { readonly child: string; readonly why: string }[]
  readonly busy: boolean
}

/** A row of an older tool's journal, shown by the log and nothing else. */
export interface LegacyRecord {
  readonly legacy: true
  readonly at: string | null
  readonly child: string | null
  readonly source: string | null
  readonly text: string
}

export interface JournalReading {
  /** Oldest first, as they stand in the file. */
  readonly records: readonly JournalRecord[]
  readonly legacy: readonly LegacyRecord[]
  /** Lines that do not parse. */
  readonly unreadable: number
  /** Notes on the journal: a file that cannot be read, a record that could not be written. */
  readonly degraded: readonly string[]
}

/** A file that derives from a path, directly (`depth` 1) or over the files of `via`. */
export interface Impact {
  readonly path: string
  readonly depth: number
  readonly via: readonly string[]
}

export type StampKind = 'stamp' | 'ok' | 'updated' | 'manual' | 'carry' | 'fix'

export interface Stamped {
  readonly id: string
  readonly child: string
  /** `ref[#anchor]`, wikilinks with brackets. */
  readonly source: string
  readonly kind: StampKind
  readonly old: Hex12 | null
  readonly new: Hex12
}

/** One line of the journal (`spec/keel.md` §10.5). */
export interface JournalRecord {
  readonly v: 1
  /** ISO 8601 with milliseconds. */
  readonly at: string
  readonly kind: StampKind
  readonly edge: string
  readonly child: string
  readonly source: string
  readonly old: string | null
  readonly new: string | null
  readonly who: { readonly kind: 'code' | 'agent' | 'person' | 'hand'; readonly name?: string; readonly session?: string }
  readonly reason: string | null
  readonly evidence: {
    readonly scopeBefore?: string
    readonly scopeAfter?: string
    readonly told?: boolean
    readonly basis?: string
  } | null
}

/** An ack waiting to be written, or one to write now. */
export interface Ack {
  readonly edge: string
  /** The content it was given for. */
  readonly content: Hex12
  readonly kind: 'ok' | 'updated'
  readonly reason: string | null
  readonly who: JournalRecord['who']
  readonly evidence: JournalRecord['evidence']
}

export interface BoundaryOptions {
  /** Only children at or below these project-relative paths. */
  readonly paths?: readonly string[]
  readonly acks?: readonly Ack[]
  /** Write nothing but these acks: an acknowledgement of one edge leaves the others as they are. */
  readonly onlyAcks?: boolean
  readonly dryRun?: boolean
  /** CLI verbs wait and then refuse (`KEEL_BUSY`); sessions leave it for the next boundary. */
  readonly onBusy: 'refuse' | 'leave'
  readonly who: JournalRecord['who']
  /** Agents' acks on `personOnly` children are not written. */
  readonly byAgent: boolean
  readonly session?: string
}

export interface BoundaryResult {
  readonly stamped: readonly Stamped[]
  /** Children rewritten. */
  readonly written: readonly string[]
  readonly skipped: readonly { readonly child: string; readonly why: string }[]
  /** The lease was held by somebody else; nothing was written. */
  readonly busy: boolean
}

/** `keel:` of the configuration, complete (`spec/keel.md` §16). */
export interface KeelConfig {
  /** `null`: not set, so that `.stoa-keel.yml` may say. */
  readonly ignore: readonly string[] | null
  readonly frozen: readonly string[] | null
  readonly vendored: readonly string[] | null
  readonly compare: 'normalized' | 'exact'
  readonly stamps: 'inline' | 'file'
  readonly stampNew: 'auto' | 'manual'
  readonly tell: boolean
  readonly hold: 'created' | 'off'
  readonly remindAfterTurns: readonly number[]
  readonly ack: {
    readonly reason: 'optional' | 'required'
    readonly updated: 'scope' | 'off'
    readonly personOnly: readonly string[]
  }
  readonly check: { readonly strict: boolean; readonly chain: boolean }
  readonly sweepBudgetMs: number
  readonly maxSourceMiB: number
  readonly baselineMiB: number
  readonly watch: { readonly max: number; readonly pollMs: number }
  readonly statusFile: boolean
}

/**
 * One project's documents: a snapshot in memory and its cache. Owned by `project.ts`, used by the
 * session engine and the verbs. Single-threaded: calls of one instance do not overlap.
 */
export interface KeelProject {
  readonly root: string
  readonly config: KeelConfig
  /** Presence of an off file, looked up now. */
  isOff(): { readonly off: boolean; readonly file: string }
  refresh(scope: RefreshScope, options?: RefreshOptions): Promise<Refreshed>
  /** The last refresh's answer; empty before the first. */
  assessment(): Assessment
  edgesOf(path: string): readonly Edge[]
  /** Norm id of an edge's scope (its section, or all text after frontmatter; stamps do not count) as of the last refresh; `null` when the child is gone. */
  scopeId(edge: string): Hex12 | null
  /** Content id now of a project file, whether it is a known target or not; `null` when it cannot be read. */
  contentId(path: string): Hex12 | null
  /** Plan and write stamps (`spec/keel.md` §10.1). Refreshes the children it writes. */
  boundary(options: BoundaryOptions): Promise<BoundaryResult>
  diff(edge: Edge): Promise<EdgeDiff>
  blame(edge: Edge): Promise<Blame | null>
  /** Save the cache if something changed. */
  save(): Promise<void>
  /** Write `status.md` when something but its time differs. `firstSeen`: edge id → ISO. */
  writeStatus(): Promise<void>
  /** When each live suspect key was first seen, ISO. */
  since(edge: Edge): string
  /** What can be put right, of the last refresh; searches as a full refresh with `searchMoves` does. */
  fixes(options?: { readonly paths?: readonly string[]; readonly only?: Suggestion['basis'] }): Promise<readonly Proposal[]>
  /** Rewrite the references, stamps kept; refreshes the children it writes. */
  applyFixes(
    proposals: readonly Proposal[],
    options: { readonly who: JournalRecord['who']; readonly onBusy: 'refuse' | 'leave' },
  ): Promise<FixResult>
  /** Move every stamp into the documents or into the stamps file, whatever the configuration says. */
  moveStamps(
    to: 'inline' | 'file',
    options: { readonly onBusy: 'refuse' | 'leave'; readonly dryRun?: boolean },
  ): Promise<BoundaryResult>
  journal(): JournalReading
  /**
   * Targets that were noticed to move after `mark`, whoever looked first, and the mark of now. Marks of
   * one project only rise, over processes too.
   */
  movedSince(mark: number): { readonly targets: readonly string[]; readonly mark: number }
  /** All files that derive from a path, nearest first, then by path. */
  impact(path: string): readonly Impact[]
  /** Children and targets that differ between the merge base of `rev` and the work tree, untracked ones included. Throws `KEEL_NO_GIT`, `KEEL_BAD_REV`. */
  changedSince(rev: string): Promise<{ readonly commit: string; readonly paths: ReadonlySet<string> }>
  /** Project-relative path of a known document or target that is named by path or as `[[name]]`; `null` for none or several. */
  findFile(name: string): string | null
  /** Make or remove the off file (and remove the older tool's). */
  setOff(off: boolean): Promise<{ readonly on: boolean; readonly file: string; readonly changed: boolean }>
  /** Project-relative existing targets, then children, each sorted; what to watch. */
  watchable(): readonly string[]
  /** A session wrote a child in its running turn: boundaries of other processes leave it alone until the turn is over. */
  claim(session: string, child: string): Promise<void>
  /** The session's turn is over. */
  unclaim(session: string): Promise<void>
}
