/** `next simulate`: the engine over written-down events and commands, as a stream of lines. */
import { decodeInput } from '../../session/decode.ts'
import type { Caller, InputSchema, Operation } from '../../session/operation.ts'
import { badEvent, createSimulator, type SimulatedOut } from '../simulate.ts'

interface SimulateInput {
  readonly showInput: boolean
}

const input = {
  type: 'object',
  properties: { showInput: { type: 'boolean', description: 'add to `ask-model` what the model would read', default: false } },
  additionalProperties: false,
} as const satisfies InputSchema

const maxLine = 256 * 1024

export function simulateOperation(): Operation<SimulateInput, SimulatedOut> {
  return {
    name: 'next.simulate',
    summary: 'Runs next-step over events and commands from standard input, one JSON object a line; touches nothing.',
    input,
    readOnly: true,
    decode: value => decodeInput(input, value) as unknown as SimulateInput,
    async run() {
      throw new Error('a simulation is a stream')
    },
    async *stream({ showInput }, caller) {
      const simulator = createSimulator({ showInput })
      for await (const line of linesOf(caller)) yield* simulator.hear(line)
    },
    render: output => JSON.stringify(output),
    examples: [
      'outrigger next simulate < events.jsonl',
      `echo '{"clock":1,"kind":"turn-ended"}' | outrigger next simulate --json`,
    ],
  }
}

/** Lines of standard input; one that is too long is refused before it is whole. */
async function* linesOf(caller: Caller): AsyncIterable<string> {
  if (caller.stdin === undefined) return
  const decoder = new TextDecoder()
  let held = ''
  let number = 0
  for await (const chunk of caller.stdin()) {
    held += decoder.decode(chunk, { stream: true })
    let start = 0
    for (let end = held.indexOf('\n', start); end !== -1; end = held.indexOf('\n', start)) {
      number++
      yield held.slice(start, end)
      start = end + 1
    }
    held = held.slice(start)
    if (held.length > maxLine) throw badEvent(number + 1, 'a line is at most 256 KiB')
  }
  if (held !== '') yield held
}
