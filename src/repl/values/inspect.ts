/**
 * Looking at a live object without running anything of it: internal slots through `util.types` and methods of the codec's own realm, names and
 * constructors through descriptors.
 */
import { types } from 'node:util'
import type { Realm } from './realm.ts'

const { getOwnPropertyDescriptor, getPrototypeOf } = Reflect

export const isObjectLike = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'

/** Canonical text of an array index. */
export function isIndex(key: string | symbol): key is string {
  if (typeof key !== 'string') return false
  const first = key.charCodeAt(0)
  if (!(first >= 48 && first <= 57) || key.length > 10) return false
  const index = Number(key)
  return index < 4294967295 && String(index) === key
}

/** Is more than an ordinary object, whatever its prototype says. */
export const hasSlots = (object: object): boolean =>
  types.isMap(object) ||
  types.isSet(object) ||
  types.isDate(object) ||
  types.isRegExp(object) ||
  types.isNativeError(object) ||
  ArrayBuffer.isView(object) ||
  types.isAnyArrayBuffer(object) ||
  types.isBoxedPrimitive(object) ||
  types.isPromise(object) ||
  opaqueType(object) !== undefined

export interface OpaqueType {
  readonly type: string
  readonly reason: string
  readonly shown: string
}

export function opaqueType(object: object): OpaqueType | undefined {
  if (types.isWeakMap(object)) return { type: 'WeakMap', reason: 'weak', shown: '[WeakMap]' }
  if (types.isWeakSet(object)) return { type: 'WeakSet', reason: 'weak', shown: '[WeakSet]' }
  if (types.isGeneratorObject(object)) return { type: 'Generator', reason: 'generator', shown: '[Generator]' }
  if (types.isMapIterator(object)) return { type: 'Map Iterator', reason: 'generator', shown: '[Map Iterator]' }
  if (types.isSetIterator(object)) return { type: 'Set Iterator', reason: 'generator', shown: '[Set Iterator]' }
  if (types.isArgumentsObject(object)) return { type: 'Arguments', reason: 'closure-effect', shown: '[Arguments]' }
  if (types.isExternal(object)) return { type: 'External', reason: 'open-handle', shown: '[External]' }
  return undefined
}

/** Own data property of an object that is no proxy; never runs anything. */
function dataProperty(object: object, key: string): unknown {
  return types.isProxy(object) ? undefined : getOwnPropertyDescriptor(object, key)?.value
}

/** The class whose `prototype` this is, by its own `constructor`. */
export function classOf(prototype: object): object | undefined {
  const made = dataProperty(prototype, 'constructor')
  if (typeof made !== 'function' || types.isProxy(made)) return undefined
  return dataProperty(made, 'prototype') === prototype ? made : undefined
}

/** Name to show for objects of this prototype: of the nearest class in the chain. */
export function classNameOf(prototype: object | null): string {
  for (let at = prototype, hops = 0; at !== null && hops < 64 && !types.isProxy(at); at = getPrototypeOf(at), hops++) {
    const made = dataProperty(at, 'constructor')
    if (typeof made === 'function' && !types.isProxy(made)) return functionName(made)
  }
  return ''
}

/** The first of these prototypes in the chain above an object. */
export function nearest<T>(prototype: object | null, among: ReadonlyMap<object, T>): T | undefined {
  for (let at = prototype, hops = 0; at !== null && hops < 1_000; at = getPrototypeOf(at), hops++) {
    if (types.isProxy(at)) return undefined
    const found = among.get(at)
    if (found !== undefined) return found
  }
  return undefined
}

export function functionName(object: object): string {
  const name = dataProperty(object, 'name')
  return typeof name === 'string' ? name : ''
}

const functionText = Function.prototype.toString

export const isClass = (object: object): boolean =>
  typeof object === 'function' && !types.isProxy(object) && /^class\b/.test(functionText.call(object))

export function shownFunction(object: object): string {
  const name = functionName(object)
  const kind = isClass(object) ? 'class' : 'function'
  return name === '' ? `[${kind}]` : `[${kind} ${name}]`
}

const regexpSource = getOwnPropertyDescriptor(RegExp.prototype, 'source')!.get!
const flagGetters = (
  ['hasIndices', 'global', 'ignoreCase', 'multiline', 'dotAll', 'unicode', 'unicodeSets', 'sticky'] as const
).flatMap((name, index): (readonly [string, (this: unknown) => boolean])[] => {
  const get = getOwnPropertyDescriptor(RegExp.prototype, name)?.get
  return get === undefined ? [] : [['dgimsuvy'[index]!, get]]
})

/** Source and flags by the accessors of our own realm: they read slots, not properties. */
export function readRegExp(object: object): { readonly source: string; readonly flags: string } {
  return {
    source: regexpSource.call(object) as string,
    flags: flagGetters.map(([letter, get]) => (get.call(object) ? letter : '')).join(''),
  }
}

const unbox = [
  Number.prototype.valueOf,
  String.prototype.valueOf,
  Boolean.prototype.valueOf,
  Symbol.prototype.valueOf,
  BigInt.prototype.valueOf,
]

export function unboxed(object: object): unknown {
  for (const read of unbox) {
    try {
      return (read as (this: unknown) => unknown).call(object)
    } catch {
      // another kind of box; the next method knows its own
    }
  }
  return undefined
}

