/** Code spans of one line of notes. */
import { codeSpans } from '../text/markdown.ts'

export function codeSpansOf(text: string): readonly string[] {
  if (!text.includes('`')) return []
  return codeSpans(text, { kind: 'paragraph', start: 0, end: text.length, at: 0, depth: 0 }).map(span => span.content.trim())
}
