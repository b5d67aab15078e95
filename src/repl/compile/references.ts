/** Expressions whose identifiers are references, and how each is referred to. */
import { eachChild, isAnonymousFunction, type Node } from './ast.ts'
import { closeAll, usesPrivateName, usesReceiver } from './literals.ts'
import type { Handler, Walk } from './walk.ts'

const identifier: Handler = (walk, node) => walk.refer(node)

const member: Handler = (walk, node) => {
  walk.visit(node['object'], node)
  if (node['computed'] === true) {
    walk.visit(node['property'], node)
    const object = node['object'] as Node
    if (object.type === 'Identifier' && globals.has(object['name']) && !node['property'].type.endsWith('Literal'))
      walk.dynamic = true
  }
}

const globals = new Set(['globalThis', 'global', 'self'])

/** The callee, under the types around it. */
function bare(node: Node): Node {
  let found = node
  while (typeWrappers.has(found.type)) found = found['expression'] as Node
  return found
}

export const typeWrappers: ReadonlySet<string> = new Set([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'TSInstantiationExpression',
])

const call: Handler = (walk, node) => {
  const callee = node['callee'] as Node
  if (callee.type === 'Identifier') {
    const name = callee['name'] as string
    if (name === 'eval' && node.type === 'CallExpression' && walk.depth === 0 && walk.scope === walk.root && !walk.strict) {
      // Direct evaluation would declare its `var` in the wrapper; at the top of a cell the session's scope is the global one.
      walk.edits.replace(callee.start, callee.end, `${walk.usesHelpers()}.f(eval)`)
      walk.refer(callee)
    } else walk.refer(callee, 'call')
  } else walk.visit(callee, node)
  walk.visit(node['typeArguments'], node)
  walk.visitAll(node['arguments'], node)
  noteDefinition(walk, node)
}

const definers = new Set(['defineProperty', 'defineProperties', 'assign', 'setPrototypeOf', 'set', 'deleteProperty'])

/** `Object.defineProperty(Array.prototype, …)` and its like write to their first argument. */
function noteDefinition(walk: Walk, node: Node): void {
  const callee = node['callee'] as Node
  if (callee.type !== 'MemberExpression' || callee['computed'] === true || !definers.has(callee['property'].name)) return
  const holder = (callee['object'] as Node)['name'] as string | undefined
  const first = (node['arguments'] as Node[])[0]
  if ((holder === 'Object' || holder === 'Reflect') && first !== undefined) noteRoot(walk, first)
}

function noteRoot(walk: Walk, target: Node): void {
  let root = bare(target)
  while (root.type === 'MemberExpression' || root.type === 'OptionalMemberExpression') root = bare(root['object'])
  if (root.type === 'Identifier') walk.worldRoots.add(root['name'])
}

const tagged: Handler = (walk, node) => {
  const tag = node['tag'] as Node
  if (tag.type === 'Identifier') walk.refer(tag, 'call')
  else walk.visit(tag, node)
  walk.visit(node['typeArguments'], node)
  walk.visit(node['quasi'], node)
}

const unary: Handler = (walk, node) => {
  const argument = node['argument'] as Node
  if (node['operator'] === 'typeof' && argument.type === 'Identifier') walk.refer(argument, 'typeof')
  else if (node['operator'] === 'delete' && argument.type === 'Identifier') walk.refer(argument, 'value', true)
  else {
    if (node['operator'] === 'delete') noteRoot(walk, argument)
    walk.visit(argument, node)
  }
}

const update: Handler = (walk, node) => target(walk, node['argument'], node, undefined)

const assignment: Handler = (walk, node) => {
  const left = node['left'] as Node
  const right = node['right'] as Node
  const takesName =
    node['operator'] === '=' || node['operator'].endsWith('&&=') || node['operator'].endsWith('||=') || node['operator'] === '??='
  target(walk, left, node, takesName && isAnonymousFunction(right) ? right : undefined)
  walk.visit(right, node)
}

/** Something assigned to: a name, a property, or a pattern of them. */
export function target(walk: Walk, node: Node, parent: Node, named: Node | undefined): void {
  switch (node.type) {
    case 'Identifier':
      walk.refer(node, 'value', true, named)
      break
    case 'MemberExpression':
      noteRoot(walk, node)
      walk.visit(node, parent)
      break
    case 'ObjectPattern':
      for (const property of node['properties'] as Node[]) {
        if (property.type === 'RestElement') {
          target(walk, property['argument'], property, undefined)
          continue
        }
        if (property['computed'] === true) walk.visit(property['key'], property)
        const value = property['value'] as Node
        if (property['shorthand'] === true) shorthandTarget(walk, value)
        else target(walk, value, property, undefined)
      }
      break
    case 'ArrayPattern':
      for (const element of node['elements'] as (Node | null)[]) if (element !== null) target(walk, element, node, undefined)
      break
    case 'RestElement':
      target(walk, node['argument'], node, undefined)
      break
    case 'AssignmentPattern': {
      const right = node['right'] as Node
      target(walk, node['left'], node, isAnonymousFunction(right) ? right : undefined)
      walk.visit(right, node)
      break
    }
    default:
      if (typeWrappers.has(node.type)) {
        walk.visit({ ...node, expression: { ...(node['expression'] as Node), target: true } }, parent)
        break
      }
      walk.visit(node, parent)
  }
}

function shorthandTarget(walk: Walk, value: Node): void {
  if (value.type === 'AssignmentPattern') {
    walk.refer(value['left'], 'shorthand', true, isAnonymousFunction(value['right']) ? value['right'] : undefined)
    walk.visit(value['right'], value)
  } else walk.refer(value, 'shorthand', true)
}

const property: Handler = (walk, node) => {
  walk.visitAll(node['decorators'], node)
  if (node['computed'] === true) walk.visit(node['key'], node)
  const value = node['value'] as Node
  if (node['shorthand'] === true && value.type === 'Identifier') walk.refer(value, 'shorthand')
  else walk.visit(value, node)
}

const nothing: Handler = () => undefined

const receiver: Handler = walk => usesReceiver(walk.literal)

const privateName: Handler = walk => usesPrivateName(walk.literal)

const await_: Handler = (walk, node) => {
  if (walk.depth === 0) walk.awaits++
  walk.visit(node['argument'], node)
}

const meta: Handler = (walk, node) => {
  if (node['meta'].name !== 'import') {
    usesReceiver(walk.literal)
    return
  }
  walk.edits.replace(node.start, node.end, `${walk.usesHelpers()}.meta`)
}

const with_: Handler = (walk, node) => {
  walk.dynamic = true
  closeAll(walk.literal)
  eachChild(node, child => walk.visit(child, node))
}

export const referenceHandlers: Readonly<Record<string, Handler>> = {
  Identifier: (walk, node, parent) =>
    node['target'] === true ? walk.refer(node, 'value', true) : identifier(walk, node, parent),
  MemberExpression: member,
  OptionalMemberExpression: member,
  CallExpression: call,
  OptionalCallExpression: call,
  TaggedTemplateExpression: tagged,
  UnaryExpression: unary,
  UpdateExpression: update,
  AssignmentExpression: assignment,
  ObjectProperty: property,
  BreakStatement: nothing,
  ContinueStatement: nothing,
  PrivateName: privateName,
  ThisExpression: receiver,
  Super: receiver,
  JSXIdentifier: nothing,
  AwaitExpression: await_,
  MetaProperty: meta,
  WithStatement: with_,
}
