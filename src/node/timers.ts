/** Timers of this process. They do not keep it alive: a command that is done ends. */
import type { Timers } from '../runtime/outrigger.ts'

/** What one timer of the system can wait. */
const longestMs = 2 ** 31 - 1

export const systemTimers: Timers = {
  after(ms, run) {
    let timer: NodeJS.Timeout
    const wait = (left: number): void => {
      timer = setTimeout(() => (left > longestMs ? wait(left - longestMs) : run()), Math.min(Math.max(0, left), longestMs))
      timer.unref()
    }
    wait(ms)
    return () => clearTimeout(timer)
  },
}
