/** Imports are loaded before the body and bound as live names; exports are dropped, a default export is bound as `__default`. */
import { type Node, skipTrivia } from './ast.ts'
import { commitClass } from './classes.ts'
import { visitFunction, visitTopFunction } from './functions.ts'
import { lowerNamespace } from './namespaces.ts'
import type { ImportBinding } from './program.ts'
import { visitVariables } from './variables.ts'
import { type Handler, Refusal, type Walk } from './walk.ts'

/** Modules that would take the worker's own means away, or show them. */
const refused = new Set(['cluster', 'inspector', 'inspector/promises', 'repl'])

/** Whether a cell may not load the module, under either of its names. */
export function isRefusedModule(specifier: string): boolean {
  return refused.has(specifier.startsWith('node:') ? specifier.slice(5) : specifier)
}

function checkModule(source: Node): void {
  const specifier = source['value'] as string
  if (isRefusedModule(specifier))
    throw new Refusal('OUT-C002', `The module '${specifier}' cannot be used in a cell.`, source.start, [
      'Run a child process that uses it.',
    ])
}

function checkPlace(node: Node, parent: Node, word: string): void {
  if (parent.type !== 'Program')
    throw new Refusal('OUT-C001', `'${word}' may only appear at the top level of the cell.`, node.start)
}

function attributesOf(node: Node): Record<string, string> {
  const attributes: Record<string, string> = {}
  for (const attribute of (node['attributes'] ?? []) as Node[])
    attributes[attribute['key'].name ?? attribute['key'].value] = attribute['value'].value
  return attributes
}

const exportedName = (node: Node): string => (node['name'] ?? node['value']) as string

const importDeclaration: Handler = (walk, node, parent) => {
  checkPlace(node, parent, 'import')
  walk.edits.blankStatement(node.start, node.end)
  if (node['importKind'] === 'type' || node['importKind'] === 'typeof') return
  const source = node['source'] as Node
  const specifiers = node['specifiers'] as Node[]
  const values = specifiers.filter(item => item['importKind'] !== 'type' && item['importKind'] !== 'typeof')
  // All of them types: the module is still loaded, as the language says.
  checkModule(source)
  const bindings: ImportBinding[] = values.map(item => {
    const local = item['local'] as Node
    walk.declare(local['name'], 'import', local.start, item)
    const imported =
      item.type === 'ImportNamespaceSpecifier'
        ? '*'
        : item.type === 'ImportDefaultSpecifier'
          ? 'default'
          : exportedName(item['imported'])
    return { local: local['name'], imported, optional: false }
  })
  walk.imports.push({
    start: node.start,
    end: node.end,
    specifier: source['value'],
    attributes: attributesOf(node),
    bindings,
    required: [],
  })
  walk.note({
    kind: 'import',
    description: `'${source['value']}' is loaded before the cell runs`,
    source: walk.source.slice(node.start, node.end),
  })
}

/** `import x = require('m')`, `import x = A.B`. @param bind - the text before the value, and after it. */
export function lowerImportEquals(walk: Walk, node: Node, start: number, before: string, after: string): void {
  const reference = node['moduleReference'] as Node
  walk.edits.replace(start, reference.start, before)
  if (walk.source[node.end - 1] === ';') walk.edits.replace(node.end - 1, node.end, after)
  else walk.edits.close(node.end, after)
  if (reference.type === 'TSExternalModuleReference') checkModule(reference['expression'])
  else {
    let root = reference
    while (root.type === 'TSQualifiedName') root = root['left']
    walk.refer(root)
  }
  walk.note({
    kind: 'lowered',
    description: `import ${node['id'].name} = … became a constant`,
    source: walk.source.slice(start, node.end),
  })
}

function importEqualsAt(walk: Walk, node: Node, start: number): void {
  if (node['importKind'] === 'type') {
    walk.edits.blankStatement(start, node.end)
    return
  }
  const id = node['id'] as Node
  walk.declare(id['name'], 'import', id.start, node)
  lowerImportEquals(walk, node, start, `${walk.usesHelpers()}.import({[${JSON.stringify(id['name'])}]:`, '});')
}

const importEquals: Handler = (walk, node, parent) => {
  checkPlace(node, parent, 'import')
  importEqualsAt(walk, node, node.start)
}

const exportAll: Handler = (walk, node, parent) => {
  checkPlace(node, parent, 'export')
  walk.edits.blankStatement(node.start, node.end)
  if (node['exportKind'] === 'type') return
  reExport(walk, node, [])
}

function reExport(walk: Walk, node: Node, required: readonly string[]): void {
  const source = node['source'] as Node
  checkModule(source)
  walk.imports.push({
    start: node.start,
    end: node.end,
    specifier: source['value'],
    attributes: attributesOf(node),
    bindings: [],
    required,
  })
  walk.note({
    kind: 'export',
    description: `'${source['value']}' is loaded; nothing is exported`,
    source: walk.source.slice(node.start, node.end),
  })
}

