/**
 * One call at a time on a project's documents. Events of several sessions and the tools that their
 * agents call meet at one `KeelProject`, whose calls must not overlap: each takes its turn here.
 * Never nested: an engine step and a verb take it once, at the top.
 */
import type { KeelProject } from './types.ts'

const turns = new WeakMap<KeelProject, Promise<unknown>>()

/** Run when all earlier ones are done, whether they failed or not. */
export function exclusive<T>(keel: KeelProject, run: () => Promise<T>): Promise<T> {
  const before = turns.get(keel) ?? Promise.resolve()
  const mine = before.then(run, run)
  turns.set(
    keel,
    mine.catch(() => undefined),
  )
  return mine
}
