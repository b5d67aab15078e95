/**
 * A graph as a live value of a realm: identity, cycles, holes, attributes, prototypes and shared memory as they were. No constructor of a program runs, no
 * getter, no `then`. Parts that cannot be made are `undefined` there and are named.
 *
 * Two passes: every object is made empty, then everything is put in place, so that cycles need no order.
 */
import type { OpaquePart, PathStep, Reference } from './encoding.ts'
import { type Accessor, type Graph, type GraphObject, type GraphSymbol, isGraphObject, type Properties } from './graph.ts'
import { createPromise, type Filling, fill, inheritedNames } from './materialize-fill.ts'
import type { Realm } from './realm.ts'
import { errorNames, flag, temporalNames, viewNames } from './tags.ts'

export interface MaterializeHost {
  /** The function, class, module namespace or platform object; `undefined` when it cannot be had. */
  resolve(reference: Reference): object | undefined
  /** A promise was made again with this outcome. */
  settled?(promise: object, as: 'fulfilled' | 'rejected', value: unknown): void
}

export interface Materialized {
  readonly value: unknown
  /** The first 16 parts that could not be made, and how many there are. */
  readonly lost: readonly OpaquePart[]
  readonly lostParts: number
}

interface Place {
  readonly above: Place | undefined
  readonly step: PathStep | undefined
}

export function materialize(root: Graph, realm: Realm, host: MaterializeHost): Materialized {
  const made = new Map<GraphObject, unknown>()
  const lost: OpaquePart[] = []
  let lostParts = 0
  const lose = (place: Place, type: string, reason: string): undefined => {
    lostParts++
    if (lost.length < 16) lost.push({ path: pathOf(place), type, reason })
    return undefined
  }
  const met = new Set<GraphObject>()
  const order: { readonly graph: GraphObject; readonly place: Place }[] = []
  const stack: { readonly graph: Graph; readonly place: Place }[] = [
    { graph: root, place: { above: undefined, step: undefined } },
  ]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { graph, place } = next
    if (!isGraphObject(graph) || met.has(graph)) continue
    met.add(graph)
    if (!made.has(graph))
      made.set(
        graph,
        create(graph, realm, host, made, (type, reason) => lose(place, type, reason)),
      )
    order.push({ graph, place })
    const parts = partsOf(graph)
    for (let i = parts.length - 1; i >= 0; i--) stack.push({ graph: parts[i]![0], place: { above: place, step: parts[i]![1] } })
  }
  const filling: Filling = {
    realm,
    inherited: inheritedNames(realm),
    valueOf: graph => (isGraphObject(graph) ? made.get(graph) : graph),
    settled: host.settled?.bind(host),
  }
  // Promises last: whether their value has a `then` can only be told when it is complete.
  const late = order.filter(({ graph }) => graph.kind === 'promise')
  for (const { graph, place } of [...order.filter(({ graph }) => graph.kind !== 'promise'), ...late]) {
    const object = made.get(graph)
    if (object === undefined) continue
    const reason = fill(object as object, graph, filling)
    if (reason !== undefined) lose(place, graph.kind, reason)
  }
  return { value: filling.valueOf(root), lost, lostParts }
}

function pathOf(place: Place): readonly PathStep[] {
  const steps: PathStep[] = []
  for (let at: Place | undefined = place; at !== undefined; at = at.above) if (at.step !== undefined) steps.push(at.step)
  return steps.reverse()
}

/** Everything an object refers to, with its path step. */
export function partsOf(graph: GraphObject): readonly (readonly [Graph, PathStep])[] {
  if (graph.kind === 'opaque' || graph.kind === 'symbol') return []
  const parts: (readonly [Graph, PathStep])[] = []
  if (graph.derived !== undefined) parts.push([graph.derived.class, 'constructor'])
  switch (graph.kind) {
    case 'array': {
      let index = 0
      for (const each of graph.elements) {
        if (typeof each === 'object' && each !== null) {
          if (each.kind === 'holes') {
            index += each.count
            continue
          }
          parts.push([each, index])
        }
        index++
      }
      break
    }
    case 'map':
    case 'set':
      for (let i = 0; i < graph.parts.length; i++) parts.push([graph.parts[i], graph.kind === 'map' ? i >> 1 : i])
      break
    case 'instance':
      parts.push([graph.class, 'constructor'])
      break
    case 'boxed':
    case 'promise':
      parts.push([graph.value, 'value'])
      break
    case 'view':
      parts.push([graph.buffer, 'buffer'])
      break
    case 'regexp':
      parts.push([graph.lastIndex, 'lastIndex'])
      break
    default:
  }
  pushProperties(graph.properties, parts)
  return parts
}

function pushProperties(properties: Properties, parts: (readonly [Graph, PathStep])[]): void {
  for (let i = 0; i < properties.keys.length; i++) {
    const key = properties.keys[i]!
    const step = typeof key === 'string' ? key : `[${key.text ?? ''}]`
    if (typeof key !== 'string') parts.push([key, step])
    const value: Graph | Accessor = properties.values[i]
    if (typeof value !== 'object' || value === null) continue
    if (value.kind === 'accessor') parts.push([value.get, step], [value.set, step])
    else parts.push([value, step])
  }
}

