/**
 * The outline of a Markdown document: its top-level headings with every name they can be called by, and
 * the section each begins. Headings in quotes, list items, code, HTML blocks and frontmatter are none.
 */
import { findFrontmatter } from './frontmatter-fence.ts'
import { type Block, blocks } from './markdown-blocks.ts'
import { isPunctuation } from './markdown-definitions.ts'
import { plainTexts } from './markdown-plain.ts'
import { createOffsets, decodeUtf8, type Offsets } from './utf8.ts'

export { type Block, type BlockKind, blocks } from './markdown-blocks.ts'
export type { HtmlKind } from './markdown-html.ts'
export { codeSpans } from './markdown-spans.ts'

/** Bytes, end exclusive. */
export interface ByteSpan {
  readonly start: number
  readonly end: number
}

export interface Heading {
  /** 1 to 6. */
  readonly level: number
  /** Of its first line, from 1. */
  readonly line: number
  /** Of its last line: the underline of a setext heading. */
  readonly lastLine: number
  /** The heading's own lines, line ends included. */
  readonly span: ByteSpan
  /** From the heading's first byte to the next top-level heading of its level or a higher one, or the end. */
  readonly section: ByteSpan
  /** Inline source: without opening and closing `#` runs; lines of a setext heading joined by one blank. Empty: ends sections, has no name. */
  readonly raw: string
  /** `raw` with backslash escapes undone; what people are shown. */
  readonly text: string
  /** Text content of the inlines. Worked out for all headings at the first question. */
  readonly plain: string
  /** `raw` with the closing `#` run. */
  readonly legacy: string
  /** Of a final `{#id}`. */
  readonly id: string | null
  /** Of `plain`, made distinct in the document by `-1`, `-2` … Needs `plain`. */
  readonly slug: string
}

export interface Outline {
  /** In file order. */
  readonly headings: readonly Heading[]
  /** The whole block with its fences; `null` without one. */
  readonly frontmatter: ByteSpan | null
  /** First byte behind BOM and frontmatter. */
  readonly bodyStart: number
}

/** `null`: the bytes are not valid UTF-8. */
export function outlineMarkdown(source: Uint8Array): Outline | null
export function outlineMarkdown(source: string): Outline
export function outlineMarkdown(source: string | Uint8Array): Outline | null {
  const text = typeof source === 'string' ? source : decodeUtf8(source)
  return text === null ? null : outlineText(text)
}

function outlineText(text: string): Outline {
  const offsets = createOffsets(text)
  const fence = findFrontmatter(text)
  const bodyStart = fence?.end ?? (text.charCodeAt(0) === 0xfeff ? 1 : 0)
  const list = blocks(text, bodyStart)
  return {
    headings: headingsIn(text, list, offsets),
    frontmatter: fence === null ? null : { start: offsets.toByte(fence.start), end: offsets.toByte(fence.end) },
    bodyStart: offsets.toByte(bodyStart),
  }
}

/** Headings of an outline from blocks that are known already. */
export function headingsIn(text: string, list: readonly Block[], offsets: Offsets): Heading[] {
  const tops = list.filter(block => block.kind === 'heading' && block.depth === 0)
  const ends = sectionEnds(tops, text.length)
  const raws = tops.map(block => rawOf(text, block))
  const names = new Names(text, list, raws)
  return tops.map((block, index) => new BlockHeading(text, block, ends[index]!, index, names, offsets))
}

/** Names that only some readers ask for, worked out once for all headings. */
class Names {
  readonly #text: string
  readonly #list: readonly Block[]
  readonly raws: readonly string[]
  #plains: readonly string[] | null = null
  #slugs: readonly string[] | null = null

  constructor(text: string, list: readonly Block[], raws: readonly string[]) {
    this.#text = text
    this.#list = list
    this.raws = raws
  }

  get plains(): readonly string[] {
    this.#plains ??= plainTexts(this.#text, this.#list, this.raws)
    return this.#plains
  }

  get slugs(): readonly string[] {
    this.#slugs ??= distinctSlugs(this.plains)
    return this.#slugs
  }
}

/** Names are getters of a class, not of each object: documents of a hundred thousand headings exist. */
class BlockHeading implements Heading {
  readonly level: number
  readonly line: number
  readonly lastLine: number
  readonly span: ByteSpan
  readonly section: ByteSpan
  readonly #text: string
  readonly #block: Block
  readonly #index: number
  readonly #names: Names

  constructor(text: string, block: Block, sectionEnd: number, index: number, names: Names, offsets: Offsets) {
    const start = offsets.toByte(block.start)
    this.level = block.level!
    this.line = offsets.placeOf(block.start).line
    this.lastLine = block.setext === true ? this.line + block.lines!.length / 2 : this.line
    this.span = { start, end: offsets.toByte(block.end) }
    this.section = { start, end: offsets.toByte(sectionEnd) }
    this.#text = text
    this.#block = block
    this.#index = index
    this.#names = names
  }

  get raw(): string {
    return this.#names.raws[this.#index]!
  }

  get text(): string {
    return unescapePunctuation(this.raw)
  }

  get plain(): string {
    return this.#names.plains[this.#index]!
  }

  get legacy(): string {
    const block = this.#block
    return block.setext === true ? this.raw : this.#text.slice(block.lines![0], block.lines![1])
  }

  get id(): string | null {
    return /\{#([^\s{}]+)\}$/.exec(this.raw)?.[1] ?? null
  }

  get slug(): string {
    return this.#names.slugs[this.#index]!
  }
}

/** Where the section of each top-level heading ends. */
export function sectionEnds(tops: readonly Block[], textEnd: number): number[] {
  const ends = tops.map(() => textEnd)
  const open: number[] = []
  tops.forEach((block, index) => {
    while (open.length > 0 && tops[open.at(-1)!]!.level! >= block.level!) ends[open.pop()!] = block.start
    open.push(index)
  })
  return ends
}

function rawOf(text: string, block: Block): string {
  const lines = block.lines!
  if (block.setext !== true) return withoutClosingRun(text.slice(lines[0], lines[1]))
  const parts: string[] = []
  for (let i = 0; i < lines.length; i += 2) parts.push(trimBlanks(text.slice(lines[i], lines[i + 1])))
  return parts.join(' ')
}

/** A run of `#` at the end closes the heading when it is all there is or a blank stands before it. */
function withoutClosingRun(content: string): string {
  let end = content.length
  while (end > 0 && content[end - 1] === '#') end--
  if (end === 0) return ''
  const before = content[end - 1]
  return before === ' ' || before === '\t' ? trimBlanks(content.slice(0, end)) : content
}

function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && (text[start] === ' ' || text[start] === '\t')) start++
  while (end > start && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--
  return text.slice(start, end)
}

function unescapePunctuation(raw: string): string {
  return raw.replace(/\\([\x21-\x7e])/g, (whole, char: string) => (isPunctuation(char.charCodeAt(0)) ? char : whole))
}

/** Lower case, only letters, marks, numbers, connectors, `-`, and each blank as `-`. Not made distinct. */
export function slugOf(plain: string): string {
  return plain
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} \t-]/gu, '')
    .replace(/[ \t]/g, '-')
}

function distinctSlugs(plains: readonly string[]): string[] {
  const taken = new Set<string>()
  const repeats = new Map<string, number>()
  return plains.map(plain => {
    const base = slugOf(plain)
    let slug = base
    let count = repeats.get(base) ?? 0
    while (taken.has(slug)) slug = `${base}-${++count}`
    repeats.set(base, count)
    taken.add(slug)
    return slug
  })
}
