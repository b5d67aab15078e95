/** What works less well than it should, in fixed heads; each head is shown once. */

export type NoteHead =
  | 'cache rebuilt'
  | 'cache not written'
  | 'baseline full'
  | 'status not written'
  | 'git unavailable'
  | 'stamp skipped'

export interface Notes {
  /** `what`: the file, or why. */
  set(head: NoteHead, what?: string): void
  toggle(head: NoteHead, is: boolean): void
  clear(head: NoteHead): void
  /** Notes of the last sweep. `isPartial`: it looked at a few files only, so those of the one before still hold. */
  sweep(notes: readonly string[], isPartial: boolean): void
  list(): readonly string[]
}

export function createNotes(more: () => readonly string[] = () => []): Notes {
  const standing = new Map<NoteHead, Set<string>>()
  let ofSweep: readonly string[] = []
  const notes: Notes = {
    set(head, what = '') {
      const known = standing.get(head) ?? new Set()
      // Why git is missing is one reason at a time; files are many.
      if (head === 'git unavailable') known.clear()
      standing.set(head, known.add(what))
    },
    toggle(head, is) {
      if (is) notes.set(head)
      else standing.delete(head)
    },
    clear: head => {
      standing.delete(head)
    },
    sweep: (fresh, isPartial) => {
      ofSweep = isPartial ? [...new Set([...ofSweep, ...fresh])] : fresh
    },
    list() {
      const lines = [...standing].flatMap(([head, whats]) => [...whats].map(what => lineOf(head, what)))
      return [...new Set([...ofSweep, ...lines, ...more()])]
    },
  }
  return notes
}

function lineOf(head: NoteHead, what: string): string {
  if (what === '') return head
  return head === 'git unavailable' ? `${head} (${what})` : `${head}: ${what}`
}
