/** A part of a value that was too long to show whole: where a path leads, and so many entries from there. */
import { OutriggerError } from '../../errors.ts'
import { elementsOf } from './elements.ts'
import type { PathStep } from './encoding.ts'
import { type Accessor, type Graph, type GraphObject, type Hole, isGraphObject } from './graph.ts'
import { printBounded, typeOfGraph } from './notation.ts'

export interface Page {
  readonly text: string
  /** Entries at the path; characters of a text. */
  readonly total: number
  readonly type: string
}

/**
 * @param path - names and numbers; in Maps and Sets a number selects an entry (of a Map a pair: 0 is its key, 1 its value), a text the value of that key.
 * @param offset - first entry, or first UTF-16 unit of a text.
 * @param limit - entries, or units of a text.
 * @param maxChars - longest text of the answer.
 * @throws OutriggerError `REPL_BAD_REQUEST` when the path leads nowhere.
 */
export function pageGraph(graph: Graph, path: readonly PathStep[] = [], offset = 0, limit = 100, maxChars = 100_000): Page {
  let at: Graph = graph
  for (let i = 0; i < path.length; i++) {
    const next = stepInto(at, path[i]!)
    if (next === undefined) {
      throw new OutriggerError('REPL_BAD_REQUEST', `nothing at ${JSON.stringify(path.slice(0, i + 1))}`, {
        subject: `path[${i}]`,
        hint: `${JSON.stringify(path.slice(0, i))} is ${typeOfGraph(at)}; ask for that page to see what it holds`,
      })
    }
    at = next.graph
  }
  return pageOf(at, offset, limit, maxChars)
}

function stepInto(graph: Graph, step: PathStep): { readonly graph: Graph } | undefined {
  if (!isGraphObject(graph) || graph.kind === 'symbol' || graph.kind === 'opaque') return undefined
  if (typeof step === 'number') {
    if (graph.kind === 'array') return elementAt(graph, step) ?? property(graph, String(step))
    if (graph.kind === 'map' && step >= 0 && step * 2 + 1 < graph.parts.length)
      return { graph: pair(graph.parts[step * 2], graph.parts[step * 2 + 1]) }
    if (graph.kind === 'set' && step >= 0 && step < graph.parts.length) return { graph: graph.parts[step] }
    if (graph.kind === 'view') {
      const found = elementsOf(graph, step, 1)
      return found.length === 1 ? { graph: found[0] } : undefined
    }
    return property(graph, String(step))
  }
  const own = property(graph, step)
  if (own !== undefined) return own
  if (graph.kind === 'array' && /^\d+$/.test(step)) return elementAt(graph, Number(step))
  if (graph.kind === 'map') {
    for (let i = 0; i < graph.parts.length; i += 2) if (graph.parts[i] === step) return { graph: graph.parts[i + 1] }
  }
  if (graph.kind === 'promise' && step === 'value') return { graph: graph.value }
  return undefined
}

function property(
  graph: Exclude<GraphObject, { kind: 'symbol' | 'opaque' }>,
  name: string,
): { readonly graph: Graph } | undefined {
  const index = graph.properties.keys.indexOf(name)
  if (index < 0) return undefined
  const value: Graph | Accessor = graph.properties.values[index]
  return { graph: typeof value === 'object' && value !== null && value.kind === 'accessor' ? value.get : value }
}

function elementAt(graph: Extract<GraphObject, { kind: 'array' }>, index: number): { readonly graph: Graph } | undefined {
  const [element] = slice(graph, index, 1)
  return element === undefined && !(index >= 0 && index < graph.length - graph.more)
    ? undefined
    : isHole(element)
      ? undefined
      : { graph: element as Graph }
}

const isHole = (value: Graph | Hole): value is Hole => typeof value === 'object' && value !== null && value.kind === 'holes'

/** Elements from an index on, with runs of holes cut to what falls inside. */
function slice(graph: Extract<GraphObject, { kind: 'array' }>, offset: number, limit: number): (Graph | Hole)[] {
  const found: (Graph | Hole)[] = []
  const end = offset + limit
  let index = 0
  for (const each of graph.elements) {
    const next = index + (isHole(each) ? each.count : 1)
    if (next > offset && index < end)
      found.push(isHole(each) ? { kind: 'holes', count: Math.min(next, end) - Math.max(index, offset) } : each)
    if (next >= end) break
    index = next
  }
  return found
}

/** A made-up array; its number is one that no object of a value has. */
const arrayOf = (elements: readonly (Graph | Hole)[], length: number, id = -1): GraphObject => ({
  kind: 'array',
  id,
  flags: 0,
  properties: { keys: [], values: [] },
  length,
  elements,
  more: 0,
})

const pair = (key: Graph, value: Graph): GraphObject => arrayOf([key, value], 2)

function pageOf(graph: Graph, offset: number, limit: number, maxChars: number): Page {
  const type = typeOfGraph(graph)
  const print = (part: Graph) => printBounded(part, { maxChars, entries: Math.max(limit, 1) }).text
  if (typeof graph === 'string') return { text: cutText(graph, offset, Math.min(limit, maxChars)), total: graph.length, type }
  if (!isGraphObject(graph)) return { text: print(graph), total: 1, type }
  switch (graph.kind) {
    case 'array': {
      const own = graph.properties
      const part = slice(graph, offset, limit)
      const shown = Math.max(0, Math.min(limit, graph.length - graph.more - offset))
      const rest = offset + shown >= graph.length ? own : { keys: [], values: [] }
      return { text: print({ ...graph, length: shown, elements: part, more: 0, properties: rest }), total: graph.length, type }
    }
    case 'map': {
      const parts = graph.parts.slice(offset * 2, (offset + limit) * 2)
      return {
        text: print({ ...graph, parts, size: parts.length / 2 }).replace(`(${parts.length / 2})`, `(${graph.size})`),
        total: graph.size,
        type,
      }
    }
    case 'set': {
      const parts = graph.parts.slice(offset, offset + limit)
      return {
        text: print({ ...graph, parts, size: parts.length }).replace(`(${parts.length})`, `(${graph.size})`),
        total: graph.size,
        type,
      }
    }
    case 'view': {
      const part = elementsOf(graph, offset, limit)
      return { text: print(arrayOf(part, part.length)), total: graph.length, type }
    }
    case 'buffer': {
      const part = [...graph.bytes.subarray(offset, offset + limit)]
      return { text: part.map(byte => byte.toString(16).padStart(2, '0')).join(' '), total: graph.byteLength, type }
    }
    case 'object':
    case 'instance': {
      const { keys, values, attributes } = graph.properties
      const end = offset + limit
      const own = {
        keys: keys.slice(offset, end),
        values: values.slice(offset, end),
        ...(attributes && { attributes: attributes.slice(offset, end) }),
      }
      return { text: print({ ...graph, properties: own }), total: keys.length + (graph.properties.more ?? 0), type }
    }
    default:
      return { text: print(graph), total: 'properties' in graph ? graph.properties.keys.length : 1, type }
  }
}

/** A part of a text whose ends are not in the middle of a surrogate pair. */
function cutText(text: string, offset: number, limit: number): string {
  const start = isSplit(text, offset) ? offset + 1 : offset
  const end = isSplit(text, offset + limit) ? offset + limit + 1 : offset + limit
  return text.slice(start, end)
}

const isSplit = (text: string, at: number): boolean =>
  at > 0 && at < text.length && /[\ud800-\udbff]/.test(text[at - 1]!) && /[\udc00-\udfff]/.test(text[at]!)
