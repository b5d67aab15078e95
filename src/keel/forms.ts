/**
 * Content ids: the byte forms in which a slice of a source accepts a stamp, and the one that is written.
 * Works on bytes only; text is never decoded before hashing, so two different invalid byte strings stay
 * different. Knows nothing of anchors: callers say which bytes, and what surrounds them.
 */
import { createHash } from 'node:crypto'
import { hex12 } from '../text/git-blob.ts'
import type { Hex12, IdForm, KeelConfig, ParsedChild, SliceIds, Span } from './types.ts'

/** Above this size a file knows `raw` and `lf` only, and no anchors. */
export const largeFileBytes: number = 16 * 1024 * 1024

const lf = 0x0a
const cr = 0x0d
const space = 0x20
const tab = 0x09

/** Where a slice was cut from: what the normal form has to know beside the bytes. */
export interface SliceContext {
  /** Path of the file; only its extension matters. */
  readonly path: string
  /** Declarations of the file when it is a document; `null` otherwise. */
  readonly parsed: ParsedChild | null
  /** Symbol slices: the blanks before the slice on its first line. Absent or empty: nothing is unindented. */
  readonly indent?: Uint8Array
}

/** First 12 hex digits of the git blob id of these bytes. */
export function blobId(bytes: Uint8Array): Hex12 {
  return hex12(bytes) as Hex12
}

/** A NUL among the first 8,000 bytes. */
export function isBinary(slice: Uint8Array): boolean {
  return slice.subarray(0, 8000).includes(0)
}

/**
 * The normal form of a slice, in this order: without a BOM at the start of the file; declared items
 * without their stamps and quotes; line ends as LF; no blanks at line ends (but in tables of tabs and
 * patches, where they are content); one LF at the end, none when nothing is left; symbols unindented.
 *
 * The identity on an ordinary file, whose id is then the id that git gives it.
 */
export function normalize(file: Uint8Array, span: Span, context: SliceContext): Uint8Array {
  let slice: Uint8Array = file.subarray(span.start, span.end)
  slice = withoutStamps(slice, span.start, context.parsed)
  slice = span.start === 0 ? withoutBom(slice) : slice
  slice = withPlainLines(slice, keepsLineEndBlanks(context.path))
  slice = withOneFinalLf(slice)
  return context.indent === undefined || context.indent.length === 0 ? slice : unindent(slice, context.indent)
}

/** Every id by which the slice accepts a stamp. */
export function sliceIds(file: Uint8Array, span: Span, context: SliceContext): SliceIds {
  const slice = file.subarray(span.start, span.end)
  const raw = blobId(slice)
  if (isBinary(slice)) return { norm: raw, raw, lf: raw, tail: [], only: 'binary' }
  const plain = withLf(span.start === 0 ? withoutBom(slice) : slice)
  const end = endWithoutFinal(plain)
  const body = plain.subarray(0, end)
  const tails = [body, concat([body, Uint8Array.of(lf)]), concat([body, Uint8Array.of(lf, lf)])]
  const normal = normalize(file, span, context)
  // Most slices equal one of their own forms: each distinct byte string is hashed once.
  const known: { bytes: Uint8Array; id: Hex12 }[] = [{ bytes: slice, id: raw }]
  const idOf = (bytes: Uint8Array): Hex12 => {
    const hit = known.find(one => Buffer.compare(one.bytes, bytes) === 0)
    if (hit !== undefined) return hit.id
    const id = blobId(bytes)
    known.push({ bytes, id })
    return id
  }
  return { norm: idOf(normal), raw, lf: idOf(plain), tail: tails.map(idOf) }
}

/**
 * Ids of a whole file that is not held in memory, read twice in pieces.
 *
 * @param chunks - begins a new reading of the file.
 * @returns `null` when the two readings differ in length: the file moved meanwhile.
 */
