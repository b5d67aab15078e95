import { describe, expect, it } from 'vitest'
import { encode } from '../../../src/repl/values/encode.ts'
import { previewBounds, valueLimits } from '../../../src/repl/values/limits.ts'
import { printBounded } from '../../../src/repl/values/notation.ts'
import { parseGraph } from '../../../src/repl/values/parse.ts'
import { createTestRealm, layoutOf } from '../../support/repl/values.ts'

/** A realm whose program counts what it is made to run. */
function hostile(poison: string) {
  const test = createTestRealm()
  const layout = layoutOf(test)
  test.run(`globalThis.ran = []; globalThis.trap = name => function () { ran.push(name); return undefined }; ${poison}; 0`)
  return {
    test,
    layout,
    /** Encode it whole and bounded, print it, and read back: nothing may run. */
    look: (source: string) => {
      const value = test.run(source)
      test.run('ran.length = 0')
      const whole = test.encode(value)
      const copy = encode(value, { realm: test.realm, host: test.host, limits: valueLimits, bounds: previewBounds })
      const ran = test.run('ran.join()') as string
      if (whole.kind !== 'encoded' || copy.kind !== 'encoded') throw new Error('over')
      return { ran, text: printBounded(parseGraph(copy.bytes), { maxChars: 300 }).text, whole }
    },
  }
}

