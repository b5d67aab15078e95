/** Declarations of Python files, from Lezer's tree. */
import type { SyntaxNode } from '@lezer/common'
import { type Declaration, maxDepth, type SymbolKind } from './outline.ts'

export function walkPython(top: SyntaxNode, text: string): readonly Declaration[] {
  const found: Declaration[] = []
  bodyInto(top, { text, inFunction: false, depth: 0, position: { at: 0 }, found })
  return found
}

interface Scope {
  readonly text: string
  /** Inside a function only definitions are names; what it assigns is its own. */
  readonly inFunction: boolean
  readonly depth: number
  readonly position: { at: number }
  readonly found: Declaration[]
}

/** Statements whose bodies belong to the scope around them. */
const transparent: ReadonlySet<string> = new Set([
  'IfStatement',
  'TryStatement',
  'WithStatement',
  'ForStatement',
  'WhileStatement',
  'StatementGroup',
])

function bodyInto(body: SyntaxNode, scope: Scope): void {
  // The bodies of one `if` are no neighbours of one another.
  scope.position.at += 1
  for (const node of childrenOf(body)) {
    if ([':', ';', 'Comment'].includes(node.name)) continue
    scope.position.at += 1
    statement(node, node, scope)
  }
}

/** @param outer - the statement with its decorators. */
function statement(node: SyntaxNode, outer: SyntaxNode, scope: Scope): void {
  if (transparent.has(node.name)) {
    if (scope.depth >= maxDepth) return
    const deeper = { ...scope, depth: scope.depth + 1 }
    if (node.name === 'StatementGroup') bodyInto(node, deeper)
    else for (const body of node.getChildren('Body')) bodyInto(body, deeper)
    return
  }
  switch (node.name) {
    case 'DecoratedStatement': {
      const inner = node.lastChild
      if (inner !== null && inner.name !== 'DecoratedStatement') statement(inner, outer, scope)
      return
    }
    case 'FunctionDefinition':
      define(node, outer, 'function', scope)
      return
    case 'ClassDefinition':
      define(node, outer, 'class', scope)
      return
    case 'TypeDefinition':
      if (!scope.inFunction) define(node, outer, 'type', scope)
      return
    case 'AssignStatement':
      if (scope.inFunction) return
      for (const name of assignedNames(node, scope.text)) {
        scope.found.push(declaration(name, 'variable', outer, [], scope))
      }
      return
    default:
      return
  }
}

function define(node: SyntaxNode, outer: SyntaxNode, kind: SymbolKind, scope: Scope): void {
  const name = node.getChild('VariableName')
  if (name === null) return
  const members: Declaration[] = []
  const body = node.getChild('Body')
  if (body !== null && scope.depth < maxDepth) {
    const inFunction = kind === 'function'
    bodyInto(body, { ...scope, inFunction, depth: scope.depth + 1, position: { at: 0 }, found: members })
  }
  scope.found.push(declaration(scope.text.slice(name.from, name.to), kind, outer, members, scope))
}

/** Names left of the last `=`; all of an annotation without value. */
function assignedNames(node: SyntaxNode, text: string): readonly string[] {
  const children = childrenOf(node)
  const lastAssign = children.findLastIndex(child => child.name === 'AssignOp')
  const targets = lastAssign < 0 ? children : children.slice(0, lastAssign)
  return [...new Set(targets.flatMap(target => namesIn(target, text, 0)))]
}

function namesIn(target: SyntaxNode, text: string, depth: number): readonly string[] {
  if (target.name === 'VariableName') return [text.slice(target.from, target.to)]
  const isList = ['ArrayExpression', 'TupleExpression', 'ParenthesizedExpression'].includes(target.name)
  return isList && depth < maxDepth ? childrenOf(target).flatMap(child => namesIn(child, text, depth + 1)) : []
}

function declaration(
  name: string,
  kind: SymbolKind,
  outer: SyntaxNode,
  members: readonly Declaration[],
  scope: Scope,
): Declaration {
  return { name, kind, from: outer.from, to: outer.to, exported: !name.startsWith('_'), members, at: scope.position.at }
}

function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  const children: SyntaxNode[] = []
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child)
  return children
}
