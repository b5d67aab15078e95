/** The second pass of making a live value: prototypes, elements, entries, properties, extensibility. */
import type { Graph, GraphObject, Properties } from './graph.ts'
import { isIndex, isObjectLike } from './inspect.ts'
import type { Realm } from './realm.ts'
import { attribute, flag, ordinary } from './tags.ts'

export interface Filling {
  readonly realm: Realm
  /** Names that an assignment to a new object could meet above it; such properties are defined instead. `undefined`: even indices are among them. */
  readonly inherited: ReadonlySet<string | symbol> | undefined
  valueOf(graph: Graph): unknown
  readonly settled: ((promise: object, as: 'fulfilled' | 'rejected', value: unknown) => void) | undefined
}

const mapSet = Map.prototype.set
const setAdd = Set.prototype.add
const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect

/** @returns why the object is not whole. */
export function fill(object: object, graph: GraphObject, filling: Filling): string | undefined {
  if (graph.kind === 'opaque' || graph.kind === 'symbol') return undefined
  let reason: string | undefined
  if (graph.derived !== undefined) reason = setClass(object, graph.derived.class, graph.derived.direct, filling)
  switch (graph.kind) {
    case 'object':
      if ((graph.flags & flag.prototype) !== 0) Object.setPrototypeOf(object, null)
      break
    case 'instance':
      reason = setClass(object, graph.class, (graph.flags & flag.prototype) !== 0, filling)
      break
    case 'array':
      elements(object, graph, filling)
      break
    case 'map':
      for (let i = 0; i < graph.parts.length; i += 2)
        mapSet.call(object as Map<unknown, unknown>, filling.valueOf(graph.parts[i]), filling.valueOf(graph.parts[i + 1]))
      break
    case 'set':
      for (const part of graph.parts) setAdd.call(object as Set<unknown>, filling.valueOf(part))
      break
    case 'regexp':
      defineProperty(object, 'lastIndex', {
        value: filling.valueOf(graph.lastIndex),
        writable: (graph.flags & flag.special) === 0,
      })
      break
    case 'promise':
      reason = settle(object, graph, filling)
      break
    default:
  }
  if (graph.kind !== 'object' || !assign(object, graph.properties, filling)) properties(object, graph.properties, filling)
  if (graph.kind === 'array' && (graph.flags & flag.special) !== 0) defineProperty(object, 'length', { writable: false })
  if ((graph.flags & flag.nonExtensible) !== 0) Reflect.preventExtensions(object)
  return reason
}

function setClass(object: object, graph: Graph, direct: boolean, filling: Filling): string | undefined {
  const part = filling.valueOf(graph)
  const prototype = direct
    ? part
    : typeof part === 'function'
      ? (getOwnPropertyDescriptor(part, 'prototype')?.value as unknown)
      : undefined
  if (prototype !== null && !isObjectLike(prototype)) return 'missing'
  return Reflect.setPrototypeOf(object, prototype) ? undefined : 'missing'
}

function elements(object: object, graph: Extract<GraphObject, { kind: 'array' }>, filling: Filling): void {
  const attributes =
    (graph.flags & flag.frozenElements) !== 0
      ? attribute.enumerable
      : (graph.flags & flag.sealedElements) !== 0
        ? attribute.enumerable | attribute.writable
        : ordinary
  let index = 0
  for (const each of graph.elements) {
    if (typeof each === 'object' && each !== null && each.kind === 'holes') index += each.count
    else if (attributes === ordinary && filling.inherited !== undefined && graph.derived === undefined)
      (object as unknown[])[index++] = filling.valueOf(each)
    else defineProperty(object, String(index++), dataDescriptor(filling.valueOf(each), attributes))
  }
}

const dataDescriptor = (value: unknown, attributes: number): PropertyDescriptor => ({
  value,
  writable: (attributes & attribute.writable) !== 0,
  enumerable: (attributes & attribute.enumerable) !== 0,
  configurable: (attributes & attribute.configurable) !== 0,
})

/** The quick way for new plain objects with ordinary properties. */
function assign(object: object, own: Properties, filling: Filling): boolean {
  const { inherited } = filling
  if (own.attributes !== undefined || inherited === undefined) return false
  for (let i = 0; i < own.keys.length; i++) {
    const key = own.keys[i]!
    const value = own.values[i]
    const made = filling.valueOf(value as Graph)
    if (typeof key === 'string' && !inherited.has(key)) (object as Record<string, unknown>)[key] = made
    else defineProperty(object, typeof key === 'string' ? key : (filling.valueOf(key) as symbol), dataDescriptor(made, ordinary))
  }
  return true
}

/** Own names of the prototypes that new arrays and plain objects have. */
export function inheritedNames(realm: Realm): ReadonlySet<string | symbol> | undefined {
  if (getPrototypeOf(realm.arrayPrototype) !== realm.objectPrototype) return undefined
  const names = [realm.arrayPrototype, realm.objectPrototype].map(prototype => Reflect.ownKeys(prototype))
  // Indices stand first.
  return names.some(keys => keys[0] !== undefined && isIndex(keys[0])) ? undefined : new Set(names.flat())
}

function properties(object: object, own: Properties, filling: Filling): void {
  for (let i = 0; i < own.keys.length; i++) {
    const key = own.keys[i]!
    const name = typeof key === 'string' ? key : (filling.valueOf(key) as symbol)
    const value = own.values[i]
    const attributes = own.attributes?.[i] ?? ordinary
    if (typeof value === 'object' && value !== null && value.kind === 'accessor') {
      const get = functionOf(filling.valueOf(value.get))
      const set = functionOf(filling.valueOf(value.set))
      const descriptor = {
        get,
        set,
        enumerable: (attributes & attribute.enumerable) !== 0,
        configurable: (attributes & attribute.configurable) !== 0,
      }
      defineProperty(object, name, descriptor as PropertyDescriptor)
    } else defineProperty(object, name, dataDescriptor(filling.valueOf(value), attributes))
  }
}

const functionOf = (value: unknown): unknown => (typeof value === 'function' ? value : undefined)

const ignore = () => undefined

const outcomes = new WeakMap<object, { resolve(value: unknown): void; reject(value: unknown): void }>()

/** A promise that `fill` settles. */
export function createPromise(realm: Realm): object {
  let settle: { resolve(value: unknown): void; reject(value: unknown): void } | undefined
  const executor = (resolve: (value: unknown) => void, reject: (value: unknown) => void) => {
    settle = { resolve, reject }
  }
  const made = Reflect.construct(realm.global['Promise']!, [executor])
  outcomes.set(made, settle!)
  return made
}

function settle(object: object, graph: Extract<GraphObject, { kind: 'promise' }>, filling: Filling): string | undefined {
  const value = filling.valueOf(graph.value)
  const outcome = outcomes.get(object)
  if (outcome === undefined) return 'missing'
  if (graph.settled === 'rejected') {
    outcome.reject(value)
    // Somebody handled it before; nobody is to be told again.
    filling.realm.promiseThen.call(object, undefined, ignore)
  } else {
    // Resolving with something that has a `then` would run it.
    if (isObjectLike(value) && hasThen(value)) return 'pending-promise'
    outcome.resolve(value)
  }
  filling.settled?.(object, graph.settled, value)
  return undefined
}

function hasThen(object: object): boolean {
  for (let at: object | null = object, hops = 0; at !== null && hops < 1_000; at = getPrototypeOf(at), hops++) {
    if (getOwnPropertyDescriptor(at, 'then') !== undefined) return true
  }
  return false
}
