/**
 * What one session sees when it looks at the project's documents: which edges are live, which of them
 * are news to it, and what it must remember for the next look. Pure.
 */
import { isSuspect, suspectKey } from './naming.ts'
import { forgetGone, type KeelState, noLoose } from './session.ts'
import type { Ack, Assessment, Edge, Hex12, SuspectKey } from './types.ts'

export interface Look {
  /** Suspects and sources that cannot be checked (any more), in the order of every list. */
  readonly live: readonly Edge[]
  readonly keys: ReadonlySet<SuspectKey>
  readonly suspects: readonly Edge[]
  /** Live edges that nobody dealt with yet: neither reviewed nor acknowledged for the content of now. */
  readonly open: readonly Edge[]
  /** Of the open ones, those that this session was not told. */
  readonly fresh: readonly Edge[]
}

/** @param acks - acknowledgements that wait for the session's boundary. */
export function lookAt(state: KeelState, assessment: Assessment, acks: readonly Ack[]): Look {
  const suspects = assessment.edges.filter(isSuspect)
  const live = assessment.edges.filter(edge => isSuspect(edge) || cannotBeChecked(state, edge))
  const settled = new Map<string, Hex12>([...state.reviewed.values(), ...acks].map(ack => [ack.edge, ack.content]))
  const open = live.filter(edge => edge.current === null || settled.get(edge.id) !== edge.current)
  return {
    live,
    keys: new Set(live.map(suspectKey)),
    suspects,
    open,
    fresh: open.filter(edge => !state.told.has(suspectKey(edge))),
  }
}

/** A source that cannot be read, or a link that named one file and does not any more. */
function cannotBeChecked(state: KeelState, edge: Edge): boolean {
  return edge.state === 'unreadable' || (edge.state === 'unresolved' && state.resolved.has(edge.id))
}

/**
 * What to remember of a look: keys that are gone are forgotten, scope ids are what an edit is measured
 * against. The same state when there is nothing new to remember.
 */
export function remember(
  before: KeelState,
  look: Look,
  assessment: Assessment,
  scopeId: (edge: string) => Hex12 | null,
): KeelState {
  const scopes = new Map<string, Hex12>()
  const current = new Map<string, Hex12 | null>()
  for (const edge of look.suspects) {
    current.set(edge.id, edge.current)
    const scope = edge.reason === 'changed' ? scopeId(edge.id) : null
    if (scope !== null) scopes.set(edge.id, scope)
  }
  const links = [...assessment.edges.filter(isResolvedLink), ...look.live.filter(edge => edge.state === 'unresolved')]
  const resolved = new Set(links.map(edge => edge.id))
  const reviewed = new Map([...before.reviewed].filter(([edge, ack]) => current.get(edge) === ack.content))
  const hadChildren = assessment.children > 0
  const state = forgetGone(before, look.keys)
  const isSame =
    state === before &&
    isSameMap(scopes, before.scopes) &&
    reviewed.size === before.reviewed.size &&
    resolved.size === before.resolved.size &&
    [...resolved].every(id => before.resolved.has(id)) &&
    hadChildren === before.hadChildren &&
    before.loose === noLoose
  return isSame ? before : { ...state, scopes, reviewed, resolved, hadChildren, loose: noLoose }
}

function isSameMap<V>(a: ReadonlyMap<string, V>, b: ReadonlyMap<string, V>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value)
}

function isResolvedLink(edge: Edge): boolean {
  return edge.kind === 'wikilink' && edge.stamp.kind === 'none' && edge.target !== null && edge.state !== 'unresolved'
}

/** Suspects that made the turn worse: of a kind that the agent can settle, and not there when it began. */
export function madeInTurn(state: KeelState, look: Look): readonly Edge[] {
  return look.open.filter(edge => isSuspect(edge) && edge.reason !== 'needs-person' && !state.base.has(suspectKey(edge)))
}

/** Does an edge derive from one of these files? A reference whose file is gone counts by its spelling. */
export function derivesFrom(edge: Edge, moved: ReadonlySet<string>): string | null {
  if (edge.target !== null) return moved.has(edge.target) ? edge.target : null
  if (edge.kind !== 'path') return null
  const beside = normalise(`${edge.child.slice(0, edge.child.lastIndexOf('/') + 1)}${edge.ref}`)
  return [edge.ref, normalise(edge.ref), beside].find(path => moved.has(path)) ?? null
}

function normalise(path: string): string {
  const out: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') out.pop()
    else if (segment !== '.' && segment !== '') out.push(segment)
  }
  return out.join('/')
}
