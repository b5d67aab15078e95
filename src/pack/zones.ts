/**
 * How full the context is and what that asks for: a seam in the work, a save near the wall. A value and
 * one step; no clock, no store. The engine carries out what the step wants.
 */
import type { Advice } from './messages.ts'
import type { PackConfig, Seam } from './types.ts'

export interface Reading {
  readonly tokens: number
  /** 0: not known; there are no zones then. */
  readonly window: number
  readonly compactsAt: number | null
}

/** 1: a decision with the context half full; 2: a task closed; 3: near the wall. */
export type Rank = 0 | 1 | 2 | 3

export interface Zone {
  /** Counts up when the zones are armed anew: what belongs to an older cycle says nothing more. */
  readonly cycle: number
  readonly rank: Rank
  readonly advice: Advice | null
  /** In this cycle a notice was shown for ranks 1 and 2, and one for 3. */
  readonly noticed: { readonly soft: boolean; readonly hard: boolean }
  /** In this cycle a save near the wall was begun. */
  readonly hasSaved: boolean
}

export const noZone: Zone = { cycle: 0, rank: 0, advice: null, noticed: { soft: false, hard: false }, hasSaved: false }

export const rearmed = (zone: Zone): Zone => ({ ...noZone, cycle: zone.cycle + 1 })

type Zones = PackConfig['zones']

/** Tokens from which on the wall is near. */
export function hardAt({ window, compactsAt }: Reading, zones: Zones): number {
  const byWindow = zones.hard * window
  return Math.round(compactsAt === null ? byWindow : Math.min(byWindow, zones.wallCap * compactsAt))
}

/** The host is about to compact: waiting for the turn's end would be too late. */
export const isAtWall = ({ tokens, compactsAt }: Reading, zones: Zones): boolean =>
  compactsAt !== null && tokens >= zones.wallCap * compactsAt

export const percentOf = ({ tokens, window }: Reading): number => (window > 0 ? Math.round((100 * tokens) / window) : 0)

/** Fill below which the zones are armed anew. */
function floorOf(rank: Rank, reading: Reading, zones: Zones): number {
  if (rank === 3) return Math.min(zones.soft, (0.9 * hardAt(reading, zones)) / reading.window)
  return rank === 2 ? zones.strong : zones.soft
}

export type ZoneWord =
  | 'no-seam'
  | 'under-floor'
  | 'advised'
  | 'raised'
  | 'kept'
  | 'armed'
  | 'saving'
  | 'saved-already'
  | 'no-stream'
  | 'busy'
  | 'in-review'
  | 'left-to-auto'
  | 're-armed'

export interface Surroundings {
  readonly seam: Seam
  readonly hasStream: boolean
  readonly isIdle: boolean
  readonly flow: 'saving' | 'review' | 'countdown' | 'armed' | null
  readonly isAuto: boolean
}

export interface ZoneStep {
  readonly zone: Zone
  readonly words: readonly ZoneWord[]
  /** Show the advice as a notice, too. */
  readonly notice: boolean
  /** Save in the background now. */
  readonly save: boolean
  /** Tokens are at or over `hardAt`. */
  readonly isHard: boolean
}

export function stepZone(before: Zone, reading: Reading, zones: Zones, around: Surroundings): ZoneStep {
  const rest = { notice: false, save: false, isHard: false }
  if (reading.window <= 0) return { ...rest, zone: before, words: ['under-floor'] }
  const fill = reading.tokens / reading.window
  const isHard = reading.tokens >= hardAt(reading, zones)
  const words: ZoneWord[] = []
  let zone = before
  if (zone.rank > 0 && fill < floorOf(zone.rank, reading, zones)) {
    zone = rearmed(zone)
    words.push('re-armed')
  }
  const step = (more: Partial<ZoneStep>, ...said: readonly ZoneWord[]): ZoneStep => ({
    ...rest,
    isHard,
    zone,
    ...more,
    words: [...words, ...said],
  })
  if (around.flow === 'armed' || around.flow === 'countdown') return step({}, 'armed')
  if (around.flow === 'review') return step({}, 'in-review')
  if (isHard && around.isAuto && around.hasStream) return step({ zone: { ...zone, rank: 3 } }, 'left-to-auto')
  if (around.flow === 'saving' || !around.isIdle) return step({}, 'busy')
  if (isHard) return hardStep(zone, around, step)

  const { level } = around.seam
  const wanted: Rank = level === 'strong' && fill >= zones.strong ? 2 : level !== 'none' && fill >= zones.soft ? 1 : 0
  if (wanted <= zone.rank) return step({}, zone.rank > 0 ? 'kept' : level === 'none' ? 'no-seam' : 'under-floor')
  const notice = !zone.noticed.soft
  const advised: Zone = {
    ...zone,
    rank: wanted,
    advice: { kind: 'seam', seam: around.seam },
    noticed: { ...zone.noticed, soft: true },
  }
  return step({ zone: advised, notice }, zone.rank === 0 ? 'advised' : 'raised')
}

function hardStep(
  zone: Zone,
  { hasStream }: Surroundings,
  step: (more: Partial<ZoneStep>, ...said: readonly ZoneWord[]) => ZoneStep,
): ZoneStep {
  if (!hasStream) {
    if (zone.advice?.kind === 'no-stream') return step({}, 'kept', 'no-stream')
    const noticed = { ...zone.noticed, hard: true }
    const next: Zone = { ...zone, rank: 3, advice: { kind: 'no-stream' }, noticed }
    return step({ zone: next, notice: !zone.noticed.hard }, 'no-stream')
  }
  if (zone.hasSaved) return step({}, 'saved-already')
  return step({ zone: { ...zone, rank: 3, hasSaved: true }, save: true }, 'saving')
}

/** A save near the wall ended: its advice, unless it belongs to an older cycle. @returns whether a notice goes with it. */
export function adviseHard(zone: Zone, cycle: number, advice: Advice): { readonly zone: Zone; readonly notice: boolean } {
  if (zone.cycle !== cycle) return { zone, notice: false }
  const notice = !zone.noticed.hard
  return { zone: { ...zone, rank: 3, advice, noticed: { ...zone.noticed, hard: true } }, notice }
}
