/** What people and scripts can ask next-step for. */
import type { AnyOperation } from '../../session/operation.ts'
import { type LiveDeps, liveOperations } from './live.ts'
import { type LogDeps, logOperation } from './log.ts'
import { simulateOperation } from './simulate.ts'
import { type SuggestDeps, suggestOperation } from './suggest.ts'

/** @param deps - nothing of them is used until an operation runs. */
export function nextOperations(deps: SuggestDeps & LiveDeps & LogDeps): readonly AnyOperation[] {
  return [...liveOperations(deps), logOperation(deps), suggestOperation(deps), simulateOperation()]
}
