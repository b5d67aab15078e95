/**
 * Operations as tools of the host: the same names, inputs and answers as in MCP. The value of a call is the
 * operation's document, which programs in code mode and the host's log get; the model reads its text.
 */
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { JsonValue, ToolDefinition } from '@deepseek-ai/dsh-tools'
import { OutriggerError } from '../errors.ts'
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
    description: operation.guidance === undefined ? operation.summary : `${operation.summary}\n\n${operation.guidance}`,
    parameters: parametersOf(operation),
    output: {
      schema: { type: 'object', description: `the document outrigger.${operation.name}/1` },
      render: (args, value) => [{ type: 'text', text: operation.render(value, operation.decode(args)) }],
      presentationMeta: (_args, value) => value,
    },
    execute: async (args, exec) => {
      if (exec.agent === undefined)
        throw new OutriggerError('DSH_NO_SESSION', `${tool} was called outside of a session`, { hint: 'call it in a session' })
      return runOperation(ctx, operation, args, exec.agent, exec.signal).catch(withHint)
    },
  }
}

async function runOperation(
  ctx: Context,
  operation: AnyOperation,
  args: unknown,
  agent: Agent,
  signal: AbortSignal,
): Promise<JsonValue> {
  const { project, outrigger, session } = await ctx.outrigger.live(agent)
  const own = operationsOf(project).find(other => other.name === operation.name) ?? operation
  const caller: Caller = { door: 'dsh', actor: project.actor('agent'), session, signal, progress: () => {} }
  const input: unknown = own.decode(args)
  const output: unknown = await outrigger.enqueue(session, () => own.run(input, caller))
  return asJson({ schema: `outrigger.${operation.name}/1`, ...(output as object) })
}

/** The host takes nothing but lossless JSON: fields that are `undefined` fall away as they do in `--json`. */
const asJson = (value: unknown): JsonValue => JSON.parse(JSON.stringify(value)) as JsonValue

/** The host shows the model an error's message only; the way out stands in the hint. */
function withHint(error: unknown): never {
  if (!(error instanceof OutriggerError) || error.hint === undefined) throw error
  throw new OutriggerError(error.code, `${error.code}: ${error.message}. ${error.hint}`, { cause: error })
}

/** What a tool offers of an operation's input: everything but output formats and files to write. */
function parametersOf(operation: AnyOperation): Record<string, unknown> {
  const left = new Set(operation.cliOnly ?? [])
  const fields = Object.entries(operation.input.properties).filter(([key]) => !left.has(key))
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([key, field]) => [key, hostField(field)])),
    required: (operation.input.required ?? []).filter(key => !left.has(key)),
    additionalProperties: false,
  }
}

/**
 * Code mode types a tool from its schema and knows no bounds: one such keyword would make all of its
 * arguments `unknown`. The bounds go into the description; `decode` holds them.
 */
function hostField(field: FieldSchema): Record<string, unknown> {
  const bounds = boundsOf(field)
  return {
    type: field.type,
    description: bounds === '' ? field.description : `${field.description} (${bounds})`,
    ...(field.enum !== undefined && { enum: field.enum }),
    ...(field.items !== undefined && { items: { type: field.items.type } }),
    ...(field.default !== undefined && { default: field.default }),
  }
}

function boundsOf(field: FieldSchema): string {
  const range = (low: number | undefined, high: number | undefined, unit: string): string =>
    low === undefined && high === undefined ? '' : `${low ?? 0}–${high ?? '…'}${unit}`
  return [
    range(field.minimum, field.maximum, ''),
    range(field.minLength, field.maxLength, ' characters'),
    field.maxItems === undefined ? '' : `at most ${field.maxItems}`,
  ]
    .filter(part => part !== '')
    .join(', ')
}
