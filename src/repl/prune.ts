/** Removes what no restart can need any more: copies that newer ones have replaced. Sources, outcomes and logs stay. */
import type { Json } from '../ports/json.ts'
import type { Store } from '../ports/store.ts'
import { blobsOf } from './fork.ts'
import { type JournalState, pathTo } from './journal-state.ts'
import type { CheckRecord, JournalRecord, Pruned, StoredComponent } from './types.ts'

export interface Pruning {
  readonly store: Store
  readonly session: string
  readonly state: JournalState
  /** How many of the newest checkpoints of the head's path stay. */
  readonly keep: number
  /** Room for copies. What the newest copy of a name or a named state needs stays also beyond it. */
  readonly maxBytes: number
}

/** Bytes of copies that a pruning would remove, by hash; those that are gone already count too. */
export function replacedCopies({
  state,
  keep,
  maxBytes,
}: Pick<Pruning, 'state' | 'keep' | 'maxBytes'>): ReadonlyMap<string, number> {
  const needed = neededCopies(state, keep, maxBytes)
  const replaced = new Map<string, number>()
  for (const { checks } of state.cells.values()) {
    for (const { record } of checks)
      for (const { hash, bytes } of record.components) if (!needed.has(hash)) replaced.set(hash, bytes)
  }
  return replaced
}

export async function pruneSession({ store, session, state, keep, maxBytes }: Pruning): Promise<Pruned> {
  const doomed = new Set(replacedCopies({ state, keep, maxBytes }).keys())
  if (doomed.size === 0) return { blobs: 0, bytes: 0 }
  // Blobs lie under their content: another session of the store may have the same.
  for (const stream of await store.list('repl/')) {
    if (!stream.endsWith('/journal') || stream === `repl/${session}/journal`) continue
    for await (const { record } of store.read(stream, 0)) for (const hash of blobsOf(record)) doomed.delete(hash)
  }
  for await (const { record } of store.read(`repl/${session}/journal`, 0)) {
    const known = record as unknown as JournalRecord
    if (known.k !== 'check') for (const hash of blobsOf(record)) doomed.delete(hash)
  }
  let bytes = 0
  let blobs = 0
  for (const hash of doomed) {
    const key = `repl/blob/${hash}`
    const found = await store.get(key)
    if (found === undefined || !(await store.remove(key))) continue
    blobs++
    bytes += sizeOf(found.value)
  }
  return { blobs, bytes }
}

/** Copies that the head or a named state cannot do without, and of the newest checkpoints as many as there is room for, the newest first. */
function neededCopies(state: JournalState, keep: number, maxBytes: number): ReadonlySet<string> {
  const needed = new Map<string, number>()
  const recent: CheckRecord[] = []
  const heads = [state.head, ...[...state.named.values()].map(({ cell }) => cell)]
  for (const head of heads) {
    const checks = pathTo(state, head).flatMap(cell => state.cells.get(cell)!.checks.map(check => check.record))
    recent.push(...checks.slice(-keep))
    // The newest copy of every name, however old it is.
    const newest = new Map<string, StoredComponent>()
    for (const { components } of checks)
      for (const component of components) for (const name of component.names) newest.set(name, component)
    for (const { hash, bytes } of newest.values()) needed.set(hash, bytes)
  }
  let total = [...needed.values()].reduce((sum, bytes) => sum + bytes, 0)
  for (const { components } of recent.sort((a, b) => b.at - a.at)) {
    for (const { hash, bytes } of components) {
      if (needed.has(hash) || total + bytes > maxBytes) continue
      needed.set(hash, bytes)
      total += bytes
    }
  }
  return new Set(needed.keys())
}

function sizeOf(value: Json): number {
  const { base64, text } = value as { readonly base64?: string; readonly text?: string }
  return base64 === undefined ? Buffer.byteLength(text ?? '') : Math.floor((base64.length * 3) / 4)
}
