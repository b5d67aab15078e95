/**
 * Block structure of CommonMark 0.31.2 as one flat list, by one pass over the lines. Inlines are not
 * read, and nothing is built but the list, which is what makes it quick enough to sweep a project with.
 *
 * Each line is first matched against the open containers (quotes and list items), then against the open
 * leaf, then looked at for the start of something new; what is left is text of a paragraph. Columns
 * count tabs as stops of four, offsets are UTF-16 units of the text.
 *
 * No line costs more than its length plus the containers it opens and closes, so hostile nesting
 * stays linear: a blank line jumps over list items by the list of open quotes, and a failed rule
 * (`* * *`) is remembered for the rest of its line.
 */
import { countDefinitionLines } from './markdown-definitions.ts'
import { endsHtmlBlock, type HtmlKind, htmlBlockKind } from './markdown-html.ts'

export type BlockKind = 'heading' | 'paragraph' | 'definition' | 'code' | 'fence' | 'html' | 'rule' | 'quote' | 'item'

/** Listed in the order of their starts; a container comes before what it holds. */
export interface Block {
  readonly kind: BlockKind
  /** Start of its first line. */
  readonly start: number
  /** After its last line, the line end included. */
  readonly end: number
  /** Its first character, behind indentation and the marks of the containers around it. */
  readonly at: number
  /** Containers around it; 0 = top level. */
  readonly depth: number
  /** Headings: 1 to 6. */
  readonly level?: number
  /** Headings: underlined ones span all lines of their text and the underline. */
  readonly setext?: boolean
  readonly html?: HtmlKind
  /** Fences: the info string as written, trimmed. */
  readonly info?: string
  /** Headings and paragraphs: start and end of the text of each line, in turn. */
  readonly lines?: readonly number[]
}

type Open = { -readonly [K in keyof Block]: Block[K] }

interface Container {
  readonly block: Open
  readonly isQuote: boolean
  /** List items: columns that a line must be indented by to continue it. */
  indent: number
  /** Blocks in it so far; an item without any ends at its first blank line. */
  children: number
}

/**
 * @param from - where to begin, at the start of a line (behind frontmatter, for one).
 */
