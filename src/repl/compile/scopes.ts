/**
 * Scopes and the references in them. A reference is resolved when its scope ends, so that hoisted declarations are known by then; what no scope
 * declares reaches the root: it names something of the session or the platform.
 */
import type { Node } from './ast.ts'
import { closeOver, type OpenLiteral } from './literals.ts'

/** How a reference is written, as far as putting a member expression in its place depends on it. */
export type ReferenceForm = 'value' | 'call' | 'typeof' | 'shorthand'

/** A function declared at the top of the cell, which is created when the cell starts. */
export interface TopFunction {
  readonly node: Node
  readonly name: string
  /** Its text calls helpers, so it must be created inside the wrapper. */
  needsHelpers: boolean
}

export interface Reference {
  readonly name: string
  readonly start: number
  readonly end: number
  readonly form: ReferenceForm
  readonly write: boolean
  /** The value assigned, when it takes its name from this reference. */
  readonly named: Node | undefined
  readonly top: TopFunction | undefined
  /** Functions around it. */
  readonly depth: number
  readonly literal: OpenLiteral | undefined
}

/**
 * `undefined`: a variable of the text. `holder`: a property of the object of that text. `late`: a name of a top-level pattern, which functions inside the
 * pattern see as a variable of the pattern until it is committed and as the session's afterwards; `late` is the text that tells, `depth` the pattern's.
 */
export type Binding = { readonly holder: string } | { readonly late: string; readonly depth: number; used: boolean } | undefined

export interface Scope {
  readonly parent: Scope | undefined
  /** Scopes around it. */
  readonly depth: number
  /** Receives `var`. */
  readonly takesVars: boolean
  readonly names: Map<string, Binding>
  readonly references: Reference[]
}

export function createScope(parent: Scope | undefined, takesVars: boolean): Scope {
  return { parent, depth: parent === undefined ? 0 : parent.depth + 1, takesVars, names: new Map(), references: [] }
}

/** Resolve the references of a scope that ends; the rest goes to its parent. */
export function endScope(scope: Scope, rewrite: (reference: Reference, binding: NonNullable<Binding>) => void): void {
  const { names, references, parent } = scope
  for (const reference of references) {
    if (!names.has(reference.name)) parent?.references.push(reference)
    else {
      closeOver(reference.literal, scope.depth)
      const binding = names.get(reference.name)
      if (binding !== undefined) rewrite(reference, binding)
    }
  }
}

export function varScopeOf(scope: Scope): Scope {
  let found = scope
  while (!found.takesVars && found.parent !== undefined) found = found.parent
  return found
}
