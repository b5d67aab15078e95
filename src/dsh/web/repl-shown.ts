/** What a page shows of a session's REPL. */
import type { BindingStatus } from '../../repl/types.ts'

/** A `GET` with `session` gives a `ReplList`. */
export const replRoutePath = '/outrigger/repl'

/** Namespace of the REPL's keys in the host's settings. */
export const replSettingsName = 'outrigger-repl'

/** The part of what a session shows that is the REPL's. */
export const replPart = 'repl'

export interface ReplChip {
  readonly names: number
  readonly mode: 'durable' | 'volatile'
  /** Why programs run without the REPL. */
  readonly degraded?: string
}

export interface ReplListName {
  readonly name: string
  readonly kind: string
  readonly type: string
  /** One line. */
  readonly preview: string
  /** What a restart would make of it. */
  readonly recover: BindingStatus
  readonly reason?: string
}

export interface ReplList {
  readonly mode: 'durable' | 'volatile'
  /** At most 200, sorted. */
  readonly names: readonly ReplListName[]
  /** How many more there are. */
  readonly omitted: number
}
