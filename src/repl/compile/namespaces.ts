/**
 * Namespaces become functions that fill an object. Exported variables live on the object, so that everybody sees their changes; exported functions,
 * classes and enums are variables too and are put on it.
 */
import { boundNames, type Node } from './ast.ts'
import { checkList, lowerEnum } from './enums.ts'
import { declareLexical } from './functions.ts'
import { lowerImportEquals } from './modules.ts'
import { assignVariables } from './variables.ts'
import type { Walk } from './walk.ts'

const typesOnly = new Set(['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'TSDeclareFunction'])

/** Whether anything of the namespace exists at run time. */
function hasValues(node: Node): boolean {
  if (node['declare'] === true || node['kind'] === 'global' || node['id'].type === 'StringLiteral') return false
  const body = node['body'] as Node | null | undefined
  if (!body) return false
  return (body['body'] as Node[]).some(statement => {
    const inner = (statement.type === 'ExportNamedDeclaration' ? (statement['declaration'] ?? statement) : statement) as Node
    if (typesOnly.has(inner.type) || inner['declare'] === true || inner['importKind'] === 'type') return false
    return inner.type === 'TSModuleDeclaration' ? hasValues(inner) : true
  })
}

function pathOf(id: Node): string[] {
  return id.type === 'TSQualifiedName' ? [...pathOf(id['left']), id['right'].name] : [id['name']]
}

/** Names that the statements of a namespace declare for themselves. */
function ownNames(statements: readonly Node[]): Set<string> {
  const names = new Set<string>()
  for (const statement of statements) {
    const inner = (statement.type === 'ExportNamedDeclaration' ? (statement['declaration'] ?? statement) : statement) as Node
    if (inner.type === 'VariableDeclaration')
      for (const item of inner['declarations'] as Node[]) for (const id of boundNames(item['id'])) names.add(id['name'])
    else if (inner.type === 'TSModuleDeclaration') names.add(pathOf(inner['id'])[0]!)
    else if (inner['id']?.name !== undefined && !typesOnly.has(inner.type)) names.add(inner['id'].name)
  }
  return names
}

/**
 * @param start - where the declaration begins.
 * @param parent - the program for a namespace of the session.
 */
export function lowerNamespace(walk: Walk, node: Node, start: number, parent: Node): void {
  if (!hasValues(node)) {
    walk.edits.blankStatement(start, node.end)
    walk.typeRanges.push([start, node.end])
    return
  }
  const name = pathOf(node['id'])[0]!
  if (parent.type === 'Program') {
    const merges = walk.isDeclared(name)
    walk.declare(name, 'namespace', node['id'].start, node)
    const h = walk.usesHelpers()
    if (!merges) fill(walk, node, start, `${h}.namespace({[${JSON.stringify(name)}]:`, '{}', '});', name)
    else fill(walk, node, start, `${h}.f(`, `${h}.n.${name}`, ');', name)
  } else {
    checkList(node, parent)
    const merges = walk.scope.names.has(name) && walk.scope.names.get(name) === undefined
    walk.scope.names.set(name, undefined)
    fill(walk, node, start, merges ? `${name}=` : `let ${name}=`, merges ? name : '{}', ';', `${walk.counter}:${name}`)
  }
}

/** @param key - under which the exports of all parts of the namespace are known. */
function fill(walk: Walk, node: Node, start: number, before: string, base: string, after: string, key: string): void {
  const path = pathOf(node['id'])
  const body = node['body'] as Node
  const statements = body['body'] as Node[]
  const own = ownNames(statements)
  const holders = path.map(() => `${walk.h}_n${walk.counter++}`)
  const holder = holders.at(-1)!
  const visible = path.filter((name, index) => index < path.length - 1 || !own.has(name))
  let opening = before
  let closing = ''
  for (const [index, name] of path.entries()) {
    const parameters = visible.includes(name) ? `${name},${holders[index]}=${name}` : holders[index]
    opening += `((${parameters})=>{`
    if (index < path.length - 1) opening += `${holders[index]}.${path[index + 1]}=`
    closing = `;return ${holders[index]}})(${index === 0 ? base : `${holders[index - 1]}.${name}||{}`})${closing}`
  }
  walk.edits.replace(start, body.start + 1, opening)
  walk.edits.replace(node.end - 1, node.end, closing + after)
  const exported = exportsOf(walk, key + '.' + path.slice(1).join('.'))
  walk.deeper(() =>
    walk.within(false, () => {
      for (const name of visible) walk.scope.names.set(name, undefined)
      walk.within(true, () => {
        for (const name of exported) walk.scope.names.set(name, { holder })
        declareLexical(walk, statements)
        for (const statement of statements) noteExports(walk, statement, exported, holder)
        for (const statement of statements) visitStatement(walk, statement, body, holder)
      })
    }),
  )
  walk.note({
    kind: 'lowered',
    description: `namespace ${path.join('.')} became an object`,
    source: walk.source.slice(start, Math.min(node.end, start + 60)),
  })
}

function exportsOf(walk: Walk, key: string): Set<string> {
  const known = walk.namespaceExports.get(key)
  if (known !== undefined) return known
  const made = new Set<string>()
  walk.namespaceExports.set(key, made)
  return made
}

function noteExports(walk: Walk, statement: Node, exported: Set<string>, holder: string): void {
  const declaration = statement['declaration'] as Node | null | undefined
  if (statement.type !== 'ExportNamedDeclaration' || !declaration || declaration['declare'] === true) return
  if (declaration.type === 'VariableDeclaration') {
    for (const item of declaration['declarations'] as Node[]) {
      for (const id of boundNames(item['id'])) {
        exported.add(id['name'])
        walk.scope.names.set(id['name'], { holder })
      }
    }
  } else if (declaration.type === 'TSImportEqualsDeclaration') {
    exported.add(declaration['id'].name)
    walk.scope.names.set(declaration['id'].name, { holder })
  } else if (declaration.type === 'TSModuleDeclaration') exported.add(pathOf(declaration['id'])[0]!)
  else if (declaration['id']?.name !== undefined && !typesOnly.has(declaration.type)) exported.add(declaration['id'].name)
}

function visitStatement(walk: Walk, statement: Node, parent: Node, holder: string): void {
  const { edits } = walk
  if (statement.type === 'TSImportEqualsDeclaration') {
    if (statement['importKind'] === 'type') edits.blankStatement(statement.start, statement.end)
    else {
      walk.scope.names.set(statement['id'].name, undefined)
      lowerImportEquals(walk, statement, statement.start, `const ${statement['id'].name}=`, ';')
    }
    return
  }
  const declaration = statement['declaration'] as Node | null | undefined
  if (statement.type !== 'ExportNamedDeclaration' || !declaration) {
    if (statement.type.startsWith('Export')) edits.blankStatement(statement.start, statement.end)
    else walk.visit(statement, parent)
    return
  }
  const name = declaration['id']?.name as string | undefined
  switch (declaration.type) {
    case 'VariableDeclaration':
      if (declaration['declare'] === true) edits.blankStatement(statement.start, statement.end)
      else assignVariables(walk, declaration, statement.start, parent, () => undefined)
      break
    case 'FunctionDeclaration':
      edits.blank(statement.start, declaration.start)
      edits.open(parent.start + 1, `${holder}.${name}=${name};`)
      walk.visit(declaration, parent)
      break
    case 'ClassDeclaration':
      if (declaration['declare'] === true) edits.blankStatement(statement.start, statement.end)
      else {
        edits.blank(statement.start, declaration.start)
        edits.close(declaration.end, `;${holder}.${name}=${name};`)
        walk.visit(declaration, parent)
      }
      break
    case 'TSEnumDeclaration': {
      const merges = walk.scope.names.has(name!) && walk.scope.names.get(name!) === undefined
      walk.scope.names.set(name!, undefined)
      lowerEnum(walk, declaration, statement.start, `${merges ? '' : 'let '}${name}=${holder}.${name}=`, `${holder}.${name}`, ';')
      break
    }
    case 'TSModuleDeclaration': {
      if (!hasValues(declaration)) {
        edits.blankStatement(statement.start, statement.end)
        break
      }
      const inner = pathOf(declaration['id'])[0]!
      const merges = walk.scope.names.has(inner) && walk.scope.names.get(inner) === undefined
      walk.scope.names.set(inner, undefined)
      fill(
        walk,
        declaration,
        statement.start,
        `${merges ? '' : 'let '}${inner}=${holder}.${inner}=`,
        `${holder}.${inner}||{}`,
        ';',
        `${holder}:${inner}`,
      )
      break
    }
    case 'TSImportEqualsDeclaration':
      if (declaration['importKind'] === 'type') edits.blankStatement(statement.start, statement.end)
      else lowerImportEquals(walk, declaration, statement.start, `${holder}.${name}=`, ';')
      break
    default:
      edits.blankStatement(statement.start, statement.end)
  }
}
