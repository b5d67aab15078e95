import { describe, expect, it } from 'vitest'
import { createLayoutHints } from '../../../src/repl/worker/layout.ts'
import { createTestRealm, layoutOf } from '../../support/repl/values.ts'

const test = createTestRealm()
const layout = layoutOf(test)
const kindOf = (source: string) => layout.arrayKind(test.run(source) as object)
const hex = (encoded: ReturnType<typeof test.encode>) =>
  encoded.kind === 'encoded' ? Buffer.from(encoded.bytes).toString('hex') : encoded.limit

describe("the engine's hints", () => {
  it.each([
    ['[]', 'packed'],
    ['[1, 2]', 'packed'],
    ['[1.5]', 'packed'],
    ['["a", {}]', 'packed'],
    ['Array.from({ length: 3 }, (_, i) => i)', 'packed'],
    ['[1, 2].map(x => ({ x }))', 'packed'],
    ['new Array(3)', 'holey'],
    ['[, 1.5]', 'holey'],
    ['[, {}]', 'holey'],
    ['Object.defineProperty([1, 2], 0, { get() {} })', 'other'],
    ['Object.defineProperty([1], 0, { writable: false })', 'other'],
    ['Object.freeze([1])', 'other'],
    ['Object.preventExtensions([1])', 'other'],
    ['Object.assign([1], { a: 1 })', 'other'],
    ['Object.assign([1], { [Symbol.iterator]: 1 })', 'other'],
    ['Object.setPrototypeOf([1], null)', 'other'],
    ['new (class L extends Array {})(1)', 'other'],
    ['(() => { const a = []; a[4000000000] = 1; return a })()', 'other'],
    ['Object.defineProperty([1], "length", { writable: false })', 'other'],
    ['({ length: 1, 0: 1 })', 'other'],
    ['new Proxy([], {})', 'other'],
  ])('say of %s: %s', (source, kind) => {
    expect(kindOf(source)).toBe(kind)
  })

  it('change no byte', () => {
    for (const source of [
      '[[1, 2], [1.5, , 2], ["a"], Object.freeze([1]), Object.assign([1], { a: 1 })]',
      'Array.from({ length: 20 }, (_, i) => ({ a: i, b: { c: i, d: [i] } }))',
      '[{ a: 1 }, Object.freeze({ a: 1 }), { a: 1 }, Object.assign({ a: 1 }, { 0: 1 }), Object.defineProperty({ a: 1 }, "b", { value: 1 }), { get a() { return 1 } }, { a: 2 }]',
      '[{ a: 1 }, Object.setPrototypeOf({ a: 1 }, null), (() => { const o = { a: 1, b: 2 }; delete o.b; return o })(), { a: { a: { a: 1 } } }]',
      '(() => { const many = []; for (let n = 0; n < 3; n++) { const o = {}; for (let i = 0; i < 2000; i++) o["k" + i] = i; many.push(o) } return many })()',
      '(() => { const o = { a: 1 }; return [o, { a: o }, o, { a: undefined }, { a: "x" }] })()',
      '[new Uint8Array(2), Object.assign(new Uint8Array(2), { x: 1 }), Buffer.from("ab"), new Uint8Array(new ArrayBuffer(2, { maxByteLength: 4 }))]',
    ]) {
      const value = test.run(source)
      expect(hex(test.encode(value, { layout })), source).toBe(hex(test.encode(value)))
    }
  })

  it('run nothing', () => {
    test.run(
      'globalThis.ran = 0; globalThis.first = { a: 1 }; globalThis.second = { a: 1 }; Object.defineProperty(second, "a", { get() { ran++ }, enumerable: true })',
    )
    test.encode(test.run('[first, second, first, new Proxy(first, { get() { ran++ } })]'), { layout })
    expect(test.run('ran')).toBe(0)
  })

  it('are absent where the engine knows no such question', () => {
    const tools = { setFlags: () => {}, makeFunction: Function as never, makeArray: Array }
    expect(createLayoutHints(tools)).toBeUndefined()
    const forgetful = createLayoutHints({
      ...tools,
      makeFunction: (() => {
        let asked = 0
        return (...source: string[]) =>
          (a: unknown, b?: unknown) => {
            if (++asked > 4) throw new SyntaxError('gone')
            return source.length === 2 || Array.isArray(a) === Array.isArray(b)
          }
      })() as never,
    })
    expect([forgetful!.arrayKind([1]), forgetful!.arrayKind([1]), forgetful!.same({}, {})]).toEqual(['packed', 'other', false])
  })
})