export function streamedIds(chunks: () => Iterable<Uint8Array>): SliceIds | null {
  const head = measure(chunks())
  const raw = createHash('sha1').update(`blob ${head.size}\0`)
  const plain = createHash('sha1').update(`blob ${head.plainSize}\0`)
  let seen = 0
  let plainSeen = 0
  for (const piece of plainPieces(chunks(), chunk => {
    raw.update(chunk)
    seen += chunk.length
  })) {
    plain.update(piece)
    plainSeen += piece.length
  }
  if (seen !== head.size || plainSeen !== head.plainSize) return null
  const rawId = raw.digest('hex').slice(0, 12) as Hex12
  const lfId = plain.digest('hex').slice(0, 12) as Hex12
  return head.binary
    ? { norm: rawId, raw: rawId, lf: rawId, tail: [], only: 'binary' }
    : { norm: rawId, raw: rawId, lf: lfId, tail: [], only: 'large' }
}

/**
 * The form by which these ids accept a stamp, the first that fits; `null`: they do not.
 *
 * @param compare - `exact` accepts `raw` and `index` only.
 * @param indexId - index id of a tracked file that git reports unmodified; whole files only.
 */
export function accepts(
  ids: SliceIds,
  stamp: Hex12 | string,
  compare: KeelConfig['compare'],
  indexId: string | null = null,
): IdForm | null {
  const fitting = acceptedForms.find(form => formIsKnown(form, ids, compare) && formHolds(form, ids, stamp, indexId))
  return fitting ?? null
}

/** The id that a new stamp of this slice carries. */
export function writtenId(ids: SliceIds, compare: KeelConfig['compare']): Hex12 {
  return compare === 'exact' ? ids.raw : ids.norm
}

const acceptedForms: readonly IdForm[] = ['norm', 'raw', 'lf', 'tail', 'index']

function formIsKnown(form: IdForm, ids: SliceIds, compare: KeelConfig['compare']): boolean {
  if (form === 'raw' || form === 'index') return true
  if (compare === 'exact' || ids.only === 'binary') return false
  return ids.only !== 'large' || form === 'lf'
}

function formHolds(form: IdForm, ids: SliceIds, stamp: string, indexId: string | null): boolean {
  switch (form) {
    case 'norm':
      return ids.norm === stamp
    case 'raw':
      return ids.raw === stamp
    case 'lf':
      return ids.lf === stamp
    case 'tail':
      return ids.tail.some(id => id === stamp)
    case 'index':
      return indexId?.startsWith(stamp) === true && stamp.length === 12
    default:
      return form satisfies never
  }
}

/** Tables of tabs and patches: blanks at a line's end are content there. */
function keepsLineEndBlanks(path: string): boolean {
  return /\.(?:tsv|tab|diff|patch)$/iu.test(path)
}

function hasBom(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
}

function withoutBom(bytes: Uint8Array): Uint8Array {
  return hasBom(bytes) ? bytes.subarray(3) : bytes
}

interface Item {
  readonly span: Span
  readonly text: string
}

/** The items of a document in their order, made once: a document with a section for each of its sources is asked once a section. */
const itemsByDocument = new WeakMap<ParsedChild, readonly Item[]>()

function itemsOf(parsed: ParsedChild): readonly Item[] {
  const known = itemsByDocument.get(parsed)
  if (known !== undefined) return known
  const items = parsed.entries
    .flatMap((entry): Item[] => [{ span: entry.span, text: entry.spanText ?? entry.text }, ...entry.repeats])
    .filter(({ span }) => span.end > span.start)
    .sort((a, b) => a.span.start - b.span.start)
  itemsByDocument.set(parsed, items)
  return items
}

/** Index of the first item that starts at or behind `offset`. */
function firstFrom(items: readonly Item[], offset: number): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (items[middle]!.span.start < offset) low = middle + 1
    else high = middle
  }
  return low
}

/** Every declared item inside the slice, repeats included, by its text without stamp. */
function withoutStamps(slice: Uint8Array, offset: number, parsed: ParsedChild | null): Uint8Array {
  if (parsed === null || parsed.conflicted || parsed.entries.length === 0) return slice
  const end = offset + slice.length
  const items = itemsOf(parsed)
  const parts: Uint8Array[] = []
  let at = offset
  for (let index = firstFrom(items, offset); index < items.length && items[index]!.span.start < end; index++) {
    const { span, text } = items[index]!
    // Two aliases of one anchored list have the same spans.
    if (span.start < at || span.end > end) continue
    parts.push(slice.subarray(at - offset, span.start - offset), Buffer.from(text, 'utf8'))
    at = span.end
  }
  if (parts.length === 0) return slice
  parts.push(slice.subarray(at - offset))
  return concat(parts)
}