type Lose = (type: string, reason: string) => undefined

function create(graph: GraphObject, realm: Realm, host: MaterializeHost, made: Map<GraphObject, unknown>, lose: Lose): unknown {
  const construct = (name: string, ...given: unknown[]): object | undefined => {
    const made = realm.global[name]
    return made === undefined ? lose(name, 'missing') : Reflect.construct(made, given)
  }
  switch (graph.kind) {
    case 'object':
    case 'instance':
      return construct('Object')
    case 'array': {
      const array = construct('Array')
      if (array !== undefined) Reflect.set(array, 'length', graph.length)
      return array
    }
    case 'map':
      return construct('Map')
    case 'set':
      return construct('Set')
    case 'date':
      return construct('Date', graph.time)
    case 'regexp':
      return construct('RegExp', graph.source, graph.regexpFlags)
    case 'error':
      return error(errorNames.find(name => name === graph.name) ?? 'Error', construct)
    case 'buffer':
      return buffer(graph, construct)
    case 'view': {
      const memory = isGraphObject(graph.buffer)
        ? (made.get(graph.buffer) ?? create(graph.buffer, realm, host, made, lose))
        : undefined
      if (memory === undefined) return lose(graph.name, 'missing')
      // Its buffer may be made before it is met.
      made.set(graph.buffer as GraphObject, memory)
      return view(graph, memory, realm, construct)
    }
    case 'url':
      return attempt(() => construct('URL', graph.text)) ?? lose('URL', 'missing')
    case 'params':
      return construct('URLSearchParams', graph.text)
    case 'temporal': {
      const how = realm.temporal[(temporalNames as readonly string[]).indexOf(graph.name)]
      return (how && attempt(() => how.parse.call(how.owner, graph.text))) ?? lose(`Temporal.${graph.name}`, 'missing')
    }
    case 'boxed': {
      const inner = isGraphObject(graph.value)
        ? graph.value.kind === 'symbol'
          ? symbol(graph.value, realm, made)
          : undefined
        : graph.value
      return inner === undefined || inner === null
        ? lose('Object', 'missing')
        : Reflect.apply(realm.global['Object'] as never, undefined, [inner])
    }
    case 'promise':
      return createPromise(realm)
    case 'reference':
      return host.resolve({ of: graph.of, shown: graph.shown, payload: graph.payload }) ?? lose(graph.shown, 'missing')
    case 'opaque':
      return lose(graph.type, graph.reason)
    case 'symbol':
      return graph.of === 'well-known' && !realm.symbolNames.has(graph.text ?? '')
        ? lose(`Symbol.${graph.text}`, 'missing')
        : symbol(graph, realm, made)
    default:
      return graph satisfies never
  }
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch {
    return undefined // a text that this engine does not take
  }
}

function symbol(graph: GraphSymbol, realm: Realm, made: Map<GraphObject, unknown>): symbol {
  const known = made.get(graph)
  if (typeof known === 'symbol') return known
  const value =
    graph.of === 'unique'
      ? Symbol(graph.text)
      : graph.of === 'registered'
        ? Symbol.for(graph.text ?? '')
        : (realm.symbolNames.get(graph.text ?? '') ?? Symbol(graph.text))
  made.set(graph, value)
  return value
}

type Construct = (name: string, ...given: unknown[]) => object | undefined

/** A native error without anything of its own; `stack` comes back as a property. */
function error(name: string, construct: Construct): object | undefined {
  const value = name === 'AggregateError' ? construct(name, []) : construct(name)
  if (value !== undefined) for (const key of Reflect.ownKeys(value)) Reflect.deleteProperty(value, key)
  return value
}

function buffer(graph: Extract<GraphObject, { kind: 'buffer' }>, construct: Construct): object | undefined {
  const name = graph.shared ? 'SharedArrayBuffer' : 'ArrayBuffer'
  const options = graph.maxByteLength === undefined ? [] : [{ maxByteLength: graph.maxByteLength }]
  const value = construct(name, graph.byteLength, ...options)
  if (value !== undefined) new Uint8Array(value as ArrayBuffer, 0, graph.byteLength).set(graph.bytes)
  return value
}

function view(
  graph: Extract<GraphObject, { kind: 'view' }>,
  memory: unknown,
  realm: Realm,
  construct: Construct,
): object | undefined {
  const follows = (graph.flags & flag.special) !== 0
  if (graph.name !== 'Buffer') return construct(graph.name, memory, graph.offset, ...(follows ? [] : [graph.length]))
  const bytes = construct('Uint8Array', memory, graph.offset, ...(follows ? [] : [graph.length]))
  const prototype = [...realm.viewClasses].find(([, index]) => viewNames[index] === 'Buffer')?.[0]
  if (bytes !== undefined && prototype !== undefined) Object.setPrototypeOf(bytes, prototype)
  return bytes
}
