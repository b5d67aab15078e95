/**
 * Sources of a whole document: the items of the top-level keys `source` and `sources` of its
 * frontmatter. YAML is read by a YAML parser; what cannot be an entry is one problem with its place,
 * never a guess.
 *
 * A block that YAML refuses is read key by key, and a refused list item by item, so that a fault
 * hides nothing but itself.
 */
import type { FrontmatterFence } from '../text/frontmatter-fence.ts'
import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  parseYaml,
  Scalar,
  type YAMLMap,
  type YAMLSeq,
  type Yaml,
} from '../text/yaml.ts'
import { type Draft, type DraftProblem, emptyRef, type Item, literalItem } from './draft.ts'
import { readEntry } from './entry.ts'
import { bareWikilink, pathWithColon, sliceEnd } from './lenient.ts'
import { type Chunk, flowWikilinks, itemChunks, keyRegions, type Region } from './regions.ts'
import { readSimple } from './simple-frontmatter.ts'

export function readFrontmatter(text: string, fence: FrontmatterFence): Draft {
  const reader = new FrontmatterReader(text)
  reader.readBlock(fence.innerStart, fence.innerEnd)
  return reader
}

/** UTF-16 units. YAML costs a microsecond and more a character, and what is longer was not written by hand. */
const largestFrontmatter = 1_000_000
/** Items of a refused list that are tried together. */
const chunksAtOnce = 64
/** Problems of one document after which a refused list is given up, so that hostile lists cost no minutes. */
const mostRefused = 1000

const keySources = new Map([
  ['source', 'source'],
  ['sources', 'sources'],
  ['"source"', 'source'],
  ['"sources"', 'sources'],
  ["'source'", 'source'],
  ["'sources'", 'sources'],
])

/** A node and the part of the text that its offsets count in. */
interface Part {
  readonly node: Node
  readonly base: number
  readonly limit: number
}

class FrontmatterReader implements Draft {
  readonly items: Item[] = []
  readonly problems: DraftProblem[] = []
  readonly #text: string
  readonly #seenKeys = new Set<string>()
  /** Of what is parsed now: where it begins and ends in the text. */
  #base = 0
  #limit = 0
  #yaml: Yaml = { root: null, fault: null, resolve: () => null, anchored: () => [] }
  /** Bare wikilinks that were hidden from YAML, by their offset in the text. */
  #hidden: ReadonlyMap<number, Item> = new Map()
  /** Of a block that YAML refused as a whole. */
  #regions: readonly Region[] = []
  /** Anchors of all its parts, collected when an alias leads out of its own. */
  #elsewhere: Map<string, Part[]> | null = null

  constructor(text: string) {
    this.#text = text
  }

