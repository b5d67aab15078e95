import { describe, expect, it } from 'vitest'
import { createCells } from '../support/cells.ts'

async function legacy(...sources: readonly string[]): Promise<unknown> {
  const cells = createCells()
  let value: unknown
  for (const source of sources) {
    const result = await cells.run(source, { decorators: 'legacy' })
    expect(result.outcome, `${result.error?.message} ${result.program?.code}`).toBe('ok')
    value = result.value
  }
  return typeof value === 'object' ? JSON.stringify(value) : value
}

describe('decorators of the older kind', () => {
  it.each<readonly [string, readonly string[], unknown]>([
    [
      'methods',
      [
        'function twice(t: any, k: string, d: PropertyDescriptor) { const m = d.value; d.value = function () { return 2 * m.call(this) } } class D { @twice n() { return 21 } } return new D().n()',
      ],
      42,
    ],
    [
      'order',
      [
        'const seen: any[] = []; const d = (n: string) => (seen.push("eval " + n), (...a: any[]) => { seen.push(n + a.length + String(a[1])) }); @d("c") class D { @d("a") @d("b") m() {} @d("s") static s = 1; @d("f") f: number = 2; @d("g") get g() { return 1 } } return seen',
      ],
      '["eval a","eval b","b3m","a3m","eval f","f3f","eval g","g3g","eval s","s3s","eval c","c1undefined"]',
    ],
    [
      'parameters',
      [
        'const seen: any[] = []; const Inject = (n: string) => (t: any, k: any, i: number) => { seen.push([n, String(k), i]) }; class D { constructor(@Inject("x") public x: number, @Inject("y") private readonly y = 2) {} m(a: any, @Inject("z") b?: any) {} } return [seen, new D(1)]',
      ],
      '[[["z","m",1],["y","undefined",1],["x","undefined",0]],{"x":1,"y":2}]',
    ],
    [
      'a class put in its place',
      ['const swap = (c: any) => class extends c { extra = 1 }; @swap class D { a = 2 }', 'return { ...new D() }'],
      '{"a":2,"extra":1}',
    ],
    [
      'in functions, exported, nested',
      [
        'const tag = (c: any) => { c.tag = 1 }; function f() { @tag class I {} return I.tag } @tag export class O { static inner = (() => { @tag class N {} return N.tag })() } return [f(), O.tag, O.inner]',
      ],
      '[1,1,1]',
    ],
  ])('%s', async (_, sources, value) => {
    expect(await legacy(...sources)).toEqual(value)
  })

  it('keep positions', async () => {
    const result = await createCells().run(
      'const d = (): any => () => {};\n@d() class A {\n  @d() m(a: number) { return null.x }\n}\nnew A().m(1)',
      { decorators: 'legacy' },
    )
    expect(result.error?.position).toEqual({ line: 3, column: 35 })
    expect((await createCells().run('class A {\n  @nowhere m() {} }', { decorators: 'legacy' })).error?.position).toEqual({
      line: 2,
      column: 4,
    })
  })
})

describe('standard decorators', () => {
  it('may await in the head, and stand in async functions', async () => {
    const cells = createCells()
    await cells.run('globalThis.d = n => (v, c) => function () { return n }')
    expect((await cells.run('class A { @(await Promise.resolve(d(3))) m() {} } return new A().m()')).value).toBe(3)
    expect((await cells.run('function f() { return new (class { @d(4) m() {} })().m() } return f()')).value).toBe(4)
    expect(
      (
        await cells.run(
          'class B { constructor(public a = 1) {} @d(5) m() {} @((v, c) => (x) => x + 1) y: number = 1 } return JSON.stringify([new B(), new B().m()])',
        )
      ).value,
    ).toBe('[{"a":1,"y":2},5]')
  })
})

describe('JSX', () => {
  it('becomes calls when it is configured', async () => {
    const cells = createCells()
    const jsx = (type: unknown, props: unknown) => ({ type: typeof type === 'function' ? 'component' : type, props })
    Object.defineProperty(cells.global, 'require', {
      value: (name: string) => (name === 'react/jsx-runtime' ? { jsx, jsxs: jsx, Fragment: 'fragment' } : undefined),
    })
    const run = async (source: string) => JSON.stringify((await cells.run(source, { jsx: 'react-jsx' })).value)
    expect(
      await run(
        'const Card = (p: { a: number }) => p; const n: number = 2; return <div id="x">{n as number}<Card a={await n}/></div>',
      ),
    ).toBe('{"type":"div","props":{"id":"x","children":[2,{"type":"component","props":{"a":2}}]}}')
    expect(await run('return <><Card a={1}/></>')).toBe(
      '{"type":"fragment","props":{"children":{"type":"component","props":{"a":1}}}}',
    )
    const result = await cells.run('return <div>\n  {null.x}\n</div>', { jsx: 'react-jsx' })
    expect(result.error?.position).toEqual({ line: 2, column: 9 })
    expect(result.program?.touch).toEqual([])
    expect((await cells.run('return <Card/>', { jsx: 'react-jsx' })).program?.touch).toEqual(['Card'])
  })
})
