/** The operations that belong to no engine. */
import type { AnyOperation } from '../session/operation.ts'
import { doctorOperation } from './doctor.ts'
import { initOperation } from './init.ts'
import { ledgerOperation } from './ledger-operation.ts'
import type { Project } from './project.ts'
import { sessionOperations } from './session-operations.ts'

export function platformOperations(project: Project): readonly AnyOperation[] {
  return [doctorOperation(project), initOperation(project), ledgerOperation(project), ...sessionOperations(project)]
}
