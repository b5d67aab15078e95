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

  it('shows how its promises have settled, one inside the other too', async () => {
    const { run } = await startSession()
    const code = 'const done = Promise.resolve(5), bad = Promise.reject(new Error("no")); bad.catch(() => {}); '
    const made = await run(`${code}return { done, later: new Promise(() => {}), deep: Promise.resolve([done]) }`)
    expect(made.preview).toContain('Promise { 5 }')
    expect(made.preview).toContain('later: Promise { <pending> }')
    expect(made.preview).toContain('deep: Promise { [')
    expect((await run('return [bad]')).preview).toContain('<rejected>')
  })

  it('runs nothing of the program when it has promises of its own kind', async () => {
    const { run } = await startSession()
    const code =
      'class Odd extends Promise { static get [Symbol.species]() { n++; return Promise } }; let n = 0; const own = Promise.resolve(1); '
    const more = 'Object.defineProperty(own, "constructor", { get() { n++; return Promise } }); '
    await run(`${code}${more}globalThis.kept = [Odd.resolve(1), own]; n = 0; return kept`)
    expect(await run('return n')).toMatchObject({ value: 0 })
  })

  it('that is undefined is none', async () => {
    const { run } = await startSession()
    expect(await run('return undefined')).toMatchObject({ valueKind: 'none' })
    expect(await run('return Promise.resolve()')).toMatchObject({ valueKind: 'none' })
  })

  it('knows functions and objects of the platform, however a program changes its names', async () => {
    const { run } = await startSession()
    expect(await run('const own = Map; globalThis.Map = 1; return [own, Math, [].map]')).toMatchObject({
      valueKind: 'graph',
      preview: '[[function Map], [object Math], [function map]]',
    })
    expect(await run('return [(n => () => n)(1)]')).toMatchObject({ valueKind: 'opaque' })
  })
})
