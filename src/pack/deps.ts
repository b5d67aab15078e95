/** What pack needs from the machine and the runtime; tests hand in fakes. */
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'
import type { Git } from '../ports/git.ts'
import type { Store } from '../ports/store.ts'
import type { PackConfig } from './types.ts'

export type PackLease = <T>(
  key: string,
  times: { readonly ttlMs: number; readonly waitMs: number; readonly pauseMs?: number },
  run: () => Promise<T>,
) => Promise<{ readonly held: true; readonly value: T } | { readonly held: false; readonly holder: string }>

export interface PackDeps {
  /** Absolute root of the project. */
  readonly root: string
  /** Where else files of the older tool may lie. */
  readonly cwd?: string
  readonly config: PackConfig
  readonly files: Files
  readonly git: Git
  readonly clock: Clock
  /** Opens the store; the first write makes its folder. */
  store(): Promise<Store>
  readonly withLease: PackLease
  /** keel's word on a document, for cites of it: the reason of its first suspect edge; `null`: none is; `undefined`: keel does not know it. */
  suspectOf?(child: string): Promise<string | null | undefined>
}
