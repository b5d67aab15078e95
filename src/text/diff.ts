/**
 * Unified hunks of two texts, around the `diff` library: three lines of context, no file headers. Work is
 * bounded: over the limits there is no diff, and two texts with hardly a line in common are shown as
 * one replaced by the other between their common ends.
 */
import { type StructuredPatchHunk, structuredPatch } from 'diff'

export interface DiffLimits {
  readonly maxBytes: number
  readonly maxLines: number
}

export type Hunks = { readonly kind: 'ok'; readonly text: string } | { readonly kind: 'too-large' } | { readonly kind: 'binary' }

export const diffLimits: DiffLimits = { maxBytes: 1024 * 1024, maxLines: 20_000 }

const context = 3

/** Lines that may differ before the exact search gives way; its work grows with their square. */
const maxEdits = 1000

/**
 * Compare two texts, line by line.
 *
 * @param old - UTF-8; invalid bytes are shown as U+FFFD. A NUL among the first 8,000 bytes of either is `binary`.
 * @param limits - `too-large` when either text is over one of them.
 * @returns hunks as `@@ -a,b +c,d @@` with their lines, LF after each; empty when the texts are equal. A last
 * line without its line end is followed by `\ No newline at end of file`.
 */
export function hunks(old: Uint8Array, now: Uint8Array, limits: DiffLimits = diffLimits): Hunks {
  const both = [old, now]
  if (both.some(bytes => bytes.subarray(0, 8000).includes(0))) return { kind: 'binary' }
  if (both.some(bytes => bytes.length > limits.maxBytes || countLines(bytes) > limits.maxLines)) return { kind: 'too-large' }
  const [before, after] = both.map(bytes => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)) as [string, string]
  if (before === after) return { kind: 'ok', text: '' }
  const patch = structuredPatch('', '', before, after, undefined, undefined, { context, maxEditLength: maxEdits })
  const found = patch === undefined ? [replaced(before, after)] : patch.hunks
  return { kind: 'ok', text: found.map(printHunk).join('') }
}

function countLines(bytes: Uint8Array): number {
  let lines = 0
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) lines += 1
  return lines
}

function printHunk(hunk: StructuredPatchHunk): string {
  // A side without lines names the line before it, as in every unified diff.
  const start = (line: number, lines: number) => (lines === 0 ? Math.max(0, line - 1) : line)
  const before = `${start(hunk.oldStart, hunk.oldLines)},${hunk.oldLines}`
  const after = `${start(hunk.newStart, hunk.newLines)},${hunk.newLines}`
  return `@@ -${before} +${after} @@\n` + hunk.lines.map(line => line + '\n').join('')
}

/** One hunk that replaces everything between the common beginning and the common end. */
function replaced(before: string, after: string): StructuredPatchHunk {
  const old = linesOf(before)
  const now = linesOf(after)
  let head = 0
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1
  let tail = 0
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1
  const from = Math.max(0, head - context)
  const lead = old.slice(from, head)
  const trail = old.slice(old.length - tail, old.length - tail + context)
  const removed = old.slice(head, old.length - tail)
  const added = now.slice(head, now.length - tail)
  const show = (sign: string, lines: readonly string[]) => lines.flatMap(line => shown(sign, line))
  return {
    oldStart: from + 1,
    oldLines: lead.length + removed.length + trail.length,
    newStart: from + 1,
    newLines: lead.length + added.length + trail.length,
    lines: [...show(' ', lead), ...show('-', removed), ...show('+', added), ...show(' ', trail)],
  }
}

/** Lines with their line ends. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/gu) ?? []
}

function shown(sign: string, line: string): string[] {
  return line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, '\\ No newline at end of file']
}
