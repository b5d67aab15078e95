/**
 * The journal's format: what is written for an entry, and a reader that takes bytes as they come. Nothing
 * that is in the file stops the reader; a torn or edited entry is one with that state.
 */
import { createHash } from 'node:crypto'
import { entryId } from './ids.ts'
import type { EntryKind } from './types.ts'

export const kinds: readonly EntryKind[] = ['ckpt', 'designation', 'code', 'hand', 'migration']

export interface Entry {
  /** With the mark of a number that several entries have. */
  readonly id: string
  readonly number: number
  /** As written; ISO 8601 in entries of ours. */
  readonly time: string
  readonly session: string
  readonly kind: EntryKind
  readonly flags: readonly string[]
  readonly key: string
  /** Escapes undone. */
  readonly body: string
  readonly state: 'intact' | 'edited' | 'torn'
  /** SHA-256 of header line and body as they lie in the file. */
  readonly hash: string
  /** Of its header, from 1. */
  readonly line: number
}

export interface Journal {
  /** In the order of (number, time, key); equal keys once, torn ones among them. */
  readonly entries: readonly Entry[]
  /** Highest number that was ever used, by a torn entry or its note, too. */
  readonly last: number
  readonly bytes: number
  /** SHA-256 of what stands before the first entry. */
  readonly preamble: string
  /** Bytes that are no UTF-8: the line of the first. */
  readonly badUtf8: number | null
  /** Ids named by torn notes whose entry has no readable header. */
  readonly tornIds: ReadonlySet<string>
  /** Hashes of entries whose key an earlier one has. */
  readonly doubles: readonly string[]
  /** How it ends, for the writer. */
  readonly end: JournalEnd
}

export type JournalEnd =
  | { readonly kind: 'whole' }
  /** A line end is missing, or the empty line. */
  | { readonly kind: 'open'; readonly missing: string }
  | { readonly kind: 'torn'; readonly note: string; readonly number: number | null }

/** @param stream - its name. */
export function preambleOf(stream: string): string {
  return `# pack journal: ${stream}\n\n<!-- append-only; code adds entries; look one up with: outrigger pack show ${stream} c01 -->\n\n`
}

export interface NewEntry {
  readonly time: string
  readonly session: string
  readonly kind: EntryKind
  readonly flags: readonly string[]
  readonly key: string
  /** As stored: masked and escaped. */
  readonly body: string
}

/** The bytes of one entry, its empty line included. */
export function encodeEntry(entry: NewEntry, number: number): string {
  const fields = [
    ...(entry.kind === 'ckpt' ? [] : [`kind=${entry.kind}`]),
    ...(entry.flags.length === 0 ? [] : [`flags=${entry.flags.join(',')}`]),
    `key=${entry.key}`,
    `len=${Buffer.byteLength(entry.body)}`,
  ]
  return `### ${entryId(number)} ${entry.time} ${entry.session} ${fields.join(' ')}\n${entry.body}\n\n`
}

/** Same file, same hash: of a header line with its body, as both are written. */
export function hashOfEntry(encoded: string): string {
  return sha(encoded.slice(0, -2)).slice(0, 32)
}

