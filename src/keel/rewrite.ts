/**
 * Stamps and texts of entries written into a document's bytes: by span, from right to left, never by
 * searching for text. The result is read again before it is handed back; one that would say
 * anything but what was planned is refused.
 */
import { Buffer } from 'node:buffer'
import { decodeUtf8 } from '../text/utf8.ts'
import { parseChild } from './child.ts'
import { scopeKey } from './edge-id.ts'
import { applyEdits, type Edit, quoteWikilink, textForms } from './edits.ts'
import type { Entry, Hex12, ParsedChild } from './types.ts'

export type Rewritten =
  | {
      readonly kind: 'ok'
      readonly bytes: Uint8Array
      /** Entries of the plan that have no form which could be written; left as they were. */
      readonly skipped: readonly Entry[]
    }
  | {
      readonly kind: 'refused'
      readonly why: 'not UTF-8' | 'merge markers inside' | 'it changed meanwhile' | 'it would read differently'
    }

/**
 * Put stamps on entries of `parseChild(bytes)`.
 *
 * Every byte outside the stamps stays, but for the quotes that a bare wikilink without a stamp needs. Items
 * repeated for one edge get the same stamp where they have one. An entry that is in conflict or has a
 * bad stamp gets the new stamp in its place: whether it may is the caller's question.
 */
export function rewriteStamps(bytes: Uint8Array, changes: ReadonlyMap<Entry, Hex12>): Rewritten {
  const before = readable(bytes, changes.keys())
  if ('kind' in before) return before
  const edits: Edit[] = []
  const skipped: Entry[] = []
  const planned = new Map<number, Hex12>()
  for (const [entry, stamp] of changes) {
    const own = stampEdits(bytes, entry, stamp)
    if (own === null) {
      skipped.push(entry)
      continue
    }
    for (const edit of own) edits.push(edit)
    planned.set(indexOf(before, entry), stamp)
  }
  const written = applyEdits(bytes, edits)
  const after = parseChild(written)
  const isAsPlanned = sameEntries(before, after, (index, was, is) => {
    const stamp = planned.get(index)
    const sameStamp = stamp === undefined ? stampText(was) === stampText(is) : is.stamp.kind === 'hex' && is.stamp.value === stamp
    return sameStamp && was.text === is.text
  })
  return isAsPlanned ? { kind: 'ok', bytes: written, skipped } : { kind: 'refused', why: 'it would read differently' }
}

/**
 * Point entries of `parseChild(bytes)` elsewhere: the text is replaced, the stamp kept, quotes put where the
 * new text needs them. Repeated items are all replaced.
 */
export function rewriteTexts(bytes: Uint8Array, changes: ReadonlyMap<Entry, string>): Rewritten {
  const before = readable(bytes, changes.keys())
  if ('kind' in before) return before
  const skipped: Entry[] = []
  let written = bytes
  const planned = new Map<number, string>()
  const rightToLeft = [...changes].sort((a, b) => b[0].span.start - a[0].span.start)
  for (const [entry, text] of rightToLeft) {
    const index = indexOf(before, entry)
    planned.set(index, text)
    const next = firstThat(replacements(written, parseChild(written).entries[index]!, text), tried =>
      sameEntries(
        before,
        parseChild(tried),
        (at, was, is) => is.text === (planned.get(at) ?? was.text) && stampText(was) === stampText(is),
      ),
    )
    if (next === null) {
      planned.delete(index)
      skipped.push(entry)
    } else written = next
  }
  return { kind: 'ok', bytes: written, skipped }
}

/** What the bytes say, when they may be rewritten and say what the plan was made from. */
function readable(bytes: Uint8Array, entries: Iterable<Entry>): ParsedChild | Extract<Rewritten, { kind: 'refused' }> {
  if (decodeUtf8(bytes) === null) return { kind: 'refused', why: 'not UTF-8' }
  const parsed = parseChild(bytes)
  if (parsed.conflicted) return { kind: 'refused', why: 'merge markers inside' }
  for (const entry of entries) {
    const index = indexOf(parsed, entry)
    if (index === -1 || parsed.entries[index]!.text !== entry.text) return { kind: 'refused', why: 'it changed meanwhile' }
  }
  return parsed
}

/** Entries are in the order of their spans. */
function indexOf(parsed: ParsedChild, entry: Entry): number {
  let low = 0
  let high = parsed.entries.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (parsed.entries[middle]!.span.start < entry.span.start) low = middle + 1
    else high = middle
  }
  return parsed.entries[low]?.span.start === entry.span.start ? low : -1
}

function stampEdits(bytes: Uint8Array, entry: Entry, stamp: Hex12): Edit[] | null {
  const edits: Edit[] = []
  const text = `@${stamp}`
  if (entry.stampSpan !== null) edits.push({ ...entry.stampSpan, text })
  else if (entry.style === 'lenient' && entry.kind === 'wikilink') {
    const source = Buffer.from(bytes.subarray(entry.span.start, entry.span.end)).toString('utf8')
    const quote = quoteWikilink(source)
    if (quote === null) return null
    edits.push({ start: entry.span.start, end: entry.span.start, text: quote })
    edits.push({ start: entry.span.end, end: entry.span.end, text: ` ${text}${quote}` })
  } else edits.push({ start: entry.stampAt, end: entry.stampAt, text: ` ${text}` })
  for (const repeat of entry.repeats) {
    if (repeat.stampSpan != null) edits.push({ ...repeat.stampSpan, text })
  }
  return edits
}

/** The document with the entry's items written in each form that might do, the plainest first. */
function* replacements(bytes: Uint8Array, entry: Entry, text: string): Generator<Uint8Array> {
  const items = [{ span: entry.span, stampSpan: entry.stampSpan }, ...entry.repeats]
  const sourceOf = (start: number, end: number): string => Buffer.from(bytes.subarray(start, end)).toString('utf8')
  const forms = items.map(item => {
    const stamp = item.stampSpan == null ? '' : ` ${sourceOf(item.stampSpan.start, item.stampSpan.end)}`
    return textForms(sourceOf(item.span.start, item.span.end), `${text}${stamp}`, entry.style === 'comment')
  })
  const most = forms.reduce((longest, list) => Math.max(longest, list.length), 0)
  for (let form = 0; form < most; form++) {
    yield applyEdits(
      bytes,
      items.map((item, index) => ({ ...item.span, text: forms[index]![Math.min(form, forms[index]!.length - 1)]! })),
    )
  }
}

function firstThat(candidates: Iterable<Uint8Array>, accepts: (bytes: Uint8Array) => boolean): Uint8Array | null {
  for (const candidate of candidates) if (accepts(candidate)) return candidate
  return null
}

/** Same entries in the same order, each pair being as the plan wants it. */
function sameEntries(
  before: ParsedChild,
  after: ParsedChild,
  isAsPlanned: (index: number, was: Entry, is: Entry) => boolean,
): boolean {
  return (
    before.entries.length === after.entries.length &&
    before.problems.length === after.problems.length &&
    before.entries.every((was, index) => {
      const is = after.entries[index]!
      return scopeKey(was.scope) === scopeKey(is.scope) && isAsPlanned(index, was, is)
    })
  )
}

function stampText(entry: Entry): string {
  return JSON.stringify(entry.stamp)
}
