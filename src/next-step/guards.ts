/**
 * What keeps the loop from firing an offer that is ready: one table, in order. Deciding takes the first row that holds, the fence
 * asks the rows marked `atFence` again when the turn would begin; status, ledger and help read the same rows.
 */
import { asksPerson } from './asks.ts'
import type { NextFacts } from './facts.ts'
import { riskOf } from './risky.ts'
import type { Loop, Row } from './types.ts'

export interface GuardInput {
  readonly facts: NextFacts
  readonly row: Pick<Row, 'text' | 'intent'>
  readonly loop: Loop
  readonly isChecking: boolean
  readonly risk: 'hold' | 'allow'
}

export interface Guard {
  readonly reason: string
  readonly atFence: boolean
  /** Words for people when it holds; may be empty. */
  readonly when: (input: GuardInput) => string | false
}

const says = (holds: boolean, detail = ''): string | false => (holds ? detail : false)

export const guards: readonly Guard[] = [
  { reason: 'goal-edit', atFence: false, when: ({ row }) => says(row.intent === 'goal-edit') },
  {
    reason: 'goal-inactive',
    atFence: true,
    when: ({ facts: { goals } }) => says(goals.goal?.phase === 'paused' || goals.goal?.phase === 'blocked'),
  },
  {
    reason: 'goal-driver',
    atFence: true,
    when: ({ facts: { goals } }) => says(goals.goal?.phase === 'active' && goals.goal.activation === 'armed'),
  },
  { reason: 'running', atFence: false, when: ({ facts }) => says(facts.busy.draining) },
  { reason: 'queued', atFence: false, when: ({ facts }) => says(facts.busy.queued > 0) },
  { reason: 'approval', atFence: true, when: ({ facts }) => says(facts.busy.approvals > 0) },
  { reason: 'asked', atFence: true, when: ({ facts }) => says(facts.busy.questions > 0) },
  { reason: 'question', atFence: false, when: ({ facts, loop }) => says(asksPerson(facts.answer ?? '', loop.grant.goOn)) },
  { reason: 'plan-mode', atFence: true, when: ({ facts }) => says(facts.busy.planMode) },
  {
    reason: 'risky',
    atFence: false,
    when: ({ facts, row, loop, risk }) => {
      if (risk === 'allow' || loop.grant.allowRisky) return false
      return riskOf(row.text, facts.hosts) ?? false
    },
  },
  { reason: 'typing', atFence: true, when: ({ facts }) => says(facts.busy.typing) },
  { reason: 'background', atFence: true, when: ({ facts }) => says(atWork(facts) > 0, String(atWork(facts))) },
  { reason: 'other-loop', atFence: true, when: ({ facts }) => says(facts.busy.otherLoop) },
  { reason: 'check', atFence: false, when: ({ isChecking }) => says(isChecking) },
]

export const atWork = ({ busy }: NextFacts): number => busy.children + busy.jobs

export function firstGuard(
  input: GuardInput,
  only: 'all' | 'fence' = 'all',
): { readonly reason: string; readonly detail: string } | null {
  for (const { reason, atFence, when } of guards) {
    if (only === 'fence' && !atFence) continue
    const detail = when(input)
    if (detail !== false) return { reason, detail }
  }
  return null
}
