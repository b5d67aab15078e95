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

/** The operation's schema without what only a command line offers. */
export function toolSchema(operation: AnyOperation): InputSchema {
  const isOffered = (name: string): boolean => !operation.cliOnly?.includes(name)
  const input: InputSchema = operation.input
  const required = input.required?.filter(isOffered)
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(input.properties).filter(([name]) => isOffered(name))),
    ...(required !== undefined && required.length > 0 && { required }),
    additionalProperties: false,
  }
}

export function answerOf(operation: AnyOperation, output: unknown, input: unknown): CallToolResult {
  const more = `\`outrigger ${operation.name.replace('.', ' ')}\``
  return {
    content: [{ type: 'text', text: cut(operation.render(output, input), more) }],
    structuredContent: { schema: schemaOf(operation.name), ...(output as Record<string, unknown>) },
  }
}

export function refusalOf(error: unknown): CallToolResult {
  return {
    isError: true,
    content: [{ type: 'text', text: cut(errorText(error).trimEnd(), '`outrigger doctor`') }],
    structuredContent: { ...errorDocument(error) },
  }
}

/** Whole lines under the limit; the last one says how much is missing and what shows it. */
function cut(text: string, more: string): string {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= maxTextBytes) return text
  const room = maxTextBytes - 200
  const end = bytes.lastIndexOf(0x0a, room)
  const kept = new TextDecoder().decode(bytes.subarray(0, end > 0 ? end : room)).replace(/\uFFFD$/, '')
  return `${kept}\n… cut: ${text.length - kept.length} characters; ${more} shows all`
}
