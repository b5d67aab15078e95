/**
 * The one walk over the tree of a cell: it knows where it is (scope, depth, top function) and leaves what a node means to the handler of its type.
 * Nodes without a handler are only gone through.
 */
import { eachChild, type Node } from './ast.ts'
import type { Edits } from './edits.ts'
import { isLoop, literalOf, type OpenLiteral, usesReceiver } from './literals.ts'
import type { CompileRequest, Declared, Literal, NameKind, ProgramImport, Rewrite, SourceRange } from './program.ts'
import { createScope, endScope, type Reference, type ReferenceForm, type Scope, type TopFunction } from './scopes.ts'

/** A cell that parses and is refused all the same. */
export class Refusal extends Error {
  readonly code: 'OUT-C001' | 'OUT-C002' | 'OUT-C003' | 'OUT-N001' | 'OUT-N002'
  readonly offset: number
  readonly help: readonly string[]

  constructor(code: Refusal['code'], message: string, offset: number, help: readonly string[] = []) {
    super(message)
    this.code = code
    this.offset = offset
    this.help = help
  }
}

export type Handler = (walk: Walk, node: Node, parent: Node) => void

/** A class with decorators, or JSX, to be given to the second compiler. */
export interface SecondPart {
  readonly node: Node
  /** Contains `await` of the cell's own function. */
  readonly awaits: boolean
}

export class Walk {
  readonly request: CompileRequest
  readonly source: string
  readonly edits: Edits
  /** Name of the helpers' parameter; no name in the source contains it. */
  readonly h: string
  readonly strict: boolean
  readonly root: Scope = createScope(undefined, true)
  readonly declared: Declared[] = []
  readonly imports: ProgramImport[] = []
  readonly rewrites: Rewrite[] = []
  readonly topFunctions: TopFunction[] = []
  /** Statements to run when the cell starts, after its functions exist. */
  readonly prelude: string[] = []
  /** Names of `var` of the cell. */
  readonly vars: Set<string> = new Set<string>()
  /** Names whose variable lives in the wrapper (`using`). */
  readonly locals: Set<string> = new Set<string>()
  readonly second: SecondPart[] = []
  /** Classes with decorators of the older kind. */
  readonly legacy: Node[] = []
  /** Ends of erased ranges, where a statement may have lost what ended it. */
  readonly erasedEnds: Set<number> = new Set<number>()
  /** Erased ranges that hold types. */
  readonly typeRanges: (readonly [number, number])[] = []
  readonly worldRoots: Set<string> = new Set<string>()
  /** Names that functions inside top-level patterns assign to. */
  readonly lateWrites: Set<string> = new Set<string>()
  /** Heads of top-level classes: their own name still means what it meant before. */
  readonly heads: (SourceRange & { readonly name: string })[] = []
  /** Lexical names of the cell itself; they are no variables of the wrapper, so no scope holds them. */
  readonly topLexical: Set<string> = new Set<string>()
  /** Inside something that the second compiler gets. */
  inSecond = false
  /** Exports of namespaces so far, by the namespace's path. */
  readonly namespaceExports: Map<string, Set<string>> = new Map<string, Set<string>>()
  /** Names of export lists. */
  readonly exported: Node[] = []
  /** `export default function () {}` */
  defaultFunction: Node | undefined
  /** Text around the whole body. */
  body: { readonly before: string; readonly after: string } = { before: '', after: '' }
  /** The innermost function or class around the node. */
  literal: OpenLiteral | undefined
  readonly finished: OpenLiteral[] = []
  #loops = 0
  /** Numbers for names of generated variables. */
  counter = 0
  scope: Scope = this.root
  /** Functions, class bodies and namespaces around the node. */
  depth = 0
  top: TopFunction | undefined
  /** `await` met so far outside of any function. */
  awaits = 0
  dynamic = false
  /** Offset of the expression statement whose value is reported; -1: none. */
  echoAt = -1
  readonly #handlers: ReadonlyMap<string, Handler>
  readonly #declaredAt = new Map<string, number>()

  constructor(request: CompileRequest, edits: Edits, h: string, strict: boolean, handlers: ReadonlyMap<string, Handler>) {
    this.request = request
    this.source = request.source
    this.edits = edits
    this.h = h
    this.strict = strict
    this.#handlers = handlers
  }

  visit(node: Node | null | undefined, parent: Node): void {
    if (node === null || node === undefined) return
    const handler = this.#handlers.get(node.type)
    if (isLoop(node.type)) {
      this.#loops++
      if (handler !== undefined) handler(this, node, parent)
      else eachChild(node, child => this.visit(child, node))
      this.#loops--
    } else if (handler !== undefined) handler(this, node, parent)
    else if (node.type.startsWith('TS')) this.eraseType(node.start, node.end)
    else eachChild(node, child => this.visit(child, node))
  }

  visitAll(nodes: readonly (Node | null)[] | null | undefined, parent: Node): void {
    if (nodes !== null && nodes !== undefined) for (const node of nodes) this.visit(node, parent)
  }

  within(takesVars: boolean, inside: () => void): void {
    const scope = createScope(this.scope, takesVars)
    this.scope = scope
    inside()
    this.scope = scope.parent!
    endScope(scope, (reference, binding) => {
      if ('holder' in binding) rewriteReference(this, reference, `${binding.holder}.${reference.name}`, undefined)
      else if (reference.depth > binding.depth) {
        binding.used = true
        rewriteLate(this, reference, binding.late)
      }
    })
  }

