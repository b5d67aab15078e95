/**
 * Native watching. Folders are watched, not files: a file that is replaced by a rename is a new file, and
 * a watch on the old one would never speak again.
 */
import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { OutriggerError } from '../errors.ts'
import type { Watcher } from '../ports/watcher.ts'

const gone = new Set(['ENOENT', 'ENOTDIR'])

/** @param open - `fs.watch`; tests hand in one that refuses. */
export function nodeWatcher(open: typeof watch = watch): Watcher {
  return {
    watch(paths, onChange, onFailure) {
      const wanted = new Map<string, Set<string>>()
      for (const path of paths) {
        const folder = dirname(path)
        const names = wanted.get(folder) ?? new Set()
        wanted.set(folder, names.add(basename(path)))
      }
      const watchers: FSWatcher[] = []
      const close = () => {
        for (const watcher of watchers.splice(0)) watcher.close()
      }
      for (const [folder, names] of wanted) {
        try {
          const watcher = open(folder, { persistent: false }, (_event, changed) => {
            // Some systems do not say which file it was.
            if (changed === null) for (const name of names) onChange(join(folder, name))
            else if (names.has(changed.toString())) onChange(join(folder, changed.toString()))
          })
          watcher.on('error', error => onFailure(codeOf(error)))
          watchers.push(watcher)
        } catch (error) {
          const code = codeOf(error)
          // A folder that is not there yet holds nothing to watch; the next look at its files finds it.
          if (gone.has(code)) continue
          close()
          throw new OutriggerError('WATCH_FAILED', `the system refuses to watch ${folder} (${code})`, {
            subject: code,
            hint:
              code === 'ENOSPC'
                ? 'raise fs.inotify.max_user_watches, or lower keel.watch.max'
                : 'files are looked at on an interval instead',
            exit: 3,
            cause: error,
          })
        }
      }
      return { close }
    },
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'UNKNOWN'
}
