/** Operations as MCP tools: names, schemas and descriptions from the one table; answers as text and document. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js'
import { errorText, schemaOf } from '../cli/print.ts'
import { errorDocument } from '../errors.ts'
import type { AnyOperation, InputSchema } from '../session/operation.ts'

/** Most bytes of an answer's text; the document beside it is whole. */
export const maxTextBytes: number = 16 * 1024

/** Operations with a tool, of these engines; none named means all. */
export function toolOperations(table: readonly AnyOperation[], engines: readonly string[]): readonly AnyOperation[] {
  return table.filter(
    operation => operation.tool !== undefined && (engines.length === 0 || engines.includes(operation.name.split('.')[0]!)),
  )
}

export function toolOf(operation: AnyOperation): Tool {
  const { summary, guidance } = operation
  return {
    name: operation.tool!,
    description: guidance === undefined ? summary : `${summary}\n\n${guidance}`,
    inputSchema: { ...toolSchema(operation) } as unknown as Tool['inputSchema'],
    annotations: { readOnlyHint: operation.readOnly, openWorldHint: false },
  }
}

/** The operation's schema as a tool has it: without what only a command line offers, with the tool's own defaults and demands. */
export function toolSchema(operation: AnyOperation): InputSchema {
  const isOffered = (name: string): boolean => !operation.cliOnly?.includes(name)
  const input: InputSchema = operation.input
  const required = [...(input.required ?? []), ...(operation.toolRequired ?? [])].filter(isOffered)
  const defaults = operation.toolDefaults ?? {}
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(input.properties)
        .filter(([name]) => isOffered(name))
        .map(([name, field]) => [name, Object.hasOwn(defaults, name) ? { ...field, default: defaults[name]! } : field]),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

export function answerOf(operation: AnyOperation, output: unknown, input: unknown): CallToolResult {
  return {
    content: [{ type: 'text', text: cut(operation.render(output, input, 'tool'), moreOf(operation)) }],
    structuredContent: { schema: schemaOf(operation.name), ...(output as Record<string, unknown>) },
  }
}

export function refusalOf(error: unknown): CallToolResult {
  return {
    isError: true,
    content: [{ type: 'text', text: cut(errorText(error, false, 'tool').trimEnd(), 'the document beside it is whole') }],
    structuredContent: { ...errorDocument(error, 'tool') },
  }
}

/** How a model gets to see what was cut. */
function moreOf({ input, cliOnly = [] }: AnyOperation): string {
  const narrow = ['paths', 'limit'].filter(name => Object.hasOwn(input.properties, name) && !cliOnly.includes(name))
  return narrow.length === 0 ? 'the document beside it is whole' : `ask for less with ${narrow.join(' or ')}`
}

/** Whole lines under the limit; the last one says how much is missing and what shows it. */
function cut(text: string, more: string): string {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= maxTextBytes) return text
  const room = maxTextBytes - 200
  const end = bytes.lastIndexOf(0x0a, room)
  const kept = new TextDecoder().decode(bytes.subarray(0, end > 0 ? end : room)).replace(/\uFFFD$/, '')
  return `${kept}\n… cut: ${text.length - kept.length} characters; ${more}`
}
