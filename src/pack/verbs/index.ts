/** pack's verbs, described once for the command line, MCP and hosts. */
import type { AnyOperation } from '../../session/operation.ts'
import { captureOperation } from './capture.ts'
import { importOperation } from './import.ts'
import { loadOperation, trustOperation } from './load.ts'
import { diffOperation, listOperation, promptOperation, showOperation, verifyOperation } from './look.ts'
import { saveOperation } from './save.ts'
import type { PackVerbs } from './shared.ts'
import { nameOperation, privateOperation, redactOperation, screenOperation } from './texts.ts'

export type { PackVerbs } from './shared.ts'

/** In the order in which help lists them. */
export function packOperations(verbs: PackVerbs): readonly AnyOperation[] {
  return [
    saveOperation(verbs),
    loadOperation(verbs),
    showOperation(verbs),
    listOperation(verbs),
    diffOperation(verbs),
    captureOperation(verbs),
    importOperation(verbs),
    verifyOperation(verbs),
    promptOperation(verbs),
    trustOperation(verbs),
    privateOperation(verbs),
    nameOperation(verbs),
    redactOperation(verbs),
    screenOperation(verbs),
  ]
}
