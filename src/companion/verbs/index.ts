/** companion's verbs, described once for the command line, MCP and hosts. */
import type { AnyOperation } from '../../session/operation.ts'
import { checkOperation } from './check.ts'
import { explainOperation } from './explain.ts'
import { forOperation } from './for.ts'
import { judgeOperation } from './judge.ts'
import { packsOperation } from './packs.ts'
import type { GetCompanion } from './shared.ts'

/** In the order in which help lists them. The function is called anew for every run. */
export function companionOperations(get: GetCompanion): readonly AnyOperation[] {
  return [forOperation(get), judgeOperation(get), checkOperation(get), packsOperation(get), explainOperation(get)]
}
