/** What a script means, its cells mean: programs are run as classic scripts by V8 alone and as cells, and must log the same. */
import vm from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { asCells, asScripts } from '../support/scripts.ts'

const written: readonly (readonly string[])[] = [
  ['var a = 1, b; log.push(a, b)', 'var a; log.push(a)', 'function g() { return a } a = 7; log.push(g())'],
  ['log.push(typeof f, typeof v); function f() {} var v = 1', 'log.push(f.name, f.length, v)'],
  ['{ function blk() { return 1 } } log.push(typeof blk)', 'if (1) { function other() {} } log.push(typeof other)'],
  [
    'try { throw { e: 1 } } catch ({ e }) { var e2 = e } log.push(e2)',
    'try { throw 5 } catch (err) { var err = 6; log.push(err) } log.push(err)',
  ],
  [
    'let { x, y: { z = 3, ...more }, ...rest } = { x: 1, y: { q: 2 }, w: 4 }; log.push(x, z, JSON.stringify(more), JSON.stringify(rest))',
  ],
  ['const [p, [q] = [2], ...s] = [1, undefined, 3, 4]; log.push(p, q, s.length)'],
  ['let order = []; const { [(order.push("k"), "a")]: t = order.push("d") } = (order.push("i"), {}); log.push(order.join(), t)'],
  ['function* it() { try { yield 1; yield 2 } finally { log.push("closed") } } const [first] = it(); log.push(first)'],
  [
    'class A { #p = 1; static s = A.name; get p() { return this.#p } static { log.push(this.s) } static #q() { return 4 } static q() { return A.#q() } } log.push(new A().p, A.q())',
    'class B extends A { constructor() { super(); log.push(new.target.name) } } new B()',
  ],
  [
    'const o = { ["a" + 1]: 1, get g() { return this.a1 }, set g(v) { this.a1 = v }, async m() {}, *n() {}, __proto__: { inherited: 5 } }; o.g = 3; log.push(o.g, o.inherited, Object.keys(o).join())',
  ],
  [
    'outer: for (let i = 0; i < 3; i++) { for (const j of [0, 1, 2]) { if (j === 1) continue outer; if (i === 2) break outer; log.push(i, j) } }',
  ],
  [
    'var fs = []; for (let i = 0; i < 3; i++) { fs.push(() => i); i += 0 } log.push(fs.map(f => f()).join()); for (var k in { a: 1, b: 2 }) log.push(k); log.push(k)',
  ],
  ['switch (3) { default: log.push("d"); case 1: log.push(1); break; case 2: log.push(2) }'],
  ['with ({ inner: 1 }) { var inner = 2; log.push(inner) } log.push(typeof inner, inner)'],
  ['log.push((function () { return typeof this })(), (() => this === globalThis)(), this === globalThis)'],
  ['log.push(`${1}${`${2}`}`, ((s, ...v) => s.raw.join("|") + v)`a${1}\\n${2}c`)'],
  ['a2 = 5; log.push(delete globalThis.a2, typeof a2)', 'log.push(delete nothing)'],
  ['eval("var ev = 1; let el = 2; function ef() { return 3 }"); log.push(ev, typeof el, ef())', 'log.push(ev)'],
  [
    'var getter = { get [Symbol.toStringTag]() { return "T" } }; log.push(String(getter)); log.push(null ?? "n", undefined?.x, 0 || 2, 1 && 3)',
  ],
  ['let n = 1; n ||= 2; n &&= 3; n ??= 4; n **= 2; log.push(n)', 'n >>>= 1; log.push(n, n++, ++n, -n, ~n, !n, void n)'],
  ['let r = /a(?<n>b)/dgy; r.lastIndex = 1; log.push(r.exec("xab").groups.n, /[/]\\//.test("//"), 4 / 2 / 1)'],
  ['x1\n++\ny1', 'let x1 = 1\nlet y1 = 2\nx1\n++y1\nlog.push(x1, y1)'],
  ['const asi = function () { return 1 }\n;[1].forEach(v => log.push(v))\nlet t1 = 2\n/1/g\nlog.push(t1)'.replace('\n/1/g', '')],
  ['label: { log.push(1); break label; log.push(2) } log.push(3)'],
  ['var d1 = 1; { let d1 = 2; { var d2 = d1 } } log.push(d1, d2)'],
  [
    'function dup(a, a) { return a } log.push(dup(1, 2), dup.length); function args() { arguments[0] = 9; return arguments.length } log.push(args(1, 2))',
  ],
  [
    'function args2(a) { arguments[0] = 9; return a } log.push(args2(1)); log.push((function f(n) { return n ? n * f(n - 1) : 1 })(5))',
  ],
  ['const self = class Inner { static me() { return Inner } }; log.push(self.me() === self, self.name)'],
  [
    'let closure = 1; const inc = () => ++closure; inc(); log.push(closure)',
    'inc(); log.push(closure)',
    'closure = 10; log.push(inc())',
  ],
  [
    'const frozen = Object.freeze({ a: 1 }); frozen.a = 2; log.push(frozen.a)',
    '"use strict"; frozen.a = 3',
    'log.push(frozen.a)',
  ],
  ['"use strict"; undeclared = 1', 'log.push(typeof undeclared)', 'undeclared = 2', 'log.push(undeclared)'],
  ['"use strict"; function st() { return this } log.push(st() === undefined)', 'log.push(typeof st)'],
  ['log.push(notDefined)', 'const early = early2; let early2 = 1', 'null.x', 'throw new RangeError("r")', 'log.push(1)'],
  ['const kk = 1; kk = 2', 'log.push(kk)', 'kk++', 'log.push(kk)', '({ kk } = { kk: 3 })', 'log.push(kk)'],
  [
    'var async = 1, of = 2, get = 3, set = 4, let = 5, static = 6, yield = 7, await_ = 8; log.push(async + of + get + set + let + static + yield)',
  ],
  [
    'for (var of of [1, 2]) log.push(of)',
    'for (var { length } of ["ab"]) log.push(length)',
    'for (var [i0 = 5] of [[]]) log.push(i0)',
  ],
  ['var \\u{61}bc = 1; log.push(abc, \\u0061bc)'],
  [
    'const sym = Symbol("s"); class K { static [sym] = 1; [sym]() { return 2 } static async *gen() {} "quoted name"() {} 12() {} } log.push(K[sym], new K()[sym](), Object.getOwnPropertyNames(K.prototype).join())',
  ],
  ['let caught; try { (() => { throw 0 })() } catch (c) { caught = c } finally { log.push("f") } log.push(caught)'],
  [
    'var hoisted = typeof later; var later = 1; log.push(hoisted); if (false) { var never } log.push(typeof never, "never" in globalThis)',
  ],
  ['function outer1() { return inner1(); function inner1() { return v1 } } var v1 = 3; log.push(outer1())'],
  [
    'var gen = function* () { const got = yield 1; log.push(got); return 2 }(); log.push(gen.next().value, gen.next("sent").value)',
  ],
  ['log.push([..."a😀b"].length, "\\u{1F600}".length, 0b11, 0o17, 0xff, 1_000, 017, .5e1)'],
  ['let big = 2n ** 64n; log.push(big, typeof big, BigInt.asUintN(8, 257n))'],
  ['var { a: da = 1, b: { c: dc } = { c: 2 } } = {}; log.push(da, dc)', 'var [da, dc = da] = [7]; log.push(da, dc)'],
  ['<!-- a comment\nlog.push(1) // x\n--> another\nlog.push(2)'],
  ['if (true) function iff() { return 1 }\nlog.push(iff())', 'lab: function labelled() { return 2 }\nlog.push(labelled())'],
  ['do var once = 1; while (false) log.push(once)', 'var i9 = 0; while (i9 < 2) var w9 = i9++; log.push(w9)'],
  ['new Function("log.push(typeof log)")(); (0, eval)("var viaEval = 4"); log.push(viaEval)'],
  ['const t = { toString() { return "ts" }, valueOf() { return 4 } }; log.push(t + 1, `${t}`, t * 2)'],
  ['log.push(Object.getOwnPropertyDescriptor(class { static m() {} }, "m").enumerable, (class { static x }).x)'],
  ['let oc = { a: { b() { return this.c }, c: 3 } }; log.push(oc?.a?.b(), oc.x?.y.z, (oc?.a.b)(), delete oc?.a)'],
  [
    'var fn1 = () => {}, fn2 = function () {}, fn3 = class {}; log.push(fn1.name, fn2.name, fn3.name)',
    'let [fn4 = () => {}] = []; const { fn5 = function () {} } = {}; log.push(fn4.name, fn5.name)',
  ],
  [
    'log.push(String(function  spaced ( a,b ) { /* c */ }), String(class X { m ( ) { } }), String(async  x=>x))',
    'function  decl ( a ) { return  a } log.push(String(decl))',
  ],
]

