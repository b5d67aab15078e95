/**
 * Old content of a source, found in git: an object with the stamp's prefix, else the first of the last
 * commits of the target whose slice accepts the stamp. Only asked when a diff or a blame is wanted.
 */

import type { Files } from '../ports/files.ts'
import type { Commit, Git } from '../ports/git.ts'
import { prepareAnchor, viewAnchor } from './anchors.ts'
import { accepts } from './forms.ts'
import { type FoundView, normOf, parsedDocument } from './read-target.ts'
import type { Hex12, KeelConfig } from './types.ts'

/** How far back a target's commits are looked through. */
export const maxHistory: number = 50

export interface HistoryQuery {
  readonly git: Git
  readonly root: string
  readonly compare: KeelConfig['compare']
  /** Project-relative. */
  readonly target: string
  readonly anchor: string | null
  readonly stamp: Hex12
}

/** A content with the normal form of the slice that was asked for. */
export interface Slice {
  readonly view: FoundView
  readonly norm: Uint8Array
}

/** What the anchor names in these bytes; `null`: nothing that can be read. */
export async function sliceOf(bytes: Uint8Array, path: string, anchor: string | null): Promise<Slice | null> {
  await prepareAnchor(path, anchor)
  const parsed = parsedDocument(path, bytes)
  const view = viewAnchor(bytes, path, anchor, parsed)
  return view.kind === 'found' ? { view, norm: normOf(bytes, path, view, parsed) } : null
}

/** Normal form of the content that the stamp was given for; `null`: git does not have it. */
export async function oldContent(query: HistoryQuery): Promise<Uint8Array | null> {
  const { git, root, target, anchor, stamp } = query
  if ((await git.objectFormat(root)) === 'sha1') {
    const blob = await git.blob(root, stamp)
    // The object is the slice itself: a whole file, or by chance a file that holds nothing else.
    const slice = blob === undefined ? null : await sliceOf(blob, target, null)
    if (slice !== null) return slice.norm
  }
  const found = await stampedCommit(query)
  return found === null ? null : ((await sliceOf(found.bytes, target, anchor))?.norm ?? null)
}

/** The newest commit of the target whose slice accepts the stamp, with its bytes. */
export async function stampedCommit(
  query: HistoryQuery,
): Promise<{ readonly bytes: Uint8Array; readonly newer: readonly Commit[] } | null> {
  const { git, root, target, anchor, stamp, compare } = query
  const commits = (await git.history(root, target, maxHistory)) ?? []
  for (const [index, commit] of commits.entries()) {
    const bytes = await git.show(root, commit.commit, target)
    if (bytes === undefined) continue
    const slice = await sliceOf(bytes, target, anchor)
    if (slice !== null && accepts(slice.view.ids, stamp, compare) !== null) return { bytes, newer: commits.slice(0, index) }
  }
  return null
}

/** Bytes of a project's file or `null` when it cannot be read. */
export function readOrNull(files: Files, path: string, maxBytes?: number): Uint8Array | null {
  try {
    return files.read(path, maxBytes)
  } catch {
    return null // gone, not a file, too large, or no permission
  }
}
