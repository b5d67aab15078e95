/** Changes of bytes by span, and the forms in which an entry can be written. */
import { encodeUtf8 } from '../text/utf8.ts'

export interface Edit {
  /** Bytes of the original; equal: an insertion. */
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * The bytes with all edits made. Spans are of the original bytes and do not overlap; two insertions at one
 * place are made in the order given. An edit given twice is made once.
 */
export function applyEdits(bytes: Uint8Array, edits: readonly Edit[]): Uint8Array {
  const parts: Uint8Array[] = []
  let from = 0
  let last: Edit | null = null
  for (const edit of [...edits].sort((a, b) => a.start - b.start || a.end - b.end)) {
    if (last !== null && last.start === edit.start && last.end === edit.end && edit.end > edit.start) continue
    last = edit
    parts.push(bytes.subarray(from, edit.start), encodeUtf8(edit.text))
    from = edit.end
  }
  parts.push(bytes.subarray(from))
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** The quote that makes a bare wikilink a YAML string as it stands, or `null` when none does. */
export function quoteWikilink(source: string): '"' | "'" | null {
  if (!/["\\]/.test(source)) return '"'
  return source.includes("'") ? null : "'"
}

/**
 * Forms of an entry's text and stamp, the one its source has now first. Not every one of them reads back as
 * the text: the caller tries them in turn.
 *
 * @param source - the item as it stands, quotes included.
 */
export function textForms(source: string, text: string, inComment: boolean): string[] {
  if (inComment) return [text]
  const double = `"${text.replace(/["\\]/g, '\\$&').replace(/\t/g, '\\t').replace(/\r/g, '\\r').replace(/\n/g, '\\n')}"`
  const single = `'${text.replaceAll("'", "''")}'`
  if (source.startsWith('"')) return [double]
  if (source.startsWith("'")) return /[\t\r\n]/.test(text) ? [double] : [single, double]
  return [text, double, single]
}
