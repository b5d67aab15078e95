/** Groups of files that derive from one another. Iterative: a chain of 100,000 documents must not exhaust the stack. */
import { byBytes, childrenByTarget } from './impact.ts'
import type { Edge } from './types.ts'

interface Frame {
  readonly node: string
  readonly children: readonly string[]
  next: number
}

/** Strongly connected files, more than one or a file that is its own source; each sorted, the list sorted. */
export function cyclesOf(edges: readonly Pick<Edge, 'child' | 'target'>[]): readonly (readonly string[])[] {
  // Every file of a cycle derives from another one of it: most files are out of question at once.
  const deriving = new Set(edges.map(edge => edge.child))
  const children = childrenByTarget(edges.filter(({ target }) => target !== null && deriving.has(target)))
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const open: string[] = []
  const isOpen = new Set<string>()
  const cycles: (readonly string[])[] = []

  const enter = (node: string): Frame => {
    order.set(node, order.size)
    low.set(node, order.get(node)!)
    open.push(node)
    isOpen.add(node)
    return { node, children: children.get(node) ?? [], next: 0 }
  }
  const lower = (node: string, to: number) => {
    if (to < low.get(node)!) low.set(node, to)
  }

  for (const start of children.keys()) {
    if (order.has(start)) continue
    const frames = [enter(start)]
    while (frames.length > 0) {
      const frame = frames[frames.length - 1]!
      const child = frame.children[frame.next++]
      if (child !== undefined) {
        if (!order.has(child)) frames.push(enter(child))
        else if (isOpen.has(child)) lower(frame.node, order.get(child)!)
        continue
      }
      frames.pop()
      const above = frames[frames.length - 1]
      if (above !== undefined) lower(above.node, low.get(frame.node)!)
      if (low.get(frame.node) !== order.get(frame.node)) continue
      const group = open.splice(open.lastIndexOf(frame.node))
      for (const member of group) isOpen.delete(member)
      if (group.length > 1 || children.get(frame.node)?.includes(frame.node)) cycles.push(group.sort(byBytes))
    }
  }
  return cycles.sort((a, b) => byBytes(a[0]!, b[0]!))
}
