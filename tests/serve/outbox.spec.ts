import { describe, expect, it } from 'vitest'
import { createOutbox } from '../../src/serve/outbox.ts'
import type { Action } from '../../src/session/actions.ts'

const action = (id: string): Action => ({ kind: 'status', id, engine: 'keel', text: id })
const never = new AbortController().signal
const idsOf = ({ actions }: { readonly actions: readonly { readonly seq: number; readonly action: Action }[] }) =>
  actions.map(({ seq, action: { id } }) => `${seq} ${id}`)

describe('what engines ask of their own accord', () => {
  it('is given again until it is acknowledged', async () => {
    const outbox = createOutbox()
    outbox.put('s', [action('a'), action('b')])
    expect(idsOf(await outbox.wait('s', 0, 1_000, never))).toEqual(['1 a', '2 b'])
    expect(idsOf(await outbox.wait('s', 0, 1_000, never))).toEqual(['1 a', '2 b'])
    expect(idsOf(await outbox.wait('s', 1, 1_000, never))).toEqual(['2 b'])
    expect(idsOf(await outbox.wait('s', 2, 1, never))).toEqual([])
  })

  it('wakes who waits, and only in its session', async () => {
    const outbox = createOutbox()
    const waiting = outbox.wait('s', 0, 10_000, never)
    const other = outbox.wait('t', 0, 5, never)
    outbox.put('s', [action('a')])
    expect(idsOf(await waiting)).toEqual(['1 a'])
    expect(idsOf(await other)).toEqual([])
  })

  it('is all given to a door that counts from another beginning', async () => {
    const outbox = createOutbox()
    outbox.put('s', [action('a')])
    expect(idsOf(await outbox.wait('s', 77, 1_000, never))).toEqual(['1 a'])
  })

  it('lets go who waits when it closes or the asker leaves', async () => {
    const outbox = createOutbox()
    const gone = new AbortController()
    const left = outbox.wait('s', 0, 10_000, gone.signal)
    gone.abort()
    expect(idsOf(await left)).toEqual([])
    const waiting = outbox.wait('s', 0, 10_000, never)
    outbox.close()
    expect(idsOf(await waiting)).toEqual([])
  })

  it('keeps the newest 500 of a session that nobody waits for', async () => {
    const outbox = createOutbox()
    outbox.put(
      's',
      Array.from({ length: 600 }, (_, index) => action(String(index + 1))),
    )
    const ids = idsOf(await outbox.wait('s', 0, 1_000, never))
    expect(ids).toHaveLength(500)
    expect([ids[0], ids.at(-1)]).toEqual(['101 101', '600 600'])
  })
})
