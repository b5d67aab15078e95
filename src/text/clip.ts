/** Text cut to a length without cutting a character in two. */

export type ClipUnit = 'utf16' | 'code-points' | 'graphemes'

/**
 * The longest beginning of `text` of at most `max` units. With `utf16` a surrogate pair is kept whole; with
 * `graphemes` a letter keeps its marks and an emoji its parts.
 *
 * @param end - put behind what was cut, counted in; default nothing.
 */
export function clip(text: string, max: number, unit: ClipUnit = 'utf16', end = ''): string {
  if (max <= 0) return ''
  if (text.length <= max) return text
  switch (unit) {
    case 'utf16': {
      const room = Math.max(max - end.length, 0)
      return end.length > max ? cutAt(text, max) : cutAt(text, room) + end
    }
    case 'code-points':
      return clipUnits(text, max, end, codePoints)
    case 'graphemes':
      return clipUnits(text, max, end, graphemes)
  }
}

/**
 * Both ends of `text` with `…` between them, `max` UTF-16 units in all. For names, whose beginning and
 * end tell more than their middle.
 */
export function middle(text: string, max: number): string {
  if (text.length <= max) return text
  if (max < 3) return cutAt(text, Math.max(max, 0))
  const room = max - 1
  const head = cutAt(text, Math.ceil(room / 2))
  const from = text.length - Math.floor(room / 2)
  return `${head}…${text.slice(isInsidePair(text, from) ? from + 1 : from)}`
}

/** Graphemes of a text; only as many are looked for as are taken. */
export function* graphemes(text: string): Generator<string> {
  // A segmenter works on the whole text it is given, so a long one is handed over in pieces.
  const size = 4096
  let from = 0
  while (from < text.length) {
    const piece = cutAt(text.slice(from, from + size + 2), size)
    const isLast = from + piece.length >= text.length
    let held: string | null = null
    for (const segment of segmentsOf(piece)) {
      if (held !== null) {
        yield held
        from += held.length
      }
      held = segment
    }
    // The last grapheme of a piece may go on behind it, unless it is all of the piece.
    if (held !== null && (isLast || held.length === piece.length)) {
      yield held
      from += held.length
    }
  }
}

/** How many graphemes a text has. */
export function lengthInGraphemes(text: string): number {
  if (isPlain(text)) return text.length
  let count = 0
  for (const _ of graphemes(text)) count += 1
  return count
}

/** Every unit is a grapheme: ASCII, in which only the two of a line end belong together. */
const isPlain = (text: string): boolean => /^[\0-\x0c\x0e-\x7f]*$/.test(text)

let segmenter: Intl.Segmenter | undefined

/** Made when it is needed: it takes ten milliseconds of a start. */
function* segmentsOf(piece: string): Generator<string> {
  if (isPlain(piece)) return yield* piece
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  for (const { segment } of segmenter.segment(piece)) yield segment
}

function* codePoints(text: string): Generator<string> {
  yield* text
}

function clipUnits(text: string, max: number, end: string, unitsOf: (text: string) => Iterable<string>): string {
  const ending = [...unitsOf(end)]
  const room = ending.length > max ? max : max - ending.length
  let count = 0
  let length = 0
  /** Length up to where `end` would be put. */
  let kept = 0
  for (const unit of unitsOf(text)) {
    if (count === room) kept = length
    if (++count > max) return text.slice(0, kept) + (ending.length > max ? '' : end)
    length += unit.length
  }
  return text
}

function cutAt(text: string, length: number): string {
  return text.slice(0, isInsidePair(text, length) ? length - 1 : length)
}

function isInsidePair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  const after = text.charCodeAt(at)
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff
}
