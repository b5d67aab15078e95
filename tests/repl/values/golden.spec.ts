/**
 * The bytes of every kind, frozen: journals and checkpoints hold them. A row is never changed; a new kind adds rows. The header `OVG1` is left out.
 */
import { describe, expect, it } from 'vitest'
import { parseGraph } from '../../../src/repl/values/parse.ts'
import { createTestRealm } from '../../support/repl/values.ts'

const test = createTestRealm()
test.run('class P { constructor(x) { this.x = x } }; class M extends Map {}; globalThis.kept = { P, M, f: function f() {} }')
const kept = test.run('kept') as Record<string, object>
test.register('P', '[class P]', kept['P']!)
test.register('M', '[class M]', kept['M']!)
test.register('f', '[function f]', kept['f']!)

const golden: readonly (readonly [source: string, hex: string])[] = [
  ['null', '00'],
  ['undefined', '01'],
  ['false', '02'],
  ['true', '03'],
  ['0', '0400'],
  ['-1', '0401'],
  ['9007199254740991', '04feffffffffffff1f'],
  ['-9007199254740991', '04fdffffffffffff1f'],
  ['1.5', '05000000000000f83f'],
  ['-0', '050000000000000080'],
  ['NaN', '05000000000000f87f'],
  ['Infinity', '05000000000000f07f'],
  ['255n', '06026666'],
  ['-1n', '070131'],
  ['0n', '060130'],
  ['"text"', '080474657874'],
  ['"é😀"', '0806c3a9f09f9880'],
  ['"\\ud83d"', '09023dd8'],
  ['["a", "a"]', '14020801610a00'],
  ['({})', '1000'],
  ['({ a: 1, b: "a" })', '100208016108016204020a00'],
  ['[{ a: 1 }, { a: 2 }]', '14021001080161040211000404'],
  ['Object.create(null)', '120200'],
  ['Object.freeze({ a: 1 })', '120101080161020402'],
  ['Object.defineProperty({}, "a", { value: 1 })', '120001080161000402'],
  [
    'Object.defineProperty({}, "a", { get: kept.f, configurable: true })',
    '1200010801610c250000080c5b66756e6374696f6e20665d08016601',
  ],
  ['[1, , 2]', '140304020c010404'],
  ['[]', '1400'],
  ['Object.assign([1], { a: 2 })', '150401040201080161070404'],
  ['Object.freeze([1])', '1529010402'],
  ['Object.seal([1])', '1511010402'],
  ['Object.defineProperty([1, 2], 0, { writable: false })', '1504020c01040401080130060402'],
  ['new Map([["k", 1]])', '16000108016b0402'],
  ['new Set([1, "k"])', '170002040208016b'],
  ['new Date(0)', '18000000000000000000'],
  ['new Date(NaN)', '1800000000000000f87f'],
  ['/a/gi', '1900080161080267690400'],
  ['(() => { const e = new Error("m"); e.stack = "s"; return e })()', '1a0400020805737461636b0508017308076d6573736167650508016d'],
  [
    '(() => { const e = new TypeError("m", { cause: 1 }); e.stack = "s"; return e })()',
    '1a0405030805737461636b0508017308076d6573736167650508016d08056361757365050402',
  ],
  [
    '(() => { const e = new AggregateError([1], "m"); e.stack = "s"; return e })()',
    '1a0407030805737461636b0508017308076d6573736167650508016d08066572726f72730514010402',
  ],
  ['new Uint8Array([1, 2]).buffer', '1b00020102'],
  ['new SharedArrayBuffer(1)', '1c000100'],
  ['new ArrayBuffer(1, { maxByteLength: 2 })', '1b08010200'],
  ['new Uint16Array([1])', '1d000500011b00020100'],
  ['new DataView(new ArrayBuffer(4), 1, 2)', '1d000001021b000400000000'],
  [
    '(() => { const b = new ArrayBuffer(2); return [new Uint8Array(b), new Int8Array(b, 1)] })()',
    '14021d000200021b000200001d000101010b02',
  ],
  ['Buffer.from(new Uint8Array([1]).buffer)', '1d000d00011b000101'],
  ['new URL("http://a/b")', '1e00080a687474703a2f2f612f62'],
  ['new URLSearchParams("a=1")', '1f000803613d31'],
  ['Object(1)', '20000402'],
  ['Object("s")', '2000080173'],
  ['Symbol("s")', '21080173'],
  ['Symbol()', '2101'],
  ['Symbol.for("s")', '22080173'],
  ['Symbol.iterator', '2308086974657261746f72'],
  ['kept.f', '250000080c5b66756e6374696f6e20665d080166'],
  ['new kept.P(1)', '260008015025000008095b636c61737320505d0a0001080178070402'],
  ['new kept.M([[1, 2]])', '2a08014d0025000008095b636c617373204d5d0a0016000104020404'],
  ['Object.create({ a: 1 })', '260208001001080161040200'],
  ['new WeakMap()', '2708075765616b4d617008047765616b08095b5765616b4d61705d'],
  ['(() => { const o = {}; o.o = o; return o })()', '100108016f0b00'],
  ['[Symbol.iterator, Symbol.iterator]', '14022308086974657261746f720b01'],
]

