/**
 * Positions between a source and the text generated from it. Offsets count UTF-16 units; lines and columns start at 1. A leading BOM counts in offsets
 * and not in columns.
 */
import { isLineEnd } from './ast.ts'
import type { SourcePosition } from './program.ts'

/** A run of generated text that stands for a run of source. `exact`: unit for unit; otherwise all of it stands for the start of the source run. */
export interface Segment {
  readonly generated: number
  readonly source: number
  readonly length: number
  readonly exact: boolean
}

export interface PositionMap {
  /** Offset in the source for an offset in the generated text; `undefined` where the generated text stands for nothing of the source. */
  toSource(generated: number): number | undefined
  /** Offset in the generated text for an offset in the source; `undefined` where the source was left out. */
  toGenerated(source: number): number | undefined
  /** Offset in the source for a line and column that V8 reports for the generated text; at a place that stands for nothing, the nearest one before. */
  fromGenerated(line: number, column: number): number | undefined
  /** Line and column in the source. */
  locate(source: number): SourcePosition
}

/** Offsets at which lines begin. CR LF is one end of a line. */
export function lineStarts(text: string): number[] {
  const starts = [0]
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (!isLineEnd(code)) continue
    if (code === 13 && text.charCodeAt(index + 1) === 10) index++
    starts.push(index + 1)
  }
  return starts
}

/** The last index whose key is at most `wanted`, or -1. */
function lastAtMost<T>(items: readonly T[], wanted: number, key: (item: T) => number): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (key(items[middle]!) <= wanted) low = middle + 1
    else high = middle
  }
  return low - 1
}

const itself = (value: number): number => value

export function locateIn(source: string, starts: readonly number[], offset: number): SourcePosition {
  const line = lastAtMost(starts, offset, itself)
  const column = offset - starts[line]! + 1
  const afterMark = line === 0 && source.charCodeAt(0) === 0xfeff
  return { line: line + 1, column: Math.max(1, afterMark ? column - 1 : column) }
}

/** Line and column of one offset. */
export function locate(source: string, offset: number): SourcePosition {
  return locateIn(source, lineStarts(source), Math.max(0, Math.min(offset, source.length)))
}

/**
 * @param segments - in the order of the generated text, not overlapping.
 * @param columnOffset - what V8 adds to columns of the first line.
 */
export function createPositionMap(source: string, code: string, segments: readonly Segment[], columnOffset: number): PositionMap {
  let sourceStarts: readonly number[] | undefined
  let codeStarts: readonly number[] | undefined
  let bySource: readonly Segment[] | undefined

  const nearest = (generated: number): number | undefined => {
    const segment = segments[lastAtMost(segments, generated, item => item.generated)] ?? segments[0]
    if (segment === undefined) return undefined
    if (!segment.exact) return segment.source
    return segment.source + Math.max(0, Math.min(generated - segment.generated, segment.length))
  }
  return {
    toSource(generated) {
      const segment = segments[lastAtMost(segments, generated, item => item.generated)]
      if (segment === undefined || generated >= segment.generated + Math.max(1, segment.length)) return undefined
      return segment.exact ? segment.source + generated - segment.generated : segment.source
    },
    toGenerated(offset) {
      bySource ??= segments.filter(segment => segment.exact).toSorted((a, b) => a.source - b.source)
      const segment = bySource[lastAtMost(bySource, offset, item => item.source)]
      if (segment === undefined || offset >= segment.source + segment.length) return undefined
      return segment.generated + offset - segment.source
    },
    fromGenerated(line, column) {
      codeStarts ??= lineStarts(code)
      const start = codeStarts[line - 1]
      if (start === undefined) return undefined
      const found = nearest(start + column - 1 - (line === 1 ? columnOffset : 0))
      return found === undefined ? undefined : Math.min(found, source.length)
    },
    locate(offset) {
      sourceStarts ??= lineStarts(source)
      return locateIn(source, sourceStarts, Math.max(0, Math.min(offset, source.length)))
    },
  }
}
