/**
 * The tag table of `OVG1`, frozen: `tests/repl/values/golden.spec.ts` holds the bytes of every kind. A new kind gets a new tag; a changed one a
 * new header, and the bytes of this one stay readable.
 *
 * A value is `OVG1` and its root in pre-order. Lengths and numbers of things are unsigned LEB128. Objects are numbered by first visit from 0, later
 * visits are `objectRef`. Texts of up to 64 units and key lists (shapes) are numbered by first use and then referred to, so equal graphs have equal
 * bytes. "properties" below is a block: count, then for each a key (text or symbol), its attributes, and a value or getter and setter.
 */

export const header: Uint8Array = new Uint8Array([0x4f, 0x56, 0x47, 0x31])

/** `OVP1`: a bounded copy for people. Never stored in a journal, never made live again. Its properties blocks end with the count of those left out. */
export const previewHeader: Uint8Array = new Uint8Array([0x4f, 0x56, 0x50, 0x31])

export const tag = {
  null: 0,
  undefined: 1,
  false: 2,
  true: 3,
  /** zigzag LEB128 of a safe integer; never -0 */
  integer: 4,
  /** 8 bytes, little-endian; one NaN */
  float: 5,
  /** length of the hex digits, then the digits as bytes */
  bigintPositive: 6,
  bigintNegative: 7,
  /** byte length, UTF-8; well-formed texts */
  text: 8,
  /** byte length, UTF-16LE; texts with lone surrogates */
  wideText: 9,
  /** number of a text of up to 64 units */
  textRef: 10,
  /** number of an object (and of symbols) */
  objectRef: 11,
  /** inside arrays only: a run of holes, its length */
  holes: 12,
  /** inside bounded copies only: entries that were left out, how many */
  more: 13,

  /** key count, keys as texts, values: an extensible object of ordinary properties with the realm's `Object.prototype` */
  shape: 16,
  /** number of the shape, values */
  shapeRef: 17,
  /** flags, properties: any other plain object */
  plain: 18,
  /** length, elements: dense or holed, nothing else about it */
  array: 20,
  /** flags, length, elements, [properties]; elements of odd attributes are holes here and properties there */
  arrayGeneral: 21,
  /** flags, entry count, key and value each, [properties] */
  map: 22,
  /** flags, entry count, values, [properties] */
  set: 23,
  /** flags, 8 bytes of the time, [properties] */
  date: 24,
  /** flags, source, regexp flags, lastIndex as a value, [properties] */
  regexp: 25,
  /** flags, class index, [properties]: message, stack, cause … are properties */
  error: 26,
  /** flags, byte length, [maximal byte length], bytes, [properties] */
  buffer: 27,
  sharedBuffer: 28,
  /** flags, class index, byte offset, length (elements; bytes for DataView), the buffer, [properties] */
  view: 29,
  /** flags, href, [properties] */
  url: 30,
  /** flags, the query as text, [properties] */
  params: 31,
  /** flags, the primitive, [properties] */
  boxed: 32,
  /** description or undefined: a symbol of its own, numbered as an object */
  symbol: 33,
  /** key: `Symbol.for(key)` */
  registeredSymbol: 34,
  /** name: `Symbol.<name>` */
  wellKnownSymbol: 35,
  /** flags, settled as (0 fulfilled, 1 rejected), the value, [properties] */
  promise: 36,
  /** flags, reference kind, shown name, payload as JSON text, [properties]: a function, class, module or platform object that can be made again */
  reference: 37,
  /** flags, class name, the class or prototype (a value), properties: an object whose prototype is no realm's own */
  instance: 38,
  /** type, reason, shown text: what the codec cannot hold */
  opaque: 39,
  /** inside bounded copies only: flags, class index, byte offset, length, the first elements as an array, [properties] */
  shownView: 40,
  /** flags, class index, text, [properties] */
  temporal: 41,
  /** class name, whether the next is the prototype itself, the class or prototype (a value), then one of the kinds 20 to 41: an object with slots of a class of its own */
  derived: 42,
} as const

/** Flags of an object; each kind allows some. */
export const flag = {
  nonExtensible: 1,
  /** plain: the prototype is null · instance: what follows is the prototype itself, not the class */
  prototype: 2,
  /** A properties block follows; never an empty one. Plain objects and instances always have a block, and never this flag. */
  properties: 4,
  /** array: `length` is read-only · regexp: `lastIndex` is · buffer: resizable · view: follows its resizable buffer */
  special: 8,
  /** array: all elements are enumerable and writable only */
  sealedElements: 16,
  /** array: all elements are enumerable only */
  frozenElements: 32,
} as const

/** Attributes of a property in a properties block. */
export const attribute = { writable: 1, enumerable: 2, configurable: 4, accessor: 8 } as const
export const ordinary: number = attribute.writable | attribute.enumerable | attribute.configurable

/** By index in the bytes; only appended to. */
export const errorNames = [
  'Error',
  'EvalError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'TypeError',
  'URIError',
  'AggregateError',
  'SuppressedError',
] as const

/** By index in the bytes; only appended to. */
export const viewNames = [
  'DataView',
  'Int8Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'Int16Array',
  'Uint16Array',
  'Int32Array',
  'Uint32Array',
  'Float16Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
  'Buffer',
] as const
export const viewSizes: readonly number[] = [1, 1, 1, 1, 2, 2, 4, 4, 2, 4, 8, 8, 8, 1]

/** By index in the bytes; only appended to. */
export const temporalNames = [
  'Instant',
  'ZonedDateTime',
  'PlainDateTime',
  'PlainDate',
  'PlainTime',
  'PlainYearMonth',
  'PlainMonthDay',
  'Duration',
] as const

/** source: a literal of a cell · path: something of the platform · module: a namespace object · import: an export of a module */
export const referenceKinds = ['source', 'path', 'module', 'import'] as const
export type ReferenceKind = (typeof referenceKinds)[number]

/** Longest text, in UTF-16 units, that is numbered and reused. */
export const internedUnits = 64
