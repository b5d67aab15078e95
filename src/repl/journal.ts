/**
 * What a session has done, in the store: stream `repl/<session>/journal`, large parts as documents `repl/blob/<sha256>`. One writer at a time, by a
 * lease; records of a writer that was overtaken do not count.
 */
import { createHash } from 'node:crypto'
import { OutriggerError } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Json } from '../ports/json.ts'
import type { Lease, Store, WriteOptions } from '../ports/store.ts'
import { emptyState, fold, type JournalState } from './journal-state.ts'
import type { JournalRecord, MaybeBlob } from './types.ts'

const blobBytes = 8 * 1024
const leaseMs = 15_000
const renewMs = 5_000

export interface Journal {
  /** What the records add up to; follows every write. */
  readonly state: JournalState
  readonly epoch: number
  write(record: NewRecord): Promise<void>
  /** Large values become blobs. */
  part<T extends Json>(value: T, options?: { readonly isMasked?: boolean }): Promise<MaybeBlob<T>>
  load<T extends Json>(part: MaybeBlob<T>): Promise<T | undefined>
  /** Bytes under their SHA-256 in hex; content that is there already is left as it is. */
  keep(hash: string, bytes: Uint8Array): Promise<void>
  /** Bytes of that hash are there. */
  has(hash: string): Promise<boolean>
  /** Bytes of these hashes were removed. */
  forget(hashes: Iterable<string>): void
  /** `undefined` when there are none of that hash, or they are damaged. */
  bytes(hash: string): Promise<Uint8Array | undefined>
  /** A person removed the store, or moved it away: what is in here is nowhere else. Then `write`, `part` and `keep` throw `REPL_GONE` (exit 4). */
  isGone(): boolean
  close(): Promise<void>
}

/** A record without what the journal adds. */
export type NewRecord = JournalRecord extends infer R ? (R extends JournalRecord ? Omit<R, 'v' | 'at' | 'epoch'> : never) : never

export interface JournalOptions {
  readonly store: Store
  readonly clock: Pick<Clock, 'now'>
  readonly session: string
  /** `<pid>:<boot id>:<process start>`. */
  readonly owner: string
  /** Whether records must survive a power cut too. */
  fsync(): boolean
  /** Masks what must not be written. */
  mask(text: string): string
}

const blobKey = (hash: string): string => `repl/blob/${hash}`

export const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Throws `REPL_HELD` (exit 4) while somebody else has the session open. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { store, clock, session, owner } = options
  const key = `repl/${session}`
  const stream = `${key}/journal`
  const lease = await take(store, key, owner, session)
  // A process that was stopped, or whose clock jumped, can lose the session without having ended.
  let isOvertaken = false
  const generation = store.generation?.() ?? 0
  // A lease would make the folder anew that a person removed, or moved away.
  const isGone = (): boolean => (store.generation?.() ?? 0) !== generation
  const renew = async (): Promise<void> => {
    if (isGone()) return
    if (!(await store.lease(key, owner, leaseMs)).held) isOvertaken = true
  }
  const renewal = setInterval(() => void renew().catch(() => {}), renewMs)
  renewal.unref?.()
  const { state, last } = await read(store, stream)
  let ours = 0
  const epoch = state.epoch + 1
  const survives = (): WriteOptions => ({ survives: options.fsync() ? 'power-loss' : 'process' })

  /** Seen in the store by this writer, who alone removes any. */
  const present = new Set<string>()
  const put = async (key: string, value: Json): Promise<void> => {
    if (isGone()) throw historyRemoved(session)
    try {
      await store.put(key, value, 0, survives())
    } catch (error) {
      // It is there already, under the same content.
      if (!(error instanceof OutriggerError) || error.code !== 'STORE_VERSION_MOVED') throw error
    }
  }

  return {
    state,
    epoch,
    async write(record) {
      const cut = record.k === 'open' && state.damage !== undefined ? { cut: state.damage.seq } : {}
      const whole = { v: 1, at: clock.now(), epoch, ...record, ...cut } as JournalRecord
      if (isGone()) throw historyRemoved(session)
      if (isOvertaken) throw overtaken(session)
      ours += 1
      const seq = await store.append(stream, whole as unknown as Json, survives()).catch((error: unknown) => {
        ours -= 1
        throw error
      })
      // Numbers are given without gaps: a higher one means that somebody else wrote, and readers drop what this one writes.
      if (seq > last + ours) isOvertaken = true
      if (isOvertaken) throw overtaken(session)
      fold(state, whole)
    },
    async part(value, { isMasked = false } = {}) {
      const text = JSON.stringify(value)
      if (text.length <= blobBytes) return value
      const masked = isMasked ? text : options.mask(text)
      const blob = sha256(masked)
      await put(blobKey(blob), { text: masked })
      return { blob, bytes: Buffer.byteLength(masked) }
    },
    load: part => load(store, part),
    async keep(hash, bytes) {
      await put(blobKey(hash), { base64: Buffer.from(bytes).toString('base64') })
      present.add(hash)
    },
    async has(hash) {
      if (!present.has(hash) && (await store.get(blobKey(hash))) !== undefined) present.add(hash)
      return present.has(hash)
    },
    forget(hashes) {
      for (const hash of hashes) present.delete(hash)
    },
    async bytes(hash) {
      const { base64 } = ((await store.get(blobKey(hash)))?.value ?? {}) as { base64?: unknown }
      if (typeof base64 !== 'string') return undefined
      const bytes = new Uint8Array(Buffer.from(base64, 'base64'))
      return sha256(bytes) === hash ? bytes : undefined
    },
    isGone,
    async close() {
      clearInterval(renewal)
      if (!isGone()) await lease.release().catch(() => {})
    },
  }
}

