/** What companion needs from the machine and the runtime; tests hand in fakes. */
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'
import type { Git } from '../ports/git.ts'
import type { CompanionConfig } from './types.ts'

/** A cache file of the runtime: wrong header or damage is empty, losing it loses nothing. */
export interface CacheFile {
  load(header: string): Uint8Array | undefined | 'rebuilt'
  save(header: string, body: Uint8Array): Promise<boolean>
}

/** Documents that declare a file as their source; project-relative. */
export type DeclaredBy = (path: string) => readonly string[]

export interface CompanionDeps {
  /** Absolute root of the project. */
  readonly root: string
  /** As it is now; asked for at every event. Throws `COMPANION_BAD_CONFIG`. */
  config(): CompanionConfig
  readonly files: Files
  readonly git: Git
  readonly clock: Clock
  /** A cache file by its name. */
  cache(name: string): CacheFile
  /** Folder of the person's packs, absolute; `null` without a home folder. */
  readonly personFolder: string | null
  /** The person's home folder, absolute. */
  readonly home: string | null
  /** Who declares a file as its source, looked up now; for verbs, which have no session in which keel does it. */
  readEdges(): Promise<DeclaredBy>
  readonly version: string
}
