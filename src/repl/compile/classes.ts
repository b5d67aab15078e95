/** Classes: modifiers and abstract members become blanks; parameter properties and accessors are lowered. */
import { boundNames, findToken, type Node, skipTrivia } from './ast.ts'
import { guardEnd } from './erase.ts'
import { visitFunction, visitStatements } from './functions.ts'
import { parameterDecorators } from './legacy-decorators.ts'
import { isPlainClass } from './literals.ts'
import { wrapUsing } from './using.ts'
import type { Handler, Walk } from './walk.ts'

const modifiers = /\b(?:public|private|protected|readonly|override|abstract|declare)\b/g
const comments = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/g

/** Erase modifiers that stand between `from` and the key. */
function eraseModifiers(walk: Walk, member: Node, from: number): void {
  if (!member['accessibility'] && !member['readonly'] && !member['override'] && !member['abstract'] && !member['declare']) return
  const key = member['key'] as Node
  const text = walk.source.slice(from, key.start).replace(comments, comment => ' '.repeat(comment.length))
  for (const match of text.matchAll(modifiers)) {
    const start = from + match.index
    const end = start + match[0].length
    const next = walk.source[skipTrivia(walk.source, end)]
    // A member before it that ended without `;` would go on.
    const continues =
      start === member.start && (next === '[' || next === '*' || key['name'] === 'in' || key['name'] === 'instanceof')
    if (continues) walk.edits.replace(start, end, ';' + ' '.repeat(end - start - 1))
    else walk.edits.blank(start, end)
  }
}

/** The `?` or `!` after a key. */
function eraseMark(walk: Walk, member: Node): void {
  if (member['optional'] !== true && member['definite'] !== true) return
  let at = skipTrivia(walk.source, member['key'].end)
  while (walk.source[at] === ']' || walk.source[at] === ')') at = skipTrivia(walk.source, at + 1)
  if (walk.source[at] === '?' || walk.source[at] === '!') walk.eraseType(at, at + 1)
}

function eraseType(walk: Walk, member: Node): void {
  const annotation = member['typeAnnotation'] as Node | null | undefined
  if (annotation) walk.eraseType(annotation.start, annotation.end)
}

function visitField(walk: Walk, member: Node, from: number): void {
  if (member['declare'] === true || member['abstract'] === true) {
    walk.edits.blankStatement(member.start, member.end)
    walk.typeRanges.push([member.start, member.end])
    if (member['computed'] === true) walk.visit(member['key'], member)
    return
  }
  eraseModifiers(walk, member, from)
  if (member['computed'] === true) walk.visit(member['key'], member)
  eraseMark(walk, member)
  eraseType(walk, member)
  if (member['value'])
    walk.inLiteral(member, 'method', false, () => walk.deeper(() => walk.within(true, () => walk.visit(member['value'], member))))
  guardEnd(walk, member)
}

/** `accessor x = 1` becomes a private field with a getter and a setter. */
function lowerAccessor(walk: Walk, member: Node, from: number, index: number): void {
  const { edits, source } = walk
  const key = member['key'] as Node
  const isStatic = member['static'] === true ? 'static ' : ''
  const hidden = `#${walk.h}_a${index}`
  const keyText = source.slice(key.start, key.end)
  const held = member['computed'] === true ? `${walk.usesHelpers()}.keys.k${walk.counter++}` : ''
  const name = member['computed'] === true ? `[${held}=${keyText}]` : keyText
  const again = member['computed'] === true ? `[${held}]` : keyText
  const value = member['value'] as Node | null
  const keyEnd = member['computed'] === true ? source.indexOf(']', key.end) + 1 : key.end
  const made = `${isStatic}get ${name}(){return this.${hidden}}${isStatic}set ${again}(v){this.${hidden}=v}${isStatic}${hidden}`
  if (value === null || value === undefined) edits.replace(from, member.end, `${made};`)
  else {
    const equals = findToken(source, member['typeAnnotation']?.end ?? keyEnd, '=')
    edits.replace(from, equals, made)
    walk.inLiteral(member, 'method', false, () => walk.deeper(() => walk.within(true, () => walk.visit(value, member))))
    if (source[member.end - 1] !== ';') edits.close(member.end, ';')
  }
  walk.note({ kind: 'lowered', description: `accessor ${keyText} became a private field with a getter and a setter` })
}

/** Names of a constructor's parameter properties. */
function parameterProperties(node: Node): string[] {
  return (node['params'] as Node[])
    .filter(item => item.type === 'TSParameterProperty')
    .flatMap(item => boundNames(item).map(id => id['name'] as string))
}

function visitConstructor(walk: Walk, node: Node, derived: boolean): void {
  const names = parameterProperties(node)
  if (names.length > 0) {
    const assigned = names.map(name => `this.${name}=${name}`)
    const body = node['body'] as Node
    if (derived) assignAfterSuper(walk, body, assigned.join(','))
    else {
      const directive = (body['directives'] as Node[]).at(-1)
      walk.edits.open(
        directive === undefined ? body.start + 1 : directive.end,
        `${directive === undefined ? '' : ';'}${assigned.join(';')};`,
      )
    }
  }
  visitFunction(walk, node)
}

/** Every `super(…)` of the constructor is followed by the assignments. */
function assignAfterSuper(walk: Walk, node: Node, assigned: string): void {
  const find = (inner: Node): void => {
    if (inner.type === 'CallExpression' && inner['callee'].type === 'Super') {
      walk.edits.open(inner.start, `${walk.usesHelpers()}.f((`)
      walk.edits.close(inner.end, `,${assigned},this))`)
    }
    if (
      inner.type === 'FunctionExpression' ||
      inner.type === 'FunctionDeclaration' ||
      inner.type === 'ClassBody' ||
      inner.type === 'ObjectMethod'
    )
      return
    for (const field of Object.keys(inner)) {
      const value: unknown = inner[field]
      for (const item of Array.isArray(value) ? value : [value])
        if (item !== null && typeof item === 'object' && 'type' in item) find(item as Node)
    }
  }
  find(node)
}

