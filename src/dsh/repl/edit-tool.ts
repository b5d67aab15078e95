/**
 * `edit_run_code` as a tool of the host. The changed program runs as a call of `run_code` inside this one, so that the host's policy, approvals and
 * limits see it as any other program.
 */
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { CallId } from '@deepseek-ai/dsh-llm'
import type { JsonValue, ToolDefinition } from '@deepseek-ai/dsh-tools'
import { OutriggerError } from '../../errors.ts'
import { createFindMatches } from '../../node/find-matches.ts'
import { editCell } from '../../repl/edit-cell.ts'
import { nestedEditRefused } from '../../repl/prompt.ts'
import { editAnswerText, refusalText } from '../../repl/tool-text.ts'
import { decodeTool, hostEditTool } from '../../repl/tools.ts'
import type { RunResult } from '../../repl/types.ts'
import type { DshRepl } from './service.ts'

type Execution = Parameters<ToolDefinition['execute']>[1]

export function editToolOf(ctx: Context, repl: DshRepl): ToolDefinition {
  return {
    name: hostEditTool.name,
    description: hostEditTool.description,
    parameters: parameters(),
    output: {
      schema: {
        type: 'object',
        properties: { edited: { type: 'boolean' }, target: { type: 'integer' }, text: { type: 'string' } },
        required: ['edited', 'target', 'text'],
        additionalProperties: false,
      },
      render: (_args, value) => [{ type: 'text', text: (value as { readonly text: string }).text }],
    },
    execute: async (args, exec) => {
      if (exec.parent !== undefined) throw new Error(nestedEditRefused)
      const { agent } = exec
      if (agent === undefined) throw new OutriggerError('DSH_NO_SESSION', 'edit_run_code was called outside of a session')
      return edit(ctx, repl, agent, args, exec)
    },
  }
}

async function edit(ctx: Context, repl: DshRepl, agent: Agent, args: unknown, exec: Execution): Promise<JsonValue> {
  const fields = decodeTool(hostEditTool, args)
  const session = await repl.session(agent)
  const { modelChars } = await repl.config(agent)
  if (fields['dry_run'] === true) {
    const answer = await session.edit(fields)
    const text = editAnswerText(answer, modelChars)
    if (!answer.ok) throw new Error(text)
    return { edited: false, target: answer.target, text }
  }
  let text = ''
  const answer = await editCell(fields, {
    newest: session.latest() === 0 ? undefined : session.latest(),
    exists: cell => Number.isSafeInteger(cell) && cell >= 1 && cell <= session.latest(),
    source: cell => session.source(cell),
    findMatches: createFindMatches(),
    parse: () => Promise.resolve(undefined),
    run: async (code, made) => {
      const callId = CallId(`${exec.callId}:derived`)
      let ran: RunResult | undefined
      const forget = repl.expectEdit(callId, made, result => {
        ran = result
      })
      try {
        const description = typeof fields['description'] === 'string' ? fields['description'] : `Edit of cell ${made.target}`
        const result = await ctx.tools.execute({
          callId,
          rootCallId: exec.rootCallId,
          name: 'run_code',
          arguments: { code, description },
          agent,
          parent: exec.token,
          signal: exec.signal,
        })
        for (const context of result.additionalContexts ?? []) exec.deferContext(context)
        if (result.isError) throw new Error(result.error.message)
        text = result.content.map(block => (block.type === 'text' ? block.text : '')).join('')
        if (ran === undefined) throw new Error('the changed cell was run elsewhere: the REPL was turned off meanwhile')
        return ran
      } finally {
        forget()
      }
    },
  })
  if (!answer.edited) {
    throw new Error('error' in answer && answer.error !== undefined ? refusalText(answer.error) : 'nothing was changed')
  }
  return { edited: true, target: answer.target, text }
}

/** Code mode types a tool from its schema and knows no bounds: the edit engine and the decoder hold them. */
function parameters(): Record<string, unknown> {
  return withoutBounds(hostEditTool.input) as Record<string, unknown>
}

const bounds: ReadonlySet<string> = new Set(['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern'])

function withoutBounds(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutBounds)
  if (typeof schema !== 'object' || schema === null) return schema
  const isProperties = (key: string): boolean => key === 'properties'
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => !bounds.has(key))
      .map(([key, value]) => [
        key,
        isProperties(key)
          ? Object.fromEntries(Object.entries(value as object).map(([name, field]) => [name, withoutBounds(field)]))
          : withoutBounds(value),
      ]),
  )
}
