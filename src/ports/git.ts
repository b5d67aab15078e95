/**
 * What engines ask of git. Every call is hardened the same way (no hooks, pager, prompt, optional
 * locks, external diff, lazy fetch, network); no engine builds an argument list.
 * All answers are `undefined` when git is missing, the folder is no repository, or git failed.
 *
 * `tests/ports/git.contract.ts` runs against every implementation.
 */

export interface IndexEntry {
  readonly path: string
  /** Whole object id, hex. */
  readonly id: string
  /** The tag of `ls-files -v`: `H` for ordinary ones. */
  readonly flag: string
}

export interface Commit {
  readonly commit: string
  readonly author: string
  /** ISO 8601. */
  readonly date: string
  readonly subject: string
}

export interface Rename {
  readonly from: string
  readonly to: string
}

/** One commit and the files that it touched, for who looks at what changes together. */
export interface TouchedFiles {
  readonly commit: string
  /** Empty for a first commit and for the last one that a shallow clone has. */
  readonly parents: readonly string[]
  /** Committed, ms since the epoch. */
  readonly at: number
  /** Below the root, relative to it. */
  readonly files: readonly string[]
}

export interface TouchedOptions {
  /** Newest commits that are looked at. */
  readonly max: number
  /** The commit to begin at; default HEAD. */
  readonly from?: string
  /** Only commits that this one does not have behind it. */
  readonly since?: string
  /** Reading ends here; what was read counts. */
  readonly maxBytes: number
  readonly timeoutMs: number
}

export interface Touched {
  /** Newest first; merges are left out and a renamed file is another file. */
  readonly commits: readonly TouchedFiles[]
  /** `false`: a limit ended the reading. */
  readonly whole: boolean
}

export type GitStatus =
  | {
      readonly kind: 'ready'
      /** `null`: detached. */
      readonly branch: string | null
      /** `null`: no commit yet. */
      readonly commit: string | null
      /** Paths that differ from the commit, untracked ones too; relative to `root`, with `/`, sorted. */
      readonly changed: readonly string[]
    }
  | { readonly kind: 'none' }
  | { readonly kind: 'failed'; readonly why: string }

export interface Git {
  /** Why git cannot be used here, in a few words; `undefined` when it can. */
  unavailable(root: string): Promise<string | undefined>
  /** Hash kind of the repository's objects. */
  objectFormat(root: string): Promise<'sha1' | 'sha256' | undefined>
  /** Entries of the index below `root`; paths relative to `root`. */
  indexEntries(root: string): Promise<readonly IndexEntry[] | undefined>
  /** Tracked paths whose work tree differs from the index. */
  modified(root: string): Promise<readonly string[] | undefined>
  /** Paths not tracked and not ignored. */
  untracked(root: string): Promise<readonly string[] | undefined>
  /** The commit that `rev` names; `undefined` when there is none. */
  resolve(root: string, rev: string): Promise<string | undefined>
  mergeBase(root: string, rev: string): Promise<string | undefined>
  /** Paths that differ between the commit and the work tree. */
  changedSince(root: string, commit: string): Promise<readonly string[] | undefined>
  /** A file's bytes in a commit; `undefined` when it is not there. */
  show(root: string, commit: string, path: string): Promise<Uint8Array | undefined>
  /** Bytes of the one blob whose id starts with `prefix`; `undefined` for none or several. */
  blob(root: string, prefix: string): Promise<Uint8Array | undefined>
  /** Newest first, commits that touched `path`. */
  history(root: string, path: string, max: number): Promise<readonly Commit[] | undefined>
  /** Renames of the last `maxCommits` commits and of the work tree, newest first. */
  renames(root: string, maxCommits: number): Promise<readonly Rename[] | undefined>
  /** Paths below `root` that are tracked, or not tracked and not ignored; some may be gone from the work tree. */
  listed(root: string): Promise<readonly string[] | undefined>
  /** Recent commits with the files that each touched. */
  touched(root: string, options: TouchedOptions): Promise<Touched | undefined>
  /** `user.name`. */
  userName(root: string): Promise<string | undefined>
  /** The work tree at a glance, in one call of at most `timeoutMs`. Never `undefined`: what went wrong is `failed` with a few words. */
  status(root: string, timeoutMs: number): Promise<GitStatus>
  /** Current branch and head, for people. */
  head(root: string): Promise<{ readonly branch: string | null; readonly commit: string | null } | undefined>
}
