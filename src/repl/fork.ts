/** A session of its own that begins where a cell of another one ended. */
import { OutriggerError } from '../errors.ts'
import type { Json } from '../ports/json.ts'
import type { Store } from '../ports/store.ts'
import { type JournalState, pathTo } from './journal-state.ts'
import type { JournalRecord } from './types.ts'

export interface ForkTarget {
  readonly store: Store
  readonly name: string
  close(): void
}

export interface Fork {
  readonly from: Store
  readonly session: string
  readonly state: JournalState
  /** The new head. */
  readonly cell: number
  readonly target: ForkTarget
}

/** Copies the records of the cells up to that one, and every blob that they name. Throws `REPL_BAD_REQUEST` when there are cells already. */
export async function forkSession({ from, session, state, cell, target }: Fork): Promise<void> {
  const { store, name } = target
  const stream = `repl/${name}/journal`
  for await (const _ of store.read(stream, 0)) {
    throw new OutriggerError('REPL_BAD_REQUEST', `${name} has cells already`, {
      subject: name,
      hint: 'give a folder or a name that is new',
    })
  }
  const wanted = new Set(pathTo(state, cell))
  let head = 0
  for await (const { record } of from.read(`repl/${session}/journal`, 0)) {
    const known = record as unknown as JournalRecord
    const kept = isKept(known, wanted, head, cell)
    if (known.k === 'end' || (known.k === 'state' && (known.action === 'restore' || known.action === 'reset'))) head = known.cell
    if (!kept) continue
    for (const hash of blobsOf(record)) await copyBlob(from, store, hash)
    await store.append(stream, { ...(record as object), epoch: 1 } as unknown as Json)
  }
}

/** A recovery, and what a cell did later, count where they stood: after the cell that was the head. */
function isKept(record: JournalRecord, wanted: ReadonlySet<number>, head: number, last: number): boolean {
  switch (record.k) {
    case 'open':
      return true
    case 'state':
      return record.action === 'save' && wanted.has(record.cell)
    case 'recover':
      return record.head === head && record.head !== last && wanted.has(record.head)
    case 'late':
      return head !== last && wanted.has(head) && wanted.has(record.cell)
    default:
      return wanted.has(record.cell)
  }
}

async function copyBlob(from: Store, to: Store, hash: string): Promise<void> {
  const key = `repl/blob/${hash}`
  const found = await from.get(key)
  if (found === undefined || (await to.get(key)) !== undefined) return
  await to.put(key, found.value, 0)
}

/** Hashes of the blobs that a record names: parts of it, and copies of components. */
export function blobsOf(record: Json): readonly string[] {
  const found = new Set<string>()
  const look = (part: Json): void => {
    if (Array.isArray(part)) {
      for (const each of part) look(each)
      return
    }
    if (typeof part !== 'object' || part === null) return
    const { blob, hash, bytes } = part as { readonly blob?: Json; readonly hash?: Json; readonly bytes?: Json }
    if (typeof bytes === 'number') {
      if (typeof blob === 'string') found.add(blob)
      if (typeof hash === 'string') found.add(hash)
    }
    for (const each of Object.values(part)) look(each)
  }
  look(record)
  return [...found]
}
