/** Objects without slots whose prototype is `Object.prototype` or null. */
import { writeReference } from './encode-class.ts'
import { type Encoding, isOrdinary, type Sample } from './encoding.ts'
import { isObjectLike } from './inspect.ts'
import { jsonDepth } from './limits.ts'
import { flag, tag } from './tags.ts'

const { isExtensible, ownKeys } = Reflect

const sampleCount = 4

function sampleOf(encoding: Encoding, object: object): Sample | undefined {
  const { samples } = encoding
  const { layout } = encoding.options.host
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i]
    if (sample !== undefined && layout!.same(object, sample.object)) return sample
  }
  return undefined
}

/** The quick way: an object laid out like the last shaped one. `undefined`: it is not. */
export function encodeSample(encoding: Encoding, object: object): boolean | undefined {
  const sample = sampleOf(encoding, object)
  if (sample === undefined) return undefined
  // Index keys are no part of a layout: an object that has some has more keys.
  if (Object.keys(object).length !== sample.keys.length) return undefined
  const { keys } = sample
  encoding.edge(keys.length)
  encoding.shapeRef(sample.shape)
  const { depth } = encoding
  const fields = object as Readonly<Record<string, unknown>>
  let at = 0
  // Most small objects hold primitives only, and need no place on the stack.
  if (depth < jsonDepth) {
    for (; at < keys.length; at++) {
      const value = fields[keys[at]!]
      if (isObjectLike(value)) break
      encoding.value(value)
    }
    if (at === keys.length) return false
  }
  const first = at
  const rest = new Array<unknown>(keys.length - first)
  for (let i = 0; i < rest.length; i++) rest[i] = fields[keys[first + i]!]
  return encoding.enter(encoding.values(depth, rest, index => keys[first + index]!))
}

export function encodePlain(encoding: Encoding, object: object, nullPrototype: boolean): boolean {
  const { depth } = encoding
  const keys = ownKeys(object)
  const room = encoding.room(depth)
  const shown = Math.min(keys.length, room)
  const extensible = isExtensible(object)
  const descriptors = new Array<PropertyDescriptor>(shown)
  let shaped = !nullPrototype && extensible && shown === keys.length
  let json = !nullPrototype && shown === keys.length
  let functions = false
  for (let i = 0; i < shown; i++) {
    const key = keys[i]!
    const descriptor = encoding.descriptors.own(object, key)!
    descriptors[i] = descriptor
    if (typeof key === 'symbol' || !isOrdinary(descriptor)) {
      shaped = false
      if (typeof key === 'symbol' || descriptor.enumerable !== true || descriptor.writable === undefined) json = false
    }
    if (typeof descriptor.value === 'function') functions = true
  }
  if (functions || !shaped) {
    const reference = encoding.options.host.refer(object)
    if (reference !== undefined) return writeReference(encoding, reference, 0, [], [])
  }
  encoding.edge(keys.length)
  if (!json) encoding.json = false
  if (shaped) {
    const shape = encoding.shape(keys as string[])
    const { layout } = encoding.options.host
    if (
      layout !== undefined &&
      encoding.options.bounds === undefined &&
      keys.length > 0 &&
      !functions &&
      layout.same(object, object)
    ) {
      // In turns: objects of a few layouts usually alternate.
      encoding.samples[shape % sampleCount] = { object, keys: keys as string[], shape }
    }
    return encoding.enter(
      encoding.values(
        depth,
        descriptors.map(descriptor => descriptor.value),
        index => keys[index] as string,
      ),
    )
  }
  encoding.out.byte(tag.plain)
  encoding.out.byte((extensible ? 0 : flag.nonExtensible) | (nullPrototype ? flag.prototype : 0))
  return encoding.enter(encoding.properties(depth, keys, descriptors, room))
}

/** Own properties other than those that belong to the kind. */
export function ownProperties(
  encoding: Encoding,
  object: object,
  leaveOut: (key: string | symbol) => boolean,
): { readonly keys: readonly (string | symbol)[]; readonly descriptors: readonly PropertyDescriptor[] } {
  const keys = ownKeys(object).filter(key => !leaveOut(key))
  encoding.edge(keys.length)
  return { keys, descriptors: keys.map(key => encoding.descriptors.own(object, key)!) }
}
