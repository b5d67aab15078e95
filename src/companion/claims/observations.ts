/** What test runs of a project were seen to count, by package; they belong to the project, not to a session. */
import type { Package } from '../packages.ts'
import type { FileClass } from '../types.ts'
import type { Run } from './runs.ts'

export type Observation =
  | { readonly kind: 'whole'; readonly passed: number; readonly total: number }
  | { readonly kind: 'expired' | 'partial-run' | 'failing-run' }

export interface Observations {
  of(dir: string): Observation | undefined
  /** @param whole - the command ran everything. */
  see(dir: string, run: Run, whole: boolean): void
  /** A file was written or reported changed. */
  changed(path: string, kind: FileClass, owner: Package): void
  entries(): readonly (readonly [string, Observation])[]
}

export function createObservations(before: readonly (readonly [string, Observation])[] = []): Observations {
  const known = new Map(before)
  return {
    of: dir => known.get(dir),
    see(dir, run, whole) {
      const isWhole = whole && !run.partial
      if (!isWhole) {
        // It tells nothing new about a run of everything.
        if (known.get(dir)?.kind !== 'whole') known.set(dir, { kind: 'partial-run' })
      } else if (run.failed > 0) known.set(dir, { kind: 'failing-run' })
      else known.set(dir, { kind: 'whole', passed: run.passed, total: run.total })
    },
    changed(_path, kind, { dir }) {
      if (kind === 'doc' || kind === 'changelog') return
      if (known.has(dir)) known.set(dir, { kind: 'expired' })
    },
    entries: () => [...known],
  }
}