  readBlock(start: number, end: number): void {
    if (end - start > largestFrontmatter) {
      this.#refuse(start, 'frontmatter longer than a million characters is not read')
      return
    }
    const simple = readSimple(this.#text, start, end)
    if (simple !== null) for (const item of simple) this.items.push(item)
    else if (this.#parse(start, end)) this.#readKeys()
    else {
      this.#regions = keyRegions(this.#text, start, end)
      for (const region of this.#regions) if (region.key !== null) this.#readRegion(region, region.key)
    }
  }

  /** @returns whether YAML took all of it. */
  #parse(start: number, end: number, source?: string): boolean {
    this.#base = start
    this.#limit = end
    this.#yaml = parseYaml(source ?? this.#text.slice(start, end))
    return this.#yaml.fault === null
  }

  #readKeys(): void {
    if (!isMap(this.#yaml.root)) return
    for (const pair of this.#yaml.root.items) {
      const key = pair.key
      if (!isScalar(key) || key.range == null) continue
      const name = keySources.get(this.#text.slice(this.#base + key.range[0], this.#base + key.range[1]))
      if (name === undefined) continue
      this.#seeKey(name, this.#base + key.range[0])
      this.#readValue(pair.value as Node | null)
    }
  }

  #seeKey(name: string, at: number): void {
    if (this.#seenKeys.has(name)) {
      this.problems.push({ code: 'KEEL_DUPLICATE_KEY', at, message: `the key ${name} stands here a second time` })
    }
    this.#seenKeys.add(name)
  }

  #readRegion(region: Region, key: string): void {
    if (this.#parse(region.start, region.end)) {
      this.#readKeys()
      return
    }
    const fault = this.#yaml.fault!
    this.#seeKey(key, region.start)
    const value = region.valueStart
    if (region.form === 'list') this.#readChunks(region)
    else if (region.form === 'flow') this.#readRefusedFlow(region)
    else this.#refuse(value, fault.message)
  }

  #readChunks(region: Region): void {
    let run: Chunk[] = []
    for (const chunk of itemChunks(this.#text, region.valueStart, region.end)) {
      const link = chunk.contentStart === null ? null : bareWikilink(this.#text, chunk.contentStart, chunk.end, false)
      const isWhole = link !== null && chunk.isOneLine
      if (chunk.contentStart !== null && !isWhole) run.push(chunk)
      if (isWhole || chunk.contentStart === null || run.length === chunksAtOnce) {
        this.#readRun(run)
        run = []
      }
      if (isWhole) this.items.push(link)
      else if (chunk.contentStart === null) this.#refuse(chunk.start, 'this is neither an item of the list nor a key')
      if (this.problems.length > mostRefused) {
        this.#refuse(chunk.start, 'the list has too many faults to be read on')
        return
      }
    }
    this.#readRun(run)
  }

  /** Items that stand one behind the other: all at once when YAML takes them, else by halves. */
  #readRun(run: readonly Chunk[]): void {
    const [first, last] = [run[0], run.at(-1)]
    if (first === undefined || last === undefined) return
    if (this.#parse(first.start, last.end) && isSeq(this.#yaml.root) && this.#yaml.root.items.length === run.length) {
      for (const item of this.#yaml.root.items) this.#readItem(item as Node | null, false)
    } else if (run.length === 1) {
      this.#refuse(first.contentStart!, this.#yaml.fault?.message ?? 'this is no single item')
    } else {
      const half = run.length >> 1
      this.#readRun(run.slice(0, half))
      this.#readRun(run.slice(half))
    }
  }

  /** A value that begins with `[`: one bare wikilink, or a list with bare wikilinks in it. */
  #readRefusedFlow(region: Region): void {
    const message = this.#yaml.fault!.message
    const link = bareWikilink(this.#text, region.valueStart, region.end, false)
    if (link !== null && region.isOneLine) {
      this.items.push(link)
      return
    }
    const hidden = flowWikilinks(this.#text, region.valueStart, region.end)
    if (hidden.size === 0) {
      this.#refuse(region.valueStart, message)
      return
    }
    let masked = ''
    let from = region.start
    for (const [at, item] of hidden) {
      masked += this.#text.slice(from, at) + 'x'.repeat(item.end - at)
      from = item.end
    }
    masked += this.#text.slice(from, region.end)
    if (!this.#parse(region.start, region.end, masked)) {
      this.#refuse(region.valueStart, message)
      return
    }
    this.#hidden = hidden
    if (isMap(this.#yaml.root)) this.#readValue(this.#yaml.root.items[0]?.value as Node | null)
    this.#hidden = new Map()
  }

  #readValue(value: Node | null): void {
    if (isAlias(value)) {
      this.#follow(value, node => this.#readValue(node))
      return
    }
    const node = value
    if (node == null) return
    if (isScalar(node)) this.#readScalar(node, false)
    else if (isSeq(node)) this.#readList(node)
    else this.#refuseNode(node, 'a map is no source')
  }

  #readList(list: YAMLSeq): void {
    const start = this.#base + list.range![0]
    const isFlow = this.#text[start] === '['
    const link = isFlow ? bareWikilink(this.#text, start, this.#limit, false) : null
    if (link !== null) this.items.push(link)
    else for (const item of list.items) this.#readItem(item as Node | null, isFlow)
  }

  #readItem(item: Node | null, inFlow: boolean): void {
    if (isAlias(item)) {
      this.#follow(item, node => this.#readItem(node, inFlow))
      return
    }
    const node = item
    if (node == null || node.range == null) return
    if (isScalar(node)) {
      this.#readScalar(node, inFlow)
      return
    }
    const start = this.#base + node.range[0]
    const lenient = isSeq(node)
      ? bareWikilink(this.#text, start, this.#limit, inFlow)
      : isMap(node) && this.#isPathWithColon(node, inFlow)
        ? pathWithColon(this.#text, start, this.#limit, inFlow)
        : null
    if (lenient !== null) this.items.push(lenient)
    else this.#refuseNode(node, isSeq(node) ? 'a list in a list is no source' : 'a map is no source')
  }

  /** One pair of unquoted text, all on one line: a value of another kind could not be followed by a stamp. */
  #isPathWithColon(map: YAMLMap, inFlow: boolean): boolean {
    const pair = map.items.length === 1 ? map.items[0] : undefined
    if (!isScalar(pair?.key) || !isScalar(pair.value) || pair.key.range == null || pair.value.range == null) return false
    const start = this.#base + map.range![0]
    return (
      pair.key.type === Scalar.PLAIN &&
      pair.value.type === Scalar.PLAIN &&
      pair.key.range[0] === map.range![0] &&
      pair.value.range[1] > pair.value.range[0] &&
      pair.value.tag === undefined &&
      pair.value.anchor === undefined &&
      this.#base + pair.value.range[1] <= sliceEnd(this.#text, start, this.#limit, inFlow)
    )
  }

  #readScalar(scalar: Scalar, inFlow: boolean): void {
    const start = this.#base + scalar.range![0]
    const end = this.#base + scalar.range![1]
    const hidden = this.#hidden.get(start)
    if (hidden !== undefined) this.items.push(hidden)
    else if (scalar.type === Scalar.PLAIN) this.#readPlain(scalar, start, end, inFlow)
    else if (scalar.type === Scalar.QUOTE_SINGLE || scalar.type === Scalar.QUOTE_DOUBLE) this.#readQuoted(scalar, start, end)
    else if (scalar.type === Scalar.BLOCK_FOLDED || scalar.type === Scalar.BLOCK_LITERAL) {
      this.#refuse(start, 'a block of text is no source')
    }
  }

  #readPlain(scalar: Scalar, start: number, end: number, inFlow: boolean): void {
    if (end === start || scalar.value === null) return
    const source = this.#text.slice(start, end)
    const mayGoOn = !inFlow && !/[\r\n]/.test(source) && /^[ \t]+#/.test(this.#text.slice(end, end + 200))
    const sliced = mayGoOn ? sliceEnd(this.#text, start, this.#limit, false) : end
    const isLonger = sliced > end
    const raw = isLonger ? this.#text.slice(start, sliced) : (scalar.source ?? source)
    const read = readEntry(raw)
    if (read === null) this.problems.push(emptyRef(start))
    else if (isLonger) this.items.push(literalItem(read, 'lenient', start))
    else this.#place(scalar, read, raw, start, end, start, end)
  }

  #readQuoted(scalar: Scalar, start: number, end: number): void {
    const raw = String(scalar.source ?? scalar.value)
    if (raw.trim() === '') return
    const read = readEntry(raw)
    if (read === null) this.problems.push(emptyRef(start))
    else this.#place(scalar, read, raw, start, end, start + 1, end - 1)
  }

  /** Find the stamp in the source of a scalar, which may be folded over lines and hold escapes. */
  #place(
    scalar: Scalar,
    read: NonNullable<ReturnType<typeof readEntry>>,
    raw: string,
    start: number,
    end: number,
    from: number,
    to: number,
  ): void {
    const style = scalar.type === Scalar.PLAIN ? 'plain' : scalar.type === Scalar.QUOTE_SINGLE ? 'single' : 'double'
    const source = this.#text.slice(from, to)
    if (source === raw) {
      this.items.push({ ...literalItem(read, style, from), start, end })
      return
    }
    const tail = from + source.replace(/[ \t\r\n]+$/, '').length
    const stamp = raw.slice(read.stampStart, read.stampEnd)
    const stampStart = matchBackwards(this.#text, from, tail, stamp)
    if (stampStart === -1) this.#refuse(start, 'write the stamp without escapes')
    else this.items.push({ read, style, start, end, stampStart, stampEnd: tail, stampAt: stamp === '' ? tail : stampStart })
  }

  /** Read what an alias stands for where it stands, which may be another part of a refused block. */
  #follow(alias: Alias, read: (node: Node) => void): void {
    const node = this.#yaml.resolve(alias)
    const at = this.#base + (alias.range?.[0] ?? 0)
    const part = node === null ? this.#anchorBefore(alias.source, at) : { node, base: this.#base, limit: this.#limit }
    if (part === null) {
      this.#refuse(at, 'nothing here has the name of this alias')
      return
    }
    const [base, limit] = [this.#base, this.#limit]
    this.#base = part.base
    this.#limit = part.limit
    read(part.node)
    this.#base = base
    this.#limit = limit
  }

  #anchorBefore(name: string, at: number): Part | null {
    this.#elsewhere ??= this.#collectAnchors()
    const parts = this.#elsewhere.get(name) ?? []
    let low = 0
    let high = parts.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (parts[middle]!.base + parts[middle]!.node.range![0] < at) low = middle + 1
      else high = middle
    }
    return parts[low - 1] ?? null
  }

  #collectAnchors(): Map<string, Part[]> {
    const anchors = new Map<string, Part[]>()
    /** @returns whether YAML took the part. */
    const collect = (start: number, end: number): boolean => {
      const yaml = parseYaml(this.#text.slice(start, end))
      if (yaml.fault !== null) return false
      for (const { name, node } of yaml.anchored()) {
        if (node.range == null) continue
        const known = anchors.get(name)
        const part = { node, base: start, limit: end }
        if (known === undefined) anchors.set(name, [part])
        else known.push(part)
      }
      return true
    }
    for (const region of this.#regions) {
      if (collect(region.start, region.end) || region.form !== 'list') continue
      const chunks = itemChunks(this.#text, region.valueStart, region.end)
      for (const chunk of chunks.slice(0, mostRefused)) {
        if (this.#text.slice(chunk.start, chunk.end).includes('&')) collect(chunk.start, chunk.end)
      }
    }
    return anchors
  }

  #refuseNode(node: Node, message: string): void {
    this.#refuse(this.#base + (node.range?.[0] ?? 0), message)
  }

  #refuse(at: number, message: string): void {
    this.problems.push({ code: 'KEEL_YAML_ITEM', at, message })
  }
}

/** Where `wanted` begins when it is what the source ends with at `end`; a blank of it is any run of blanks. */
function matchBackwards(text: string, from: number, end: number, wanted: string): number {
  let at = end
  for (let i = wanted.length - 1; i >= 0; i--) {
    if (wanted[i] === ' ' || wanted[i] === '\n') {
      if (!isBlank(text[at - 1])) return -1
      while (at > from && isBlank(text[at - 1])) at--
      while (i > 0 && (wanted[i - 1] === ' ' || wanted[i - 1] === '\n')) i--
    } else if (at > from && text[at - 1] === wanted[i]) at--
    else return -1
  }
  return at
}

function isBlank(char: string | undefined): boolean {
  return char === ' ' || char === '\t' || char === '\n' || char === '\r'
}
