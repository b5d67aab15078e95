/** How an edge is named to people, models, journals and other edges. Pure. */
import { oneLine } from '../text/data.ts'
import type { Edge, SuspectKey } from './types.ts'

/** Longest name of a file, heading or reference in a message, in UTF-16 units. */
const maxNameChars = 120

/** `ref[#anchor]`; wikilinks keep their brackets: `[[name]]#anchor`. */
export function sourceName(edge: Pick<Edge, 'kind' | 'ref' | 'anchor'>): string {
  const ref = edge.kind === 'wikilink' ? `[[${edge.ref}]]` : edge.ref
  return edge.anchor === null ? ref : `${ref}#${edge.anchor}`
}

/** What a session is told once: the edge, its reason and the content it has now. */
export function suspectKey(edge: Pick<Edge, 'id' | 'reason' | 'state' | 'current'>): SuspectKey {
  return `${edge.id} ${edge.reason ?? edge.state} ${edge.current ?? ''}`
}

/** A name as part of one of our lines. */
export function shown(name: string): string {
  return oneLine(name, maxNameChars)
}

/** Three names, then how many more. */
export function names(all: readonly string[], max = 3): string {
  const first = all.slice(0, max).map(shown).join(', ')
  return all.length <= max ? first : `${first} and ${all.length - max} more`
}

export function isSuspect(edge: Edge): boolean {
  return edge.state === 'suspect'
}

/** By child, line and column: the order of every list. */
export function inOrder(a: Edge, b: Edge): number {
  if (a.child !== b.child) return a.child < b.child ? -1 : 1
  return a.line - b.line || a.column - b.column || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}
