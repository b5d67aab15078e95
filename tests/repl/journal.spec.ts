/** One writer at a time: who was overtaken is told, and what it writes does not count. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { openJournal } from '../../src/repl/journal.ts'
import { createScratchStore } from '../../src/runtime/scratch-store.ts'

function world() {
  let now = 1_000_000
  const clock = { now: () => now }
  const store = createScratchStore(clock)
  const open = async (owner: string) => {
    const journal = await openJournal({ store, clock, session: 's', owner, fsync: () => false, mask: text => text })
    onTestFinished(() => journal.close())
    return journal
  }
  return { open, pass: (ms: number) => void (now += ms) }
}

const note = (cell: number) => ({ k: 'state', action: 'save', name: `n${cell}`, cell }) as const

describe('a session that another process took over', () => {
  it('refuses what its former owner writes', async () => {
    const { open, pass } = world()
    const former = await open('1:a:b')
    await former.write(note(1))
    await expect(open('2:a:b')).rejects.toMatchObject({ code: 'REPL_HELD' })
    pass(16_000) // the former owner is stopped, or its clock jumped
    const next = await open('2:a:b')
    await next.write(note(2))
    for (let round = 0; round < 2; round++) {
      await expect(former.write(note(3))).rejects.toMatchObject({
        code: 'REPL_HELD',
        exit: 4,
        message: 'session s was taken over by another process',
      })
    }
    await next.close()
    await expect(former.write(note(4))).rejects.toMatchObject({ code: 'REPL_HELD' })
    const third = await open('3:a:b')
    expect([...third.state.named.keys()]).toEqual(['n1', 'n2'])
  })

  it('is not confused by records that are written at once', async () => {
    const { open } = world()
    const journal = await open('1:a:b')
    await Promise.all([1, 2, 3, 4].map(cell => journal.write(note(cell))))
    await journal.write(note(5))
    expect(journal.state.named.size).toBe(5)
  })
})
