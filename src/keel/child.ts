/**
 * One document from its bytes to its declarations: entries with byte spans, problems with places. Every
 * way in (sweep, write event, command) calls this, so that all see the same edges.
 */
import { Buffer } from 'node:buffer'
import { findFrontmatter } from '../text/frontmatter-fence.ts'
import { type Block, blocks, headingsIn, sectionEnds } from '../text/markdown.ts'
import { createOffsets, decodeUtf8, type Offsets } from '../text/utf8.ts'
import { mayHaveComments, readComments } from './comments.ts'
import type { DraftProblem, Item } from './draft.ts'
import { scopeKey } from './edge-id.ts'
import { readFrontmatter } from './frontmatter.ts'
import { type Conflict, findConflict, type Side } from './merge.ts'
import type { Entry, EntryScope, EntryStamp, Hex12, ParsedChild, Problem, ProblemCode, Span } from './types.ts'

/** A larger document declares nothing. */
export const largestChildBytes: number = 8 * 1024 * 1024

const needle = Buffer.from('source')
const commentStart = Buffer.from('<!--')
const nothing: ParsedChild = { entries: [], problems: [], frontmatter: null, conflicted: false }

/** Whether the bytes hold the word that every declaration has; the only shortcut there is. */
export function mightDeclare(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(needle)
}

/** Whether there is anywhere to declare something: frontmatter, also on a side of a merge conflict, or a comment. */
function hasPlace(bytes: Uint8Array): boolean {
  const at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  const startsWith = (byte: number, times: number) => {
    for (let n = 0; n < times; n += 1) if (bytes[at + n] !== byte) return false
    return true
  }
  if (startsWith(0x2d, 3) || startsWith(0x3c, 7)) return true
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(commentStart)
}

/** Never throws: a document that cannot be read is a problem and no entries. */
export function parseChild(bytes: Uint8Array): ParsedChild {
  if (!mightDeclare(bytes) || !hasPlace(bytes)) return nothing
  if (bytes.length > largestChildBytes)
    return refused(bytes, 'KEEL_CHILD_TOO_LARGE', 'a document with sources may have 8 MiB at most')
  const text = decodeUtf8(bytes)
  if (text === null) return refused(bytes, 'KEEL_NOT_UTF8', 'a document with sources must be valid UTF-8')
  const conflict = findConflict(text)
  return conflict === null ? parseWhole(text) : parseSides(text, conflict)
}

/** The bytes an entry is about: its section, or all text behind the frontmatter. */
export function scopeSpan(bytes: Uint8Array, parsed: ParsedChild, scope: EntryScope): Span {
  if (scope.type === 'section') return scope.span
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  return { start: parsed.frontmatter?.end ?? bom, end: bytes.length }
}

export function scopeBytes(bytes: Uint8Array, parsed: ParsedChild, scope: EntryScope): Uint8Array {
  const span = scopeSpan(bytes, parsed, scope)
  return bytes.subarray(span.start, span.end)
}

/** An item with its scope; places are offsets of the text that was read. */
interface Placed extends Item {
  readonly scope: DraftScope
}

type DraftScope =
  | { readonly type: 'file' }
  | {
      readonly type: 'section'
      readonly heading: string
      readonly slug: string
      readonly level: number
      readonly start: number
      readonly end: number
    }

interface Declarations {
  readonly placed: readonly Placed[]
  readonly problems: readonly DraftProblem[]
  readonly frontmatter: { readonly start: number; readonly end: number } | null
}

/** An edge: one item of a section, or all file-level items that name the same thing. */
interface Group {
  readonly first: Placed
  /** The item whose stamp counts. */
  readonly bearer: Placed
  readonly others: readonly Placed[]
  readonly stamp: EntryStamp
  readonly ordinal: number
}

function parseWhole(text: string): ParsedChild {
  const { placed, problems, frontmatter } = declarations(text)
  if (placed.length === 0 && problems.length === 0) return nothing
  const offsets = createOffsets(text)
  const same = (index: number): number => index
  return {
    entries: groups(placed)
      .map(group => entryOf(group, offsets, same))
      .sort(byPlace),
    problems: problems.map(problem => problemOf(problem, offsets, same)).sort(byLine),
    frontmatter: frontmatter === null ? null : spanOf(frontmatter.start, frontmatter.end, offsets, same),
    conflicted: false,
  }
}

