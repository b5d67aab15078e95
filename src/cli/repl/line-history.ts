/** The lines a person typed at the prompt, kept for the next time: in the user's own state folder, masked, readable by the user only. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export interface LineHistory {
  /** Newest first. */
  readonly lines: readonly string[]
  /** A history that cannot be written is none; nothing else fails with it. */
  save(lines: readonly string[]): void
}

export const maxLines = 1_000
const maxBytes = 1024 * 1024

/**
 * @param file - `null`: there is no place for it.
 * @param mask - takes out what must not be written down.
 */
export function openLineHistory(file: string | null, mask: (text: string) => string): LineHistory {
  if (file === null) return { lines: [], save: () => {} }
  return {
    lines: read(file),
    save: lines => {
      try {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
        const text = lines
          .slice(0, maxLines)
          .map(line => JSON.stringify(mask(line)))
          .join('\n')
        const beside = `${file}.${process.pid}`
        writeFileSync(beside, `${text}\n`, { mode: 0o600 })
        renameSync(beside, file)
      } catch {
        // A full disk, a home that cannot be written: the prompt goes on without a history.
      }
    },
  }
}

function read(file: string): readonly string[] {
  try {
    const text = readFileSync(file, 'utf8')
    if (text.length > maxBytes) return []
    return text.split('\n').flatMap(line => {
      try {
        const value: unknown = JSON.parse(line)
        return typeof value === 'string' ? [value] : []
      } catch {
        return []
      }
    })
  } catch {
    return []
  }
}
