/** Which stamps a boundary would write, and why: decided from the last refresh, without writing. */
import type { Core, Located } from './core.ts'
import { cyclesOf } from './cycles.ts'
import { byBytes } from './impact.ts'
import { sourceName } from './naming.ts'
import { isPersonOnly } from './policy.ts'
import type { Ack, BoundaryOptions, Hex12, JournalRecord, StampKind } from './types.ts'

export interface PlannedStamp {
  readonly located: Located
  readonly kind: StampKind
  readonly old: Hex12 | null
  /** Of the content as it is now; `exact` stamps of rewritten targets are worked out while writing. */
  readonly stamp: Hex12
  readonly reason: string | null
  readonly who: JournalRecord['who']
  readonly evidence: JournalRecord['evidence']
}

export interface Plan {
  /** By child; children in the order they are written: with `exact` targets come before what derives from them. */
  readonly children: ReadonlyMap<string, readonly PlannedStamp[]>
  readonly skipped: readonly { readonly child: string; readonly why: string }[]
}

export function planStamps(core: Core, options: BoundaryOptions, isClaimed: (child: string) => boolean): Plan {
  const acks = new Map(options.acks?.map(ack => [ack.edge, ack]))
  const planned = new Map<string, PlannedStamp>()
  const skipped = new Map<string, string>()
  for (const edge of core.assessment().edges) {
    if (!isInRange(edge.child, options.paths) || edge.stale) continue
    const located = core.locate(edge.id)
    if (located === undefined) continue
    const one = planOne(core, located, acks.get(edge.id), options, isClaimed)
    if (one === null) continue
    const why = whyNot(core, located)
    if (why === null) planned.set(edge.id, one)
    else skipped.set(edge.child, why)
  }
  if (core.deps.config.stamps === 'inline') planCarried(core, planned, skipped)
  return {
    children: inWritingOrder(core, planned, skipped),
    skipped: [...skipped].map(([child, why]) => ({ child, why })).sort((a, b) => byBytes(a.child, b.child)),
  }
}

/** Whether a path is one of these or lies below one; no list means everything. */
export function isInRange(path: string, range: readonly string[] | undefined): boolean {
  if (range === undefined || range.length === 0) return true
  return range.some(one => one === '' || one === '.' || path === one || path.startsWith(one.endsWith('/') ? one : `${one}/`))
}

function planOne(
  core: Core,
  located: Located,
  ack: Ack | undefined,
  options: BoundaryOptions,
  isClaimed: (child: string) => boolean,
): PlannedStamp | null {
  const { edge, entry, slot } = located
  const { config } = core.deps
  if (edge.current === null) return null
  const base = { located, old: edge.old, stamp: edge.current }
  const isGuarded = isPersonOnly(config, edge.child)
  const isAckable =
    edge.class === 'moved' || edge.reason === 'bad-stamp' || edge.state === 'pending-stamp' || edge.state === 'ok-requested'
  if (ack !== undefined && isAckable && ack.content === edge.current && !(isGuarded && ack.who.kind === 'agent')) {
    return { ...base, kind: ack.kind, reason: ack.reason, who: ack.who, evidence: withScope(ack.evidence, slot.scopeId) }
  }
  if (options.onlyAcks) return null
  const isRequested = edge.state === 'ok-requested' || (edge.reason === 'needs-person' && entry.stamp.kind === 'ok')
  if (isRequested && entry.stamp.kind === 'ok') {
    if (isGuarded && options.byAgent) return null
    if (config.ack.reason === 'required' && entry.stamp.reason === null) return null
    const who: JournalRecord['who'] = isGuarded || isClaimed(edge.child) ? options.who : { kind: 'hand' }
    return { ...base, kind: 'ok', reason: entry.stamp.reason, who, evidence: withScope(null, slot.scopeId) }
  }
  if (edge.state !== 'pending-stamp' || config.stampNew !== 'auto') return null
  return { ...base, kind: 'stamp', reason: null, who: { kind: 'code' }, evidence: null }
}

