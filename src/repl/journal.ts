/**
 * What a session has done, in the store: stream `repl/<session>/journal`, large parts as documents `repl/blob/<sha256>`. One writer at a time, by a
 * lease; records of a writer that was overtaken do not count.
 */
import { createHash } from 'node:crypto'
import { OutriggerError } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Json } from '../ports/json.ts'
import type { Lease, Store, WriteOptions } from '../ports/store.ts'
import type { BeginRecord, CellClass, EndRecord, JournalRecord, MaybeBlob, NameKind, OpenRecord } from './types.ts'

const blobBytes = 8 * 1024
const leaseMs = 15_000
const renewMs = 5_000

/** A cell as the journal knows it. */
export interface JournalCell {
  readonly begin: BeginRecord
  end: EndRecord | undefined
}

/** A name that is bound as far as the records say. */
export interface JournalName {
  readonly kind: NameKind
  readonly cell: number
  readonly class: CellClass
}

export interface Journal {
  readonly cells: ReadonlyMap<number, JournalCell>
  /** Names bound after the last record, and the cell that bound each. */
  readonly names: Map<string, JournalName>
  /** The newest cell; 0: none. */
  readonly latest: number
  readonly head: number
  /** Of the newest `open` record. */
  readonly opened: OpenRecord | undefined
  /** The journal was cut: why, in words. */
  readonly damage: string | undefined
  write(record: NewRecord): Promise<void>
  /** Large values become blobs. */
  part<T extends Json>(value: T): Promise<MaybeBlob<T>>
  load<T extends Json>(part: MaybeBlob<T>): Promise<T | undefined>
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

export const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Throws `REPL_HELD` (exit 4) while somebody else has the session open. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { store, clock, session, owner } = options
  const key = `repl/${session}`
  const stream = `${key}/journal`
  const lease = await take(store, key, owner, session)
  const renewal = setInterval(() => void store.lease(key, owner, leaseMs).catch(() => {}), renewMs)
  renewal.unref?.()
  const state = await read(store, stream)
  const epoch = state.epoch + 1
  const survives = (): WriteOptions => ({ survives: options.fsync() ? 'power-loss' : 'process' })

  return {
    cells: state.cells,
    names: state.names,
    get latest() {
      return state.latest
    },
    get head() {
      return state.head
    },
    get opened() {
      return state.opened
    },
    damage: state.damage,
    async write(record) {
      const whole = { v: 1, at: clock.now(), epoch, ...record } as JournalRecord
      await store.append(stream, whole as unknown as Json, survives())
      fold(state, whole)
    },
    async part(value) {
      const text = JSON.stringify(value)
      if (text.length <= blobBytes) return value
      const masked = options.mask(text)
      const blob = sha256(masked)
      try {
        await store.put(`repl/blob/${blob}`, { text: masked }, 0, survives())
      } catch (error) {
        // It is there already, under the same content.
        if (!(error instanceof OutriggerError) || error.code !== 'STORE_VERSION_MOVED') throw error
      }
      return { blob, bytes: Buffer.byteLength(masked) }
    },
    async load(part) {
      if (!isBlob(part)) return part
      const found = await store.get(`repl/blob/${part.blob}`)
      if (found === undefined) return undefined
      return JSON.parse((found.value as { text: string }).text)
    },
    async close() {
      clearInterval(renewal)
      await lease.release().catch(() => {})
    },
  }
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
    hint: 'close it there, or use another session',
    exit: 4,
  })
}

interface State {
  readonly cells: Map<number, JournalCell>
  readonly names: Map<string, JournalName>
  latest: number
  head: number
  epoch: number
  opened: OpenRecord | undefined
  damage: string | undefined
}

async function read(store: Store, stream: string): Promise<State> {
  const state: State = { cells: new Map(), names: new Map(), latest: 0, head: 0, epoch: 0, opened: undefined, damage: undefined }
  for await (const { seq, record } of store.read(stream, 0)) {
    const known = record as unknown as JournalRecord
    if (typeof known !== 'object' || known === null || typeof known.k !== 'string') {
      state.damage = `record ${seq} cannot be read; the session goes on from the one before`
      break
    }
    if (known.v !== 1) {
      state.damage = `record ${seq} is of a newer version; the session goes on from the one before`
      break
    }
    fold(state, known)
  }
  return state
}

function fold(state: State, record: JournalRecord): void {
  // A writer that lost its lease may have written on for a moment.
  if (record.epoch < state.epoch) return
  state.epoch = record.epoch
  switch (record.k) {
    case 'open':
      state.opened = record
      return
    case 'begin':
      state.cells.set(record.cell, { begin: record, end: undefined })
      state.latest = Math.max(state.latest, record.cell)
      return
    case 'end': {
      const cell = state.cells.get(record.cell)
      if (cell === undefined) return
      cell.end = record
      state.head = record.cell
      for (const { name, kind } of [...record.names.added, ...record.names.changed])
        state.names.set(name, { kind, cell: record.cell, class: record.class })
      for (const name of record.names.removed) state.names.delete(name)
      return
    }
    case 'recover':
      for (const { name, status } of record.statuses) if (status === 'lost') state.names.delete(name)
      return
    case 'call':
    case 'late':
    case 'check':
    case 'state':
    case 'confirm':
      return
    default:
      // A record of a later build.
      record satisfies never
  }
}
