/** The REPL's tools in the engine process: a session lives here, longer than the programs that speak to it. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { ReplTools } from '../mcp/repl.ts'
import type { Project } from '../runtime/project.ts'

/** Calls whose answers may still be confirmed. */
const maxUnheard = 200

export interface ServedRepl {
  has(op: string): boolean
  /** @param id - of the call; `repl.heard` names it. */
  call(id: string, op: string, input: unknown, signal: AbortSignal, progress: (seconds: number) => void): Promise<CallToolResult>
  /** Ends running cells and workers. */
  close(): Promise<void>
}

const names = ['run_code', 'edit_run_code', 'repl_state', 'repl_history', 'repl.heard']

export function createServedRepl(project: Project): ServedRepl {
  const unheard = new Map<string, CallToolResult>()
  let tools: Promise<ReplTools> | undefined
  // Most processes never see a cell.
  const load = async (): Promise<ReplTools> => {
    const [{ createReplTools }, { openRepl }] = await Promise.all([import('../mcp/repl.ts'), import('../node/repl.ts')])
    return createReplTools(project, session => openRepl(project, { session }))
  }
  return {
    has: op => names.includes(op),
    async call(id, op, input, signal, progress) {
      tools ??= load()
      const repl = await tools
      if (op !== 'repl.heard') {
        const answer = await repl.call(op, input, signal, progress)
        unheard.set(id, answer)
        for (const oldest of [...unheard.keys()].slice(0, Math.max(unheard.size - maxUnheard, 0))) unheard.delete(oldest)
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
