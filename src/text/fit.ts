/** Texts of several parts under one cap, and lists that say how much they left out. */
import { Buffer } from 'node:buffer'

export interface Part {
  readonly text: string
  /** The highest goes first; of equal ones, the last. */
  readonly rank: number
  /** Stands in for `text` before any part is left out. */
  readonly shorter?: string
}

export interface FitLimits {
  /** UTF-16 units. */
  readonly maxChars: number
  /** As `estimateTokens` counts. */
  readonly maxTokens?: number
}

export interface Fitted<P extends Part = Part> {
  /** Parts that stayed, in their order, joined by nothing. */
  readonly text: string
  /** Parts that were left out, in their order. */
  readonly left: readonly P[]
  /** Parts that stand there in their shorter form, in their order. */
  readonly shortened: readonly P[]
}

/** Two tokens for seven bytes of UTF-8: on the high side for prose, about right for code. */
export function estimateTokens(text: string): number {
  return Math.ceil((2 * Buffer.byteLength(text)) / 7)
}

/** Shorten parts, then leave parts out, each time by rank, until the whole keeps both limits. */
export function fit<P extends Part>(parts: readonly P[], limits: FitLimits): Fitted<P> {
  const texts: (string | null)[] = parts.map(part => part.text)
  let chars = 0
  let bytes = 0
  for (const part of parts) {
    chars += part.text.length
    bytes += Buffer.byteLength(part.text)
  }
  const isOver = (): boolean =>
    chars > limits.maxChars || Math.ceil((2 * bytes) / 7) > (limits.maxTokens ?? Number.POSITIVE_INFINITY)
  const replace = (index: number, text: string | null): void => {
    const before = texts[index] ?? ''
    chars += (text ?? '').length - before.length
    bytes += Buffer.byteLength(text ?? '') - Buffer.byteLength(before)
    texts[index] = text
  }
  const order = parts.map((_, index) => index).sort((a, b) => parts[b]!.rank - parts[a]!.rank || b - a)
  for (const index of order) {
    const { shorter, text } = parts[index]!
    if (isOver() && shorter !== undefined && shorter.length < text.length) replace(index, shorter)
  }
  for (const index of order) if (isOver()) replace(index, null)
  return {
    text: texts.map(text => text ?? '').join(''),
    left: parts.filter((_, index) => texts[index] === null),
    shortened: parts.filter((part, index) => texts[index] !== null && texts[index] !== part.text),
  }
}

/**
 * Lines of a list, at most `max` of them and within `maxChars` UTF-16 units, line ends and the last line
 * included.
 *
 * @param more - the last line when some are left out, from how many; without its line end.
 * @returns each line with a line end; empty for no items.
 */
export function list(
  items: readonly string[],
  max: number,
  more: (left: number) => string,
  maxChars: number = Number.POSITIVE_INFINITY,
): string {
  const lengths = [0]
  for (const item of items) lengths.push(lengths.at(-1)! + item.length + 1)
  let shown = Math.min(items.length, Math.max(max, 0))
  const lengthWith = (count: number): number =>
    lengths[count]! + (count < items.length ? more(items.length - count).length + 1 : 0)
  while (shown > 0 && lengthWith(shown) > maxChars) shown--
  const lines = items.slice(0, shown)
  if (shown < items.length) lines.push(more(items.length - shown))
  return lines.map(line => `${line}\n`).join('')
}

/** `a, b, c and 2 more`. */
export function names(paths: readonly string[], max = 3): string {
  const shown = paths.slice(0, max).join(', ')
  return paths.length > max ? `${shown} and ${paths.length - max} more` : shown
}
