/** From the memory of a project to the facts that each verdict depends on. */
import type { EdgeFacts, Place, TargetView } from './assess.ts'
import { accepts } from './forms.ts'
import { type ChildRecord, type EdgeSlot, entryOf, type Memory } from './memory.ts'
import { isPersonOnly } from './policy.ts'
import { chooseByStamp } from './resolve.ts'
import type { Entry, Hex12, JournalRecord, KeelConfig } from './types.ts'
import type { Zones } from './zones.ts'

export interface FactSources {
  readonly memory: Memory
  readonly zones: Zones
  readonly config: KeelConfig
  /** Stamps of the stamps file, by edge; empty when they stand in the documents. */
  readonly outside: ReadonlyMap<string, readonly Hex12[]>
  /** Documents and targets that were not looked at. */
  readonly stale: ReadonlySet<string>
  /** The stamp an edge was known with before; asked for edges without one. */
  known(edge: string): Hex12 | null
  /** Latest record of each edge; asked only when an `ack` setting needs it. */
  latest(): ReadonlyMap<string, JournalRecord>
}

const none: readonly Hex12[] = []

export function factsOf(sources: FactSources): readonly EdgeFacts[] {
  const { memory, zones } = sources
  const facts: EdgeFacts[] = []
  const isParked = parkedTargets(zones)
  for (const child of memory.children.values()) {
    if (child.edges.length === 0) continue
    const isVendored = zones.of(child.path) === 'vendored'
    child.edges.forEach((slot, index) => {
      const entry = entryOf(child, index)
      if (entry !== undefined) facts.push(edgeFacts(sources, child, slot, entry, isVendored, isParked))
    })
  }
  return facts
}

/** Key of a search for what is gone: the edge and the stamp it was looked for with. */
export function searchKey(edge: string, stamp: Hex12): string {
  return `${edge} ${stamp}`
}

/** The stamp of an entry, or the only one outside of the document. */
export function hexStamp(entry: Entry, outside: readonly Hex12[]): Hex12 | null {
  if (entry.stamp.kind === 'hex') return entry.stamp.value
  return entry.stamp.kind === 'none' && outside.length === 1 ? outside[0]! : null
}

function edgeFacts(
  sources: FactSources,
  child: ChildRecord,
  slot: EdgeSlot,
  entry: Entry,
  isVendored: boolean,
  isParked: (path: string) => boolean,
): EdgeFacts {
  const { memory, config } = sources
  const outside = sources.outside.get(slot.id) ?? none
  const stamp = hexStamp(entry, outside)
  const place = isVendored ? unchecked(entry) : placeOf(memory, slot, entry, stamp, config)
  const target = place.kind === 'file' ? memory.targets.get(place.target) : undefined
  const hasStamp = stamp !== null || outside.length > 0
  return {
    id: slot.id,
    child: child.path,
    entry,
    outside,
    place,
    isVendored,
    isParked: 'target' in place && place.target !== null && isParked(place.target),
    view: place.kind === 'file' ? viewOf(memory, place) : unknownView,
    known: hasStamp ? null : sources.known(slot.id),
    indexId: target?.indexId ?? null,
    movedLines: (stamp !== null && target?.windows.get(windowKey(place.anchor, stamp))) || null,
    suggest: (stamp !== null && memory.searches.get(searchKey(slot.id, stamp))?.suggest) || null,
    policy: isVendored ? null : policyOf(sources, slot.id, child.path, entry, stamp),
    isStale: sources.stale.has(child.path) || (place.kind === 'file' && sources.stale.has(place.target)),
  }
}

const unknownView: TargetView = { kind: 'unknown' }

export function windowKey(anchor: string | null, stamp: Hex12): string {
  return `${anchor ?? ''} ${stamp}`
}

function unchecked(entry: Entry): Place {
  return { kind: 'missing', ref: entry.ref, anchor: entry.anchor, target: null }
}

function viewOf(memory: Memory, place: Extract<Place, { readonly kind: 'file' }>): TargetView {
  return memory.targets.get(place.target)?.views.get(place.anchor) ?? unknownView
}

function placeOf(memory: Memory, slot: EdgeSlot, entry: Entry, stamp: Hex12 | null, config: KeelConfig): Place {
  if (slot.resolution === null) return unchecked(entry)
  const chosen = chooseByStamp(slot.resolution, (path, anchor) => {
    const view = memory.targets.get(path)?.views.get(anchor)
    return stamp !== null && view?.kind === 'found' && accepts(view.ids, stamp, config.compare) !== null
  })
  const { ref, anchor } = chosen
  switch (chosen.kind) {
    case 'url':
      return { kind: 'opaque', ref, anchor }
    case 'file':
      return { kind: 'file', ref, anchor, target: chosen.path, match: chosen.match }
    case 'not-file':
    case 'missing':
    case 'unreadable':
      return { kind: chosen.kind, ref, anchor, target: chosen.path }
    case 'wikilinks':
      if (stamp === null && entry.stamp.kind !== 'conflict') return { kind: 'unresolved', ref, anchor }
      return chosen.paths.length === 0 ? { kind: 'missing', ref, anchor, target: null } : { kind: 'ambiguous', ref, anchor }
    default:
      return chosen satisfies never
  }
}

function policyOf(
  sources: FactSources,
  edge: string,
  child: string,
  entry: Entry,
  stamp: Hex12 | null,
): 'needs-reason' | 'needs-person' | null {
  const { config } = sources
  if (entry.stamp.kind === 'ok') {
    if (isPersonOnly(config, child)) return 'needs-person'
    return config.ack.reason === 'required' && entry.stamp.reason === null ? 'needs-reason' : null
  }
  if (stamp === null || !isPersonOnly(config, child)) return null
  const record = sources.latest().get(edge)
  const isAgents = record !== undefined && record.new === stamp && record.who.kind === 'agent'
  return isAgents ? 'needs-person' : null
}

/** Zones hold for paths inside the project; asked once a target. */
function parkedTargets(zones: Zones): (path: string) => boolean {
  const known = new Map<string, boolean>()
  return path => {
    const before = known.get(path)
    if (before !== undefined) return before
    const isOutside = path.startsWith('/') || /^[A-Za-z]:/u.test(path)
    const is = !isOutside && zones.of(path) === 'ignore'
    known.set(path, is)
    return is
  }
}
