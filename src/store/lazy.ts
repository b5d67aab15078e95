/**
 * A store that is made by its first write. Until then reads answer "nothing", so that looking at a project
 * leaves no trace in it; each read looks again, because another process may have made it meanwhile.
 */
import type { Store } from '../ports/store.ts'

export interface LazySource {
  /** Open what is there; `undefined` when nothing is. */
  openExisting(): Promise<Store | undefined>
  /** Open it, or make it. */
  openOrMake(): Promise<Store>
  /** What was opened last still lies where it was opened; asked before each use. */
  isThere(): boolean
}

const removingMs = 200

export function lazyStore(source: LazySource): Store {
  let opened: Promise<Store> | undefined
  let generation = 0
  /** When it was found removed, ms of a clock that never stands still. */
  let removedAt = Number.NEGATIVE_INFINITY
  let isClosed = false

  /** Nobody else would ever see what is written to a file that was removed. */
  function current(): Promise<Store> | undefined {
    if (opened === undefined || source.isThere()) return opened
    const removed = opened
    opened = undefined
    generation += 1
    removedAt = performance.now()
    removed.then(
      store => store.close(),
      () => {},
    )
    return undefined
  }

  /** A failure is not remembered: the next call may find the cause gone. */
  function keep(opening: Promise<Store>): Promise<Store> {
    opened = opening
    opening.then(
      store => isClosed && store.close(),
      () => {
        if (opened === opening) opened = undefined
      },
    )
    return opening
  }

  const toWrite = (): Promise<Store> => current() ?? keep(make())

  /** Who removes a folder is not disturbed at it by a file that comes back. */
  async function make(): Promise<Store> {
    const left = removedAt + removingMs - performance.now()
    if (left > 0) await new Promise(resolve => setTimeout(resolve, left))
    return source.openOrMake()
  }

  async function toRead(): Promise<Store | undefined> {
    const known = current()
    if (known !== undefined) return known
    const existing = await source.openExisting()
    if (existing === undefined) return undefined
    if (opened === undefined) return keep(Promise.resolve(existing))
    existing.close()
    return opened
  }

  return {
    append: async (stream, record, options) => (await toWrite()).append(stream, record, options),
    async *read(stream, after) {
      const store = await toRead()
      if (store !== undefined) yield* store.read(stream, after)
    },
    get: async key => (await toRead())?.get(key),
    put: async (key, value, expected, options) => (await toWrite()).put(key, value, expected, options),
    list: async prefix => (await toRead())?.list(prefix) ?? [],
    remove: async (key, expected) => (await toRead())?.remove(key, expected) ?? false,
    lease: async (key, owner, ttlMs, options) => (await toWrite()).lease(key, owner, ttlMs, options),
    leases: async () => (await toRead())?.leases() ?? [],
    generation() {
      current()
      return generation
    },
    close() {
      isClosed = true
      opened?.then(
        store => store.close(),
        () => {},
      )
    },
  }
}
