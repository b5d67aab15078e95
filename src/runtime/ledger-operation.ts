/** `outrigger ledger`: the ledger as a person or a script reads it. */
import { OutriggerError } from '../errors.ts'
import { type EngineName, engineOrder } from '../session/actions.ts'
import { decodeInput } from '../session/decode.ts'
import type { InputSchema, Operation } from '../session/operation.ts'
import type { LedgerFilter, LedgerRecord, Project } from './project.ts'

export interface LedgerInput {
  readonly engine?: EngineName
  readonly session?: string
  readonly since?: string
}

const input = {
  type: 'object',
  properties: {
    engine: { type: 'string', description: 'only what this engine did', enum: engineOrder },
    session: { type: 'string', description: 'only what was done in this session', minLength: 1, maxLength: 500 },
    since: {
      type: 'string',
      description: 'only what was done at or after this time: ISO 8601, or a duration back from now like 30m, 2h, 7d',
      minLength: 1,
      maxLength: 40,
    },
  },
  additionalProperties: false,
} as const satisfies InputSchema

export function ledgerOperation(project: Project): Operation<LedgerInput, LedgerRecord> {
  async function* stream(given: LedgerInput): AsyncIterable<LedgerRecord> {
    yield* project.ledger.read(filterOf(given, project.clock.now()))
  }
  return {
    name: 'ledger',
    summary: 'Prints what the engines did and why they held back, oldest first.',
    input,
    readOnly: true,
    decode: value => decodeInput(input, value) as LedgerInput,
    async run() {
      throw new Error('the ledger is a stream')
    },
    stream,
    nothing: 'Nothing is on record here, or nothing that was asked for.',
    render: ledgerText,
    examples: ['outrigger ledger --engine keel --since 2h', 'outrigger ledger --session 01J --json'],
  }
}

function filterOf({ engine, session, since }: LedgerInput, now: number): LedgerFilter {
  return {
    ...(engine !== undefined && { engine }),
    ...(session !== undefined && { session }),
    ...(since !== undefined && { since: parseSince(since, now) }),
  }
}

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function parseSince(text: string, now: number): number {
  const back = /^(\d{1,6})([smhd])$/.exec(text)
  if (back !== null) return now - Number(back[1]) * unitMs[back[2]!]!
  const ms = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(ms)) return ms
  throw new OutriggerError('BAD_INPUT', `"${text}" is no time`, {
    subject: 'since',
    hint: 'give ISO 8601 like 2026-01-02T03:04:05Z, or 30m, 2h, 7d',
  })
}

function ledgerText({ at, engine, session, turn, what, reason, text }: LedgerRecord): string {
  const where = session === null ? '' : ` ${session}${turn === null ? '' : `#${turn}`}`
  return `${at} ${engine}${where} ${what}${reason === null ? '' : ` (${reason})`}: ${text}`
}
