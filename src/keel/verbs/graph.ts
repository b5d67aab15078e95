/** `graph`: documents and sources as a picture or as data. Arrows run from a source to what was written from it. */
import { OutriggerError } from '../../errors.ts'
import type { Caller, Operation } from '../../session/operation.ts'
import { cyclesOf } from '../cycles.ts'
import type { KeelDeps } from '../deps.ts'
import { dotGraph, htmlGraph, mermaidGraph } from '../report/graph.ts'
import type { Edge, EdgeState, KeelProject, SuspectReason } from '../types.ts'
import { type Answer, decoder, formatField, inTurn, isOn, type KeelVerbs, knownFile, outField, sweep } from './shared.ts'

export interface GraphInput {
  readonly path?: string
  readonly direction?: 'up' | 'down' | 'both'
  readonly depth?: number
  readonly suspects?: boolean
  readonly format?: 'mermaid' | 'dot' | 'json' | 'html'
  readonly out?: string
}

type NodeState = 'clean' | 'unverified' | 'chain' | 'suspect'

interface GraphNode {
  /** Path, or the reference when it names no file. */
  readonly id: string
  readonly child: boolean
  readonly source: boolean
  readonly state: NodeState
  readonly missing: boolean
}

interface GraphEdge {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly anchor: string | null
  /** The section of the document that names the source; `null`: the whole document. */
  readonly section: string | null
  readonly state: EdgeState
  readonly reason: SuspectReason | null
}

export interface GraphOutput extends Answer {
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
  readonly cycles: readonly (readonly string[])[]
}

const input = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'only what hangs together with this file', maxLength: 4096 },
    direction: {
      type: 'string',
      description: 'from that file: up to its sources, down to what derives from it, or both',
      enum: ['up', 'down', 'both'],
      default: 'both',
    },
    depth: { type: 'integer', description: 'steps from that file', minimum: 1, maximum: 1000 },
    suspects: { type: 'boolean', description: 'only edges that are behind' },
    format: formatField(['mermaid', 'dot', 'json', 'html']),
    out: outField,
  },
  additionalProperties: false,
} as const

export function graphOperation(verbs: KeelVerbs): Operation<GraphInput, GraphOutput> {
  return {
    name: 'keel.graph',
    summary: 'Draws which documents derive from which sources.',
    input,
    positional: ['path'],
    readOnly: true,
    decode: decoder<GraphInput>(input),
    run: (given, caller) => inTurn(verbs, (keel, deps) => graph(keel, deps, given, caller)),
    render: mermaidGraph,
    formats: { mermaid: mermaidGraph, dot: dotGraph, html: htmlGraph },
    examples: ['outrigger keel graph --format html --out graph.html', 'outrigger keel graph src/job.ts --direction down'],
  }
}

async function graph(keel: KeelProject, deps: KeelDeps, given: GraphInput, caller: Caller): Promise<GraphOutput> {
  const { edges } = await sweep(keel, caller)
  if (given.path === undefined && given.depth !== undefined) {
    throw new OutriggerError('BAD_INPUT', 'a depth needs a file to count from', { subject: 'depth', hint: 'give a PATH' })
  }
  const start = given.path === undefined ? undefined : knownFile(given.path, keel, deps, caller)
  const near =
    start === undefined ? edges : around(edges, start, given.direction ?? 'both', given.depth ?? Number.POSITIVE_INFINITY)
  const wanted = given.suspects === true ? near.filter(edge => edge.state === 'suspect') : near
  return { on: isOn(keel), ...graphOf(wanted, start) }
}

/** The edges that are reached from a file within `depth` steps. */
function around(edges: readonly Edge[], start: string, direction: 'up' | 'down' | 'both', depth: number): readonly Edge[] {
  const kept = new Set<Edge>()
  const follow = (fromOf: (edge: Edge) => string, toOf: (edge: Edge) => string): void => {
    const byFrom = Map.groupBy(edges, fromOf)
    const seen = new Set([start])
    let level = [start]
    for (let step = 0; step < depth && level.length > 0; step++) {
      const next: string[] = []
      for (const node of level) {
        for (const edge of byFrom.get(node) ?? []) {
          kept.add(edge)
          const to = toOf(edge)
          if (!seen.has(to)) {
            seen.add(to)
            next.push(to)
          }
        }
      }
      level = next
    }
  }
  if (direction !== 'down') follow(edge => edge.child, sourceNode)
  if (direction !== 'up') follow(sourceNode, edge => edge.child)
  return edges.filter(edge => kept.has(edge))
}

/** Nodes in the order of their ids; `alone` is there also without an edge. */
export function graphOf(edges: readonly Edge[], alone?: string): Pick<GraphOutput, 'nodes' | 'edges' | 'cycles'> {
  const nodes = new Map<string, { child: boolean; source: boolean; state: NodeState; missing: boolean }>()
  const nodeOf = (id: string): { child: boolean; source: boolean; state: NodeState; missing: boolean } => {
    const known = nodes.get(id)
    if (known !== undefined) return known
    const made = { child: false, source: false, state: 'clean' as NodeState, missing: false }
    nodes.set(id, made)
    return made
  }
  if (alone !== undefined) nodeOf(alone)
  for (const edge of edges) {
    const child = nodeOf(edge.child)
    child.child = true
    child.state = worse(child.state, stateOf(edge))
    const source = nodeOf(sourceNode(edge))
    source.source = true
    source.missing ||= isMissing(edge)
  }
  return {
    nodes: [...nodes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, node]) => ({ id, ...node })),
    edges: edges.map(edge => ({
      id: edge.id,
      from: edge.child,
      to: sourceNode(edge),
      anchor: edge.anchor,
      section: edge.scope.type === 'section' ? edge.scope.heading : null,
      state: edge.state,
      reason: edge.reason,
    })),
    cycles: cyclesOf(edges),
  }
}

function sourceNode(edge: Edge): string {
  return edge.target ?? (edge.kind === 'wikilink' ? `[[${edge.ref}]]` : edge.ref)
}

function isMissing(edge: Edge): boolean {
  if (edge.reason === 'source-missing' || edge.reason === 'source-moved') return true
  return edge.target === null && edge.kind !== 'url'
}

const order: readonly NodeState[] = ['clean', 'unverified', 'chain', 'suspect']

function worse(a: NodeState, b: NodeState): NodeState {
  return order.indexOf(a) >= order.indexOf(b) ? a : b
}

function stateOf(edge: Edge): NodeState {
  if (edge.state === 'suspect') return 'suspect'
  if (edge.chain.length > 0) return 'chain'
  return edge.class === 'unverified' ? 'unverified' : 'clean'
}
