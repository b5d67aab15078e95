/**
 * A cell becomes a program: one parse, one walk that collects edits, one assembly. The program is an async function whose free names are properties of
 * the global object, so that code of every cell refers to the same variable by its name.
 */
import { type Node, skipTrivia } from './ast.ts'
import { classHandlers } from './classes.ts'
import { diagnose } from './diagnose.ts'
import { Edits, Output } from './edits.ts'
import { enumHandlers } from './enums.ts'
import { eraseHandlers, guardEnd } from './erase.ts'
import { declareLexical, functionHandlers } from './functions.ts'
import { fenceFault } from './help.ts'
import { lowerLegacyClass } from './legacy-decorators.ts'
import { closeAll } from './literals.ts'
import { moduleHandlers } from './modules.ts'
import { freshName } from './names.ts'
import { parseCell } from './parse.ts'
import { createPositionMap, locate } from './positions.ts'
import type { Compiled, CompileRequest, Program, Rejection } from './program.ts'
import { referenceHandlers } from './references.ts'
import { createScope, type Reference } from './scopes.ts'
import { jsxHandlers, transformParts } from './second-compiler.ts'
import { disposing, findUsing, lowerDeclaration } from './using.ts'
import { variableHandlers } from './variables.ts'
import { type Handler, Refusal, rewriteReference, Walk } from './walk.ts'

const expressionStatement: Handler = (walk, node) => {
  const isEcho = node.start === walk.echoAt
  if (isEcho) {
    const ended = walk.source[node.end - 1] === ';'
    walk.edits.open(node.start, `${walk.usesHelpers()}.echo((`)
    walk.edits.close(ended ? node.end - 1 : node.end, ended ? '))' : '));')
  }
  walk.visit(node['expression'], node)
  if (!isEcho) guardEnd(walk, node)
}

const handlers: ReadonlyMap<string, Handler> = new Map(
  Object.entries({
    ...referenceHandlers,
    ...eraseHandlers,
    ...functionHandlers,
    ...variableHandlers,
    ...classHandlers,
    ...enumHandlers,
    ...moduleHandlers,
    ...jsxHandlers,
    ExpressionStatement: expressionStatement,
  }),
)

/** The source with a leading BOM and a hashbang line as blanks; a `-->` that begins it stays a comment when it no longer stands first. */
function prepare(source: string): string {
  const mark = source.charCodeAt(0) === 0xfeff ? 1 : 0
  const hash = source.startsWith('#!', mark) ? (/[\n\r\u2028\u2029]/.exec(source)?.index ?? source.length) : mark
  const prepared = hash === 0 ? source : ' '.repeat(hash) + source.slice(hash)
  if (!prepared.includes('-->')) return prepared
  const start = skipTrivia(prepared, 0)
  return prepared.startsWith('-->', start) ? `${prepared.slice(0, start)}// ${prepared.slice(start + 3)}` : prepared
}

/**
 * @returns the program or the reason why there is none; a promise only for a cell with decorators, whose compiler is loaded then. Never throws for a
 * source.
 */
export function compile(request: CompileRequest): Compiled | Promise<Compiled> {
  const prepared: CompileRequest = { ...request, source: prepare(request.source) }
  try {
    return compilePrepared(prepared, request.source)
  } catch (error) {
    return rejectionOf(request, error)
  }
}

function rejectionOf(request: CompileRequest, error: unknown): Rejection {
  if (error instanceof Refusal) {
    const { code, message, offset, help } = error
    return {
      kind: 'rejected',
      code,
      name: code === 'OUT-C002' ? 'Error' : 'SyntaxError',
      message,
      position: locate(request.source, offset),
      help,
    }
  }
  // The walk goes as deep as the code is nested.
  if (error instanceof RangeError) {
    return {
      kind: 'rejected',
      code: 'OUT-C001',
      name: 'SyntaxError',
      message: 'The code is nested too deeply.',
      position: { line: 1, column: 1 },
      help: [],
    }
  }
  throw error
}