/** A body as it is stored: our line ends, no control signs, and no line that reads as a header or a note of ours. */
export function storedBody(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f]/g, '\ufffd')
    .toWellFormed()
    .replace(/^(?=\\*(?:### |<!-- torn ))/gm, '\\')
}

/** A stored body without the escapes. */
export function plainBody(stored: string): string {
  return stored.replace(/^\\(?=\\*(?:### |<!-- torn ))/gm, '')
}

/** A session's id in a header. */
export function headerWord(text: string | undefined): string {
  const word = (text ?? '').replace(/[^A-Za-z0-9._:-]/g, '_').slice(0, 80)
  return word === '' ? 'none' : word
}

/** A file that passed through a program with other line ends still has its entries. */
const header = /^### c(\d{2,}) (\S+) (\S+)((?: [a-z]+=\S+)*)\r?$/
const tornNote = /\n\n<!-- torn (c\d+|-): (?:header|\d+ of \d+ bytes) -->\s*$/
const tornNotes = /^<!-- torn (c\d+): (?:header|\d+ of \d+ bytes) -->$/gm
const torn = '<!-- torn '
const startMark = Buffer.from('\n### c')

export interface JournalReader {
  push(chunk: Uint8Array): void
  end(): Journal
}

/** Feed it the file from its first byte. Memory: the entries, and the longest of them. */
export function readJournal(): JournalReader {
  const found: Found[] = []
  const tornIds = new Set<string>()
  let pending: Buffer = Buffer.alloc(0)
  let scanned = 0
  let size = 0
  let line = 1
  let preamble: string | undefined
  let badUtf8: number | null = null
  let tail: JournalEnd = { kind: 'whole' }
  let lastTornNumber = 0

  const close = (region: Buffer, isLast: boolean): void => {
    const text = region.toString('utf8')
    if (badUtf8 === null && text.includes('\ufffd') && !isUtf8(region)) badUtf8 = line
    if (text.includes('<!-- torn c')) {
      for (const match of text.matchAll(tornNotes)) {
        tornIds.add(entryId(Number(match[1]!.slice(1))))
        lastTornNumber = Math.max(lastTornNumber, Number(match[1]!.slice(1)))
      }
    }
    const isEntry = preamble !== undefined || header.test(firstLineOf(text))
    if (!isEntry) preamble = sha(region)
    else {
      preamble ??= sha('')
      const entry = entryOf(region, text, line, isLast)
      if (entry !== undefined) {
        const before = found.at(-1)
        const whole = before === undefined ? undefined : completed(before, entry)
        if (whole !== undefined) found[found.length - 1] = whole
        found.push(entry)
      }
    }
    if (isLast) tail = endOf(text, isEntry ? found.at(-1) : undefined, region)
    line += countLines(text)
  }

  /** Cut off the regions that are complete; the last one stays pending. */
  const scan = (atEnd: boolean): void => {
    let from = 0
    for (;;) {
      const at = pending.indexOf(startMark, Math.max(from, scanned))
      if (at === -1) {
        scanned = Math.max(from, pending.length - startMark.length)
        break
      }
      const lineEnd = pending.indexOf(10, at + 1)
      if (lineEnd === -1 && !atEnd) {
        scanned = at
        break
      }
      const first = pending.toString('latin1', at + 1, lineEnd === -1 ? pending.length : lineEnd)
      scanned = at + 1
      if (!header.test(first)) continue
      close(pending.subarray(from, at + 1), false)
      from = at + 1
    }
    pending = pending.subarray(from)
    scanned = Math.max(0, scanned - from)
  }

  return {
    push(chunk) {
      size += chunk.length
      pending = pending.length === 0 ? Buffer.from(chunk) : Buffer.concat([pending, chunk])
      scan(false)
    },
    end() {
      scan(true)
      if (pending.length > 0 || preamble === undefined) close(pending, true)
      const { entries, doubles } = settle(found)
      const highest = found.reduce((most, { entry }) => Math.max(most, entry.number), lastTornNumber)
      return { entries, last: highest, bytes: size, preamble: preamble ?? sha(''), badUtf8, tornIds, doubles, end: tail }
    },
  }
}

interface Found {
  readonly entry: Omit<Entry, 'id'>
  /** Header line and stored body of an entry that is shorter than its header says, and of one that is whole. */
  readonly first: string
  readonly stored: string
  /** Bytes of the body as it should be; `null`: the header does not say. */
  readonly length: number | null
  readonly bodyAt: number
}

function entryOf(region: Buffer, text: string, line: number, isLast: boolean): Found | undefined {
  const first = firstLineOf(text)
  const match = header.exec(first)
  if (match === null) return undefined
  const fields = new Map((match[4] ?? '').split(' ').flatMap(field => (field === '' ? [] : [split(field)])))
  const length = /^\d{1,9}$/.test(fields.get('len') ?? '') ? Number(fields.get('len')) : null
  const bodyAt = Buffer.byteLength(first) + 1
  const id = `c${match[1]!}`
  const read = readBody(region, text, first.length + 1, bodyAt, length, id, isLast)
  const kind = kinds.find(known => known === fields.get('kind')) ?? 'ckpt'
  const key = fields.get('key') ?? sha(`${first}\n${read.body}`).slice(0, 12)
  const hash = sha(`${first}\n${read.body}`).slice(0, 32)
  return {
    length,
    bodyAt,
    first,
    stored: read.state === 'edited' ? text.slice(first.length + 1) : read.body,
    entry: {
      number: Number(match[1]),
      time: match[2]!,
      session: match[3]!,
      kind,
      flags: (fields.get('flags') ?? '').split(',').filter(flag => flag !== ''),
      key,
      body: plainBody(read.body),
      state: read.state,
      hash,
      line,
    },
  }
}

/**
 * A union merge writes lines at the end that two branches have in common once, behind the later entry. The
 * earlier one gets them back, when that makes it exactly as long as its header says.
 */
function completed(before: Found, after: Found): Found | undefined {
  if (before.entry.state !== 'edited' || after.entry.state !== 'intact' || before.length === null) return undefined
  const missing = before.length - Buffer.byteLength(before.stored)
  if (missing < 3 || !before.stored.endsWith('\n')) return undefined
  const bytes = Buffer.from(after.stored)
  if (bytes.length <= missing || bytes[bytes.length - missing - 1] !== 10) return undefined
  const body = before.stored + bytes.toString('utf8', bytes.length - missing)
  return {
    ...before,
    stored: body,
    entry: { ...before.entry, body: plainBody(body), state: 'intact', hash: sha(`${before.first}\n${body}`).slice(0, 32) },
  }
}

interface Body {
  readonly body: string
  readonly state: Entry['state']
}

function readBody(
  region: Buffer,
  text: string,
  textAt: number,
  bodyAt: number,
  length: number | null,
  id: string,
  isLast: boolean,
): Body {
  if (isLast && !text.includes('\n')) return { body: '', state: 'torn' }
  const rest = text.slice(textAt)
  if (length === null) {
    const isCut = isLast && `\n${torn}${id}: header -->\n\n`.startsWith(rest)
    return isCut || isNotedHeader(rest, id) ? { body: '', state: 'torn' } : { body: asFound(rest), state: 'intact' }
  }
  if (region.length === bodyAt + length + 2 && rest.endsWith('-->\n\n') && !rest.includes(torn)) {
    return { body: rest.slice(0, -2), state: 'intact' }
  }
  if (isTorn(rest, region.length - bodyAt, length, id, isLast)) return { body: '', state: 'torn' }
  if (region.length - bodyAt >= length) {
    const body = region.toString('utf8', bodyAt, bodyAt + length)
    const after = region.toString('utf8', bodyAt + length)
    const rest = after.trimStart()
    const isOurs =
      rest === '' || /^(?:#{1,3} ?(?:\n|$)|### c)/.test(rest) || rest.startsWith('<!-- torn ') || tornNote.test(`\n\n${rest}`)
    if (isOurs && isBoundary(after)) {
      if (body.endsWith('-->')) return { body, state: 'intact' }
      if (isLast) return { body: '', state: 'torn' }
    }
  }
  // Every body ends its comment; a last one that does not was cut off, in itself or in the beginning of its note.
  const end = rest.replace(/\n#{1,3}[^\n]*$/, '').trimEnd()
  return isLast && !end.endsWith('-->') ? { body: '', state: 'torn' } : { body: asFound(rest), state: 'edited' }
}

const asFound = (text: string): string => text.replaceAll('\r\n', '\n').replace(/\s+$/, '')

/** Between a body and what follows stands a line end; a body that goes on was changed. */
const isBoundary = (after: string): boolean => after === '' || after.startsWith('\n')

/** Was the writer stopped within this entry? Its note says so, or its own missing bytes, or the beginning of a note. */
function isTorn(rest: string, restBytes: number, length: number, id: string, isLast: boolean): boolean {
  if (rest.includes(torn)) {
    if (tornNote.exec(rest)?.[1] === id || isNotedHeader(rest, id)) return true
    if (isNoted(rest, length, id)) return true
  }
  if (!isLast) return false
  if (restBytes < length) return true
  // The note itself was cut off.
  const at = rest.lastIndexOf('\n\n<')
  if (at === -1) return false
  const written = Buffer.byteLength(rest.slice(0, at))
  return written < length && `\n\n${torn}${id}: ${written} of ${length} bytes -->\n\n`.startsWith(rest.slice(at))
}

/** No stored line begins like a note. */
function isNotedHeader(rest: string, id: string): boolean {
  return rest.includes(`\n${torn}${id}: header -->`)
}

/** A note counts the bytes in front of it, so that no text can name the place by chance. */
function isNoted(rest: string, length: number, id: string): boolean {
  for (const match of rest.matchAll(/\n\n<!-- torn (c\d+): (\d+) of (\d+) bytes -->/g)) {
    if (match[1] === id && Number(match[3]) === length && Number(match[2]) === Buffer.byteLength(rest.slice(0, match.index)))
      return true
  }
  return false
}

/** What the next writer puts in front of its entries. */
function endOf(text: string, last: Found | undefined, region: Buffer): JournalEnd {
  if (last !== undefined && last.entry.state === 'torn') {
    const id = `c${String(last.entry.number).padStart(2, '0')}`
    const written = region.length - last.bodyAt
    const isNoted = tornNote.exec(text)?.[1] !== undefined
    if (isNoted) return missingEnd(text)
    const what = last.length === null || written < 0 ? 'header' : `${written} of ${last.length} bytes`
    return { kind: 'torn', note: `\n\n<!-- torn ${id}: ${what} -->\n\n`, number: last.entry.number }
  }
  const lines = text.split('\n')
  const final = lines.at(-1)!
  if (final !== '' && /^#{1,3}$|^### ?c?\d*$|^### c\d+ /.test(final)) {
    const digits = /^### c(\d{1,15}) /.exec(final)?.[1]
    const id = digits === undefined ? '-' : `c${digits}`
    return { kind: 'torn', note: `\n\n<!-- torn ${id}: header -->\n\n`, number: digits === undefined ? null : Number(digits) }
  }
  return missingEnd(text)
}

function missingEnd(text: string): JournalEnd {
  if (text === '' || text.endsWith('\n\n')) return { kind: 'whole' }
  return { kind: 'open', missing: text.endsWith('\n') ? '\n' : '\n\n' }
}

/** Equal keys are one entry; several of one number are told apart by their keys, whatever their order in the file. */
function settle(found: readonly Found[]): { readonly entries: readonly Entry[]; readonly doubles: readonly string[] } {
  const doubles: string[] = []
  const entries = found.map(({ entry }) => entry)
  const isInOrder = entries.every((entry, at) => at === 0 || entry.number > entries[at - 1]!.number)
  const sorted = isInOrder ? entries : [...entries].sort(byAge)
  const seen = new Set<string>()
  const result: Entry[] = []
  let previous: Entry | undefined
  for (const entry of sorted) {
    if (entry.state !== 'torn') {
      if (seen.has(entry.key)) {
        doubles.push(entry.hash)
        continue
      }
      seen.add(entry.key)
    }
    const isSecond = previous !== undefined && previous.number === entry.number
    const settled: Entry = { ...entry, id: entryId(entry.number, isSecond ? entry.key.slice(0, 4) : '') }
    result.push(settled)
    previous = settled
  }
  return { entries: result, doubles }
}

type Aged = Pick<Entry, 'number' | 'time' | 'key' | 'state'>

/** By number, then time, then key; a torn one stands behind whole ones of its number. */
function byAge(one: Aged, other: Aged): number {
  if (one.number !== other.number) return one.number - other.number
  if ((one.state === 'torn') !== (other.state === 'torn')) return one.state === 'torn' ? 1 : -1
  return compare(one.time, other.time) || compare(one.key, other.key)
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

function firstLineOf(text: string): string {
  const end = text.indexOf('\n')
  return end === -1 ? text : text.slice(0, end)
}

function split(field: string): readonly [string, string] {
  const at = field.indexOf('=')
  return [field.slice(0, at), field.slice(at + 1)]
}

function countLines(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}

const strict = new TextDecoder('utf-8', { fatal: true })

function isUtf8(bytes: Uint8Array): boolean {
  try {
    strict.decode(bytes)
    return true
  } catch {
    return false
  }
}

export function sha(value: string | Uint8Array): string {
  return createHash('sha256').update(value).digest('hex')
}