function visitMember(walk: Walk, member: Node, index: number, derived: boolean): void {
  const decorators = member['decorators'] as Node[] | null | undefined
  walk.visitAll(decorators, member)
  const from = decorators && decorators.length > 0 ? skipTrivia(walk.source, decorators.at(-1)!.end) : member.start
  switch (member.type) {
    case 'ClassProperty':
    case 'ClassPrivateProperty':
      visitField(walk, member, from)
      break
    case 'ClassAccessorProperty':
      if (member['abstract'] === true || member['declare'] === true || walk.inSecond) visitField(walk, member, from)
      else lowerAccessor(walk, member, from, index)
      break
    case 'ClassMethod':
    case 'ClassPrivateMethod':
      eraseModifiers(walk, member, from)
      if (member['computed'] === true) walk.visit(member['key'], member)
      eraseMark(walk, member)
      if (member['kind'] === 'constructor') visitConstructor(walk, member, derived)
      else visitFunction(walk, member)
      break
    case 'StaticBlock':
      wrapUsing(walk, member['body'], walk.source.indexOf('{', member.start) + 1, member.end - 1)
      walk.inLiteral(member, 'method', false, () =>
        walk.deeper(() => walk.within(true, () => visitStatements(walk, member['body'], member))),
      )
      break
    default:
      walk.visit(member, member)
  }
}

export function hasDecorators(node: Node): boolean {
  if ((node['decorators']?.length ?? 0) > 0) return true
  return (node['body']['body'] as Node[]).some(
    member =>
      (member['decorators']?.length ?? 0) > 0 ||
      ((member['params'] ?? []) as Node[]).some(item => parameterDecorators(item).length > 0),
  )
}

/** The heads and the body of a class; its name is declared by the caller. */
export function visitClass(walk: Walk, node: Node): void {
  walk.inLiteral(node, 'class', isPlainClass(node) && !hasDecorators(node), () => visitClassInside(walk, node))
}

function visitClassInside(walk: Walk, node: Node): void {
  const { edits, source } = walk
  const isLegacy = walk.request.decorators === 'legacy'
  const isOutermost = hasDecorators(node) && (isLegacy || !walk.inSecond)
  if (isOutermost && !isLegacy) walk.inSecond = true
  const before = walk.awaits
  walk.visitAll(node['decorators'], node)
  if (node['abstract'] === true) {
    const at = source.indexOf('abstract', node['decorators']?.at(-1)?.end ?? node.start)
    edits.blank(at, at + 'abstract'.length)
  }
  const id = node['id'] as Node | null
  if (node['typeParameters']) walk.eraseType(node['typeParameters'].start, node['typeParameters'].end)
  const superClass = node['superClass'] as Node | null
  walk.visit(superClass, node)
  if (node['superTypeArguments']) walk.eraseType(node['superTypeArguments'].start, node['superTypeArguments'].end)
  const implemented = node['implements'] as Node[] | null | undefined
  if (implemented && implemented.length > 0)
    walk.eraseType(source.lastIndexOf('implements', implemented[0]!.start), implemented.at(-1)!.end)
  const members = node['body']['body'] as Node[]
  const lead = members.flatMap(member =>
    member['kind'] === 'constructor' && member.type === 'ClassMethod' ? parameterProperties(member) : [],
  )
  if (lead.length > 0) {
    edits.open(node['body'].start + 1, lead.map(name => `${name};`).join(''))
    walk.note({ kind: 'lowered', description: `parameter properties became fields: ${lead.join(', ')}` })
  }
  walk.within(false, () => {
    if (id) walk.scope.names.set(id['name'], undefined)
    for (const [index, member] of members.entries())
      visitMember(walk, member, index, superClass !== null && superClass !== undefined)
  })
  if (isOutermost) {
    walk.inSecond = false
    if (walk.request.decorators === 'legacy') {
      walk.usesHelpers()
      walk.legacy.push(node)
    } else walk.second.push({ node, awaits: walk.awaits > before })
    walk.note({ kind: 'lowered', description: `decorators of ${id ? `class ${id['name']}` : 'a class'} became calls` })
  }
}

const expression: Handler = (walk, node) => visitClass(walk, node)

/** A class of the session. It keeps its own inner name, as in the language; in its head the name means what it meant before. */
export function commitClass(walk: Walk, node: Node, parent: Node): void {
  const id = node['id'] as Node
  const name = id['name'] as string
  walk.declare(name, 'class', id.start, node)
  walk.edits.open(node.start, `${walk.usesHelpers()}.class({[${JSON.stringify(name)}]:`)
  walk.edits.close(node.end, '});')
  const head = node['superClass'] as Node | null
  if (head) walk.heads.push({ name, start: head.start, end: head.end })
  walk.visit({ ...node, type: 'ClassExpression' }, parent)
}

/** A declared class. */
const declaration: Handler = (walk, node, parent) => {
  if (node['declare'] === true) {
    walk.edits.blankStatement(node.start, node.end)
    return
  }
  if (parent.type === 'Program') {
    commitClass(walk, node, parent)
    return
  }
  if (hasDecorators(node)) {
    walk.edits.open(node.start, `let ${node['id'].name}=`)
    walk.edits.close(node.end, ';')
  }
  walk.visit({ ...node, type: 'ClassExpression' }, parent)
}

export const classHandlers: Readonly<Record<string, Handler>> = {
  ClassExpression: expression,
  ClassDeclaration: declaration,
}
