/** `using` and `await using` where the engine lacks them: what is declared goes on a list, and the rest of the block stands in `try`. */
import type { Node } from './ast.ts'
import type { Walk } from './walk.ts'

const isUsing = (node: Node): boolean =>
  node.type === 'VariableDeclaration' && (node['kind'] === 'using' || node['kind'] === 'await using')

let engineLacksUsing: boolean | undefined

/** Whether the declaration is lowered: asked for, or the engine does not know it. */
function isLowered(walk: Walk): boolean {
  if (walk.request.lowerUsing !== undefined) return walk.request.lowerUsing
  engineLacksUsing ??= !canCompile('{ using x = null }')
  return engineLacksUsing
}

function canCompile(text: string): boolean {
  try {
    new Function(text)
    return true
  } catch {
    return false
  }
}

/** Whether the statements, which share a scope, declare something to dispose. */
export function findUsing(walk: Walk, statements: readonly Node[]): 'none' | 'sync' | 'async' {
  const found = statements.filter(isUsing)
  if (found.length === 0 || !isLowered(walk)) return 'none'
  return found.some(node => node['kind'] === 'await using') ? 'async' : 'sync'
}

/** Text before and after the statements of a scope that disposes. */
export function disposing(
  walk: Walk,
  kind: 'sync' | 'async',
): { readonly before: string; readonly after: string; readonly list: string } {
  const h = walk.usesHelpers()
  const list = `${h}_u${walk.counter++}`
  const dispose = kind === 'async' ? `await ${list}.disposeAsync()` : `${list}.dispose()`
  walk.note({ kind: 'lowered', description: 'using became a list of what to dispose' })
  return {
    list,
    before: `const ${list}=${h}.disposables();try{`,
    after: `\n}catch(${list}_e){${list}.fail(${list}_e)}finally{${dispose}}`,
  }
}

/** Wrap the statements between two offsets. */
export function wrapUsing(walk: Walk, statements: readonly Node[], start: number, end: number): void {
  const kind = findUsing(walk, statements)
  if (kind === 'none') return
  const { before, after, list } = disposing(walk, kind)
  walk.edits.open(start, before)
  walk.edits.close(end, after)
  for (const statement of statements) if (isUsing(statement)) lowerDeclaration(walk, statement, list)
}

/** `using x = e` becomes `const x = list.use(e)`. */
export function lowerDeclaration(walk: Walk, node: Node, list: string): void {
  const isAsync = node['kind'] === 'await using'
  const declarators = node['declarations'] as Node[]
  walk.edits.replace(node.start, declarators[0]!['id'].start, 'const ')
  for (const declarator of declarators) {
    const init = declarator['init'] as Node | null
    if (init === null || init === undefined) continue
    const at = init['extra']?.parenStart ?? init.start
    walk.edits.open(at, `${list}.use(`)
    walk.edits.close(declarator.end, isAsync ? ',true)' : ')')
  }
}

/** `for (using x of y) body` becomes `for (const x of y) { … body }`. */
export function lowerLoop(walk: Walk, loop: Node): void {
  const left = loop['left'] as Node
  if (!isUsing(left) || !isLowered(walk)) return
  const kind = left['kind'] === 'await using' ? 'async' : 'sync'
  const name = left['declarations'][0]['id'] as Node
  const { before, after, list } = disposing(walk, kind)
  const body = loop['body'] as Node
  walk.edits.replace(left.start, name.start, 'const ')
  walk.edits.open(body.start, `{${before}${list}.use(${name['name']}${kind === 'async' ? ',true' : ''});`)
  walk.edits.close(body.end, `${after}}`)
}
