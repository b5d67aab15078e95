/** What every store keeps. Run against each implementation by a spec file beside this one. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '../../src/ports/json.ts'
import type { Lease, LeaseRefused, Store, StoredRecord } from '../../src/ports/store.ts'

export interface StoreUnderTest {
  readonly store: Store
  /** Another handle on the same data; the same one for a store in memory. */
  another(): Promise<Store>
  /** Moves the clock of leases. */
  advance(ms: number): void
  /** From now on the owner's process is gone. */
  kill(owner: string): void
  close(): Promise<void>
}

async function all(records: AsyncIterable<StoredRecord>): Promise<StoredRecord[]> {
  const found: StoredRecord[] = []
  for await (const record of records) found.push(record)
  return found
}

const held = (lease: Lease | LeaseRefused): Lease => {
  expect(lease.held).toBe(true)
  return lease as Lease
}

export function storeContract(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`the store contract of ${name}`, () => {
    let under: StoreUnderTest
    let store: Store
    beforeEach(async () => {
      under = await open()
      store = under.store
    })
    afterEach(() => under.close())

    describe('streams', () => {
      it('number records from 1, each stream for itself', async () => {
        expect(await store.append('a', { n: 1 })).toBe(1)
        expect(await store.append('a', { n: 2 })).toBe(2)
        expect(await store.append('b', 'first')).toBe(1)
        expect(await all(store.read('a', 0))).toEqual([
          { seq: 1, record: { n: 1 } },
          { seq: 2, record: { n: 2 } },
        ])
      })

      it('are read above a number, oldest first, page by page', async () => {
        for (let n = 1; n <= 1_203; n += 1) await store.append('long', n)
        const found = await all(store.read('long', 100))
        expect(found.map(record => record.seq)).toEqual(Array.from({ length: 1_103 }, (_, at) => at + 101))
        expect(found.at(-1)).toEqual({ seq: 1_203, record: 1_203 })
      })

      it('answer nothing when they are not there, or were read to their end', async () => {
        await store.append('a', 1)
        expect(await all(store.read('none', 0))).toEqual([])
        expect(await all(store.read('a', 1))).toEqual([])
      })

      it('have no gaps when many append at once', async () => {
        const second = await under.another()
        const numbers = await Promise.all(
          Array.from({ length: 60 }, (_, at) => (at % 2 === 0 ? store : second).append('busy', at)),
        )
        expect([...numbers].sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, at) => at + 1))
        expect(await all(store.read('busy', 0))).toHaveLength(60)
      })

      it('start again from 1 once they were removed', async () => {
        await store.append('a', 1)
        await store.append('a', 2)
        expect(await store.remove('a')).toBe(true)
        expect(await store.remove('a')).toBe(false)
        expect(await all(store.read('a', 0))).toEqual([])
        expect(await store.append('a', 3)).toBe(1)
      })
    })

    describe('documents', () => {
      it('are created with version 0 expected and replaced with their own', async () => {
        expect(await store.get('k')).toBeUndefined()
        expect(await store.put('k', { a: 1 }, 0)).toEqual({ value: { a: 1 }, version: 1 })
        expect(await store.put('k', { a: 2 }, 1)).toEqual({ value: { a: 2 }, version: 2 })
        expect(await store.get('k')).toEqual({ value: { a: 2 }, version: 2 })
      })

      it.each([0, 2, 7])('refuse a writer that expects version %i of a document with version 1', async expected => {
        await store.put('k', 'mine', 0)
        await expect(store.put('k', 'other', expected)).rejects.toMatchObject({
          code: 'STORE_VERSION_MOVED',
          exit: 4,
          subject: 'k',
        })
        expect(await store.get('k')).toEqual({ value: 'mine', version: 1 })
      })

      it('let exactly one of many writers win', async () => {
        const second = await under.another()
        const tries = await Promise.allSettled(
          Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? store : second).put('race', at, 0)),
        )
        expect(tries.filter(one => one.status === 'fulfilled')).toHaveLength(1)
      })

      it('are removed by their version, or whatever it is', async () => {
        await store.put('k', 1, 0)
        await expect(store.remove('k', 2)).rejects.toMatchObject({ code: 'STORE_VERSION_MOVED' })
        expect(await store.remove('k', 1)).toBe(true)
        expect(await store.remove('k', 1)).toBe(false)
        await store.put('k', 1, 0)
        expect(await store.remove('k')).toBe(true)
        expect(await store.get('k')).toBeUndefined()
      })

      it.each<[string, Json]>([
        ['null', null],
        ['text with every kind of character', 'a\u0000b\u2028 \ud83d\ude00 "\\'],
        ['nested values', { a: [1, -2.5, true, null, { b: 'c' }], ['__proto__']: 1 }],
      ])('give back %s as it was', async (_name, value) => {
        await store.put('v', value, 0)
        await store.append('v', value)
        expect(JSON.stringify((await store.get('v'))?.value)).toBe(JSON.stringify(value))
        expect(JSON.stringify((await all(store.read('v', 0)))[0]?.record)).toBe(JSON.stringify(value))
      })

      it('do not change with the value that was handed in', async () => {
        const value = { list: [1] }
        await store.put('k', value, 0)
        value.list.push(2)
        expect((await store.get('k'))?.value).toEqual({ list: [1] })
      })
    })

    it('lists documents and streams below a prefix, sorted, each once', async () => {
      await store.put('next/b', 1, 0)
      await store.append('next/a', 1)
      await store.append('next/b', 1)
      await store.put('nexu', 1, 0)
      await store.put('NEXT/c', 1, 0)
      await store.put('next_c', 1, 0)
      expect(await store.list('next/')).toEqual(['next/a', 'next/b'])
      expect(await store.list('none')).toEqual([])
      expect(await store.list('%')).toEqual([])
    })

    describe('leases', () => {
      const one = '1:boot:10'
      const two = '2:boot:20'

      it('are held by one owner, who may renew', async () => {
        const first = held(await store.lease('k', one, 1_000))
        expect(await (await under.another()).lease('k', two, 1_000)).toEqual({ held: false, holder: one, until: first.until })
        under.advance(500)
        expect(held(await store.lease('k', one, 1_000)).until).toBe(first.until + 500)
      })

      it('pass on when their time is over', async () => {
        await store.lease('k', one, 1_000)
        under.advance(1_000)
        expect(held(await store.lease('k', two, 1_000)).owner).toBe(two)
      })

      it('pass on at once when the holder died', async () => {
        await store.lease('k', one, 60_000)
        under.kill(one)
        expect(held(await store.lease('k', two, 1_000)).owner).toBe(two)
      })

      it('are taken from a live holder by who asks for that', async () => {
        await store.lease('k', one, 60_000)
        expect(held(await store.lease('k', two, 1_000, { take: true })).owner).toBe(two)
        expect((await store.lease('k', one, 1_000)).held).toBe(false)
      })

      it('are let go by their holder only', async () => {
        const lost = held(await store.lease('k', one, 1_000))
        const taken = held(await store.lease('k', two, 1_000, { take: true }))
        await lost.release()
        expect((await store.lease('k', one, 1_000)).held).toBe(false)
        await taken.release()
        expect((await store.lease('k', one, 1_000)).held).toBe(true)
      })

      it('are listed while they are held', async () => {
        await store.lease('b', one, 1_000)
        const lease = held(await store.lease('a', two, 5_000))
        expect((await store.leases()).map(({ key, owner }) => [key, owner])).toEqual([
          ['a', two],
          ['b', one],
        ])
        under.advance(1_000)
        expect(await store.leases()).toEqual([{ key: 'a', owner: two, until: lease.until }])
        under.kill(two)
        expect(await store.leases()).toEqual([])
      })

      it('of several keys do not touch one another, nor documents of the same key', async () => {
        await store.put('k', 1, 0)
        await store.lease('k', one, 1_000)
        expect((await store.lease('other', two, 1_000)).held).toBe(true)
        expect(await store.get('k')).toEqual({ value: 1, version: 1 })
        expect(await store.list('')).toEqual(['k'])
      })
    })
  })
}
