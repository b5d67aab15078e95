/** Commands that ran after an open item was written down, and what they say about it. Pure. */
import type { Command } from '../session/facts.ts'
import { segmentsOf } from '../text/checks.ts'
import type { LiveLine } from './assemble.ts'
import { collapse } from './clauses.ts'
import { codeSpansOf } from './spans.ts'

export interface Evidence {
  readonly command: string
  /** `null`: unknown. */
  readonly exit: number | null
}

const asksForTests = /\b(?:re-?)?run(?:ning)?\b[^.]*\b(?:tests?|test suite|specs?)\b/i

/** The newest command that speaks of the line; `undefined`: none does. */
export function evidenceFor(line: LiveLine, commands: readonly Command[]): Evidence | undefined {
  const spans = new Set(codeSpansOf(line.text).map(collapse))
  const wantsTests = asksForTests.test(line.text)
  if (spans.size === 0 && !wantsTests) return undefined
  for (const command of commands.toReversed()) {
    if (!(command.at > line.at)) continue
    const text = collapse(command.command)
    const names = spans.has(text) || segmentsOf(command.command).segments.some(segment => spans.has(segment))
    if (names || (command.test && wantsTests)) return { command: text, exit: command.exit }
  }
  return undefined
}
