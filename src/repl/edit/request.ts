/** What a caller asks to change, and what comes of it. */

export interface ExactEdit {
  readonly old_string: string
  readonly new_string: string
}

export interface RegexEdit {
  readonly pattern: string
  /** Letters of `gimsuvy`; `g` is implied. */
  readonly flags: string
  readonly replacement: string
  readonly expected_matches: number
}

export interface InsertEdit {
  readonly anchor: string
  readonly position: 'before' | 'after'
  readonly text: string
}

/** Exactly one kind of edit. */
export type EditRequest =
  | { readonly kind: 'edits'; readonly edits: readonly ExactEdit[] }
  | { readonly kind: 'regex'; readonly edits: readonly RegexEdit[] }
  | { readonly kind: 'inserts'; readonly inserts: readonly InsertEdit[] }
  | { readonly kind: 'around'; readonly prepend: string; readonly append: string }

export type EditCode = 'OUT-E001' | 'OUT-E002' | 'OUT-E003' | 'OUT-E004' | 'OUT-E005' | 'OUT-E006' | 'OUT-E007' | 'OUT-E008'

export interface EditError {
  readonly code: EditCode
  readonly message: string
  /** At most 3 lines. */
  readonly help: readonly string[]
  /** Path of the field it is about, as `edits[2]`. */
  readonly subject?: string
}

/** A part of the target, in UTF-16 units, and what takes its place. */
export interface Change {
  readonly start: number
  readonly end: number
  readonly text: string
  /** Path of the edit in the request. */
  readonly from: string
}

export interface Refused {
  readonly kind: 'refused'
  readonly error: EditError
}

export const refuse = (code: EditCode, message: string, help: readonly string[] = [], subject?: string): Refused => ({
  kind: 'refused',
  error: { code, message, help: help.slice(0, 3), ...(subject !== undefined && { subject }) },
})

export const editLimits = {
  /** Edits of one request. */
  edits: 16,
  /** UTF-16 units of the target and of the result. */
  units: 1_048_576,
  /** Matches of all patterns of one request. */
  matches: 4_096,
  /** UTF-16 units of one replacement. */
  templateUnits: 16_384,
  /** Groups of all matches. */
  captures: 65_536,
  /** Time for all patterns of one request. */
  regexMs: 100,
} as const
