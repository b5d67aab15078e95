/** The standing goal, folded from what the host tells about it. A damaged row changes nothing. */
import type { EventOf } from '../session/events.ts'
import type { Goal } from './types.ts'

export interface Goals {
  readonly goal: Goal | null
  /** Ids that were completed: later rows do not revive them. Newest 50. */
  readonly completed: readonly string[]
}

export const noGoals: Goals = { goal: null, completed: [] }

const clears = new Set(['clear', 'delete', 'remove'])

export function foldGoal(goals: Goals, event: EventOf<'goal-changed'>): Goals {
  const { goal: objective, operation = 'edit' } = event
  if (objective === null || clears.has(operation)) return goals.goal === null ? goals : { ...goals, goal: null }
  if (typeof objective !== 'string' || objective.trim() === '') return goals
  const id = event.id ?? 'goal'
  if (id === '') return goals
  const before = goals.goal?.id === id ? goals.goal : null
  const revision = event.revision ?? before?.revision ?? 0
  const isComplete = operation === 'complete' || event.phase === 'complete' || goals.completed.includes(id)
  const goal: Goal = {
    id,
    revision,
    objective: objective.slice(0, 4_000),
    phase: isComplete ? 'complete' : phaseOf(event.phase, operation),
    activation: isComplete || event.activation !== 'armed' ? 'disarmed' : 'armed',
  }
  const completed = isComplete && !goals.completed.includes(id) ? [...goals.completed, id].slice(-50) : goals.completed
  return { goal, completed }
}

function phaseOf(phase: string | undefined, operation: string): Goal['phase'] {
  if (phase === 'paused' || phase === 'blocked') return phase
  if (phase === undefined && operation === 'pause') return 'paused'
  if (phase === undefined && operation === 'block') return 'blocked'
  return 'active'
}

/** The goal for steps: one that is complete is none. */
export const standing = (goal: Goal | null): Goal | null => (goal?.phase === 'complete' ? null : goal)
