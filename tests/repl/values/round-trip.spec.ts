import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Graph, isGraphObject } from '../../../src/repl/values/graph.ts'
import { partsOf } from '../../../src/repl/values/materialize.ts'
import { printBounded } from '../../../src/repl/values/notation.ts'
import { isBoundedCopy, parseGraph } from '../../../src/repl/values/parse.ts'
import { createTestRealm } from '../../support/repl/values.ts'

const test = createTestRealm()
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

test.run(`
  class Point { constructor(x) { this.x = x } get twice() { return this.x * 2 } static made = 0 }
  class Registry extends Map {}
  class Failure extends TypeError {}
  class Rows extends Array {}
  class Words extends Uint8Array {}
  class When extends Date {}
  function getter() { return 1 }
  function setter(value) {}
  globalThis.made = { Point, Registry, Failure, Rows, Words, When, getter, setter }
`)
const made = test.run('made') as Record<string, new (...args: unknown[]) => object>
for (const [name, value] of Object.entries(made))
  test.register(name, name.startsWith('get') || name.startsWith('set') ? `[function ${name}]` : `[class ${name}]`, value)

/** One of each kind, as text of the realm. */
const samples: readonly string[] = [
  'null',
  'undefined',
  'true',
  'false',
  '0',
  '-0',
  'NaN',
  'Infinity',
  '-1',
  '1.5',
  '2**53 - 1',
  '-(2**53 - 1)',
  '2**53',
  '10n',
  '-(2n ** 200n)',
  '0n',
  '""',
  '"text"',
  '"\\ud83d"',
  '"😀".repeat(40)',
  '"é".repeat(63) + "x"',
  '({})',
  '({ a: 1, b: { a: 2 }, "c d": [] })',
  '({ 2: "two", 1: "one", z: 0, a: 1 })',
  'JSON.parse(\'{"__proto__": 1, "constructor": 2}\')',
  'Object.create(null)',
  'Object.assign(Object.create(null), { a: 1 })',
  'Object.freeze({ a: 1 })',
  'Object.seal({ a: 1 })',
  'Object.preventExtensions({})',
  'Object.defineProperty({}, "hidden", { value: 1 })',
  '({ [Symbol.for("r")]: 1, [Symbol.iterator]: 2, [Symbol("u")]: 3 })',
  'Object.defineProperty({}, "a", { get: made.getter, set: made.setter, enumerable: true })',
  '[1, , 3, , , ]',
  '[]',
  'new Array(4294967295)',
  '(() => { const a = []; a[4294967290] = 1; return a })()',
  'Object.assign([1], { extra: 2 })',
  'Object.freeze([1, 2])',
  'Object.freeze([])',
  'Object.seal([1, , 2])',
  'Object.defineProperty([1, 2, 3], 1, { get: made.getter })',
  'Object.defineProperty([1, 2, 3], 1, { writable: false })',
  'Object.defineProperty([1, 2, 3], "length", { writable: false })',
  'Object.freeze(Object.defineProperty([1, 2], 0, { get: made.getter, enumerable: true }))',
  'new Map([["k", { a: 1 }], [NaN, 1], [{}, {}]])',
  'new Set([1, "1", undefined, [1]])',
  'Object.assign(new Map(), { extra: 1 })',
  'Object.freeze(new Set([1]))',
  'new Date(0)',
  'new Date(NaN)',
  '/a\\/b[/]/giu',
  'Object.assign(/x/y, { lastIndex: 3 })',
  'Object.freeze(/x/)',
  'new Error("m")',
  'Object.assign(new RangeError("m", { cause: new Error("c") }), { code: "E" })',
  'new AggregateError([new Error("1"), 2], "all")',
  'new ArrayBuffer(3)',
  'new ArrayBuffer(3, { maxByteLength: 9 })',
  'new SharedArrayBuffer(2)',
  'new Uint8Array([1, 2, 3])',
  '(() => { const b = new ArrayBuffer(16); return [new Uint8Array(b, 1, 4), new Float64Array(b, 8), new DataView(b, 2, 3), b] })()',
  'new Uint16Array(new ArrayBuffer(6, { maxByteLength: 12 }), 2)',
  'new BigInt64Array([1n, -1n])',
  'Object.assign(new Float32Array([1.5, NaN]), { unit: "m" })',
  'new URL("https://a.example/b?c=d#e")',
  'new URLSearchParams("a=1&a=2")',
  'Object("text")',
  'Object.assign(Object("ab"), { 2: "c" })',
  'Object(1)',
  'Object(true)',
  'Object(1n)',
  'Object(Symbol("boxed"))',
  'Symbol("s")',
  'Symbol()',
  'Symbol.for("registered")',
  'Symbol.asyncIterator',
  'made.Point',
  'Object.assign(made.getter, {})',
  'new made.Point(1)',
  '[new made.Point(1), new made.Point({})]',
  'Object.freeze(new made.Point(1))',
  'new made.Registry([["a", 1]])',
  'new made.Failure("f")',
  'made.Rows.from([1, 2, 3])',
  'new made.Words(2)',
  'new made.When(5)',
  'Object.create({ inherited: 1 })',
  'Object.create(Object.create(null))',
  'Object.setPrototypeOf([1], null)',
  'Object.setPrototypeOf(new Map(), Object.prototype)',
  '(() => { const o = {}; o.self = o; o.list = [o]; return o })()',
  '(() => { const m = new Map(); m.set(m, m); return m })()',
  '(() => { const r = new made.Registry(); r.set("me", r); r.me = r; return r })()',
  '(() => { const s = Symbol("k"); return { [s]: s } })()',
  '(() => { const shared = {}; return [shared, shared] })()',
  '[{ a: 1, b: 2 }, { a: 3, b: 4 }, { b: 1, a: 2 }]',
]

