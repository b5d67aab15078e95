import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '../../src/ports/store.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { storeContract } from './store.contract.ts'

storeContract('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrigger-store-'))
  const dead = new Set<string>()
  const opened: Store[] = []
  let now = 1_000_000
  const open = async () => {
    const store = await openSqliteStore(join(folder, 'store.db'), { isDead: owner => dead.has(owner), now: () => now })
    opened.push(store)
    return store
  }
  return {
    store: await open(),
    another: open,
    advance: ms => {
      now += ms
    },
    kill: owner => dead.add(owner),
    close: async () => {
      for (const store of opened) store.close()
      rmSync(folder, { recursive: true })
    },
  }
})
