import { describe, expect, it } from 'vitest'
import { mermaidGraph } from '../../src/keel/report/graph.ts'
import { graphPage } from '../../src/keel/report/graph-page.ts'

/** The page's own function that makes a row, with elements that are texts. */
function rowOf(arrow: string, id: string, edge: object): string {
  const page = graphPage({ on: true, nodes: [], edges: [], cycles: [] })
  const source = /const row = [\s\S]*?\n}\n/.exec(page)![0]
  const make = (_tag: string, _name?: string, text = '') => {
    const parts: unknown[] = [text]
    return { append: (...more: unknown[]) => void parts.push(...more), toString: () => parts.join('') }
  }
  return String(new Function('make', 'link', `${source}; return row`)(make, (name: string) => name)(arrow, id, edge))
}

describe('a row of the page', () => {
  const edge = { from: 'docs/quick.md', to: 'guide.md', anchor: 'Setup', section: 'Install', state: 'suspect', reason: 'changed' }

  it('has the anchor at the source and the section at the document', () => {
    expect(rowOf('→', 'docs/quick.md', edge)).toBe('#Setup → docs/quick.md § Install changed')
    expect(rowOf('←', 'guide.md', edge)).toBe('§ Install ← guide.md#Setup changed')
    expect(rowOf('→', 'docs/quick.md', { ...edge, anchor: null, section: null })).toBe('→ docs/quick.md changed')
  })

  it('is not needed to say that nothing is declared', () => {
    expect(mermaidGraph({ on: true, nodes: [], edges: [], cycles: [] })).toContain('no document here declares a source')
  })
})
