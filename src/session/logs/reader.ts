/** What every log reader is handed and hands back. */
import { OutriggerError } from '../../errors.ts'
import type { SessionEvent } from '../events.ts'

export type LogFormat = 'dsh' | 'claude-code' | 'events'

export interface LogSummary {
  readonly format: LogFormat
  readonly session: string
  readonly events: number
  /** Rows that gave no event, by type; `bad`: no JSON, too long, or not of the format. */
  readonly skipped: Readonly<Record<string, number>>
  /** Jumps in the numbering of rows. */
  readonly gaps: number
  readonly torn: { readonly bytes: number } | null
}

export interface LogOptions {
  /** Root of the project around a folder; the folder itself when it is not on this machine. */
  projectOf(folder: string): string
}

export interface Log {
  readonly format: LogFormat
  readonly session: string
  readonly project: string
  /** To be read once. */
  readonly events: AsyncIterable<SessionEvent>
  /** Complete when `events` is at its end. */
  summary(): LogSummary
}

/** Counts as a reader goes. */
export interface Tally {
  readonly skipped: Record<string, number>
  skip(type: string, count?: number): void
  gaps: number
  events: number
}

export function createTally(): Tally {
  const skipped = Object.create(null) as Record<string, number>
  return {
    skipped,
    skip: (type, count = 1) => {
      skipped[type] = (skipped[type] ?? 0) + count
    },
    gaps: 0,
    events: 0,
  }
}

export const badLog = (why: string): OutriggerError =>
  new OutriggerError('SESSION_BAD_LOG', `this is no session log that is known: ${why}`, {
    hint: "give a DSH session (session.jsonl.zstd), a Claude Code transcript (.jsonl), or a file of outrigger's events",
  })
