/** Calls in a stream of chunks: only complete ones of tools become programs, everything else passes as it came. */
import { BlockAssembler, CallId, type StreamChunk } from '@deepseek-ai/dsh-llm'
import { expect, it } from 'vitest'
import { canonicalStream } from '../../src/dsh/repl/canonical-stream.ts'

const isTool = (name: string): boolean => name === 'read'
const start = (index: number): StreamChunk => ({ type: 'block-start', index, blockType: 'tool-call' })
const delta = (index: number, argumentsDelta: string, name?: string): StreamChunk => ({
  type: 'tool-call-delta',
  index,
  id: CallId(`c${index}`),
  ...(name !== undefined && { name }),
  argumentsDelta,
})
const end = (index: number, name: string, args: string): StreamChunk => ({
  type: 'block-end',
  index,
  block: { type: 'tool-call', id: CallId(`c${index}`), name, arguments: args },
})
const whole = (index: number, name: string, args: string): StreamChunk[] => [
  start(index),
  delta(index, args, name),
  end(index, name, args),
]
const finish: StreamChunk = { type: 'finish', reason: { kind: 'tool-calls' } }
const words: StreamChunk[] = [
  { type: 'block-start', index: 9, blockType: 'text' },
  { type: 'text-delta', index: 9, text: 'so' },
  { type: 'block-end', index: 9, block: { type: 'text', text: 'so' } },
]

async function passed(chunks: Iterable<StreamChunk> | AsyncIterable<StreamChunk>): Promise<StreamChunk[]> {
  const out: StreamChunk[] = []
  async function* source(): AsyncGenerator<StreamChunk> {
    yield* chunks
  }
  for await (const chunk of canonicalStream(source(), isTool)) out.push(chunk)
  return out
}

function assembled(chunks: readonly StreamChunk[]): readonly unknown[] {
  const assembler = new BlockAssembler()
  for (const chunk of chunks) assembler.push(chunk)
  return assembler.blocks()
}

it('rewrites a whole call in its block, in the order of the blocks', async () => {
  const chunks = await passed([...words, ...whole(0, 'read', '{"a":1}'), ...whole(1, 'run_code', '{"code":""}'), finish])
  const text = '{"code":"return await tools.read({ \\"a\\": 1 })","description":"Call tools.read"}'
  expect(assembled(chunks)).toEqual([
    { type: 'text', text: 'so' },
    { type: 'tool-call', id: 'c0', name: 'run_code', arguments: text },
    { type: 'tool-call', id: 'c1', name: 'run_code', arguments: '{"code":""}' },
  ])
  expect(chunks.filter(chunk => chunk.type === 'tool-call-delta')[0]).toMatchObject({ name: 'run_code', argumentsDelta: text })
})

it.each<[string, StreamChunk[]]>([
  [
    'a call of run_code',
    [start(0), delta(0, '{"co', 'run_code'), delta(0, 'de":""}'), end(0, 'run_code', '{"code":""}'), finish],
  ],
  ['a call of edit_run_code', [...whole(0, 'edit_run_code', '{}'), finish]],
  ['a call of what is no tool', [...whole(0, 'write', '{}'), finish]],
  ['arguments that do not parse', [...whole(0, 'read', '{'), finish]],
  ['text alone', [...words, { type: 'finish', reason: { kind: 'stop' } }]],
  ['a call that was cut off', [start(0), delta(0, '{"a":', 'read'), { type: 'finish', reason: { kind: 'max-tokens' } }]],
])('passes %s as it came', async (_, chunks) => {
  expect(await passed(chunks)).toEqual(chunks)
})

it('does not hold back what it does not change', async () => {
  const seen: string[] = []
  async function* source(): AsyncGenerator<StreamChunk> {
    for (const chunk of [
      start(0),
      delta(0, '{"code":"', 'run_code'),
      delta(0, '"}'),
      end(0, 'run_code', '{"code":""}'),
      finish,
    ]) {
      seen.push(`in ${chunk.type}`)
      yield chunk
    }
  }
  for await (const chunk of canonicalStream(source(), isTool)) seen.push(`out ${chunk.type}`)
  expect(seen.slice(0, 6)).toEqual([
    'in block-start',
    'in tool-call-delta',
    'out block-start',
    'out tool-call-delta',
    'in tool-call-delta',
    'out tool-call-delta',
  ])
})

it('takes calls apart whose pieces come in turns', async () => {
  const chunks = await passed([
    start(0),
    start(1),
    delta(0, '', 'read'),
    delta(1, '{"code":"1"', 'run_code'),
    delta(0, '{"a"'),
    delta(1, '}'),
    delta(0, ':1}'),
    end(1, 'run_code', '{"code":"1"}'),
    end(0, 'read', '{"a":1}'),
    finish,
  ])
  const calls = assembled(chunks) as { id: string; name: string }[]
  expect(calls.map(({ id, name }) => [id, name]).sort()).toEqual([
    ['c0', 'run_code'],
    ['c1', 'run_code'],
  ])
})

it('passes a failure of the provider on', async () => {
  async function* broken(): AsyncGenerator<StreamChunk> {
    yield start(0)
    throw new Error('no connection')
  }
  await expect(passed(broken())).rejects.toThrow('no connection')
})
