/** A store that lives as long as a replay. Values are copied in and out, so that nobody shares an object with it. */
import { OutriggerError } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Json } from '../ports/json.ts'
import type { Store } from '../ports/store.ts'

export function createScratchStore(clock: Pick<Clock, 'now'>): Store {
  const streams = new Map<string, string[]>()
  const documents = new Map<string, { readonly json: string; readonly version: number }>()
  const leases = new Map<string, { readonly owner: string; readonly until: number }>()
  const versionOf = (key: string) => documents.get(key)?.version ?? 0
  const moved = (key: string, expected: number) =>
    new OutriggerError('STORE_VERSION_MOVED', `"${key}" has version ${versionOf(key)}, not ${expected}`, {
      subject: key,
      exit: 4,
    })
  const held = () => [...leases].filter(([, { until }]) => until > clock.now())

  return {
    async append(stream, record) {
      const records = streams.get(stream) ?? []
      streams.set(stream, records)
      return records.push(JSON.stringify(record))
    },
    async *read(stream, after) {
      const records = streams.get(stream) ?? []
      for (let at = Math.max(after, 0); at < records.length; at++) yield { seq: at + 1, record: JSON.parse(records[at]!) as Json }
    },
    async get(key) {
      const found = documents.get(key)
      return found && { value: JSON.parse(found.json) as Json, version: found.version }
    },
    async put(key, value, expected) {
      if (versionOf(key) !== expected) throw moved(key, expected)
      documents.set(key, { json: JSON.stringify(value), version: expected + 1 })
      return { value, version: expected + 1 }
    },
    async list(prefix) {
      return [...new Set([...documents.keys(), ...streams.keys()])].filter(key => key.startsWith(prefix)).sort()
    },
    async remove(key, expected) {
      const found = documents.get(key)
      if (expected !== undefined && found !== undefined && found.version !== expected) throw moved(key, expected)
      const hadDocument = documents.delete(key)
      return (expected === undefined && streams.delete(key)) || hadDocument
    },
    async lease(key, owner, ttlMs, options) {
      const other = held().find(([of, lease]) => of === key && lease.owner !== owner)
      if (other !== undefined && options?.take !== true) return { held: false, holder: other[1].owner, until: other[1].until }
      const until = clock.now() + ttlMs
      leases.set(key, { owner, until })
      return {
        held: true,
        key,
        owner,
        until,
        async release() {
          if (leases.get(key)?.owner === owner) leases.delete(key)
        },
      }
    },
    leases: async () => held().map(([key, { owner, until }]) => ({ key, owner, until })),
    close: () => {},
  }
}