describe('looking at a value', () => {
  const traps =
    'get set has deleteProperty ownKeys getOwnPropertyDescriptor defineProperty getPrototypeOf setPrototypeOf isExtensible preventExtensions apply construct'
  const trapped = `Object.fromEntries("${traps}".split(" ").map(name => [name, trap(name)]))`

  it.each([
    ['getters', '({ get a() { ran.push("a"); return 1 } })', '{ a: [getter] }'],
    [
      'getters of elements',
      '[1, 2].map(x => x) && Object.defineProperty([1, 2], 0, { get: trap("0") })',
      '[<1 hole>, 2, 0: [getter]]',
    ],
    ['toJSON', '({ toJSON: 1, a: 1 })', '{ toJSON: 1, a: 1 }'],
    [
      'Symbol.toStringTag',
      '({ get [Symbol.toStringTag]() { ran.push("tag"); return "x" } })',
      '{ [Symbol.toStringTag]: [getter] }',
    ],
    ['Symbol.toPrimitive and valueOf', '({ [Symbol.toPrimitive]: 1, valueOf: 2 })', '{ valueOf: 2, [Symbol.toPrimitive]: 1 }'],
    ['a proxy', `new Proxy({}, ${trapped})`, '[proxy]'],
    ['a proxy of a function', `new Proxy(function () {}, ${trapped})`, '[proxy]'],
    ['a proxy as prototype', `Object.create(new Proxy({}, ${trapped}))`, '{ }'],
    ['a proxy above an array', `Object.setPrototypeOf([1], new Proxy([], ${trapped}))`, /\[1\]/],
    ['a proxy above an error', `Object.setPrototypeOf(new Error("m"), new Proxy({}, ${trapped}))`, /"m"/],
    ['a revoked proxy', '(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy })()', '[proxy]'],
    ['a constructor that is a getter', 'Object.create({ get constructor() { ran.push("constructor"); return Object } })', '{ }'],
    ['a constructor that is a proxy', `Object.create({ constructor: new Proxy(class {}, ${trapped}) })`, '{ }'],
    ['a name that is a getter', 'new (class { static get name() { ran.push("name"); return "x" } })()', '{ }'],
    ['hasInstance', 'new (class Q { static [Symbol.hasInstance]() { ran.push("hasInstance") } })()', 'Q { }'],
    [
      'species',
      'new (class L extends Array { static get [Symbol.species]() { ran.push("species"); return Array } })(1)',
      'L(1) [<1 hole>]',
    ],
    [
      'name and message of an error',
      'new (class E extends Error { get name() { ran.push("name") } get message() { ran.push("message") } })()',
      /^E\(/,
    ],
    ['an own message that is a getter', 'Object.defineProperty(new Error("m"), "message", { get: trap("message") })', /^Error\(/],
    ['a thenable', '({ then: 1 })', '{ then: 1 }'],
    [
      'a Map with its own methods',
      'Object.defineProperties(new Map([[1, 2]]), { entries: { value: 1 }, size: { get: trap("size") }, [Symbol.iterator]: { value: 3 } })',
      'Map(1) { 1 => 2, entries: 1, size: [getter], [Symbol.iterator]: 3 }',
    ],
    [
      'a typed array that lies',
      'Object.defineProperty(new Uint8Array(1), "length", { get: trap("length") })',
      /^Uint8Array\(1\) \[0\]/,
    ],
    ['a regular expression that lies', 'Object.defineProperty(/a/g, "flags", { get: trap("flags") })', /^\/a\/g/],
    [
      'an object with the prototype of another kind',
      '[Object.create(Map.prototype), Object.create(Date.prototype), Object.create(URL.prototype), Object.create(Uint8Array.prototype)]',
      /Map \{ \}, Date \{ \}, URL \{ \}/,
    ],
  ])('runs nothing of %s', (_what, source, text) => {
    const { look } = hostile('')
    const seen = look(source)
    expect(seen.ran).toBe('')
    if (typeof text === 'string') expect(seen.text).toBe(text)
    else expect(seen.text).toMatch(text)
  })

  it('calls no method that a program put in the place of a built-in one', () => {
    const { look } = hostile(`
      const { ownKeys, getOwnPropertyDescriptor, defineProperty, getPrototypeOf } = Reflect
      const poison = (owner, label) => {
        const keys = ownKeys(owner)
        for (let i = 0; i < keys.length; i++) {
          const descriptor = getOwnPropertyDescriptor(owner, keys[i])
          if (!descriptor.configurable || keys[i] === 'constructor') continue
          const bad = { configurable: true, enumerable: false }
          const run = trap(label + String(keys[i]))
          defineProperty(owner, keys[i], 'value' in descriptor ? { ...bad, value: run, writable: true } : { ...bad, get: run })
        }
      }
      globalThis.poisonAll = () => {
        const list = [Map, Set, Date, RegExp, Promise, ArrayBuffer, SharedArrayBuffer, Uint8Array, getPrototypeOf(Uint8Array), DataView, Number, Boolean, BigInt, TypeError]
        const iterators = [getPrototypeOf(new Map().entries()), getPrototypeOf([].values())]
        for (let i = 0; i < list.length; i++) poison(list[i].prototype, list[i].name + '.')
        for (let i = 0; i < iterators.length; i++) poison(iterators[i], 'iterator.')
        Array.prototype[Symbol.iterator] = trap('iterator')
        Array.prototype.map = trap('map')
        Object.keys = trap('keys')
        Object.defineProperty = trap('defineProperty')
        Object.isFrozen = trap('isFrozen')
        const reflect = ownKeys(Reflect)
        for (let i = 0; i < reflect.length; i++) if (typeof Reflect[reflect[i]] === 'function') Reflect[reflect[i]] = trap('Reflect')
        JSON.stringify = trap('stringify')
      }
      globalThis.all = { map: new Map([[1, 2]]), set: new Set([1]), date: new Date(0), regexp: /a/g, bytes: new Uint8Array(2), view: new DataView(new ArrayBuffer(1)), box: Object(1), error: new TypeError('m'), list: [1, [2]], shared: new SharedArrayBuffer(1) }
      poisonAll()
    `)
    const seen = look('all')
    expect(seen.ran).toBe('')
    expect(seen.text).toContain('map: Map(1) { 1 => 2 }')
    expect(seen.text).toContain('regexp: /a/g')
  })

  it('does not read through holes', () => {
    const { look, test, layout } = hostile('Object.defineProperty(Array.prototype, 0, { get: trap("hole"), configurable: true })')
    expect(look('[, 1]')).toMatchObject({ ran: '', text: '[<1 hole>, 1]' })
    test.encode(test.run('ran.length = 0; [, 1]'), { layout })
    expect(test.run('ran.join()')).toBe('')
  })

  it('asks no prepareStackTrace for the stack of an error', () => {
    const { look, test } = hostile('Error.prepareStackTrace = trap("prepare")')
    const seen = look('({ one: new Error("m"), two: (() => { const o = {}; Error.captureStackTrace(o); return o })() })')
    expect(seen.ran).toBe('')
    const back = test.back(seen.whole.bytes).value as { one: Error }
    expect(back.one.stack).toBe('Error: m')
    const accessor = hostile('Object.defineProperty(Error, "prepareStackTrace", { get: trap("get") })')
    expect(accessor.look('new Error("m")').ran).toBe('')
    const replaced = hostile('Object.defineProperty(globalThis, "Error", { get: trap("Error"), configurable: true })')
    expect(replaced.look('new TypeError("m")').ran).toBe('')
  })

  it('makes a live value without running anything either', () => {
    const { test } = hostile('')
    const bytes = test.bytes(
      test.run(
        '({ a: { b: 1 }, list: [1, [2]], map: new Map([[1, { a: 1 }]]), set: new Set([{}]), error: new Error("e"), regexp: /a/ })',
      ),
    )
    test.run(`
      Object.defineProperty(Object.prototype, 'a', { set: trap('a'), get: trap('a'), configurable: true })
      Object.defineProperty(Array.prototype, 1, { set: trap('1'), configurable: true })
      Map.prototype.set = trap('set'); Set.prototype.add = trap('add'); ran.length = 0
    `)
    const back = test.back(bytes)
    expect(test.run('ran.join()')).toBe('')
    expect(Object.getOwnPropertyNames(back.value)).toEqual(['a', 'list', 'map', 'set', 'error', 'regexp'])
    expect(Buffer.from(test.bytes(back.value)).equals(bytes)).toBe(true)
  })
})

describe('a value over a limit', () => {
  it.each([
    ['nodes', { nodes: 100 }, 'Array.from({ length: 101 }, (_, i) => i)'],
    ['edges', { edges: 100 }, 'new Map(Array.from({ length: 60 }, (_, i) => [i, i]))'],
    ['edges', { edges: 100 }, 'Array.from({ length: 101 }, (_, i) => i)'],
    ['edges', { edges: 100 }, 'Object.fromEntries(Array.from({ length: 101 }, (_, i) => ["k" + i, i]))'],
    ['bytes', { bytes: 1000 }, '"x".repeat(1001)'],
    ['bytes', { bytes: 1000 }, 'Array(20).fill(0).map((_, i) => "x".repeat(60) + i)'],
    ['bytes', { bytes: 1000 }, 'new ArrayBuffer(1000)'],
    ['bigint digits', { bigintDigits: 100 }, '10n ** 101n'],
  ])('is over %s', (limit, limits, source) => {
    const test = createTestRealm()
    expect(test.encode(test.run(source), { limits })).toEqual({ kind: 'over', limit })
  })

  it('is found out soon, and shown in part', () => {
    const test = createTestRealm()
    const layout = layoutOf(test)
    const begin = performance.now()
    for (const [source, text] of [
      ['(() => { const a = []; a.length = 4294967295; return a })()', /^\[<4294967295 holes>\]$/],
      ['Array(30000000)', /^\[<30000000 holes>\]$/],
      ['new Uint8Array(80000000)', /… 79,999,900 more\]$/],
      ['Array.from({ length: 3000000 }, (_, i) => i)', /… 2,999,900 more\n\]$/],
    ] as const) {
      const value = test.run(source)
      const whole = test.encode(value, { layout })
      const copy = encode(value, {
        realm: test.realm,
        host: { ...test.host, layout },
        limits: valueLimits,
        bounds: previewBounds,
      })
      expect(whole.kind === 'over' || whole.bytes.length < 100).toBe(true)
      if (copy.kind !== 'encoded') throw new Error(copy.limit)
      expect(printBounded(parseGraph(copy.bytes), { maxChars: 4000 }).text).toMatch(text)
    }
    expect(performance.now() - begin).toBeLessThan(20_000)
  })
})