/** CR LF → LF. */
function withLf(bytes: Uint8Array): Uint8Array {
  const view = bufferOf(bytes)
  if (view.indexOf('\r\n', 0, 'latin1') < 0) return bytes
  const out = new Uint8Array(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === cr && bytes[at + 1] === lf) continue
    out[length++] = bytes[at]!
  }
  return out.subarray(0, length)
}

/** All line ends as LF, and no blanks before them and at the end. */
function withPlainLines(bytes: Uint8Array, keepBlanks: boolean): Uint8Array {
  const view = bufferOf(bytes)
  const last = bytes[bytes.length - 1]
  const isPlain =
    !view.includes(cr) &&
    (keepBlanks || (!view.includes(' \n', 0, 'latin1') && !view.includes('\t\n', 0, 'latin1') && last !== space && last !== tab))
  if (isPlain) return bytes
  const out = new Uint8Array(bytes.length)
  let length = 0
  const trim = () => {
    if (!keepBlanks) while (length > 0 && (out[length - 1] === space || out[length - 1] === tab)) length -= 1
  }
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!
    if (byte === cr && bytes[at + 1] === lf) continue
    if (byte === cr || byte === lf) {
      trim()
      out[length++] = lf
    } else out[length++] = byte
  }
  trim()
  return out.subarray(0, length)
}

function endWithoutFinal(bytes: Uint8Array): number {
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === lf) end -= 1
  return end
}

function withOneFinalLf(bytes: Uint8Array): Uint8Array {
  const end = endWithoutFinal(bytes)
  if (end === 0) return new Uint8Array(0)
  return end + 1 <= bytes.length ? bytes.subarray(0, end + 1) : concat([bytes, Uint8Array.of(lf)])
}

/** Take `indent` off every later line, if each one that is not empty starts with it. */
function unindent(bytes: Uint8Array, indent: Uint8Array): Uint8Array {
  const lines: Uint8Array[] = []
  for (let at = 0; at < bytes.length; ) {
    const next = bytes.indexOf(lf, at)
    const end = next < 0 ? bytes.length : next + 1
    lines.push(bytes.subarray(at, end))
    at = end
  }
  const starts = (line: Uint8Array) => Buffer.compare(line.subarray(0, indent.length), indent) === 0
  const isEmpty = (line: Uint8Array) => line.length === 1 && line[0] === lf
  const [first, ...later] = lines
  if (first === undefined || !later.every(line => isEmpty(line) || starts(line))) return bytes
  return concat([first, ...later.map(line => (isEmpty(line) ? line : line.subarray(indent.length)))])
}

function measure(chunks: Iterable<Uint8Array>): { size: number; plainSize: number; binary: boolean } {
  let size = 0
  let plainSize = 0
  let binary = false
  const pieces = plainPieces(chunks, chunk => {
    if (size < 8000 && chunk.subarray(0, 8000 - size).includes(0)) binary = true
    size += chunk.length
  })
  for (const piece of pieces) plainSize += piece.length
  return { size, plainSize, binary }
}

/** The bytes without a BOM at their start and with CR LF as LF, piece by piece; `each` sees every chunk as it came. */
function* plainPieces(chunks: Iterable<Uint8Array>, each: (chunk: Uint8Array) => void): Generator<Uint8Array> {
  let kept: Uint8Array = new Uint8Array(0)
  let isStart = true
  for (const chunk of chunks) {
    each(chunk)
    let bytes = kept.length === 0 ? chunk : concat([kept, chunk])
    if (isStart && bytes.length < 3) {
      kept = Uint8Array.from(bytes)
      continue
    }
    if (isStart) bytes = withoutBom(bytes)
    isStart = false
    // A CR at the end waits for the byte after it.
    const endsInCr = bytes[bytes.length - 1] === cr
    yield withLf(endsInCr ? bytes.subarray(0, -1) : bytes)
    kept = endsInCr ? Uint8Array.of(cr) : new Uint8Array(0)
  }
  if (kept.length > 0) yield withLf(kept)
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts)
}
