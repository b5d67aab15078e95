/** An answer without its checkpoints, for a person's screen. Pure. */
import { clausesOfBody } from './entry-lines.ts'
import { findTrailers } from './trailers.ts'

export interface Screen {
  readonly text: string
  /** Keywords of the checkpoints that were taken out, each once, in order. */
  readonly kinds: readonly string[]
  /** Checkpoints that were taken out. */
  readonly hidden: number
  /** One has no end: hidden while it is written, shown when the answer is final. */
  readonly unclosed: boolean
}

/** @param isFinal - the answer is whole. Text without a checkpoint comes back as it is. */
export function screen(text: string, isFinal: boolean): Screen {
  const { trailers, ignored } = findTrailers(text)
  const open = ignored.find(one => one.reason === 'unclosed')
  const unclosed = open !== undefined
  if (trailers.length === 0 && (!unclosed || isFinal)) return { text, kinds: [], hidden: 0, unclosed }
  const kinds = new Set<string>()
  let result = ''
  let at = 0
  for (const { start, end, raw } of trailers) {
    result += text.slice(at, start).trimEnd()
    at = end
    for (const clause of clausesOfBody(raw)) kinds.add(clause.kind === 'text' ? clause.keyword : clause.key)
  }
  const rest = unclosed && !isFinal ? text.slice(at, startOfLine(text, open.line)) : text.slice(at)
  return { text: (result + rest).trimEnd(), kinds: [...kinds], hidden: trailers.length, unclosed }
}

/** For places that can show text only: the body and what the checkpoints are about. */
export function plainScreen(text: string): string {
  const { text: body, kinds, hidden } = screen(text, true)
  return hidden === 0 ? body : `${body}\n\n_ckpt: ${kinds.join(', ')}_`
}

function startOfLine(text: string, line: number): number {
  let at = 0
  for (let count = 1; count < line; count++) {
    const next = /\r\n|\n|\r/g
    next.lastIndex = at
    const match = next.exec(text)
    if (match === null) return text.length
    at = next.lastIndex
  }
  return at
}
