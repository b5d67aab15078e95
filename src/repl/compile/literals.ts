/**
 * Function and class literals of a cell, and which of them are open: their free names are names of the session and the platform only, so that the same text
 * evaluated again makes the same.
 */
import type { Node } from './ast.ts'
import type { Literal } from './program.ts'

/** One that is being walked. Methods count as functions around what is in them, and are no literals themselves. */
export interface OpenLiteral {
  readonly parent: OpenLiteral | undefined
  readonly node: Node
  readonly kind: 'function' | 'arrow' | 'class' | 'method'
  /** Scopes around it. */
  readonly depth: number
  /** Evaluated at most once when the cell runs. */
  readonly once: boolean
  isOpen: boolean
  readonly free: Set<string>
}

const loops: ReadonlySet<string> = new Set([
  'ForStatement',
  'ForInStatement',
  'ForOfStatement',
  'WhileStatement',
  'DoWhileStatement',
])

export const isLoop = (type: string): boolean => loops.has(type)

/** A reference was resolved in a scope of that depth: literals inside of it use what only it has. */
export function closeOver(literal: OpenLiteral | undefined, scopeDepth: number): void {
  for (let at = literal; at !== undefined && at.depth >= scopeDepth; at = at.parent) at.isOpen = false
}

/** `this`, `arguments`, `super`, `new.target`: arrow functions have those of the function around them. */
export function usesReceiver(literal: OpenLiteral | undefined): void {
  let owner = literal
  while (owner?.kind === 'arrow') owner = owner.parent
  // At the top of the cell `this` is the global object wherever the text stands.
  if (owner === undefined) return
  for (let at = literal; at !== owner; at = at!.parent) at!.isOpen = false
}

/** A private name belongs to the class around it. */
export function usesPrivateName(literal: OpenLiteral | undefined): void {
  for (let at = literal; at !== undefined && at.kind !== 'class'; at = at.parent) at.isOpen = false
}

/** The free names of a literal, or none of it, may be anything. */
export function closeAll(literal: OpenLiteral | undefined): void {
  for (let at = literal; at !== undefined; at = at.parent) at.isOpen = false
}

const plainKeys: ReadonlySet<string> = new Set(['Identifier', 'StringLiteral', 'NumericLiteral', 'PrivateName', 'BigIntLiteral'])
const plainValues: ReadonlySet<string> = new Set([
  'StringLiteral',
  'NumericLiteral',
  'BooleanLiteral',
  'NullLiteral',
  'BigIntLiteral',
])

/** What a class evaluates besides its methods does not depend on when that is. */
export function isPlainClass(node: Node): boolean {
  const superClass = node['superClass'] as Node | null | undefined
  if (superClass !== null && superClass !== undefined) {
    if (superClass.type !== 'Identifier' || superClass['name'] === (node['id'] as Node | null)?.['name']) return false
  }
  return (node['body']['body'] as Node[]).every(member => {
    if (member.type === 'StaticBlock') return false
    const key = member['key'] as Node | undefined
    if (key !== undefined && !plainKeys.has(key.type)) return false
    if (member['computed'] === true && key?.type === 'Identifier') return false
    if (member['static'] !== true || member.type.endsWith('Method')) return true
    // A private one is state that no copy has.
    if (member.type === 'ClassPrivateProperty') return false
    const value = member['value'] as Node | null | undefined
    return value === null || value === undefined || plainValues.has(value.type)
  })
}

export function literalOf({ node, kind, once, isOpen, free }: OpenLiteral): Literal | undefined {
  if (kind === 'method') return undefined
  return {
    start: node.start,
    end: node.end,
    kind: kind === 'class' ? 'class' : 'function',
    isDeclaration: node.type === 'FunctionDeclaration',
    isOpen,
    once,
    free: [...free].sort(),
  }
}
