/** Declarations of TypeScript and JavaScript files, from Lezer's tree. */
import type { SyntaxNode } from '@lezer/common'
import { type Declaration, maxDepth, type SymbolKind } from './outline.ts'

/** What surrounds a declaration: its first and last byte are those of the outermost wrapper. */
interface Wrapper {
  readonly from: number
  readonly to: number
  readonly exported: boolean
  readonly isDefault: boolean
}

/** A list of statements being read: what was found so far, and the number of the statement at hand. */
interface Body {
  readonly depth: number
  readonly found: Declaration[]
  at: number
}

interface Alias {
  readonly local: string
  readonly name: string
  /** What the name stands for when `local` is not declared in the file. */
  readonly otherwise: Declaration | null
}

/**
 * The grammar knows no default class without a name: here it gets one, in place of `default`, so that
 * every offset stays. Parse this text, and walk the tree with it.
 */
export function withNamedDefault(text: string): string {
  if (!text.includes('default')) return text
  return text.replace(
    /(\bexport\s+)default(\s+)class(?=\s*(?:\{|extends\b|implements\b))/gu,
    (_all, before: string, blanks: string) => `${before}class ${anonymousDefault}${blanks.slice(1)}`,
  )
}

/** As long as `default`, and a name that nobody gives. */
const anonymousDefault = '\u01C2efault'

export function walkJavaScript(top: SyntaxNode, text: string): readonly Declaration[] {
  const aliases: Alias[] = []
  const body = createWalk(text, aliases).statements(top, 0)
  return [...body, ...aliased(body, aliases)]
}

/** `export { a as b }`: every declaration of `a` answers to `b` too. */
function aliased(body: readonly Declaration[], aliases: readonly Alias[]): readonly Declaration[] {
  return aliases.flatMap(({ local, name, otherwise }) => {
    const declared = body.filter(one => one.name === local)
    if (declared.length === 0) return otherwise === null ? [] : [otherwise]
    return declared.map(one => ({ ...one, name, exported: true }))
  })
}

function createWalk(text: string, aliases: Alias[]) {
  const textOf = (node: SyntaxNode) => text.slice(node.from, node.to)

  /** All declarations among the statements of a block or file. */
  function statements(container: SyntaxNode, depth: number): readonly Declaration[] {
    const body: Body = { depth, found: [], at: 0 }
    statementsInto(container, body)
    return body.found
  }

  function statementsInto(container: SyntaxNode, body: Body): void {
    // The grammar takes decorators before `export` for a class of their own.
    let decorators: number | undefined
    for (const node of childrenOf(container)) {
      if (isComment(node)) continue
      if (isOnlyDecorators(node)) {
        decorators ??= node.from
        continue
      }
      body.at += 1
      const wrapper = { from: decorators ?? node.from, to: node.to, exported: false, isDefault: false }
      statement(node, wrapper, body)
      decorators = undefined
    }
  }

  /** Statements of a block that belong to the body around it. */
  function nestedInto(block: SyntaxNode, body: Body): void {
    const inner: Body = { depth: body.depth + 1, found: body.found, at: body.at }
    statementsInto(block, inner)
    body.at = inner.at
  }

  function statement(node: SyntaxNode, wrapper: Wrapper, body: Body): void {
    switch (node.name) {
      case 'ExportDeclaration':
        exported(node, wrapper, body)
        return
      case 'AmbientDeclaration': {
        const inner = childrenOf(node).find(child => child.name !== 'declare')
        if (inner !== undefined) statement(inner, wrapper, body)
        return
      }
      // What these hold belongs to the file: `declare global`, and `declare module 'x'`, which the grammar splits.
      case 'GlobalDeclaration':
      case 'Block':
        for (const block of node.name === 'Block' ? [node] : node.getChildren('Block')) {
          if (body.depth < maxDepth) nestedInto(block, body)
        }
        return
      case 'VariableDeclaration':
        variables(node, wrapper, body)
        return
      case 'ExpressionStatement':
        commonJsExports(node, wrapper, body)
        return
      default:
        named(node, wrapper, body)
    }
  }

  function exported(node: SyntaxNode, wrapper: Wrapper, body: Body): void {
    const group = node.getChild('ExportGroup')
    if (group !== null) {
      if (node.getChild('String') === null) aliases.push(...aliasesOf(group))
      return
    }
    const isDefault = node.getChild('default') !== null
    const inner = childrenOf(node).find(child => !['export', 'default', ';'].includes(child.name) && !isComment(child))
    if (inner === undefined) return
    const outer = { ...wrapper, exported: true, isDefault }
    if (!isDefault) {
      statement(inner, outer, body)
      return
    }
    const itself = () => declaration('default', 'default', outer, memberDeclarations(inner, body.depth), body.at)
    if (inner.name === 'VariableName') {
      aliases.push({ local: textOf(inner), name: 'default', otherwise: itself() })
      return
    }
    const before = body.found.length
    statement(inner, outer, body)
    if (body.found.length === before) body.found.push(itself())
  }

  function aliasesOf(group: SyntaxNode): readonly Alias[] {
    return childrenOf(group).flatMap(node => {
      if (node.name !== 'as' || node.prevSibling === null || node.nextSibling === null) return []
      return [{ local: textOf(node.prevSibling), name: unquoted(textOf(node.nextSibling)), otherwise: null }]
    })
  }

  /** Functions, classes, interfaces, types, enums, namespaces. */
  function named(node: SyntaxNode, wrapper: Wrapper, body: Body): void {
    const kind = declarationKinds.get(node.name)
    if (kind === undefined) return
    const names = childrenOf(node)
      .filter(child => nameNodes.has(child.name))
      .map(textOf)
    const members = memberDeclarations(node, body.depth)
    const first = names[0]
    if (first === anonymousDefault) {
      body.found.push(declaration('default', kind, wrapper, members, body.at))
      return
    }
    if (first !== undefined) {
      const own = kind === 'namespace' ? names : [first]
      // `namespace A.B` is found as `A.B`, and as `A` whose only member is `B`.
      const nested = own
        .slice(1)
        .reduceRight<readonly Declaration[]>((inner, name) => [declaration(name, kind, wrapper, inner, 0)], members)
      body.found.push(declaration(own[0]!, kind, wrapper, nested, body.at))
    }
    if (wrapper.isDefault) body.found.push(declaration('default', kind, wrapper, members, body.at))
  }

  /** One declarator is the whole statement; one of several is itself. */
  function variables(node: SyntaxNode, wrapper: Wrapper, body: Body): void {
    const declarators = listItems(
      childrenOf(node).filter(child => !['const', 'let', 'var', 'using', 'await', ';'].includes(child.name)),
    )
    for (const [n, nodes] of declarators.entries()) {
      if (n > 0) body.at += 1
      const span = declarators.length === 1 ? wrapper : { ...wrapper, from: nodes[0]!.from, to: nodes.at(-1)!.to }
      const equals = nodes.findIndex(child => child.name === 'Equals')
      const value = equals < 0 ? undefined : nodes[equals + 1]
      const members = value === undefined ? [] : memberDeclarations(value, body.depth)
      for (const name of boundNames(nodes[0]!)) body.found.push(declaration(name, 'variable', span, members, body.at))
    }
  }

  function boundNames(pattern: SyntaxNode): readonly string[] {
    if (pattern.name === 'VariableDefinition') return [textOf(pattern)]
    const names: string[] = []
    pattern.cursor().iterate(node => {
      if (node.name === 'VariableDefinition') names.push(text.slice(node.from, node.to))
      // Defaults inside a pattern may hold functions with parameters of their own.
      return !node.name.endsWith('Expression') && node.name !== 'ArrowFunction'
    })
    return names
  }

  /** `exports.x = …`, `module.exports.x = …`, also in a row. */
  function commonJsExports(node: SyntaxNode, wrapper: Wrapper, body: Body): void {
    let assignment = node.getChild('AssignmentExpression')
    for (let n = 0; assignment !== null && n < maxDepth; n += 1) {
      const match = /^(?:module\s*\.\s*)?exports\s*\.\s*([\p{ID_Start}$_][\p{ID_Continue}$]*)$/u.exec(
        assignment.firstChild === null ? '' : textOf(assignment.firstChild),
      )
      const value = assignment.lastChild
      const outer = { ...wrapper, exported: true }
      const members = value === null ? [] : memberDeclarations(value, body.depth)
      if (match !== null) body.found.push(declaration(match[1]!, 'variable', outer, members, body.at))
      assignment = value?.name === 'AssignmentExpression' ? value : null
    }
  }

  /** What a declaration or an initial value holds: members, properties, or the functions of its body. */
  function memberDeclarations(node: SyntaxNode, depth: number): readonly Declaration[] {
    if (depth >= maxDepth) return []
    const value = unwrapped(node)
    switch (value.name) {
      case 'ClassDeclaration':
      case 'ClassExpression':
        return itemsOf(value.getChild('ClassBody'), depth)
      case 'InterfaceDeclaration':
        return itemsOf(value.getChild('ObjectType'), depth)
      case 'ObjectExpression':
        return itemsOf(value, depth)
      case 'EnumDeclaration':
        return enumMembers(value.getChild('EnumBody'))
      case 'NamespaceDeclaration': {
        const block = value.getChild('Block')
        return block === null ? [] : statements(block, depth + 1)
      }
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunction':
        return innerFunctions(value.getChild('Block'), depth)
      default:
        return []
    }
  }

  /** Members of classes and interfaces, properties of object literals. */
  function itemsOf(body: SyntaxNode | null, depth: number): readonly Declaration[] {
    const found: Declaration[] = []
    for (const [at, item] of itemNodes(body).entries()) {
      const kind = memberKinds.get(item.name)
      const nameNode = childrenOf(item).find(child => child.name === '[' || memberNames.has(child.name))
      // A computed name is no name.
      if (kind === undefined || nameNode === undefined || nameNode.name === '[') continue
      const isInterface = item.name.endsWith('Type')
      const block = isInterface ? null : item.getChild('Block')
      const value = item.lastChild?.name === ';' ? item.lastChild.prevSibling : item.lastChild
      const isFunctionValue = value?.name === 'ArrowFunction' || value?.name === 'FunctionExpression'
      const inner = innerFunctions(block ?? (isFunctionValue ? value.getChild('Block') : null), depth)
      const wrapper = { from: item.from, to: item.to, exported: false, isDefault: false }
      found.push(declaration(unquoted(textOf(nameNode)), kind, wrapper, inner, at))
    }
    return found
  }

  function itemNodes(body: SyntaxNode | null): readonly SyntaxNode[] {
    if (body === null) return []
    return childrenOf(body).filter(child => !isComment(child) && !['{', '}', ',', ';'].includes(child.name))
  }

  function enumMembers(body: SyntaxNode | null): readonly Declaration[] {
    if (body === null) return []
    const items = listItems(childrenOf(body).filter(child => child.name !== '{' && child.name !== '}'))
    return items.flatMap((nodes, at) => {
      const name = nodes[0]!
      if (name.name !== 'PropertyName' && name.name !== 'String') return []
      const wrapper = { from: name.from, to: nodes.at(-1)!.to, exported: false, isDefault: false }
      return [declaration(unquoted(textOf(name)), 'property', wrapper, [], at)]
    })
  }

  function innerFunctions(block: SyntaxNode | null, depth: number): readonly Declaration[] {
    if (block === null || depth >= maxDepth) return []
    const found: Declaration[] = []
    for (const [at, node] of childrenOf(block)
      .filter(child => !isComment(child))
      .entries()) {
      if (node.name !== 'FunctionDeclaration') continue
      const wrapper = { from: node.from, to: node.to, exported: false, isDefault: false }
      named(node, wrapper, { depth: depth + 1, found, at })
    }
    return found
  }

  return { statements }
}

const declarationKinds: ReadonlyMap<string, SymbolKind> = new Map<string, SymbolKind>([
  ['FunctionDeclaration', 'function'],
  ['AmbientFunctionDeclaration', 'function'],
  ['ClassDeclaration', 'class'],
  ['InterfaceDeclaration', 'interface'],
  ['TypeAliasDeclaration', 'type'],
  ['EnumDeclaration', 'enum'],
  ['NamespaceDeclaration', 'namespace'],
])

const nameNodes: ReadonlySet<string> = new Set(['VariableDefinition', 'TypeDefinition', 'PropertyDefinition'])

const memberKinds: ReadonlyMap<string, SymbolKind> = new Map<string, SymbolKind>([
  ['MethodDeclaration', 'method'],
  ['MethodType', 'method'],
  ['PropertyDeclaration', 'property'],
  ['PropertyType', 'property'],
  ['Property', 'property'],
])

const memberNames: ReadonlySet<string> = new Set(['PropertyDefinition', 'PrivatePropertyDefinition', 'String', 'Number'])

function declaration(name: string, kind: SymbolKind, wrapper: Wrapper, members: readonly Declaration[], at: number): Declaration {
  return { name, kind, from: wrapper.from, to: wrapper.to, exported: wrapper.exported, members, at }
}

/** Without parentheses, casts, `as` and `satisfies` around it. */
function unwrapped(node: SyntaxNode): SyntaxNode {
  let value = node
  for (let n = 0; n < maxDepth; n += 1) {
    const isCast = value.name === 'BinaryExpression' && (value.getChild('as') !== null || value.getChild('satisfies') !== null)
    const inner =
      value.name === 'ParenthesizedExpression'
        ? childrenOf(value).find(child => child.name !== '(' && !isComment(child))
        : value.name === 'PrefixCast'
          ? value.lastChild
          : isCast
            ? value.firstChild
            : null
    if (inner === null || inner === undefined) return value
    value = inner
  }
  return value
}

/** Groups of nodes between commas, comments left out. */
function listItems(nodes: readonly SyntaxNode[]): readonly (readonly SyntaxNode[])[] {
  const items: SyntaxNode[][] = [[]]
  for (const node of nodes) {
    if (node.name === ',') items.push([])
    else if (!isComment(node)) items.at(-1)!.push(node)
  }
  return items.filter(item => item.length > 0)
}

function isOnlyDecorators(node: SyntaxNode): boolean {
  return node.name === 'ClassDeclaration' && childrenOf(node).every(child => child.name === 'Decorator' || child.type.isError)
}

function isComment(node: SyntaxNode): boolean {
  return node.name === 'LineComment' || node.name === 'BlockComment'
}

function unquoted(text: string): string {
  return /^(['"]).*\1$/su.test(text) ? text.slice(1, -1) : text
}

function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  const children: SyntaxNode[] = []
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child)
  return children
}
