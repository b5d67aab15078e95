/**
 * Declarations as the readers of frontmatter and comments find them, placed by UTF-16 offsets of the
 * text that was read. `child.ts` makes entries with byte spans of them.
 */
import type { ReadEntry } from './entry.ts'
import type { EntryStyle, ProblemCode } from './types.ts'

export interface Item {
  readonly read: ReadEntry
  readonly style: EntryStyle
  /** Quotes included. */
  readonly start: number
  readonly end: number
  /** `@` to the stamp's last character; equal without a stamp. */
  readonly stampStart: number
  readonly stampEnd: number
  /** Where a stamp would be inserted. */
  readonly stampAt: number
}

export interface DraftProblem {
  readonly code: ProblemCode
  readonly at: number
  readonly message: string
}

export interface Draft {
  readonly items: Item[]
  readonly problems: DraftProblem[]
}

/** An entry written literally from `start`: offsets of the raw text are offsets of the source. */
export function literalItem(read: ReadEntry, style: EntryStyle, start: number): Item {
  return {
    read,
    style,
    start: start + read.textStart,
    end: start + Math.max(read.textEnd, read.stampEnd),
    stampStart: start + read.stampStart,
    stampEnd: start + read.stampEnd,
    stampAt: start + read.textEnd,
  }
}

export function emptyRef(at: number): DraftProblem {
  return { code: 'KEEL_EMPTY_REF', at, message: 'an entry names no source' }
}