/** Both sides are read as if the other were not there; what they do not share is in conflict. */
function parseSides(text: string, conflict: Conflict): ParsedChild {
  const offsets = createOffsets(text)
  const read = (side: Side) => ({ side, ...declarations(side.text) })
  const sides = [read(conflict.ours), read(conflict.theirs)]
  const found = new Map<string, { entry: Entry; isInside: boolean }[]>()
  const problems = new Map<string, Problem>()
  for (const { side, ...one } of sides) {
    const toReal = (index: number): number => side.toReal(index)
    for (const group of groups(one.placed)) {
      const entry = entryOf(group, offsets, toReal)
      const isInside = [group.first, ...group.others].some(item => conflict.isInside(toReal(item.start), toReal(item.end)))
      const key = `${scopeKey(entry.scope)}\n${entry.text}\n${entry.ordinal}`
      const same = found.get(key)
      if (same === undefined) found.set(key, [{ entry, isInside }])
      else same.push({ entry, isInside })
    }
    for (const problem of one.problems) {
      const placed = problemOf(problem, offsets, toReal)
      problems.set(`${placed.code} ${placed.line} ${placed.column}`, placed)
    }
  }
  const entries = [...found.values()].map(same => {
    const isShared = same.length === 2 && same.every(one => !one.isInside)
    return isShared ? same[0]!.entry : inConflict(same.map(one => one.entry))
  })
  const fence = sides.find(side => side.frontmatter !== null)
  return {
    entries: entries.sort(byPlace),
    problems: [...problems.values()].sort(byLine),
    frontmatter:
      fence?.frontmatter == null
        ? null
        : spanOf(fence.frontmatter.start, fence.frontmatter.end, offsets, index => fence.side.toReal(index)),
    conflicted: true,
  }
}

function inConflict(entries: readonly Entry[]): Entry {
  const first = entries.reduce((a, b) => (b.span.start < a.span.start ? b : a))
  const values = new Set<Hex12>()
  for (const { stamp } of entries) {
    if (stamp.kind === 'hex') values.add(stamp.value)
    else if (stamp.kind === 'conflict') for (const value of stamp.values) values.add(value)
  }
  return { ...first, stamp: { kind: 'conflict', values: [...values] } }
}

function declarations(text: string): Declarations {
  const fence = findFrontmatter(text)
  const placed: Placed[] = []
  const problems: DraftProblem[] = []
  if (fence !== null && text.slice(fence.innerStart, fence.innerEnd).includes('source')) {
    const draft = readFrontmatter(text, fence)
    for (const item of draft.items) placed.push({ ...item, scope: { type: 'file' } })
    for (const problem of draft.problems) problems.push(problem)
  }
  if (mayHaveComments(text)) {
    const list = blocks(text, fence?.end ?? (text.charCodeAt(0) === 0xfeff ? 1 : 0))
    const draft = readComments(text, list)
    const scopeOf = sectionScopes(text, list)
    draft.items.forEach((item, index) => {
      placed.push({ ...item, scope: scopeOf(draft.headingOf[index]!) })
    })
    for (const problem of draft.problems) problems.push(problem)
  }
  return { placed, problems, frontmatter: fence }
}

/** Scopes by the place of their heading among the top-level ones; the outline is made at the first question. */
function sectionScopes(text: string, list: readonly Block[]): (heading: number) => DraftScope {
  let outline: { tops: readonly Block[]; ends: readonly number[]; headings: ReturnType<typeof headingsIn> } | null = null
  const scopes = new Map<number, DraftScope>()
  return index => {
    const known = scopes.get(index)
    if (known !== undefined) return known
    if (outline === null) {
      const tops = list.filter(block => block.kind === 'heading' && block.depth === 0)
      outline = { tops, ends: sectionEnds(tops, text.length), headings: headingsIn(text, list, createOffsets(text)) }
    }
    const heading = outline.headings[index]!
    const scope: DraftScope = {
      type: 'section',
      heading: heading.text,
      slug: heading.slug,
      level: heading.level,
      start: outline.tops[index]!.start,
      end: outline.ends[index]!,
    }
    scopes.set(index, scope)
    return scope
  }
}

