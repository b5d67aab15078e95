/** Each reason and state that a report shows: what it means, and what to do. One row each. */
import { oneLine } from '../../text/data.ts'
import type { EdgeState, SuspectReason } from '../types.ts'

export interface ReasonText {
  /** What is the case, as a noun phrase or clause after the source's name. */
  readonly means: string
  /** What to do; `{child}` and `{source}` stand for the first edge of the kind. */
  readonly todo: string
}

export const reasons: Readonly<Record<SuspectReason, ReasonText>> = {
  changed: {
    means: 'changed since the document was reviewed against it',
    todo: 'read the change (outrigger keel diff {child}), then update the document, or: outrigger keel ok {child} {source} --reason "…"',
  },
  'stamp-removed': {
    means: 'had a stamp that was taken out, and has changed since',
    todo: 'review it like a change: update the document, or: outrigger keel ok {child} {source} --reason "…"',
  },
  'needs-reason': {
    means: 'was acknowledged without a reason, which this project asks for',
    todo: 'outrigger keel ok {child} {source} --reason "…"',
  },
  'needs-person': {
    means: 'was acknowledged by an agent; here only a person may',
    todo: 'a person runs: outrigger keel ok {child} {source} --reason "…"',
  },
  'bad-stamp': {
    means: 'has a stamp that cannot be read',
    todo: 'outrigger keel ok {child} {source} --reason "…" writes a good one',
  },
  conflict: {
    means: 'has two different stamps, as after a merge',
    todo: 'keep the right stamp and take the other out; settle the merge first when the file has its markers',
  },
  'source-moved': {
    means: 'is gone; another file has the reviewed content',
    todo: 'outrigger keel fix --apply {child}',
  },
  'source-missing': {
    means: 'is gone',
    todo: 'name the file that took its place, or take the entry out; outrigger keel fix knows renames in git',
  },
  'source-not-file': { means: 'is not a file', todo: 'name a file' },
  'source-parked': {
    means: 'lies in a folder that is ignored',
    todo: 'name another source, or take the folder out of keel.ignore',
  },
  ambiguous: { means: 'is a link that fits several files', todo: 'write more of the path inside the brackets' },
  'anchor-missing': {
    means: 'names a part that its file does not have',
    todo: 'see what it has: outrigger keel anchors FILE; outrigger keel fix finds renamed headings',
  },
  'anchor-moved': { means: 'is not the part that was reviewed; another one is', todo: 'outrigger keel fix --apply {child}' },
  'unsupported-anchor': {
    means: 'names a part in a way that works only in documents and known code',
    todo: 'name the whole file, or lines: FILE#L10-L20',
  },
}

/** States that are not suspect and not checked either. */
export const unverifiedStates: ReadonlyMap<EdgeState, ReasonText> = new Map<EdgeState, ReasonText>([
  ['unresolved', { means: 'is a link that fits no file, or several', todo: 'write the path of the source' }],
  ['unreadable', { means: 'cannot be read', todo: 'look at its permissions and size (keel.maxSourceMiB)' }],
  [
    'skipped',
    { means: 'is not checked: the document lies in a vendored folder', todo: 'nothing, or take the folder out of keel.vendored' },
  ],
  ['unknown', { means: 'was not looked at yet', todo: 'give more time (--budget)' }],
])

export function todoOf(text: ReasonText, child: string, source: string): string {
  return text.todo.replaceAll('{child}', argument(child)).replaceAll('{source}', argument(source))
}

/** A path as a word of a command line, on one line. */
function argument(name: string): string {
  const text = oneLine(name, 4096)
  return /^[A-Za-z0-9_./:@%+,-][A-Za-z0-9_./:@%+,#-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
