/**
 * The REPL's four tools. Sessions live in the project's store under the names that clients give them; cells of a session wait for each other,
 * those of different sessions do not, and nothing here waits for the tools of other engines.
 */
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js'
import { listSessions } from '../cli/repl/list.ts'
import { answerOf } from '../cli/repl/serve.ts'
import { historyText, listText, stateText } from '../cli/repl/texts.ts'
import type { Json } from '../ports/json.ts'
import { resultText } from '../repl/render.ts'
import { backText, editAnswerText, pageText, savedText } from '../repl/tool-text.ts'
import { decodeTool, editTool, historyTool, type ReplTool, runTool, sessionOf, stateTool } from '../repl/tools.ts'
import type { History, Page, ReplSession, RestoredState, RunOptions, SessionState } from '../repl/types.ts'
import { replConfig } from '../runtime/config-repl.ts'
import type { Project } from '../runtime/project.ts'
import { createReplSessions } from '../runtime/repl-sessions.ts'
import { refusalOf } from './tools.ts'

export interface ReplTools {
  /** Empty while the REPL is turned off. */
  list(): readonly Tool[]
  /** The session that this call is for is open here. */
  holds(given: unknown): boolean
  /** @param progress - told every two seconds how long the call has been going, in seconds. */
  call(name: string, given: unknown, signal: AbortSignal, progress: (seconds: number) => void): Promise<CallToolResult>
  /** The client has this answer: what it told counts as told. Never rejects. */
  heard(answer: CallToolResult): Promise<void>
  /** Ends running cells and workers. */
  close(): Promise<void>
}

type Fields = Readonly<Record<string, Json>>

const progressMs = 2_000
const runs = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }
const tools: readonly (readonly [ReplTool, Tool['annotations']])[] = [
  [runTool, runs],
  [editTool, runs],
  [stateTool, { readOnlyHint: false, openWorldHint: false }],
  [historyTool, { readOnlyHint: true, openWorldHint: false }],
]

export const isReplTool = (name: string): boolean => tools.some(([tool]) => tool.name === name)

export function createReplTools(project: Project, open: (name: string) => Promise<ReplSession>): ReplTools {
  const config = () => replConfig(project.config.section('repl'))
  const sessions = createReplSessions(() => config().maxWorkers)
  const confirms = new WeakMap<CallToolResult, () => Promise<void>>()
  /** The answer to a cell. */
  const ofCell = (session: ReplSession, cell: number | undefined, given: CallToolResult): CallToolResult => {
    if (cell !== undefined) confirms.set(given, () => session.confirm(cell, 'confirmed'))
    return given
  }

  const isOn = (): boolean => {
    try {
      return config().enabled
    } catch {
      // A call says what is wrong with the configuration.
      return true
    }
  }

  const refresh = async (): Promise<void> => {
    if (project.config.refresh()) await sessions.configure(config())
    project.config.check('repl')
  }

  const run = async (tool: ReplTool, fields: Fields, signal: AbortSignal): Promise<CallToolResult> => {
    const name = fields['session'] as string
    if (tool === stateTool && fields['action'] === 'sessions') {
      const list = await listSessions(project)
      return answer('state', { ok: true, sessions: list }, listText(list))
    }
    const session = await sessions.get(name, () => open(name))
    const { modelChars } = config()
    switch (tool.name) {
      case 'run_code': {
        const result = await session.run(fields['code'] as string, optionsOf(fields, signal))
        return ofCell(session, result.cell, answer('run', result, resultText(result, modelChars), !result.ok))
      }
      case 'edit_run_code': {
        const result = await session.edit(fields, optionsOf(fields, signal))
        return ofCell(
          session,
          'cell' in result ? result.cell : undefined,
          answer('edit', result, editAnswerText(result, modelChars), !result.ok),
        )
      }
      case 'repl_state': {
        const document = await answerOf(session, 'state', fields)
        return answer('state', { ok: true, ...document }, stateAnswerText(fields, document, modelChars))
      }
      case 'repl_history': {
        const document = await answerOf(session, 'history', fields)
        return answer('history', { ok: true, ...document }, historyText(document as History))
      }
      default:
        return tool.name satisfies never
    }
  }

  return {
    holds: given => sessions.has(sessionOf(given)),
    list: () => (isOn() ? tools.map(([tool, annotations]) => toolOf(tool, annotations)) : []),
    call: async (name, given, signal, progress) => {
      const began = performance.now()
      const timer = setInterval(() => progress(Math.round((performance.now() - began) / 1_000)), progressMs)
      try {
        const [tool] = tools.find(([each]) => each.name === name)!
        const fields = decodeTool(tool, given)
        await refresh()
        return await run(tool, fields, signal)
      } catch (error) {
        return refusalOf(error)
      } finally {
        clearInterval(timer)
      }
    },
    // That it could not be noted costs one repetition.
    heard: async answer =>
      confirms
        .get(answer)?.()
        .catch(() => undefined),
    close: sessions.closeAll,
  }
}

function toolOf({ name, description, input }: ReplTool, annotations: Tool['annotations']): Tool {
  return { name, description, inputSchema: { ...input } as unknown as Tool['inputSchema'], annotations }
}

function optionsOf(fields: Fields, signal: AbortSignal): RunOptions {
  const { description, compute_ms: computeMs, wall_ms: wallMs, echo } = fields
  return {
    signal,
    ...(description !== undefined && { description: description as string }),
    ...(computeMs !== undefined && { computeMs: computeMs as number }),
    ...(wallMs !== undefined && { wallMs: wallMs as number }),
    ...(echo !== undefined && { echo: echo as 'return' | 'last' }),
  }
}

function stateAnswerText(fields: Fields, document: object, modelChars: number): string {
  const { action, offset = 0 } = fields
  switch (action) {
    case 'page':
    case 'logs':
      return pageText(document as Page, offset as number, modelChars)
    case 'save':
      return savedText(document as { readonly name: string })
    case 'delete':
      return `Deleted ${String(fields['name'])}.`
    case 'restore':
    case 'reset':
      return backText((document as RestoredState).recovery)
    default:
      return stateText(document as SessionState)
  }
}

function answer(verb: string, document: object, text: string, isError = false): CallToolResult {
  return {
    content: [{ type: 'text', text }],
    structuredContent: { schema: `outrigger.repl.${verb}/1`, ...document },
    ...(isError && { isError }),
  }
}
