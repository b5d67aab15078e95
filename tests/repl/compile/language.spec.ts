import { describe, expect, it } from 'vitest'
import { createCells, lastValue } from '../support/cells.ts'

type Row = readonly [what: string, cells: readonly string[], value: unknown]

async function check([, cells, value]: Row): Promise<void> {
  const answer = await lastValue(...cells)
  expect(typeof answer === 'object' && answer !== null ? JSON.stringify(answer) : answer).toEqual(value)
}

describe('names of the session', () => {
  it.each<Row>([
    ['an old value inside the own initialiser', ['let n = 1', 'let n = n + 1; return n'], 2],
    ['an old value in a pattern initialiser', ['let a = [5]', 'let [a] = a as any; return a'], 5],
    ['a pattern commits as a whole', ['const { a, b = JSON.parse("{") } = { a: 1 } as any', 'return typeof a'], 'undefined'],
    ['a var pattern commits as a whole', ['var { a, b = JSON.parse("{") } = { a: 1 } as any', 'return String(a)'], 'undefined'],
    ['an array pattern', ['const [p, , q = 3, ...r] = [1, 2, undefined, 4, 5]; return [p, q, r]'], '[1,3,[4,5]]'],
    [
      'closures in patterns see the name',
      [
        'const { a = 1, get = () => a, set = (v: any) => { b = v }, b = get() } = {} as any; let { c = () => typeof c } = {} as any',
        'const a = 2; let b = 3',
        'set(7); return [get(), b, c()]',
      ],
      '[2,7,"function"]',
    ],
    ['closures called inside their pattern', ['const { a = 1, get = () => [a], b = get() } = {} as any; return b'], '[1]'],
    ['a pattern that awaits', ['const { a = await 7, ...rest } = { b: 1 } as any; return [a, rest.b]'], '[7,1]'],
    [
      'several declarators',
      ['const a = 1, { b } = { b: 2 }, c = a + b; let d; return [a, b, c, typeof d]'],
      '[1,2,3,"undefined"]',
    ],
    ['var keeps a value', ['var x = 1', 'var x; return x'], 1],
    [
      'var out of blocks',
      ['if (true) { var x = 4; for (var i = 0; i < 3; i++) var last = i }', 'return [x, i, last]'],
      '[4,3,2]',
    ],
    ['var hoists', ['const before = typeof v; var v = 1; return before'], 'undefined'],
    ['var in for-of with a pattern', ['for (var { a, b = 2 } of [{ a: 1 }]);', 'return a + b'], 3],
    ['var in for-in with an initialiser', ['for (var i = 7 in {});', 'return i'], 7],
    ['var without a semicolon before a bracket', ['let z = 1\nvar y\n;[z] = [2]\nreturn z'], 2],
    ['var between statements', ['let f = () => 1\nvar y\n(f)()\nreturn typeof y'], 'undefined'],
    ['arrow then parenthesis', ['const f = () => { return 1 }\n(2)\nreturn f()'], 1],
    ['function hoists', ['return f(); function f() { return 1 }'], 1],
    [
      'function refers to itself through the name',
      [
        'function f(n: number): any { return n === 0 ? "old" : f(n - 1) } const old = f',
        'function f() { return "new" }',
        'return old(1)',
      ],
      'new',
    ],
    [
      'function of a strict cell refers to itself through the name',
      [
        '"use strict"; function f(n: number): any { return n === 0 ? "old" : f(n - 1) } const old = f',
        'function f() { return "new" }',
        'return old(1)',
      ],
      'new',
    ],
    ['last of two functions', ['function f() { return 1 } function f() { return 2 }', 'return f()'], 2],
    [
      'async and generator functions',
      [
        'async function a() { return 1 } function* g() { yield 2 } async function* h() { yield 3 }',
        'for await (const x of h()) return [await a(), ...g(), x]',
      ],
      '[1,2,3]',
    ],
    ['block functions are var', ['{ function g() { return 1 } } return g()'], 1],
    ['block functions before the block', ['const t = typeof g; { function g() { return 1 } } return t'], 'undefined'],
    ['block functions do not hoist over let', ['let g = 1; { function g() {} } return g'], 1],
    ['function in if', ['if (true) function h() { return 2 }', 'return h()'], 2],
    ['function in switch', ['switch (1) { case 1: function sw() { return 3 } }', 'return sw()'], 3],
    ['labelled function', ['foo: function lf() { return 4 }', 'return lf()'], 4],
    ['class sees its name in its head', ['class A { static v = 1 }', 'class A extends A { static w = A.v } return A.w'], 1],
    [
      'closures in class bodies',
      [
        'let x = 1; class A { m() { return x } static s = () => x }; const a = new A(), s = A.s',
        'let x = 2',
        'return [a.m(), s()]',
      ],
      '[2,2]',
    ],
    ['default parameters', ['let x = 1; function f(a = x) { return a }', 'let x = 2', 'return f()'], 2],
    [
      'suspended generators',
      ['let x = 1; function* g() { yield x; yield x } const it = g(); it.next()', 'const x = 2', 'return it.next().value'],
      2,
    ],
    ['delete', ['var x = 1', 'delete x; return typeof x'], 'undefined'],
    ['implicit', ['imp = 5', 'return imp'], 5],
    [
      'odd names',
      [
        'const __proto__ = 1, constructor = 2, toString = 3, hasOwnProperty = 4, async = 5, of = 6, get = 7',
        'return [__proto__, constructor, toString, hasOwnProperty, async, of, get]',
      ],
      '[1,2,3,4,5,6,7]',
    ],
    ['var let', ['var let = 1; return let'], 1],
    ['for (var async of', ['for (var async of [1, 2]); return async'], 2],
    ['escaped names', ['const \\u0061bc = 1', 'return abc'], 1],
    [
      'name inference',
      [
        'const f = () => 1, c = class {}, g = function () {}; let h = async () => 1; var v = () => 2; return [f.name, c.name, g.name, h.name, v.name]',
      ],
      '["f","c","g","h","v"]',
    ],
    ['name inference in patterns', ['const { f = () => 1 } = {} as any; return f.name'], 'f'],
    [
      'name inference for platform names',
      ['var fetch = () => 1; const URL = class {}; return [fetch.name, URL.name]'],
      '["fetch","URL"]',
    ],
    [
      'toString',
      [
        'function f(a: number): string { return `${a}` } const g = (x: any) => x; class C { m<T>(y: T) { return y } } return [f.toString(), g.toString(), C.toString()]',
      ],
      '["function f(a        )         { return `${a}` }","(x     ) => x","class C { m   (y   ) { return y } }"]',
    ],
    ['this is the global object', ['return this === globalThis'], true],
    ['there is no arguments', ['try { arguments; return 1 } catch (e) { return e.name }'], 'ReferenceError'],
    ['sloppy by default', ['return (function () { return this === globalThis })()'], true],
    ['strict on demand', ['"use strict"; return (function () { return this === undefined })()'], true],
    ['strict functions', ['"use strict"; function s() { return this === undefined }', 'return s()'], true],
    ['with', ['let w; with ({ a: 1 }) { w = a } return w'], 1],
    ['octal', ['return 010'], 8],
    ['html comments', ['let c = 1 <!-- 2\n--> 3\nreturn c'], 1],
    ['bom and hashbang', ['\ufeff#!/usr/bin/env node\nreturn 1'], 1],
    ['finally overrides return', ['try { return 1 } finally { return 2 }'], 2],
    ['thenable', ['return { then(f: any) { f(9) } }'], 9],
    ['labels', ['a: for (const x of [1, 2]) { for (;;) { if (x === 1) continue a; break a } } return 1'], 1],
    [
      'per-iteration bindings',
      ['const fs = []; for (let i = 0; i < 3; i++) { await 0; fs.push(() => i) } return fs.map(f => f())'],
      '[0,1,2]',
    ],
    ['switch scope', ['switch (1) { case 1: let q = 5; q++ } return typeof q'], 'undefined'],
    ['direct eval declares', ['eval("var ev = 1; function ef() { return 2 }")', 'return ev + ef()'], 3],
    ['eval sees names', ['const a = 1; let b = 2', 'return eval("a + b") + new Function("return a")() + (0, eval)("b")'], 6],
    ['eval writes', ['let a = 1', 'eval("a = 5"); return a'], 5],
    [
      'using',
      [
        'const log = []; { using a = { [Symbol.dispose]() { log.push(1) } } } using x = { [Symbol.dispose]() { log.push("x") } }; await using y = { async [Symbol.asyncDispose]() { log.push("y") } }; log.push("body")',
        'return [log, typeof x]',
      ],
      '[[1,"body","y","x"],"undefined"]',
    ],
    ['functions see using', ['using x = { v: 3, [Symbol.dispose]() {} }; return f(); function f() { return x.v }'], 3],
    ['import then redeclare', ['import { join } from "node:path"', 'const join = 1; return join'], 1],
    [
      'import default, star, rename',
      ['import path, * as all from "node:path"; import { join as j } from "node:path"; return [path === all.default, j("a")]'],
      '[true,"a"]',
    ],
    [
      'import of platform names',
      [
        'import { setTimeout } from "node:timers/promises"; await setTimeout(1)',
        'return [await setTimeout(1, 4), typeof globalThis.setTimeout]',
      ],
      '[4,"function"]',
    ],
    [
      'closures see a platform name again',
      ['import process from "node:process"; const f = () => process', 'const process = 1', 'return f()'],
      1,
    ],
    [
      'typeof and call of a hidden name',
      ['function fetch(this: any) { return this === globalThis } return [typeof fetch, fetch(), typeof window]'],
      '["function",true,"undefined"]',
    ],
    [
      'shorthand of a hidden name',
      ['let URL = 1; const o = { URL }; ({ URL } = { URL: 4 }); [URL = 3] = []; return [o.URL, URL]'],
      '[1,3]',
    ],
    ['hidden name in functions', ['const process = { a: 1 }; function f() { return process.a }', 'return f()'], 1],
    ['import.meta', ['function f() { return import.meta.dirname } return [import.meta.dirname, f()]'], '["/here","/here"]'],
    [
      'dynamic import',
      [
        'const { join } = await import("node:path"); async function l() { return (await import("node:path")).sep } return [join("a", "b"), await l()]',
      ],
      '["a/b","/"]',
    ],
    [
      'export forms',
      [
        'export const a = 1; export default class Q { static v = 2 }; export function g() { return 3 }; export { a as b }; export * from "node:path"',
        'return [a, __default.v, Q.v, g()]',
      ],
      '[1,2,2,3]',
    ],
    ['export default expression', ['export default () => 1', 'return [__default(), __default.name]'], '[1,"default"]'],
    ['export default function', ['const r = __default(); export default function () { return 5 }; return r'], 5],
    ['export equals', ['export = { a: 1 }', 'return __default.a'], 1],
  ])('%s', (...row) => check(row))
})