/** File-level items that name the same thing are one edge, as they stand in one list; those of sections are not merged. */
function groups(placed: readonly Placed[]): Group[] {
  const merged = new Map<string, Placed[]>()
  const lists: Placed[][] = []
  const seen = new Set<number>()
  for (const item of [...placed].sort((a, b) => a.start - b.start)) {
    // An alias used twice leads to the same item twice.
    if (seen.has(item.start)) continue
    seen.add(item.start)
    const key = item.scope.type === 'file' ? JSON.stringify([item.read.kind, item.read.ref, item.read.anchor]) : null
    const same = key === null ? undefined : merged.get(key)
    if (same !== undefined) same.push(item)
    else {
      const list = [item]
      lists.push(list)
      if (key !== null) merged.set(key, list)
    }
  }
  const counts = new Map<string, number>()
  return lists.map(list => {
    const first = list[0]!
    const bearer = list.find(item => item.read.stamp.kind !== 'none') ?? first
    const name = `${first.scope.type === 'file' ? 'file' : `section:${first.scope.slug}`}\n${first.read.text}`
    const ordinal = counts.get(name) ?? 0
    counts.set(name, ordinal + 1)
    return { first, bearer, others: list.filter(item => item !== bearer), stamp: stampOf(list, bearer), ordinal }
  })
}

function stampOf(list: readonly Placed[], bearer: Placed): EntryStamp {
  const values = new Set<Hex12>()
  for (const item of list) if (item.read.stamp.kind === 'hex') values.add(item.read.stamp.value)
  return values.size > 1 ? { kind: 'conflict', values: [...values] } : bearer.read.stamp
}

function entryOf(group: Group, offsets: Offsets, toReal: (index: number) => number): Entry {
  const { first, bearer } = group
  const { kind, text, ref, anchor, alias } = first.read
  const place = offsets.placeOf(toReal(bearer.start))
  return {
    kind,
    text,
    ref,
    anchor,
    ...(alias === undefined ? {} : { alias }),
    stamp: group.stamp,
    scope: scopeOf(first.scope, offsets, toReal),
    style: bearer.style,
    span: spanOf(bearer.start, bearer.end, offsets, toReal),
    stampSpan: stampSpanOf(bearer, offsets, toReal),
    stampAt: offsets.toByte(toReal(bearer.stampAt)),
    line: place.line,
    column: place.column,
    ordinal: group.ordinal,
    repeats: group.others.map(item => ({
      span: spanOf(item.start, item.end, offsets, toReal),
      text: item.read.text,
      stampSpan: stampSpanOf(item, offsets, toReal),
    })),
    ...(group.stamp.kind === 'bad' && bearer.read.whole !== undefined ? { whole: bearer.read.whole } : {}),
    ...(bearer.read.text === text ? {} : { spanText: bearer.read.text }),
  }
}

function stampSpanOf(item: Placed, offsets: Offsets, toReal: (index: number) => number): Span | null {
  return item.read.stamp.kind === 'none' ? null : spanOf(item.stampStart, item.stampEnd, offsets, toReal)
}

function scopeOf(scope: DraftScope, offsets: Offsets, toReal: (index: number) => number): EntryScope {
  if (scope.type === 'file') return { type: 'file' }
  const { heading, slug, level, start, end } = scope
  return {
    type: 'section',
    heading,
    slug,
    level,
    line: offsets.placeOf(toReal(start)).line,
    span: spanOf(start, end, offsets, toReal),
  }
}

function spanOf(start: number, end: number, offsets: Offsets, toReal: (index: number) => number): Span {
  // The end belongs to the last character before it, which may be of another piece than what follows.
  const last = end > start ? toReal(end - 1) + 1 : toReal(end)
  return { start: offsets.toByte(toReal(start)), end: offsets.toByte(last) }
}

function problemOf(problem: DraftProblem, offsets: Offsets, toReal: (index: number) => number): Problem {
  const level = problem.code === 'KEEL_YAML_ITEM' ? 'error' : 'warning'
  return { code: problem.code, level, ...offsets.placeOf(toReal(problem.at)), message: problem.message }
}

/**
 * A document that is not read in full. It is a problem only when it declares something as far as its
 * bytes can be read; a stranger's file that merely has the word in it is none.
 */
function refused(bytes: Uint8Array, code: ProblemCode, message: string): ParsedChild {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const declares = /(?:^|[\r\n])['"]?sources?['"]?[ \t]*:/.test(text.startsWith('---') || text.startsWith('ï»¿---') ? text : '')
  if (!declares && !mayHaveComments(text)) return nothing
  return { ...nothing, problems: [{ code, level: 'error', line: 1, column: 1, message }] }
}

function byPlace(a: Entry, b: Entry): number {
  return a.span.start - b.span.start
}

function byLine(a: Problem, b: Problem): number {
  return a.line - b.line || a.column - b.column
}