const exportNamed: Handler = (walk, node, parent) => {
  checkPlace(node, parent, 'export')
  const declaration = node['declaration'] as Node | null
  if (declaration) {
    exportDeclaration(walk, node, declaration, parent)
    return
  }
  walk.edits.blankStatement(node.start, node.end)
  if (node['exportKind'] === 'type') return
  const specifiers = (node['specifiers'] as Node[]).filter(item => item['exportKind'] !== 'type')
  if (node['source']) {
    reExport(
      walk,
      node,
      specifiers.flatMap(item => (item.type === 'ExportSpecifier' ? [exportedName(item['local'])] : [])),
    )
    return
  }
  for (const item of specifiers) walk.exported.push(item['local'])
  walk.note({ kind: 'export', description: 'the export list was dropped', source: walk.source.slice(node.start, node.end) })
}

/** Leave out `export`, `default` and what stands between them, before `declaration` or after its decorators. */
function dropWords(walk: Walk, node: Node, declaration: Node): void {
  const decorators = (declaration['decorators'] ?? []) as Node[]
  if (decorators.length === 0 || decorators[0]!.start >= node.start + 6) {
    walk.edits.blank(node.start, declaration.start)
    return
  }
  const from = decorators.at(-1)!.end
  const match = /export(\s+default)?/.exec(walk.source.slice(from, declaration['body'].start))
  if (match !== null) walk.edits.blank(from + match.index, from + match.index + match[0].length)
}

function exportDeclaration(walk: Walk, node: Node, declaration: Node, parent: Node): void {
  walk.note({
    kind: 'export',
    description: 'export was dropped',
    source: walk.source.slice(node.start, Math.min(node.end, node.start + 40)),
  })
  switch (declaration.type) {
    case 'VariableDeclaration':
      visitVariables(walk, declaration, parent, node.start)
      break
    case 'FunctionDeclaration':
      visitTopFunction(walk, declaration, node.start)
      break
    case 'ClassDeclaration':
      if (declaration['declare'] === true) walk.edits.blankStatement(node.start, node.end)
      else {
        dropWords(walk, node, declaration)
        commitClass(walk, declaration, parent)
      }
      break
    case 'TSEnumDeclaration':
    case 'TSModuleDeclaration':
      walk.edits.blank(node.start, declaration.start)
      walk.visit(declaration, parent)
      break
    case 'TSImportEqualsDeclaration':
      importEqualsAt(walk, declaration, node.start)
      break
    default:
      walk.edits.blankStatement(node.start, node.end)
      walk.typeRanges.push([node.start, node.end])
  }
}

const bound = '__default'

const exportDefault: Handler = (walk, node, parent) => {
  checkPlace(node, parent, 'export')
  const value = node['declaration'] as Node
  const { edits } = walk
  if (value.type.startsWith('TS') && (value.type.endsWith('Declaration') || value.type === 'TSDeclareFunction')) {
    edits.blankStatement(node.start, node.end)
    return
  }
  const h = walk.usesHelpers()
  walk.declare(bound, 'const', node.start, node)
  walk.note({
    kind: 'export',
    description: `export default became the name ${bound}`,
    source: walk.source.slice(node.start, Math.min(node.end, node.start + 40)),
  })
  const id = value['id'] as Node | null | undefined
  if (value.type === 'FunctionDeclaration' && id) {
    visitTopFunction(walk, value, node.start)
    walk.prelude.push(`${h}.default({["default"]:${h}.n.${id['name']}});`)
  } else if (value.type === 'ClassDeclaration' && id) {
    edits.close(value.end, `${h}.default({["default"]:${h}.n.${id['name']}});`)
    dropWords(walk, node, value)
    commitClass(walk, value, parent)
  } else if (value.type === 'FunctionDeclaration') {
    // Without a name it is still created when the cell starts.
    edits.blankStatement(node.start, value.start)
    walk.defaultFunction = value
    const outer = walk.top
    walk.top = undefined
    visitFunction(walk, value)
    walk.top = outer
  } else {
    const after = skipTrivia(walk.source, walk.source.indexOf('default', node.start + 6) + 7)
    edits.replace(node.start, after, `${h}.default({["default"]:`)
    closeStatement(walk, node, '});')
    walk.visit(value.type === 'ClassDeclaration' ? { ...value, type: 'ClassExpression' } : value, node)
  }
}

/** Close what was opened around the value of a statement, before its semicolon or instead of it. */
function closeStatement(walk: Walk, node: Node, text: string): void {
  walk.edits.close(walk.source[node.end - 1] === ';' ? node.end - 1 : node.end, text)
}

const exportAssignment: Handler = (walk, node, parent) => {
  checkPlace(node, parent, 'export')
  walk.declare(bound, 'const', node.start, node)
  const equals = walk.source.indexOf('=', node.start)
  walk.edits.replace(node.start, equals + 1, `${walk.usesHelpers()}.default({["default"]:`)
  closeStatement(walk, node, '});')
  walk.note({
    kind: 'export',
    description: `export = became the name ${bound}`,
    source: walk.source.slice(node.start, Math.min(node.end, node.start + 40)),
  })
  walk.visit(node['expression'], node)
}

export const moduleHandlers: Readonly<Record<string, Handler>> = {
  ImportDeclaration: importDeclaration,
  ExportAllDeclaration: exportAll,
  ExportNamedDeclaration: exportNamed,
  ExportDefaultDeclaration: exportDefault,
  TSImportEqualsDeclaration: importEquals,
  TSExportAssignment: exportAssignment,
  TSModuleDeclaration: (walk, node, parent) => lowerNamespace(walk, node, node.start, parent),
}
