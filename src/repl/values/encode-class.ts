/** Objects of classes, and the functions, classes, modules and platform objects that are stored as references. */
import { types } from 'node:util'
import { ownProperties } from './encode-plain.ts'
import type { ClassPart, Encoding, Reference } from './encoding.ts'
import { classNameOf, classOf, functionName, hasSlots, isClass, opaqueType, shownFunction } from './inspect.ts'
import { flag, referenceKinds, tag } from './tags.ts'

const { getOwnPropertyDescriptor, getPrototypeOf, isExtensible, ownKeys } = Reflect

const standardKeys: ReadonlySet<string | symbol> = new Set(['length', 'name', 'prototype', 'arguments', 'caller'])

/** A function or module namespace. */
export function encodeReference(encoding: Encoding, object: object): boolean {
  const reference = encoding.options.host.refer(object)
  const isFunction = typeof object === 'function'
  if (reference === undefined) {
    if (!isFunction) encoding.cannotHold('Module', 'module-effect', '[module]')
    else encoding.cannotHold(isClass(object) ? 'Class' : 'Function', 'closure-effect', shownFunction(object))
    return false
  }
  if (!isFunction || reference.of !== 'source') return writeReference(encoding, reference, 0, [], [])
  const fromClass = isClass(object)
  // Methods and accessors of a class come with its source; fields and what was added later are properties of its own.
  const { keys, descriptors } = ownProperties(encoding, object, key => {
    if (key === 'prototype') return fromClass || !hasOwnPrototypeState(object, encoding.realm.objectPrototype)
    return standardKeys.has(key) || (fromClass && getOwnPropertyDescriptor(object, key)!.enumerable !== true)
  })
  return writeReference(encoding, reference, isExtensible(object) ? 0 : flag.nonExtensible, keys, descriptors)
}

/** Somebody wrote methods to the `prototype` of a function. */
export function hasOwnPrototypeState(object: object, objectPrototype: object): boolean {
  const prototype = getOwnPropertyDescriptor(object, 'prototype')?.value as unknown
  if (typeof prototype !== 'object' || prototype === null || types.isProxy(prototype)) return false
  if (getOwnPropertyDescriptor(prototype, 'constructor')?.value !== object)
    return !types.isGeneratorFunction(object) || ownKeys(prototype).length > 0
  return getPrototypeOf(prototype) !== objectPrototype || ownKeys(prototype).length > 1
}

export function writeReference(
  encoding: Encoding,
  reference: Reference,
  flags: number,
  keys: readonly (string | symbol)[],
  descriptors: readonly PropertyDescriptor[],
): boolean {
  const { depth } = encoding
  encoding.json = false
  encoding.out.byte(tag.reference)
  encoding.out.byte(flags | (keys.length > 0 ? flag.properties : 0))
  encoding.out.byte(referenceKinds.indexOf(reference.of))
  encoding.text(reference.shown)
  encoding.text(reference.payload)
  return keys.length === 0 ? false : encoding.enter(encoding.properties(depth, keys, descriptors, encoding.room(depth)))
}

/** What to write for a prototype that is not one of the realm's own, and why its objects cannot be stored, if they cannot. */
export function classPart(encoding: Encoding, prototype: object | null): ClassPart {
  if (prototype === null) return { className: '', direct: true, value: null, reason: undefined }
  const known = encoding.classes.get(prototype)
  if (known !== undefined) return known
  const part = makeClassPart(encoding, prototype)
  encoding.classes.set(prototype, part)
  return part
}

function makeClassPart(encoding: Encoding, prototype: object): ClassPart {
  const { host } = encoding.options
  const named = classNameOf(prototype)
  const own = types.isProxy(prototype) ? undefined : classOf(prototype)
  const reason = chainReason(encoding, prototype)
  // An object that was made from another one, and not by a class.
  const className = own === undefined && named === 'Object' ? '' : named
  if (own === undefined) return { className, direct: true, value: prototype, reason }
  const stored = host.refer(own) !== undefined
  return { className, direct: false, value: stored ? own : undefined, reason: reason ?? (stored ? undefined : 'closure-effect') }
}

/** A class above it keeps state that no copy has. */
function chainReason(encoding: Encoding, prototype: object): string | undefined {
  const { host } = encoding.options
  let isUnknown = false
  let isPrivate = false
  for (let at: object | null = prototype, hops = 0; at !== null && hops < 1_000; at = getPrototypeOf(at), hops++) {
    if (types.isProxy(at)) return 'proxy'
    if (encoding.realm.iteratorPrototypes.has(at)) return 'generator'
    if (encoding.realm.basePrototypes.has(at)) break
    const each = classOf(at)
    if (each === undefined) continue
    if (host.hasPrivateState(each)) isPrivate = true
    const reference = host.refer(each)
    if (reference?.of === 'path') {
      const name = functionName(each)
      if (name === 'WeakRef' || name === 'FinalizationRegistry') return 'weak'
      if (name !== 'EventEmitter') return isPrivate ? 'private-state' : 'open-handle'
      // The platform has classes of handles that nobody can name.
      if (isUnknown) return 'open-handle'
    }
    if (reference === undefined) isUnknown = true
  }
  return isPrivate ? 'private-state' : undefined
}

/** An object whose slots are written by `head`, after its class. */
export function writeDerived(encoding: Encoding, part: ClassPart, head: () => boolean): boolean {
  const { depth } = encoding
  if (part.reason !== undefined) encoding.note(part.className === '' ? 'Object' : part.className, part.reason)
  encoding.json = false
  encoding.out.byte(tag.derived)
  encoding.text(part.className)
  encoding.out.byte(part.direct ? 1 : 0)
  // The frames of the head stand where the ones of an object would: one level below what is above.
  return encoding.queue(
    encoding.values(depth, [shownClass(encoding, part)], () => 'constructor'),
    encoding.siblings(depth, head),
  )
}

/** Bounded copies show the name only. */
const shownClass = (encoding: Encoding, part: ClassPart): unknown =>
  encoding.options.bounds === undefined ? part.value : undefined

/** An object without slots, or with slots the codec does not know. */
export function encodeInstance(encoding: Encoding, object: object, prototype: object | null): boolean {
  const { depth } = encoding
  const known = opaqueType(object)
  if (known !== undefined) {
    encoding.cannotHold(known.type, known.reason, known.shown)
    return false
  }
  const reference = encoding.options.host.refer(object)
  if (reference !== undefined) return writeReference(encoding, reference, 0, [], [])
  const part = classPart(encoding, prototype)
  const reason = hasSlots(object) ? 'open-handle' : part.reason
  if (reason !== undefined) encoding.note(part.className === '' ? 'Object' : part.className, reason)
  const keys = ownKeys(object)
  const room = encoding.room(depth)
  encoding.edge(keys.length)
  encoding.json = false
  encoding.out.byte(tag.instance)
  encoding.out.byte((isExtensible(object) ? 0 : flag.nonExtensible) | (part.direct ? flag.prototype : 0))
  encoding.text(part.className)
  const descriptors = keys.slice(0, Math.min(keys.length, room)).map(key => encoding.descriptors.own(object, key)!)
  return encoding.queue(
    encoding.values(depth, [shownClass(encoding, part)], () => 'constructor'),
    encoding.properties(depth, keys, descriptors, room),
  )
}
