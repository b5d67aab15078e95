/** Lines of notes that read like instructions. They are shown as what they are and named, never removed. Pure. */
import { collapse } from './clauses.ts'

/** Each row: what a text of that kind matches. In doubt a line is named: that costs one id. */
const rows: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override)\b.{0,40}?\b(?:previous|prior|above|all|any|earlier|system)\b.{0,30}?\b(?:instruction|rule|prompt|message|guideline)s?\b/i,
  /\byou (?:are now|must now|have to now)\b/i,
  /<\/?(?:system|assistant|user|human|tool_result|function_calls?|outrigger-pack)\b[^>]*>/i,
  /^\s*(?:system|assistant|human|user)\s*:/i,
  /\b(?:curl|wget)\b.{0,500}\|\s*(?:sudo\s+)?(?:sh|bash|zsh|dash)\b/i,
  /\b(?:do not|don['’]t|never)\s+(?:tell|inform|show|mention)\b.{0,60}?\b(?:user|human|person)\b/i,
  /\b(?:exfiltrate|send|post|upload)\b.{0,60}?(?:\b(?:token|secret|password|credential|api[ _-]?key|ssh)s?\b|\.env\b)/i,
]

export function isInstruction(text: string): boolean {
  const line = collapse(text)
  return rows.some(row => row.test(line))
}
