/** Copies that newer ones have replaced go by themselves when nothing is going on; what a restart or a named state needs stays. */
import { describe, expect, it, vi } from 'vitest'
import { emptyState, fold } from '../../src/repl/journal-state.ts'
import { replacedCopies } from '../../src/repl/prune.ts'
import type { JournalRecord } from '../../src/repl/types.ts'
import { startSession, type TestSession } from '../support/repl/session.ts'

const blobs = async ({ store }: TestSession): Promise<number> => {
  let bytes = 0
  for (const key of await store.list('repl/blob/')) {
    const value = (await store.get(key))?.value as { base64?: string }
    bytes += (value.base64?.length ?? 0) * 0.75
  }
  return Math.round(bytes / 1024 / 1024)
}

/** 3 MiB that no other value shares; what is done outside has it copied before the answer. */
const big = (n: number) =>
  `process.getBuiltinModule("fs").writeFileSync("a.txt", "a"); big = ${JSON.stringify(`${n}`)} + "x".repeat(3 * 1024 * 1024); log.push(${n})`

async function grow(test: TestSession, cells: number): Promise<void> {
  for (let n = 1; n <= cells; n++) await test.run(big(n))
}

describe('copies', () => {
  it('that newer ones have replaced go when nothing is going on, and a restart has what it needs', async () => {
    const test = await startSession({ config: { keepCheckpoints: 1, recoverMs: 1 } })
    await test.run('let big = ""; const log = []')
    await grow(test, 6)
    const before = await blobs(test)
    expect(before).toBeGreaterThanOrEqual(12)
    await vi.waitFor(async () => expect(await blobs(test)).toBeLessThanOrEqual(6), { timeout: 10_000, interval: 200 })
    test.session.kill9()
    const after = await test.run('return [big.slice(0, 1), big.length, log]')
    expect(after).toMatchObject({ value: ['6', 3 * 1024 * 1024 + 1, [1, 2, 3, 4, 5, 6]], recovery: { counts: { lost: 0 } } })
  })

  it('of a named state stay, and the state has its values', async () => {
    const test = await startSession({ config: { keepCheckpoints: 1, recoverMs: 1 } })
    await test.run('let big = ""; const log = []')
    await test.run(big(0))
    await test.session.save('first')
    await grow(test, 4)
    await test.session.prune()
    await test.session.restore({ name: 'first' })
    expect((await test.run('return [big.slice(0, 1), log]')).value).toEqual(['0', [0]])
  })

  it('that were removed are made again when a session that went back needs them', async () => {
    const test = await startSession({ config: { keepCheckpoints: 1 } })
    await test.run('let big = ""; const log = []')
    for (const n of [1, 2, 3])
      await test.run(
        `big = "${n}" + "x".repeat(3 * 1024 * 1024); log.push(${n}); await repl.state({ action: "save", name: "s${n}" })`,
      )
    for (const n of [1, 2, 3]) await test.run(`await repl.state({ action: "delete", name: "s${n}" })`)
    await test.session.prune()
    await test.session.restore({ cell: 2 })
    // What was done outside keeps its cell from being run again: now all hangs on the copy.
    await test.run('process.getBuiltinModule("fs").writeFileSync("a.txt", big.slice(0, 1)); log.length')
    test.session.kill9()
    const after = await test.run('return [big.slice(0, 1), big.length]')
    expect(after).toMatchObject({ value: ['1', 3 * 1024 * 1024 + 1], recovery: { counts: { lost: 0 } } })
  })
})

describe('what may go', () => {
  const stateOf = (
    checks: readonly { readonly cell: number; readonly name: string; readonly hash: string; readonly bytes: number }[],
  ) => {
    const state = emptyState()
    const record = (value: object) => fold(state, { v: 1, at: 0, epoch: 1, ...value } as unknown as JournalRecord)
    for (const { cell, name, hash, bytes } of checks) {
      record({ k: 'begin', cell, parent: cell - 1 })
      record({ k: 'end', cell, names: { added: [], changed: [], removed: [] } })
      record({ k: 'check', at: cell, cell, components: [{ names: [name], hash, bytes }], opaque: [] })
    }
    return state
  }
  const state = stateOf([
    { cell: 1, name: 'a', hash: 'a1', bytes: 10 },
    { cell: 2, name: 'b', hash: 'b1', bytes: 10 },
    { cell: 3, name: 'b', hash: 'b2', bytes: 10 },
    { cell: 4, name: 'b', hash: 'b3', bytes: 10 },
  ])

  it.each([
    ['the newest of every name and the newest checkpoints stay', 2, 1_000, ['b1']],
    ['one checkpoint is kept at least for what is newest', 1, 1_000, ['b1', 'b2']],
    ['beyond the room the older go first', 8, 30, ['b1']],
    ['what the newest copy of a name needs stays without any room', 8, 0, ['b1', 'b2']],
  ])('%s', (_, keep, maxBytes, gone) => {
    expect([...replacedCopies({ state, keep, maxBytes }).keys()].sort()).toEqual(gone)
  })
})
