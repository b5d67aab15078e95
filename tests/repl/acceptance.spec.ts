/** The rows of the acceptance table that need no recovery, in their order. */
import { describe, expect, it } from 'vitest'
import { sleep, startSession } from '../support/repl/session.ts'

describe('names', () => {
  it('are declared again by a later cell', async () => {
    const { run } = await startSession()
    expect(await run('const a = 1')).toMatchObject({
      ok: true,
      cell: 1,
      bindings: { added: ['a'], changed: [], removed: [] },
      valueKind: 'none',
    })
    expect(await run('const a = 2; return a')).toMatchObject({ value: 2, bindings: { added: [], changed: ['a'] } })
  })

  it('are seen as they are by closures made earlier', async () => {
    const { cells } = await startSession()
    expect(await cells('let n = 1; const read = () => n', 'let n = 5', 'return read()')).toMatchObject({ value: 5 })
  })

  it('leave objects their class when the class is replaced', async () => {
    const { cells } = await startSession()
    const result = await cells(
      'class A { v() { return "old" } } const o = new A()',
      'class A { v() { return "new" } }',
      'return [o.v(), new A().v()]',
    )
    expect(result.value).toEqual(['old', 'new'])
  })

  it('do not exist when their initialiser throws, and can be declared then', async () => {
    const { run } = await startSession()
    expect(await run('let y = await Promise.reject(new Error("no"))')).toMatchObject({ outcome: 'threw' })
    expect(await run('return typeof y')).toMatchObject({ value: 'undefined' })
    expect(await run('let y = 3; return y')).toMatchObject({ value: 3 })
  })

  it('stay when they were declared before what threw', async () => {
    const { run } = await startSession()
    expect(await run('const a1 = 1; const b1 = JSON.parse("{"); const c1 = 2')).toMatchObject({
      outcome: 'threw',
      error: { state: 'partial' },
      bindings: { added: ['a1'] },
    })
    expect((await run('return [a1, typeof b1, typeof c1]')).value).toEqual([1, 'undefined', 'undefined'])
  })

  it('of constants cannot be assigned to', async () => {
    const { run, cells } = await startSession()
    expect(await cells('const k = 1', 'k = 2')).toMatchObject({
      outcome: 'threw',
      error: {
        code: 'OUT-X001',
        name: 'TypeError',
        message: 'Assignment to constant variable.',
        help: [expect.stringContaining('declaring it again')],
      },
    })
    expect(await run('return k')).toMatchObject({ value: 1 })
  })

  it('cannot be declared twice in one cell', async () => {
    const { run } = await startSession()
    expect(await run('const s = 1; const s = 2')).toMatchObject({
      outcome: 'rejected',
      error: { code: 'OUT-N002', position: { line: 1, column: 20 }, state: 'unchanged', phase: 'parse' },
    })
  })

  it('that are reserved cannot be declared', async () => {
    const { run } = await startSession()
    expect(await run('const tools = 1')).toMatchObject({ outcome: 'rejected', error: { code: 'OUT-N001' } })
  })

  it('of the platform are hidden from cells only', async () => {
    const { cells } = await startSession()
    expect((await cells('const fetch = 1', 'return [fetch, typeof globalThis.fetch]')).value).toEqual([1, 'function'])
  })
})

describe('TypeScript', () => {
  it.each([
    ['enum Color { Red = 1, Blue = Red << 2 } return Color.Blue', 4],
    ['namespace N { export let hits = 0; export function hit() { return ++hits } } N.hit(); return N.hits', 1],
    [
      'function twice(m: any, _: unknown) { return function (this: any) { return 2 * m.call(this) } } class D { @twice n() { return 21 } } return new D().n()',
      42,
    ],
  ])('runs: %s', async (code, value) => {
    const { run } = await startSession()
    expect(await run(code)).toMatchObject({ outcome: 'ok', value })
  })

  it('has parameter properties', async () => {
    const { run } = await startSession()
    const result = await run('class P { constructor(public x: number, readonly y = 2) {} } return new P(1)')
    expect(result).toMatchObject({ valueKind: 'graph', preview: 'P { x: 1, y: 2 }', handle: 'v1' })
    expect('value' in result).toBe(false)
  })
})

describe('imports', () => {
  it('stay for later cells', async () => {
    const { run } = await startSession()
    expect(await run('import { join } from "node:path"; return join("a", "b")')).toMatchObject({ value: 'a/b' })
    expect(await run('return join("c")')).toMatchObject({ value: 'c', durability: { class: 'pure' } })
  })

  it('that name what a module lacks are rejected before anything runs', async () => {
    const { run } = await startSession()
    expect(await run('import { nope } from "node:path"; console.log("ran")')).toMatchObject({
      outcome: 'rejected',
      error: { code: 'OUT-C004', phase: 'link', position: { line: 1, column: 1 } },
      logs: [],
    })
  })
})

describe('values', () => {
  it.each([
    ['return new Map([["k", { a: 1 }]])', 'Map(1) { "k" => { a: 1 } }'],
    ['const o: any = {}; o.self = o; return o', '&1 { self: *1 }'],
    ['return [1, , NaN, -0, 10n]', '[1, <1 hole>, NaN, -0, 10n]'],
  ])('that are no JSON are readable: %s', async (code, preview) => {
    const { run } = await startSession()
    expect(await run(code)).toMatchObject({ ok: true, valueKind: 'graph', preview, handle: 'v1' })
  })

  it('of the last expression are shown when asked for', async () => {
    const { run } = await startSession()
    const echoed = await run('1 + 1', { echo: 'last' })
    expect(echoed).toMatchObject({ preview: '2', valueKind: 'json' })
    expect('value' in echoed).toBe(false)
    const silent = await run('1 + 1')
    expect(silent).toMatchObject({ valueKind: 'none' })
    expect('preview' in silent).toBe(false)
  })
})

