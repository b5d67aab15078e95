/** A source that does not parse becomes a diagnostic: code, place, help, and an edit that repairs it where there is exactly one. */
import { eachChild, type Node } from './ast.ts'
import { helpFor } from './help.ts'
import { type ParseFault, parseCell } from './parse.ts'
import { lineStarts, locate } from './positions.ts'
import type { CompileRequest, Program, Rejection } from './program.ts'
import { findRepair } from './repair.ts'

const maxRepairedUnits = 128 * 1024
const budget = { maxParses: 64, maxMs: 25, now: (): number => performance.now() }

/** JSX, and syntax of proposals, parse with a plugin that is off here. */
function withoutForm(request: CompileRequest, fault: ParseFault): Rejection | undefined {
  const { source } = request
  const reject = (offset: number, message: string, help: readonly string[]): Rejection => ({
    kind: 'rejected',
    code: 'OUT-C003',
    name: 'SyntaxError',
    message,
    position: locate(source, offset),
    help,
  })
  if (fault.reason === 'MissingPlugin' || fault.reason === 'MissingOneOfPlugins')
    return reject(fault.offset, 'This syntax has no run-time form here.', [])
  if (request.jsx !== 'off' || !source.includes('<')) return undefined
  const parsed = parseCell(source, { ...request, jsx: 'react-jsx' })
  if (parsed.kind === 'fault') return undefined
  const first = firstElement(parsed.program)
  if (first === undefined) return undefined
  return reject(first.start, 'JSX is not available in cells.', [
    'Build the elements with function calls, or set `jsx: react-jsx` in the configuration.',
  ])
}

function firstElement(node: Node): Node | undefined {
  if (node.type === 'JSXElement' || node.type === 'JSXFragment') return node
  let found: Node | undefined
  eachChild(node, child => {
    found ??= firstElement(child)
  })
  return found
}

/** Never throws. */
export function diagnose(request: CompileRequest, fault: ParseFault, program?: Node): Rejection {
  const { source } = request
  const code = fault.reason === 'VarRedeclaration' ? 'OUT-N002' : 'OUT-C001'
  const plain: Rejection = {
    kind: 'rejected',
    code,
    name: 'SyntaxError',
    message: fault.message,
    position: locate(source, fault.offset),
    help: helpFor(source, fault),
  }
  if (source.length > maxRepairedUnits || fault.reason === 'TooDeep') return plain
  try {
    const other = withoutForm(request, fault)
    if (other !== undefined) return other
    const repair = findRepair({ source, fault, program }, text => parseCell(text, request).kind === 'parsed', budget)
    if (repair === undefined) return plain
    return { ...plain, edit: repair.edit, ...(repair.offset !== undefined && { position: locate(source, repair.offset) }) }
  } catch (error) {
    // The search goes as deep as the tree.
    if (error instanceof RangeError) return plain
    throw error
  }
}

const location = /^cell-\d+\.ts:(\d+)\n.*\n(\s*)\^/

/**
 * V8 refused what the parser accepted, such as a regular expression.
 *
 * @param error - of `new vm.Script`, with the stack that Node gives it.
 */
export function rejectSyntaxError(program: Program, error: { readonly message: string; readonly stack?: string }): Rejection {
  const match = location.exec(error.stack ?? '')
  const start = match === null ? undefined : lineStarts(program.code)[Number(match[1]) - 1]
  const generated = start === undefined ? 0 : start + match![2]!.length
  const code = program.code
  let offset = program.positions.toSource(generated)
  // Inside generated text: the nearest place before it.
  for (let at = generated; offset === undefined && at > 0 && at > generated - 200 && at <= code.length; at--)
    offset = program.positions.toSource(at)
  const fault: ParseFault = { reason: 'V8', message: error.message, offset: offset ?? 0 }
  return {
    kind: 'rejected',
    code: 'OUT-C001',
    name: 'SyntaxError',
    message: error.message,
    position: program.positions.locate(fault.offset),
    help: helpFor(program.source, fault),
  }
}