describe('constants', () => {
  it.each<readonly [string, readonly string[]]>([
    ['in the same cell', ['const k = 1; k = 2']],
    ['strict', ['const k = 1', '"use strict"; k = 2']],
    ['after await', ['const k = 1', 'await 0; k = 2']],
    ['from an older closure', ['let k = 0; const set = () => { k = 2 }', 'const k = 1', 'set()']],
    ['from an older closure, await', ['let k = 0; const set = async () => { await 0; k = 2 }', 'const k = 1', 'await set()']],
    ['compound', ['const k = 1', 'k += 1']],
    ['update', ['const k = 1', 'k++']],
    ['pattern', ['const k = 1', '[k] = [2]']],
    ['loop', ['const k = 1', 'for (k of [2]);']],
    ['import', ['import { sep } from "node:path"', 'sep = 1']],
    ['platform name', ['const fetch = 1', 'fetch = 2']],
    ['eval', ['const k = 1', 'eval("k = 2")']],
    ['pattern constant', ['const { k } = { k: 1 }', 'k = 2']],
  ])('throw when they are written: %s', async (_, sources) => {
    const cells = createCells()
    const results = []
    for (const source of sources) results.push(await cells.run(source))
    expect(results.at(-1)?.error).toMatchObject({
      name: 'TypeError',
      message: 'Assignment to constant variable.',
      code: 'OUT-X001',
    })
  })
})

