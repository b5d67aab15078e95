/** The one table of operations: command line, MCP tools, hosts' tools and commands are projections of it. */
import { companionOperations } from '../companion/verbs/index.ts'
import { keelOperations } from '../keel/verbs/index.ts'
import { nextOperations } from '../next-step/verbs/index.ts'
import type { Designation } from '../pack/types.ts'
import { packOperations } from '../pack/verbs/index.ts'
import { packSessionOperations } from '../pack/verbs/session.ts'
import { engineOrder } from '../session/actions.ts'
import type { AnyOperation, Caller } from '../session/operation.ts'
import { nextConfig } from './config-next.ts'
import { askFor, commandLive, nextRecords } from './next.ts'
import { platformOperations } from './platform-operations.ts'
import type { Project } from './project.ts'
import { openSessionLog, sessionOperations } from './session-operations.ts'

/** In the order of help. Nothing of the project is read until an operation runs. */
export function operationsOf(project: Project): readonly AnyOperation[] {
  return [
    ...keelOperations(
      () => project.keel(),
      () => project.keelDeps(),
    ),
    ...companionOperations(() => project.companion()),
    ...packOperations({
      pack: () => project.pack(),
      files: project.files,
      openLog: (path, caller) => openSessionLog(project, path, caller),
      ask: (prompt, caller) => askForNotes(project, prompt, caller),
    }),
    ...packSessionOperations(() => project.store()),
    ...nextOperations({
      config: () => nextConfig(project.config.section('next')),
      openLog: (path, caller) => openSessionLog(project, path, caller),
      randomHex: digits => project.clock.randomHex(digits),
      ask: request => askFor(project, request),
      command: (session, args, by) => commandLive(project, session, args, by),
      records: (session, count) => nextRecords(project, session, count),
    }),
    ...sessionOperations(project),
    ...platformOperations(project),
  ].map(operation => ledgered(operation, project))
}

/** What the person's own model says to the question of a save. */
async function askForNotes(project: Project, prompt: string, caller: Caller): Promise<Designation> {
  const { designateMaxTokens: maxTokens, designateTimeoutMs: timeoutMs } = project.pack().config
  const reply = await project.models.ask({ prompt, maxTokens, timeoutMs }, caller.signal)
  return reply.kind === 'answered' ? { kind: 'reply', text: reply.text } : { kind: 'failed', reason: reply.message }
}

/** A verb that wrote leaves its line in the ledger, whichever door it came through. */
function ledgered(operation: AnyOperation, project: Project): AnyOperation {
  const { wrote } = operation
  const engine = engineOrder.find(name => operation.name.startsWith(`${name}.`))
  if (wrote === undefined || engine === undefined) return operation
  return {
    ...operation,
    run: async (input, caller) => {
      const output: unknown = await operation.run(input, caller)
      const line = wrote(output)
      if (line !== undefined) await project.ledger.write([{ ...line, engine, session: caller.session ?? null, turn: null }])
      return output
    },
  }
}
