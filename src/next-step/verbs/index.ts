/** What people and scripts can ask next-step for. */
import type { AnyOperation } from '../../session/operation.ts'
import { type LiveDeps, liveOperations } from './live.ts'
import { simulateOperation } from './simulate.ts'
import { type SuggestDeps, suggestOperation } from './suggest.ts'

/** @param deps - nothing of them is used until an operation runs. */
export function nextOperations(deps: SuggestDeps & LiveDeps): readonly AnyOperation[] {
  return [...liveOperations(deps), suggestOperation(deps), simulateOperation()]
}
