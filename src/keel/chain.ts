/**
 * Chains: an edge that is fine itself, but whose source is a document with a suspect edge in the part
 * that the edge was written from. Shown, never a failure by themselves.
 */
import { byBytes } from './impact.ts'
import type { ChainLink, Span } from './types.ts'

/** What a chain needs to know of an edge. */
export interface ChainNode {
  readonly id: string
  readonly child: string
  readonly target: string | null
  /** Shown as the root when the edge names no file. */
  readonly ref: string
  readonly isSuspect: boolean
  /** Of the edge in its child; `null`: the whole file. */
  readonly scope: Span | null
  /** What the edge was written from in its target; `null`: the whole file. */
  readonly slice: Span | null
}

/** An edge with many suspect roots names this many, so that a sweep stays linear. */
export const maxChainLinks: number = 8

interface Root {
  readonly node: ChainNode
  readonly root: string
  readonly edge: string
}

/** Links of every chained edge by its position in `nodes`; edges without any are left out. */
export function chainsOf(nodes: readonly ChainNode[]): ReadonlyMap<number, readonly ChainLink[]> {
  const suspects = nodes.filter(node => node.isSuspect)
  const links = new Map<number, ChainLink[]>()
  if (suspects.length === 0) return links
  const readers = readersOf(nodes)
  const queue: Root[] = suspects.map(node => ({ node, root: node.target ?? node.ref, edge: node.id }))
  for (let at = 0; at < queue.length; at += 1) {
    const { node, root, edge } = queue[at]!
    const waiting = readers.get(node.child)
    if (waiting === undefined) continue
    const stillWaiting: number[] = []
    for (const index of waiting) {
      const reader = nodes[index]!
      const held = links.get(index) ?? []
      if (overlaps(node.scope, reader.slice) && !held.some(link => link.edge === edge)) {
        held.push({ via: node.child, root, edge })
        links.set(index, held)
        queue.push({ node: reader, root, edge })
      }
      if (held.length < maxChainLinks) stillWaiting.push(index)
    }
    readers.set(node.child, stillWaiting)
  }
  for (const held of links.values()) held.sort((a, b) => byBytes(a.root, b.root) || byBytes(a.edge, b.edge))
  return links
}

function readersOf(nodes: readonly ChainNode[]): Map<string, number[]> {
  const readers = new Map<string, number[]>()
  nodes.forEach(({ target, isSuspect }, index) => {
    if (target === null || isSuspect) return
    const known = readers.get(target)
    if (known === undefined) readers.set(target, [index])
    else known.push(index)
  })
  return readers
}

/** The whole file overlaps everything; sections overlap themselves and those around and inside them. */
function overlaps(a: Span | null, b: Span | null): boolean {
  return a === null || b === null || (a.start < b.end && b.start < a.end)
}
