/**
 * From bytes to text and back to places: strict decoding, and a map from UTF-16 offsets to byte
 * offsets, lines and columns. Parsers work on the text, spans are stored in bytes.
 */

import { Buffer } from 'node:buffer'

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text with its BOM, or `null` when the bytes are not valid UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return strict.decode(bytes)
  } catch {
    return null // The only thing a fatal decoder throws for is an invalid sequence.
  }
}

const encoder = new TextEncoder()

export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text)
}

export interface Place {
  /** From 1. LF, CR LF and lone CR end a line. */
  readonly line: number
  /** From 1, in UTF-16 units; a BOM at the start of the text has no column. */
  readonly column: number
}

export interface Offsets {
  /** Byte offset of a UTF-16 offset that does not lie inside a surrogate pair. */
  toByte(index: number): number
  placeOf(index: number): Place
}

const stride = 64

/** Places in `text`; tables are built at the first question and answers cost O(stride) or O(log lines). */
export function createOffsets(text: string): Offsets {
  /** `false`: all of it is ASCII and every offset is its own byte offset. */
  let checkpoints: Uint32Array | false | null = null
  let starts: readonly number[] | null = null
  const bom = text.charCodeAt(0) === 0xfeff ? 1 : 0

  return {
    toByte(index) {
      checkpoints ??= Buffer.byteLength(text) === text.length ? false : byteCheckpoints(text)
      if (checkpoints === false) return index
      const block = Math.floor(index / stride)
      return checkpoints[block]! + byteLength(text, block * stride, index)
    },
    placeOf(index) {
      starts ??= lineStarts(text)
      const line = lastAtOrBelow(starts, index)
      const column = index - starts[line]! + 1 - (line === 0 ? bom : 0)
      return { line: line + 1, column: Math.max(column, 1) }
    },
  }
}

/** Offset of the first unit of every line. */
export function lineStarts(text: string): number[] {
  const starts = [0]
  if (!text.includes('\r')) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
    return starts
  }
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === 10 || (unit === 13 && text.charCodeAt(i + 1) !== 10)) starts.push(i + 1)
  }
  return starts
}

/** Position of the last element of a rising list that is at or below `value`; 0 when none is. */
export function lastAtOrBelow(rising: readonly number[], value: number): number {
  let low = 0
  let high = rising.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (rising[middle]! <= value) low = middle
    else high = middle
  }
  return low
}

function byteCheckpoints(text: string): Uint32Array {
  const checkpoints = new Uint32Array(Math.floor(text.length / stride) + 1)
  for (let block = 1; block < checkpoints.length; block++) {
    checkpoints[block] = checkpoints[block - 1]! + byteLength(text, (block - 1) * stride, block * stride)
  }
  return checkpoints
}

/** A surrogate pair is four bytes, counted as two for each half, so that a block border may split it. */
function byteLength(text: string, from: number, to: number): number {
  let length = 0
  for (let i = from; i < to; i++) {
    const unit = text.charCodeAt(i)
    length += unit < 0x80 ? 1 : unit < 0x800 ? 2 : unit >= 0xd800 && unit <= 0xdfff ? 2 : 3
  }
  return length
}