/** What a journal says, for a reader that does not write. `lastUse`: ms since the epoch, 0: never. `bytes`: of the records as JSON. */
export async function readSession(
  store: Store,
  session: string,
): Promise<{ readonly journal: Pick<Journal, 'state' | 'load'>; readonly lastUse: number; readonly bytes: number }> {
  const stream = `repl/${session}/journal`
  let lastUse = 0
  let bytes = 0
  for await (const { record } of store.read(stream, 0)) {
    const { at } = (record ?? {}) as { at?: unknown }
    if (typeof at === 'number') lastUse = Math.max(lastUse, at)
    bytes += Buffer.byteLength(JSON.stringify(record))
  }
  return { journal: { state: (await read(store, stream)).state, load: part => load(store, part) }, lastUse, bytes }
}

async function load<T extends Json>(store: Store, part: MaybeBlob<T>): Promise<T | undefined> {
  if (!isBlob(part)) return part
  const { text } = ((await store.get(blobKey(part.blob)))?.value ?? {}) as { text?: unknown }
  return typeof text === 'string' && sha256(text) === part.blob ? JSON.parse(text) : undefined
}

export function isBlob(part: unknown): part is { readonly blob: string; readonly bytes: number } {
  return (
    typeof part === 'object' &&
    part !== null &&
    typeof (part as { blob?: unknown }).blob === 'string' &&
    typeof (part as { bytes?: unknown }).bytes === 'number'
  )
}

async function take(store: Store, key: string, owner: string, session: string): Promise<Lease> {
  const lease = await store.lease(key, owner, leaseMs)
  if (lease.held) return lease
  throw new OutriggerError('REPL_HELD', `session ${session} is open in another process (${lease.holder.split(':')[0]})`, {
    subject: session,
    hint: 'close it there (`outrigger serve --stop`, if that is the engine process), or use another session',
    toolHint: 'use another session',
    exit: 4,
  })
}

/** Exit 4. */
export function historyRemoved(session: string): OutriggerError {
  return new OutriggerError('REPL_GONE', `the history of session ${session} was removed while it was open`, {
    subject: session,
    hint: 'send it again: it begins a session without names',
    exit: 4,
  })
}

function overtaken(session: string): OutriggerError {
  return new OutriggerError('REPL_HELD', `session ${session} was taken over by another process`, {
    subject: session,
    hint: 'go on there, or start this one again when that one has ended',
    exit: 4,
  })
}

/**
 * What follows a record that cannot be read is left out, up to where a writer went on from the record before it. `last`: the number of the last
 * record, 0 when there is none.
 */
async function read(store: Store, stream: string): Promise<{ readonly state: JournalState; readonly last: number }> {
  const state = emptyState()
  let last = 0
  for await (const { seq, record } of store.read(stream, 0)) {
    last = seq
    const known = record as unknown as JournalRecord
    const fault = faultOf(known)
    if (state.damage === undefined && fault !== undefined) state.damage = { seq, why: fault }
    if (state.damage !== undefined) {
      if (fault !== undefined || known.k !== 'open' || known.cut !== state.damage.seq) continue
      state.damage = undefined
    }
    fold(state, known)
  }
  return { state, last }
}

function faultOf(record: JournalRecord): string | undefined {
  if (typeof record !== 'object' || record === null || typeof record.k !== 'string' || typeof record.epoch !== 'number')
    return 'cannot be read'
  return record.v === 1 ? undefined : 'is of a newer version'
}
