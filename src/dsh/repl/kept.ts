/** Whether the host kept the result that a cell gave it. It lets others replace a result before it is put into the session. */
import type { ReplSession } from '../../repl/types.ts'

export interface Kept {
  /** A cell ran for this call. */
  ran(callId: string, cells: ReplSession, cell: number): void
  /** The result of the call as it left the tool: its blocks. */
  gave(callId: string, content: unknown): void
  /** A row of the session's log: of results that it has, the cells are confirmed. */
  logged(type: string, data: unknown): Promise<void>
}

interface Given {
  readonly cells: ReplSession
  readonly cell: number
  content: string | undefined
}

interface LoggedResult {
  readonly message?: { readonly content?: readonly { readonly toolCallId?: unknown; readonly content?: unknown }[] }
}

/** Results that never came into the log are forgotten, the oldest first. */
const most = 100

export function createKept(): Kept {
  const given = new Map<string, Given>()
  return {
    ran: (callId, cells, cell) => {
      given.set(callId, { cells, cell, content: undefined })
      if (given.size > most) given.delete(given.keys().next().value!)
    },
    gave: (callId, content) => {
      const known = given.get(callId)
      if (known !== undefined) known.content = JSON.stringify(content)
    },
    logged: async (type, data) => {
      if (type !== 'tool/result') return
      for (const { toolCallId, content } of (data as LoggedResult).message?.content ?? []) {
        const known = typeof toolCallId === 'string' ? given.get(toolCallId) : undefined
        if (known === undefined) continue
        given.delete(toolCallId as string)
        const { cells, cell } = known
        const logged = JSON.stringify(content)
        if (known.content === undefined || known.content === logged) await cells.confirm(cell, 'confirmed')
        else await cells.confirm(cell, 'altered', logged.slice(0, 1_000))
      }
    },
  }
}
