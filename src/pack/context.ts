/** What the parts of pack's text side share: the machine, one mask, and the journal as it was read last. */
import type { FileStat } from '../ports/files.ts'
import { mask } from '../text/redact.ts'
import type { PackDeps } from './deps.ts'
import { absolute, loadJournal, pathsOf } from './files.ts'
import { type Folded, fold } from './fold.ts'
import type { Journal } from './journal.ts'

export interface Pack {
  readonly deps: PackDeps
  mask(text: string): string
  /** The journal and its lines; `null`: there is none. Read again when the file is another one. */
  read(stream: string): { readonly journal: Journal; readonly folded: Folded } | null
}

export function createContext(deps: PackDeps): Pack {
  const known = new Map<
    string,
    { readonly stat: FileStat; readonly value: { readonly journal: Journal; readonly folded: Folded } }
  >()
  return {
    deps,
    mask: text => mask(text, deps.config.redact),
    read(stream) {
      const stat = deps.files.stat(absolute(deps, pathsOf(stream).journal))
      if (stat === undefined) return null
      const before = known.get(stream)
      if (before !== undefined && isSame(before.stat, stat)) return before.value
      const journal = loadJournal(deps, stream)
      if (journal === null) return null
      const value = { journal, folded: fold(journal.entries) }
      // One stream at a time: a session works on one, and journals may be long.
      known.clear()
      known.set(stream, { stat, value })
      return value
    },
  }
}

function isSame(one: FileStat, other: FileStat): boolean {
  const isRecent = BigInt(Date.now()) * 1_000_000n - other.mtimeNs < 100_000_000n
  return (
    !isRecent &&
    one.size === other.size &&
    one.inode === other.inode &&
    one.mtimeNs === other.mtimeNs &&
    one.ctimeNs === other.ctimeNs
  )
}