describe('a stored value', () => {
  it.each(samples)('%s comes back as it was', source => {
    const bytes = test.bytes(test.run(source))
    const { value, lost } = test.back(bytes)
    expect(lost).toEqual([])
    expect(hex(test.bytes(value))).toBe(hex(bytes))
  })

  it('keeps what programs see of it', () => {
    const back = (source: string) => test.back(test.bytes(test.run(source))).value
    const point = back('new made.Point(21)') as { twice: number }
    expect([Object.getPrototypeOf(point) === made['Point']!.prototype, point.twice]).toEqual([true, 42])
    expect((back('new made.Registry([["a", 1]])') as Map<string, number>).get('a')).toBe(1)
    const failure = back('new made.Failure("f")') as Error
    expect([
      failure instanceof (made['Failure'] as never),
      failure.message,
      /^TypeError: f\n {4}at /.test(failure.stack!),
    ]).toEqual([true, 'f', true])
    expect(Object.isFrozen(back('Object.freeze([1, { a: 1 }])'))).toBe(true)
    const [bytes, floats] = back(
      '(() => { const b = new ArrayBuffer(16); return [new Uint8Array(b), new Float64Array(b)] })()',
    ) as [Uint8Array, Float64Array]
    floats[1] = 1
    expect([...bytes.subarray(8)]).toEqual([0, 0, 0, 0, 0, 0, 240, 63])
  })

  it('keeps memory that Buffers of the pool share, and only that', () => {
    const whole = Buffer.from('secret neighbour|shared')
    const tail = whole.subarray(17)
    const value = { tail, deep: [tail.subarray(0, 3), whole.subarray(15, 19)], other: Buffer.from('alone') }
    const bytes = test.bytes(Object.assign(test.run('({})') as object, { value: asRealm(value) }))
    expect(Buffer.from(bytes).includes('neighbou')).toBe(false)
    const back = test.back(bytes).value as { value: typeof value }
    back.value.tail[0] = 'S'.charCodeAt(0)
    expect([String(back.value.deep[0]), String(back.value.deep[1]), String(back.value.other)]).toEqual(['Sha', 'r|Sh', 'alone'])
    expect(hex(test.bytes(back))).toBe(hex(test.bytes(Object.assign(test.run('({})') as object, back))))
  })

  it('keeps the outcome of a promise that is settled', async () => {
    const settled = test.run('Promise.resolve()') as object
    ;(test.host.settled as unknown as (...args: unknown[]) => void)(settled, 'fulfilled', asRealm({ a: 1 }))
    const back = test.back(test.bytes(settled))
    expect(await (back.value as Promise<unknown>)).toEqual({ a: 1 })
    const failed = test.run('const failed = Promise.reject(); failed.catch(() => {}); failed') as object
    ;(test.host.settled as unknown as (...args: unknown[]) => void)(failed, 'rejected', 'no')
    await expect(test.back(test.bytes(failed)).value as Promise<unknown>).rejects.toBe('no')
  })

  it('is bytes of one kind for one value, however the engine holds it', () => {
    const same = (...sources: string[]) => new Set(sources.map(source => hex(test.bytes(test.run(source))))).size
    expect(
      same(
        '[1, 2, 3]',
        '(() => { const a = [1.5, "x", 3]; a[0] = 1; a[1] = 2; return a })()',
        'Array.from(new Uint8Array([1, 2, 3]))',
      ),
    ).toBe(1)
    expect(same('({ a: 1, b: 2 })', '(() => { const o = { a: 1, x: 0, b: 2 }; delete o.x; return o })()')).toBe(1)
    expect(same('"ab".repeat(50)', '"ab".repeat(60).slice(20)')).toBe(1)
    expect(same('1', '0.5 + 0.5')).toBe(1)
    expect(same('({ a: 1, b: 2 })', '({ b: 2, a: 1 })')).toBe(2)
  })

  it('names the parts that cannot be made again', () => {
    const encoded = test.encode(test.run('({ a: [1, new WeakMap()], f: new Map([["k", () => 1]]), p: new Proxy({}, {}) })'))
    expect(encoded).toMatchObject({
      valueKind: 'opaque',
      opaque: [
        { path: ['a', 1], type: 'WeakMap', reason: 'weak' },
        { path: ['f', 0, 1], type: 'Function', reason: 'closure-effect' },
        { path: ['p'], type: 'Proxy', reason: 'proxy' },
      ],
    })
    const back = test.back((encoded as { bytes: Uint8Array }).bytes)
    expect(back.lostParts).toBe(3)
    expect(back.lost[0]).toEqual({ path: ['a', 1], type: 'WeakMap', reason: 'weak' })
  })

  it('of any depth is written and read', () => {
    const deep = test.run(
      'let deep = []; for (let i = 0; i < 50000; i++) deep = i % 3 ? [deep] : i % 2 ? { deep } : new Map([[1, deep]]); deep',
    )
    const bytes = test.bytes(deep)
    expect(hex(test.bytes(test.back(bytes).value))).toBe(hex(bytes))
  })
})

