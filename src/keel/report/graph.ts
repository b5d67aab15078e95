/** A graph as Mermaid, DOT, or one HTML file that loads nothing. Every name is escaped for its form. Pure. */
import { withoutDirectionSigns } from '../../text/data.ts'
import type { GraphOutput } from '../verbs/graph.ts'
import { graphPage } from './graph-page.ts'

interface Arrow {
  readonly from: number
  readonly to: number
  readonly isSuspect: boolean
}

/** Each pair of files once; a pair with one suspect edge is suspect. */
function arrowsOf({ nodes, edges }: GraphOutput): readonly Arrow[] {
  const index = new Map(nodes.map((node, at) => [node.id, at]))
  const arrows = new Map<string, Arrow>()
  for (const edge of edges) {
    const from = index.get(edge.to)!
    const to = index.get(edge.from)!
    const key = `${from} ${to}`
    const isSuspect = edge.state === 'suspect' || arrows.get(key)?.isSuspect === true
    arrows.set(key, { from, to, isSuspect })
  }
  return [...arrows.values()].sort((a, b) => a.from - b.from || a.to - b.to)
}

export function mermaidGraph(output: GraphOutput): string {
  return [
    'flowchart LR',
    ...(output.nodes.length === 0 ? ['  %% no document here declares a source'] : []),
    ...output.nodes.map((node, index) => `  n${index}["${mermaidText(node.id)}"]`),
    ...arrowsOf(output).map(({ from, to }) => `  n${from} --> n${to}`),
    '',
  ].join('\n')
}

/** Entities are the only escapes that Mermaid knows inside quotes; `#` would begin one. */
function mermaidText(text: string): string {
  return oneLine(text).replaceAll('#', '#35;').replaceAll('"', '#quot;').replaceAll('<', '#lt;').replaceAll('>', '#gt;')
}

export function dotGraph(output: GraphOutput): string {
  const colour = { clean: '', unverified: ' [color=gray50]', chain: ' [color=darkorange]', suspect: ' [color=red]' } as const
  return [
    'digraph keel {',
    '  rankdir=LR;',
    '  node [shape=box];',
    ...output.nodes.map(node => `  ${dotId(node.id)}${node.missing ? ' [style=dashed]' : colour[node.state]};`),
    ...arrowsOf(output).map(
      ({ from, to, isSuspect }) =>
        `  ${dotId(output.nodes[from]!.id)} -> ${dotId(output.nodes[to]!.id)}${isSuspect ? ' [color=red]' : ''};`,
    ),
    '}',
    '',
  ].join('\n')
}

function dotId(text: string): string {
  return `"${oneLine(text).replace(/[\\"]/g, sign => `\\${sign}`)}"`
}

function oneLine(text: string): string {
  return withoutDirectionSigns(text).replace(/[\u0000-\u001f\u007f\u2028\u2029]/g, '\ufffd')
}

export function htmlGraph(output: GraphOutput): string {
  return graphPage(output)
}
