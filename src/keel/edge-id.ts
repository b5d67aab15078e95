/**
 * The name of an edge: stable across lines, stamps and machines, so that records, told keys and
 * reports of different days speak of the same edge.
 */
import { hash } from 'node:crypto'
import type { Entry, EntryScope } from './types.ts'

/** `file`, or `section:` and the slug of the heading. */
export function scopeKey(scope: EntryScope): string {
  return scope.type === 'file' ? 'file' : `section:${scope.slug}`
}

/**
 * @param child - project-relative path of the document.
 * @returns 16 lower-case hex digits.
 */
export function edgeId(child: string, entry: Pick<Entry, 'scope' | 'text' | 'ordinal'>): string {
  const name = `${child}\n${scopeKey(entry.scope)}\n${entry.text}\n${entry.ordinal}`
  return hash('sha1', name, 'hex').slice(0, 16)
}
