import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ChainNode, chainsOf, maxChainLinks } from '../../src/keel/chain.ts'
import { cyclesOf } from '../../src/keel/cycles.ts'
import { impactOf } from '../../src/keel/impact.ts'

const edge = (child: string, target: string | null) => ({ child, target })

/** Which files can be reached from one, by walking. */
function reached(edges: readonly { child: string; target: string | null }[], from: string): ReadonlySet<string> {
  const seen = new Set<string>()
  const open = [from]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const { child, target } of edges) {
      if (target !== at || seen.has(child)) continue
      seen.add(child)
      open.push(child)
    }
  }
  return seen
}

const graphs = fc.array(fc.record({ child: fc.constantFrom(...'abcdefg'), target: fc.option(fc.constantFrom(...'abcdefg')) }), {
  maxLength: 14,
})

describe('cycles', () => {
  it('are the files that derive from one another, whatever the graph', () => {
    fc.assert(
      fc.property(graphs, edges => {
        const names = [...'abcdefg']
        const inCycle = names.filter(name => reached(edges, name).has(name))
        const groups = new Map<string, string[]>()
        for (const name of inCycle) {
          const mates = inCycle.filter(other => reached(edges, name).has(other) && reached(edges, other).has(name))
          groups.set(mates.join(), mates)
        }
        expect(cyclesOf(edges)).toEqual([...groups.values()].sort((a, b) => (a[0]! < b[0]! ? -1 : 1)))
      }),
    )
  })

  it('of a chain of 100,000 documents do not exhaust the stack', () => {
    const chain = Array.from({ length: 100_000 }, (_, at) => edge(`n${at + 1}`, `n${at}`))
    expect(cyclesOf(chain)).toEqual([])
    expect(cyclesOf([...chain, edge('n0', 'n100000')])[0]).toHaveLength(100_001)
  })
})

describe('impact', () => {
  it('is what can be reached, nearest first, each once, over a way that exists', () => {
    fc.assert(
      fc.property(graphs, edges => {
        const found = impactOf(edges, 'a')
        const expected = reached(edges, 'a')
        expect(new Set(found.map(one => one.path))).toEqual(new Set([...expected].filter(path => path !== 'a')))
        found.forEach(({ path, depth, via }, at) => {
          expect(via).toHaveLength(depth - 1)
          if (at > 0) expect(depth).toBeGreaterThanOrEqual(found[at - 1]!.depth)
          const way = ['a', ...via, path]
          for (const [step, child] of way.slice(1).entries()) {
            expect(edges.some(one => one.child === child && one.target === way[step])).toBe(true)
          }
        })
      }),
    )
  })
})

describe('chains', () => {
  const node = (id: string, child: string, target: string, rest: Partial<ChainNode> = {}): ChainNode => ({
    id,
    child,
    target,
    ref: target,
    isSuspect: false,
    scope: null,
    slice: null,
    ...rest,
  })
  const span = (start: number, end: number) => ({ start, end })

  it('lead from a suspect over any number of documents, by its root', () => {
    const nodes = [node('1', 'b', 'a', { isSuspect: true }), node('2', 'c', 'b'), node('3', 'd', 'c'), node('4', 'x', 'y')]
    expect([...chainsOf(nodes)]).toEqual([
      [1, [{ via: 'b', root: 'a', edge: '1' }]],
      [2, [{ via: 'c', root: 'a', edge: '1' }]],
    ])
  })

  it('need the suspect part to be the part that was written from', () => {
    const suspect = node('1', 'b', 'a', { isSuspect: true, scope: span(10, 20) })
    const slices = [null, span(10, 20), span(0, 30), span(12, 14), span(0, 10), span(20, 30)]
    const chained = slices.map(slice => chainsOf([suspect, node('2', 'c', 'b', { slice })]).has(1))
    expect(chained).toEqual([true, true, true, true, false, false])
  })

  it('end in cycles, and name a bounded number of roots', () => {
    const loop = [node('1', 'b', 'a', { isSuspect: true }), node('2', 'c', 'b'), node('3', 'd', 'c'), node('4', 'c', 'd')]
    expect(chainsOf(loop).get(3)).toEqual([{ via: 'd', root: 'a', edge: '1' }])
    const many = Array.from({ length: 5000 }, (_, at) => node(`s${at}`, 'b', `a${at}`, { isSuspect: true }))
    const readers = Array.from({ length: 5000 }, (_, at) => node(`r${at}`, `c${at}`, 'b'))
    expect(chainsOf([...many, ...readers]).get(5000)).toHaveLength(maxChainLinks)
  })
})
