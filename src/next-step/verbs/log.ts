/** `next log`: what next-step did in a session and why it held back, from the ledger. Needs no process that runs the session. */
import type { Json } from '../../ports/json.ts'
import { decodeInput } from '../../session/decode.ts'
import type { InputSchema, Operation } from '../../session/operation.ts'
import { refused } from './live.ts'

export interface LogRecord {
  /** ISO 8601 with milliseconds. */
  readonly at: string
  readonly turn: number | null
  readonly what: string
  readonly reason: string | null
  readonly text: string
  readonly detail?: Json
}

export interface LogDeps {
  /**
   * The newest `count` records of next-step, oldest first.
   *
   * @param session - left out: the newest live one, else the one that the ledger heard of last.
   * @returns `undefined`: there is none.
   */
  records(
    session: string | undefined,
    count: number,
  ): Promise<{ readonly session: string; readonly records: readonly LogRecord[] } | undefined>
}

interface LogInput {
  readonly count: number
  readonly session?: string
}

interface LogOutput {
  readonly session: string
  readonly records: readonly LogRecord[]
}

const input = {
  type: 'object',
  properties: {
    count: { type: 'integer', description: 'how many of the newest lines', default: 20, minimum: 1, maximum: 200 },
    session: {
      type: 'string',
      description: 'a session; default the newest of the project',
      minLength: 1,
      maxLength: 200,
    },
  },
  additionalProperties: false,
} as const satisfies InputSchema

export function logOperation(deps: LogDeps): Operation<LogInput, LogOutput> {
  return {
    name: 'next.log',
    summary: 'Prints what next-step did in a session and why it held back, oldest first.',
    input,
    positional: ['count'],
    readOnly: true,
    decode: value => decodeInput(input, value) as unknown as LogInput,
    async run({ count, session: of }, caller) {
      const session = of ?? caller.session
      const found = await deps.records(session, count)
      if (found === undefined) throw refused('NEXT_NO_SESSION', session)
      return found
    },
    render: ({ records }) => (records.length === 0 ? 'nothing yet' : records.map(logLine).join('\n')),
    examples: ['outrigger next log', 'outrigger next log 50 --session s1 --json'],
  }
}

/** One record as a line for people. */
export function logLine({ at, what, reason, text }: Omit<LogRecord, 'turn'>): string {
  return `${at} ${what}${reason === null ? '' : ` ${reason}`} — ${text}`
}
