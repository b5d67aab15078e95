/** One thing at a time in each session, in order of arrival; sessions run side by side. */
export interface Queues {
  enqueue<T>(name: string, run: () => Promise<T>): Promise<T>
  /** Something is running or waits its turn. */
  has(name: string): boolean
  /** `idle` waits for this too. A rejection is nobody's. */
  track(work: Promise<unknown>): void
  /** Resolves when nothing runs or waits. */
  idle(): Promise<void>
}

export function createQueues(): Queues {
  const last = new Map<string, Promise<void>>()
  const tracked = new Set<Promise<void>>()

  function track(work: Promise<unknown>): void {
    const done: Promise<void> = work.then(
      () => void tracked.delete(done),
      () => void tracked.delete(done),
    )
    tracked.add(done)
  }

  return {
    enqueue(name, run) {
      const result = (last.get(name) ?? Promise.resolve()).then(run)
      const forget = () => {
        if (last.get(name) === settled) last.delete(name)
      }
      const settled: Promise<void> = result.then(forget, forget)
      last.set(name, settled)
      return result
    },
    has: name => last.has(name),
    track,
    async idle() {
      while (last.size > 0 || tracked.size > 0) await Promise.all([...last.values(), ...tracked])
    },
  }
}
