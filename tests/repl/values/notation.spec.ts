import { describe, expect, it } from 'vitest'
import { encode } from '../../../src/repl/values/encode.ts'
import { jsonOf } from '../../../src/repl/values/json.ts'
import { previewBounds, valueLimits } from '../../../src/repl/values/limits.ts'
import { printBounded, printGraph, typeOfGraph } from '../../../src/repl/values/notation.ts'
import { pageGraph } from '../../../src/repl/values/page.ts'
import { isBoundedCopy, parseGraph } from '../../../src/repl/values/parse.ts'
import { createTestRealm } from '../../support/repl/values.ts'

const test = createTestRealm()
const graphOf = (source: string) => {
  const encoded = test.encode(test.run(source))
  if (encoded.kind !== 'encoded') throw new Error(encoded.limit)
  return parseGraph(encoded.bytes)
}

test.run(
  'class P { constructor(x) { this.x = x; this.y = 2 } }; class K {}; function f() {}; class List extends Array {}; globalThis.kept = { P, K, f, List }',
)
const kept = test.run('kept') as Record<string, object>
for (const name of ['P', 'K', 'List']) test.register(name, `[class ${name}]`, kept[name]!)
test.register('f', '[function f]', kept['f']!)

describe('the notation', () => {
  it.each([
    ['undefined', 'undefined'],
    ['12n', '12n'],
    ['-0', '-0'],
    ['"text\\n"', '"text\\n"'],
    ['"\\ud83d"', '"\\ud83d"'],
    ['Symbol("a")', 'Symbol("a")'],
    ['Symbol.for("a")', 'Symbol.for("a")'],
    ['Symbol.iterator', 'Symbol.iterator'],
    ['[1, , , 3]', '[1, <2 holes>, 3]'],
    ['[1, , NaN, -0, 10n]', '[1, <1 hole>, NaN, -0, 10n]'],
    ['({ a: 1, "b-c": 2, 3: 4 })', '{ 3: 4, a: 1, "b-c": 2 }'],
    ['({})', '{ }'],
    ['[]', '[]'],
    ['Object.create(null)', '[null prototype] { }'],
    ['new kept.P(1)', 'P { x: 1, y: 2 }'],
    ['({ get a() { return 1 } })', '{ a: [getter] }'],
    ['({ set a(v) {} })', '{ a: [setter] }'],
    ['({ get a() { return 1 }, set a(v) {} })', '{ a: [getter/setter] }'],
    ['({ [Symbol("s")]: 1 })', '{ [Symbol("s")]: 1 }'],
    ['new Map([["k", { a: 1 }]])', 'Map(1) { "k" => { a: 1 } }'],
    ['new Set([1, 2])', 'Set(2) { 1, 2 }'],
    ['new Date(0)', 'Date(1970-01-01T00:00:00.000Z)'],
    ['new Date(NaN)', 'Date(invalid)'],
    ['/a/g', '/a/g'],
    ['new Uint8Array(3)', 'Uint8Array(3) [0, 0, 0]'],
    ['new Float64Array([1.5, -0])', 'Float64Array(2) [1.5, -0]'],
    ['Buffer.from("abc")', 'Buffer(3) <61 62 63>'],
    ['new ArrayBuffer(2)', 'ArrayBuffer(2) <00 00>'],
    ['new DataView(new ArrayBuffer(2))', 'DataView(2) [0, 0]'],
    ['new URL("http://a/b")', 'URL(http://a/b)'],
    ['new URLSearchParams("a=1")', 'URLSearchParams(a=1)'],
    [
      'Object.assign(new TypeError("msg", { cause: new Error("c") }), { code: "E" })',
      'TypeError("msg") { cause: Error("c"), code: "E" }',
    ],
    ['new Error()', 'Error()'],
    ['Object.assign(new Error("m"), { name: "Mine" })', 'Mine("m")'],
    ['kept.f', '[function f]'],
    ['kept.K', '[class K]'],
    ['(() => {})', '[function]'],
    ['(class Other {})', '[class Other]'],
    ['Object("a")', '[String: "a"]'],
    ['Object(1n)', '[BigInt: 1n]'],
    ['new Promise(() => {})', 'Promise { <pending> }'],
    ['new Proxy({}, {})', '[proxy]'],
    ['new WeakMap()', '[WeakMap]'],
    ['(function* () {})()', '[Generator]'],
    ['(function () { return arguments })(1)', '[Arguments]'],
    ['kept.List.from([1, 2])', 'List(2) [1, 2]'],
    ['Object.assign([1], { a: 2 })', '[1, a: 2]'],
    ['(() => { const o = {}; o.self = o; return o })()', '&1 { self: *1 }'],
    ['(() => { const a = {}, b = [a]; return [b, a, b] })()', '[&1 [&2 { }], *2, *1]'],
    ['(() => { const m = new Map(); m.set(m, m); return m })()', '&1 Map(1) { *1 => *1 }'],
    ['({ a: { b: { c: { d: { e: { f: { g: 1, h: 2 } } } } } } })', '{ a: { b: { c: { d: { e: { f: { … 2 more } } } } } } }'],
  ])('of %s is %s', (source, text) => {
    expect(printGraph(graphOf(source))).toBe(text)
  })

  it('shows a settled promise with its value', () => {
    const settled = test.run('Promise.resolve()') as object
    ;(test.host.settled as unknown as (...args: unknown[]) => void)(settled, 'fulfilled', 5)
    expect(printGraph(parseGraph(test.bytes(settled)))).toBe('Promise { 5 }')
  })

  it('is one line up to 100 characters, then one entry a line', () => {
    expect(printGraph(graphOf('Array(20).fill(100)'))).toBe(`[${Array(20).fill(100).join(', ')}]`)
    expect(printGraph(graphOf('({ list: Array(40).fill(10), map: new Map([["k", "x".repeat(90)]]) })'))).toBe(
      `{\n  list: [\n${Array(40).fill('    10').join(',\n')}\n  ],\n  map: Map(1) {\n    "k" => "${'x'.repeat(90)}"\n  }\n}`,
    )
  })

  it('says how many entries it leaves out', () => {
    expect(printBounded(graphOf('Array(20000).fill(1)'), { maxChars: 10_000 })).toMatchObject({
      cut: true,
      text: expect.stringMatching(/1,\n {2}… 19,900 more\n\]$/),
    })
    expect(printGraph(graphOf('new Set(Array.from({ length: 150 }, (_, i) => i))'))).toMatch(/… 50 more\n\}$/)
    expect(printGraph(graphOf('new Uint8Array(500)'))).toMatch(/0, … 400 more\]$/)
    expect(printGraph(graphOf('[...Array(3).fill(0), ...Array(2)]'))).toBe('[0, 0, 0, undefined, undefined]')
    expect(
      printGraph(
        graphOf('(() => { const a = Array(150); for (let i = 0; i < 150; i += 1.5) a[Math.floor(i)] = 1; return a })()'),
      ),
    ).toMatch(/… \d+ more\n\]$/)
  })

  it('is never longer than it may be, and never tears a pair', () => {
    for (const source of [
      'Array(90).fill("😀".repeat(30))',
      '"😀".repeat(5000)',
      '({ deep: { list: Array.from({ length: 90 }, () => ({ a: 1, b: [1, 2, 3] })) } })',
      'new Map(Array.from({ length: 90 }, (_, i) => [i, "x".repeat(i)]))',
    ]) {
      for (const maxChars of [200, 333, 1000, 2000]) {
        const printed = printBounded(graphOf(source), { maxChars })
        expect(printed.text.length).toBeLessThanOrEqual(maxChars)
        expect(printed.text.length).toBeGreaterThan(maxChars / 4)
        expect(printed.text.isWellFormed()).toBe(true)
        expect(printed.cut).toBe(true)
      }
    }
  })

  it('of a bounded copy is that of the value', () => {
    for (const source of [
      'Array.from({ length: 300 }, (_, i) => ({ i, text: "x".repeat(i) }))',
      'new Map([[1, new Set([1, 2])]])',
      'new Float32Array(500)',
      'Object.assign([1, , 3], { x: 1 })',
      '({ a: { b: { c: { d: { e: { f: { g: 1 } } } } } } })',
      'Buffer.from("abc")',
      'new kept.P({})',
      'new Error("m")',
      '(() => { const a = []; a[4000000000] = 1; return a })()',
    ]) {
      const whole = printBounded(graphOf(source), { maxChars: 4000 })
      const copy = encode(test.run(source), { realm: test.realm, host: test.host, limits: valueLimits, bounds: previewBounds })
      if (copy.kind !== 'encoded') throw new Error(copy.limit)
      expect(isBoundedCopy(copy.bytes)).toBe(true)
      expect(printBounded(parseGraph(copy.bytes), { maxChars: 4000 }).text).toBe(whole.text)
    }
  })
})

