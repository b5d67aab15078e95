/** The REPL's tools in the engine process: a session lives here, longer than the programs that speak to it. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { ReplTools } from '../mcp/repl.ts'
import { sessionOf } from '../repl/tools.ts'
import type { Environment, Project } from '../runtime/project.ts'

/** Calls whose answers may still be confirmed; sessions whose caller is remembered. */
const maxKept = 200

export interface ServedRepl {
  has(op: string): boolean
  /** @param id - of the call; `repl.heard` names it. */
  call(
    id: string,
    op: string,
    input: unknown,
    how: { readonly signal: AbortSignal; progress(seconds: number): void; readonly env?: Environment },
  ): Promise<CallToolResult>
  /** Ends running cells and workers. */
  close(): Promise<void>
}

const names = ['run_code', 'edit_run_code', 'repl_state', 'repl_history', 'repl.heard']

export function createServedRepl(project: Project): ServedRepl {
  const unheard = new Map<string, CallToolResult>()
  /** Of who asked last for a session. */
  const envs = new Map<string, Environment>()
  let tools: Promise<ReplTools> | undefined
  // Most processes never see a cell.
  const load = async (): Promise<ReplTools> => {
    const [{ createReplTools }, { openRepl }] = await Promise.all([import('../mcp/repl.ts'), import('../node/repl.ts')])
    return createReplTools(project, session => {
      const env = envs.get(session)
      return openRepl(project, { session, ...(env !== undefined && { env }) })
    })
  }
  return {
    has: op => names.includes(op),
    async call(id, op, input, { signal, progress, env }) {
      tools ??= load()
      const repl = await tools
      if (op !== 'repl.heard') {
        if (env !== undefined) keep(envs, sessionOf(input), env)
        const answer = await repl.call(op, input, signal, progress)
        keep(unheard, id, answer)
        return answer
      }
      const heard = String((input as { id?: unknown } | null)?.id)
      const answer = unheard.get(heard)
      unheard.delete(heard)
      if (answer !== undefined) await repl.heard(answer)
      return { content: [] }
    },
    async close() {
      await (await tools?.catch(() => undefined))?.close()
    },
  }
}

/** The newest ones. */
function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of [...map.keys()].slice(0, Math.max(map.size - maxKept, 0))) map.delete(oldest)
}
