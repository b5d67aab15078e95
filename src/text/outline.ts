/**
 * Outline of a code file: the names it declares and where. Built on Lezer's error-tolerant grammars, which
 * are loaded on demand (`loadOutliner`), so that nobody pays for a parser that no file needs.
 * A language is a walk from its syntax tree to bodies of declarations (`outline-javascript.ts`,
 * `outline-python.ts`); naming and the joining of neighbours are the same for all and stand here.
 */
import type { Parser, SyntaxNode } from '@lezer/common'

export type Language = 'typescript' | 'javascript' | 'python'

export type SymbolKind =
  | 'function'
  | 'class'
  | 'interface'
  | 'type'
  | 'enum'
  | 'namespace'
  | 'variable'
  | 'method'
  | 'property'
  | 'default'

export interface OutlineSymbol {
  /** Dotted: `Job.run`. Repeats in file order when it is declared again elsewhere. */
  readonly name: string
  readonly kind: SymbolKind
  /** UTF-16 offsets of the whole declaration, end exclusive, no blanks at the end. */
  readonly start: number
  readonly end: number
  readonly exported: boolean
}

export interface Outline {
  /** In file order, a container before its members. */
  readonly symbols: readonly OutlineSymbol[]
}

/** One declaration as a walk finds it. */
export interface Declaration {
  readonly name: string
  readonly kind: SymbolKind
  readonly from: number
  readonly to: number
  readonly exported: boolean
  readonly members: readonly Declaration[]
  /** Position among the statements of its body: neighbours differ by one. */
  readonly at: number
}

/** A walk over one language's tree: the declarations of the file's outermost body. */
export type Walk = (top: SyntaxNode, text: string) => readonly Declaration[]

/**
 * @param limitMs - time the parser has; by default what ordinary code of that length stays far below.
 * @returns `null`: the parser did not come to an end in its time.
 */
export type Outliner = (text: string, limitMs?: number) => Outline | null

/** Bodies nested deeper than this have no names of their own. */
export const maxDepth = 64

/** The language of a file by its extension; `null` for all others. */
export function languageOf(path: string): Language | null {
  return grammarOf(path)?.language ?? null
}

/**
 * Load what outlines files like this one. Asked again it answers at once with the same outliner.
 *
 * @returns `null` when the file's language is not known.
 */
export async function loadOutliner(path: string): Promise<Outliner | null> {
  const grammar = grammarOf(path)
  if (grammar === undefined) return null
  const known = loaded.get(grammar)
  if (known !== undefined) return known
  const outliner = await grammar.load()
  loaded.set(grammar, outliner)
  return outliner
}

/** The outliner for files like this one, if `loadOutliner` was waited for; `undefined` when it was not. */
export function loadedOutliner(path: string): Outliner | undefined {
  const grammar = grammarOf(path)
  return grammar === undefined ? undefined : loaded.get(grammar)
}

interface Grammar {
  readonly extensions: RegExp
  readonly language: Language
  readonly load: () => Promise<Outliner>
}

const grammars: readonly Grammar[] = [
  { extensions: /\.[mc]?ts$/iu, language: 'typescript', load: () => loadJavaScript('ts') },
  { extensions: /\.tsx$/iu, language: 'typescript', load: () => loadJavaScript('ts jsx') },
  { extensions: /\.(?:[mc]?js|jsx)$/iu, language: 'javascript', load: () => loadJavaScript('jsx') },
  { extensions: /\.pyi?$/iu, language: 'python', load: loadPython },
]

/** Parsers that were needed so far: constants of the process once they are there. */
const loaded = new Map<Grammar, Outliner>()

function grammarOf(path: string): Grammar | undefined {
  return grammars.find(grammar => grammar.extensions.test(path))
}

async function loadJavaScript(dialect: string): Promise<Outliner> {
  const [{ parser }, { walkJavaScript, withNamedDefault }] = await Promise.all([
    import('@lezer/javascript'),
    import('./outline-javascript.ts'),
  ])
  const configured = parser.configure({ dialect })
  return (text, limitMs) => {
    const code = withNamedDefault(text)
    const top = parse(configured, code, limitMs)
    return top === null ? null : outlineOf(walkJavaScript(top, code), text)
  }
}

async function loadPython(): Promise<Outliner> {
  const [{ parser }, { walkPython }] = await Promise.all([import('@lezer/python'), import('./outline-python.ts')])
  return (text, limitMs) => {
    const top = parse(parser, text, limitMs)
    return top === null ? null : outlineOf(walkPython(top, text), text)
  }
}

/** Recovery from errors can cost many times what ordinary code does, so the parser runs step by step under a limit. */
function parse(parser: Parser, text: string, limitMs: number = limitFor(text)): SyntaxNode | null {
  const startedAt = performance.now()
  const running = parser.startParse(text)
  for (let step = 1; ; step += 1) {
    const tree = running.advance()
    if (tree !== null) return tree.topNode
    if (step % 64 === 0 && performance.now() - startedAt > limitMs) return null
  }
}

/** Ordinary code takes 1 to 2 s per million characters, several times that on a busy machine. */
function limitFor(text: string): number {
  return Math.min(20_000, 2000 + text.length * 0.02)
}

function outlineOf(body: readonly Declaration[], text: string): Outline {
  const symbols: OutlineSymbol[] = []
  collect(body, '', text, symbols)
  return { symbols: symbols.sort((a, b) => a.start - b.start || b.end - a.end) }
}

function collect(body: readonly Declaration[], prefix: string, text: string, into: OutlineSymbol[]): void {
  for (const { name, kind, from, to, exported, members } of joinNeighbours(body)) {
    into.push({ name: prefix + name, kind, start: from, end: endWithoutBlanks(text, from, to), exported })
    collect(members, `${prefix}${name}.`, text, into)
  }
}

/** Overloads, a getter and its setter: declarations of one name that follow one another are one symbol. */
function joinNeighbours(body: readonly Declaration[]): readonly Declaration[] {
  const joined: Declaration[] = []
  const last = new Map<string, number>()
  for (const one of body) {
    const index = last.get(one.name)
    const before = index === undefined ? undefined : joined[index]!
    if (index === undefined || before === undefined || one.at - before.at > 1) {
      last.set(one.name, joined.length)
      joined.push(one)
      continue
    }
    // Members of the two bodies keep their order, but are no neighbours of one another.
    const shift = (before.members.at(-1)?.at ?? 0) + 2
    const members = [...before.members, ...one.members.map(member => ({ ...member, at: member.at + shift }))]
    joined[index] = { ...before, to: Math.max(before.to, one.to), at: one.at, members }
  }
  return joined
}

function endWithoutBlanks(text: string, from: number, to: number): number {
  let end = to
  while (end > from && /\s/u.test(text[end - 1]!)) end -= 1
  return end
}
