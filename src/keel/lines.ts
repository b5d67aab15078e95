/**
 * Line anchors: `L10`, `L10-L20`, `L10-20`. A line ends with LF, CR LF or a lone CR, so that converted
 * line ends leave the numbers as they were.
 */
import { accepts, type SliceContext, sliceIds } from './forms.ts'
import type { Hex12, KeelConfig, Span } from './types.ts'

/** Lines from 1, both ends included. */
export interface LineRange {
  readonly first: number
  readonly last: number
}

/** Hashed bytes that a search for moved lines may spend; each window counts at least `windowCost`. */
const searchBudget = 64 * 1024 * 1024
const windowCost = 2048

/** The range that an anchor names; `null` when it is no line anchor. A range that runs backwards is one, and names nothing. */
export function parseLines(anchor: string): LineRange | null {
  const match = /^L(\d{1,9})(?:-L?(\d{1,9}))?$/u.exec(anchor)
  if (match === null) return null
  const first = Number(match[1])
  return { first, last: match[2] === undefined ? first : Number(match[2]) }
}

/** The anchor of a range: `L3`, `L3-L4`. */
export function printLines(range: LineRange): string {
  return range.first === range.last ? `L${range.first}` : `L${range.first}-L${range.last}`
}

/** Offset of the first byte of each line, and the length of the file at the end; an empty file has no line. */
export function lineBounds(bytes: Uint8Array): readonly number[] {
  if (bytes.length === 0) return [0]
  const bounds = [0]
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === 0x0a || (byte === 0x0d && bytes[at + 1] !== 0x0a)) bounds.push(at + 1)
  }
  if (bounds.at(-1) !== bytes.length) bounds.push(bytes.length)
  return bounds
}

/** Number of the last line, from 1, also of an empty file: what `lineBounds` tells without its table. */
export function lastLineOf(bytes: Uint8Array): number {
  let lines = 0
  let end = 0
  const hasCr = bytes.includes(0x0d)
  for (let at = 0; at < bytes.length; at = end) {
    const next = bytes.indexOf(0x0a, at)
    end = next < 0 ? bytes.length : next + 1
    lines += 1
    if (!hasCr) continue
    for (let cr = bytes.indexOf(0x0d, at); cr >= 0 && cr < end - 1; cr = bytes.indexOf(0x0d, cr + 1)) {
      if (bytes[cr + 1] !== 0x0a) lines += 1
    }
  }
  return Math.max(1, lines)
}

/** Number (from 1) of the line that holds a byte. */
export function lineOf(bounds: readonly number[], offset: number): number {
  let low = 0
  let high = Math.max(0, bounds.length - 2)
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (bounds[middle]! <= offset) low = middle
    else high = middle - 1
  }
  return low + 1
}

/** The bytes of the lines with their line ends; `null` when the file has no such lines. */
export function spanOfLines(bounds: readonly number[], range: LineRange): Span | null {
  const count = bounds.length - 1
  if (range.first < 1 || range.last < range.first || range.last > count) return null
  return { start: bounds[range.first - 1]!, end: bounds[range.last]! }
}

/**
 * The one other window of as many lines that accepts the stamp.
 *
 * @returns its anchor; `null` when there is none, when there are several, and when the search would be
 * too long (its work is bounded whatever the file holds).
 */
export function findMovedLines(
  bytes: Uint8Array,
  anchor: string,
  stamp: Hex12,
  compare: KeelConfig['compare'],
  context: SliceContext,
): string | null {
  const range = parseLines(anchor)
  if (range === null || range.first < 1 || range.last < range.first) return null
  const bounds = lineBounds(bytes)
  const size = range.last - range.first + 1
  const hits: LineRange[] = []
  let spent = 0
  for (let first = 1; first + size - 1 < bounds.length; first += 1) {
    if (first === range.first) continue
    const window = { first, last: first + size - 1 }
    const span = spanOfLines(bounds, window)!
    spent += Math.max(windowCost, span.end - span.start)
    if (spent > searchBudget) return null
    if (accepts(sliceIds(bytes, span, context), stamp, compare) !== null) hits.push(window)
    if (hits.length > 1) return null
  }
  return hits[0] === undefined ? null : printLines(hits[0])
}
