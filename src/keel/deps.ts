/** What keel needs from the machine and the runtime; tests hand in fakes. */
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'
import type { Git } from '../ports/git.ts'
import type { Store } from '../ports/store.ts'
import type { Watcher } from '../ports/watcher.ts'
import type { KeelConfig } from './types.ts'

/** A cache file of the runtime (`runtime/cache.ts`): wrong header or damage is empty, losing it loses nothing. */
export interface CacheFile {
  /** The body saved under this header; `undefined` when there is none; `'rebuilt'` when there was one that cannot be used. */
  load(header: string): Uint8Array | undefined | 'rebuilt'
  /** `false`: could not be written. */
  save(header: string, body: Uint8Array): Promise<boolean>
}

export type WithLease = <T>(
  key: string,
  /** `pauseMs`: longest pause between two looks; 250 when left out. */
  times: { readonly ttlMs: number; readonly waitMs: number; readonly pauseMs?: number },
  run: () => Promise<T>,
) => Promise<{ readonly held: true; readonly value: T } | { readonly held: false; readonly holder: string }>

export interface KeelDeps {
  /** Absolute root of the project. */
  readonly root: string
  readonly config: KeelConfig
  readonly files: Files
  readonly git: Git
  readonly clock: Clock
  readonly watcher: Watcher
  readonly cache: CacheFile
  /** Absolute folder of the baseline store; may not exist. `.outrigger/state/keel/baseline`, or below the user's cache folder while the project has no `.outrigger/state`. */
  readonly baselineFolder: string
  /** Opens the store; the first write makes its folder. */
  store(): Promise<Store>
  readonly withLease: WithLease
  /** Secrets masked (`text/redact.ts`). */
  mask(text: string): string
  readonly version: string
}
