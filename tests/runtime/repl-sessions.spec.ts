/** Which sessions of the REPL one process keeps open. */
import { expect, it } from 'vitest'
import type { ReplSession } from '../../src/repl/types.ts'
import { createReplSessions } from '../../src/runtime/repl-sessions.ts'

function opener() {
  const closed: string[] = []
  const busy = new Set<string>()
  const gone = new Set<string>()
  const open = (name: string) => async () =>
    ({
      name,
      rest: async () => !busy.has(name),
      isGone: () => gone.delete(name),
      close: async () => void closed.push(name),
    }) as unknown as ReplSession
  return { closed, busy, gone, open }
}

it('the one that was used longest ago makes room', async () => {
  const { closed, open } = opener()
  const sessions = createReplSessions(() => 2)
  const first = await sessions.get('a', open('a'))
  await sessions.get('b', open('b'))
  expect(await sessions.get('a', open('a'))).toBe(first)
  await sessions.get('c', open('c'))
  expect(closed).toEqual(['b'])
})

it('one that would lose names stays, and the next is refused where all would', async () => {
  const { closed, busy, open } = opener()
  const sessions = createReplSessions(() => 2)
  busy.add('a')
  await sessions.get('a', open('a'))
  await sessions.get('b', open('b'))
  await sessions.get('c', open('c'))
  expect(closed).toEqual(['b'])
  busy.add('c')
  await expect(sessions.get('d', open('d'))).rejects.toMatchObject({ code: 'REPL_LIMIT' })
  busy.delete('c')
  expect(await sessions.get('d', open('d'))).toMatchObject({ name: 'd' })
})

it('one whose history was removed says so once, and begins anew', async () => {
  const { closed, gone, open } = opener()
  const sessions = createReplSessions(() => 2)
  const first = await sessions.get('a', open('a'))
  gone.add('a')
  await expect(sessions.get('a', open('a'))).rejects.toMatchObject({ code: 'REPL_GONE', exit: 4 })
  expect(closed).toEqual(['a'])
  const again = await sessions.get('a', open('a'))
  expect(again).not.toBe(first)
  expect(await sessions.get('a', open('a'))).toBe(again)
})
