/** The store in memory, for tests of engines. Keeps the contract of the port (`tests/ports/store.contract.ts`). */
import { OutriggerError } from '../../src/errors.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Json } from '../../src/ports/json.ts'
import type { Lease, LeaseRefused, Store } from '../../src/ports/store.ts'

export interface MemoryStoreOptions {
  readonly clock?: Pick<Clock, 'now'>
  /** Is this owner's process alive? Default: everyone is. */
  readonly isAlive?: (owner: string) => boolean
}

/** Fails the next calls of these names; for fault injection. */
export interface MemoryStore extends Store {
  /** `undefined` lets everything through again. */
  failWith(error: OutriggerError | undefined): void
}

export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const now = () => (options.clock === undefined ? Date.now() : options.clock.now())
  const isAlive = options.isAlive ?? (() => true)
  const streams = new Map<string, string[]>()
  const documents = new Map<string, { readonly value: string; readonly version: number }>()
  const leases = new Map<string, { readonly owner: string; readonly until: number }>()
  let failure: OutriggerError | undefined
  const check = () => {
    if (failure !== undefined) throw failure
  }
  return {
    failWith: error => {
      failure = error
    },
    async append(stream, record) {
      check()
      const records = streams.get(stream) ?? []
      streams.set(stream, records)
      return records.push(JSON.stringify(record))
    },
    async *read(stream, after) {
      check()
      const records = streams.get(stream) ?? []
      for (let at = after; at < records.length; at += 1) yield { seq: at + 1, record: JSON.parse(records[at]!) as Json }
    },
    async get(key) {
      check()
      const found = documents.get(key)
      return found && { value: JSON.parse(found.value) as Json, version: found.version }
    },
    async put(key, value, expected) {
      check()
      const version = documents.get(key)?.version ?? 0
      if (version !== expected) {
        throw new OutriggerError('STORE_VERSION_MOVED', `"${key}" has version ${version}, expected ${expected}`, {
          subject: key,
          exit: 4,
        })
      }
      documents.set(key, { value: JSON.stringify(value), version: version + 1 })
      return { value, version: version + 1 }
    },
    async list(prefix) {
      check()
      return [...new Set([...documents.keys(), ...streams.keys()])].filter(key => key.startsWith(prefix)).sort()
    },
    async remove(key, expected) {
      check()
      if (expected === undefined) {
        const hadDocument = documents.delete(key)
        return streams.delete(key) || hadDocument
      }
      const found = documents.get(key)
      if (found === undefined) return false
      if (found.version !== expected) {
        throw new OutriggerError('STORE_VERSION_MOVED', `"${key}" has version ${found.version}, expected ${expected}`, {
          subject: key,
          exit: 4,
        })
      }
      return documents.delete(key)
    },
    async lease(key, owner, ttlMs, { take = false } = {}): Promise<Lease | LeaseRefused> {
      check()
      const held = leases.get(key)
      if (held !== undefined && held.owner !== owner && held.until > now() && isAlive(held.owner) && !take) {
        return { held: false, holder: held.owner, until: held.until }
      }
      const until = now() + ttlMs
      leases.set(key, { owner, until })
      return {
        held: true,
        key,
        owner,
        until,
        release: async () => {
          if (leases.get(key)?.owner === owner) leases.delete(key)
        },
      }
    },
    async leases() {
      check()
      const held = [...leases].filter(([, { owner, until }]) => until > now() && isAlive(owner))
      return held.map(([key, lease]) => ({ key, ...lease })).sort((a, b) => (a.key < b.key ? -1 : 1))
    },
    close() {},
  }
}
