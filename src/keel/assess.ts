/**
 * From what a sweep knows to the state of every edge. Pure: the same facts give the same list, and
 * everything that verbs, messages and reports show is a filter of that list.
 */
import { chainsOf } from './chain.ts'
import { cyclesOf } from './cycles.ts'
import { accepts, writtenId } from './forms.ts'
import { inOrder } from './naming.ts'
import type {
  AnchorView,
  ChainLink,
  Edge,
  EdgeClass,
  EdgeState,
  Entry,
  Hex12,
  IdForm,
  KeelConfig,
  RefMatch,
  Suggestion,
  SuspectReason,
} from './types.ts'

/** Where a reference leads; `ref` and `anchor` are the parts of its text as they were split for what was found. */
export type Place = { readonly ref: string; readonly anchor: string | null } & (
  | /** A URL: listed, never checked. */ { readonly kind: 'opaque' }
  | { readonly kind: 'file'; readonly target: string; readonly match: RefMatch | null }
  /** A folder, pipe, device or link that leads nowhere. */
  | { readonly kind: 'not-file'; readonly target: string }
  /** `target` is where it would be; `null` for wikilinks. */
  | { readonly kind: 'missing'; readonly target: string | null }
  /** It may not be looked at. */
  | { readonly kind: 'unreadable'; readonly target: string }
  /** A wikilink with no hit or several, and no stamp that could tell. */
  | { readonly kind: 'unresolved' }
  /** A stamped wikilink with several hits, none of which alone accepts the stamp. */
  | { readonly kind: 'ambiguous' }
)

/** What the target holds at the edge's anchor. `unknown`: not looked at yet, and nothing is known from before. */
export type TargetView = AnchorView | { readonly kind: 'unknown' }

/** Everything one verdict depends on. */
export interface EdgeFacts {
  readonly id: string
  readonly child: string
  readonly entry: Entry
  /** Stamps that stand outside of the document; an entry's own stamp beats them. */
  readonly outside: readonly Hex12[]
  readonly place: Place
  readonly isVendored: boolean
  /** The target lies in an ignored zone. */
  readonly isParked: boolean
  readonly view: TargetView
  /** The stamp known before, for entries that have none now; `null`: never seen with one. */
  readonly known: Hex12 | null
  /** Index id of a tracked file that git reports unmodified; whole files only. */
  readonly indexId: string | null
  /** The range that holds the stamped lines now. */
  readonly movedLines: string | null
  /** Where a gone source, or a gone anchor, is now. */
  readonly suggest: Suggestion | null
  /** What the `ack` settings do not accept about the edge's stamp. */
  readonly policy: 'needs-reason' | 'needs-person' | null
  readonly isStale: boolean
}

/** Edges sorted by child, line, column, with chains; and the cycles among their files. */
export function assess(
  facts: readonly EdgeFacts[],
  compare: KeelConfig['compare'],
): { readonly edges: readonly Edge[]; readonly cycles: readonly (readonly string[])[] } {
  const judged = facts.map(one => ({ facts: one, edge: assessEdge(one, compare) })).sort((a, b) => inOrder(a.edge, b.edge))
  const chains = chainsOf(
    judged.map(({ facts: { entry, view }, edge }) => ({
      id: edge.id,
      child: edge.child,
      target: edge.target,
      ref: edge.ref,
      isSuspect: edge.state === 'suspect',
      scope: entry.scope.type === 'file' ? null : entry.scope.span,
      slice: view.kind === 'found' && edge.anchor !== null ? view.span : null,
    })),
  )
  const edges = judged.map(({ edge }, at) => withChain(edge, chains.get(at)))
  return { edges, cycles: cyclesOf(edges) }
}

function withChain(edge: Edge, chain: readonly ChainLink[] | undefined): Edge {
  return chain === undefined ? edge : { ...edge, chain }
}

interface Verdict {
  readonly state: EdgeState
  readonly reason?: SuspectReason
  readonly form?: IdForm
  readonly suggest?: Suggestion | null
  readonly detail?: string
}

/** One edge without its chain. */
export function assessEdge(facts: EdgeFacts, compare: KeelConfig['compare']): Edge {
  const { entry, place, view, known } = facts
  const stamp = stampOf(facts, compare)
  const verdict = judge(facts, stamp, compare)
  const { scope } = entry
  const seen = view.kind === 'found' ? view : null
  return {
    id: facts.id,
    child: facts.child,
    line: entry.line,
    column: entry.column,
    scope:
      scope.type === 'file'
        ? { type: 'file' }
        : { type: 'section', heading: scope.heading, level: scope.level, line: scope.line },
    kind: entry.kind,
    ref: place.ref,
    anchor: place.anchor,
    target: 'target' in place ? place.target : null,
    stamp: shownStamp(stamp),
    state: verdict.state,
    reason: verdict.reason ?? null,
    class: classOf(verdict),
    current: seen === null ? null : writtenId(seen.ids, compare),
    old: stamp.kind === 'hex' ? stamp.value : stamp.kind === 'none' || stamp.kind === 'ok' ? known : null,
    form: verdict.form ?? null,
    match: matchOf(place, view),
    heading: seen?.heading ?? null,
    suggest: verdict.suggest ?? null,
    chain: [],
    ...(facts.isStale && { stale: true }),
    ...(verdict.detail !== undefined && { detail: verdict.detail }),
  }
}

