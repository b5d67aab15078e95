/** What the worker makes of a cell: what it rejects, what it says of failures, and how values leave it. */
import { describe, expect, it } from 'vitest'
import { startSession } from '../support/repl/session.ts'

describe('a program that only the engine refuses', () => {
  it('is rejected at its place, and nothing runs', async () => {
    const { run } = await startSession()
    expect(await run('const a = 1\nconst found = /(/')).toMatchObject({
      outcome: 'rejected',
      error: { code: 'OUT-C001', name: 'SyntaxError', phase: 'parse', state: 'unchanged', position: { line: 2, column: 15 } },
      bindings: { added: [], changed: [], removed: [] },
    })
    expect(await run('/(/')).toMatchObject({ outcome: 'rejected', error: { code: 'OUT-C001', position: { line: 1, column: 1 } } })
    expect(await run('return typeof a')).toMatchObject({ value: 'undefined' })
  })
})

describe('a failure', () => {
  it('calls a name that hides one of the platform by its own name', async () => {
    const { run } = await startSession()
    await run('const fetch = { a: 1 }')
    expect(await run('fetch.nothing()')).toMatchObject({ error: { message: 'fetch.nothing is not a function' } })
  })
})

describe('a value', () => {
  it('of a hundred thousand numbers leaves in moments', async () => {
    const { run } = await startSession()
    await run('const list = Array.from({ length: 100_000 }, (_, i) => i)')
    const times: number[] = []
    for (let n = 0; n < 8; n++) times.push((await run('return list')).timing.computeMs)
    // Looking at a descriptor of each takes 60 ms.
    expect(Math.min(...times)).toBeLessThan(30)
  })

  it('is looked at by means that no cell has', async () => {
    const { run } = await startSession()
    expect(await run('return eval("%HaveSameMap({}, {})")')).toMatchObject({ outcome: 'threw', error: { name: 'SyntaxError' } })
  })
})
