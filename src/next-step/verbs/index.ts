/** What people and scripts can ask next-step for. */
import type { AnyOperation } from '../../session/operation.ts'
import { simulateOperation } from './simulate.ts'
import { type SuggestDeps, suggestOperation } from './suggest.ts'

/** @param deps - nothing of them is used until an operation runs. */
export function nextOperations(deps: SuggestDeps): readonly AnyOperation[] {
  return [suggestOperation(deps), simulateOperation()]
}
