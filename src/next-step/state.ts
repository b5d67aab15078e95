/** What the engine keeps of a session: the stored part as JSON, and the memory of this process beside it. */
import { OutriggerError } from '../errors.ts'
import type { Json } from '../ports/json.ts'
import type { NextFacts } from './facts.ts'
import { type Local, noStored, type Row, type Stored } from './types.ts'

export interface NextState {
  readonly stored: Stored
  /** `null`: read from the store; the process looks for its own memory of the session. */
  readonly memory: { readonly facts: NextFacts; readonly local: Local } | null
}

export const noNextState: NextState = { stored: noStored, memory: null }

export function encodeNext({ stored }: NextState): Json {
  return { v: 1, ...stored } as unknown as Json
}

/** Nothing but where the turns stand: a session that never had an offer leaves no document. */
export function isForgettable({ stored }: NextState): boolean {
  const { row, off, note, fired, declined } = stored
  return (row === null || row.status === 'quiet') && !off && note === null && fired.length === 0 && declined.length === 0
}

const statuses = ['off', 'analyzing', 'ready', 'quiet', 'failed', 'consumed', 'superseded']

/** @throws `NEXT_BAD_STATE` naming the field. */
export function decodeNext(json: Json): NextState {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw bad('state')
  const { v, ...given } = json as Readonly<Record<string, Json>>
  if (v !== 1) throw bad('v')
  const stored = { ...noStored, ...given } as unknown as Stored
  const { row, claims, newest, note } = stored
  if (row !== null && !isRow(row)) throw bad('row')
  if (typeof stored.off !== 'boolean') throw bad('off')
  if (typeof claims?.turn !== 'number' || typeof claims.count !== 'number') throw bad('claims')
  if (newest !== null && typeof newest?.turn !== 'number') throw bad('newest')
  if (note !== null && typeof note?.owner !== 'string') throw bad('note')
  for (const field of ['fired', 'declined'] as const) {
    if (!Array.isArray(stored[field]) || !stored[field].every(text => typeof text === 'string')) throw bad(field)
  }
  return { stored, memory: null }
}

function isRow(row: Row): boolean {
  const isTurn = row.turn === null || Number.isSafeInteger(row.turn)
  const isGen = row.gen === null || typeof row.gen === 'string'
  return isTurn && isGen && statuses.includes(row.status) && typeof row.text === 'string'
}

function bad(field: string): OutriggerError {
  return new OutriggerError('NEXT_BAD_STATE', `the saved state of the session has a bad "${field}"`, { subject: field })
}
