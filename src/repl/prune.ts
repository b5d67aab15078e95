/** Removes what no restart can need any more: copies that newer ones have replaced. Sources, outcomes and logs stay. */
import type { Json } from '../ports/json.ts'
import type { Store } from '../ports/store.ts'
import { blobsOf } from './fork.ts'
import { type JournalState, pathTo } from './journal-state.ts'
import type { CheckRecord, JournalRecord, Pruned } from './types.ts'

export interface Pruning {
  readonly store: Store
  readonly session: string
  readonly state: JournalState
  /** How many of the newest checkpoints of the head's path stay. */
  readonly keep: number
}

export async function pruneSession({ store, session, state, keep }: Pruning): Promise<Pruned> {
  const needed = neededCopies(state, keep)
  const doomed = new Set<string>()
  for (const { checks } of state.cells.values()) {
    for (const { record } of checks) for (const { hash } of record.components) if (!needed.has(hash)) doomed.add(hash)
  }
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

/** Copies that the head, a named state or one of the newest checkpoints has. */
function neededCopies(state: JournalState, keep: number): ReadonlySet<string> {
  const needed = new Set<string>()
  const addChecks = (checks: readonly CheckRecord[]): void => {
    for (const { components } of checks) for (const { hash } of components) needed.add(hash)
  }
  const heads = [state.head, ...[...state.named.values()].map(({ cell }) => cell)]
  for (const head of heads) {
    const checks = pathTo(state, head).flatMap(cell => state.cells.get(cell)!.checks.map(check => check.record))
    addChecks(checks.slice(-keep))
    // The newest copy of every name, however old it is.
    const newest = new Map<string, string>()
    for (const { components } of checks)
      for (const { names, hash } of components) for (const name of names) newest.set(name, hash)
    for (const hash of newest.values()) needed.add(hash)
  }
  return needed
}

function sizeOf(value: Json): number {
  const { base64, text } = value as { readonly base64?: string; readonly text?: string }
  return base64 === undefined ? Buffer.byteLength(text ?? '') : Math.floor((base64.length * 3) / 4)
}
