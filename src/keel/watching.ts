/** Which files hosts and watchers are asked to watch, and the one line of status. */
import type { KeelProject } from './types.ts'

export interface Watched {
  /** Absolute, sorted. */
  readonly paths: readonly string[]
  readonly unwatched: number
  /** `watching 200 of 350 files`, when there are more than may be watched. */
  readonly note: string | null
}

/** Existing targets first, then documents, at most `watch.max`. What is not watched is found by the stat at each boundary. */
export function watched(keel: KeelProject): Watched {
  const all = keel.watchable()
  const some = all.slice(0, keel.config.watch.max)
  const unwatched = all.length - some.length
  return {
    paths: some.map(path => (isAbsolute(path) ? path : `${keel.root}/${path}`)).sort(),
    unwatched,
    note: unwatched === 0 ? null : `watching ${some.length} of ${all.length} files`,
  }
}

/** Every degraded note, each once. */
export function degradedNotes(keel: KeelProject): readonly string[] {
  const { note } = watched(keel)
  return [...new Set([...keel.assessment().degraded, ...(note === null ? [] : [note])])]
}

export function statusText(keel: KeelProject, suspects: number): string | null {
  if (suspects > 0) return `keel ${suspects} behind`
  const first = degradedNotes(keel)[0]
  return first === undefined ? null : `keel: ${first}`
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || /^[A-Za-z]:\//.test(path)
}
