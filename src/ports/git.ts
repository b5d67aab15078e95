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
  /** `user.name`. */
  userName(root: string): Promise<string | undefined>
  /** Current branch and head, for people. */
  head(root: string): Promise<{ readonly branch: string | null; readonly commit: string | null } | undefined>
}
