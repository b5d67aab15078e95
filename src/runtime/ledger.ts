/**
 * The ledger: what engines did and why they held back, one record each, in a stream a month. Secrets are
 * masked before they reach the disk; streams whose last day is more than 90 days ago are removed.
 */
import type { Clock } from '../ports/clock.ts'
import type { Json } from '../ports/json.ts'
import type { Store } from '../ports/store.ts'
import { type EngineName, engineOrder } from '../session/actions.ts'
import type { Ledger, LedgerEntry, LedgerRecord, Modes } from './project.ts'

const prefix = 'ledger/'
const keptMs = 90 * 24 * 60 * 60 * 1000

export interface LedgerSource {
  store(): Promise<Store>
  readonly clock: Clock
  readonly modes: Modes
  mask(text: string): string
}

export function createLedger({ store, clock, modes, mask }: LedgerSource): Ledger {
  let sweptMonth = ''

  function record(entry: LedgerEntry): { readonly stream: string; readonly record: Json } {
    const at = new Date(entry.at ?? clock.now()).toISOString()
    const { engine, session, turn, what, reason, text, detail } = entry
    return {
      stream: prefix + at.slice(0, 'yyyy-mm'.length),
      record: {
        at,
        engine,
        session,
        turn,
        what,
        reason: reason ?? null,
        text: mask(text),
        ...(detail !== undefined && { detail: masked(detail, mask) }),
      },
    }
  }

  async function removeOld(opened: Store): Promise<void> {
    const month = new Date(clock.now()).toISOString().slice(0, 'yyyy-mm'.length)
    if (month === sweptMonth) return
    sweptMonth = month
    const streams = await opened.list(prefix)
    for (const stream of streams) {
      if (endOfMonth(stream.slice(prefix.length)) < clock.now() - keptMs) await opened.remove(stream)
    }
  }

  return {
    async write(entries) {
      if (entries.length === 0) return
      try {
        const opened = await store()
        for (const { stream, record: line } of entries.map(record)) await opened.append(stream, line)
        await removeOld(opened)
        modes.set('ledger: not written', undefined)
      } catch (error) {
        modes.set('ledger: not written', error instanceof Error ? error.message : String(error))
      }
    },

    async *read(filter = {}) {
      const opened = await store()
      const since = filter.since ?? Number.NEGATIVE_INFINITY
      for (const stream of await opened.list(prefix)) {
        if (endOfMonth(stream.slice(prefix.length)) < since) continue
        for await (const { record: line } of opened.read(stream, 0)) {
          const found = decodeRecord(line)
          if (found === undefined || Date.parse(found.at) < since) continue
          if (filter.engine !== undefined && found.engine !== filter.engine) continue
          if (filter.session !== undefined && found.session !== filter.session) continue
          yield found
        }
      }
    },
  }
}

/** ms of the first moment after the month `yyyy-mm`; a name that is none never ends. */
function endOfMonth(month: string): number {
  const match = /^(\d{4})-(\d\d)$/.exec(month)
  return match === null ? Number.POSITIVE_INFINITY : Date.UTC(Number(match[1]), Number(match[2]), 1)
}

function masked(value: Json, mask: (text: string) => string): Json {
  if (typeof value === 'string') return mask(value)
  if (Array.isArray(value)) return value.map(item => masked(item as Json, mask))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [mask(key), masked(item as Json, mask)]))
}

/** A line that a later version wrote in another shape is left out, not half shown. */
function decodeRecord(line: Json): LedgerRecord | undefined {
  if (line === null || typeof line !== 'object' || Array.isArray(line)) return undefined
  const { at, engine, session, turn, what, reason, text, detail } = line as Readonly<Record<string, Json>>
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at)) || typeof what !== 'string' || typeof text !== 'string')
    return undefined
  if (!engineOrder.some(name => name === engine)) return undefined
  return {
    at,
    engine: engine as EngineName,
    session: typeof session === 'string' ? session : null,
    turn: typeof turn === 'number' ? turn : null,
    what,
    reason: typeof reason === 'string' ? reason : null,
    text,
    ...(detail !== undefined && { detail }),
  }
}
