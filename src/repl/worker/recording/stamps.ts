/** How files and variables were, in a few bytes each. */
import type { Captured } from '../captured.ts'
import type { Stamp } from '../tape.ts'

declare const captured: Captured

/** Larger files count as the same while size and time of change are. */
const maxFileBytes = 8 * 1024 * 1024

export interface Taken {
  readonly stamp: Stamp
  /** Bytes that were read for it. */
  readonly hashed: number
}

export function takeStamp(of: Stamp['of'], path: string, variable: () => string | undefined): Taken {
  if (of === 'env') {
    const value = variable()
    return { stamp: { of, path, hash: value === undefined ? null : captured.sha256(value) }, hashed: 0 }
  }
  try {
    const { text, bytes, hashed } = contentOf(of, path)
    return { stamp: { of, path, hash: captured.sha256(bytes ?? text ?? '') }, hashed }
  } catch {
    return { stamp: { of, path, hash: null }, hashed: 0 }
  }
}

export const holds = (stamp: Stamp, variable: (name: string) => string | undefined): boolean =>
  takeStamp(stamp.of, stamp.path, () => variable(stamp.path)).stamp.hash === stamp.hash

function contentOf(
  of: Stamp['of'],
  path: string,
): { readonly text?: string; readonly bytes?: Uint8Array; readonly hashed: number } {
  const { files } = captured
  switch (of) {
    case 'file': {
      const about = files.stat(path, true)
      if (about.isDirectory) return { text: files.list(path, false), hashed: 0 }
      if (!about.isFile || about.size > maxFileBytes) return { text: `${about.size} ${about.mtimeMs}`, hashed: 0 }
      const bytes = files.read(path)
      return { bytes, hashed: bytes.length }
    }
    case 'stat':
    case 'lstat': {
      const { size, mode, mtimeMs, ctimeMs, ino } = files.stat(path, of === 'stat')
      return { text: [size, mode, mtimeMs, ctimeMs, ino].join(' '), hashed: 0 }
    }
    case 'exists':
      return { text: String(files.stat(path, true).mode), hashed: 0 }
    case 'directory':
    case 'tree':
      return { text: files.list(path, of === 'tree'), hashed: 0 }
    default:
      return { text: files.target(path), hashed: 0 }
  }
}
