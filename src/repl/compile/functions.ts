/** Functions and their parameters; blocks and the functions declared in them. */
import { boundNames, eachChild, type Node, skipTrivia } from './ast.ts'
import { eraseAnnotation, eraseInline } from './erase.ts'
import { type TopFunction, varScopeOf } from './scopes.ts'
import { wrapUsing } from './using.ts'
import type { Handler, Walk } from './walk.ts'

/** Visit what a binding pattern evaluates (defaults, computed keys) and erase its types; its names are declared by the caller. */
export function visitPattern(walk: Walk, pattern: Node | null, parent: Node): void {
  if (pattern === null) return
  walk.visitAll(pattern['decorators'], parent)
  switch (pattern.type) {
    case 'ObjectPattern':
      for (const property of pattern['properties'] as Node[]) {
        if (property.type === 'RestElement') visitPattern(walk, property, pattern)
        else {
          if (property['computed'] === true) walk.visit(property['key'], property)
          visitPattern(walk, property['value'], property)
        }
      }
      break
    case 'ArrayPattern':
      for (const element of pattern['elements'] as (Node | null)[]) visitPattern(walk, element, pattern)
      break
    case 'AssignmentPattern':
      visitPattern(walk, pattern['left'], pattern)
      walk.visit(pattern['right'], pattern)
      return
    case 'RestElement':
      visitPattern(walk, pattern['argument'], pattern)
      break
  }
  eraseAnnotation(walk, pattern)
}

export function declareLocally(walk: Walk, pattern: Node | null): void {
  for (const name of boundNames(pattern)) walk.scope.names.set(name['name'], undefined)
}

function visitParameter(walk: Walk, parameter: Node, index: number, parent: Node): void {
  if (index === 0 && parameter.type === 'Identifier' && parameter['name'] === 'this') {
    const after = skipTrivia(walk.source, parameter.end)
    walk.eraseType(parameter.start, walk.source[after] === ',' ? after + 1 : parameter.end)
    return
  }
  declareLocally(walk, parameter)
  if (parameter.type === 'TSParameterProperty') {
    walk.visitAll(parameter['decorators'], parent)
    walk.edits.blank(parameter.start, parameter['parameter'].start)
    visitPattern(walk, parameter['parameter'], parent)
  } else visitPattern(walk, parameter, parent)
}

/** The parameters and body of any function; its key and decorators belong to what is around it. */
export function visitFunction(walk: Walk, node: Node): void {
  const kind = literalKinds[node.type] ?? 'method'
  walk.inLiteral(node, kind, kind !== 'method', () => visitInside(walk, node))
}

const literalKinds: Readonly<Record<string, 'function' | 'arrow'>> = {
  FunctionDeclaration: 'function',
  FunctionExpression: 'function',
  ArrowFunctionExpression: 'arrow',
}

function visitInside(walk: Walk, node: Node): void {
  const inside = (): void => {
    walk.within(true, () => {
      const typeParameters = node['typeParameters'] as Node | null | undefined
      const isArrow = node.type === 'ArrowFunctionExpression'
      if (typeParameters) (isArrow ? eraseInline : eraseKept)(walk, typeParameters.start, typeParameters.end)
      const parameters = node['params'] as Node[]
      for (const [index, parameter] of parameters.entries()) visitParameter(walk, parameter, index, node)
      const returnType = node['returnType'] as Node | null | undefined
      if (returnType) (isArrow ? eraseInline : eraseKept)(walk, returnType.start, returnType.end)
      if (node['predicate']) walk.visit(node['predicate'], node)
      const body = node['body'] as Node
      if (body.type === 'BlockStatement') {
        const directive = (body['directives'] as Node[]).at(-1)
        wrapUsing(walk, body['body'], directive?.end ?? body.start + 1, body.end - 1)
        visitStatements(walk, body['body'], body)
      } else walk.visit(body, node)
    })
  }
  walk.deeper(() => {
    const id = node['id'] as Node | null | undefined
    if (node.type === 'FunctionExpression' && id) {
      walk.within(false, () => {
        walk.scope.names.set(id['name'], undefined)
        inside()
      })
    } else inside()
  })
}

function eraseKept(walk: Walk, start: number, end: number): void {
  walk.eraseType(start, end)
}

/** Statements of one scope: its lexical names are known before any of them is visited. */
export function visitStatements(walk: Walk, statements: readonly Node[], parent: Node): void {
  declareLexical(walk, statements)
  walk.visitAll(statements, parent)
}

export function declareLexical(walk: Walk, statements: readonly Node[]): void {
  for (const statement of statements) {
    const declaration = (
      statement.type === 'ExportNamedDeclaration' ? (statement['declaration'] ?? statement) : statement
    ) as Node
    switch (declaration.type) {
      case 'VariableDeclaration':
        if (declaration['kind'] !== 'var' && declaration['declare'] !== true) {
          for (const declarator of declaration['declarations'] as Node[]) declareLocally(walk, declarator['id'])
        }
        break
      case 'ClassDeclaration':
      case 'FunctionDeclaration':
        if (declaration['declare'] !== true && declaration['id']) walk.scope.names.set(declaration['id'].name, undefined)
        break
    }
  }
}

const block: Handler = (walk, node) => {
  const hoisted = hoistedFunctions(walk, node['body'])
  shadow(walk, node, hoisted)
  wrapUsing(walk, node['body'], node.start + 1, node.end - 1)
  walk.within(false, () => visitStatements(walk, node['body'], node))
}

