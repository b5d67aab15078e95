/** From a document's bytes to its record: declarations, edge ids, and the ids of the parts the edges belong to. */
import { parseChild, scopeSpan } from './child.ts'
import { edgeId } from './edge-id.ts'
import { blobId, normalize } from './forms.ts'
import type { ChildRecord } from './memory.ts'
import type { EntryScope, Hex12, ParsedChild } from './types.ts'

/** `null`: it declares nothing and has no problem. */
export function readChild(
  path: string,
  bytes: Uint8Array,
  seen: Pick<ChildRecord, 'identity' | 'isSettled'>,
): ChildRecord | null {
  const parsed = parseChild(bytes)
  if (parsed.entries.length === 0 && parsed.problems.length === 0) return null
  const scopeIdOf = scopeIds(path, bytes, parsed)
  return {
    path,
    ...seen,
    id: blobId(bytes),
    parsed,
    edges: parsed.entries.map(entry => ({ id: edgeId(path, entry), scopeId: scopeIdOf(entry.scope), resolution: null })),
  }
}

/** Stamps do not count, and neither does frontmatter for an edge of the whole file. */
function scopeIds(path: string, bytes: Uint8Array, parsed: ParsedChild): (scope: EntryScope) => Hex12 {
  const known = new Map<number, Hex12>()
  return scope => {
    const span = scopeSpan(bytes, parsed, scope)
    const key = scope.type === 'file' ? -1 : span.start
    const id = known.get(key) ?? blobId(normalize(bytes, span, { path, parsed }))
    known.set(key, id)
    return id
  }
}
