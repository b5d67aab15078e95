/**
 * Children and targets as short lists for the cache: what can be told from the rest is left out, and what
 * is not as it usually is stands there whole. Reading back gives equal values.
 */
import type { FileIdentity, FileKind } from '../ports/files.ts'
import type { ChildRecord, EdgeSlot, TargetRecord } from './memory.ts'
import type { AnchorView, Entry, EntryScope, Hex12, ParsedChild, Span } from './types.ts'

/** `cut`: length of the ref when an anchor follows it, else -1. `stamp` and `scope` 0: none, the whole file. A span without an end: none. */
type PackedEntry =
  | Entry
  | readonly [
      text: string,
      cut: number,
      stamp: Hex12 | 0,
      scope: EntryScope | 0,
      style: Entry['style'],
      start: number,
      end: number,
      stampStart: number,
      stampEnd: number,
      stampAt: number,
      line: number,
      column: number,
      ordinal: number,
    ]

/** `scopeId` 0: as of the slot before. A resolution that is a number: the entry's own ref and anchor, and the path of that target. */
type PackedSlot = EdgeSlot | readonly [id: string, scopeId: Hex12 | 0, resolution: EdgeSlot['resolution'] | number]

export type PackedChild = readonly [
  path: string,
  isSettled: boolean,
  id: Hex12,
  frontmatter: readonly [start: number, end: number] | 0,
  conflicted: boolean,
  problems: ParsedChild['problems'],
  entries: readonly PackedEntry[],
  edges: readonly PackedSlot[],
]

type PackedIdentity = readonly [string, string, FileKind, number, string, string]

/** The first form: a plain text used as a whole; an id in `tail` that is 0 equals `raw`. */
export type PackedTarget =
  | readonly [path: string, isSettled: boolean, raw: Hex12, lastLine: number, tail: readonly (Hex12 | 0)[]]
  | readonly [
      path: string,
      isSettled: boolean,
      raw: Hex12 | null,
      why: string | null,
      link: PackedIdentity | null,
      views: readonly (readonly [string | null, AnchorView])[],
      windows: readonly (readonly [string, string | null])[],
      indexId: string | null,
    ]

/** @param targetAt - place of a target in the list of all; `undefined` when it is not in it. */
export function packChild(child: ChildRecord, targetAt: (path: string) => number | undefined): PackedChild {
  const { path, isSettled, id, parsed, edges } = child
  const { frontmatter, conflicted, problems, entries } = parsed
  let scopeBefore: Hex12 | undefined
  const slots = edges.map((slot, index): PackedSlot => {
    if (slot.asFile !== undefined) return slot
    const scopeId = slot.scopeId === scopeBefore ? 0 : slot.scopeId
    scopeBefore = slot.scopeId
    return [slot.id, scopeId, packResolution(slot.resolution, entries[index], targetAt)]
  })
  const fence = frontmatter === null ? 0 : ([frontmatter.start, frontmatter.end] as const)
  return [path, isSettled, id, fence, conflicted, problems, entries.map(packEntry), slots]
}

/** @param targetPath - the path of a target by its place. */
export function unpackChild(packed: PackedChild, identity: FileIdentity, targetPath: (at: number) => string): ChildRecord {
  const [path, isSettled, id, fence, conflicted, problems, packedEntries, slots] = packed
  const entries = packedEntries.map(unpackEntry)
  const frontmatter = fence === 0 ? null : { start: fence[0], end: fence[1] }
  let scopeBefore = '' as Hex12
  const edges = slots.map((slot, index): EdgeSlot => {
    if (!isList(slot)) return slot
    const [edge, scopeId, resolution] = slot
    if (scopeId !== 0) scopeBefore = scopeId
    const whole = typeof resolution === 'number' ? ledTo(targetPath(resolution), entries[index]!) : resolution
    return { id: edge, scopeId: scopeBefore, resolution: whole }
  })
  return { path, identity, isSettled, id, parsed: { entries, problems, frontmatter, conflicted }, edges }
}

function packResolution(
  resolution: EdgeSlot['resolution'],
  entry: Entry | undefined,
  targetAt: (path: string) => number | undefined,
): EdgeSlot['resolution'] | number {
  if (resolution === null || resolution.kind !== 'file' || entry === undefined) return resolution
  const { path, ref, anchor, match, others } = resolution
  if (match !== null || others.length > 0 || ref !== entry.ref || anchor !== entry.anchor) return resolution
  return targetAt(path) ?? resolution
}

