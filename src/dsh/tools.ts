/**
 * Operations as tools of the host: the same names, inputs and answers as in MCP. The value of a call is the
 * operation's document, which programs in code mode and the host's log get; the model reads its text.
 */
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { JsonValue, ToolDefinition } from '@deepseek-ai/dsh-tools'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { OutriggerError } from '../errors.ts'
import { answerOf, refusalOf, toolOf, toolSchema } from '../mcp/tools.ts'
import { operationsOf } from '../runtime/operations.ts'
import type { AnyOperation, Caller, FieldSchema } from '../session/operation.ts'

/**
 * Register every operation of the table that is a tool.
 *
 * @param table - describes the tools; a call runs the operation of the same name on the session's project.
 */
export function registerTools(ctx: Context, table: readonly AnyOperation[]): void {
  for (const operation of table) {
    if (operation.tool !== undefined) ctx.tools.register(definitionOf(ctx, operation, operation.tool))
  }
}

function definitionOf(ctx: Context, operation: AnyOperation, tool: string): ToolDefinition {
  return {
    name: tool,
    description: toolOf(operation).description ?? '',
    parameters: parametersOf(operation),
    output: {
      schema: { type: 'object', description: `the document outrigger.${operation.name}/1` },
      render: (args, value) => [{ type: 'text', text: textOf(answerOf(operation, value, operation.decode(args))) }],
      presentationMeta: (_args, value) => value,
    },
    execute: (args, exec) => runOperation(ctx, operation, args, exec.agent, exec.signal).catch(refuse),
  }
}

async function runOperation(
  ctx: Context,
  operation: AnyOperation,
  args: unknown,
  agent: Agent | undefined,
  signal: AbortSignal,
): Promise<JsonValue> {
  if (agent === undefined) {
    const why = `${operation.tool} was called outside of a session`
    throw new OutriggerError('DSH_NO_SESSION', why, { hint: 'call it in a session' })
  }
  const { project, outrigger, session } = await ctx.outrigger.live(agent)
  const own = operationsOf(project).find(other => other.name === operation.name) ?? operation
  const caller: Caller = { door: 'dsh', actor: project.actor('agent'), session, signal, progress: () => {} }
  const input: unknown = own.decode(args)
  const output: unknown = await outrigger.enqueue(session, () => own.run(input, caller))
  // The host takes nothing but lossless JSON: fields that are `undefined` fall away as they do in `--json`.
  return JSON.parse(JSON.stringify(answerOf(own, output, input).structuredContent)) as JsonValue
}

/** The host shows the model an error's message only: code, message and the way out go into it. */
function refuse(error: unknown): never {
  if (!(error instanceof OutriggerError)) throw error
  throw new OutriggerError(error.code, textOf(refusalOf(error)), { cause: error })
}

function textOf(answer: CallToolResult): string {
  return answer.content.map(block => (block.type === 'text' ? block.text : '')).join('')
}

/** The tool's input, in the words that the host's code mode can type. */
function parametersOf(operation: AnyOperation): Record<string, unknown> {
  const { properties, required } = toolSchema(operation)
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).map(([key, field]) => [key, hostField(field)])),
    required: required ?? [],
    additionalProperties: false,
  }
}

/**
 * Code mode types a tool from its schema and knows neither bounds nor defaults: one such keyword would make all of its
 * arguments `unknown`. They go into the description; `decode` holds them.
 */
function hostField(field: FieldSchema): Record<string, unknown> {
  const bounds = boundsOf(field)
  return {
    type: field.type,
    description: bounds === '' ? field.description : `${field.description} (${bounds})`,
    ...(field.enum !== undefined && { enum: field.enum }),
    ...(field.items !== undefined && { items: { type: field.items.type } }),
  }
}

function boundsOf(field: FieldSchema): string {
  const range = (low: number | undefined, high: number | undefined, unit: string): string =>
    low === undefined && high === undefined ? '' : `${low ?? 0}–${high ?? '…'}${unit}`
  return [
    range(field.minimum, field.maximum, ''),
    range(field.minLength, field.maxLength, ' characters'),
    field.maxItems === undefined ? '' : `at most ${field.maxItems}`,
    field.default === undefined ? '' : `default ${field.default}`,
  ]
    .filter(part => part !== '')
    .join(', ')
}