function compilePrepared(request: CompileRequest, submitted: string): Compiled | Promise<Compiled> {
  const { source } = request
  const fence = fenceFault(source)
  if (fence !== undefined) return diagnose(request, fence)
  const parsed = parseCell(source, request)
  if (parsed.kind === 'fault') return diagnose(request, parsed.fault, parsed.program)
  const tree = parsed.program
  const strict = (tree['directives'] as Node[]).some(item =>
    /^(['"])use strict\1$/.test(source.slice(item.start, item['value'].end)),
  )
  const walk = new Walk(request, new Edits(source), freshName(source), strict, handlers)
  walkCell(walk, tree)
  const references = resolve(walk)
  for (const node of walk.legacy.toSorted((a, b) => b.start - a.start)) lowerLegacyClass(walk, node)
  if (walk.second.length === 0) return assemble(walk, references, submitted)
  return transformParts(walk).then(
    () => assemble(walk, references, submitted),
    (error: unknown) => rejectionOf(request, error),
  )
}

function walkCell(walk: Walk, tree: Node): void {
  const statements = tree['body'] as Node[]
  // Lexical names of the cell are not put in a scope: they are looked up as names of the session.
  const lexical = createScope(undefined, true)
  const scope = walk.scope
  walk.scope = lexical
  declareLexical(
    walk,
    statements.filter(statement => statement.type !== 'FunctionDeclaration'),
  )
  walk.scope = scope
  for (const name of lexical.names.keys()) walk.topLexical.add(name)
  if (walk.request.echo === 'last') findEcho(walk, tree, statements)
  const kind = findUsing(walk, statements)
  if (kind !== 'none') {
    const using = disposing(walk, kind)
    walk.body = using
    for (const statement of statements)
      if (['using', 'await using'].includes(statement['kind'])) lowerDeclaration(walk, statement, using.list)
  }
  walk.visitAll(statements, tree)
  checkExports(walk)
}

function findEcho(walk: Walk, tree: Node, statements: readonly Node[]): void {
  const last = statements.findLast(statement => statement.type !== 'EmptyStatement')
  if (last?.type === 'ExpressionStatement') walk.echoAt = last.start
  const directive = (tree['directives'] as Node[]).at(-1)
  if (last !== undefined || directive === undefined) return
  walk.edits.open(directive.end, `;${walk.usesHelpers()}.echo((${walk.source.slice(directive.start, directive['value'].end)}));`)
}

/** An export list names what exists. */
function checkExports(walk: Walk): void {
  for (const local of walk.exported) {
    const name = local['name'] as string
    const exists =
      walk.request.known.has(name) || walk.request.platformNames.has(name) || walk.locals.has(name) || walk.isDeclared(name)
    if (!exists) throw new Refusal('OUT-C001', `Export '${name}' is not defined.`, local.start)
  }
}

interface Resolved {
  readonly free: ReadonlyMap<string, readonly number[]>
  readonly writes: ReadonlySet<string>
  readonly hidden: ReadonlySet<string>
}

/** What the references that no scope declares mean, and the edits that follow from it. */
function resolve(walk: Walk): Resolved {
  const { request, h } = walk
  const declared = new Set(walk.declared.map(entry => entry.name))
  const hidden = new Set([...request.platformNames].filter(name => declared.has(name) || request.known.has(name)))
  for (const name of request.lost ?? []) if (!declared.has(name)) hidden.add(name)
  const free = new Map<string, number[]>()
  const writes = new Set<string>(walk.lateWrites)
  const own: Reference[] = []
  for (const reference of walk.root.references) {
    const { name, start, top } = reference
    if (walk.locals.has(name)) {
      // A variable of the wrapper is seen only by what is created inside it.
      if (top !== undefined) top.needsHelpers = true
      closeAll(reference.literal)
      continue
    }
    if (name === 'eval' || name === 'Function') closeAll(reference.literal)
    if (hidden.has(name) || !request.platformNames.has(name))
      for (let literal = reference.literal; literal !== undefined; literal = literal.parent) literal.free.add(name)
    const places = free.get(name)
    if (places === undefined) free.set(name, [start])
    else places.push(start)
    if (reference.write) writes.add(name)
    if (hidden.has(name) || walk.heads.some(head => head.name === name && start >= head.start && start < head.end)) {
      rewriteReference(walk, reference, `${h}.n.${name}`, `${h}.t.${name}`)
    } else if (top !== undefined && top.name === name) own.push(reference)
  }
  for (const reference of own) {
    const top = reference.top!
    if (walk.strict || top.needsHelpers) rewriteReference(walk, reference, `${h}.n.${reference.name}`, `${h}.t.${reference.name}`)
  }
  for (const places of free.values()) places.sort((a, b) => a - b)
  return { free, writes, hidden }
}

const quote = JSON.stringify

function assemble(walk: Walk, resolved: Resolved, submitted: string): Program {
  const { edits, h, request, strict } = walk
  const moved = walk.topFunctions.filter(top => strict || top.needsHelpers)
  const twin = walk.topFunctions.filter(top => !moved.includes(top))
  const ranges = walk.topFunctions.map(top => top.node)
  if (walk.defaultFunction !== undefined) ranges.push(walk.defaultFunction)

  const output = new Output()
  output.add(strict ? `(async(${h})=>{'use strict';` : `(async(${h})=>{`)
  output.add(walk.body.before)
  if (twin.length > 0) output.add(`(0,${h}.eval)(${h}.functions);${h}.created();`)
  for (const top of moved) {
    output.add(`${h}.function({[${quote(top.name)}]:`)
    edits.renderPart(output, top.node.start, top.node.end)
    output.add('});')
  }
  if (walk.defaultFunction !== undefined) {
    output.add(`${h}.default({["default"]:`)
    edits.renderPart(output, walk.defaultFunction.start, walk.defaultFunction.end)
    output.add('});')
  }
  if (walk.vars.size > 0) output.add(`${h}.vars();`)
  for (const text of walk.prelude) output.add(text)
  // V8 counts no columns before the first: only what stands for nothing may be left of it.
  const columnOffset = output.segments.length > 0 ? 0 : -output.code.length
  edits.renderWhole(output, ranges)
  output.add(`${walk.body.after}\n})`)

  const fileName = `cell-${request.cell}.ts`
  const functions = new Output()
  let position = 0
  for (const { node } of twin) {
    functions.at(blankTo(walk.source, position, node.start), position)
    edits.renderPart(functions, node.start, node.end)
    position = node.end
  }
  if (twin.length > 0) functions.add(`\n//# sourceURL=cell-${request.cell}.functions.ts`)

  const { free, writes, hidden } = resolved
  const declaredNames = new Set(walk.declared.map(entry => entry.name))
  const touch = new Set([...free.keys(), ...declaredNames].filter(name => hidden.has(name) || !request.platformNames.has(name)))
  const isPlatform = (name: string): boolean => free.has(name) && request.platformNames.has(name) && !hidden.has(name)
  noteRedeclarations(walk)
  return {
    kind: 'program',
    cell: request.cell,
    source: submitted,
    fileName,
    code: output.code,
    columnOffset,
    functions: functions.code,
    functionPositions: createPositionMap(submitted, functions.code, functions.segments, 0),
    hoisted: { functions: twin.map(top => top.name), vars: [...walk.vars] },
    strict,
    imports: walk.imports.map(item => ({
      ...item,
      bindings: item.bindings.map(binding => ({
        ...binding,
        optional: binding.imported !== '*' && !free.has(binding.local) && isTypeName(walk, binding.local),
      })),
    })),
    declared: walk.declared,
    touch: [...touch].sort(),
    writes: [...writes].sort(),
    occurrences: free,
    dynamic: walk.dynamic || isPlatform('eval') || isPlatform('Function'),
    world: [...walk.worldRoots].some(isPlatform),
    literals: walk.literals(),
    rewrites: walk.rewrites,
    positions: createPositionMap(submitted, output.code, output.segments, columnOffset),
  }
}

const notLineEnd = /[^\n\r\u2028\u2029]/g

function blankTo(source: string, start: number, end: number): string {
  return source.slice(start, end).replace(notLineEnd, ' ')
}

function isTypeName(walk: Walk, name: string): boolean {
  return walk.typeRanges.some(([start, end]) => containsName(walk.source.slice(start, end), name))
}

function containsName(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    if (!/[\w$]/.test(text[at - 1] ?? ' ') && !/[\w$]/.test(text[at + name.length] ?? ' ')) return true
  }
  return false
}

function noteRedeclarations(walk: Walk): void {
  for (const { name, kind } of walk.declared) {
    const before = walk.request.known.get(name)
    if (before !== undefined)
      walk.note({ kind: 'redeclaration', description: `${name} is declared again as ${kind} (it was ${before})` })
  }
}
