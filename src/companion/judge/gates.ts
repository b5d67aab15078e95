/** Whether a note that could be given is given: what was named, what rests, how many there were. */
import { isFresh, tell } from '../../session/told.ts'
import type { Candidate, CompanionConfig, Intent } from '../types.ts'
import { type AgentState, intentKey, type Note, pairKey } from './state.ts'

export const reconciliationIntent = 'Reconciliation'

/** For a changelog, whatever changed is one pair. */
const keyOf = (intent: Intent, candidate: Candidate): string =>
  pairKey(intent.find.includes('changelog') ? '' : candidate.for, candidate.path)

export type Left =
  | { readonly kind: 'left'; readonly candidates: readonly Candidate[] }
  | { readonly kind: 'travelling' | 'deduped' | 'struck' }

/** What is left of the candidates when those that travel already and those that were named are gone. */
export function leftOf(
  agent: AgentState,
  intent: Intent,
  candidates: readonly Candidate[],
  config: CompanionConfig,
  travelling: (path: string) => boolean,
): Left {
  const standing = candidates.filter(candidate => candidate.missing || !travelling(candidate.path))
  if (standing.length === 0) return { kind: 'travelling' }
  const repeating = { every: 1, ...(config.maxStrikes > 0 && { atMost: config.maxStrikes }) }
  const fresh = standing.filter(candidate => isFresh(agent.told, keyOf(intent, candidate), repeating, agent.window))
  if (fresh.length === 0) {
    const isOfWindow = standing.some(candidate => agent.told.get(keyOf(intent, candidate))?.last === agent.window)
    return { kind: isOfWindow ? 'deduped' : 'struck' }
  }
  return isResting(agent, intent, config) ? { kind: 'struck' } : { kind: 'left', candidates: fresh }
}

/** The latest notes of the intent in this window all went unfollowed. */
function isResting({ notes }: AgentState, { id }: Intent, { maxStrikes }: CompanionConfig): boolean {
  if (maxStrikes === 0) return false
  const latest = notes.filter(note => note.intent === id).slice(-maxStrikes)
  return latest.length === maxStrikes && latest.every(note => !note.followed)
}

export function isCooling(agent: AgentState, intent: string, { cooldownCalls }: CompanionConfig): boolean {
  return !isFresh(agent.told, intentKey(intent), { every: cooldownCalls + 1 }, agent.judged)
}

export const isCapped = ({ notes }: AgentState, { maxNotesPerTurn }: CompanionConfig): boolean => notes.length >= maxNotesPerTurn

/** A note was given. */
export function noteGiven(
  agent: AgentState,
  given: { readonly intent: string; readonly action: string; readonly of?: Intent; readonly candidates: readonly Candidate[] },
): AgentState {
  const { intent, action, of, candidates } = given
  const pairs = of === undefined || of.find.length === 0 ? [] : candidates
  const keys = pairs.map(candidate => keyOf(of!, candidate))
  let told = tell(agent.told, intentKey(intent), agent.judged)
  for (const key of keys) told = tell(told, key, agent.window)
  const note: Note = { intent, action, paths: pairs.map(({ path }) => path), followed: false, told: [intentKey(intent), ...keys] }
  const named = pairs.map(candidate => ({ intent, path: candidate.path, for: candidate.for, k: candidate.k }))
  return { ...agent, told, notes: [...agent.notes, note], pairs: [...agent.pairs, ...named].slice(-200) }
}
