import { describe, expect, it } from 'vitest'
import { OutriggerError } from '../../src/errors.ts'
import type { Store } from '../../src/ports/store.ts'
import { createEnduringStore } from '../../src/runtime/enduring-store.ts'
import { createModes } from '../../src/runtime/modes.ts'
import { createScratchStore } from '../../src/runtime/scratch-store.ts'

const clock = { now: () => 1_000 }

function enduring(code: string | null) {
  const real = createScratchStore(clock)
  const modes = createModes()
  const world = { code, elapsed: 0, opened: 0 }
  const store: Store = createEnduringStore({
    open: async () => {
      world.opened++
      if (world.code !== null) throw new OutriggerError(world.code, 'why', { hint: 'do this' })
      return real
    },
    clock,
    modes,
    elapsed: () => world.elapsed,
  })
  return { store, real, modes, world }
}

async function all(store: Store, stream: string) {
  const records = []
  for await (const { record } of store.read(stream, 0)) records.push(record)
  return records
}

describe('a session’s store', () => {
  it('is the real one while that works', async () => {
    const { store, real, modes } = enduring(null)
    await store.put('k', 1, 0)
    await store.append('s', 'one')
    expect(await real.get('k')).toEqual({ value: 1, version: 1 })
    expect(await all(store, 's')).toEqual(['one'])
    await expect(store.put('k', 2, 0)).rejects.toMatchObject({ code: 'STORE_VERSION_MOVED' })
    expect(await real.get('k')).toEqual({ value: 1, version: 1 })
    expect(modes.list()).toEqual([])
  })

  it.each(['STORE_DAMAGED', 'STORE_TOO_NEW', 'STORE_UNAVAILABLE', 'STORE_BUSY', 'OTHER'])(
    'is memory after %s, and says so',
    async code => {
      const { store, modes, world } = enduring(code)
      expect(await store.get('k')).toBeUndefined()
      await store.put('k', 1, 0)
      expect(await store.get('k')).toEqual({ value: 1, version: 1 })
      expect(await store.list('')).toEqual(['k'])
      await expect(store.put('k', 2, 0)).rejects.toMatchObject({ code: 'STORE_VERSION_MOVED' })
      expect(modes.list()).toEqual([{ name: 'no store', why: 'why: do this' }])
      expect(world.opened).toBe(1)
    },
  )

  it('keeps no records in memory: whoever appends or reads them hears why', async () => {
    const { store } = enduring('STORE_DAMAGED')
    await expect(store.append('s', 1)).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
    await expect(all(store, 's')).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  })

  it('gives leases of its own when the real one is broken for all, and none while another process has it', async () => {
    expect(await enduring('STORE_DAMAGED').store.lease('l', 'me', 10)).toMatchObject({ held: true, owner: 'me' })
    expect(await enduring('STORE_BUSY').store.lease('l', 'me', 10)).toEqual({
      held: false,
      holder: 'another process',
      until: 6_000,
    })
  })

  it('is the real one again after a while, and what memory knew does not overwrite it', async () => {
    const { store, real, modes, world } = enduring('STORE_DAMAGED')
    await real.put('k', 'theirs', 0)
    await real.put('k', 'theirs too', 1)
    const { version } = await store.put('k', 'mine', 0)
    world.code = null
    expect((await store.get('k'))?.value).toBe('mine')
    world.elapsed = 30_000
    await expect(store.put('k', 'mine still', version)).rejects.toMatchObject({ code: 'STORE_VERSION_MOVED' })
    expect((await store.get('k'))?.value).toBe('theirs too')
    expect(modes.list()).toEqual([])
  })
})
