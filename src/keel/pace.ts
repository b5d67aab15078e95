/** How long a sweep may go on, and when it lets the host's other work run. */

/** Even a spent budget lets each part of a sweep do this much, so that every sweep gets on. */
const floorMs = 20
const breathEveryMs = 25

export interface Pace {
  /** A new part of the work begins. */
  begin(): void
  /** Stop here; what is left keeps its record. */
  isOver(): boolean
  /** Resolves at once, but for a moment's rest now and then. */
  rest(): Promise<void> | undefined
}

/** @param budgetMs - 0: none. */
export function createPace(budgetMs: number, signal?: AbortSignal): Pace {
  const start = performance.now()
  let floor = start + floorMs
  let rested = start
  let asked = 0
  return {
    begin() {
      floor = performance.now() + floorMs
    },
    isOver() {
      if (signal?.aborted) return true
      if (budgetMs <= 0) return false
      const now = performance.now()
      return now > start + budgetMs && now > floor
    },
    rest() {
      asked += 1
      if (asked % 8 !== 0 || performance.now() - rested < breathEveryMs) return undefined
      return new Promise(resolve => {
        setImmediate(() => {
          rested = performance.now()
          resolve()
        })
      })
    },
  }
}
