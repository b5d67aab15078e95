import { describe, expect, it } from 'vitest'
import { createCells, lastValue } from '../support/cells.ts'

describe('a session of cells', () => {
  it.each<readonly [name: string, cells: readonly string[], value: unknown]>([
    ['A01', ['const a = 1', 'const a = 2; return a'], 2],
    ['A02', ['let n = 1; const read = () => n', 'let n = 5', 'return read()'], 5],
    [
      'A03',
      [
        'class A { v() { return "old" } } const o = new A()',
        'class A { v() { return "new" } }',
        'return [o.v(), new A().v()].join()',
      ],
      'old,new',
    ],
    ['A04', ['let y = await Promise.reject(new Error("no"))', 'return typeof y'], 'undefined'],
    ['A04b', ['let y = await Promise.reject(new Error("no"))', 'let y = 3; return y'], 3],
    [
      'A05',
      ['const a1 = 1; const b1 = JSON.parse("{"); const c1 = 2', 'return [a1, typeof b1, typeof c1].join()'],
      '1,undefined,undefined',
    ],
    ['A06', ['const k = 1', 'k = 2', 'return k'], 1],
    ['A09', ['enum Color { Red = 1, Blue = Red << 2 } return Color.Blue'], 4],
    ['A10', ['namespace N { export let hits = 0; export function hit() { return ++hits } } N.hit(); return N.hits'], 1],
    ['A11', ['class P { constructor(public x: number, readonly y = 2) {} } return JSON.stringify(new P(1))'], '{"x":1,"y":2}'],
    [
      'A12',
      [
        'function twice(m: any, _: unknown) { return function (this: any) { return 2 * m.call(this) } } class D { @twice n() { return 21 } } return new D().n()',
      ],
      42,
    ],
    ['A13', ['import { join } from "node:path"; return join("a", "b")', 'return join("c")'], 'c'],
    ['A41', ['const fetch = 1', 'return [fetch, typeof globalThis.fetch].join()'], '1,function'],
  ])('%s', async (_, cells, value) => {
    expect(await lastValue(...cells)).toEqual(value)
  })

  it('A06 throws the error of the language', async () => {
    const cells = createCells()
    await cells.run('const k = 1')
    expect((await cells.run('k = 2')).error).toMatchObject({
      code: 'OUT-X001',
      name: 'TypeError',
      message: 'Assignment to constant variable.',
    })
  })

  it('A07, A08, A14 are refused', async () => {
    const cells = createCells()
    expect((await cells.run('const s = 1; const s = 2')).error).toMatchObject({
      code: 'OUT-N002',
      position: { line: 1, column: 20 },
    })
    expect((await cells.run('const tools = 1')).error).toMatchObject({ code: 'OUT-N001', position: { line: 1, column: 7 } })
    expect((await cells.run('import { nope } from "node:path"; globalThis.ran = 1')).error).toMatchObject({ code: 'OUT-C004' })
    expect(cells.global['ran']).toBeUndefined()
  })

  it('A39 counts UTF-16 units', async () => {
    expect((await createCells().run('const s = "😀"; null.x')).error?.position).toEqual({ line: 1, column: 22 })
  })

  it('A42 reports the last expression only when asked', async () => {
    const cells = createCells()
    expect((await cells.run('1 + 1', { echo: 'last' })).echo).toEqual({ value: 2 })
    expect((await cells.run('1 + 1')).echo).toBeUndefined()
  })
})