describe('a written sequence', () => {
  it.each(written.map(parts => [parts.join(' ⏎ '), parts] as const))('%s', async (_, parts) => {
    const wanted = asScripts(parts)
    expect(wanted.length).toBeGreaterThan(0)
    expect(await asCells(parts)).toEqual(wanted)
  })
})

interface Names {
  readonly variables: string[]
  readonly functions: string[]
  next: number
}

/** Programs from a list of numbers: each number chooses. Names are declared once, so that scripts allow what cells do. */
function programOf(choices: readonly number[]): string[] {
  let at = 0
  const choose = (limit: number): number => (choices[at++ % choices.length] ?? 0) % limit
  const names: Names = { variables: [], functions: [], next: 0 }
  const fresh = (): string => `n${names.next++}`
  const variable = (): string => (names.variables.length === 0 ? '1' : names.variables[choose(names.variables.length)]!)

  const expression = (depth: number): string => {
    const inner = (): string => (depth > 2 ? variable() : expression(depth + 1))
    switch (choose(16)) {
      case 0:
        return String(choose(9))
      case 1:
        return `(${inner()} + ${inner()})`
      case 2:
        return `[${inner()}, ${inner()}].length`
      case 3:
        return `(() => ${inner()})()`
      case 4:
        return `(x => x + ${inner()})(${inner()})`
      case 5:
        return `({ a: ${inner()}, get b() { return ${inner()} } }).b`
      case 6:
        return `(${inner()} ? ${inner()} : ${inner()})`
      case 7:
        return names.functions.length === 0 ? variable() : `${names.functions[choose(names.functions.length)]}(${inner()})`
      case 8:
        return `\`\${${inner()}}\``
      case 9:
        return `(function (a, b = ${inner()}) { return a + b })(${inner()})`
      case 10:
        return `new (class { f = ${inner()}; m() { return this.f } })().m()`
      case 11:
        return `[...function* () { yield ${inner()}; yield ${variable()} }()].join()`
      case 12:
        return `typeof ${variable()}`
      case 13:
        return `eval(${JSON.stringify(inner())})`
      case 14:
        return `(({ a: q = ${inner()} }) => q)({})`
      default:
        return variable()
    }
  }
  const assignable = (): string | undefined =>
    names.variables.filter(name => !name.startsWith('c'))[
      choose(97) % Math.max(1, names.variables.filter(name => !name.startsWith('c')).length)
    ]
  const statement = (depth: number): string => {
    const inner = (): string => (depth > 2 ? `log.push(${expression(2)})` : statement(depth + 1))
    const isTop = depth === 0
    switch (choose(20)) {
      case 0: {
        const value = expression(0)
        const name = fresh()
        if (isTop) names.variables.push(name)
        return `let ${name} = ${value}`
      }
      case 1: {
        const value = expression(0)
        const name = 'c' + fresh()
        if (isTop) names.variables.push(name)
        return `const ${name} = ${value}`
      }
      case 2: {
        const value = expression(0)
        const name = fresh()
        names.variables.push(name)
        return `var ${name} = ${value}`
      }
      case 3: {
        const body = expression(0)
        const name = fresh()
        if (isTop) names.functions.push(name)
        return `function ${name}(p) { return p + ${body} }`
      }
      case 4: {
        const value = expression(0)
        const [a, b] = [fresh(), fresh()]
        if (isTop) names.variables.push(a, b)
        return `let { ${a}, x: [${b} = 3] = [] } = { ${a}: ${value} }`
      }
      case 5: {
        const value = expression(0)
        const name = fresh()
        names.variables.push(name)
        return `var [${name} = ${value}] = []`
      }
      case 6: {
        const name = assignable()
        return name === undefined ? `log.push(1)` : `${name} ${['=', '+=', '??='][choose(3)]} ${expression(0)}`
      }
      case 7:
        return `{ ${inner()}\n${inner()} }`
      case 8:
        return `if (${expression(1)}) { ${inner()} } else { ${inner()} }`
      case 9: {
        const name = fresh()
        names.variables.push(name)
        return `for (var ${name} = 0; ${name} < 2; ${name}++) { ${inner()} }`
      }
      case 10: {
        const name = 'c' + fresh()
        return `for (const ${name} of [1, 2]) { log.push(${name}); ${inner()} }`
      }
      case 11: {
        const name = fresh()
        names.variables.push(name)
        return `for (var ${name} of [${expression(1)}]) log.push(${name})`
      }
      case 12:
        return `try { ${inner()}\nthrow 1 } catch (e) { log.push(e) } finally { ${inner()} }`
      case 13:
        return `switch (${expression(1)}) { case 1: ${inner()}; default: ${inner()} }`
      case 14: {
        const name = fresh()
        const body = expression(0)
        if (isTop) names.variables.push(`new ${name}().m()`)
        return `class ${name} { static s = ${body}; m() { return ${variable()} } }`
      }
      case 15: {
        const name = assignable()
        return name === undefined ? `log.push(2)` : `[${name}] = [${expression(0)}]`
      }
      case 16: {
        const name = fresh()
        return `{ function ${name}(p) { return p + 1 } log.push(${name}(${expression(1)})) }`
      }
      case 17:
        return `lbl: for (;;) { ${inner()}\nbreak lbl }`
      default:
        return `log.push(${expression(0)})`
    }
  }
  const separator = (): string => ['\n', ';\n', '; '][choose(3)]!
  const parts: string[] = []
  for (let count = 2 + choose(3); count > 0; count--) {
    let text = ''
    for (let lines = 1 + choose(4); lines > 0; lines--) text += statement(0) + (lines > 1 ? separator() : '')
    parts.push(text)
  }
  parts.push(
    `log.push(${names.variables.map(name => `(() => { try { return ${name} } catch (e) { return e.name } })()`).join(', ')})`,
  )
  return parts
}

/** Parts that V8 takes as scripts; assignments to `new X().m()` are not among them. */
function isValid(parts: readonly string[]): boolean {
  try {
    for (const part of parts) new vm.Script(part)
    return true
  } catch {
    return false
  }
}

/** Each sequence takes two new contexts; `OUTRIGGER_RUNS=5000` looks longer. */
const runs = Number(process.env['OUTRIGGER_RUNS'] ?? 200)

describe('a generated sequence', () => {
  it('logs as a cell what it logs as a script', async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 1_000_000 }), { minLength: 20, maxLength: 60 }), async choices => {
        const parts = programOf(choices)
        if (!isValid(parts)) return
        const wanted = asScripts(parts)
        // A declaration that fails leaves a name that scripts can never read again; cells can.
        if (wanted.some(entry => entry.startsWith('threw'))) return
        compared++
        expect([parts, await asCells(parts)]).toEqual([parts, wanted])
      }),
      { numRuns: runs },
    )
    expect(compared).toBeGreaterThan(runs / 2)
  }, 120_000)
})
