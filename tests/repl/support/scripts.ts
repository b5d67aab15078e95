/** A program as classic scripts by V8 alone and as cells; both log to a list. */
import vm from 'node:vm'
import { createCells } from './cells.ts'

/** Log of the program as scripts, one per part, in a fresh realm; a part that throws logs the name of its error. */
export function asScripts(parts: readonly string[]): string[] {
  const context = vm.createContext(vm.constants.DONT_CONTEXTIFY)
  const log = vm.runInContext('globalThis.log = []', context) as unknown[]
  for (const part of parts) {
    try {
      // A generated loop may set its own counter back for ever; such a sequence counts as one that throws.
      vm.runInContext(part, context, { timeout: 500 })
    } catch (error) {
      log.push(`threw ${(error as Error).name}`)
    }
  }
  return log.map(String)
}

export async function asCells(parts: readonly string[]): Promise<string[]> {
  const cells = createCells()
  await cells.run('globalThis.log = []')
  const log = cells.global['log'] as unknown[]
  for (const part of parts) {
    const result = await cells.run(part)
    if (result.outcome === 'rejected') log.push(`${result.error?.code} ${result.error?.message} ${result.program?.code}`)
    if (result.outcome === 'threw') log.push(`threw ${result.error?.name}`)
  }
  return log.map(String)
}
