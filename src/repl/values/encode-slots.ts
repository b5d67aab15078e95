/** Objects with internal slots that the codec knows: collections, dates, errors, memory, URLs and so on, also of classes made from them. */
import { types } from 'node:util'
import { encodeArray } from './encode-array.ts'
import { classPart, writeDerived } from './encode-class.ts'
import { encodeBuffer, encodeView } from './encode-memory.ts'
import { ownProperties } from './encode-plain.ts'
import type { Encoding, Frame } from './encoding.ts'
import { isIndex, nearest, readRegExp, unboxed } from './inspect.ts'
import { flag, tag } from './tags.ts'

const { getOwnPropertyDescriptor, isExtensible } = Reflect
const mapEntries = Map.prototype.entries
const setValues = Set.prototype.values
const mapSize = getOwnPropertyDescriptor(Map.prototype, 'size')!.get!
const setSize = getOwnPropertyDescriptor(Set.prototype, 'size')!.get!
const dateTime = Date.prototype.getTime

/** `undefined`: nothing of this kind. */
export function encodeSlots(encoding: Encoding, object: object, prototype: object | null): boolean | undefined {
  if (Array.isArray(object)) return encodeArray(encoding, object, classPart(encoding, prototype))
  const slots = headOf(encoding, object, prototype)
  if (slots === undefined) return undefined
  return slots.home === prototype ? slots.write() : writeDerived(encoding, classPart(encoding, prototype), slots.write)
}

interface Slots {
  /** The prototype that objects of the kind have when no class is made from it. */
  readonly home: object | null
  write(): boolean
}

function headOf(encoding: Encoding, object: object, prototype: object | null): Slots | undefined {
  const { realm, out } = encoding
  if (types.isMap(object)) return { home: realm.mapPrototype, write: () => collection(encoding, object, tag.map) }
  if (types.isSet(object)) return { home: realm.setPrototype, write: () => collection(encoding, object, tag.set) }
  if (types.isDate(object)) {
    return {
      home: realm.datePrototype,
      write: () => withProperties(encoding, object, tag.date, 0, () => out.float(dateTime.call(object))),
    }
  }
  if (types.isRegExp(object)) return { home: realm.regexpPrototype, write: () => regexp(encoding, object) }
  if (types.isNativeError(object)) {
    const index = nearest(prototype, realm.errorClasses) ?? 0
    const direct = prototype !== null && realm.errorClasses.has(prototype)
    return {
      home: direct ? prototype : realm.objectPrototype,
      write: () => withProperties(encoding, object, tag.error, 0, () => out.byte(index)),
    }
  }
  if (types.isAnyArrayBuffer(object)) {
    const shared = types.isSharedArrayBuffer(object)
    return {
      home: shared ? realm.sharedBufferPrototype : realm.bufferPrototype,
      write: () => encodeBuffer(encoding, object, shared),
    }
  }
  if (ArrayBuffer.isView(object)) {
    const index = nearest(prototype, realm.viewClasses)
    if (index === undefined) return undefined
    const direct = prototype !== null && realm.viewClasses.has(prototype)
    return { home: direct ? prototype : realm.objectPrototype, write: () => encodeView(encoding, object, index) }
  }
  if (types.isBoxedPrimitive(object)) return { home: boxHome(encoding, prototype), write: () => boxed(encoding, object) }
  if (types.isPromise(object)) return { home: realm.promisePrototype, write: () => promise(encoding, object) }
  return textual(encoding, object, prototype)
}

/** URL, URLSearchParams and Temporal are told by their prototypes; the captured reader says whether the slots are there. */
function textual(encoding: Encoding, object: object, prototype: object | null): Slots | undefined {
  const { realm, out } = encoding
  const candidates: readonly (readonly [object, (() => string) | undefined, number, number])[] = [
    [realm.urlPrototype, realm.urlText && (() => realm.urlText!.call(object)), tag.url, -1],
    [realm.paramsPrototype, realm.paramsText && (() => realm.paramsText!.call(object)), tag.params, -1],
  ]
  const temporal = nearest(prototype, realm.temporalClasses)
  const rows =
    temporal === undefined
      ? candidates
      : ([
          [
            prototypeAt(realm.temporalClasses, temporal),
            () => realm.temporal[temporal]!.print.call(object),
            tag.temporal,
            temporal,
          ],
        ] as const)
  for (const [home, read, kind, index] of rows) {
    if (read === undefined || nearest(prototype, new Map([[home, true]])) === undefined) continue
    const text = attempt(read)
    if (text === undefined) return undefined
    const write = () =>
      withProperties(
        encoding,
        object,
        kind,
        0,
        () => {
          if (index >= 0) out.byte(index)
          encoding.text(text)
        },
        key => typeof key === 'symbol' && kind !== tag.temporal,
      )
    return { home, write }
  }
  return undefined
}

