/** Where in a text something is, and which line is most like what was not found. */

const isBreak = (unit: number): boolean => unit === 10 || unit === 13 || unit === 0x2028 || unit === 0x2029

/** Line of an offset, from 1. CR LF is one break. */
export function lineOf(source: string, offset: number): number {
  let line = 1
  for (let i = 0; i < offset; i++) {
    const unit = source.charCodeAt(i)
    if (isBreak(unit) && !(unit === 13 && source.charCodeAt(i + 1) === 10)) line++
  }
  return line
}

/** `lines 3, 7 and 9` of the first five offsets. */
export function linesOf(source: string, offsets: readonly number[]): string {
  const lines = offsets.slice(0, 5).map(offset => lineOf(source, offset))
  const distinct = [...new Set(lines)]
  const more = offsets.length > 5 ? ', …' : ''
  return `${distinct.length === 1 && more === '' ? 'line' : 'lines'} ${distinct.join(', ')}${more}`
}

/** Lines that are looked at, characters that are compared of each, and of all. */
const maxLines = 20_000
const maxUnits = 120
const maxCompared = 200_000

const squeezed = (line: string): string => line.replace(/\s+/g, '')

export interface NearestLine {
  readonly line: number
  readonly text: string
  /** Differs in white space only. */
  readonly onlySpace: boolean
}

/** The line most like the first line of `wanted` that says something; `undefined` when none is like it. */
export function nearestLine(source: string, wanted: string): NearestLine | undefined {
  const goal = squeezed((wanted.split(/\r\n|[\n\r\u2028\u2029]/).find(line => line.trim() !== '') ?? '').slice(0, maxUnits))
  if (goal === '') return undefined
  const pairs = pairsOf(goal)
  let best: { line: number; text: string; score: number } | undefined
  let compared = 0
  const lines = source.split(/\r\n|[\n\r\u2028\u2029]/, maxLines)
  for (let i = 0; i < lines.length; i++) {
    const text = squeezed(lines[i]!.slice(0, maxUnits))
    if (text === '') continue
    if (text === goal || (text.includes(goal) && goal.length > 3)) return { line: i + 1, text: lines[i]!, onlySpace: true }
    if (compared > maxCompared) continue
    compared += text.length
    const score = likeness(pairs, goal.length, text)
    if (score > (best?.score ?? 0.3)) best = { line: i + 1, text: lines[i]!, score }
  }
  return best && { line: best.line, text: best.text, onlySpace: false }
}

function pairsOf(text: string): ReadonlyMap<string, number> {
  const pairs = new Map<string, number>()
  for (let i = 0; i + 1 < text.length; i++) pairs.set(text.slice(i, i + 2), (pairs.get(text.slice(i, i + 2)) ?? 0) + 1)
  return pairs
}

/** Share of pairs of characters that both have, 0 to 1. */
function likeness(pairs: ReadonlyMap<string, number>, goalLength: number, text: string): number {
  if (goalLength < 2 || text.length < 2) return 0
  const bound = (2 * (Math.min(goalLength, text.length) - 1)) / (goalLength + text.length - 2)
  if (bound < 0.3) return 0
  let common = 0
  const left = new Map<string, number>()
  for (let i = 0; i + 1 < text.length; i++) {
    const pair = text.slice(i, i + 2)
    const had = left.get(pair) ?? pairs.get(pair) ?? 0
    if (had === 0) continue
    common++
    left.set(pair, had - 1)
  }
  return (2 * common) / (goalLength + text.length - 2)
}

/** Help for a text that is not there. */
export function nearestHelp(source: string, wanted: string): readonly string[] {
  const nearest = nearestLine(source, wanted)
  if (nearest === undefined) return ['No line of the cell is like it; repl_history shows its source.']
  const text = nearest.text.length > 160 ? `${nearest.text.slice(0, 160)}…` : nearest.text
  return [
    `Nearest is line ${nearest.line}: ${JSON.stringify(text)}`,
    ...(nearest.onlySpace ? ['White space must be the same, too.'] : []),
  ]
}