const views = getPrototypeOf(Uint8Array.prototype)!
const getter = (owner: object, name: string) =>
  getOwnPropertyDescriptor(owner, name)?.get as ((this: unknown) => unknown) | undefined
const viewGetters = { buffer: getter(views, 'buffer')!, offset: getter(views, 'byteOffset')!, length: getter(views, 'length')! }
const dataViewGetters = {
  buffer: getter(DataView.prototype, 'buffer')!,
  offset: getter(DataView.prototype, 'byteOffset')!,
  length: getter(DataView.prototype, 'byteLength')!,
}

/** `undefined` when its memory was taken away. */
export function readView(
  view: object,
): { readonly buffer: ArrayBuffer; readonly offset: number; readonly length: number } | undefined {
  const read = types.isDataView(view) ? dataViewGetters : viewGetters
  try {
    return {
      buffer: read.buffer.call(view) as ArrayBuffer,
      offset: read.offset.call(view) as number,
      length: read.length.call(view) as number,
    }
  } catch {
    return undefined // a DataView out of the bounds of its buffer
  }
}

const bufferGetters = {
  length: getter(ArrayBuffer.prototype, 'byteLength')!,
  max: getter(ArrayBuffer.prototype, 'maxByteLength'),
  resizable: getter(ArrayBuffer.prototype, 'resizable'),
  detached: getter(ArrayBuffer.prototype, 'detached'),
}
const sharedGetters = {
  length: getter(SharedArrayBuffer.prototype, 'byteLength')!,
  max: getter(SharedArrayBuffer.prototype, 'maxByteLength'),
  resizable: getter(SharedArrayBuffer.prototype, 'growable'),
  detached: undefined,
}

export function readBuffer(
  buffer: object,
): { readonly bytes: Uint8Array; readonly maxByteLength: number | undefined } | undefined {
  const read = types.isSharedArrayBuffer(buffer) ? sharedGetters : bufferGetters
  if (read.detached?.call(buffer) === true) return undefined
  const length = read.length.call(buffer) as number
  try {
    const bytes = new Uint8Array(buffer as ArrayBuffer, 0, length)
    return { bytes, maxByteLength: read.resizable?.call(buffer) === true ? (read.max?.call(buffer) as number) : undefined }
  } catch {
    return undefined // detached, on an engine that cannot say so
  }
}

/**
 * The engine makes the text of `stack` when it is first read, and may call the program for it: `Error.prepareStackTrace`, getters of `name` and
 * `message`. Here it is a text as it stands, or just its heading when asking for it would run something.
 */
export class Descriptors {
  readonly #realm: Realm
  #unsafe: boolean | undefined

  constructor(realm: Realm) {
    this.#realm = realm
  }

  own(object: object, key: string | symbol): PropertyDescriptor | undefined {
    if (key !== 'stack' || isEnumerable.call(object, key)) return getOwnPropertyDescriptor(object, key)
    const getter = this.#realm.stackGetter
    const descriptor =
      getter === undefined && this.#runsProgram(object) ? asText(heading(object)) : getOwnPropertyDescriptor(object, key)
    if (getter === undefined || descriptor?.get !== getter) return descriptor
    const text = this.#runsProgram(object) ? undefined : getter.call(object)
    return asText(typeof text === 'string' ? text : heading(object))
  }

  #runsProgram(object: object): boolean {
    this.#unsafe ??= !isPlainlyUnset(this.#realm.globalObject, this.#realm.global['Error'])
    return this.#unsafe || safeText(object, 'name') === undefined || safeText(object, 'message') === undefined
  }
}

const asText = (value: string): PropertyDescriptor => ({ value, writable: true, enumerable: false, configurable: true })

const isEnumerable = Object.prototype.propertyIsEnumerable

/** The realm's `Error` is where it was and has no `prepareStackTrace` that is a function. */
function isPlainlyUnset(global: object, error: object | undefined): boolean {
  if (error === undefined) return true
  const here = getOwnPropertyDescriptor(global, 'Error')
  if (here === undefined || here.value !== error) return false
  for (let at: object | null = error, hops = 0; at !== null && hops < 8; at = getPrototypeOf(at), hops++) {
    if (types.isProxy(at)) return false
    const descriptor = getOwnPropertyDescriptor(at, 'prepareStackTrace')
    if (descriptor !== undefined) return descriptor.writable !== undefined && descriptor.value === undefined
  }
  return true
}

/** Text of `name` or `message` as found by descriptors; `undefined` when reading it could run something. */
function safeText(object: object, key: 'name' | 'message'): string | undefined {
  for (let at: object | null = object, hops = 0; at !== null && hops < 1_000; at = getPrototypeOf(at), hops++) {
    if (types.isProxy(at)) return undefined
    const descriptor = getOwnPropertyDescriptor(at, key)
    if (descriptor === undefined) continue
    if (descriptor.writable === undefined || isObjectLike(descriptor.value) || typeof descriptor.value === 'symbol')
      return undefined
    return descriptor.value === undefined ? '' : String(descriptor.value)
  }
  return ''
}

function heading(object: object): string {
  const name = safeText(object, 'name') ?? 'Error'
  const message = safeText(object, 'message') ?? ''
  return message === '' ? name : `${name}: ${message}`
}
