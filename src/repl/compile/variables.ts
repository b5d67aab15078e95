/** `let`, `const`, `var` and `using`: at the top of the cell they are names of the session, elsewhere what the language says. */
import { boundNames, findToken, identifierEnd, isAnonymousFunction, type Node } from './ast.ts'
import { eraseAnnotation, guardEnd } from './erase.ts'
import { declareLexical, visitPattern } from './functions.ts'
import { target } from './references.ts'
import { varScopeOf } from './scopes.ts'
import { lowerLoop } from './using.ts'
import { type Handler, Refusal, type Walk } from './walk.ts'

const quote = JSON.stringify

/** `{["a"]:a,["b"]:b}` */
const committed = (names: readonly string[]): string =>
  `{${[...new Set(names)].map(name => `[${quote(name)}]:${name}`).join(',')}}`

/** The end of a pattern without its annotation. */
function patternEnd(pattern: Node): number {
  const annotation = pattern['typeAnnotation'] as Node | null | undefined
  return annotation ? annotation.start : pattern.end
}

function equalsAfter(walk: Walk, declarator: Node): number {
  const found = findToken(walk.source, declarator['id'].end, '=')
  return found === -1 ? declarator['init'].start - 1 : found
}

/**
 * A pattern is the parameter of a function that is given the initialiser and returns what to commit: the initialiser is evaluated outside of the
 * pattern's scope, and nothing is committed unless the whole pattern succeeds.
 */
function commitPattern(walk: Walk, kind: string, from: number, declarator: Node, end: string): void {
  const { edits } = walk
  const pattern = declarator['id'] as Node
  const names = boundNames(pattern).map(name => name['name'] as string)
  const h = walk.usesHelpers()
  const equals = equalsAfter(walk, declarator)
  const before = walk.awaits
  const key = `d${walk.counter++}`
  const binding = { late: `${h}.keys.${key}`, depth: walk.depth, used: false }
  walk.within(true, () => {
    for (const name of names) walk.scope.names.set(name, binding)
    const annotation = pattern['typeAnnotation'] as Node | null | undefined
    if (annotation) walk.typeRanges.push([annotation.start, annotation.end])
    visitPattern(walk, { ...pattern, typeAnnotation: undefined, optional: false }, declarator)
  })
  edits.close(declarator.end, binding.used ? `,${quote(key)})${end}` : `)${end}`)
  if (walk.awaits > before) {
    edits.replace(from, pattern.start, `await ${h}.awaited(${quote(kind)},async(${h}_v)=>{const `)
    edits.replace(patternEnd(pattern), equals + 1, `=${h}_v;return${committed(names)}},`)
  } else {
    edits.replace(from, pattern.start, `${h}.pattern(${quote(kind)},(`)
    edits.replace(patternEnd(pattern), equals + 1, `)=>(${committed(names)}),`)
  }
  walk.visit(declarator['init'], declarator)
}

/** Top-level `let` and `const`: each declarator becomes a commit of its own. */
function commitLexical(walk: Walk, node: Node, start: number): void {
  const { edits } = walk
  const kind = node['kind'] as 'let' | 'const'
  let from = start
  for (const declarator of node['declarations'] as Node[]) {
    const id = declarator['id'] as Node
    const init = declarator['init'] as Node | null
    for (const name of boundNames(id)) walk.declare(name['name'], kind, name.start, declarator)
    if (id.type !== 'Identifier') commitPattern(walk, kind, from, declarator, ';')
    else if (init === null || init === undefined) {
      edits.replace(from, declarator.end, `${walk.usesHelpers()}.${kind}({[${quote(id['name'])}]:void 0});`)
      walk.typeRanges.push([id.start, id.end])
    } else {
      if (id['typeAnnotation']) walk.typeRanges.push([id['typeAnnotation'].start, id.end])
      edits.replace(from, equalsAfter(walk, declarator) + 1, `${walk.usesHelpers()}.${kind}({[${quote(id['name'])}]:`)
      edits.close(declarator.end, '});')
      walk.visit(init, declarator)
    }
    from = declarator.end
  }
}

/** Whether a pattern declares a name twice, which parameters must not. */
function hasDuplicates(names: readonly string[]): boolean {
  return new Set(names).size < names.length
}

/** Declarations become assignments to what was declared when the cell, or the namespace, started. */
export function assignVariables(
  walk: Walk,
  node: Node,
  start: number,
  parent: Node,
  declare: (name: Node, declarator: Node) => void,
): void {
  const { edits, source } = walk
  const declarators = node['declarations'] as Node[]
  const isHead = parent.type === 'ForStatement'
  edits.blank(start, declarators[0]!.start)
  let assigned = false
  let previous = declarators[0]!.start
  for (const declarator of declarators) {
    const id = declarator['id'] as Node
    const init = declarator['init'] as Node | null
    const names = boundNames(id)
    for (const name of names) declare(name, declarator)
    const has = init !== null && init !== undefined
    if (!(has && assigned)) edits.blank(previous, declarator.start)
    previous = declarator.end
    if (!has) {
      if (declarator !== declarators.at(-1) || assigned || isHead) edits.blank(declarator.start, declarator.end)
      continue
    }
    assigned = true
    if (id.type === 'Identifier') {
      walk.refer(id, 'value', true, isAnonymousFunction(init) ? init : undefined)
      if (needsParentheses(id['name'])) wrapName(walk, id)
      eraseAnnotation(walk, id)
      walk.visit(init, declarator)
    } else if (walk.depth > 0 || hasDuplicates(names.map(name => name['name'] as string))) {
      edits.open(id.start, 'void 0,(')
      edits.close(declarator.end, ')')
      target(walk, id, declarator, undefined)
      eraseAnnotation(walk, id)
      walk.visit(init, declarator)
    } else commitPattern(walk, 'var', id.start, declarator, '')
  }
  if (isHead) return
  if (assigned) {
    guardEnd(walk, node)
    return
  }
  // Nothing is left of the statement but its end.
  const last = declarators.at(-1)!
  const ends = source[node.end - 1] === ';'
  if (ends) edits.blank(last.start, last.end)
  else edits.replace(last.start, last.end, ';' + ' '.repeat(last.end - last.start - 1))
}

