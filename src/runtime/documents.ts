/** Documents of the store for the runtime: a store that cannot be used is a mode, not a failure of the host's turn. */
import { OutriggerError } from '../errors.ts'
import type { Json } from '../ports/json.ts'
import type { Store } from '../ports/store.ts'

export interface Documents {
  get(key: string): Promise<{ readonly value: Json; readonly version: number } | undefined>
  /** `moved`: somebody else wrote it, nothing was written. `lost`: the store cannot be used. */
  put(
    key: string,
    value: Json,
    expected: number,
  ): Promise<{ readonly kind: 'saved'; readonly version: number } | { readonly kind: 'moved' | 'lost' }>
  /** Remove documents that were written before `before` (ms since the epoch). Failing is nothing. */
  ageOut(prefix: string, before: number, also: (key: string) => readonly string[]): Promise<void>
  /** The store could not be used at the last try. */
  isLost(): boolean
}

export function createDocuments(open: () => Promise<Store>): Documents {
  let lost = false
  return {
    async get(key) {
      try {
        const found = await (await open()).get(key)
        lost = false
        return found
      } catch {
        // Any error of the store: the session goes on in memory.
        lost = true
        return undefined
      }
    },
    async put(key, value, expected) {
      try {
        const { version } = await (await open()).put(key, value, expected)
        lost = false
        return { kind: 'saved', version }
      } catch (error) {
        if (error instanceof OutriggerError && error.code === 'STORE_VERSION_MOVED') return { kind: 'moved' }
        lost = true
        return { kind: 'lost' }
      }
    },
    async ageOut(prefix, before, also) {
      try {
        const store = await open()
        for (const key of await store.list(prefix)) {
          const value = (await store.get(key))?.value as { readonly at?: unknown } | null | undefined
          if (typeof value?.at !== 'number' || value.at >= before) continue
          for (const old of [key, ...also(key)]) await store.remove(old)
        }
      } catch {
        // Tidying only: it is tried again by the next process.
      }
    },
    isLost: () => lost,
  }
}
