/**
 * What this machine wrote itself: for each entry the hash of its bytes, noted before they are written, and for
 * the state its text. A stream whose files say the same is the person's own.
 */
import type { Json } from '../ports/json.ts'
import type { Store } from '../ports/store.ts'
import type { Entry, Journal } from './journal.ts'
import { sha } from './journal.ts'
import type { TrustLevel } from './types.ts'

/** The state that was written last, and the one that was about to be. */
export interface TrustRecord {
  readonly preamble: string
  /** SHA-256 of `state.md`; `null`: none was written. */
  readonly state: string | null
  readonly next: string | null
  /** A person said that it is theirs. */
  readonly confirmed: boolean
  /** Text of the state that was written last, for what a person changed in it. */
  readonly text: string | null
}

type Noted = readonly (readonly [id: string, hash: string])[]

const trustKey = (stream: string): string => `pack/trust/${stream}`
const entriesKey = (stream: string): string => `pack/entries/${stream}`

/** A stream that begins here is its writer's own. */
export async function beginTrust(store: Store, stream: string, preamble: string): Promise<void> {
  await store.remove(entriesKey(stream))
  await putTrust(store, stream, { preamble, state: null, next: null, confirmed: false, text: null })
}

export async function getTrust(store: Store, stream: string): Promise<TrustRecord | null> {
  const value = (await store.get(trustKey(stream)))?.value as Partial<TrustRecord> | undefined
  if (value === undefined || value === null || typeof value.preamble !== 'string') return null
  return {
    preamble: value.preamble,
    state: value.state ?? null,
    next: value.next ?? null,
    confirmed: value.confirmed === true,
    text: value.text ?? null,
  }
}

export async function putTrust(store: Store, stream: string, record: TrustRecord): Promise<void> {
  const version = (await store.get(trustKey(stream)))?.version ?? 0
  await store.put(trustKey(stream), record as unknown as Json, version)
}

/** Note a batch before it is written. */
export async function noteEntries(store: Store, stream: string, batch: Noted): Promise<void> {
  await store.append(entriesKey(stream), batch as unknown as Json, { survives: 'process' })
}

/** A person takes all entries that are there as theirs. */
export async function confirmEntries(store: Store, stream: string, entries: readonly Entry[]): Promise<void> {
  await store.remove(entriesKey(stream))
  const whole = entries.filter(entry => entry.state !== 'torn')
  for (let from = 0; from < whole.length; from += 2_000) {
    const batch = whole.slice(from, from + 2_000).map(({ id, hash }) => [id, hash] as const)
    await noteEntries(store, stream, batch)
  }
}

export interface Trust {
  readonly level: TrustLevel
  readonly confirmed: boolean
  readonly record: TrustRecord | null
  /** Entries that nobody wrote here, or that were changed. */
  readonly strange: readonly Entry[]
  /** Ids of entries that were written here and are gone. */
  readonly gone: readonly string[]
  /** `state.md` or the head of the journal is another one. */
  readonly otherState: boolean
}

/** @param state - text of `state.md`; `null`: none, which loses nothing. */
export async function judge(store: Store, stream: string, journal: Journal | null, state: string | null): Promise<Trust> {
  const record = await getTrust(store, stream)
  if (record === null) {
    const strange = journal?.entries.filter(entry => entry.state !== 'torn') ?? []
    return { level: 'foreign', confirmed: false, record, strange, gone: [], otherState: state !== null }
  }
  const batches: Noted[] = []
  for await (const { record: batch } of store.read(entriesKey(stream), 0)) batches.push(batch as unknown as Noted)
  const { strange, gone } = compare(batches, journal)
  const hash = state === null ? null : sha(state)
  const isOurs = hash === null || hash === record.state || hash === record.next
  const otherState = !isOurs || (journal !== null && journal.preamble !== record.preamble)
  const isOwn = strange.length === 0 && gone.length === 0 && !otherState
  return { level: isOwn ? 'own' : 'changed', confirmed: record.confirmed, record, strange, gone, otherState }
}

/**
 * The same set both ways. A noted entry may be missing where a writer was stopped: in the newest batch, where its
 * number was used again, or where the journal says that it is torn.
 */
function compare(
  batches: readonly Noted[],
  journal: Journal | null,
): { readonly strange: readonly Entry[]; readonly gone: readonly string[] } {
  const entries = journal?.entries ?? []
  const present = new Set<string>(journal?.doubles)
  const torn = new Set<string>(journal?.tornIds)
  for (const entry of entries) {
    if (entry.state === 'torn') torn.add(plainId(entry.id))
    else present.add(entry.hash)
  }
  const noted = new Set(batches.flat().map(([, hash]) => hash))
  const strange = entries.filter(entry => entry.state !== 'torn' && !noted.has(entry.hash))
  const gone: string[] = []
  const usedAgain = new Set<string>()
  for (let at = batches.length - 1; at >= 0; at--) {
    for (const [id, hash] of batches[at]!) {
      const isExcused = at === batches.length - 1 || usedAgain.has(id) || torn.has(plainId(id))
      if (!present.has(hash) && !isExcused) gone.push(id)
    }
    for (const [id] of batches[at]!) usedAgain.add(id)
  }
  return { strange, gone: gone.reverse() }
}

const plainId = (id: string): string => id.split('~')[0]!
