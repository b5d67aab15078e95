/** Enums become objects: members in order, each able to name those before it, numbers also mapped back to their names. */
import { findToken, type Node } from './ast.ts'
import { type Handler, Refusal, type Walk } from './walk.ts'

const quote = JSON.stringify

const memberName = (member: Node): string => {
  const id = member['id'] as Node
  return (id['name'] ?? id['value'] ?? '') as string
}

/**
 * @param start - where the declaration begins.
 * @param before - text that takes the object, as `let E=`.
 * @param base - text of an object to go on with, or empty.
 * @param after - text behind the object.
 */
export function lowerEnum(walk: Walk, node: Node, start: number, before: string, base: string, after: string): void {
  const { edits, source } = walk
  const name = node['id'].name as string
  const body = node['body'] as Node
  const members = body['members'] as Node[]
  const h = walk.usesHelpers()
  const add = `${h}_m`
  edits.replace(start, body.start + 1, `${before}((${name},${add})=>{`)
  edits.replace(node.end - 1, node.end, `;return ${name}})(...${h}.members(${base}))${after}`)
  walk.deeper(() =>
    walk.within(true, () => {
      walk.scope.names.set(name, undefined)
      for (const member of members) walk.scope.names.set(memberName(member), { holder: name })
      for (const member of members) {
        const init = member['initializer'] as Node | null | undefined
        const key = quote(memberName(member))
        if (init) {
          const equals = findToken(source, member['id'].end, '=')
          edits.replace(member.start, (equals === -1 ? init.start - 1 : equals) + 1, `${add}(${key},`)
          edits.close(member.end, ')')
          walk.visit(init, member)
        } else edits.replace(member.start, member.end, `${add}(${key})`)
        const comma = findToken(source, member.end, ',')
        if (comma !== -1 && comma < node.end) edits.replace(comma, comma + 1, ';')
      }
    }),
  )
  walk.note({
    kind: 'lowered',
    description: `enum ${name} became an object`,
    source: source.slice(start, Math.min(node.end, start + 60)),
  })
}

const lists = new Set(['Program', 'BlockStatement', 'SwitchCase', 'TSModuleBlock', 'StaticBlock', 'ClassBody'])

/** What becomes a lexical declaration must stand where one may stand. */
export function checkList(node: Node, parent: Node): void {
  if (!lists.has(parent.type))
    throw new Refusal('OUT-C001', 'A declaration cannot be the body of a statement.', node.start, ['Put braces around it.'])
}

const enumeration: Handler = (walk, node, parent) => {
  if (node['declare'] === true) {
    walk.edits.blankStatement(node.start, node.end)
    return
  }
  const name = node['id'].name as string
  if (parent.type === 'Program') {
    const merges = walk.isDeclared(name)
    walk.declare(name, 'enum', node['id'].start, node)
    lowerEnum(walk, node, node.start, `${walk.usesHelpers()}.enum({[${quote(name)}]:`, merges ? `${walk.h}.n.${name}` : '', '});')
    return
  }
  checkList(node, parent)
  const merges = walk.scope.names.has(name) && walk.scope.names.get(name) === undefined
  walk.scope.names.set(name, undefined)
  lowerEnum(walk, node, node.start, merges ? `${name}=` : `let ${name}=`, merges ? name : '', ';')
}

export const enumHandlers: Readonly<Record<string, Handler>> = { TSEnumDeclaration: enumeration }