type Stamp = Entry['stamp']

/** A stamp in the document counts before those outside of it; of several outside the one that accepts the content does. */
function stampOf({ entry, outside, view }: EdgeFacts, compare: KeelConfig['compare']): Stamp {
  if (entry.stamp.kind !== 'none' || outside.length === 0) return entry.stamp
  const [only] = outside
  if (outside.length === 1 && only !== undefined) return { kind: 'hex', value: only }
  const accepted = view.kind === 'found' ? outside.filter(stamp => accepts(view.ids, stamp, compare) !== null) : []
  const [one] = accepted
  return accepted.length === 1 && one !== undefined ? { kind: 'hex', value: one } : { kind: 'conflict', values: outside }
}

/** The first rule that applies decides. */
function judge(facts: EdgeFacts, stamp: Stamp, compare: KeelConfig['compare']): Verdict {
  const { place, view } = facts
  if (facts.isVendored) return { state: 'skipped' }
  if (place.kind === 'opaque') return { state: 'opaque' }
  if (stamp.kind === 'conflict') return suspect('conflict')
  if (place.kind === 'unresolved') return { state: 'unresolved' }
  if (place.kind === 'ambiguous') return suspect('ambiguous')
  if (facts.isParked) return suspect('source-parked')
  if (place.kind === 'missing') {
    const isMoved = facts.suggest?.basis === 'content'
    return { ...suspect(isMoved ? 'source-moved' : 'source-missing'), suggest: facts.suggest }
  }
  if (place.kind === 'not-file') return suspect('source-not-file')
  if (place.kind === 'unreadable') return { state: 'unreadable', detail: 'no permission to look at it' }
  switch (view.kind) {
    case 'unknown':
      return { state: 'unknown' }
    case 'unreadable':
      return { state: 'unreadable', detail: view.why }
    case 'unsupported':
      return suspect('unsupported-anchor')
    case 'missing':
      return { ...suspect('anchor-missing'), suggest: facts.suggest }
    case 'found':
      return judgeContent(facts, stamp, view, compare)
    default:
      return view satisfies never
  }
}

function judgeContent(
  facts: EdgeFacts,
  stamp: Stamp,
  view: Extract<AnchorView, { readonly kind: 'found' }>,
  compare: KeelConfig['compare'],
): Verdict {
  const indexId = facts.place.kind === 'file' && facts.place.anchor === null ? facts.indexId : null
  switch (stamp.kind) {
    case 'bad':
      return suspect('bad-stamp')
    case 'conflict':
      return suspect('conflict')
    case 'none':
      // Taking a stamp out is no review: the edge is as new only while the old stamp would still hold.
      return facts.known !== null && accepts(view.ids, facts.known, compare, indexId) === null
        ? suspect('stamp-removed')
        : { state: 'pending-stamp' }
    case 'ok':
      return facts.policy === null ? { state: 'ok-requested' } : suspect(facts.policy)
    case 'hex': {
      if (facts.policy !== null) return suspect(facts.policy)
      const form = accepts(view.ids, stamp.value, compare, indexId)
      if (form !== null) return { state: 'clean', form }
      const moved = movedAnchor(facts, view, stamp.value, compare)
      return moved === null ? suspect('changed') : { ...suspect('anchor-moved'), suggest: suggestion(facts, moved) }
    }
    default:
      return stamp satisfies never
  }
}

function movedAnchor(
  facts: EdgeFacts,
  view: Extract<AnchorView, { readonly kind: 'found' }>,
  stamp: Hex12,
  compare: KeelConfig['compare'],
): string | null {
  const namesake = view.namesakes.find(one => accepts(one.ids, stamp, compare) !== null)
  return namesake?.anchor ?? facts.movedLines
}

function suggestion(facts: EdgeFacts, anchor: string): Suggestion {
  return { ref: facts.place.ref, anchor, basis: 'content', score: 1 }
}

function suspect(reason: SuspectReason): Verdict {
  return { state: 'suspect', reason }
}

function matchOf(place: Place, view: TargetView): Edge['match'] {
  const byRef = place.kind === 'file' ? place.match : null
  const byAnchor = view.kind === 'found' ? view.match : null
  return byAnchor !== null && byAnchor !== 'exact' ? byAnchor : (byRef ?? byAnchor)
}

/** A stamp as every document shows it. */
export function shownStamp(stamp: Stamp): Edge['stamp'] {
  switch (stamp.kind) {
    case 'none':
      return { kind: 'none', value: null }
    case 'hex':
    case 'bad':
      return { kind: stamp.kind, value: stamp.value }
    case 'ok':
      return { kind: 'ok', value: null, reason: stamp.reason }
    case 'conflict':
      return { kind: 'conflict', value: null, values: stamp.values }
    default:
      return stamp satisfies never
  }
}

const movedReasons: ReadonlySet<SuspectReason> = new Set(['changed', 'stamp-removed', 'needs-reason', 'needs-person'])
const unverifiedStates: ReadonlySet<EdgeState> = new Set(['skipped', 'unresolved', 'unknown', 'unreadable'])

function classOf({ state, reason }: Verdict): EdgeClass | null {
  if (reason !== undefined) return movedReasons.has(reason) ? 'moved' : 'broken'
  return unverifiedStates.has(state) ? 'unverified' : null
}
