/**
 * Parts of frontmatter that YAML refused as a whole: the lines of one key, the lines of one list item,
 * the bare wikilinks of a flow list. Lines and brackets only; what a part says is read elsewhere.
 */
import type { Item } from './draft.ts'
import { bareWikilink } from './lenient.ts'

export interface Region {
  /** `source` or `sources`; `null` for any other top-level key. */
  readonly key: string | null
  readonly start: number
  readonly end: number
  /** First character of the value that is no blank, line end or comment. */
  readonly valueStart: number
  readonly form: 'list' | 'flow' | 'other'
  /** Behind the line of `valueStart` there are only blank lines and comments. */
  readonly isOneLine: boolean
}

export interface Chunk {
  /** Of the line. */
  readonly start: number
  readonly end: number
  /** Behind the dash; `null` for lines that belong to no item. */
  readonly contentStart: number | null
  readonly isOneLine: boolean
}

const keyLine = /^(?:"(sources?)"|'(sources?)'|(sources?))[ \t]*:(?=[ \t\r\n]|$)/

/** The lines of each top-level key: up to the next line that begins with a character of another key. */
export function keyRegions(text: string, start: number, end: number): Region[] {
  const regions: Region[] = []
  let open: { key: string | null; start: number; colon: number } | null = null
  const close = (at: number): void => {
    if (open === null) return
    const valueStart = skipToContent(text, open.colon, at)
    const first = text[valueStart]
    regions.push({
      key: open.key,
      start: open.start,
      end: at,
      valueStart,
      form:
        valueStart >= at ? 'other' : first === '-' && isBreak(text[valueStart + 1]) ? 'list' : first === '[' ? 'flow' : 'other',
      isOneLine: skipToContent(text, lineEnd(text, valueStart, at), at) >= at,
    })
    open = null
  }
  for (const line of linesOf(text, start, end)) {
    const first = text[line.start]
    const continues = line.end === line.start || first === undefined || ' \t#-]}\r\n'.includes(first)
    if (continues) continue
    close(line.start)
    const key = keyLine.exec(text.slice(line.start, Math.min(line.end, line.start + 200)))
    open =
      key === null
        ? { key: null, start: line.start, colon: line.start }
        : { key: (key[1] ?? key[2] ?? key[3])!, start: line.start, colon: line.start + key[0].length }
  }
  close(end)
  return regions
}

/** A block list cut at the lines whose dash stands where the first one does. */
export function itemChunks(text: string, valueStart: number, end: number): Chunk[] {
  const starts: { start: number; contentStart: number | null }[] = []
  let first = valueStart
  while (first > 0 && text[first - 1] !== '\n' && text[first - 1] !== '\r') first--
  const indent = valueStart - first
  for (const line of linesOf(text, first, end)) {
    const source = text.slice(line.start, line.end)
    const at = source.search(/[^ \t]/)
    if (at === -1 || source[at] === '#') continue
    const isItem = at === indent && source[at] === '-' && isBreak(source[at + 1])
    if (isItem) starts.push({ start: line.start, contentStart: skipBlanks(text, line.start + at + 1, line.end) })
    else if (at <= indent) starts.push({ start: line.start, contentStart: null })
  }
  return starts.map(({ start, contentStart }, index) => {
    const chunkEnd = starts[index + 1]?.start ?? end
    return {
      start,
      end: chunkEnd,
      contentStart,
      isOneLine: skipToContent(text, lineEnd(text, contentStart ?? start, chunkEnd), chunkEnd) >= chunkEnd,
    }
  })
}

/** Bare wikilinks that are whole items of a flow list, by their offsets, in rising order. */
export function flowWikilinks(text: string, start: number, end: number): Map<number, Item> {
  const found = new Map<number, Item>()
  /** An item may begin here. */
  let expects = false
  for (let i = start; i < end; i++) {
    const char = text[i]!
    if (expects && char === '[') {
      const item = bareWikilink(text, i, end, true)
      if (item !== null) {
        found.set(i, item)
        i = item.end - 1
        expects = false
        continue
      }
    }
    if (char === '[' || char === ',') expects = true
    else if (expects && (char === '"' || char === "'")) {
      const close = text.indexOf(char, i + 1)
      i = close === -1 || close >= end ? end : close
      expects = false
    } else if (!isBreak(char)) expects = false
  }
  return found
}

function* linesOf(text: string, start: number, end: number): Generator<{ start: number; end: number }> {
  let at = start
  while (at < end) {
    const eol = lineEnd(text, at, end)
    yield { start: at, end: eol }
    at = eol + (text[eol] === '\r' && text[eol + 1] === '\n' ? 2 : 1)
  }
}

function lineEnd(text: string, from: number, end: number): number {
  let at = from
  while (at < end && text[at] !== '\n' && text[at] !== '\r') at++
  return at
}

function skipBlanks(text: string, from: number, end: number): number {
  let at = from
  while (at < end && (text[at] === ' ' || text[at] === '\t')) at++
  return at
}

/** Over blanks, line ends and comments. */
function skipToContent(text: string, from: number, end: number): number {
  let at = from
  while (at < end) {
    if (isBreak(text[at])) at++
    else if (text[at] === '#') at = lineEnd(text, at, end)
    else break
  }
  return at
}

function isBreak(char: string | undefined): boolean {
  return char === undefined || char === ' ' || char === '\t' || char === '\n' || char === '\r'
}
