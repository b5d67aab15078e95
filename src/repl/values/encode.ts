/**
 * A live value to `OVG1` bytes. Never runs a program's code: no getters, no `toJSON`, no proxy traps, no `Symbol.toStringTag`. Iterative, so depth is
 * bounded by memory only. Equal graphs give equal bytes, whatever the engine's own representation of them.
 */
import { types } from 'node:util'
import { encodeArray } from './encode-array.ts'
import { encodeInstance, encodeReference, writeReference } from './encode-class.ts'
import { encodePlain, encodeSample } from './encode-plain.ts'
import { encodeSlots } from './encode-slots.ts'
import { type EncodeOptions, Encoding, type OpaquePart, type PoolRange, Regroup } from './encoding.ts'
import { hasSlots } from './inspect.ts'
import type { LimitName } from './limits.ts'
import { OverLimit } from './writer.ts'

export type { EncodeHost, EncodeOptions, LayoutHints, OpaquePart, PathStep, Reference } from './encoding.ts'
export { noHost } from './encoding.ts'

export type Encoded =
  | {
      readonly kind: 'encoded'
      readonly bytes: Uint8Array
      /** `json`: a tree that JSON holds. `opaque`: has parts the codec cannot hold (the first 16 are named). */
      readonly valueKind: 'json' | 'graph' | 'opaque'
      readonly opaque: readonly OpaquePart[]
    }
  | { readonly kind: 'over'; readonly limit: LimitName }

export function encode(root: unknown, options: EncodeOptions): Encoded {
  const pool = new Map<object, PoolRange[]>()
  for (;;) {
    const encoding = new Encoding(options, pool, encodeObject)
    try {
      encoding.run(root)
      const valueKind = encoding.opaqueParts > 0 ? 'opaque' : encoding.json ? 'json' : 'graph'
      return { kind: 'encoded', bytes: encoding.out.finish(), valueKind, opaque: encoding.opaque }
    } catch (error) {
      if (error instanceof Regroup) continue
      if (error instanceof OverLimit) return { kind: 'over', limit: error.limit }
      throw error
    }
  }
}

function encodeObject(encoding: Encoding, object: object): boolean {
  const sampled = encodeSample(encoding, object)
  if (sampled !== undefined) return sampled
  if (types.isProxy(object)) {
    const reference = encoding.options.host.refer(object)
    if (reference !== undefined) return writeReference(encoding, reference, 0, [], [])
    encoding.cannotHold('Proxy', 'proxy', '[proxy]')
    return false
  }
  if (typeof object === 'function') return encodeReference(encoding, object)
  const prototype = Reflect.getPrototypeOf(object)
  const { realm } = encoding
  if (prototype === realm.arrayPrototype && Array.isArray(object)) return encodeArray(encoding, object, undefined)
  if (prototype === null && types.isModuleNamespaceObject(object)) return encodeReference(encoding, object)
  if ((prototype === realm.objectPrototype || prototype === null) && !hasSlots(object) && !Array.isArray(object)) {
    return encodePlain(encoding, object, prototype === null)
  }
  return encodeSlots(encoding, object, prototype) ?? encodeInstance(encoding, object, prototype)
}
