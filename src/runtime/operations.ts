/** The one table of operations: command line, MCP tools, hosts' tools and commands are projections of it. */
import { keelOperations } from '../keel/verbs/index.ts'
import type { AnyOperation } from '../session/operation.ts'
import { platformOperations } from './platform-operations.ts'
import type { Project } from './project.ts'
import { sessionOperations } from './session-operations.ts'

/** In the order of help. Nothing of the project is read until an operation runs. */
export function operationsOf(project: Project): readonly AnyOperation[] {
  return [
    ...keelOperations(
      () => project.keel(),
      () => project.keelDeps(),
    ),
    ...sessionOperations(project),
    ...platformOperations(project),
  ]
}
