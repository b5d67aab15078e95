/** Time that stands still until it is moved: the clock and the timers of a replay and of tests. */
import type { Clock } from '../ports/clock.ts'
import type { Timers } from './wakes.ts'

export interface VirtualTime {
  readonly clock: Clock
  readonly timers: Timers
  /**
   * Move on to `at`. Timers that are due on the way fire first, in due order, each at its own time;
   * `settle` is awaited after each. Time never goes back.
   */
  moveTo(at: number, settle: () => Promise<void>): Promise<void>
}

/** @param start - ms since the epoch. */
export function createVirtualTime(start: number): VirtualTime {
  let now = start
  let count = 0
  const timers = new Map<number, { readonly due: number; readonly run: () => void }>()

  const earliest = (until: number) => {
    let found: readonly [number, { readonly due: number; readonly run: () => void }] | undefined
    for (const entry of timers) if (entry[1].due <= until && (found === undefined || entry[1].due < found[1].due)) found = entry
    return found
  }

  return {
    clock: {
      now: () => now,
      newId: () => `id-${(count += 1).toString().padStart(6, '0')}`,
      randomHex: digits => (count += 1).toString(16).padStart(digits, '0').slice(-digits),
    },
    timers: {
      after(ms, run) {
        const id = (count += 1)
        timers.set(id, { due: now + ms, run })
        return () => timers.delete(id)
      },
    },
    async moveTo(at, settle) {
      for (let timer = earliest(at); timer !== undefined; timer = earliest(at)) {
        const [id, { due, run }] = timer
        timers.delete(id)
        now = Math.max(now, due)
        run()
        await settle()
      }
      now = Math.max(now, at)
    },
  }
}