function declareVar(walk: Walk, name: Node, declarator: Node): void {
  walk.vars.add(name['name'])
  walk.declare(name['name'], 'var', name.start, declarator)
}

/** `for (async of …)` and `for (let in …)` would mean something else. */
function needsParentheses(name: string): boolean {
  return name === 'let' || name === 'async'
}

function wrapName(walk: Walk, id: Node): void {
  walk.edits.open(id.start, '(')
  walk.edits.close(identifierEnd(walk.source, id.start), ')')
}

/** `for (var x of y)`, `for (var x in y)`. */
function assignLoopVar(walk: Walk, node: Node, loop: Node): void {
  const { edits, source } = walk
  const declarator = node['declarations'][0] as Node
  const id = declarator['id'] as Node
  for (const name of boundNames(id)) declareVar(walk, name, declarator)
  edits.blank(node.start, id.start)
  if (id.type === 'Identifier' && needsParentheses(id['name'])) wrapName(walk, id)
  target(walk, id, declarator, undefined)
  eraseAnnotation(walk, id)
  const init = declarator['init'] as Node | null
  if (init === null || init === undefined) return
  // `for (var i = 0 in …)`: the initialiser runs once, before the object is evaluated.
  edits.blank(id.end, declarator.end)
  edits.open(loop['right'].start, `(${id['name']}=${source.slice(init.start, init.end)},`)
  edits.close(loop['right'].end, ')')
}

/** A declaration that is not the session's. */
function visitLocal(walk: Walk, node: Node, parent: Node): void {
  const isVar = node['kind'] === 'var'
  for (const declarator of node['declarations'] as Node[]) {
    const id = declarator['id'] as Node
    if (isVar) {
      const scope = varScopeOf(walk.scope)
      for (const name of boundNames(id)) if (!scope.names.has(name['name'])) scope.names.set(name['name'], undefined)
    }
    visitPattern(walk, id, declarator)
    walk.visit(declarator['init'], declarator)
  }
  if (!parent.type.startsWith('For')) guardEnd(walk, node)
}

/** Top-level `using`: a variable of the wrapper, which disposes it when the cell ends. */
function keepUsing(walk: Walk, node: Node, parent: Node): void {
  for (const declarator of node['declarations'] as Node[]) {
    for (const name of boundNames(declarator['id'])) {
      if (walk.isReserved(name['name'])) throw new Refusal('OUT-N001', `'${name['name']}' is reserved.`, name.start)
      walk.locals.add(name['name'])
      walk.root.names.set(name['name'], undefined)
    }
  }
  if (node['kind'] === 'await using') walk.awaits++
  visitLocal(walk, node, parent)
}

/**
 * @param start - where the declaration begins, an `export` before it included.
 * @param parent - the list or loop that holds it.
 */
export function visitVariables(walk: Walk, node: Node, parent: Node, start: number = node.start): void {
  if (node['declare'] === true) {
    walk.edits.blankStatement(start, node.end)
    walk.typeRanges.push([start, node.end])
    return
  }
  const kind = node['kind'] as string
  if (kind === 'var' && walk.depth === 0) {
    if (parent.type === 'ForInStatement' || parent.type === 'ForOfStatement') assignLoopVar(walk, node, parent)
    else assignVariables(walk, node, start, parent, (name, declarator) => declareVar(walk, name, declarator))
  } else if (parent.type === 'Program' && (kind === 'let' || kind === 'const')) commitLexical(walk, node, start)
  else if (parent.type === 'Program' && kind !== 'var') keepUsing(walk, node, parent)
  else visitLocal(walk, node, parent)
}

const loop: Handler = (walk, node) => {
  walk.within(false, () => {
    const left = node['left'] as Node
    lowerLoop(walk, node)
    if (node['await'] === true && walk.depth === 0) walk.awaits++
    if (left.type === 'VariableDeclaration') {
      declareLexical(walk, [left])
      visitVariables(walk, left, node)
    } else target(walk, left, node, undefined)
    walk.visit(node['right'], node)
    walk.visit(node['body'], node)
  })
}

export const variableHandlers: Readonly<Record<string, Handler>> = {
  VariableDeclaration: (walk, node, parent) => visitVariables(walk, node, parent),
  ForInStatement: loop,
  ForOfStatement: loop,
}