export function blocks(text: string, from = 0): Block[] {
  const out: Open[] = []
  const stack: Container[] = []
  /** Places in `stack` of the quotes. */
  const quotes: number[] = []
  let leaf: Open | null = null
  let fenceUnit = 0
  let fenceLength = 0

  const nextLineEnd = lineEnds(text)
  let lineStart = from
  let eol = from
  let after = from
  /** Columns before `column` are consumed by containers; `next` is the first non-blank of the rest. */
  let column = 0
  let next = from
  let nextColumn = 0
  let ruleUnit = 0
  let ruleFailsBefore = 0

  function findNext(offset: number, at: number): void {
    next = offset
    nextColumn = at
    for (; next < eol; next++) {
      const unit = text.charCodeAt(next)
      if (unit === 32) nextColumn++
      else if (unit === 9) nextColumn += 4 - (nextColumn % 4)
      else break
    }
  }

  function closeLeaf(): void {
    const closing = leaf
    leaf = null
    if (closing?.kind === 'paragraph') takeDefinitions(closing)
  }

  /** Turn the definitions at the start of a paragraph into a block of their own; the rest, if any, is returned. */
  function takeDefinitions(paragraph: Open): Open | null {
    const lines = paragraph.lines as number[]
    const holder = stack.at(-1)
    if (lines.length === 0) {
      out.pop() // Opened by an underline that followed nothing but definitions, and never filled.
      if (holder !== undefined) holder.children--
      return null
    }
    if (text.charCodeAt(lines[0]!) !== 91) return paragraph
    const content: string[] = []
    for (let i = 0; i < lines.length; i += 2) content.push(text.slice(lines[i], lines[i + 1]))
    const count = countDefinitionLines(content.join('\n'))
    if (count === 0) return paragraph
    const end = paragraph.end
    const rest = lines.splice(count * 2)
    paragraph.kind = 'definition'
    if (rest.length === 0) {
      if (holder !== undefined) holder.children--
      return null
    }
    paragraph.end = startOfLine(rest[0]!)
    const remaining: Open = { kind: 'paragraph', start: paragraph.end, end, at: rest[0]!, depth: paragraph.depth, lines: rest }
    out.push(remaining)
    return remaining
  }

  function startOfLine(offset: number): number {
    let start = offset
    while (start > from && text.charCodeAt(start - 1) !== 10 && text.charCodeAt(start - 1) !== 13) start--
    return start
  }

  function closeContainers(count: number): void {
    if (leaf !== null) closeLeaf()
    while (stack.length > count) {
      const closed = stack.pop()!
      closed.block.end = Math.max(closed.block.end, out.at(-1)!.end)
      if (closed.isQuote) quotes.pop()
    }
  }

  function open(kind: BlockKind): Open {
    const block: Open = { kind, start: lineStart, end: after, at: next, depth: stack.length }
    out.push(block)
    const holder = stack.at(-1)
    if (holder !== undefined) holder.children++
    return block
  }

  while (lineStart < text.length) {
    eol = nextLineEnd(lineStart)
    after = eol + (text.charCodeAt(eol) === 13 && text.charCodeAt(eol + 1) === 10 ? 2 : 1)
    if (after > text.length) after = text.length
    column = 0
    ruleFailsBefore = 0
    findNext(lineStart, 0)
    scanLine()
    lineStart = after
  }
  closeContainers(0)
  return out

  function scanLine(): void {
    let matched = 0
    let matchedQuotes = 0
    while (matched < stack.length) {
      const container = stack[matched]!
      if (container.isQuote) {
        if (next >= eol || nextColumn - column > 3 || text.charCodeAt(next) !== 62) break
        enterQuote()
        matchedQuotes++
        matched++
      } else if (next >= eol) {
        matched = quotes[matchedQuotes] ?? (stack.at(-1)!.children === 0 ? stack.length - 1 : stack.length)
        break
      } else if (nextColumn - column >= container.indent) {
        column += container.indent
        matched++
      } else break
    }

    const blank = next >= eol
    const allMatched = matched === stack.length
    if (leaf !== null && leaf.kind !== 'paragraph') {
      if (!allMatched) closeLeaf()
      else if (continueLeaf(leaf, blank)) return
    }
    if (blank) {
      closeContainers(matched)
      return
    }
    startBlocks(matched, allMatched)
  }

  function enterQuote(): void {
    column = nextColumn + 1
    findNext(next + 1, column)
    if (nextColumn > column) column++
  }

  /** Whether the line belongs to the open code, fence or HTML block. Ends the block where it does not. */
  function continueLeaf(open: Open, blank: boolean): boolean {
    if (open.kind === 'fence') {
      open.end = after
      if (nextColumn - column <= 3 && isClosingFence()) leaf = null
      return true
    }
    if (open.kind === 'html') {
      if (blank && open.html! >= 6) {
        leaf = null
        return false
      }
      open.end = after
      if (open.html! < 6 && endsHtmlBlock(open.html!, text.slice(next, eol))) leaf = null
      return true
    }
    if (blank) return true
    if (nextColumn - column >= 4) {
      open.end = after
      return true
    }
    leaf = null
    return false
  }

  function isClosingFence(): boolean {
    let i = next
    while (i < eol && text.charCodeAt(i) === fenceUnit) i++
    return i - next >= fenceLength && isBlank(i)
  }

  function isBlank(offset: number): boolean {
    let i = offset
    while (i < eol && (text.charCodeAt(i) === 32 || text.charCodeAt(i) === 9)) i++
    return i >= eol
  }

  function startBlocks(matchedContainers: number, allMatched: boolean): void {
    let matched = matchedContainers
    /** Whether the line directly continues the open paragraph; without this it may still do so lazily. */
    let inParagraph = leaf !== null && allMatched
    for (;;) {
      if (next >= eol) {
        closeContainers(matched)
        return
      }
      if (nextColumn - column >= 4) {
        if (leaf !== null) break
        closeContainers(matched)
        leaf = open('code')
        return
      }
      const unit = text.charCodeAt(next)
      if (unit === 62) {
        closeContainers(matched)
        push(true)
        enterQuote()
      } else if (unit === 35 && startHeading(matched)) return
      else if ((unit === 96 || unit === 126) && startFence(unit, matched)) return
      else if (unit === 60 && startHtml(matched)) return
      else if (inParagraph && (unit === 61 || unit === 45) && underline(unit)) return
      else if ((unit === 42 || unit === 45 || unit === 95) && startRule(unit, matched)) return
      else if (!startItem(unit, matched, inParagraph)) break
      matched = stack.length
      inParagraph = false
    }
    if (leaf !== null) {
      const paragraph: Open = leaf
      ;(paragraph.lines as number[]).push(next, eol)
      paragraph.end = after
      if (paragraph.lines!.length === 2) {
        paragraph.start = lineStart
        paragraph.at = next
      }
      return
    }
    closeContainers(matched)
    leaf = open('paragraph')
    leaf.lines = [next, eol]
  }

  function push(isQuote: boolean): Container {
    const container: Container = { block: open(isQuote ? 'quote' : 'item'), isQuote, indent: 0, children: 0 }
    if (isQuote) quotes.push(stack.length)
    stack.push(container)
    return container
  }

  function startHeading(matched: number): boolean {
    let i = next
    while (i < eol && text.charCodeAt(i) === 35) i++
    const level = i - next
    if (level > 6 || (i < eol && text.charCodeAt(i) !== 32 && text.charCodeAt(i) !== 9)) return false
    closeContainers(matched)
    const heading = open('heading')
    heading.level = level
    heading.setext = false
    heading.lines = trimmed(i, eol)
    return true
  }

  function startFence(unit: number, matched: number): boolean {
    let i = next
    while (i < eol && text.charCodeAt(i) === unit) i++
    if (i - next < 3) return false
    const info = text.slice(i, eol)
    if (unit === 96 && info.includes('`')) return false
    closeContainers(matched)
    fenceUnit = unit
    fenceLength = i - next
    leaf = open('fence')
    leaf.info = info.trim()
    return true
  }

  function startHtml(matched: number): boolean {
    const line = text.slice(next, eol)
    const kind = htmlBlockKind(line, leaf !== null)
    if (kind === null) return false
    closeContainers(matched)
    const block = open('html')
    block.html = kind
    if (!endsHtmlBlock(kind, line)) leaf = block
    return true
  }

  /** The open paragraph becomes a heading, unless it holds nothing but definitions. */
  function underline(unit: number): boolean {
    let i = next
    while (i < eol && text.charCodeAt(i) === unit) i++
    if (!isBlank(i)) return false
    const paragraph = leaf!
    if (paragraph.lines!.length === 0) return false
    const heading = takeDefinitions(paragraph)
    if (heading === null) {
      leaf = open('paragraph')
      leaf.lines = []
      return false
    }
    leaf = null
    heading.kind = 'heading'
    heading.level = unit === 61 ? 1 : 2
    heading.setext = true
    heading.end = after
    return true
  }

  function startRule(unit: number, matched: number): boolean {
    if (unit === ruleUnit && next < ruleFailsBefore) return false
    let marks = 0
    let i = next
    for (; i < eol; i++) {
      const other = text.charCodeAt(i)
      if (other === unit) marks++
      else if (other !== 32 && other !== 9) break
    }
    if (i < eol || marks < 3) {
      ruleUnit = unit
      ruleFailsBefore = i
      return false
    }
    closeContainers(matched)
    open('rule')
    return true
  }

  function startItem(unit: number, matched: number, inParagraph: boolean): boolean {
    let width = 1
    if (unit !== 42 && unit !== 43 && unit !== 45) {
      let digits = 0
      while (digits < 10 && isDigit(text.charCodeAt(next + digits))) digits++
      const delimiter = text.charCodeAt(next + digits)
      if (digits === 0 || digits > 9 || (delimiter !== 46 && delimiter !== 41)) return false
      if (inParagraph && Number(text.slice(next, next + digits)) !== 1) return false
      width = digits + 1
    }
    const end = next + width
    if (end < eol && text.charCodeAt(end) !== 32 && text.charCodeAt(end) !== 9) return false
    if (inParagraph && isBlank(end)) return false
    closeContainers(matched)
    const markerIndent = nextColumn - column
    const item = push(false)
    const markerEnd = nextColumn + width
    findNext(end, markerEnd)
    const gap = nextColumn - markerEnd
    const isEmpty = next >= eol
    const padding = isEmpty || gap > 4 ? 1 : gap
    column = markerEnd + (isEmpty && gap === 0 ? 0 : padding)
    item.indent = markerIndent + width + padding
    return true
  }

  function trimmed(fromOffset: number, toOffset: number): number[] {
    let start = fromOffset
    let end = toOffset
    while (start < end && (text.charCodeAt(start) === 32 || text.charCodeAt(start) === 9)) start++
    while (end > start && (text.charCodeAt(end - 1) === 32 || text.charCodeAt(end - 1) === 9)) end--
    return [start, end]
  }
}

function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57
}

/** Offset of the next CR or LF at or after an offset that only rises, or the length of the text. */
function lineEnds(text: string): (from: number) => number {
  let lf = -1
  let cr = -1
  const find = (char: string, from: number): number => {
    const hit = text.indexOf(char, from)
    return hit === -1 ? text.length : hit
  }
  return from => {
    if (lf < from) lf = find('\n', from)
    if (cr < from) cr = find('\r', from)
    return Math.min(lf, cr)
  }
}
