/**
 * Statements and expressions by section of the language's standard: each program is run by V8 as a script and as a cell, and logs the same. Those that
 * wait are run by V8 as the body of an async function.
 */
import vm from 'node:vm'
import { describe, expect, it } from 'vitest'
import { createCells } from '../support/cells.ts'
import { asCells, asScripts } from '../support/scripts.ts'

const sections: Readonly<Record<string, readonly string[]>> = {
  'expressions: primary': [
    'log.push(this === globalThis, typeof this)',
    'log.push([, 1, , 2,].length, 1 in [, 1], 0 in [, 1])',
    'log.push(Object.keys({ 2: 0, b: 0, 1: 0, [`a${1}`]: 0 }).join())',
    'var x = 1; log.push({ x, get y() { return this.x + 1 } }.y, { async *m() {} }.m.constructor.name)',
    'log.push(/a(?<n>b)/d.exec("ab").groups.n, /[\\p{L}--[a-z]]/v.test("A"), /x/y.sticky)',
    'log.push(`a${1}${`b${2}`}`, String.raw`\\n${1}`, ((s, ...v) => s.raw.join() + v)`x${1}\\y`)',
    'log.push((() => arguments => arguments)()(5))',
    'log.push({ __proto__: null } instanceof Object, { "__proto__": Array.prototype } instanceof Array, { ["__proto__"]: 1 }.__proto__)',
  ],
  'expressions: left-hand side': [
    'var o = { f() { return this === o } }; log.push(o.f(), (o.f)(), (0, o.f)(), o["f"]())',
    'log.push(undefined?.a.b.c, null?.[log.push("no")], (void 0)?.(), ({ a: { b: 1 } }).a?.b, delete ({ a: 1 })?.a)',
    'function F() { return new.target === F } log.push(new F() instanceof F, F())',
    'class B { static m() { return "B" } } class D extends B { static m() { return super.m() + "D" } } log.push(D.m())',
    'log.push(((...a) => a.length)(...[1, 2], ...new Set([3]), ...""))',
    'log.push(new Date(...[2020, 1]).getFullYear(), new (class { constructor(...a) { this.n = a.length } })(...[1, 2, 3]).n)',
  ],
  'expressions: update, unary, binary': [
    'var i = 1; log.push(i++ + ++i, i-- - --i, -i, +"3", ~5, !0, void 0, typeof null, typeof undeclared)',
    'log.push(2 ** 3 ** 2, (-2) ** 2, 7 % -3, -7 % 3, 1 / -0, 5 >>> 1, -5 >>> 28, -5 >> 1, 1 << 31)',
    'log.push(1 < 2 < 3, 3 > 2 > 1, "b" > "a", null >= 0, undefined == null, NaN != NaN, [] == "", "1" === 1)',
    'log.push("a" in { a: 1 }, "b" in { a: 1 }, 0 in [1], [] instanceof Array)',
    'class P { #p = 1; static has(o) { return #p in o } } log.push(P.has(new P()), P.has({}))',
    'log.push(0 || "a", "" ?? "b", null ?? "c", 1 && 2, (1, 2), 1 ? 2 ? 3 : 4 : 5)',
    'var a = null, b = 0, c = 1; a ??= 5; b ||= 6; c &&= 7; log.push(a, b, c)',
    'log.push(10n ** 20n, -5n / 2n, typeof 1n, 1n < 2, BigInt.asUintN(8, 257n))',
  ],
  'expressions: assignment and patterns': [
    'var a, b; [a, b = a] = [1]; [a, b] = [b + 1, a]; log.push(a, b)',
    'var o = {}; ({ x: o.y, z: o["w"] = 3, ...o.rest } = { x: 1, q: 2 }); log.push(JSON.stringify(o))',
    'var log2 = []; var { [(log2.push(1), "k")]: v = log2.push(2) } = (log2.push(0), {}); log.push(log2.join(), v)',
    'var it = { [Symbol.iterator]() { return { n: 0, next() { return { value: this.n++, done: false } }, return() { log.push("closed"); return {} } } } }; var [p, , q] = it; log.push(p, q)',
    'var f; f = function () {}; var g = class {}; var { h = () => {} } = {}; log.push(f.name, g.name, h.name)',
    'function d(a, { b = a, c: [e = b] = [] } = {}, ...r) { return [a, b, e, r.length].join() } log.push(d(1), d(1, { b: 2, c: [3] }, 4), d.length)',
    'var s = "😀"; var [c1, c2] = s; log.push(c1.length, c2)',
    'try { var { z } = null } catch (e) { log.push(e.name) } try { var [y] = 1 } catch (e) { log.push(e.name) }',
  ],
  'statements: declarations': [
    'log.push(typeof h, h()); function h() { return 1 } function h() { return 2 } log.push(h())',
    'try { t; let t = 1 } catch (e) { log.push(e.name) }',
    'let a = 1; { let a = 2; { var q = a } } log.push(a, q)',
    'const c = { n: 1 }; c.n++; try { c = 1 } catch (e) { log.push(e.name, c.n) }',
    'var v = 1; var v; log.push(v); { function inBlock() { return "block" } } log.push(inBlock())',
    'if (true) function inIf() { return 1 } log.push(typeof inIf)',
    'log.push(typeof later); { log.push(typeof later); function later() {} } log.push(typeof later)',
    'switch (1) { case 0: let s = 0; case 1: try { s } catch (e) { log.push(e.name) } }',
    'label: function labelled() {} log.push(typeof labelled)',
  ],
  'statements: loops and jumps': [
    'var out = []; for (let i = 0, n = 3; i < n; i++) { if (i === 1) continue; out.push(() => i) } log.push(out.map(f => f()).join())',
    'for (var k in Object.create({ inherited: 1 }, { own: { value: 1, enumerable: true } })) log.push(k)',
    'for (const [a, b = 9] of [[1], [2, 3]]) log.push(a + b); for (var { length } of ["abc"]); log.push(length)',
    'outer: for (;;) { for (;;) { break outer } } do { log.push("once") } while (false); var w = 3; while (w--) { if (w) continue; log.push(w) }',
    'a: { b: { break a } log.push("no") } log.push("yes")',
    'function f() { try { return 1 } finally { return 2 } } function g() { l: try { return 1 } finally { break l } return 3 } log.push(f(), g())',
    'function* gen() { try { yield 1; yield 2 } finally { log.push("cleanup") } } for (const x of gen()) { log.push(x); break }',
    'for (let x of [1]) { let x = 2; log.push(x) } for (let i = 0, f = () => i; i < 1; i++) log.push(f())',
    'switch (3) { default: log.push("d"); case 1: log.push(1); break; case 2: log.push(2) }',
    'with ({ inside: 1 }) { log.push(inside); var fromWith = inside } log.push(fromWith)',
  ],
  'statements: try': [
    'try { throw 1 } catch { log.push("bare") } finally { log.push("f") }',
    'try { throw { a: [1] } } catch ({ a: [x], b = 2 }) { log.push(x, b) }',
    'try { try { throw 1 } finally { log.push("inner") } } catch (e) { log.push(e) }',
    'try { null.x } catch (e) { log.push(e instanceof TypeError, e.constructor === TypeError) }',
    'var e = 1; try { throw 2 } catch (e) { var e = 3 } log.push(e)',
  ],
  functions: [
    'log.push((function () { return typeof this }).call(1), (function () { "use strict"; return typeof this }).call(1))',
    'log.push((function (a, b) { arguments[0] = 9; return a }).call(0, 1), (function (a) { "use strict"; arguments[0] = 9; return a })(1))',
    'log.push((function fact(n) { return n < 2 ? 1 : n * fact(n - 1) })(5), (n => n)`x`.raw[0])',
    'function a(x, y = 1, ...z) {} log.push(a.length, a.name, a.toString(), (() => {}).hasOwnProperty("prototype"))',
    'log.push((function () { return arguments.length })(...[1, , 3]), (() => this === globalThis)())',
    'var self = function named() { return typeof named }; log.push(self(), typeof named)',
    'function outer() { return inner(); function inner() { return 1 } var inner = 2 } log.push(outer())',
    'log.push(Function("a", "b", "return a + b")(1, 2), new Function("return this === globalThis")(), (0, eval)("typeof log"))',
    'eval("var fromEval = 1; let notOut = 2"); log.push(fromEval, typeof notOut)',
  ],
  generators: [
    'function* g() { const got = yield 1; log.push(got); yield* [2, 3]; return 4 } var i = g(); log.push(i.next("lost").value, i.next("in").value, i.next().value, i.next().value)',
    'function* g() { try { yield } catch (e) { yield e + 1 } } var i = g(); i.next(); log.push(i.throw(1).value, i.return(7).value, i.next().done)',
    'var o = { *[Symbol.iterator]() { yield* "ab" } }; log.push([...o].join(), Array.from(o, x => x + x).join())',
    'function* inner() { return yield "y" } function* outer() { log.push(yield* inner()) } var i = outer(); i.next(); i.next("r")',
  ],
  classes: [
    'class A { constructor() { this.n = new.target.name } static create() { return new this() } } class B extends A {} log.push(new B().n, B.create().n, Object.getPrototypeOf(B) === A)',
    'class C { a = 1; ["b" + 1] = this.a + 1; static s = 3; static { this.t = this.s + 1 } } log.push(new C().b1, C.t, Object.keys(new C()).join())',
    'class P { #v = 1; get v() { return this.#v } set v(x) { this.#v = x } static #s() { return "s" } static s() { return P.#s() } } var p = new P(); p.v = 5; log.push(p.v, P.s())',
    'class D extends Array { get last() { return this.at(-1) } } log.push(D.of(1, 2).last, D.of(1).map(x => x) instanceof D)',
    'class N extends null { static x = 1 } log.push(N.x, Object.getPrototypeOf(N.prototype))',
    'try { class X extends X {} } catch (e) { log.push(e.name) } try { new (class extends Object { constructor() {} }) } catch (e) { log.push(e.name) }',
    'class E extends Error { constructor(m) { super(m); this.name = "E" } } log.push(String(new E("m")), new E("m") instanceof Error)',
    'var K = class Inner { static who() { return typeof Inner } }; log.push(K.who(), typeof Inner, K.name)',
    'class G { static *items() { yield* [1, 2] } static async a() {} "quoted name"() { return 1 } 123() { return 2 } } log.push([...G.items()].join(), new G()["quoted name"](), new G()[123]())',
    'class M { get [Symbol.toStringTag]() { return "M" } static [Symbol.hasInstance](x) { return x === 1 } } log.push(String(new M()), 1 instanceof M)',
    'class S { static a = () => this.name; static name2 = S.name } log.push(S.a(), S.name2)',
    'class Old { v() { return "old" } } var o = new Old(); log.push(o.v()); class Sub extends Old { v() { return super.v() + "!" } } log.push(new Sub().v())',
  ],
  'strict mode': [
    '"use strict"; try { undeclaredName = 1 } catch (e) { log.push(e.name) }',
    '"use strict"; log.push((function () { return this })(), (() => typeof this)())',
    '"use strict"; try { Object.freeze({ a: 1 }).a = 2 } catch (e) { log.push(e.name) } try { delete Object.prototype } catch (e) { log.push(e.name) }',
    '"use strict"; { function scoped() {} } log.push(typeof scoped)',
    '"use strict"; eval("var kept = 1"); log.push(typeof kept)',
    'implicit = 5; log.push(implicit, delete globalThis.implicit, typeof implicit)',
    'log.push(010, 0o10, 0b11, 1_000, "\\101")',
  ],
  'lexical grammar': [
    'var \\u0061bc = 1; log.push(abc); var ünïcode = 2, $ = 3, _ = 4; log.push(ünïcode, $, _)',
    'log.push(1\n+1)\nvar a = 1\n;[2].forEach(x => log.push(x))',
    'var async = 1, of = 2, get = 3, let1 = 4, yield1 = 5, static1 = 6; log.push(async + of + get)',
    'log.push(1) /* a\ncomment */ log.push(2)',
    'var a = 1\nvar b = a\n++a\nlog.push(a, b)',
    'log.push(((a, b) => a / b / 2)(8, 2)) /1/1',
    'log.push("a\\\nb", "\\x41\\u{1F600}".length, `line\n`.length)',
    '<!-- html-like\nlog.push("after")\n--> also',
  ],
  'built-in protocols': [
    'log.push(`${{ toString() { return "s" } }}`, +{ valueOf() { return 4 } }, `${{ [Symbol.toPrimitive](h) { return h } }}`)',
    'var p = new Proxy({}, { get: (t, k) => k, has: () => true, ownKeys: () => ["z"], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) }); log.push(p.any, "x" in p, Object.keys(p).join(), { ...p }.z)',
    'log.push(Reflect.construct(Date, [0], Array) instanceof Array, Reflect.ownKeys({ b: 1, 1: 1, [Symbol.iterator]: 1 }).length)',
    'log.push(Object.groupBy([1, 2, 3], x => (x % 2 ? "o" : "e")).o.join(), [3, 1].toSorted().join(), "ab".at(-1), structuredCloneLike())\nfunction structuredCloneLike() { return [1, [2, [3]]].flat(Infinity).join() }',
    'log.push([..."ab"].entries().toArray().join(), new Set([1, 2]).union(new Set([3])).size, Iterator.from([1, 2, 3]).drop(1).toArray().join())',
  ],
}

