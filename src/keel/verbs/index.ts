/** keel's verbs, described once for the command line, MCP and hosts. */
import type { AnyOperation } from '../../session/operation.ts'
import type { KeelDeps } from '../deps.ts'
import type { KeelProject } from '../types.ts'
import { checkOperation } from './check.ts'
import { fixOperation } from './fix.ts'
import { graphOperation } from './graph.ts'
import { logOperation } from './log.ts'
import { anchorsOperation, parseOperation } from './look-inside.ts'
import { okOperation } from './ok.ts'
import type { KeelVerbs } from './shared.ts'
import { scanOperation, stampOperation } from './stamp.ts'
import { offOperation, onOperation, statusOperation } from './status.ts'
import { watchOperation } from './watch.ts'
import { diffOperation, whyOperation } from './why.ts'

/** In the order in which help lists them. Both functions are called anew for every run. */
export function keelOperations(keel: () => KeelProject, deps: () => KeelDeps): readonly AnyOperation[] {
  const verbs: KeelVerbs = { keel, deps }
  return [
    checkOperation(verbs),
    whyOperation(verbs),
    diffOperation(verbs),
    okOperation(verbs),
    stampOperation(verbs),
    scanOperation(verbs),
    fixOperation(verbs),
    graphOperation(verbs),
    statusOperation(verbs),
    watchOperation(verbs),
    logOperation(verbs),
    parseOperation(verbs),
    anchorsOperation(verbs),
    offOperation(verbs),
    onOperation(verbs),
  ]
}
