/**
 * The grammar of one entry, from its decoded text: what it names, and the stamp behind it. Where the
 * entry stands in a file is the business of `frontmatter.ts` and `comments.ts`.
 */
import type { Entry, EntryKind, EntryStamp, Hex12 } from './types.ts'

/** What one text says. Offsets are UTF-16 units of the raw text that was read. */
export interface ReadEntry {
  readonly kind: EntryKind
  readonly text: string
  readonly ref: string
  readonly anchor: string | null
  readonly alias?: string
  readonly stamp: EntryStamp
  /** Text and stamp together, of an entry whose stamp is bad. */
  readonly whole?: string
  readonly textStart: number
  readonly textEnd: number
  /** Of the `@`; equal to `stampEnd` without a stamp. */
  readonly stampStart: number
  readonly stampEnd: number
}

const hex = /^[0-9a-f]{12}$/
const ok = /^ok(?:\(([^();,[\]{}"'#:\\\r\n]{1,120})\))?$/
const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//
/** One token that reads as a stamp, at the end of what is left. */
const lastStamp = /(?:^|[ \t])@((?:[0-9a-f]{12})|ok(?:\([^();,[\]{}"'#:\\\r\n]{1,120}\))?)$/

/** `null`: nothing but blanks, or no text before the stamp. */
export function readEntry(raw: string): ReadEntry | null {
  const start = skipOuter(raw)
  const end = trimOuterEnd(raw, start)
  const body = raw.slice(start, end)
  const stampAt = stampStart(body)
  const textEnd = stampAt === -1 ? body.length : trimOuterEnd(body.slice(0, stampAt), 0)
  const text = body.slice(0, textEnd)
  const parts = readText(text)
  if (parts === null) return null
  const stamp: EntryStamp = stampAt === -1 ? { kind: 'none' } : readStamp(body.slice(stampAt + 1))
  return {
    ...parts,
    text,
    stamp,
    ...(stamp.kind === 'bad' ? { whole: body } : {}),
    textStart: start,
    textEnd: start + textEnd,
    stampStart: stampAt === -1 ? start + textEnd : start + stampAt,
    stampEnd: stampAt === -1 ? start + textEnd : end,
  }
}

/** Whether a text ends in a stamp that can be read. */
export function endsInStamp(text: string): boolean {
  return lastStamp.test(tail(text.slice(0, trimOuterEnd(text, 0))))
}

/** Kind and parts of an entry's text, which has no stamp; `null` for a text that names nothing. */
export function readText(text: string): Pick<ReadEntry, 'kind' | 'ref' | 'anchor' | 'alias'> | null {
  if (text === '') return null
  if (scheme.test(text)) return { kind: 'url', ref: text, anchor: null }
  return readWikilink(text) ?? readPath(text)
}

/** The text of the same entry pointed elsewhere; brackets, alias and the place of the anchor are kept. */
export function retarget(
  entry: Pick<Entry, 'kind' | 'text' | 'ref' | 'anchor' | 'alias'>,
  ref: string,
  anchor: string | null,
): string {
  const tag = anchor === null ? '' : `#${anchor}`
  if (entry.kind === 'wikilink') {
    const alias = entry.alias === undefined ? '' : `|${entry.alias}`
    return entry.text.endsWith(']]') ? `[[${ref}${tag}${alias}]]` : `[[${ref}${alias}]]${tag}`
  }
  return entry.text.startsWith('<') || splitsElsewhere(ref, anchor) ? `<${ref}>${tag}` : `${ref}${tag}`
}

/**
 * The entry read as the name of a file that ends in what looks like a bad stamp (`notes @home.md`).
 * Entries with another stamp are returned as they are.
 */
export function readAsFile(entry: Entry): Entry {
  if (entry.whole === undefined || entry.stampSpan === null) return entry
  const parts = readText(entry.whole)
  if (parts === null) return entry
  const { whole, alias: _alias, spanText: _spanText, ...rest } = entry
  return { ...rest, ...parts, text: whole, stamp: { kind: 'none' }, stampSpan: null, stampAt: entry.stampSpan.end }
}

/** `[[name#anchor|alias]]#anchor`, every part of it optional. */
function readWikilink(text: string): Pick<ReadEntry, 'kind' | 'ref' | 'anchor' | 'alias'> | null {
  if (!text.startsWith('[[')) return null
  const close = text.indexOf(']]', 2)
  if (close === -1) return null
  const inner = text.slice(2, close)
  const after = text.slice(close + 2)
  if (inner.includes('[[') || (after !== '' && !after.startsWith('#'))) return null
  const bar = inner.indexOf('|')
  const target = bar === -1 ? inner : inner.slice(0, bar)
  const mark = target.indexOf('#')
  const name = (mark === -1 ? target : target.slice(0, mark)).trim()
  if (/[[\]\r\n]/.test(name)) return null
  const within = mark === -1 ? null : target.slice(mark + 1).trim()
  const behind = after === '' ? null : after.slice(1).trim()
  // An anchor inside and one behind name a section within a section.
  const anchors = [within, behind].filter(anchor => anchor !== null && anchor !== '')
  return {
    kind: 'wikilink',
    ref: name,
    anchor: anchors.length === 0 ? null : anchors.join('#'),
    ...(bar === -1 ? {} : { alias: inner.slice(bar + 1) }),
  }
}

function readPath(text: string): Pick<ReadEntry, 'kind' | 'ref' | 'anchor'> | null {
  if (text.startsWith('<')) {
    const close = text.indexOf('>')
    const after = close === -1 ? '' : text.slice(close + 1)
    if (close > 1 && (after === '' || after.startsWith('#'))) {
      return { kind: 'path', ref: text.slice(1, close), anchor: after.length > 1 ? after.slice(1) : null }
    }
  }
  const mark = anchorMark(text)
  if (mark === -1) return { kind: 'path', ref: text, anchor: null }
  const ref = text.slice(0, trimOuterEnd(text.slice(0, mark), 0))
  if (ref === '') return null
  const anchor = text.slice(mark + 1)
  return { kind: 'path', ref, anchor: anchor === '' ? null : anchor }
}

/** Where a path ends when no file says so: the first `#` behind an extension, else the first `#`. */
function anchorMark(text: string): number {
  const extension = /\.[A-Za-z0-9]{1,8}#/.exec(text)
  return extension === null ? text.indexOf('#') : extension.index + extension[0].length - 1
}

function splitsElsewhere(ref: string, anchor: string | null): boolean {
  const parts = readPath(anchor === null ? ref : `${ref}#${anchor}`)
  return parts?.ref !== ref || parts.anchor !== anchor
}

/** Offset of the `@` of the stamp at the end, or -1. Several in a row are one (bad) stamp. */
function stampStart(body: string): number {
  let at = -1
  for (;;) {
    const end = at === -1 ? body.length : trimOuterEnd(body.slice(0, at), 0)
    const before = tail(body.slice(0, end))
    const hit = lastStamp.exec(before)
    if (hit === null) break
    at = end - hit[1]!.length - 1
  }
  if (at !== -1) return at
  const bad = badStampStart(body)
  if (bad === -1) return -1
  // A stamp that can be read, with something unreadable behind it, is one corruption.
  const end = trimOuterEnd(body.slice(0, bad), 0)
  const good = lastStamp.exec(tail(body.slice(0, end)))
  return good === null ? bad : end - good[1]!.length - 1
}

/** The last token begins with `@`, or the last one that does begins an `ok(`. */
function badStampStart(body: string): number {
  for (let at = body.lastIndexOf('@'); at !== -1; at = at === 0 ? -1 : body.lastIndexOf('@', at - 1)) {
    if (at > 0 && body[at - 1] !== ' ' && body[at - 1] !== '\t') continue
    return body.startsWith('@ok(', at) || !/[ \t]/.test(body.slice(at)) ? at : -1
  }
  return -1
}

function readStamp(token: string): EntryStamp {
  if (hex.test(token)) return { kind: 'hex', value: token as Hex12 }
  const acknowledged = ok.exec(token)
  if (acknowledged !== null) return { kind: 'ok', value: null, reason: acknowledged[1] ?? null }
  return { kind: 'bad', value: token }
}

/** Enough of the end of a text to hold any stamp. */
function tail(text: string): string {
  return text.slice(-160)
}

function isOuter(unit: number): boolean {
  return unit === 32 || unit === 9 || unit === 10 || unit === 13
}

function skipOuter(text: string): number {
  let start = 0
  while (start < text.length && isOuter(text.charCodeAt(start))) start++
  return start
}

function trimOuterEnd(text: string, from: number): number {
  let end = text.length
  while (end > from && isOuter(text.charCodeAt(end - 1))) end--
  return end
}
