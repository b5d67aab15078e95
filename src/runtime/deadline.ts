/** How long a host waits for an answer, and the wait itself. */
import type { EventKind } from '../session/events.ts'
import type { Timers } from './wakes.ts'

const limits: Readonly<Partial<Record<EventKind, number>>> = {
  'session-started': 9_000,
  'turn-ending': 9_000,
  // A person waits for the reply, no turn of the host does.
  'command-run': 9_000,
  'person-spoke': 2_000,
  'turn-started': 2_000,
}

const otherMs = 1_000

/** ms after which the host goes on without the answer. */
export const limitMs = (kind: EventKind): number => limits[kind] ?? otherMs

/** Wait for the work, at most so long. The work goes on. Resolves to `false` when the time was over. */
export function waitFor(work: Promise<void>, ms: number, timers: Timers): Promise<boolean> {
  return new Promise(resolve => {
    const stop = timers.after(ms, () => resolve(false))
    work.then(
      () => {
        stop()
        resolve(true)
      },
      () => {
        stop()
        resolve(true)
      },
    )
  })
}
