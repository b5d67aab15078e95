/** Classes with standard decorators, and JSX, go through Babel, which is loaded for the first such cell; everything around them stays as it is. */
import { eachChild, type Node } from './ast.ts'
import { Output } from './edits.ts'
import { lineStarts, type Segment } from './positions.ts'
import type { Handler, SecondPart, Walk } from './walk.ts'

type Transform = (code: string) => { readonly code: string; readonly mappings: readonly (readonly (readonly number[])[])[] }

let loaded: Promise<Transform> | undefined

const jsxHandler: Handler = (walk, node) => {
  const isOutermost = !walk.inSecond
  walk.inSecond = true
  const before = walk.awaits
  eachChild(node, child => walk.visit(child, node))
  if (!isOutermost) return
  walk.inSecond = false
  walk.second.push({ node, awaits: walk.awaits > before })
  walk.note({ kind: 'lowered', description: 'JSX became calls of react/jsx-runtime' })
}

/** A component is a variable; a name in lower case is a tag. */
const jsxTag: Handler = (walk, node) => {
  let root = node['name'] as Node
  const isMember = root.type === 'JSXMemberExpression'
  while (root.type === 'JSXMemberExpression') root = root['object']
  if (root.type === 'JSXIdentifier' && (isMember || /^[A-Z_$]/.test(root['name']))) walk.refer(root)
  walk.visitAll(node['attributes'], node)
}

export const jsxHandlers: Readonly<Record<string, Handler>> = {
  JSXElement: jsxHandler,
  JSXFragment: jsxHandler,
  JSXOpeningElement: jsxTag,
  JSXClosingElement: jsxTag,
}

async function load(): Promise<Transform> {
  const [babel, decorators, jsx] = await Promise.all([
    import('@babel/core'),
    import('@babel/plugin-proposal-decorators'),
    import('@babel/plugin-transform-react-jsx'),
  ])
  return code => {
    const result = babel.transformSync(code, {
      configFile: false,
      babelrc: false,
      browserslistConfigFile: false,
      sourceType: 'script',
      compact: false,
      retainLines: true,
      sourceMaps: true,
      parserOpts: {
        allowAwaitOutsideFunction: true,
        allowReturnOutsideFunction: true,
        allowSuperOutsideMethod: true,
        allowNewTargetOutsideFunction: true,
      },
      plugins: [
        [decorators.default, { version: '2023-11' }],
        [jsx.default, { runtime: 'automatic' }],
      ],
    })
    const map = result?.map
    return { code: result?.code ?? '', mappings: decodeMappings(map?.mappings ?? '') }
  }
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const digitValues = new Map([...digits].map((digit, index) => [digit, index]))

/** Lines of `[generatedColumn, sourceLine, sourceColumn]`, all from 0, of a source map with one source. */
export function decodeMappings(text: string): number[][][] {
  let line = 0
  let column = 0
  return text.split(';').map(group => {
    let generated = 0
    const entries: number[][] = []
    for (const entry of group.split(',')) {
      const values = decodeEntry(entry)
      generated += values[0] ?? 0
      if (values.length < 4) continue
      line += values[2]!
      column += values[3]!
      entries.push([generated, line, column])
    }
    return entries
  })
}

function decodeEntry(text: string): number[] {
  const values: number[] = []
  let value = 0
  let shift = 0
  for (const digit of text) {
    const bits = digitValues.get(digit) ?? 0
    value |= (bits & 31) << shift
    shift += 5
    if ((bits & 32) !== 0) continue
    values.push((value & 1) === 1 ? -(value >>> 1) : value >>> 1)
    value = 0
    shift = 0
  }
  return values
}

/** Put what the second compiler makes of each part in its place. */
export async function transformParts(walk: Walk): Promise<void> {
  loaded ??= load()
  const transform = await loaded
  for (const part of walk.second.toSorted((a, b) => b.node.start - a.node.start)) transformOne(walk, part, transform)
}

const prefix = 'return '

function transformOne(walk: Walk, { node, awaits }: SecondPart, transform: Transform): void {
  const part = new Output()
  part.add(prefix)
  walk.edits.renderPart(part, node.start, node.end)
  const made = transform(part.code)
  const partMap = part.map(walk.source, 0)
  const partStarts = lineStarts(part.code)
  const madeStarts = lineStarts(made.code)
  const before = awaits ? '(await (async()=>{' : '(()=>{'
  const segments: Segment[] = []
  for (const [line, entries] of made.mappings.entries()) {
    for (const [generatedColumn, sourceLine, sourceColumn] of entries) {
      const source = partMap.toSource(partStarts[sourceLine!]! + sourceColumn!)
      if (source === undefined || madeStarts[line] === undefined) continue
      segments.push({ generated: before.length + madeStarts[line] + generatedColumn!, source, length: 1, exact: false })
    }
  }
  const text = `${before}${made.code}\n})()${awaits ? ')' : ''}`
  const extended = segments.map((segment, index) => ({
    ...segment,
    length: (segments[index + 1]?.generated ?? text.length) - segment.generated,
  }))
  walk.edits.replaceMade(node.start, node.end, text, extended)
}
