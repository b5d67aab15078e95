/** One cell while it runs, and for whatever it left behind. */
import type { Failure } from './protocol.ts'
import type { Recording } from './recording/recording.ts'

export interface CellContext {
  readonly cell: number
  /** UTF-16 units printed so far. */
  printedUnits: number
  /** Has ended: its functions of `tools` refuse, what it prints is late. */
  ended: boolean
  /** A caught attempt to end the process. */
  refusedExit: Failure | undefined
  readonly recording: Recording
}
