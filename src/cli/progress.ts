/** One line on a terminal for work that takes long: what, how many of how many, how long already. */
import type { Sink } from './io.ts'

export interface Progress {
  report(what: string, done: number, total: number): void
  /** Takes the line away. */
  clear(): void
}

const firstAfterMs = 300
const everyMs = 100

/** @param now - ms of a clock that runs, also when the project's clock is fixed. */
export function createProgress(sink: Sink, isQuiet: boolean, now: () => number = () => performance.now()): Progress {
  if (!sink.isTerminal || isQuiet) return { report: () => undefined, clear: () => undefined }
  const startedAt = now()
  let shownAt = startedAt + firstAfterMs - everyMs
  let isShown = false
  return {
    report(what, done, total) {
      if (now() - shownAt < everyMs) return
      shownAt = now()
      isShown = true
      const seconds = ((now() - startedAt) / 1000).toFixed(1)
      sink.write(`\r\u001b[K${what} ${total > 0 ? `${done} of ${total}` : done} · ${seconds} s`)
    },
    clear() {
      if (isShown) sink.write('\r\u001b[K')
      isShown = false
    },
  }
}
