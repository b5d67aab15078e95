/**
 * Sources of a section: HTML comments in the run of comment blocks directly behind a top-level heading,
 * `<!-- sources: a.md; b.md#Part -->`. One of that shape elsewhere at top level is reported, not read.
 */
import type { Block } from '../text/markdown.ts'
import { type Draft, type DraftProblem, emptyRef, type Item, literalItem } from './draft.ts'
import { readEntry } from './entry.ts'

export interface CommentDraft extends Draft {
  /** For each item, the place among the top-level headings of the one whose section it is about. */
  readonly headingOf: number[]
}

const shape = /<!--[ \t\r\n]*sources?[ \t\r\n]*:/
const opening = new RegExp(`^${shape.source}`)

/** Whether the text holds anything that could be such a comment; if not, blocks need not be looked for. */
export function mayHaveComments(text: string): boolean {
  return shape.test(text)
}

/** @param list - blocks of `text`, behind the frontmatter. */
export function readComments(text: string, list: readonly Block[]): CommentDraft {
  const items: Item[] = []
  const headingOf: number[] = []
  const problems: DraftProblem[] = []
  let headings = 0
  /** The heading whose run of comments goes on; -1 outside of any. */
  let run = -1
  for (const block of list) {
    if (block.depth > 0) continue
    if (block.kind === 'heading') run = headings++
    else if (block.kind !== 'html' || block.html !== 2) run = -1
    else {
      const listing = listOf(text, block)
      if (listing === null) continue
      if (run === -1) problems.push({ code: 'KEEL_STRAY_COMMENT', at: block.at, message: strayMessage })
      else {
        const read = readList(text, listing.start, listing.end)
        for (const item of read.items) {
          items.push(item)
          headingOf.push(run)
        }
        for (const problem of read.problems) problems.push(problem)
      }
    }
  }
  return { items, problems, headingOf }
}

const strayMessage = 'a sources comment counts only directly below a heading'

/** Where the list of a sources comment lies, or `null` for any other comment. */
function listOf(text: string, block: Block): { start: number; end: number } | null {
  const source = text.slice(block.at, block.end)
  const open = opening.exec(source)
  if (open === null) return null
  const close = source.indexOf('-->', open[0].length)
  if (close === -1 || source.slice(close + 3).trim() !== '') return null
  return { start: block.at + open[0].length, end: block.at + close }
}

function readList(text: string, start: number, end: number): Draft {
  const items: Item[] = []
  const problems: DraftProblem[] = []
  let from = start
  for (let i = start; i <= end; i++) {
    const char = i === end ? ';' : text[i]
    if (char !== ';' && char !== '\n' && char !== '\r') continue
    const raw = text.slice(from, i)
    const read = readEntry(raw)
    if (read !== null) items.push(literalItem(read, 'comment', from))
    else if (raw.trim() !== '') problems.push(emptyRef(from + raw.length - raw.trimStart().length))
    from = i + 1
  }
  return { items, problems }
}