function holds(graph: Graph, kinds: readonly string[]): boolean {
  const seen = new Set<Graph>()
  const stack: Graph[] = [graph]
  while (stack.length > 0) {
    const next = stack.pop()
    if (!isGraphObject(next) || seen.has(next)) continue
    seen.add(next)
    if (kinds.includes(next.kind) || ('derived' in next && next.derived !== undefined)) return true
    stack.push(...partsOf(next).map(([part]) => part))
  }
  return false
}

/** Plain objects and arrays of this realm as ones of the other. */
function asRealm(value: unknown): unknown {
  if (Array.isArray(value)) return (test.run('((...items) => items)') as (...items: unknown[]) => unknown)(...value.map(asRealm))
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  return Object.assign(
    test.run('({})') as object,
    Object.fromEntries(Object.entries(value).map(([key, each]) => [key, asRealm(each)])),
  )
}

/** A value as a list of parts that refer to each other by number. */
const part = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('primitive'),
      value: fc.oneof(
        fc.integer(),
        fc.double(),
        fc.string({ unit: 'binary' }),
        fc.constant('\udc00x'),
        fc.bigInt(),
        fc.boolean(),
        fc.constantFrom(null, undefined, -0),
      ),
    }),
  },
  fc.record({
    kind: fc.constantFrom('object', 'null', 'point', 'error', 'frozen'),
    keys: fc.uniqueArray(fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom('__proto__', '0', '7', 'length', 'stack')), {
      maxLength: 4,
    }),
    at: fc.infiniteStream(fc.nat(30)),
  }),
  fc.record({
    kind: fc.constantFrom('array', 'rows', 'map', 'set', 'registry', 'holed'),
    at: fc.array(fc.nat(30), { maxLength: 5 }),
  }),
  fc.record({ kind: fc.constant('sample'), source: fc.constantFrom(...samples) }),
)

