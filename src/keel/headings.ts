/**
 * Finding a heading by the words of an anchor. The ways are a table of tiers, tried in order; the first
 * that answers wins, and its name tells how near the words were.
 */
import type { Heading } from '../text/markdown.ts'
import type { AnchorMatch } from './types.ts'

interface Tier {
  readonly match: AnchorMatch
  /** What the heading is called in this tier. */
  readonly keysOf: (heading: Heading) => readonly (string | null)[]
  /** What the anchor is called in this tier. */
  readonly keyOf: (anchor: string) => string
}

export interface FoundHeading {
  readonly heading: Heading
  readonly match: AnchorMatch
  /** All headings of that name, in the order of `Name`, `Name (2)`, …; the found one is among them. Worked out when asked for. */
  namesakes(): readonly Namesake[]
}

interface Namesake {
  readonly heading: Heading
  readonly anchor: string
}

/** The headings of one document, or of one section of it, looked up by anchor. */
export interface HeadingIndex {
  /** `undefined`: no tier answers. */
  find(anchor: string): FoundHeading | undefined
}

/** Names that may repeat: the bare name is the first, `Name (n)` the n-th. */
const nameTiers: readonly Tier[] = [
  { match: 'exact', keysOf: heading => [heading.raw, heading.text], keyOf: asIs },
  { match: 'plain', keysOf: heading => [heading.plain, heading.legacy], keyOf: asIs },
  { match: 'unicode', keysOf: heading => [nfc(heading.raw), nfc(heading.text)], keyOf: nfc },
  { match: 'unicode', keysOf: heading => [nfc(heading.plain), nfc(heading.legacy)], keyOf: nfc },
]

/** Names that answer only when they are the only one. */
const uniqueTiers: readonly Tier[] = [
  { match: 'slug', keysOf: heading => [heading.slug], keyOf: asIs },
  { match: 'id', keysOf: heading => [heading.id], keyOf: asIs },
  { match: 'folded', keysOf: heading => [fold(heading.text), fold(heading.plain)], keyOf: fold },
]

/** Anchors with more `#` or characters than this are not read as nested ones. */
const maxNesting = 16
const maxNestedChars = 4096

/** @param headings - top-level headings in file order. */
export function createHeadingIndex(headings: readonly Heading[]): HeadingIndex {
  const flat = createFlatIndex(headings)
  const inside = new Map<Heading, FlatIndex>()
  const answers = new Map<string, FoundHeading | undefined>()

  function find(anchor: string): FoundHeading | undefined {
    if (answers.has(anchor)) return answers.get(anchor)
    const found = flat.find(anchor) ?? findNested(anchor)
    answers.set(anchor, found)
    return found
  }

  function findNested(anchor: string): FoundHeading | undefined {
    if (anchor.length > maxNestedChars) return undefined
    const splits = [...anchor.matchAll(/#/gu)].map(match => match.index)
    if (splits.length > maxNesting) return undefined
    for (const at of splits.reverse()) {
      const outer = find(anchor.slice(0, at))
      if (outer === undefined) continue
      const inner = sectionOf(outer.heading).find(anchor.slice(at + 1))
      if (inner === undefined) continue
      const prefix = anchor.slice(0, at + 1)
      const namesakes = () => inner.namesakes().map(one => ({ ...one, anchor: prefix + one.anchor }))
      return { heading: inner.heading, match: 'nested', namesakes }
    }
    return undefined
  }

  function sectionOf(outer: Heading): FlatIndex {
    const known = inside.get(outer)
    if (known !== undefined) return known
    const { start, end } = outer.section
    const index = createFlatIndex(headings.filter(one => one.section.start > start && one.section.start < end))
    inside.set(outer, index)
    return index
  }

  return { find }
}

type FlatIndex = HeadingIndex

function createFlatIndex(headings: readonly Heading[]): FlatIndex {
  const named = headings.filter(heading => heading.raw !== '')
  // Documents stamped long ago knew second and third level headings only; their bare names stay theirs.
  const isOld = (heading: Heading) => heading.level === 2 || heading.level === 3
  const ordered = [...named.filter(isOld), ...named.filter(heading => !isOld(heading))]
  const maps = new Map<Tier, ReadonlyMap<string, readonly Heading[]>>()

  function hits(tier: Tier, anchor: string): readonly Heading[] {
    const map = maps.get(tier) ?? groupByKey(ordered, tier)
    maps.set(tier, map)
    const key = tier.keyOf(anchor)
    return key === '' ? [] : (map.get(key) ?? [])
  }

  function byName(name: string): { match: AnchorMatch; group: readonly Heading[] } | undefined {
    for (const tier of nameTiers) {
      const group = hits(tier, name)
      if (group.length > 0) return { match: tier.match, group }
    }
    return undefined
  }

  function locate(anchor: string): Located | undefined {
    const bare = byName(anchor)
    if (bare !== undefined) return { heading: bare.group[0]!, match: bare.match, name: anchor, group: bare.group }
    return byOrdinal(anchor) ?? byUniqueKey(anchor)
  }

  function byOrdinal(anchor: string): Located | undefined {
    const match = /^(.+) \(([1-9]\d{0,8})\)$/su.exec(anchor)
    if (match === null || match[2] === '1') return undefined
    const name = match[1]!
    const group = byName(name)?.group
    const heading = group?.[Number(match[2]) - 1]
    return group === undefined || heading === undefined ? undefined : { heading, match: 'ordinal', name, group }
  }

  function byUniqueKey(anchor: string): Located | undefined {
    for (const tier of uniqueTiers) {
      const group = hits(tier, anchor)
      const heading = group[0]
      if (heading === undefined || group.length > 1) continue
      return { heading, match: tier.match, name: heading.text, group: byName(heading.text)?.group ?? [heading] }
    }
    return undefined
  }

  const numberedNames = new Map<string, readonly Namesake[]>()

  function numbered({ name, group }: Located): readonly Namesake[] {
    const known = numberedNames.get(name)
    if (known !== undefined) return known
    const names = group.flatMap((heading, n) => {
      const anchor = n === 0 ? name : `${name} (${n + 1})`
      // Where another heading is called `Name (2)`, the slug is left, if nothing else is called that.
      const telling = [anchor, heading.slug].find(one => one !== '' && locate(one)?.heading === heading)
      return telling === undefined ? [] : [{ heading, anchor: telling }]
    })
    numberedNames.set(name, names)
    return names
  }

  return {
    find(anchor) {
      const located = locate(anchor)
      if (located === undefined) return undefined
      return { heading: located.heading, match: located.match, namesakes: () => numbered(located) }
    },
  }
}

interface Located {
  readonly heading: Heading
  readonly match: AnchorMatch
  /** The name whose n-th bearer this is, and all its bearers in order. */
  readonly name: string
  readonly group: readonly Heading[]
}

function groupByKey(headings: readonly Heading[], tier: Tier): ReadonlyMap<string, readonly Heading[]> {
  const map = new Map<string, Heading[]>()
  for (const heading of headings) {
    for (const key of new Set(tier.keysOf(heading))) {
      if (key === null || key === '') continue
      const group = map.get(key)
      if (group === undefined) map.set(key, [heading])
      else group.push(heading)
    }
  }
  return map
}

function asIs(text: string): string {
  return text
}

function nfc(text: string): string {
  return text.normalize('NFC')
}

/** Lower case, letters, marks, numbers, connectors and `-` only, single blanks. */
function fold(text: string): string {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\s-]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
}