describe('TypeScript', () => {
  it.each<Row>([
    [
      'types of all kinds',
      [
        'interface A { x: number } type B<T> = T extends infer U ? U : never; declare const z: number; declare function q(): void; let a: A = { x: 1 } as const satisfies A; let b = <any>a; return b!.x',
      ],
      1,
    ],
    ['types at the end of statements', ['let f = (x: any) => x as any\n(1)\nlet g = 1 as any\n[2].length\nreturn g'], 1],
    [
      'types at the end of assignments',
      ['let g: any, h: any\ng = 1 as any\n(2)\nh = [3] satisfies any\n[0]\nreturn [g, h]'],
      '[1,[3]]',
    ],
    ['interface between statements', ['let a = 1\ninterface X {}\n(2)\nreturn a'], 1],
    ['grouping', ['let a: any = 1; return [a + 1 as any * 2, (a + 1 as any) * 2, a * 2 as any + 1]'], '[4,4,3]'],
    [
      'abstract classes',
      [
        'abstract class S { abstract m(): void; declare q: number; readonly r?: number = 1; protected static s = 2; [k: string]: any; private *g() { yield 1 } override t() {} } class T extends S { m() { return this.r } } return [new T().m(), S["s"]]',
      ],
      '[1,2]',
    ],
    ['overloads', ['function f(a: number): void; function f(a: string): void; function f(a: any) { return a } return f(3)'], 3],
    ['this parameter', ['function f(this: any, a: number) { return a } return f(1)'], 1],
    [
      'parameter properties with super',
      [
        'class A { constructor(public a: number) {} } class B extends A { constructor(a: number, private b: number) { super(a) } sum() { return this.a + this.b } } return new B(1, 2).sum()',
      ],
      3,
    ],
    [
      'parameter property order',
      ['class A { c = 3; constructor(public a: number, protected readonly b = 2) {} } return new A(1)'],
      '{"a":1,"b":2,"c":3}',
    ],
    [
      'accessor',
      [
        'class A { accessor x = 1; static accessor y: number; accessor ["z"] = 3 } const a = new A(); a.x++; A.y = 5; return [a.x, A.y, a.z]',
      ],
      '[2,5,3]',
    ],
    [
      'enum reverse',
      ['enum E { A, B = 5, C, "d-e", S = "s", T = S } return [E.A, E[0], E.C, E["d-e"], E[7], E.S, (E as any)["s"], E.T]'],
      '[0,"A",6,7,"d-e","s",null,"s"]',
    ],
    ['enum merges in a cell', ['enum E { A } enum E { B = 1 } return [E.A, E.B]'], '[0,1]'],
    ['enum replaces in a later cell', ['enum E { A }', 'enum E { B }', 'return [E.A, E.B]'], '[null,0]'],
    [
      'const and declared enum',
      ['const enum C { X = 3 } declare enum D { Y } return C.X + (typeof D === "undefined" ? 1 : 0)'],
      4,
    ],
    ['enum in a function', ['function f() { enum E { A = 2, B } return E.B } return f()'], 3],
    ['enum in a block', ['{ enum E { A = 2 } var got = E.A } return got'], 2],
    [
      'namespace merges',
      [
        'namespace N { export const a = 1 } namespace N { export const b = a + 1; export const f = () => a } return [N.b, N.f(), N.f.name]',
      ],
      '[2,1,"f"]',
    ],
    [
      'nested namespaces',
      [
        'namespace A.B.C { export const x = 1 } namespace A { export namespace D { export let y = 2 } export enum E { Z = 3 } export class K {} } return [A.B.C.x, A.D.y, A.E.Z, new A.K() instanceof A.K]',
      ],
      '[1,2,3,true]',
    ],
    ['namespace onto a function', ['function f() { return f.x } namespace f { export let x = 4 } return f()'], 4],
    ['namespace of types only', ['namespace T { export type X = 1 } return typeof T'], 'undefined'],
    [
      'namespace patterns',
      [
        'namespace N { export const { a, b: [c] } = { a: 1, b: [2] }; export let d; d = 3; const local = 1; export function g() { return { a, d } } } return [N.a, N.c, N.d, N.g()]',
      ],
      '[1,2,3,{"a":1,"d":3}]',
    ],
    ['import equals', ['import p = require("node:path"); import j = p.join; return j("a", "b")'], 'a/b'],
    ['import type', ['import type { X } from "nowhere"; import { type Y } from "node:path"; export type { X }; return 1'], 1],
    ['generic arrows', ['const f = async <T,>(x: T): Promise<T> => x; return await f<number>(2)'], 2],
    ['optional parameters', ['const f = (a?: number, ...b: number[]) => [a, b.length]; return f()'], '[null,0]'],
    ['arrow type over lines', ['const f = (a: number):\n  number => a\nreturn f(1)'], 1],
    ['instantiation', ['const m = Map<string, number>; return new m().size'], 0],
    ['definite', ['let x!: number; x = 1; return x'], 1],
    [
      'class fields named by keywords',
      [
        'class A { get: any\n foo() { return 1 } static: number = 2\n public async = 3 } return [new A().foo(), new A().static, new A().async]',
      ],
      '[1,2,3]',
    ],
    [
      'decorators',
      [
        'const seen: any[] = []; const d = (v: any, c: any) => { seen.push(c.kind + ":" + String(c.name)) }; @d class D { @d m() {} @d x = 1; @d static s = 2; @d get g() { return 1 } @d accessor a = 1; #p = 2 } return seen',
      ],
      '["method:m","getter:g","accessor:a","field:s","field:x","class:D"]',
    ],
    [
      'decorators in a function',
      [
        'function make() { const d = (v: any, c: any) => function () { return 7 }; class D { @d m() { return 1 } } return new D().m() } return make()',
      ],
      7,
    ],
    [
      'exported decorated class',
      ['const d = (v: any, c: any) => { v.tag = c.name }; @d export class D {} return (D as any).tag'],
      'D',
    ],
  ])('%s', (...row) => check(row))
})

