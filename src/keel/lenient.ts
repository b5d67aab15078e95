/**
 * Entries that documents in the field write and YAML reads as something else: bare wikilinks, headings
 * with a colon, headings behind a blank. They are read from the source of their item.
 */
import { type Item, literalItem } from './draft.ts'
import { endsInStamp, readEntry } from './entry.ts'

/**
 * The item's text from `start` to the end of its line without a comment, or in a flow list to the `,` or
 * `]` that ends the item.
 *
 * @returns its end, blanks at the end left out.
 */
export function sliceEnd(text: string, start: number, limit: number, inFlow: boolean): number {
  let end = start
  const close = inFlow ? linkClose(text, start, limit) : -1
  if (close !== -1) end = close + 2
  for (; end < limit; end++) {
    const char = text[end]
    if (char === '\n' || char === '\r' || (inFlow && (char === ',' || char === ']'))) break
  }
  const slice = text.slice(start, end)
  return start + slice.slice(0, commentStart(slice)).trimEnd().length
}

/** ` #` before a blank or the end begins a comment; before anything else it does so unless a stamp ends the slice. */
function commentStart(slice: string): number {
  const stamped = endsInStamp(slice)
  for (let at = slice.indexOf('#', 1); at !== -1; at = slice.indexOf('#', at + 1)) {
    const isApart = slice[at - 1] === ' ' || slice[at - 1] === '\t'
    if (!isApart) continue
    const behind = slice[at + 1]
    if (behind === undefined || behind === ' ' || behind === '\t' || !stamped) return at
  }
  return slice.length
}

/** A wikilink without quotes at `start`, or `null` when the slice is anything else. */
export function bareWikilink(text: string, start: number, limit: number, inFlow: boolean): Item | null {
  if (linkClose(text, start, limit) === -1) return null
  const end = sliceEnd(text, start, limit, inFlow)
  const read = readEntry(text.slice(start, end))
  return read?.kind === 'wikilink' ? literalItem(read, 'lenient', start) : null
}

/** A path whose heading has a colon and a blank in it, which YAML takes for a map of one pair. */
export function pathWithColon(text: string, start: number, limit: number, inFlow: boolean): Item | null {
  const slice = text.slice(start, sliceEnd(text, start, limit, inFlow))
  const mark = slice.indexOf('#')
  const colon = slice.indexOf(': ')
  if (mark === -1 || colon === -1 || mark > colon) return null
  const read = readEntry(slice)
  return read === null ? null : literalItem(read, 'lenient', start)
}

/** Offset of the `]]` of a wikilink that begins at `start`, or -1. Looks no further than the next `[[` or line end. */
function linkClose(text: string, start: number, limit: number): number {
  if (!text.startsWith('[[', start)) return -1
  for (let at = start + 2; at < limit - 1; at++) {
    const char = text[at]
    if (char === ']' && text[at + 1] === ']') return at
    if (char === '\n' || char === '\r' || (char === '[' && text[at + 1] === '[')) return -1
  }
  return -1
}
