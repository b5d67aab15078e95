/** From a source's bytes to its record: what each anchor in use names, and the ids that accept a stamp. */
import { OutriggerError } from '../errors.ts'
import type { Files } from '../ports/files.ts'
import { needsParser, openTarget, prepareAnchor } from './anchors.ts'
import { mightDeclare, parseChild } from './child.ts'
import { blobId, largeFileBytes, normalize, streamedIds } from './forms.ts'
import { identityOf, isSettled, machineNow } from './freshness.ts'
import { isDocumentName } from './listing.ts'
import type { TargetRecord } from './memory.ts'
import type { Look } from './stats.ts'
import type { AnchorView, ParsedChild } from './types.ts'

const chunkBytes = 1024 * 1024

export interface TargetReading {
  readonly record: TargetRecord
  /** All of it; `null` when it was not held in memory. */
  readonly bytes: Uint8Array | null
  readonly parsed: ParsedChild | null
}

export interface TargetRequest {
  readonly files: Files
  /** In the host's form. */
  readonly absolute: string
  readonly path: string
  readonly look: Extract<Look, { readonly kind: 'there' }>
  readonly anchors: readonly (string | null)[]
  readonly maxBytes: number
  /** Memory that a small file may be read into. */
  readonly into: Uint8Array
}

/** `null`: it went away while it was looked at. */
export async function readTarget(request: TargetRequest): Promise<TargetReading | null> {
  const { path, anchors } = request
  for (const anchor of anchors) if (needsParser(path, anchor)) await prepareAnchor(path, anchor)
  return readNow(request)
}

function readNow({ files, absolute, path, look, anchors, maxBytes, into }: TargetRequest): TargetReading | null {
  const stat = look.file
  if (stat === undefined) return null
  const readAt = machineNow()
  const seen = {
    path,
    link: look.link && identityOf(look.link),
    file: identityOf(stat),
    isSettled: isSettled(stat, readAt) && (look.link === null || isSettled(look.link, readAt)),
    windows: new Map<string, string | null>(),
    indexId: null,
  }
  const unreadable = (why: string): TargetReading => ({
    record: { ...seen, raw: null, why, views: new Map(anchors.map(anchor => [anchor, { kind: 'unreadable', why }])) },
    bytes: null,
    parsed: null,
  })
  if (stat.size > maxBytes) return unreadable(`over ${Math.floor(maxBytes / 1024 / 1024)} MiB`)
  try {
    if (stat.size > largeFileBytes) return readLarge(files, absolute, stat.size, anchors, seen)
    const bytes = files.read(absolute, largeFileBytes, { size: stat.size, into })
    const parsed = parsedDocument(path, bytes)
    const target = openTarget(bytes, path, parsed)
    const views = new Map(anchors.map((anchor): [string | null, AnchorView] => [anchor, target.view(anchor)]))
    return { record: { ...seen, raw: blobId(bytes), why: null, views }, bytes, parsed }
  } catch (error) {
    if (!(error instanceof OutriggerError)) throw error
    if (error.code === 'FILES_MISSING' || error.code === 'FILES_NOT_FILE') return null
    return unreadable(error.code === 'FILES_TOO_LARGE' ? 'grows while it is read' : 'no permission to read it')
  }
}

/** Declarations of a document, `null` for other files and for documents without. */
export function parsedDocument(path: string, bytes: Uint8Array): ParsedChild | null {
  return isDocumentName(path) && mightDeclare(bytes) ? parseChild(bytes) : null
}

/** Whole-file ids only, without holding the file. */
function readLarge(
  files: Files,
  absolute: string,
  size: number,
  anchors: readonly (string | null)[],
  seen: Omit<TargetRecord, 'raw' | 'why' | 'views'>,
): TargetReading | null {
  const ids = streamedIds(() => files.readChunks(absolute, chunkBytes))
  // It moved while it was read: there is no record that the next look could trust.
  if (ids === null) return null
  const views = new Map<string | null, AnchorView>()
  for (const anchor of anchors) {
    views.set(
      anchor,
      anchor === null
        ? {
            kind: 'found',
            match: null,
            heading: null,
            span: { start: 0, end: size },
            firstLine: 1,
            lastLine: 1,
            binary: ids.only === 'binary',
            ids,
            namesakes: [],
          }
        : { kind: 'unreadable', why: 'over 16 MiB' },
    )
  }
  return { record: { ...seen, raw: ids.raw, why: null, views }, bytes: null, parsed: null }
}

/** The normal form of what a view shows: the bytes whose id is the view's `norm`. */
export function normOf(bytes: Uint8Array, path: string, view: FoundView, parsed: ParsedChild | null): Uint8Array {
  const { start, end } = view.span
  if (view.binary) return bytes.subarray(start, end)
  const indent = view.match === 'symbol' ? blanksBefore(bytes, start) : null
  return normalize(bytes, view.span, { path, parsed, ...(indent !== null && { indent }) })
}

export type FoundView = Extract<AnchorView, { readonly kind: 'found' }>

/** What stands before a symbol on its line, when that is blanks only. */
function blanksBefore(bytes: Uint8Array, start: number): Uint8Array | null {
  let at = start
  while (at > 0 && (bytes[at - 1] === 0x20 || bytes[at - 1] === 0x09)) at -= 1
  const isLineStart = at === 0 || bytes[at - 1] === 0x0a || bytes[at - 1] === 0x0d
  return isLineStart ? bytes.subarray(at, start) : null
}
