/** Carries `watch` out with the machine's watcher: one watch a session, the newest list wins. */
import type { WatchHandle } from '../ports/watcher.ts'
import type { LiveProject } from './runtime.ts'

export interface Watches {
  /** @param paths - absolute. */
  set(live: LiveProject, session: string, paths: readonly string[]): void
  end(session: string): void
  endAll(): void
}

/** @param changed - told with the absolute path of a watched file, from a callback of the system: must not throw. */
export function createWatches(changed: (session: string, path: string) => void): Watches {
  const handles = new Map<string, WatchHandle>()

  const end = (session: string): void => {
    handles.get(session)?.close()
    handles.delete(session)
  }

  return {
    end,
    endAll: () => {
      for (const session of [...handles.keys()]) end(session)
    },
    set: (live, session, paths) => {
      end(session)
      if (paths.length === 0) return
      const failed = (why: string): void => live.project.modes.set('watch: off', why)
      try {
        handles.set(
          session,
          live.project.watcher.watch(paths, path => changed(session, path), failed),
        )
      } catch (error) {
        // The system has no watch left: files are still looked at before each turn and at its end.
        failed(error instanceof Error ? error.message : String(error))
      }
    },
  }
}
