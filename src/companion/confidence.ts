/** From weights and strengths to one number between 0 and 1, and the gates it has to pass. */
import type { CompanionConfig, Evidence, Intent, Match, WeightedSignal } from './types.ts'
import { signals } from './types.ts'

export const defaultThreshold = 0.75

/** Sum of contributions → confidence. */
export const confidenceOf = (sum: number): number => 1 / (1 + Math.exp(-(sum - 0.6)))

/** For people and the ledger. */
export const shownConfidence = (k: number): string => k.toFixed(2)
/** For documents. */
export const documentNumber = (value: number): number => Number(value.toFixed(4))

/** What a number in the configuration adds: nothing when nobody wrote it, unless the literal reading is asked for. */
export function raiseOf(config: CompanionConfig, literal: boolean): number {
  return config.threshold ?? (literal ? defaultThreshold : 0)
}

/** A written number raises and nothing goes below a floor. */
export const gateOf = (intent: Intent, raise: number): number => Math.max(intent.threshold ?? defaultThreshold, raise)

/** The largest confidence that an intent can reach. */
export const bestOf = (intent: Intent): number => confidenceOf(sumOf(intent.signals.map(({ weight }) => weight)))

/** Matches of an intent's signals with their weights, in the order of the vocabulary. */
export function weigh(matches: readonly Match[], weighted: readonly WeightedSignal[], allowed: readonly string[]): Evidence[] {
  const evidence: Evidence[] = []
  for (const signal of signals) {
    const match = matches.find(one => one.signal === signal)
    const weight = weighted.find(one => one.id === signal)?.weight
    if (match === undefined || weight === undefined || (allowed.length > 0 && !allowed.includes(signal))) continue
    const { strength, detail } = match
    evidence.push({ signal, weight, strength, contribution: weight * strength, detail })
  }
  return evidence
}

/** In this order: floating point addition is not associative, and two machines must agree. */
export const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0)
