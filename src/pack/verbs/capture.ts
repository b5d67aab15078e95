/** `pack capture`: file the checkpoints of an answer, or of many, one a line. */
import { OutriggerError } from '../../errors.ts'
import type { Caller, InputSchema, Operation } from '../../session/operation.ts'
import { reasonWords } from '../reasons.ts'
import type { CaptureDocument, TakeInput } from '../types.ts'
import { decoder, fileField, type PackVerbs, sessionField, streamField, textFrom } from './shared.ts'

interface CaptureInput {
  readonly stream: string
  readonly input: string
  readonly session?: string
  readonly turn?: string
  readonly flag?: string
  readonly agent?: string
  readonly jsonl?: string
}

const input = {
  type: 'object',
  properties: {
    stream: streamField,
    input: { ...fileField('the answer'), default: '-' },
    session: sessionField,
    turn: {
      type: 'string',
      description: "the turn's id or number; the same checkpoint of it is filed once",
      minLength: 1,
      maxLength: 200,
    },
    flag: { type: 'string', description: 'why the turn ended, unless it completed', minLength: 1, maxLength: 80 },
    agent: { type: 'string', description: "a helper agent's id", minLength: 1, maxLength: 80 },
    jsonl: fileField('many answers, one {"answer", "session", "turn"} a line'),
  },
  required: ['stream'],
  additionalProperties: false,
} as const satisfies InputSchema

export function captureOperation(verbs: PackVerbs): Operation<CaptureInput, CaptureDocument> {
  async function* stream(given: CaptureInput, caller: Caller): AsyncIterable<CaptureDocument> {
    const pack = verbs.pack()
    if (given.jsonl === undefined) {
      yield pack.capture(given.stream, { ...takeInput(given), texts: [await textFrom(verbs, given.input, caller)] })
      return
    }
    pack.checkStream(given.stream)
    let number = 0
    for await (const row of linesFrom(verbs, given.jsonl, caller)) {
      number += 1
      if (row.trim() === '') continue
      yield pack.capture(given.stream, { ...takeInput(given), ...answerOf(row, number) })
    }
  }
  return {
    name: 'pack.capture',
    summary: 'Files the checkpoints of an answer in the journal of a work stream.',
    input,
    positional: ['stream', 'input'],
    readOnly: false,
    decode: decoder<CaptureInput>(input),
    async run(given, caller) {
      for await (const document of stream(given, caller)) return document
      throw new Error('an answer gives a document')
    },
    stream,
    render: captureText,
    examples: [
      'outrigger pack capture billing answer.md --session s-1 --turn 4',
      'cat answers.jsonl | outrigger pack capture billing --jsonl -',
    ],
  }
}

function takeInput({ session, turn, flag, agent }: CaptureInput): Omit<TakeInput, 'texts'> {
  return {
    ...(session !== undefined && { session }),
    ...(turn !== undefined && { turnId: turn }),
    ...(flag !== undefined && { flags: [flag] }),
    ...(agent !== undefined && { agent }),
  }
}

function answerOf(row: string, number: number): Pick<TakeInput, 'texts' | 'session' | 'turnId'> {
  let value: unknown
  try {
    value = JSON.parse(row)
  } catch {
    throw badRow(number, 'is no JSON')
  }
  const { answer, session, turn } = (value ?? {}) as {
    readonly answer?: unknown
    readonly session?: unknown
    readonly turn?: unknown
  }
  if (typeof answer !== 'string') throw badRow(number, 'has no text "answer"')
  return {
    texts: [answer],
    ...(typeof session === 'string' && { session }),
    ...((typeof turn === 'string' || typeof turn === 'number') && { turnId: String(turn) }),
  }
}

function badRow(number: number, why: string): OutriggerError {
  return new OutriggerError('BAD_INPUT', `line ${number} ${why}`, {
    subject: `line ${number}`,
    hint: 'give one {"answer": "…", "session": "…", "turn": "…"} a line; the lines before are filed',
  })
}

/** Lines as they arrive. */
async function* linesFrom(verbs: PackVerbs, path: string, caller: Caller): AsyncGenerator<string> {
  if (path !== '-' || caller.stdin === undefined) {
    yield* (await textFrom(verbs, path, caller)).split('\n')
    return
  }
  const decode = new TextDecoder()
  let rest = ''
  for await (const chunk of caller.stdin()) {
    const rows = (rest + decode.decode(chunk, { stream: true })).split('\n')
    rest = rows.pop()!
    yield* rows
  }
  yield rest + decode.decode()
}

function captureText(document: CaptureDocument): string {
  const rows = document.captured.map(({ id, duplicate, clauses }) => {
    const what = clauses.map(clause => clause.keyword).join(', ')
    return `${id} ${duplicate ? 'was filed before' : `filed: ${what === '' ? 'no clause begins with a keyword' : what}`}`
  })
  const ignored = document.ignored.map(({ line, reason }) => `line ${line}: not taken, ${reasonWords[reason]}`)
  const masked = document.redacted.map(({ rule, count }) => `masked: ${rule} ×${count}`)
  const all = [...rows, ...ignored, ...masked]
  return all.length === 0 ? 'no checkpoint in it' : all.join('\n')
}
