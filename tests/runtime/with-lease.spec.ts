import { describe, expect, it } from 'vitest'
import { OutriggerError } from '../../src/errors.ts'
import type { Store } from '../../src/ports/store.ts'
import { createWithLease } from '../../src/runtime/with-lease.ts'
import { memoryStore } from '../support/memory-store.ts'

const times = { ttlMs: 10_000, waitMs: 400 }
const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))
const withLeaseOf = (store: Store, owner = '1:b:1') => createWithLease({ store: async () => store, owner: () => owner })

describe('work under a lease', () => {
  it('holds it while it runs and lets it go after', async () => {
    const store = memoryStore()
    const done = await withLeaseOf(store)('k', times, async () => (await store.leases()).map(lease => lease.key))
    expect(done).toEqual({ held: true, value: ['k'] })
    expect(await store.leases()).toEqual([])
  })

  it('lets it go when it throws', async () => {
    const store = memoryStore()
    const failing = withLeaseOf(store)('k', times, () => Promise.reject(new Error('mine')))
    await expect(failing).rejects.toThrow('mine')
    expect(await store.leases()).toEqual([])
    expect(await withLeaseOf(store)('k', times, async () => 1)).toEqual({ held: true, value: 1 })
  })

  it('waits for another owner as long as it may, and names who holds it', async () => {
    const store = memoryStore()
    await store.lease('k', '2:b:2', 60_000)
    const start = performance.now()
    let ran = false
    const done = await withLeaseOf(store)('k', times, async () => {
      ran = true
    })
    expect(done).toEqual({ held: false, holder: '2:b:2' })
    expect(ran).toBe(false)
    expect(performance.now() - start).toBeGreaterThanOrEqual(395)
  })

  it('gets it when the other one lets go in time', async () => {
    const store = memoryStore()
    const other = await store.lease('k', '2:b:2', 60_000)
    setTimeout(() => void (other.held && other.release()), 80)
    expect(await withLeaseOf(store)('k', times, async () => 'mine')).toEqual({ held: true, value: 'mine' })
  })

  it('does not wait when it may not', async () => {
    const store = memoryStore()
    await store.lease('k', '2:b:2', 60_000)
    expect(await withLeaseOf(store)('k', { ttlMs: 1_000, waitMs: 0 }, async () => 1)).toEqual({ held: false, holder: '2:b:2' })
    expect(await withLeaseOf(store)('free', { ttlMs: 1_000, waitMs: 50 }, async () => 1)).toEqual({ held: true, value: 1 })
  })

  it('of one process runs one at a time, though the owner is the same', async () => {
    const withLease = withLeaseOf(memoryStore())
    let running = 0
    let most = 0
    const work = async (): Promise<void> => {
      running += 1
      most = Math.max(most, running)
      await sleep(5)
      running -= 1
    }
    const all = await Promise.all(Array.from({ length: 10 }, () => withLease('k', { ttlMs: 1_000, waitMs: 5_000 }, work)))
    expect(all.every(one => one.held)).toBe(true)
    expect(most).toBe(1)
  })

  it('of one process gives up its turn when it comes too late, and blocks nobody', async () => {
    const withLease = withLeaseOf(memoryStore())
    const long = withLease('k', times, () => sleep(200))
    expect(await withLease('k', { ttlMs: 1_000, waitMs: 20 }, async () => 1)).toEqual({ held: false, holder: '1:b:1' })
    expect(await withLease('k', times, async () => 2)).toEqual({ held: true, value: 2 })
    expect((await long).held).toBe(true)
  })

  it('of different keys runs side by side', async () => {
    const withLease = withLeaseOf(memoryStore())
    const inner = await withLease('a', times, () => withLease('b', times, async () => 'both'))
    expect(inner).toEqual({ held: true, value: { held: true, value: 'both' } })
  })

  it('keeps it through work that is longer than its time', async () => {
    const store = memoryStore()
    const taken = await withLeaseOf(store)('k', { ttlMs: 90, waitMs: 0 }, async () => {
      await sleep(300)
      return (await store.lease('k', '2:b:2', 1_000)).held
    })
    expect(taken).toEqual({ held: true, value: false })
    await sleep(100)
    expect(await store.leases()).toEqual([])
  })

  it('says what the store says when there is none', async () => {
    const store = memoryStore()
    store.failWith(new OutriggerError('STORE_UNAVAILABLE', 'gone', { exit: 3 }))
    await expect(withLeaseOf(store)('k', times, async () => 1)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    store.failWith(undefined)
  })
})
