import { fixedClock } from '../support/fixed-clock.ts'
import { memoryStore } from '../support/memory-store.ts'
import { storeContract } from './store.contract.ts'

storeContract('memory', async () => {
  const clock = fixedClock()
  const dead = new Set<string>()
  const store = memoryStore({ clock, isAlive: owner => !dead.has(owner) })
  return {
    store,
    another: async () => store,
    advance: clock.advance,
    kill: owner => dead.add(owner),
    close: async () => {},
  }
})
