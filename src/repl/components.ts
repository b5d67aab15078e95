/**
 * Which names may share objects, and when each was last touched, at any time of a path. Names that one cell touches are united; two values can share
 * state only within a component. Older times can be asked for, because unions remember when they were made.
 */

interface Node {
  readonly name: string
  parent: Node | undefined
  /** When it was hung below its parent. */
  linkedAt: number
  /** Ascending; of its component, as long as it was the root. */
  readonly touchedAt: number[]
  size: number
}

/** Times are numbers of cells and only grow. */
export class Components {
  readonly #nodes = new Map<string, Node>()

  /** Unite the names at that time and note that all of their component were touched. */
  touch(names: Iterable<string>, time: number): void {
    let root: Node | undefined
    for (const name of names) {
      const own = this.#root(this.#node(name), Number.POSITIVE_INFINITY)
      root = root === undefined ? own : unite(root, own, time)
    }
    if (root !== undefined && root.touchedAt.at(-1) !== time) root.touchedAt.push(time)
  }

  /** When the component that the name was in at `time` was touched last, until then; 0 when never. */
  lastTouch(name: string, time: number): number {
    const node = this.#nodes.get(name)
    if (node === undefined) return 0
    return newestUntil(this.#root(node, time).touchedAt, time)
  }

  /** Two names are in one component when these are the same. `undefined` for a name that was never touched. */
  componentOf(name: string, time: number = Number.POSITIVE_INFINITY): object | undefined {
    const node = this.#nodes.get(name)
    return node === undefined ? undefined : this.#root(node, time)
  }

  /** The components as they are now; names in order of their first touch. */
  groups(): readonly (readonly string[])[] {
    const groups = new Map<Node, string[]>()
    for (const [name, node] of this.#nodes) {
      const root = this.#root(node, Number.POSITIVE_INFINITY)
      const group = groups.get(root)
      if (group === undefined) groups.set(root, [name])
      else group.push(name)
    }
    return [...groups.values()]
  }

  #node(name: string): Node {
    const known = this.#nodes.get(name)
    if (known !== undefined) return known
    const node: Node = { name, parent: undefined, linkedAt: 0, touchedAt: [], size: 1 }
    this.#nodes.set(name, node)
    return node
  }

  #root(node: Node, time: number): Node {
    let at = node
    while (at.parent !== undefined && at.linkedAt <= time) at = at.parent
    return at
  }
}

/** The smaller below the larger, so that no chain is longer than the logarithm of the names. */
function unite(a: Node, b: Node, time: number): Node {
  if (a === b) return a
  const [under, over] = a.size < b.size ? [a, b] : [b, a]
  under.parent = over
  under.linkedAt = time
  over.size += under.size
  return over
}

/** The largest that is at most `limit`; 0 when there is none. */
function newestUntil(ascending: readonly number[], limit: number): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ascending[middle]! <= limit) low = middle + 1
    else high = middle
  }
  return low === 0 ? 0 : ascending[low - 1]!
}