describe('output and what goes wrong beside a cell', () => {
  it('keeps order and stream', async () => {
    const { run } = await startSession()
    const { logs, valueKind } = await run('console.log("a"); console.error("b"); process.stdout.write("c\\n")')
    expect(logs).toEqual([
      { stream: 'stdout', text: 'a' },
      { stream: 'stderr', text: 'b' },
      { stream: 'stdout', text: 'c' },
    ])
    expect(valueKind).toBe('none')
  })

  it('tells of a callback that failed after its cell', async () => {
    const { run } = await startSession()
    await run('setTimeout(() => { throw new Error("late") }, 5); return 0')
    await sleep(100)
    const next = await run('return 1')
    expect(next).toMatchObject({ outcome: 'ok', value: 1 })
    expect(next.warnings).toEqual([
      {
        code: 'OUT-W101',
        cell: 1,
        message: 'A callback of cell 1 failed after the cell had ended: "Error: late" (1:26). This cell was not affected.',
        position: { line: 1, column: 26 },
      },
    ])
  })

  it('tells of a rejection that nobody handled', async () => {
    const { run } = await startSession()
    const result = await run('Promise.reject(new Error("quiet")); return 1')
    expect(result).toMatchObject({ outcome: 'ok', value: 1 })
    expect(result.warnings).toEqual([
      {
        code: 'OUT-W102',
        cell: 1,
        message: 'A promise was rejected and nobody handled it: "Error: quiet" (cell 1, 1:16).',
        position: { line: 1, column: 16 },
      },
    ])
  })

  it('fails a cell that throws anything', async () => {
    const { run } = await startSession()
    expect(await run('throw 0')).toMatchObject({ ok: false, outcome: 'threw', error: { name: 'Thrown', message: '0' } })
  })

  it('survives a stack that overflows', async () => {
    const { run } = await startSession()
    expect(await run('function so(): any { return so() } so()')).toMatchObject({
      outcome: 'threw',
      error: { name: 'RangeError' },
    })
    expect(await run('return 2')).toMatchObject({ value: 2 })
  })

  it('gives the place in the source as it was sent', async () => {
    const { run } = await startSession()
    expect(await run('const s = "😀"; null.x')).toMatchObject({
      error: { position: { line: 1, column: 22 }, frame: { text: 'const s = "😀"; null.x', column: 22 } },
    })
  })
})

describe('budgets', () => {
  it('break off a loop and keep the names', async () => {
    const { run } = await startSession()
    await run('const keep = [1]')
    expect(await run('while (true) {}', { computeMs: 300 })).toMatchObject({
      outcome: 'timeout',
      error: { code: 'OUT-T001', state: 'partial', worker: 'kept' },
    })
    expect((await run('return keep')).value).toEqual([1])
  })

  it('leave a cell behind that waits for nothing', async () => {
    const { run } = await startSession()
    await run('const keep = 1')
    expect(await run('await new Promise(() => {})', { wallMs: 300 })).toMatchObject({
      outcome: 'timeout',
      error: { code: 'OUT-T002', worker: 'kept' },
    })
    expect(await run('return keep')).toMatchObject({ value: 1 })
  })

  it('do not let a cell end the process', async () => {
    const { run, session } = await startSession()
    await run('const keep = 1')
    const before = (await session.state()).worker?.pid
    expect(await run('process.exit(2)')).toMatchObject({ outcome: 'threw', error: { code: 'OUT-X002' } })
    expect(await run('return keep')).toMatchObject({ value: 1 })
    expect((await session.state()).worker?.pid).toBe(before)
  })
})

describe('edits', () => {
  it('run the changed source as a new cell', async () => {
    const { run, session } = await startSession()
    await run('return 1 + 1')
    expect(await session.edit({ edits: [{ old_string: '+ 1', new_string: '+ 41' }] })).toMatchObject({
      edited: true,
      target: 1,
      cell: 2,
      value: 42,
    })
  })

  it('that miss their count change nothing and make no cell', async () => {
    const { run, session } = await startSession()
    await run('const q = [1, 1]')
    expect(
      await session.edit({ regex_edits: [{ pattern: '1', flags: '', replacement: '2', expected_matches: 3 }] }),
    ).toMatchObject({ edited: false, error: { code: 'OUT-E004' } })
    expect(session.latest()).toBe(1)
  })

  it('that expect another target are refused', async () => {
    const { cells, session } = await startSession()
    await cells('return 1', 'return 2')
    expect(await session.edit({ edits: [{ old_string: '2', new_string: '3' }], expected_target: 1 })).toMatchObject({
      edited: false,
      error: { code: 'OUT-E007' },
    })
  })

  it('that were offered work as they stand', async () => {
    const { run, session } = await startSession()
    const broken = await run('const f = () => { return [1, 2')
    expect(broken).toMatchObject({ outcome: 'rejected', error: { code: 'OUT-C001', edit: { append: ']}', expected_target: 1 } } })
    expect(await session.edit({ ...broken.error?.edit })).toMatchObject({ edited: true, outcome: 'ok' })
  })

  it('can be tried without running', async () => {
    const { run, session } = await startSession()
    await run('return 1')
    expect(await session.edit({ append: ' +', dry_run: true })).toMatchObject({
      edited: false,
      target: 1,
      parses: false,
      error: { code: 'OUT-C001' },
    })
    expect(await session.edit({ append: ' + 1', dry_run: true })).toEqual({ ok: true, edited: false, target: 1, parses: true })
    expect(session.latest()).toBe(1)
  })
})
