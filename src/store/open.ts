/** The store of a project, wherever it may lie; opened on the first use and made by the first write. */
import { type BigIntStats, statSync } from 'node:fs'
import type { Store } from '../ports/store.ts'
import { lazyStore } from './lazy.ts'
import { findStore, makeStore, type StoreFile, type StorePlaces } from './location.ts'
import { openSqliteStore, type SqliteOptions } from './sqlite.ts'

/** @param onPlace - told where the store lies, each time it is opened. */
export function openStore(places: StorePlaces, options: SqliteOptions, onPlace: (place: StoreFile) => void = () => {}): Store {
  let at: { readonly file: string; readonly id: string } | undefined
  const open = async (place: StoreFile): Promise<Store> => {
    const store = await openSqliteStore(place.file, options)
    at = { file: place.file, id: idOf(place.file) }
    onPlace(place)
    return store
  }
  return lazyStore({
    openExisting: async () => {
      const place = findStore(places)
      return place && open(place)
    },
    openOrMake: async () => open(findStore(places) ?? makeStore(places)),
    isThere() {
      if (at === undefined || idOf(at.file) === at.id) return true
      at = undefined
      return false
    },
  })
}

/** Tells a file from one that was put in its place. */
function idOf(file: string): string {
  const found: BigIntStats | undefined = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? '' : `${found.dev}:${found.ino}`
}
