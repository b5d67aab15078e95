/**
 * What was told already, and when: a value inside an engine's state. Ticks are the engine's own (turns,
 * judged calls, steps) and never fall.
 */
export interface Telling {
  readonly first: number
  readonly last: number
  readonly times: number
}

export type Told = ReadonlyMap<string, Telling>

export const nothingTold: Told = new Map()

export interface Repeating {
  /** Ticks after which it may be told again. Left out: once. */
  readonly every?: number
  /** Never more often than this. */
  readonly atMost?: number
}

/** Note that `key` is told at this tick. */
export function tell(told: Told, key: string, tick: number): Told {
  const before = told.get(key)
  return new Map(told).set(key, { first: before?.first ?? tick, last: tick, times: (before?.times ?? 0) + 1 })
}

/** May `key` be told now? */
export function isFresh(told: Told, key: string, repeating: Repeating, tick: number): boolean {
  const before = told.get(key)
  if (before === undefined) return repeating.atMost === undefined || repeating.atMost > 0
  if (repeating.atMost !== undefined && before.times >= repeating.atMost) return false
  return repeating.every !== undefined && tick - before.last >= repeating.every
}

/** Forget what is gone: when it comes back it is news. The same value when nothing is. */
export function keepLive(told: Told, keys: ReadonlySet<string>): Told {
  const gone = [...told.keys()].filter(key => !keys.has(key))
  if (gone.length === 0) return told
  const live = new Map(told)
  for (const key of gone) live.delete(key)
  return live
}

/** As JSON, in the order of telling. */
export const encodeTold = (told: Told): readonly (readonly [string, number, number, number])[] =>
  [...told].map(([key, { first, last, times }]) => [key, first, last, times] as const)

/** Rows that are no tellings are left out: the worst that follows is that something is told again. */
export function decodeTold(json: unknown): Told {
  const told = new Map<string, Telling>()
  for (const row of Array.isArray(json) ? json : []) {
    if (!Array.isArray(row)) continue
    const [key, first, last, times] = row as unknown[]
    if (typeof key !== 'string' || !isCount(first) || !isCount(last) || !isCount(times)) continue
    told.set(key, { first, last, times })
  }
  return told
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