  /** Go through a function or class. */
  inLiteral(node: Node, kind: OpenLiteral['kind'], isOpen: boolean, inside: () => void): void {
    const parent = this.literal
    const once = parent === undefined && this.#loops === 0 && this.depth === 0
    const literal: OpenLiteral = { parent, node, kind, depth: this.scope.depth, once, isOpen, free: new Set() }
    this.literal = literal
    inside()
    this.literal = parent
    this.finished.push(literal)
  }

  literals(): readonly Literal[] {
    return this.finished.flatMap(each => literalOf(each) ?? [])
  }

  /** Go through something with its own `var`, `this` or `await`. */
  deeper(inside: () => void): void {
    this.depth++
    inside()
    this.depth--
  }

  refer(identifier: Node, form: ReferenceForm = 'value', write = false, named?: Node): void {
    const { name, start } = identifier as Node & { readonly name: string }
    const end = start + name.length
    if (name === 'arguments') usesReceiver(this.literal)
    const exact = this.source.startsWith(name, start)
    this.scope.references.push({
      name,
      start,
      end: exact ? end : identifier.end,
      form,
      write,
      named,
      top: this.top,
      depth: this.depth,
      literal: this.literal,
    })
  }

  /** Text that calls helpers stands here. */
  usesHelpers(): string {
    if (this.top !== undefined) this.top.needsHelpers = true
    return this.h
  }

  eraseType(start: number, end: number): void {
    this.edits.blank(start, end)
    this.erasedEnds.add(end)
    this.typeRanges.push([start, end])
  }

  /** A name of the session. `at` is where the identifier stands, the range the whole declaration. */
  declare(name: string, kind: NameKind, at: number, range: Node): void {
    // The parser takes `this` for a parameter of TypeScript.
    if (name === 'this') throw new Refusal('OUT-C001', "Unexpected token 'this'.", at)
    if (this.isReserved(name))
      throw new Refusal('OUT-N001', `'${name}' is reserved.`, at, ['Choose another name at the top level of the cell.'])
    const index = this.#declaredAt.get(name)
    if (index !== undefined && !mayRepeat(this.declared[index]!.kind, kind)) {
      throw new Refusal('OUT-N002', `Identifier '${name}' has already been declared.`, at, [
        'A name can be declared again in a later cell, and once per cell.',
      ])
    }
    if (index !== undefined)
      this.declared[index] = { ...this.declared[index]!, kind: mergedKind(this.declared[index]!.kind, kind) }
    else {
      this.#declaredAt.set(name, this.declared.length)
      this.declared.push({ name, kind, start: range.start, end: range.end })
    }
  }

  isDeclared(name: string): boolean {
    return this.#declaredAt.has(name)
  }

  isReserved(name: string): boolean {
    return (
      name === 'undefined' || name === 'NaN' || name === 'Infinity' || name === 'globalThis' || this.request.namespaces.has(name)
    )
  }

  note(rewrite: Rewrite): void {
    this.rewrites.push(rewrite)
  }
}

const hoisting: ReadonlySet<NameKind> = new Set(['var', 'function'])
const merging: ReadonlySet<NameKind> = new Set(['enum', 'namespace'])

/** What one cell may declare twice: `var` and functions, and what enums and namespaces extend. */
function mayRepeat(before: NameKind, after: NameKind): boolean {
  if (hoisting.has(before) && hoisting.has(after)) return true
  if (after === 'namespace') return before === 'function' || before === 'class' || merging.has(before)
  return after === 'enum' && merging.has(before)
}

/** A function stays one when a `var` of its name follows, and a class or function that a namespace extends is still itself. */
function mergedKind(before: NameKind, after: NameKind): NameKind {
  if (after === 'var' || after === 'namespace') return before
  return after
}

/** A function in a pattern names what the pattern declares. */
function rewriteLate(walk: Walk, reference: Reference, isCommitted: string): void {
  const { h } = walk
  const { name } = reference
  if (reference.write) {
    walk.lateWrites.add(name)
    rewriteReference(walk, reference, `${h}.n.${name}`, undefined)
  } else
    rewriteReference(
      walk,
      { ...reference, form: reference.form === 'call' ? 'value' : reference.form },
      `${h}.f(${isCommitted}?${h}.n.${name}:${name})`,
      undefined,
    )
}

/** Put `access` in the place of a reference. */
export function rewriteReference(walk: Walk, reference: Reference, access: string, typeofAccess: string | undefined): void {
  const { start, end, form, named, top } = reference
  const { edits, h } = walk
  if (top !== undefined) top.needsHelpers = true
  if (form === 'call') edits.replace(start, end, `${h}.f(${access})`)
  else if (form === 'typeof') edits.replace(start, end, typeofAccess ?? access)
  else if (form === 'shorthand') edits.replace(start, end, `${reference.name}: ${access}`)
  else edits.replace(start, end, access)
  if (named !== undefined) {
    edits.open(named.start, `{[${JSON.stringify(reference.name)}]:`)
    edits.close(named.end, `}[${JSON.stringify(reference.name)}]`)
  }
}
