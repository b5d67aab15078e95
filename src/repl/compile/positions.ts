/**
 * Positions between a source and the text generated from it. Offsets count UTF-16 units; lines and columns start at 1. A leading BOM counts in offsets
 * and not in columns.
 */
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
  /** Offset in the source for a line and column that V8 reports for the generated text. */
  fromGenerated(line: number, column: number): number | undefined
  /** Line and column in the source. */
  locate(source: number): SourcePosition
}
