/**
 * The changes to a source, collected in its own offsets and applied at once. Opening texts at one offset stand in the order of their arrival (the outer
 * construct is met first), closing texts in the opposite order, and closings before openings.
 */
import { isLineEnd } from './ast.ts'
import { createPositionMap, type PositionMap, type Segment } from './positions.ts'
import type { SourceRange } from './program.ts'

interface Replacement extends SourceRange {
  /** `undefined`: blanks, line ends kept. */
  readonly text: string | undefined
  /** Where the text comes from when it was made elsewhere; relative to the text. */
  readonly segments?: readonly Segment[]
}

interface Insertion {
  readonly at: number
  closing: string
  ending: string
  opening: string
}

/** The range as blanks of the same length. */
export function blanks(source: string, start: number, end: number, keepLines: boolean): string {
  let text = ''
  for (let index = start; index < end; index++) text += keepLines && isLineEnd(source.charCodeAt(index)) ? source[index] : ' '
  return text
}

/** Text under construction, with what each part stands for. */
export class Output {
  code = ''
  readonly segments: Segment[] = []

  /** Text that stands for nothing. */
  add(text: string): void {
    this.code += text
  }

  /** Text as long as the source range it stands for. */
  exact(text: string, source: number): void {
    const last = this.segments.at(-1)
    const generated = this.code.length
    if (last?.exact === true && last.generated + last.length === generated && last.source + last.length === source) {
      this.segments[this.segments.length - 1] = { ...last, length: last.length + text.length }
    } else if (text.length > 0) this.segments.push({ generated, source, length: text.length, exact: true })
    this.code += text
  }

  /** Text that stands for one place. */
  at(text: string, source: number): void {
    if (text.length > 0) this.segments.push({ generated: this.code.length, source, length: text.length, exact: false })
    this.code += text
  }

  /** Text made from a part of the source elsewhere. */
  made(text: string, segments: readonly Segment[]): void {
    for (const segment of segments) this.segments.push({ ...segment, generated: segment.generated + this.code.length })
    this.code += text
  }

  map(source: string, columnOffset: number): PositionMap {
    return createPositionMap(source, this.code, this.segments, columnOffset)
  }
}

export class Edits {
  readonly #source: string
  readonly #replacements: Replacement[] = []
  readonly #insertions = new Map<number, Insertion>()
  #sorted: { replacements: Replacement[]; insertions: Insertion[] } | undefined

  constructor(source: string) {
    this.#source = source
  }

  replace(start: number, end: number, text: string): void {
    this.#replacements.push({ start, end, text })
    this.#sorted = undefined
  }

  /** Put a text that was made from the range elsewhere in its place; edits inside the range end there. */
  replaceMade(start: number, end: number, text: string, segments: readonly Segment[]): void {
    this.#replacements.push({ start, end, text, segments })
    this.#sorted = undefined
  }

  /** Leave blanks of the same length. */
  blank(start: number, end: number): void {
    if (end > start) this.#replacements.push({ start, end, text: undefined })
    this.#sorted = undefined
  }

  /** Blanks without line ends, where the grammar allows none. */
  blankInline(start: number, end: number): void {
    this.replace(start, end, ' '.repeat(end - start))
  }

  /** Blanks that end the statement before them. */
  blankStatement(start: number, end: number): void {
    if (end > start) this.replace(start, end, ';' + blanks(this.#source, start + 1, end, true))
  }

  open(at: number, text: string): void {
    this.#insertion(at).opening += text
  }

  close(at: number, text: string): void {
    const insertion = this.#insertion(at)
    insertion.closing = text + insertion.closing
  }

  /** End the statement that ends there. */
  end(at: number): void {
    this.#insertion(at).ending = ';'
  }

  #insertion(at: number): Insertion {
    let insertion = this.#insertions.get(at)
    if (insertion === undefined) {
      insertion = { at, closing: '', ending: '', opening: '' }
      this.#insertions.set(at, insertion)
      this.#sorted = undefined
    }
    return insertion
  }

  /** Write the whole with its edits; ranges of `left` become blanks. */
  renderWhole(output: Output, left: readonly SourceRange[]): void {
    this.#render(output, 0, this.#source.length, left, true)
  }

  /** Write one construct with the edits inside it; what was put before and after it belongs to the constructs around. */
  renderPart(output: Output, start: number, end: number): void {
    this.#render(output, start, end, [], false)
  }

  #render(output: Output, start: number, end: number, left: readonly SourceRange[], whole: boolean): void {
    this.#sorted ??= {
      replacements: this.#replacements.toSorted((a, b) => a.start - b.start || b.end - a.end),
      insertions: [...this.#insertions.values()].sort((a, b) => a.at - b.at),
    }
    const { replacements, insertions } = this.#sorted
    const lefts = left.map(
      (range): Replacement => ({
        start: range.start,
        end: range.end,
        text: ';' + blanks(this.#source, range.start + 1, range.end, true),
        segments: [{ generated: 0, source: range.start, length: range.end - range.start, exact: false }],
      }),
    )
    const changes =
      lefts.length === 0 ? replacements : [...replacements, ...lefts].sort((a, b) => a.start - b.start || b.end - a.end)
    let position = start
    let insertion = firstAtLeast(insertions, start, item => item.at)
    let index = firstAtLeast(changes, start, item => item.start)
    const copyTo = (limit: number): void => {
      while (insertion < insertions.length && insertions[insertion]!.at <= limit) {
        const { at, closing, ending, opening } = insertions[insertion++]!
        if (at < position) continue
        if (at > position) output.exact(this.#source.slice(position, at), position)
        position = at
        if (whole || (at > start && at < end)) output.add(closing + ending + opening)
      }
      if (limit > position) output.exact(this.#source.slice(position, limit), position)
      position = Math.max(position, limit)
    }
    for (; index < changes.length; index++) {
      const change = changes[index]!
      if (change.start < position) continue
      if (change.end > end || (change.start >= end && change.end > change.start)) break
      copyTo(change.start)
      if (change.segments !== undefined) output.made(change.text!, change.segments)
      else if (change.text === undefined) output.exact(blanks(this.#source, change.start, change.end, true), change.start)
      else if (change.text.length === change.end - change.start) output.exact(change.text, change.start)
      else output.at(change.text, change.start)
      position = change.end
      // What was inserted inside the range went with it; closings at its end belong to constructs around it.
      while (insertion < insertions.length && insertions[insertion]!.at < position) insertion++
    }
    copyTo(end)
  }
}

function firstAtLeast<T>(items: readonly T[], wanted: number, key: (item: T) => number): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (key(items[middle]!) < wanted) low = middle + 1
    else high = middle
  }
  return low
}
