/** The checkpoints of a turn, ready to be kept: masked, escaped, keyed. Writes nothing. */
import { createHash } from 'node:crypto'
import type { Clock } from '../ports/clock.ts'
import { find, mask } from '../text/redact.ts'
import type { Clause } from './clauses.ts'
import { clausesOfBody } from './entry-lines.ts'
import { headerWord, storedBody } from './journal.ts'
import { seamOf } from './seam.ts'
import { findTrailers } from './trailers.ts'
import type { Ignored, PackConfig, Redacted, Seam, TakeInput, Taken, TakenTrailer } from './types.ts'

/** @param salt - goes into the keys of trailers of no known turn: a clock with a fixed seed gives every process the same digits. */
export function take(input: TakeInput, config: PackConfig, clock: Clock, salt = ''): Taken {
  const trailers: TakenTrailer[] = []
  const ignored: Ignored[] = []
  const counts = new Map<string, number>()
  const at = input.at ?? clock.now()
  const session = headerWord(input.session)
  const turn = input.turnId ?? input.turn?.toString()
  const flags = flagsOf(input)
  let seam: Seam = { level: 'none', task: null }
  let ordinal = 0
  for (const text of input.texts) {
    const found = findTrailers(text)
    ignored.push(...found.ignored)
    const clauses: Clause[] = []
    for (const { raw } of found.trailers) {
      for (const { rule } of find(raw, config.redact)) counts.set(rule, (counts.get(rule) ?? 0) + 1)
      const body = storedBody(mask(raw, config.redact))
      clauses.push(...clausesOfBody(body))
      const key = turn === undefined ? freshKey(clock, `${salt}\0${ordinal}`) : keyOf(session, turn, ordinal, raw)
      trailers.push({ key, body: closed(body), session, at, flags })
      ordinal += 1
    }
    // The last answer of the turn tells how it ended.
    seam = seamOf(clauses)
  }
  return { trailers, ignored, seam, redacted: redactedOf(counts) }
}

/** The same trailer of the same turn, told again by another door, has the same key. */
function keyOf(session: string, turn: string, ordinal: number, raw: string): string {
  return createHash('sha256').update([session, turn, ordinal, raw].join('\0')).digest('hex').slice(0, 12)
}

/** A key that no other entry has. */
export function freshKey(clock: Clock, salt: string): string {
  return createHash('sha256')
    .update(`${clock.randomHex(12)}\0${salt}`)
    .digest('hex')
    .slice(0, 12)
}

function flagsOf(input: TakeInput): readonly string[] {
  const flags = (input.flags ?? []).filter(flag => flag !== 'completed')
  const all = input.agent === undefined ? flags : [...flags, `agent:${input.agent}`]
  return all.map(flag => flag.replace(/[^A-Za-z0-9._:-]/g, '_').slice(0, 80)).filter(flag => flag !== '')
}

/** Masking may have taken the closing mark with a secret that had no end. */
function closed(body: string): string {
  return body.endsWith('-->') ? body : `${body} -->`
}

export function redactedOf(counts: ReadonlyMap<string, number>): readonly Redacted[] {
  return [...counts].map(([rule, count]) => ({ rule, count })).sort((one, other) => (one.rule < other.rule ? -1 : 1))
}