describe.each(Object.entries(sections))('%s', (_, programs) => {
  it.each(programs)('%s', async program => {
    const wanted = asScripts([program])
    expect(wanted.length).toBeGreaterThan(0)
    expect(await asCells([program])).toEqual(wanted)
  })
})

const waiting: readonly string[] = [
  'log.push(await 1, await Promise.resolve(2), await { then(r) { r(3) } })',
  'for await (const x of [1, Promise.resolve(2)]) log.push(x)',
  'async function* g() { yield 1; yield await 2 } for await (const x of g()) log.push(x)',
  'try { await Promise.reject(new TypeError("x")) } catch (e) { log.push(e.name) } finally { log.push(await 9) }',
  'const f = async x => (await x) + 1; log.push(await f(f(1)))',
  'for (let i = 0; i < 3; i++) { await null; setImmediateLike(() => log.push(i)) } function setImmediateLike(f) { f() }',
  'const [a, b = await 2] = [await 1]; const { c = await 3, ...d } = { e: await 4 }; log.push(a, b, c, d.e)',
  'class A { static async m() { return (await 1) + 1 } [await "k"]() { return 5 } } log.push(await A.m(), new A().k())',
  'label: for (const x of [1, 2]) { await x; if (x === 1) continue label; log.push(x); break label }',
  'switch (await 2) { case await 2: log.push("two") }',
  'log.push((await Promise.allSettled([1, Promise.reject(2)])).map(x => x.status).join(), await Promise.any([Promise.reject(1), 3]))',
  'log.push(`${await 1}${await 2}`, [await 1, ...(await [2, 3])].join(), { [await "a"]: await 1 }.a, (await (async () => () => 7)())())',
  'let n = 1; n += await 2; log.push(n); n ??= await 9; log.push(n); log.push(await (n > 2 ? await 4 : 0))',
  'const seen = []; const p = (async () => { seen.push(1); await null; seen.push(3) })(); seen.push(2); await p; log.push(seen.join())',
  'return log.push("returned"), 1; log.push("never")',
  'try { return } finally { log.push("finally") }',
  'if (true) { log.push(1); return } log.push(2)',
  'var v = await 1; function hoisted() { return v } log.push(hoisted()); { function inner() { return await1() } } function await1() { return 2 } log.push(inner())',
  'const it = (function* () { try { yield 1 } finally { log.push("closed") } })(); for (const x of it) { await x; break }',
  'const asyncIt = (async function* () { try { yield 1 } finally { await 0; log.push("closed") } })(); for await (const x of asyncIt) break',
]

describe('what waits or returns', () => {
  it.each(waiting)('%s', async program => {
    const context = vm.createContext(vm.constants.DONT_CONTEXTIFY)
    const log = vm.runInContext('globalThis.log = []', context) as unknown[]
    await (vm.runInContext(`(async function () {\n${program}\n})`, context) as () => Promise<void>)()
    const cells = createCells()
    await cells.run('globalThis.log = []')
    expect(await cells.run(program)).toMatchObject({ outcome: 'ok' })
    expect((cells.global['log'] as unknown[]).map(String)).toEqual(log.map(String))
    expect(log.length).toBeGreaterThan(0)
  })
})
