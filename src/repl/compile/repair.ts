/**
 * Ready edits: a table of repairs, each a guess at what was meant. A guess is offered only if the repaired source parses and no other guess of its row
 * does. Bounded in time and in parses, so that it never delays anybody for long.
 */
import { eachChild, isFunction, type Node } from './ast.ts'
import { findOpeners, type Openers } from './openers.ts'
import type { ParseFault } from './parse.ts'
import type { ReadyEdit } from './program.ts'

export interface Change {
  readonly start: number
  readonly end: number
  readonly text: string
}

export interface Broken {
  readonly source: string
  readonly fault: ParseFault
  /** The tree, when the parser recovered. */
  readonly program: Node | undefined
}

interface Guess {
  readonly changes: readonly Change[]
  /** Where the fault really is. */
  readonly offset?: number
}

type Row = (broken: Broken, openers: Openers) => readonly Guess[]

const maxAppended = 4

const appendClosers: Row = ({ source }, { open, endsInLineComment }) => {
  if (open.length === 0 || open.length > maxAppended) return []
  const text = open.toReversed().map(opener => opener.closer)
  return [{ changes: [{ start: source.length, end: source.length, text: (endsInLineComment ? '\n' : '') + text.join('') }] }]
}

const dropCloser: Row = ({ fault }, { spurious, open }) => {
  if (spurious === -1) return []
  const places = new Set([spurious, ...(open.length === 0 ? [fault.offset] : [])])
  return [...places].map(start => ({ changes: [{ start, end: start + 1, text: '' }] }))
}

/** The text of a Markdown fence is the cell. */
const dropFence: Row = ({ source }) => {
  const opening = /^\s*```[^\n`]*\n/.exec(source)?.[0]
  const trimmed = source.trimEnd()
  if (opening === undefined || !trimmed.endsWith('```') || trimmed.length < opening.length + 3) return []
  const inside = source.slice(opening.length, trimmed.length - 3).trimEnd()
  const end = opening.length + inside.length
  return [
    {
      changes: [
        { start: 0, end: opening.length, text: '' },
        { start: end, end: source.length, text: '' },
      ],
    },
  ]
}

function replaceCode(source: string, { isCode }: Openers, pattern: RegExp, replace: (match: string) => string): Guess[] {
  const changes: Change[] = []
  for (const match of source.matchAll(pattern)) {
    if (isCode(match.index)) changes.push({ start: match.index, end: match.index + match[0].length, text: replace(match[0]) })
  }
  return changes.length === 0 ? [] : [{ changes }]
}

const lineEnds: Row = ({ source }, openers) =>
  source.trim().includes('\n') ? [] : replaceCode(source, openers, /\\n/g, () => '\n')

