/** The JSON value that a graph is, when it is one. */
import { type Graph, isGraphObject } from './graph.ts'
import { jsonDepth } from './limits.ts'
import { parseGraph } from './parse.ts'
import { attribute, flag, ordinary } from './tags.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** @returns `undefined` when it is no tree of JSON: other kinds, shared or cyclic objects, `undefined`, `-0`, or deeper than 1,000 levels. */
export function jsonOf(source: Uint8Array | Graph): { readonly value: Json } | undefined {
  const root = source instanceof Uint8Array ? parseGraph(source) : source
  const seen = new Set<Graph>()
  const stack: { readonly graph: Graph; readonly depth: number; put(value: Json): void }[] = []
  let result: Json = null
  stack.push({
    graph: root,
    depth: 0,
    put: value => {
      result = value
    },
  })
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { graph, depth, put } = next
    if (!isGraphObject(graph)) {
      if (graph === undefined || typeof graph === 'bigint') return undefined
      if (typeof graph === 'number' && (!Number.isFinite(graph) || Object.is(graph, -0))) return undefined
      put(graph)
      continue
    }
    if (seen.has(graph) || depth >= jsonDepth) return undefined
    seen.add(graph)
    if (graph.kind === 'array') {
      if (graph.derived !== undefined || graph.properties.keys.length > 0 || graph.more > 0) return undefined
      const list: Json[] = new Array(graph.elements.length).fill(null)
      for (let i = 0; i < list.length; i++) {
        const each = graph.elements[i]
        if (typeof each !== 'object' || each === null) {
          if (each === undefined || typeof each === 'bigint') return undefined
          if (typeof each === 'number' && (!Number.isFinite(each) || Object.is(each, -0))) return undefined
          list[i] = each
          continue
        }
        if (each.kind === 'holes') return undefined
        const index = i
        stack.push({
          graph: each,
          depth: depth + 1,
          put: value => {
            list[index] = value
          },
        })
      }
      put(list)
      continue
    }
    if (graph.kind !== 'object' || (graph.flags & flag.prototype) !== 0 || graph.properties.more !== undefined) return undefined
    const { keys, values, attributes } = graph.properties
    const object: Record<string, Json> = {}
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!
      const bits = attributes?.[i] ?? ordinary
      const value = values[i]
      if (typeof key !== 'string' || (bits & attribute.enumerable) === 0 || (bits & attribute.accessor) !== 0) return undefined
      if (typeof value === 'object' && value !== null) {
        if (value.kind === 'accessor') return undefined
        // The key keeps its place; the value comes later.
        put1(object, key, null)
        stack.push({ graph: value, depth: depth + 1, put: made => put1(object, key, made) })
        continue
      }
      if (value === undefined || typeof value === 'bigint') return undefined
      if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0))) return undefined
      put1(object, key, value)
    }
    put(object)
  }
  return { value: result }
}

/** An own property, whatever its name is. */
function put1(object: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
  else object[key] = value
}
