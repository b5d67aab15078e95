/**
 * Direct calls of tools in a model's answer, made into programs while the answer streams in. A call is held back until it is complete; everything else
 * passes as it comes, also a call that was cut off.
 */
import type { StreamChunk } from '@deepseek-ai/dsh-llm'
import { canonicalCall } from '../../repl/canonical-call.ts'

type ToolCallEnd = Extract<StreamChunk, { type: 'block-end' }> & { readonly block: { readonly type: 'tool-call' } }

/** @param isTool - whether programs can call a tool of that name; `run_code` and `edit_run_code` are none. */
export async function* canonicalStream(
  chunks: AsyncIterable<StreamChunk>,
  isTool: (name: string) => boolean,
): AsyncGenerator<StreamChunk> {
  // Calls whose name is not known yet or is not one that is offered, by block.
  const held = new Map<number, StreamChunk[]>()
  try {
    for await (const chunk of chunks) {
      if (chunk.type === 'finish' || chunk.type === 'usage') {
        if (chunk.type === 'finish') yield* release(held)
        yield chunk
        continue
      }
      if (chunk.type === 'block-start' && chunk.blockType === 'tool-call') {
        held.set(chunk.index, [chunk])
        continue
      }
      const own = held.get(chunk.index)
      if (own === undefined) yield chunk
      else if (chunk.type === 'block-end') {
        held.delete(chunk.index)
        yield* isToolCall(chunk) ? endOf(own, chunk, isTool) : [...own, chunk]
      } else {
        own.push(chunk)
        if (chunk.type !== 'tool-call-delta' || isDeclared(chunk.name)) {
          held.delete(chunk.index)
          yield* own
        }
      }
    }
  } finally {
    held.clear()
  }
}

function* release(held: Map<number, StreamChunk[]>): Generator<StreamChunk> {
  for (const chunks of held.values()) yield* chunks
  held.clear()
}

const declared: ReadonlySet<string> = new Set(['run_code', 'edit_run_code'])
const isDeclared = (name: string | undefined): boolean => name !== undefined && declared.has(name)

const isToolCall = (chunk: Extract<StreamChunk, { type: 'block-end' }>): chunk is ToolCallEnd => chunk.block.type === 'tool-call'

function endOf(held: readonly StreamChunk[], end: ToolCallEnd, isTool: (name: string) => boolean): readonly StreamChunk[] {
  const { index, block } = end
  const made = isDeclared(block.name) ? undefined : canonicalCall(block.name, block.arguments, isTool)
  if (made === undefined) return [...held, end]
  const text = JSON.stringify(made)
  return [
    { type: 'block-start', index, blockType: 'tool-call' },
    { type: 'tool-call-delta', index, id: block.id, name: 'run_code', argumentsDelta: text },
    { ...end, block: { ...block, name: 'run_code', arguments: text } },
  ]
}
