/** One look at each path in one refresh, whoever asks: resolving and refreshing share it. */
import type { FileStat, Files } from '../ports/files.ts'
import { absoluteOf } from './places.ts'

export type Look =
  | { readonly kind: 'missing' }
  /** It may not be looked at. */
  | { readonly kind: 'unreadable' }
  /** `link` is the link itself when the path is one; `file` what it leads to, `undefined` for links that lead nowhere. */
  | { readonly kind: 'there'; readonly link: FileStat | null; readonly file: FileStat | undefined }

export interface Stats {
  /** @param path - project-relative, or absolute in the host's form. */
  look(path: string): Look
  /** A look that somebody took just now at what is no link. */
  note(path: string, file: FileStat): void
  /** The files port as far as looking goes, for absolute paths, answered from here; throws like it. */
  readonly files: Pick<Files, 'stat' | 'lstat'>
}

export function createStats(root: string, files: Files): Stats {
  const seen = new Map<string, Look>()
  const prefix = `${root}/`
  const keyOf = (absolute: string) => (absolute.startsWith(prefix) ? absolute.slice(prefix.length) : absolute)

  function look(path: string): Look {
    const known = seen.get(path)
    if (known !== undefined) return known
    const now = lookNow(files, absoluteOf(root, path))
    seen.set(path, now)
    return now
  }

  return {
    look,
    note(path, file) {
      seen.set(path, { kind: 'there', link: null, file })
    },
    files: {
      stat(path) {
        const seenNow = look(keyOf(path))
        if (seenNow.kind === 'unreadable') return files.stat(path)
        return seenNow.kind === 'there' ? seenNow.file : undefined
      },
      lstat(path) {
        const seenNow = look(keyOf(path))
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
