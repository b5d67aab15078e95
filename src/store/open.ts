/** The store of a project, wherever it may lie; opened on the first use and made by the first write. */
import type { Store } from '../ports/store.ts'
import { lazyStore } from './lazy.ts'
import { findStore, makeStore, type StoreFile, type StorePlaces } from './location.ts'
import { openSqliteStore, type SqliteOptions } from './sqlite.ts'

/** @param onPlace - told where the store lies, each time it is opened. */
export function openStore(places: StorePlaces, options: SqliteOptions, onPlace: (place: StoreFile) => void = () => {}): Store {
  const open = async (place: StoreFile): Promise<Store> => {
    const store = await openSqliteStore(place.file, options)
    onPlace(place)
    return store
  }
  return lazyStore({
    openExisting: async () => {
      const place = findStore(places)
      return place && open(place)
    },
    openOrMake: async () => open(findStore(places) ?? makeStore(places)),
  })
}