function withScope(evidence: JournalRecord['evidence'], scopeAfter: Hex12): JournalRecord['evidence'] {
  return { ...evidence, scopeAfter: evidence?.scopeAfter ?? scopeAfter }
}

function whyNot(core: Core, { child, slot, edge }: Located): string | null {
  if (child.parsed.conflicted) return 'merge markers inside'
  if (slot.asFile === true) return 'its name ends like a stamp'
  if (core.deps.config.stamps === 'inline' && isBinarySource(core, edge.child))
    return 'it holds a NUL byte and is a source itself'
  return null
}

/** A stamp would change the only id that such a file has. */
function isBinarySource(core: Core, path: string): boolean {
  const views = core.memory().targets.get(path)?.views.values() ?? []
  return [...views].some(view => view.kind === 'found' && view.binary)
}

/**
 * What derives from a document that is about to be rewritten and is clean by a form that its stamps are
 * part of gets the form they are not part of, in the same pass; over as many documents as that takes.
 */
function planCarried(core: Core, planned: Map<string, PlannedStamp>, skipped: ReadonlyMap<string, string>): void {
  const readers = new Map<string, Located[]>()
  for (const edge of core.assessment().edges) {
    if (edge.state !== 'clean' || edge.target === null || planned.has(edge.id)) continue
    const isSafe = core.deps.config.compare === 'normalized' && edge.form === 'norm'
    const located = isSafe ? undefined : core.locate(edge.id)
    if (located === undefined) continue
    const known = readers.get(edge.target)
    if (known === undefined) readers.set(edge.target, [located])
    else known.push(located)
  }
  const queue = [...new Set([...planned.values()].map(one => one.located.edge.child))]
  const seen = new Set(queue)
  for (const target of queue) {
    for (const located of readers.get(target) ?? []) {
      const { edge } = located
      if (edge.current === null || skipped.has(edge.child) || whyNot(core, located) !== null) continue
      planned.set(edge.id, {
        located,
        kind: 'carry',
        old: edge.old,
        stamp: edge.current,
        reason: null,
        who: { kind: 'code' },
        evidence: null,
      })
      if (!seen.has(edge.child)) {
        seen.add(edge.child)
        queue.push(edge.child)
      }
    }
  }
}

function inWritingOrder(
  core: Core,
  planned: ReadonlyMap<string, PlannedStamp>,
  skipped: Map<string, string>,
): ReadonlyMap<string, readonly PlannedStamp[]> {
  const byChild = Map.groupBy(planned.values(), one => one.located.edge.child)
  const names = [...byChild.keys()].sort(byBytes)
  if (core.deps.config.compare === 'normalized' || core.deps.config.stamps === 'file') {
    return new Map(names.map(child => [child, byChild.get(child)!]))
  }
  // Every byte of a source counts, its stamps too: in a cycle no stamp can be right.
  const { edges } = core.assessment()
  for (const cycle of cyclesOf(edges)) {
    for (const child of cycle) if (byChild.delete(child)) skipped.set(child, 'in a cycle that compare: exact cannot settle')
  }
  const order = new Map<string, readonly PlannedStamp[]>()
  const sources = Map.groupBy(edges, edge => edge.child)
  const visit = [...names].reverse()
  const entered = new Set<string>()
  while (visit.length > 0) {
    const child = visit[visit.length - 1]!
    if (order.has(child) || !byChild.has(child)) {
      visit.pop()
      continue
    }
    if (entered.has(child)) {
      visit.pop()
      order.set(child, byChild.get(child)!)
      continue
    }
    entered.add(child)
    for (const edge of sources.get(child) ?? []) if (edge.target !== null && byChild.has(edge.target)) visit.push(edge.target)
  }
  return order
}

export function stampedOf(
  one: PlannedStamp,
  stamp: Hex12,
): {
  readonly id: string
  readonly child: string
  readonly source: string
  readonly kind: StampKind
  readonly old: Hex12 | null
  readonly new: Hex12
} {
  const { edge } = one.located
  return { id: edge.id, child: edge.child, source: sourceName(edge), kind: one.kind, old: one.old, new: stamp }
}
