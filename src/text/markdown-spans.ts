/** Code spans of a block of text: runs of backticks closed by a run of the same length. */
import type { Block } from './markdown-blocks.ts'

export interface CodeSpan {
  /** Of the opening run; UTF-16 offsets into the text. */
  readonly start: number
  /** After the closing run. */
  readonly end: number
  /** Without the runs; as written, so that line ends and marks of containers are still in it. */
  readonly content: string
}

/**
 * Code spans in file order. Blocks that hold no inlines have none. A run behind a backslash opens nothing.
 * Tags and autolinks are not looked at: a backtick inside one may open a span here.
 */
export function codeSpans(text: string, block: Block): CodeSpan[] {
  if (block.kind !== 'paragraph' && block.kind !== 'heading') return []
  const runs = backtickRuns(text, block.at, block.end)
  const nextOfLength = runs.map(() => -1)
  const seen = new Map<number, number>()
  for (let i = runs.length - 1; i >= 0; i--) {
    nextOfLength[i] = seen.get(runs[i]!.length) ?? -1
    seen.set(runs[i]!.length, i)
  }
  const spans: CodeSpan[] = []
  for (let i = 0; i < runs.length; i++) {
    const run = runs[i]!
    // An escaped backtick is text and the rest of its run opens; inside a span a backslash escapes nothing.
    const close = run.escaped ? -1 : nextOfLength[i]!
    if (close === -1) continue
    const start = run.start + run.length
    const end = runs[close]!.start
    spans.push({ start: run.start, end: end + run.length, content: text.slice(start, end) })
    i = close
  }
  return spans
}

interface Run {
  readonly start: number
  readonly length: number
  readonly escaped: boolean
}

function backtickRuns(text: string, from: number, to: number): Run[] {
  const runs: Run[] = []
  for (let i = from; i < to; i++) {
    if (text.charCodeAt(i) !== 96) continue
    let slashes = 0
    while (i - slashes > from && text.charCodeAt(i - slashes - 1) === 92) slashes++
    const start = i
    while (i < to && text.charCodeAt(i) === 96) i++
    runs.push({ start, length: i - start, escaped: slashes % 2 === 1 })
  }
  return runs
}
