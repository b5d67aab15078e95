/**
 * Entries go to the end of the journal: one write and one sync under the stream's lease, in a time that does not
 * depend on the journal's length. What a stopped writer left is noted and stepped over, never cut off.
 */
import { OutriggerError } from '../errors.ts'
import type { Json } from '../ports/json.ts'
import type { Store } from '../ports/store.ts'
import type { PackDeps } from './deps.ts'
import { absolute, loadJournal, packFolder, pathsOf } from './files.ts'
import { entryId } from './ids.ts'
import { encodeEntry, hashOfEntry, type JournalEnd, type NewEntry, preambleOf, sha } from './journal.ts'
import { beginTrust, noteEntries } from './own.ts'

export interface AppendedEntry {
  readonly id: string
  readonly key: string
  readonly duplicate: boolean
}

/** What a writer holds; without a store there is no lease and nothing is remembered. */
export interface Held {
  readonly stream: string
  readonly store: Store | undefined
  /** A writer before this one was stopped within an entry; found by `append`. */
  torn?: boolean
}

/** An append takes milliseconds: who waits looks often, so that nobody waits long. */
const times = { ttlMs: 5_000, waitMs: 10_000, pauseMs: 25 }

/** Run while no other writer of the stream does. Throws `PACK_STREAM_BUSY` after ten seconds. */
export async function locked<T>(deps: PackDeps, stream: string, run: (held: Held) => Promise<T>): Promise<T> {
  let store: Store
  let isRunning = false
  try {
    store = await deps.store()
    const result = await deps.withLease(`pack/${stream}`, times, () => {
      isRunning = true
      return run({ stream, store })
    })
    if (result.held) return result.value
    throw new OutriggerError('PACK_STREAM_BUSY', `somebody else writes to the stream "${stream}"`, {
      subject: stream,
      hint: `process ${result.holder.split(':')[0]} holds it; try again, or \`outrigger doctor\` shows who holds what`,
      exit: 4,
    })
  } catch (error) {
    const isStore = error instanceof OutriggerError && error.code.startsWith('STORE_')
    if (isRunning || !isStore) throw error
    // Notes are worth more than their lease: readers resolve what two writers did at once.
    return run({ stream, store: undefined })
  }
}

interface Tail {
  readonly size: number
  readonly last: number
  /** Newest 256, oldest first. */
  readonly keys: readonly (readonly [key: string, id: string])[]
}

const keptKeys = 256

/**
 * Append in order. A known key is not written again.
 *
 * @param known - ids by key beside the ones that are remembered, for a caller that has read the journal.
 */
export async function append(
  deps: PackDeps,
  held: Held,
  entries: readonly NewEntry[],
  known?: ReadonlyMap<string, string>,
): Promise<readonly AppendedEntry[]> {
  const { stream, store } = held
  const path = absolute(deps, pathsOf(stream).journal)
  try {
    await makeJournal(deps, held, path)
    const size = deps.files.stat(path)?.size ?? 0
    const { tail, end } = await tailOf(deps, held, size)
    if (end.kind === 'torn') held.torn = true
    const ids = new Map([...(known ?? []), ...tail.keys])
    let last = tail.last
    const repair = end.kind === 'whole' ? '' : end.kind === 'open' ? end.missing : end.note
    if (end.kind === 'torn' && end.number !== null) last = Math.max(last, end.number)
    const results: AppendedEntry[] = []
    const written: { readonly key: string; readonly id: string; readonly text: string; readonly hash: string }[] = []
    for (const entry of entries) {
      const old = ids.get(entry.key)
      if (old !== undefined) {
        results.push({ id: old, key: entry.key, duplicate: true })
        continue
      }
      last += 1
      const text = encodeEntry(entry, last)
      const id = entryId(last)
      written.push({ key: entry.key, id, text, hash: hashOfEntry(text) })
      ids.set(entry.key, id)
      results.push({ id, key: entry.key, duplicate: false })
    }
    if (written.length === 0) return results
    if (store !== undefined) {
      await noteEntries(
        store,
        stream,
        written.map(({ id, hash }) => [id, hash]),
      )
    }
    const bytes = Buffer.from(repair + written.map(({ text }) => text).join(''))
    await deps.files.append(path, bytes)
    if (store !== undefined) {
      const keys = [...tail.keys, ...written.map(({ key, id }) => [key, id] as const)].slice(-keptKeys)
      await putTail(store, stream, { size: size + bytes.length, last, keys })
    }
    return results
  } catch (error) {
    throw isOfFiles(error) ? cannotWrite(stream, error) : error
  }
}

function isOfFiles(error: unknown): error is OutriggerError {
  return error instanceof OutriggerError && error.code.startsWith('FILES_')
}

export function cannotWrite(stream: string, error: OutriggerError): OutriggerError {
  return new OutriggerError('PACK_WRITE_FAILED', `the notes of "${stream}" cannot be written: ${error.message}`, {
    subject: stream,
    ...(error.hint !== undefined && { hint: error.hint }),
    exit: 3,
    cause: error,
  })
}

/** The stream's folder, and the merge rule of git beside it. */
export async function makeFolder(deps: PackDeps, stream: string): Promise<void> {
  deps.files.makeFolder(absolute(deps, pathsOf(stream).folder), 0o700)
  const attributes = `${absolute(deps, packFolder)}/.gitattributes`
  if (deps.files.stat(attributes) === undefined) await replaceNew(deps, attributes, '*/journal.md merge=union\n')
}

/** Folder and journal with its head; made once. */
async function makeJournal(deps: PackDeps, held: Held, path: string): Promise<void> {
  if (deps.files.stat(path) !== undefined) return
  await makeFolder(deps, held.stream)
  const head = preambleOf(held.stream)
  if (held.store !== undefined) await beginTrust(held.store, held.stream, sha(head))
  await replaceNew(deps, path, head)
}

async function replaceNew(deps: PackDeps, path: string, text: string): Promise<void> {
  try {
    await deps.files.replace(path, Buffer.from(text), { expect: null, mode: 0o600 })
  } catch (error) {
    // Without a lease another writer may have been first.
    if (!(error instanceof OutriggerError && error.code === 'FILES_MOVED')) throw error
  }
}

async function tailOf(deps: PackDeps, held: Held, size: number): Promise<{ readonly tail: Tail; readonly end: JournalEnd }> {
  const stored = decodeTail((await held.store?.get(tailKey(held.stream)))?.value)
  if (stored !== undefined && stored.size === size) return { tail: stored, end: { kind: 'whole' } }
  const journal = loadJournal(deps, held.stream)
  if (journal === null) return { tail: { size, last: 0, keys: [] }, end: { kind: 'whole' } }
  const keys = journal.entries.flatMap(entry => (entry.state === 'torn' ? [] : [[entry.key, entry.id] as const]))
  return { tail: { size, last: journal.last, keys }, end: journal.end }
}

const tailKey = (stream: string): string => `pack/tail/${stream}`

function decodeTail(value: Json | undefined): Tail | undefined {
  const tail = value as { readonly size?: unknown; readonly last?: unknown; readonly keys?: unknown } | null | undefined
  if (typeof tail?.size !== 'number' || typeof tail.last !== 'number' || !Array.isArray(tail.keys)) return undefined
  return tail as Tail
}

/** A cache: what it does not hold is read from the journal. */
async function putTail(store: Store, stream: string, tail: Tail): Promise<void> {
  try {
    const version = (await store.get(tailKey(stream)))?.version ?? 0
    await store.put(tailKey(stream), tail as unknown as Json, version, { survives: 'process' })
  } catch {
    // The next writer reads the journal.
  }
}