const prototypeAt = (classes: ReadonlyMap<object, number>, index: number): object =>
  [...classes].find(([, each]) => each === index)![0]

function attempt(read: () => string): string | undefined {
  try {
    return read()
  } catch {
    return undefined // the internal slots are not there: an object with a borrowed prototype
  }
}

const nothing = () => false

/** Tag, flags, what belongs to the kind, and then properties. */
function withProperties(
  encoding: Encoding,
  object: object,
  kind: number,
  special: number,
  head: () => void,
  leaveOut: (key: string | symbol) => boolean = nothing,
  parts: readonly Frame[] = [],
): boolean {
  const { depth } = encoding
  encoding.json = false
  const { keys, descriptors } = ownProperties(encoding, object, leaveOut)
  encoding.out.byte(kind)
  encoding.out.byte((isExtensible(object) ? 0 : flag.nonExtensible) | (keys.length > 0 ? flag.properties : 0) | special)
  head()
  const frames = keys.length > 0 ? [...parts, encoding.properties(depth, keys, descriptors, encoding.room(depth))] : parts
  if (frames.length === 0) return false
  return frames.length === 1 ? encoding.enter(frames[0]!) : encoding.queue(...frames)
}

function collection(
  encoding: Encoding,
  object: Map<unknown, unknown> | Set<unknown>,
  kind: typeof tag.map | typeof tag.set,
): boolean {
  const { depth, out } = encoding
  const isMap = kind === tag.map
  const size = (isMap ? mapSize : setSize).call(object) as number
  const shown = Math.min(size, encoding.room(depth))
  encoding.edge(isMap ? size * 2 : size)
  const parts: unknown[] = []
  let at = 0
  for (const entry of (isMap ? mapEntries : setValues).call(
    object as Map<unknown, unknown> & Set<unknown>,
  ) as Iterable<unknown>) {
    if (at++ === shown) break
    if (isMap) parts.push((entry as [unknown, unknown])[0], (entry as [unknown, unknown])[1])
    else parts.push(entry)
  }
  const end = () => {
    if (shown === size) return
    out.byte(tag.more)
    out.count(size - shown)
  }
  const frame = encoding.values(depth, parts, isMap ? index => [index >> 1, index & 1] : index => index, end)
  return withProperties(encoding, object, kind, 0, () => out.count(size), nothing, [frame])
}

function regexp(encoding: Encoding, object: object): boolean {
  const { source, flags } = readRegExp(object)
  const lastIndex = getOwnPropertyDescriptor(object, 'lastIndex')!
  const head = () => {
    encoding.text(source)
    encoding.text(flags)
  }
  const frame = encoding.values(encoding.depth, [lastIndex.value], () => 'lastIndex')
  return withProperties(
    encoding,
    object,
    tag.regexp,
    lastIndex.writable === true ? 0 : flag.special,
    head,
    key => key === 'lastIndex',
    [frame],
  )
}

function boxHome(encoding: Encoding, prototype: object | null): object | null {
  return prototype !== null && encoding.realm.boxedPrototypes.has(prototype) ? prototype : encoding.realm.objectPrototype
}

function boxed(encoding: Encoding, object: object): boolean {
  const value = unboxed(object)
  const frame = encoding.values(encoding.depth, [value], () => 'value')
  const ofText = (key: string | symbol) => key === 'length' || (isIndex(key) && Number(key) < (value as string).length)
  return withProperties(encoding, object, tag.boxed, 0, () => {}, typeof value === 'string' ? ofText : nothing, [frame])
}

function promise(encoding: Encoding, object: object): boolean {
  const outcome = encoding.options.host.settled(object)
  if (outcome === undefined) {
    encoding.cannotHold('Promise', 'pending-promise', 'Promise { <pending> }')
    return false
  }
  const frame = encoding.values(encoding.depth, [outcome.value], () => 'value')
  return withProperties(encoding, object, tag.promise, 0, () => encoding.out.byte(outcome.as === 'fulfilled' ? 0 : 1), nothing, [
    frame,
  ])
}