function ledTo(path: string, { ref, anchor }: Entry): EdgeSlot['resolution'] {
  return { kind: 'file', ref, anchor, path, match: null, others: [] }
}

function packEntry(entry: Entry): PackedEntry {
  const { kind, text, ref, anchor, stamp, scope, style, span, stampSpan, stampAt, line, column, ordinal, repeats } = entry
  const isStamp = stamp.kind === 'hex' || stamp.kind === 'none'
  const isUsual = kind === 'path' && isStamp && repeats.length === 0 && text === (anchor === null ? ref : `${ref}#${anchor}`)
  if (!isUsual || entry.alias !== undefined || entry.whole !== undefined || entry.spanText !== undefined) return entry
  return [
    text,
    anchor === null ? -1 : ref.length,
    stamp.kind === 'hex' ? stamp.value : 0,
    scope.type === 'file' ? 0 : scope,
    style,
    span.start,
    span.end,
    stampSpan?.start ?? 0,
    stampSpan?.end ?? 0,
    stampAt,
    line,
    column,
    ordinal,
  ]
}

function unpackEntry(packed: PackedEntry): Entry {
  if (!isList(packed)) return packed
  const [text, cut, stamp, scope, style, start, end, stampStart, stampEnd, stampAt, line, column, ordinal] = packed
  return {
    kind: 'path',
    text,
    ref: cut < 0 ? text : text.slice(0, cut),
    anchor: cut < 0 ? null : text.slice(cut + 1),
    stamp: stamp === 0 ? { kind: 'none' } : { kind: 'hex', value: stamp },
    scope: scope === 0 ? { type: 'file' } : scope,
    style,
    span: { start, end },
    stampSpan: stampEnd === 0 ? null : { start: stampStart, end: stampEnd },
    stampAt,
    line,
    column,
    ordinal,
    repeats: [],
  }
}

export function packTarget(target: TargetRecord): PackedTarget {
  const { path, link, file, isSettled, raw, why, views, windows, indexId } = target
  const view = views.size === 1 ? views.get(null) : undefined
  const isPlain = link === null && why === null && indexId === null && windows.size === 0
  if (isPlain && raw !== null && view !== undefined && isWholeText(view, raw, file.size)) {
    return [path, isSettled, raw, view.lastLine, view.ids.tail.map(id => (id === raw ? 0 : id))]
  }
  return [path, isSettled, raw, why, link && packIdentity(link), [...views], [...windows], indexId]
}

export function unpackTarget(packed: PackedTarget, file: FileIdentity): TargetRecord {
  if (packed.length === 5) {
    const [path, isSettled, raw, lastLine, tail] = packed
    const span: Span = { start: 0, end: file.size }
    const ids = { norm: raw, raw, lf: raw, tail: tail.map(id => (id === 0 ? raw : id)) }
    const view: AnchorView = {
      kind: 'found',
      match: null,
      heading: null,
      span,
      firstLine: 1,
      lastLine,
      binary: false,
      ids,
      namesakes: [],
    }
    const views = new Map([[null, view]])
    return { path, link: null, file, isSettled, raw, why: null, views, windows: new Map(), indexId: null }
  }
  const [path, isSettled, raw, why, link, views, windows, indexId] = packed
  return {
    path,
    link: link && unpackIdentity(link),
    file,
    isSettled,
    raw,
    why,
    views: new Map(views),
    windows: new Map(windows),
    indexId,
  }
}

type FoundView = Extract<AnchorView, { readonly kind: 'found' }>

/** All of a text file whose own bytes are its normal form. */
function isWholeText(view: AnchorView, raw: Hex12, size: number): view is FoundView {
  if (view.kind !== 'found' || view.match !== null || view.heading !== null || view.binary || view.firstLine !== 1) return false
  const { span, ids, namesakes } = view
  if (span.start !== 0 || span.end !== size || namesakes.length > 0 || ids.only !== undefined) return false
  return ids.raw === raw && ids.norm === raw && ids.lf === raw
}

function packIdentity({ device, inode, kind, size, mtimeNs, ctimeNs }: FileIdentity): PackedIdentity {
  return [String(device), String(inode), kind, size, String(mtimeNs), String(ctimeNs)]
}

function unpackIdentity([device, inode, kind, size, mtimeNs, ctimeNs]: PackedIdentity): FileIdentity {
  return { device: BigInt(device), inode: BigInt(inode), kind, size, mtimeNs: BigInt(mtimeNs), ctimeNs: BigInt(ctimeNs) }
}

function isList<T extends readonly unknown[]>(value: object | T): value is T {
  return Array.isArray(value)
}