describe('the type of a value', () => {
  it.each([
    ['1', 'number'],
    ['null', 'null'],
    ['[1, 2]', 'Array(2)'],
    ['new Map()', 'Map(0)'],
    ['kept.f', 'function'],
    ['(() => {})', 'function'],
    ['kept.P', 'class'],
    ['new kept.P(1)', 'P'],
    ['({})', 'object'],
    ['new Error()', 'Error'],
    ['new WeakSet()', 'WeakSet'],
    ['kept.List.of(1)', 'List(1)'],
  ])('of %s is %s', (source, type) => {
    expect(typeOfGraph(graphOf(source))).toBe(type)
  })
})

describe('what a client gets', () => {
  it.each([
    ['json', '({ a: [1, "x", null, true], b: {} })'],
    ['json', 'Object.freeze([1])'],
    ['json', 'JSON.parse(\'{"__proto__": 1}\')'],
    ['graph', '-0'],
    ['graph', 'NaN'],
    ['graph', '[undefined]'],
    ['graph', '[,]'],
    ['graph', '1n'],
    ['graph', '(() => { const a = {}; return [a, a] })()'],
    ['graph', 'Object.create(null)'],
    ['graph', 'new Date(0)'],
    ['graph', '({ [Symbol.iterator]: 1 })'],
    ['graph', 'Object.defineProperty({}, "a", { value: 1 })'],
    ['graph', '(() => { let a = []; for (let i = 0; i < 1000; i++) a = [a]; return a })()'],
    ['json', '(() => { let a = []; for (let i = 0; i < 999; i++) a = [a]; return a })()'],
    ['graph', 'kept.f'],
    ['opaque', '(() => {})'],
    ['opaque', 'new WeakMap()'],
    ['opaque', '({ get a() { return 1 } })'],
  ])('is %s for %s', (kind, source) => {
    const encoded = test.encode(test.run(source))
    if (encoded.kind !== 'encoded') throw new Error(encoded.limit)
    expect(encoded.valueKind).toBe(kind)
    const json = jsonOf(encoded.bytes)
    expect(json !== undefined).toBe(kind === 'json')
    if (json !== undefined) expect(JSON.stringify(json.value)).toBe(JSON.stringify(test.run(source)))
  })
})

