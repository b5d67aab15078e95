/** A row about the standing goal in a host's log, or as a host tells it: what it changes, or nothing where it cannot be read. */
import type { EventOf } from './events.ts'

export type GoalRow = Omit<EventOf<'goal-changed'>, 'kind' | 'session' | 'project' | 'at' | 'agent'>

const clears: ReadonlySet<unknown> = new Set(['clear', 'delete', 'remove'])

/** @returns `undefined`: the row names no goal, and ends none. */
export function readGoalRow(data: Readonly<Record<string, unknown>>): GoalRow | undefined {
  const { operation, goal: given } = data
  if (clears.has(operation) || 'cleared' in data) return { goal: null, operation: 'clear' }
  if (typeof given !== 'object' || given === null) return undefined
  const { id, objective, revision, phase, activation } = given as Readonly<Record<string, unknown>>
  if (typeof id !== 'string' || id === '' || typeof objective !== 'string' || objective.trim() === '') return undefined
  return {
    goal: objective,
    id,
    ...(typeof revision === 'number' && { revision }),
    ...(typeof phase === 'string' && { phase }),
    ...(typeof activation === 'string' && { activation }),
    ...(typeof operation === 'string' && { operation }),
  }
}
