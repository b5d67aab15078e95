import { expect, it } from 'vitest'
import { longestLine, wholeLines } from '../../src/mcp/whole-lines.ts'

async function pass(chunks: readonly string[]): Promise<{ text: string; refused: (string | number | null)[] }> {
  const refused: (string | number | null)[] = []
  const lines = wholeLines(id => void refused.push(id))
  let text = ''
  lines.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  for (const chunk of chunks) lines.write(Buffer.from(chunk))
  lines.end()
  await new Promise(resolve => lines.once('end', resolve))
  return { text, refused }
}

const long = 'x'.repeat(30_000_000)

it('passes lines whole, however they were cut', async () => {
  expect(await pass(['a', 'b\nc', '\n', '\nd\ne'])).toEqual({ text: 'ab\nc\n\nd\n', refused: [] })
})

it('passes a line of the greatest length, and drops one that is longer by a byte', async () => {
  const greatest = 'y'.repeat(longestLine)
  const { text, refused } = await pass([`${greatest}\n`, `${greatest}z\n`])
  expect([text.length, refused]).toEqual([longestLine + 1, [null]])
})

it.each([
  ['at the start', `{"jsonrpc":"2.0","id":6,"method":"m","params":{"a":"${long}"}}`, 6],
  ['at the end', `{"method":"m","params":{"id":3,"a":"${long}"},"jsonrpc":"2.0","id":"s-1"}`, 's-1'],
  ['of something inside only', `{"params":{"id":3,"a":"${long}"}}`, null],
  ['nowhere', long, null],
])('refuses a line of 30 MB by its id: %s', async (_where, line, id) => {
  expect(await pass(['before\n', `${line}\nafter\n`])).toEqual({ text: 'before\nafter\n', refused: [id] })
})