describe('a page', () => {
  const graph = graphOf(
    '({ list: Array.from({ length: 250 }, (_, i) => i), map: new Map([["k", { deep: [1] }], [2, 3]]), text: "ab😀cd", bytes: Buffer.from("abc"), holes: [1, , , , 5] })',
  )
  it.each<[(string | number)[], number, number, object]>([
    [['list'], 100, 3, { text: '[100, 101, 102]', total: 250, type: 'Array(250)' }],
    [['list'], 248, 10, { text: '[248, 249]', total: 250 }],
    [['list', 7], 0, 1, { text: '7', total: 1, type: 'number' }],
    [['map'], 1, 1, { text: 'Map(2) { 2 => 3 }', total: 2, type: 'Map(2)' }],
    [['map', 0], 0, 9, { text: '["k", { deep: [1] }]', total: 2 }],
    [['map', 0, 1, 'deep'], 0, 9, { text: '[1]', total: 1 }],
    [['map', 'k', 'deep', 0], 0, 9, { text: '1' }],
    [['text'], 0, 3, { text: 'ab😀', total: 6, type: 'string' }],
    [['text'], 3, 9, { text: 'cd', total: 6 }],
    [['bytes'], 1, 9, { text: '[98, 99]', total: 3, type: 'Buffer(3)' }],
    [['holes'], 1, 3, { text: '[<3 holes>]', total: 5 }],
    [[], 3, 1, { text: '{ bytes: Buffer(3) <61 62 63> }', total: 5, type: 'object' }],
  ])('at %j from %i, %i long', (path, offset, limit, expected) => {
    expect(pageGraph(graph, path, offset, limit)).toMatchObject(expected)
  })

  it('is refused where the path leads nowhere', () => {
    for (const path of [['none'], ['list', 250], ['list', -1], ['holes', 1], ['text', 0], ['map', 2]]) {
      expect(() => pageGraph(graph, path)).toThrow(expect.objectContaining({ code: 'REPL_BAD_REQUEST' }))
    }
  })
})
