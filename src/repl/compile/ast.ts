/** Nodes of the syntax tree, as loosely as the walk needs them, and the few questions asked of text between nodes. */

/** A node of Babel's tree; fields by its ESTree-like documentation. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  // biome-ignore lint/suspicious/noExplicitAny: a field holds nodes, lists of nodes, names or flags, by the type of its node
  readonly [field: string]: any
}

const notChildren = new Set(['loc', 'extra', 'errors', 'leadingComments', 'trailingComments', 'innerComments', 'tokens', 'range'])

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
}

/** Children of the commonest nodes; for others all fields are looked through. */
const childFields: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    ArrayExpression: ['elements'],
    BigIntLiteral: [],
    BinaryExpression: ['left', 'right'],
    BooleanLiteral: [],
    CatchClause: ['param', 'body'],
    ConditionalExpression: ['test', 'consequent', 'alternate'],
    DoWhileStatement: ['body', 'test'],
    EmptyStatement: [],
    ForStatement: ['init', 'test', 'update', 'body'],
    ImportExpression: ['source', 'options'],
    LogicalExpression: ['left', 'right'],
    NullLiteral: [],
    NumericLiteral: [],
    ObjectExpression: ['properties'],
    RegExpLiteral: [],
    SequenceExpression: ['expressions'],
    SpreadElement: ['argument'],
    StringLiteral: [],
    Super: [],
    SwitchCase: ['test', 'consequent'],
    TemplateLiteral: ['expressions'],
    ThisExpression: [],
    TryStatement: ['block', 'handler', 'finalizer'],
    WhileStatement: ['test', 'body'],
    YieldExpression: ['argument'],
  }),
)

/** Call `visit` for each child node, in the order of the tree's fields. */
export function eachChild(node: Node, visit: (child: Node) => void): void {
  const fields = childFields.get(node.type)
  if (fields !== undefined) {
    for (const field of fields) eachNode(node[field], visit)
    return
  }
  for (const field in node) if (!notChildren.has(field)) eachNode(node[field], visit)
}

function eachNode(value: unknown, visit: (child: Node) => void): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) if (isNode(item)) visit(item)
  } else if (isNode(value)) visit(value)
}

export function isLineEnd(code: number): boolean {
  return code === 10 || code === 13 || code === 0x2028 || code === 0x2029
}

const space = /\s/

/** The first offset at or after `at` that is neither white space nor inside a comment. */
export function skipTrivia(source: string, at: number): number {
  let position = at
  for (;;) {
    const character = source[position]
    if (character === undefined) return position
    if (character === '/' && source[position + 1] === '/') {
      while (position < source.length && !isLineEnd(source.charCodeAt(position))) position++
    } else if (character === '/' && source[position + 1] === '*') {
      const end = source.indexOf('*/', position + 2)
      position = end === -1 ? source.length : end + 2
    } else if (space.test(character) || character === '\ufeff') position++
    else return position
  }
}

/** The offset of `token` after `at`, over white space, comments and closing parentheses; -1 if something else comes first. */
export function findToken(source: string, at: number, token: string): number {
  let position = skipTrivia(source, at)
  while (source[position] === ')' && token !== ')') position = skipTrivia(source, position + 1)
  return source.startsWith(token, position) ? position : -1
}

const identifierPart = /[\p{ID_Continue}$\u200c\u200d]/u

/** End of the identifier that begins at `at`, written with escapes or not. */
export function identifierEnd(source: string, at: number): number {
  let position = at
  for (;;) {
    if (source[position] === '\\') {
      position = source[position + 2] === '{' ? source.indexOf('}', position) + 1 : position + 6
      continue
    }
    const point = source.codePointAt(position)
    if (point === undefined) return position
    const character = String.fromCodePoint(point)
    if (!identifierPart.test(character)) return position
    position += character.length
  }
}

export function isFunction(node: Node): boolean {
  return (
    node.type === 'FunctionDeclaration' ||
    node.type === 'FunctionExpression' ||
    node.type === 'ArrowFunctionExpression' ||
    node.type === 'ObjectMethod' ||
    node.type === 'ClassMethod' ||
    node.type === 'ClassPrivateMethod'
  )
}

/** Whether the language gives `node` the name of the variable it is assigned to. */
export function isAnonymousFunction(node: Node | null | undefined): boolean {
  if (node === null || node === undefined) return false
  if (node.type === 'ArrowFunctionExpression') return true
  return (node.type === 'FunctionExpression' || node.type === 'ClassExpression') && (node['id'] ?? null) === null
}

/** Identifiers that a binding pattern declares, in the order of the text. */
export function boundNames(pattern: Node | null, into: Node[] = []): Node[] {
  if (pattern === null) return into
  switch (pattern.type) {
    case 'Identifier':
      into.push(pattern)
      break
    case 'ObjectPattern':
      for (const property of pattern['properties'] as Node[])
        boundNames(property.type === 'RestElement' ? property : property['value'], into)
      break
    case 'ArrayPattern':
      for (const element of pattern['elements'] as (Node | null)[]) boundNames(element, into)
      break
    case 'AssignmentPattern':
      boundNames(pattern['left'], into)
      break
    case 'RestElement':
      boundNames(pattern['argument'], into)
      break
    case 'TSParameterProperty':
      boundNames(pattern['parameter'], into)
      break
  }
  return into
}
