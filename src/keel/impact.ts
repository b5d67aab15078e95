/** The graph of documents and their sources, as far as edges lead to files. */
import type { Edge, Impact } from './types.ts'

/** Child of each target, each once, sorted; only edges that name a file. */
export function childrenByTarget(edges: readonly Pick<Edge, 'child' | 'target'>[]): ReadonlyMap<string, readonly string[]> {
  const sets = new Map<string, Set<string>>()
  for (const { child, target } of edges) {
    if (target === null) continue
    const children = sets.get(target)
    if (children === undefined) sets.set(target, new Set([child]))
    else children.add(child)
  }
  return new Map([...sets].map(([target, children]) => [target, [...children].sort(byBytes)]))
}

/** Order of paths: by UTF-16 units, the same on every machine. */
export function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/**
 * Every file that derives from `path`, nearest first, then by path; `via` are the files between, one
 * shortest way. A file that derives from itself over others is not listed below itself.
 */
export function impactOf(edges: readonly Pick<Edge, 'child' | 'target'>[], path: string): readonly Impact[] {
  const children = childrenByTarget(edges)
  const parent = new Map<string, string | null>([[path, null]])
  const found: Impact[] = []
  let level = [path]
  for (let depth = 1; level.length > 0; depth += 1) {
    const next: string[] = []
    for (const source of level) {
      for (const child of children.get(source) ?? []) {
        if (parent.has(child)) continue
        parent.set(child, source)
        next.push(child)
      }
    }
    next.sort(byBytes)
    for (const child of next) found.push({ path: child, depth, via: between(parent, path, child) })
    level = next
  }
  return found
}

function between(parent: ReadonlyMap<string, string | null>, from: string, to: string): readonly string[] {
  const via: string[] = []
  for (let at = parent.get(to) ?? null; at !== null && at !== from; at = parent.get(at) ?? null) via.push(at)
  return via.reverse()
}