describe('what a cell changes', () => {
  it('is told by name', async () => {
    const cells = createCells()
    expect(await cells.run('const a = 1; let b = 2; function f() { b++ }')).toMatchObject({
      added: ['a', 'b', 'f'],
      changed: [],
      removed: [],
    })
    expect(await cells.run('f()')).toMatchObject({ added: [], changed: ['b'], removed: [] })
    expect(await cells.run('const a = 1; let b = 9')).toMatchObject({ added: [], changed: ['b'] })
    expect(await cells.run('delete b; imp = 1')).toMatchObject({ added: ['imp'], removed: ['b'] })
    expect(await cells.run('eval("var ev = 1")')).toMatchObject({ added: ['ev'] })
    expect(cells.names.kinds.get('imp')).toBe('implicit')
  })

  it('is what its text touches', async () => {
    const cells = createCells()
    const run = await cells.run('globalThis.later = 1; const f = () => x.b + y; let o = { z: 1 }; w = f; (q => q)(1)')
    expect(run.program).toMatchObject({ touch: ['f', 'o', 'w', 'x', 'y'], writes: ['w'], dynamic: false, world: true })
    expect((await cells.run('return eval("1")')).program?.dynamic).toBe(true)
    expect((await cells.run('return globalThis["a" + 1]')).program?.dynamic).toBe(true)
    expect((await cells.run('Array.prototype.foo = 1')).program?.world).toBe(true)
    expect((await cells.run('const Q = {}; Q.foo = 1')).program?.world).toBe(false)
  })
})