type Part = { kind: string; value?: unknown; keys?: string[]; at?: Iterable<number>; source?: string }

function build(parts: readonly Part[]): unknown {
  const shells = parts.map(({ kind, value, source }) =>
    kind === 'primitive'
      ? value
      : test.run(
          {
            object: '({})',
            frozen: '({})',
            null: 'Object.create(null)',
            point: 'new made.Point(0)',
            error: 'new Error("e")',
            array: '[]',
            holed: '[,]',
            rows: 'new made.Rows()',
            map: 'new Map()',
            set: 'new Set()',
            registry: 'new made.Registry()',
          }[kind] ?? source!,
        ),
  )
  const at = (index: number) => shells[index % shells.length]
  parts.forEach((each, index) => {
    const shell = shells[index] as never
    if (each.keys !== undefined) {
      const stream = each.at![Symbol.iterator]()
      for (const key of each.keys)
        Object.defineProperty(shell, key, {
          value: at(stream.next().value as number),
          writable: true,
          enumerable: true,
          configurable: true,
        })
      if (each.kind === 'frozen') Object.freeze(shell)
    } else if (each.at !== undefined) {
      for (const number of each.at) {
        if (each.kind === 'map' || each.kind === 'registry') Map.prototype.set.call(shell, at(number), at(number + 1))
        else if (each.kind === 'set') Set.prototype.add.call(shell, at(number))
        else Array.prototype.push.call(shell, at(number))
      }
    }
  })
  return shells[0]
}

const graphs = fc.array(part, { minLength: 1, maxLength: 12 })

describe('any value', () => {
  it('is written, read and written again as the same bytes', () => {
    fc.assert(
      fc.property(graphs, parts => {
        const bytes = test.bytes(build(parts as Part[]))
        const back = test.back(bytes)
        expect(back.lost).toEqual([])
        expect(hex(test.bytes(back.value))).toBe(hex(bytes))
      }),
      { numRuns: 300 },
    )
  })

  it('whose bytes are damaged is refused, or is another whole value', () => {
    fc.assert(
      fc.property(
        graphs,
        fc.array(fc.tuple(fc.nat(), fc.nat(255), fc.constantFrom('set', 'delete', 'insert')), { minLength: 1, maxLength: 3 }),
        (parts, changes) => {
          const bytes = [...test.bytes(build(parts as Part[]))]
          for (const [where, byte, how] of changes) {
            const at = 4 + (where % Math.max(1, bytes.length - 4))
            if (how === 'set') bytes[at] = byte
            else bytes.splice(at, how === 'delete' ? 1 : 0, ...(how === 'insert' ? [byte] : []))
          }
          const damaged = Uint8Array.from(bytes)
          let graph: Graph
          try {
            graph = parseGraph(damaged)
          } catch (error) {
            expect((error as { code?: string }).code).toBe('REPL_BAD_VALUE')
            return
          }
          const back = test.back(damaged)
          printBounded(graph, { maxChars: 200 })
          // What only the process or the platform can say is not checked by bytes: names and classes of references, the spelling of URLs.
          if (back.lostParts > 0 || isBoundedCopy(damaged) || holds(graph, ['reference', 'instance', 'url', 'params'])) return
          expect(hex(test.bytes(back.value))).toBe(hex(damaged))
        },
      ),
      { numRuns: 1500 },
    )
  })

  it('is not made of random bytes, and these do no harm', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.constantFrom('OVG1', 'OVP1', ''), (random, head) => {
        try {
          parseGraph(Uint8Array.from([...Buffer.from(head), ...random]))
        } catch (error) {
          expect((error as { code?: string }).code).toBe('REPL_BAD_VALUE')
        }
      }),
      { numRuns: 1500 },
    )
  })
})
