/** Whether running a cell again would do the same, judged from what happened while it ran. */
import type { CellClass, Effect } from './types.ts'
import type { DoneMessage } from './worker/protocol.ts'

/**
 * @param done - `undefined`: the worker ended before it could say; what the cell did is not known.
 * @param calls - that the cell made, the engine's own among them.
 */
export function classOfCell(
  done: DoneMessage | undefined,
  calls: number,
): { readonly class: CellClass; readonly effects: readonly Effect[] } {
  if (done === undefined) return { class: 'effect', effects: [{ kind: 'interrupted', count: 1 }] }
  const { effects, stamps, tape } = done
  if (effects.length > 0) return { class: 'effect', effects }
  if (stamps.length > 0) return { class: 'stamped', effects: [] }
  return { class: tape !== undefined || calls > 0 ? 'recorded' : 'pure', effects: [] }
}
