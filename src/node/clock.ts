/**
 * Time and fresh ids. `OUTRIGGER_NOW` (ISO 8601) lets the clock stand still, `OUTRIGGER_SEED` (an integer)
 * makes ids come out of a fixed sequence; with both, two runs on the same input print the same bytes.
 */
import { randomBytes } from 'node:crypto'
import { monotonicFactory } from 'ulid'
import { OutriggerError } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'

/** Throws `BAD_INPUT` when one of the two variables cannot be read. */
export function nodeClock(env: Readonly<Record<string, string | undefined>> = process.env): Clock {
  const fixed = fixedNow(env['OUTRIGGER_NOW'])
  const random = randomOf(env['OUTRIGGER_SEED'])
  const now = () => fixed ?? Date.now()
  const nextId = monotonicFactory(random)
  return {
    now,
    newId: () => nextId(now()),
    randomHex: digits => Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join(''),
  }
}

function fixedNow(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  const isIso = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/.test(text)
  const ms = isIso ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(ms) && ms >= 0) return ms
  throw new OutriggerError('BAD_INPUT', `OUTRIGGER_NOW is "${text}", which is no time`, {
    subject: 'OUTRIGGER_NOW',
    hint: 'give an ISO 8601 time, like 2026-01-02T03:04:05.000Z',
  })
}

/** Numbers from 0 up to, not including, 1. */
function randomOf(seed: string | undefined): () => number {
  if (seed === undefined || seed === '') return () => randomBytes(4).readUInt32LE() / 0x1_0000_0000
  if (/^-?\d{1,15}$/.test(seed)) return seeded(Number(seed))
  throw new OutriggerError('BAD_INPUT', `OUTRIGGER_SEED is "${seed}", which is no integer`, {
    subject: 'OUTRIGGER_SEED',
    hint: 'give an integer of at most 15 digits, like 7',
  })
}

/** A counter through a 32-bit mixer (the finaliser of MurmurHash3): short, fixed, evenly spread; nothing secret hangs on it. */
function seeded(seed: number): () => number {
  // Odd multipliers: neighbouring seeds, those around 0 and 2³² too, begin in different states.
  let state = (Math.imul(seed | 0, 0x9e3779b1) + Math.imul(Math.floor(seed / 0x1_0000_0000) | 0, 0x85ebca6b)) >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 0x1_0000_0000
  }
}
