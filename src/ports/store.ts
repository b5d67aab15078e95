/**
 * State that must survive its process: streams, documents, leases. Nothing else. Keys lie below the
 * project's namespace, which the implementation is opened with.
 *
 * `tests/ports/store.contract.ts` runs against every implementation, killed writers included.
 */
import type { Json } from './json.ts'

export interface StoredRecord {
  readonly seq: number
  readonly record: Json
}

export interface Versioned {
  readonly value: Json
  /** From 1. */
  readonly version: number
}

export interface Lease {
  readonly held: true
  readonly key: string
  readonly owner: string
  /** ms since the epoch. */
  readonly until: number
  /** Let it go; nothing when it was lost meanwhile. */
  release(): Promise<void>
}

export interface LeaseRefused {
  readonly held: false
  readonly holder: string
  readonly until: number
}

/** A lease that somebody holds now. */
export interface HeldLease {
  readonly key: string
  readonly owner: string
  readonly until: number
}

export interface WriteOptions {
  /** `power-loss` (default): synced to the disk before it is acknowledged. `process`: survives the end of any process, and not always a power cut. */
  readonly survives?: 'power-loss' | 'process'
}

export interface LeaseOptions {
  /** Take it from a live holder. */
  readonly take?: boolean
}

export interface Store {
  /** Add a record. Resolves to its number, from 1 and without gaps in its stream, once it is durable. */
  append(stream: string, record: Json, options?: WriteOptions): Promise<number>
  /** Records numbered above `after`, oldest first. */
  read(stream: string, after: number): AsyncIterable<StoredRecord>
  /** The document, or `undefined` when there is none. */
  get(key: string): Promise<Versioned | undefined>
  /** Replace a document whose version is `expected` (0: none yet). Throws `STORE_VERSION_MOVED`, never merges. */
  put(key: string, value: Json, expected: number, options?: WriteOptions): Promise<Versioned>
  /** Keys of documents and names of streams that start with `prefix`, sorted. */
  list(prefix: string): Promise<readonly string[]>
  /** Remove a document of that version, or with `expected` undefined whatever is under the key, a stream included; `false` when nothing was there. */
  remove(key: string, expected?: number): Promise<boolean>
  /**
   * Hold `key` for `ttlMs`; the same owner renews. A holder whose process of this boot is gone, or
   * whose time is over, is stolen inside the transaction.
   *
   * @param owner - `<pid>:<boot id>:<process start>`.
   */
  lease(key: string, owner: string, ttlMs: number, options?: LeaseOptions): Promise<Lease | LeaseRefused>
  /** Leases that are held now, sorted by key; for people who ask who holds what. */
  leases(): Promise<readonly HeldLease[]>
  /**
   * How many times what it stood in was removed or replaced while it was open (a person may delete the folder at any time): what was read before is
   * then in no store any more, and the next write makes a new one. Left out: that cannot happen.
   */
  generation?(): number
  close(): void
}
