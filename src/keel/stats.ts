/** One look at each path in one refresh, whoever asks: resolving and refreshing share it. */
import type { FileStat, Files } from '../ports/files.ts'

export type Look =
  | { readonly kind: 'missing' }
  /** It may not be looked at. */
  | { readonly kind: 'unreadable' }
  /** `link` is the link itself when the path is one; `file` what it leads to, `undefined` for links that lead nowhere. */
  | { readonly kind: 'there'; readonly link: FileStat | null; readonly file: FileStat | undefined }

export interface Stats {
  /** @param absolute - in the host's form. */
  look(absolute: string): Look
  /** The files port as far as looking goes, answered from here; throws like it. */
  readonly files: Pick<Files, 'stat' | 'lstat'>
  forget(absolute: string): void
}

export function createStats(files: Files): Stats {
  const seen = new Map<string, Look>()

  function look(path: string): Look {
    const known = seen.get(path)
    if (known !== undefined) return known
    const now = lookNow(files, path)
    seen.set(path, now)
    return now
  }

  return {
    look,
    forget: path => {
      seen.delete(path)
    },
    files: {
      stat(path) {
        const seenNow = look(path)
        if (seenNow.kind === 'unreadable') return files.stat(path)
        return seenNow.kind === 'there' ? seenNow.file : undefined
      },
      lstat(path) {
        const seenNow = look(path)
        if (seenNow.kind === 'unreadable') return files.lstat(path)
        return seenNow.kind === 'there' ? (seenNow.link ?? seenNow.file) : undefined
      },
    },
  }
}

function lookNow(files: Files, path: string): Look {
  try {
    const own = files.lstat(path)
    if (own === undefined) return { kind: 'missing' }
    if (own.kind !== 'link') return { kind: 'there', link: null, file: own }
    return { kind: 'there', link: own, file: files.stat(path) }
  } catch {
    return { kind: 'unreadable' } // the port throws only when it may not look
  }
}
