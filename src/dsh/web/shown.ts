/** What goes from the host's process to a page. */
import type { Json } from '../../ports/json.ts'

/** Path of the one route. A `GET` with `session`, and `after` for what comes after an answer, gives a `Shown`. */
export const webRoutePath = '/outrigger/session'

/** A request without this header is refused: a page of another origin cannot set it without asking first. */
export const pageHeader = 'outrigger-page'

/** Namespace of keel's keys in the host's settings. */
export const settingsName = 'outrigger-keel'

export interface Notice {
  readonly level: 'info' | 'warning' | 'error'
  readonly text: string
  /** How long it stands, 1,000–60,000. */
  readonly ms: number
}

export interface Shown {
  /** Opaque; give it back to wait for what comes after. */
  readonly cursor: string
  /** The whole status line; `null`: nothing to say. */
  readonly status: string | null
  /** Those that the reader has not had. */
  readonly notices: readonly Notice[]
  /** What else there is to show, each part whole; absent when there is none. */
  readonly parts?: Readonly<Record<string, Json>>
}
