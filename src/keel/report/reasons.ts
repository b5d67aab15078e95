/** Each reason and state that a report shows: what it means, and what to do. One row each. */
import type { Voice } from '../../session/voice.ts'
import type { EdgeState, SuspectReason } from '../types.ts'
import { commandOfOk, type Ways, waysOf } from './ways.ts'

export interface ReasonText {
  /** What is the case, as a noun phrase or clause after the source's name. */
  readonly means: string
  /** What to do about a document and the source that it names. */
  todo(ways: Ways, child: string, source: string): string
}

const plain = (means: string, todo: string): ReasonText => ({ means, todo: () => todo })

export const reasons: Readonly<Record<SuspectReason, ReasonText>> = {
  changed: {
    means: 'changed since the document was reviewed against it',
    todo: (ways, child, source) =>
      `read the change (${ways.change(child)}), then update the document, or: ${ways.acknowledge(child, source)}`,
  },
  'stamp-removed': {
    means: 'had a stamp that was taken out, and has changed since',
    todo: (ways, child, source) => `review it like a change: update the document, or: ${ways.acknowledge(child, source)}`,
  },
  'needs-reason': {
    means: 'was acknowledged without a reason, which this project asks for',
    todo: (ways, child, source) => ways.acknowledge(child, source),
  },
  'needs-person': {
    means: 'waits for a person: only a person may acknowledge this document',
    todo: (_ways, child, source) => `a person who read both runs: ${commandOfOk(child, source)}`,
  },
  'bad-stamp': {
    means: 'has a stamp that cannot be read',
    todo: (ways, child, source) => `${ways.acknowledge(child, source)} writes a good one`,
  },
  conflict: plain(
    'has two different stamps, as after a merge',
    'keep the right stamp and take the other out; settle the merge first when the file has its markers',
  ),
  'source-moved': {
    means: 'is gone; another file has the reviewed content',
    todo: (ways, child) => ways.fix(child),
  },
  'source-missing': {
    means: 'is gone',
    todo: ways => `name the file that took its place, or take the entry out; ${ways.proposals()} knows renames in git`,
  },
  'source-not-file': plain('is not a file', 'name a file'),
  'source-parked': plain('lies in a folder that is ignored', 'name another source, or take the folder out of keel.ignore'),
  ambiguous: plain('is a link that fits several files', 'write more of the path inside the brackets'),
  'anchor-missing': {
    means: 'names a part that its file does not have',
    todo: ways => `see what it has: ${ways.anchors(null)}; ${ways.proposals()} finds renamed headings`,
  },
  'anchor-moved': {
    means: 'is not the part that was reviewed; another one is',
    todo: (ways, child) => ways.fix(child),
  },
  'unsupported-anchor': plain(
    'names a part in a way that works only in documents and known code',
    'name the whole file, or lines: FILE#L10-L20',
  ),
}

/** States that are not suspect and not checked either. */
export const unverifiedStates: ReadonlyMap<EdgeState, ReasonText> = new Map<EdgeState, ReasonText>([
  ['unresolved', plain('is a link that fits no file, or several', 'write the path of the source')],
  ['unreadable', plain('cannot be read', 'look at its permissions and size (keel.maxSourceMiB)')],
  [
    'skipped',
    plain(
      'is not checked: the document lies in a vendored folder',
      'nothing; a strict check counts it as a finding, since nobody checked it: for that, take the folder out of keel.vendored or leave it out of what is checked',
    ),
  ],
  ['unknown', plain('was not looked at yet', 'give more time (--budget)')],
])

export function todoOf(text: ReasonText, child: string, source: string, voice: Voice = 'terminal'): string {
  return text.todo(waysOf(voice), child, source)
}
