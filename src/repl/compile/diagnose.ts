import type { ParseFault } from './parse.ts'
import { locate } from './positions.ts'
import type { CompileRequest, Rejection } from './program.ts'
export function diagnose(request: CompileRequest, fault: ParseFault): Rejection {
  const code = fault.reason === 'VarRedeclaration' ? 'OUT-N002' : 'OUT-C001'
  return {
    kind: 'rejected',
    code,
    name: 'SyntaxError',
    message: fault.message,
    position: locate(request.source, fault.offset),
    help: [],
  }
}

export function rejectSyntaxError(program: { readonly source: string }, error: Error): Rejection {
  return {
    kind: 'rejected',
    code: 'OUT-C001',
    name: 'SyntaxError',
    message: error.message,
    position: { line: 1, column: 1 },
    help: [error.stack ?? ''],
  }
}