describe('the bytes', () => {
  it.each(golden)('of %s are %s', (source, hex) => {
    expect(Buffer.from(test.bytes(test.run(source))).toString('hex')).toBe(Buffer.from('OVG1').toString('hex') + hex)
    expect(() => parseGraph(Buffer.from(`4f564731${hex}`, 'hex'))).not.toThrow()
  })

  it.each<[why: string, hex: string]>([
    ['nothing behind the header', ''],
    ['an unknown tag', '7f'],
    ['a reserved tag', '0e'],
    ['bytes behind the end', '0000'],
    ['a number that is longer than it needs to be', '048000'],
    ['a number that does not end', '04ffffffffffffffffff'],
    ['an integer that is not safe', '0480808080808080807f'],
    ['an integer as a float', '05000000000000f03f'],
    ['another NaN', '05010000000000f87f'],
    ['a bigint with a leading zero', '06023031'],
    ['minus zero as a bigint', '070130'],
    ['a text that is not UTF-8', '0801ff'],
    ['a well-formed text as UTF-16', '09026100'],
    ['half a UTF-16 unit', '090161'],
    ['a text that is longer than the input', '08ff7f'],
    ['a text that was not there', '0a00'],
    ['a text written twice', '140208016108' + '0161'],
    ['an object that was not there', '0b00'],
    ['holes outside of an array', '0c01'],
    ['two runs of holes side by side', '14020c010c01'],
    ['an empty run of holes', '14010c00'],
    ['more elements than there are', '1402' + '00'],
    ['an array longer than arrays are', '1480808080100c8080808010'],
    ['an ordinary array in the long form', '150000'],
    ['a cut in a whole value', '14010d01'],
    ['an ordinary object in the long form', '120000'],
    ['a key list written twice', '14021001080161001001' + '0a0000'],
    ['a key twice in a key list', '10020801610a000000'],
    ['indices out of order', '100208013208013100' + '00'],
    ['an index behind a name', '1002080161080131' + '0000'],
    ['a name behind a symbol', '1200022208017307000801610700'],
    ['unknown flags', '12100000'],
    ['an accessor that is writable', '120001080161090101'],
    ['a key twice in a Map', '16000204010004010' + '0'],
    ['minus zero in a Set', '170001050000000000000080'],
    ['more entries than bytes', '16007f'],
    ['a time that is none', '180000000000000' + '0f87e'],
    ['no regular expression', '190008012808000400'],
    ['an unknown error class', '1a0040'],
    ['a buffer beyond the input', '1b00ff7f'],
    ['a view of no buffer', '1d0002000104' + '00'],
    ['a view out of its buffer', '1d0002000' + '21b000101'],
    ['a view off its boundary', '1d000501001b000101'],
    ['undefined in a box', '200001'],
    ['an empty block of properties', '1804000000000000000000'],
    ['a class without an object', '2a08014d0000'],
  ])('with %s are refused', (_why, hex) => {
    expect(() => parseGraph(Buffer.from(`4f564731${hex}`, 'hex'))).toThrow(expect.objectContaining({ code: 'REPL_BAD_VALUE' }))
  })

  it('without the header, or with that of a later form, are refused', () => {
    for (const bytes of ['', '00', '4f56', Buffer.from('OVG2\0').toString('hex')]) {
      expect(() => parseGraph(Buffer.from(bytes, 'hex'))).toThrow(expect.objectContaining({ code: 'REPL_BAD_VALUE' }))
    }
  })
})
