/**
 * Stamps kept beside the documents: one line an edge, in a file that version control merges line by
 * line. The edge id alone is read; path and text are there for people.
 */
import { Buffer } from 'node:buffer'
import type { Hex12 } from './types.ts'

export interface StampLine {
  /** Edge id, 16 hex digits. */
  readonly id: string
  readonly child: string
  /** Of the entry, without a stamp. */
  readonly text: string
  readonly stamp: Hex12
}

export interface StampFile {
  /** In file order; several of one id are what a merge leaves behind. */
  readonly lines: readonly StampLine[]
  /** Lines that are neither stamps nor merge markers nor the first line. */
  readonly unreadable: number
}

const firstLine = '#outrigger-keel-stamps 1'
const line = /^([0-9a-f]{16})\t([^\t]*)\t([^\t]*)\t([0-9a-f]{12})$/
const mergeMarker = /^(?:<{7}|\|{7}|={7}|>{7})(?:[ \t]|$)/

/** Never throws. A file of another format number holds no line that is read. */
export function parseStampFile(bytes: Uint8Array): StampFile {
  const rows = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
  const lines: StampLine[] = []
  let unreadable = 0
  const other = rows.some(row => row.startsWith('#outrigger-keel-stamps ') && row !== firstLine)
  if (other) return { lines: [], unreadable: rows.filter(row => row !== '').length }
  for (const row of rows) {
    if (row === '' || row === firstLine || mergeMarker.test(row)) continue
    const parts = line.exec(row)
    if (parts === null) unreadable++
    else lines.push({ id: parts[1]!, child: decodeField(parts[2]!), text: decodeField(parts[3]!), stamp: parts[4] as Hex12 })
  }
  return { lines, unreadable }
}

/** Distinct stamps of each edge, in file order. More than one is for the content of now to decide. */
export function stampsById(file: StampFile): Map<string, readonly Hex12[]> {
  const stamps = new Map<string, Hex12[]>()
  for (const { id, stamp } of file.lines) {
    const known = stamps.get(id)
    if (known === undefined) stamps.set(id, [stamp])
    else if (!known.includes(stamp)) known.push(stamp)
  }
  return stamps
}

/** Sorted by child, then id, as bytes; equal lines once. */
export function printStampFile(lines: Iterable<StampLine>): string {
  const rows = new Map<string, StampLine>()
  for (const one of lines) rows.set(`${one.id}\t${encodeField(one.child)}\t${encodeField(one.text)}\t${one.stamp}\n`, one)
  const sorted = [...rows].sort(
    ([a, one], [b, other]) => compareBytes(one.child, other.child) || compareBytes(one.id, other.id) || compareBytes(a, b),
  )
  return `${firstLine}\n${sorted.map(([row]) => row).join('')}`
}

function encodeField(text: string): string {
  return text.replace(/[\t\r\n%]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
}

function decodeField(text: string): string {
  return text.replace(/%(09|0A|0D|25)/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
