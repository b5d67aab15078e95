/**
 * Documents with markers of an unfinished merge: where the two sides lie, and the text of each side with
 * a way back to places of the real file.
 */
import { lastAtOrBelow } from '../text/utf8.ts'

export interface Side {
  readonly text: string
  /** Offset in the real text of an offset in `text`. */
  toReal(index: number): number
}

export interface Conflict {
  readonly ours: Side
  readonly theirs: Side
  /** Whether any part of a range of the real text lies between markers. */
  isInside(start: number, end: number): boolean
}

const marker = /(?:^|(?<=[\r\n]))\uFEFF?(<{7}|\|{7}|={7}|>{7})(?=[ \t\r\n]|$)[^\r\n]*(?:\r\n|\n|\r|$)/g

/** `null`: no `<<<<<<<`, `=======` and `>>>>>>>` line follow one another. */
export function findConflict(text: string): Conflict | null {
  if (!text.includes('<<<<<<<')) return null
  const ours: Piece[] = []
  const theirs: Piece[] = []
  const inside: Piece[] = []
  let common = 0
  let open: { start: number; end: number } | null = null
  let base: { start: number } | null = null
  let middle: { start: number; end: number } | null = null
  for (const hit of text.matchAll(marker)) {
    const start = hit.index + (hit[0].charCodeAt(0) === 0xfeff ? 1 : 0)
    const end = hit.index + hit[0].length
    const sign = hit[1]![0]
    if (sign === '<') {
      open = { start, end }
      base = null
      middle = null
    } else if (sign === '|' && open !== null && middle === null) base ??= { start }
    else if (sign === '=' && open !== null) middle ??= { start, end }
    else if (sign === '>' && open !== null && middle !== null) {
      const shared = { start: common, end: open.start }
      ours.push(shared, { start: open.end, end: base?.start ?? middle.start })
      theirs.push(shared, { start: middle.end, end: start })
      inside.push({ start: open.start, end })
      common = end
      open = null
      base = null
      middle = null
    }
  }
  if (inside.length === 0) return null
  const rest = { start: common, end: text.length }
  return {
    ours: sideOf(text, [...ours, rest]),
    theirs: sideOf(text, [...theirs, rest]),
    isInside: (start, end) => inside.some(piece => start < piece.end && end > piece.start),
  }
}

interface Piece {
  readonly start: number
  readonly end: number
}

function sideOf(text: string, pieces: readonly Piece[]): Side {
  const filled = pieces.filter(piece => piece.end > piece.start)
  const starts: number[] = []
  let length = 0
  for (const piece of filled) {
    starts.push(length)
    length += piece.end - piece.start
  }
  return {
    text: filled.map(piece => text.slice(piece.start, piece.end)).join(''),
    toReal(index) {
      if (filled.length === 0) return 0
      const at = lastAtOrBelow(starts, index)
      return filled[at]!.start + index - starts[at]!
    },
  }
}