const entities: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"', '&#39;': "'" }
const htmlEntities: Row = ({ source }, openers) =>
  replaceCode(source, openers, /&(?:lt|gt|amp|quot|#39);/g, match => entities[match]!)

const straight: Readonly<Record<string, string>> = {
  '\u201c': '"',
  '\u201d': '"',
  '\u201e': '"',
  '\u2018': "'",
  '\u2019': "'",
  '\u201a': "'",
}
const quotes: Row = ({ source }, openers) =>
  replaceCode(source, openers, /[\u2018-\u201a\u201c-\u201e]/g, match => straight[match] ?? match)

/** Backticks inside a template literal: all but the outermost are escaped. */
const backticks: Row = ({ source }) => {
  const places = [...source.matchAll(/(?<!\\)`/g)].map(match => match.index)
  if (places.length < 3 || places.length > 40) return []
  return [{ changes: places.slice(1, -1).map(start => ({ start, end: start, text: '\\' })) }]
}

function innermostFunction(program: Node, offset: number): Node | undefined {
  let found: Node | undefined
  const visit = (node: Node): void => {
    if (node.start > offset || node.end < offset) return
    if (isFunction(node)) found = node
    eachChild(node, visit)
  }
  visit(program)
  return found
}

/** `await` in a function that is not async. */
const makeAsync: Row = ({ source, fault, program }) => {
  if (fault.reason !== 'AwaitNotInAsyncContext' || program === undefined) return []
  const found = innermostFunction(program, fault.offset)
  if (
    found === undefined ||
    found['async'] === true ||
    found['kind'] === 'get' ||
    found['kind'] === 'set' ||
    found['kind'] === 'constructor'
  )
    return []
  const isMethod = found.type.endsWith('Method')
  const key = isMethod ? (found['key'] as Node).start : found.start
  const at = isMethod && found['computed'] === true ? source.lastIndexOf('[', key) : key
  return [{ changes: [{ start: at, end: at, text: 'async ' }], offset: found.start }]
}

function declarationAt(
  program: Node | undefined,
  offset: number,
): { readonly declaration: Node; readonly declarator: Node } | undefined {
  let found: { declaration: Node; declarator: Node } | undefined
  const visit = (node: Node): void => {
    if (node.start > offset || node.end < offset) return
    if (node.type === 'VariableDeclaration') {
      for (const declarator of node['declarations'] as Node[])
        if (declarator.start <= offset && declarator.end >= offset) found = { declaration: node, declarator }
    }
    eachChild(node, visit)
  }
  if (program !== undefined) visit(program)
  return found
}

const initialise: Row = ({ fault, program }) => {
  if (fault.reason !== 'DeclarationMissingInitializer') return []
  const found = declarationAt(program, fault.offset)
  if (found === undefined) return []
  return [{ changes: [{ start: found.declaration.start, end: found.declaration.start + 'const'.length, text: 'let' }] }]
}

/** The second declaration of a name becomes an assignment, the first one something that can be assigned to. */
const assign: Row = ({ fault, program }) => {
  if (fault.reason !== 'VarRedeclaration') return []
  const found = declarationAt(program, fault.offset)
  if (
    found === undefined ||
    found.declaration['declarations'].length !== 1 ||
    found.declarator['id'].type !== 'Identifier' ||
    !found.declarator['init']
  )
    return []
  const name = found.declarator['id'].name as string
  const drop: Change = { start: found.declaration.start, end: found.declarator.start, text: '' }
  let first: Node | undefined
  const visit = (node: Node): void => {
    if (first !== undefined || node.start >= found.declaration.start) return
    const isFirst = node.type === 'VariableDeclaration' && (node['declarations'] as Node[]).some(item => item['id'].name === name)
    if (isFirst) first = node
    else if (node.end > found.declaration.start || node.end <= fault.offset) eachChild(node, visit)
  }
  visit(program!)
  const isConstant = first?.['kind'] === 'const'
  return [{ changes: [...(isConstant ? [{ start: first!.start, end: first!.start + 'const'.length, text: 'let' }] : []), drop] }]
}

const rows: readonly Row[] = [
  dropFence,
  makeAsync,
  initialise,
  assign,
  appendClosers,
  dropCloser,
  lineEnds,
  htmlEntities,
  quotes,
  backticks,
]

export function applyChanges(source: string, changes: readonly Change[]): string {
  let text = ''
  let position = 0
  for (const change of changes) {
    text += source.slice(position, change.start) + change.text
    position = change.end
  }
  return text + source.slice(position)
}

/** The changes as arguments of an edit: text appended, or one replacement of a text that occurs once. */
export function editOf(source: string, changes: readonly Change[]): ReadyEdit | undefined {
  const first = changes[0]
  const last = changes.at(-1)
  if (first === undefined || last === undefined) return undefined
  if (changes.length === 1 && first.start === source.length) return { append: first.text }
  let start = first.start
  let end = last.end
  let size = 8
  while (end === start || !occursOnce(source, start, end)) {
    if (start === 0 && end === source.length) return undefined
    start = Math.max(0, start - size)
    end = Math.min(source.length, end + size)
    size *= 2
  }
  // Offsets do not split a pair of surrogates.
  if (isLowSurrogate(source, start)) start--
  if (isLowSurrogate(source, end)) end++
  const moved = changes.map(change => ({ ...change, start: change.start - start, end: change.end - start }))
  const before = source.slice(start, end)
  const after = applyChanges(before, moved)
  return before === after ? undefined : { edits: [{ old_string: before, new_string: after }] }
}

function occursOnce(source: string, start: number, end: number): boolean {
  const text = source.slice(start, end)
  return source.indexOf(text) === start && source.indexOf(text, start + 1) === -1
}

function isLowSurrogate(source: string, at: number): boolean {
  const code = source.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff
}

export interface Budget {
  readonly maxParses: number
  readonly maxMs: number
  /** Milliseconds, of any clock that moves. */
  readonly now: () => number
}

export interface Repair {
  readonly edit: ReadyEdit
  readonly source: string
  readonly offset: number | undefined
}

/** @param parses - whether a source parses. */
export function findRepair(broken: Broken, parses: (source: string) => boolean, budget: Budget): Repair | undefined {
  const started = budget.now()
  const openers = findOpeners(broken.source)
  let left = budget.maxParses
  for (const row of rows) {
    const good: { readonly guess: Guess; readonly source: string }[] = []
    for (const guess of row(broken, openers)) {
      if (left-- <= 0 || budget.now() - started > budget.maxMs) return undefined
      const source = applyChanges(broken.source, guess.changes)
      if (source !== broken.source && parses(source)) good.push({ guess, source })
    }
    const only = good[0]
    if (only === undefined) continue
    if (good.length > 1) return undefined
    const edit = editOf(broken.source, only.guess.changes)
    return edit === undefined ? undefined : { edit, source: only.source, offset: only.guess.offset }
  }
  return undefined
}