/** Functions of a block at the level of the cell that the language (without strict mode) also declares as `var`. */
function hoistedFunctions(walk: Walk, statements: readonly Node[]): Node[] {
  if (walk.depth > 0 || walk.strict) return []
  return statements.filter(isPlainFunction)
}

function isPlainFunction(node: Node): boolean {
  return node.type === 'FunctionDeclaration' && node['async'] !== true && node['generator'] !== true
}

/**
 * The wrapper must not declare the function as its own `var`: a `let` of the name around the block prevents it. The session's variable is set where the
 * declaration stands, as the language does, unless a scope in between declares the name.
 */
function shadow(walk: Walk, around: Node, functions: readonly Node[]): void {
  if (functions.length === 0) return
  const names = new Set(functions.map(item => item['id'].name as string))
  walk.edits.open(around.start, `{let ${[...names].join(',')};`)
  walk.edits.close(around.end, '}')
  for (const item of functions) {
    const name = item['id'].name as string
    if (isDeclaredAround(walk, name)) continue
    walk.vars.add(name)
    walk.declare(name, 'var', item['id'].start, item)
    walk.edits.open(item.start, `${walk.usesHelpers()}.var({[${JSON.stringify(name)}]:${name}});`)
  }
}

function isDeclaredAround(walk: Walk, name: string): boolean {
  if (walk.topLexical.has(name)) return true
  for (let scope = walk.scope; scope !== walk.root; scope = scope.parent!) if (scope.names.has(name)) return true
  return false
}

const switch_: Handler = (walk, node) => {
  const statements = (node['cases'] as Node[]).flatMap(item => item['consequent'] as Node[])
  shadow(walk, node, hoistedFunctions(walk, statements))
  walk.visit(node['discriminant'], node)
  walk.within(false, () => {
    declareLexical(walk, statements)
    walk.visitAll(node['cases'], node)
  })
}

const if_: Handler = (walk, node) => {
  walk.visit(node['test'], node)
  for (const branch of [node['consequent'], node['alternate']] as (Node | null)[]) {
    if (branch === null || branch === undefined) continue
    if (branch.type !== 'FunctionDeclaration') walk.visit(branch, node)
    else {
      if (walk.depth === 0 && !walk.strict) {
        const name = branch['id'].name as string
        walk.edits.open(branch.start, `{let ${name};{`)
        walk.edits.close(branch.end, '}}')
        if (!isDeclaredAround(walk, name)) {
          walk.vars.add(name)
          walk.declare(name, 'var', branch['id'].start, branch)
          walk.edits.open(branch.start, `${walk.usesHelpers()}.var({[${JSON.stringify(name)}]:${name}});`)
        }
      }
      walk.within(false, () => visitStatements(walk, [branch], node))
    }
  }
}

/** A function declared in a function or block. */
const declaration: Handler = (walk, node, parent) => {
  const name = node['id'].name as string
  if (parent.type === 'Program') {
    visitTopFunction(walk, node, node.start)
    return
  }
  walk.scope.names.set(name, undefined)
  if (walk.depth > 0 && !walk.strict && isPlainFunction(node)) {
    const outer = varScopeOf(walk.scope)
    if (!outer.names.has(name)) outer.names.set(name, undefined)
  }
  visitFunction(walk, node)
}

const for_: Handler = (walk, node) => {
  walk.within(false, () => {
    const init = node['init'] as Node | null
    if (init?.type === 'VariableDeclaration') declareLexical(walk, [init])
    eachChild(node, child => walk.visit(child, node))
  })
}

const catch_: Handler = (walk, node) => {
  walk.within(false, () => {
    const parameter = node['param'] as Node | null
    declareLocally(walk, parameter)
    visitPattern(walk, parameter, node)
    walk.visit(node['body'], node)
  })
}

/** A function of the session: it is taken out of the body and created when the cell starts. */
export function visitTopFunction(walk: Walk, node: Node, start: number): void {
  const id = node['id'] as Node
  walk.declare(id['name'], 'function', id.start, node)
  if (start < node.start) walk.edits.blankStatement(start, node.start)
  const top: TopFunction = { node, name: id['name'], needsHelpers: walk.request.platformNames.has(id['name']) }
  walk.topFunctions.push(top)
  const outer = walk.top
  walk.top = top
  visitFunction(walk, node)
  walk.top = outer
}

/** A label before a function at the top of the cell labels nothing. */
const labelled: Handler = (walk, node) => {
  const body = node['body'] as Node
  if (body.type === 'FunctionDeclaration' && walk.scope === walk.root && walk.depth === 0)
    visitTopFunction(walk, body, body.start)
  else walk.visit(body, node)
}

/** Methods of objects. */
const method: Handler = (walk, node) => {
  if (node['computed'] === true) walk.visit(node['key'], node)
  visitFunction(walk, node)
}

export const functionHandlers: Readonly<Record<string, Handler>> = {
  BlockStatement: block,
  SwitchStatement: switch_,
  IfStatement: if_,
  ForStatement: for_,
  CatchClause: catch_,
  FunctionDeclaration: declaration,
  FunctionExpression: (walk, node) => visitFunction(walk, node),
  ArrowFunctionExpression: (walk, node) => visitFunction(walk, node),
  ObjectMethod: method,
  LabeledStatement: labelled,
}
