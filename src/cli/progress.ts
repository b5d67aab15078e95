/** One line on a terminal for work that takes long: what, how many of how many, how long already. */
import type { Sink } from './io.ts'

export interface Progress {
  report(what: string, done: number, total: number): void
  /** Takes the line away. */
  clear(): void
}

const firstAfterMs = 300
const everyMs = 100
/** Something that says one word and then takes long is seen, and its seconds run. */
const tickMs = 500

/** @param now - ms of a clock that runs, also when the project's clock is fixed. */
export function createProgress(sink: Sink, isQuiet: boolean, now: () => number = () => performance.now()): Progress {
  if (!sink.isTerminal || isQuiet) return { report: () => undefined, clear: () => undefined }
  const startedAt = now()
  let shownAt = startedAt + firstAfterMs - everyMs
  let isShown = false
  let line = ''
  let tick: ReturnType<typeof setInterval> | undefined
  const show = (): void => {
    if (now() - shownAt < everyMs) return
    shownAt = now()
    isShown = true
    sink.write(`\r\u001b[K${line} · ${((now() - startedAt) / 1000).toFixed(1)} s`)
  }
  return {
    report(what, done, total) {
      line = `${what} ${total > 0 ? `${done} of ${total}` : done}`
      tick ??= setInterval(show, tickMs).unref()
      show()
    },
    clear() {
      clearInterval(tick)
      tick = undefined
      if (isShown) sink.write('\r\u001b[K')
      isShown = false
    },
  }
}
