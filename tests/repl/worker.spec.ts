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
