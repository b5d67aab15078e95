/**
 * The graph of a workspace, where some plugin of the host offers one. Nobody promises its shape: what looks like a node of
 * kind `Test` with a path counts, all else says nothing.
 */
import { relativeTo } from '../text/paths.ts'

/**
 * @param graph - whatever the host has under that name: `nodes` is a list, a map or a function that gives one.
 * @param dir - absolute; paths of nodes count from it unless they are absolute.
 */
export function testNodes(graph: unknown, dir: string): readonly { readonly path: string }[] {
  const nodes = isObject(graph) ? (typeof graph['nodes'] === 'function' ? graph['nodes']() : graph['nodes']) : undefined
  const list: readonly unknown[] = nodes instanceof Map ? [...nodes.values()] : isIterable(nodes) ? [...nodes] : []
  return list.flatMap(node => {
    if (!isObject(node) || (node['kind'] ?? node['type']) !== 'Test') return []
    const path = node['path'] ?? node['file']
    if (typeof path !== 'string' || path === '') return []
    const local = path.startsWith('/') ? relativeTo(dir, path) : path.split('/').includes('..') ? null : path
    return local === null || local === '' ? [] : [{ path: local }]
  })
}

const isObject = (value: unknown): value is Record<PropertyKey, unknown> => typeof value === 'object' && value !== null
const isIterable = (value: unknown): value is Iterable<unknown> => isObject(value) && typeof value[Symbol.iterator] === 'function'
