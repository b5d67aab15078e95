/** Whether running a cell again would do the same: by what it took from outside and what it did there, as the worker saw it. */
import type { CellClass, Effect } from './types.ts'
import type { DoneMessage } from './worker/protocol.ts'

/** @param seen - effects of a cell whose worker died before it could say. */
export function classOfCell(
  done: DoneMessage | undefined,
  seen: readonly { readonly kind: string; readonly subject?: string }[],
): { readonly class: CellClass; readonly effects: readonly Effect[] } {
  const interrupted: Effect = { kind: 'interrupted', count: 1 }
  if (done === undefined) return { class: 'effect', effects: [...seen.map(each => ({ ...each, count: 1 })), interrupted] }
  const isInterrupted = done.outcome === 'interrupted' || done.outcome === 'abandoned'
  const effects = isInterrupted ? [...done.effects.slice(0, 19), interrupted] : done.effects
  if (effects.length > 0) return { class: 'effect', effects }
  if (done.stamps.length > 0) return { class: 'stamped', effects }
  return { class: done.tape === undefined ? 'pure' : 'recorded', effects }
}
