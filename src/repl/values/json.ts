/** The JSON value that a graph is, when it is one. */
import { type Accessor, type Graph, type GraphObject, type Hole, isGraphObject } from './graph.ts'
import { jsonDepth } from './limits.ts'
import { parseGraph } from './parse.ts'
import { attribute, flag, ordinary } from './tags.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** @returns `undefined` when it is no tree of JSON: other kinds, shared or cyclic objects, `undefined`, `-0`, or deeper than 1,000 levels. */
export function jsonOf(source: Uint8Array | Graph): { readonly value: Json } | undefined {
  const root = source instanceof Uint8Array ? parseGraph(source) : source
  const value = toJson(root, 0, new Set())
  return value === undefined ? undefined : { value }
}

/** Recursive: the depth of a JSON value is bounded. */
function toJson(graph: Graph | Hole | Accessor, depth: number, seen: Set<GraphObject>): Json | undefined {
  if (typeof graph === 'number') return Number.isFinite(graph) && !Object.is(graph, -0) ? graph : undefined
  if (typeof graph === 'bigint') return undefined
  if (typeof graph !== 'object' || graph === null) return graph
  if (!isGraphObject(graph) || seen.has(graph) || depth >= jsonDepth) return undefined
  seen.add(graph)
  if (graph.kind === 'array') return arrayToJson(graph, depth, seen)
  if (graph.kind !== 'object' || (graph.flags & flag.prototype) !== 0 || graph.properties.more !== undefined) return undefined
  const { keys, values, attributes } = graph.properties
  const object: Record<string, Json> = {}
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!
    const bits = attributes?.[i] ?? ordinary
    if (typeof key !== 'string' || (bits & attribute.enumerable) === 0) return undefined
    const value = toJson(values[i], depth + 1, seen)
    if (value === undefined) return undefined
    // An own property, whatever its name is.
    if (key === '__proto__') Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
    else object[key] = value
  }
  return object
}

function arrayToJson(graph: Extract<GraphObject, { kind: 'array' }>, depth: number, seen: Set<GraphObject>): Json | undefined {
  if (graph.derived !== undefined || graph.properties.keys.length > 0 || graph.more > 0) return undefined
  const list: Json[] = []
  for (const each of graph.elements) {
    const value = toJson(each, depth + 1, seen)
    if (value === undefined) return undefined
    list.push(value)
  }
  return list
}
