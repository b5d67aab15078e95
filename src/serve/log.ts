/** The log of the engine process: `serve.log` beside the store, one line an entry; the one before it is kept as `serve.log.1`. */
import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'

const maxBytes = 1024 * 1024

export interface Log {
  write(text: string): void
}

/** @param folder - `null`: nothing is written. A log that cannot be written is no reason to stop. */
export function createLog(folder: string | null, now: () => number, maxLogBytes: number = maxBytes): Log {
  if (folder === null) return { write: () => {} }
  const file = join(folder, 'serve.log')
  let isMade = false
  return {
    write(text) {
      try {
        const line = `${new Date(now()).toISOString()} ${text.replace(/\s*\n\s*/g, ' | ')}\n`
        if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) + line.length > maxLogBytes) renameSync(file, `${file}.1`)
        // Once: a project that was moved away must not come into being again where it was.
        if (!isMade) mkdirSync(folder, { recursive: true, mode: 0o700 })
        isMade = true
        appendFileSync(file, line, { mode: 0o600 })
      } catch {
        // Full, read-only or gone: doctor names those.
      }
    },
  }
}
