/** Decorators as TypeScript had them before the standard: evaluated and applied when the class exists, members first, then the class. */
import type { Node } from './ast.ts'
import { Output } from './edits.ts'
import type { Walk } from './walk.ts'

const decoratorsOf = (node: Node): readonly Node[] => (node['decorators'] ?? []) as Node[]

/** The decorators of a parameter, which may have a modifier or a default. */
export function parameterDecorators(parameter: Node): readonly Node[] {
  if (decoratorsOf(parameter).length > 0) return decoratorsOf(parameter)
  const inner = (parameter['parameter'] ?? parameter['left']) as Node | undefined
  return inner === undefined ? [] : parameterDecorators(inner)
}

/** Text of a member's key as an expression. */
function writeKey(walk: Walk, output: Output, member: Node): void {
  const key = member['key'] as Node
  if (member['computed'] === true) walk.edits.renderPart(output, key.start, key.end)
  else output.add(JSON.stringify(key['name'] ?? String(key['value'])))
}

function writeDecorators(walk: Walk, output: Output, decorators: readonly Node[], parameters: readonly Node[]): void {
  output.add('[')
  for (const decorator of decorators) {
    const expression = decorator['expression'] as Node
    output.add('(')
    walk.edits.renderPart(output, expression.start, expression.end)
    output.add('),')
  }
  for (const [index, parameter] of parameters.entries()) {
    for (const decorator of parameterDecorators(parameter)) {
      const expression = decorator['expression'] as Node
      output.add(`${walk.h}.parameter(${index},(`)
      walk.edits.renderPart(output, expression.start, expression.end)
      output.add(')),')
    }
  }
  output.add(']')
}

/** Put the class with its decorators applied in its place. All other edits inside it are known. */
export function lowerLegacyClass(walk: Walk, node: Node): void {
  const members = node['body']['body'] as Node[]
  const ownConstructor = members.find(member => member['kind'] === 'constructor' && member.type === 'ClassMethod')
  for (const decorated of [node, ...members, ...members.flatMap(member => (member['params'] ?? []) as Node[])]) {
    const list = members.includes(decorated) || decorated === node ? decoratorsOf(decorated) : parameterDecorators(decorated)
    for (const decorator of list) walk.edits.blank(decorator.start, decorator.end)
  }
  const output = new Output()
  output.add(`${walk.h}.decorate(`)
  walk.edits.renderPart(output, node.start, node.end)
  output.add(`,(${node['id']?.name ?? ''})=>({members:[`)
  const isDecorated = (member: Node): boolean =>
    member !== ownConstructor &&
    (decoratorsOf(member).length > 0 || ((member['params'] ?? []) as Node[]).some(item => parameterDecorators(item).length > 0))
  for (const isStatic of [false, true]) {
    for (const member of members) {
      if ((member['static'] === true) !== isStatic || !isDecorated(member)) continue
      output.add(`{isStatic:${isStatic},isField:${member.type === 'ClassProperty'},key:`)
      writeKey(walk, output, member)
      output.add(',with:()=>')
      writeDecorators(walk, output, decoratorsOf(member), (member['params'] ?? []) as Node[])
      output.add('},')
    }
  }
  output.add('],own:()=>')
  writeDecorators(walk, output, decoratorsOf(node), (ownConstructor?.['params'] ?? []) as Node[])
  output.add('}))')
  walk.edits.replaceMade(node.start, node.end, output.code, output.segments)
}

type Decorator = (target: object, key?: PropertyKey, third?: unknown) => unknown

export interface LegacyDecorations {
  readonly members: readonly {
    readonly isStatic: boolean
    readonly isField: boolean
    readonly key: PropertyKey
    readonly with: () => readonly Decorator[]
  }[]
  readonly own: () => readonly Decorator[]
}

/** Apply the decorators of a class. @returns the class, or what a decorator put in its place. */
export function applyLegacy(created: { readonly prototype: object }, list: (created: object) => LegacyDecorations): unknown {
  const { members, own } = list(created)
  for (const { isStatic, isField, key, with: decorators } of members) {
    const target = isStatic ? created : created.prototype
    let descriptor: unknown = isField ? undefined : Object.getOwnPropertyDescriptor(target, key)
    for (const decorate of decorators().toReversed()) descriptor = decorate(target, key, descriptor) || descriptor
    if (descriptor) Object.defineProperty(target, key, descriptor as PropertyDescriptor)
  }
  let result: unknown = created
  for (const decorate of own().toReversed()) result = decorate(result as object) || result
  return result
}

/** A decorator of a parameter as one of its method. */
export function parameterDecorator(index: number, decorate: Decorator): Decorator {
  return (target, key) => {
    decorate(target, key, index)
  }
}
