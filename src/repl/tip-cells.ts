/** Cells as hints look at them. */
import { isBlob } from './journal.ts'
import { type JournalState, pathTo } from './journal-state.ts'
import type { CellReport } from './kernel.ts'
import { jsonTextFrom, type TipCell } from './tips.ts'
import type { RunResult } from './types.ts'

/** Earlier cells on the way to the head. */
export function tipCellsOf(state: JournalState): readonly TipCell[] {
  return pathTo(state, state.head).map(cell => {
    const { begin, end } = state.cells.get(cell)!
    const error = end?.error !== undefined && !isBlob(end.error) ? end.error : undefined
    const units = isBlob(begin.source) ? begin.source.bytes : begin.source.length
    return { cell, units, error, tip: end?.tip }
  })
}

/** The cell that has just ended. */
export function tipCellOf(report: CellReport, { cell, error }: RunResult, code: string): TipCell {
  return { cell, units: code.length, error, jsonFrom: jsonTextFrom(report.calls) }
}
