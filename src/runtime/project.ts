/**
 * One project as every door and engine meets it: the machine's ports, where its things lie, its
 * configuration, its store. `src/node/open.ts` makes it from the real machine (`openProject`).
 *
 * Looking at a project creates nothing: the store's folder is made by its first write.
 */

import type { Companion } from '../companion/project.ts'
import type { CompanionConfig } from '../companion/types.ts'
import type { OutriggerError } from '../errors.ts'
import type { KeelDeps, WithLease } from '../keel/deps.ts'
import type { KeelConfig, KeelProject } from '../keel/types.ts'
import type { PackDeps } from '../pack/deps.ts'
import type { PackConfig, PackProject } from '../pack/types.ts'
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'
import type { Git } from '../ports/git.ts'
import type { Json } from '../ports/json.ts'
import type { Models } from '../ports/model.ts'
import type { Processes } from '../ports/process.ts'
import type { Store } from '../ports/store.ts'
import type { Watcher } from '../ports/watcher.ts'
import type { EngineName } from '../session/actions.ts'
import type { LedgerLine } from '../session/engine.ts'
import type { Actor, Caller } from '../session/operation.ts'
import type { ModelsConfig } from './config-models.ts'

import type { Reach, TypeHere } from './live-commands.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Where a project's things lie; absolute paths in the host's form. */
export interface Places {
  readonly root: string
  /** First 16 hex digits of SHA-256 of the real root: the project's name outside of itself. */
  readonly id: string
  /** `.outrigger`; may not exist. */
  readonly outrigger: string
  /** `.outrigger/config.yml`; may not exist. */
  readonly projectConfig: string
  /** `outrigger/config.yml` of the person; `null` without a home folder. */
  readonly personConfig: string | null
  /** `.outrigger/state`; may not exist. */
  readonly state: string
  /** `outrigger/<id>` below the user's state folder, for a project that cannot be written; `null` without a home folder. */
  readonly userState: string | null
  /** `outrigger/<id>` below the user's cache folder; `null` without a home folder. */
  readonly userCache: string | null
}

/** Where a resolved value came from. */
export type ValueFrom = { readonly file: string; readonly line: number } | 'default' | 'option' | 'host'

export interface ConfigValue {
  /** Dotted, with the section: `keel.watch.max`. */
  readonly key: string
  readonly value: Json
  readonly from: ValueFrom
}

/**
 * The resolved configuration. Both files are read when it is first asked for and again when the stamp
 * of one of them moves (`refresh`); a bad new version keeps the last good one and says so in `notes`.
 */
export interface Configuration {
  /** keel's settings, complete. Throws `CONFIG_BAD` or `KEEL_BAD_CONFIG`; `faults` has those of other sections after its own. */
  keel(): KeelConfig
  /** companion's settings, complete. Throws `CONFIG_BAD` or `COMPANION_BAD_CONFIG`. */
  companion(): CompanionConfig
  /** pack's settings, complete. Throws `CONFIG_BAD` or `PACK_BAD_CONFIG`. */
  pack(): PackConfig
  /** Whom the command line asks; throws `CONFIG_BAD`. */
  models(): ModelsConfig
  /** Resolved keys of a section as nested plain values; throws like `keel()`. */
  section(name: SectionName): Readonly<Record<string, Json>>
  /**
   * For a door, before a verb runs: throws `CONFIG_BAD`, and the fault of the section `engine`; answers one
   * line for people per section with faults that the verb does not need, and per note.
   */
  check(engine?: EngineName): readonly string[]
  /** Every fault now, one error per file or section. */
  faults(): readonly OutriggerError[]
  /** What was read but does not count, and why: ignored keys, a bad new version. */
  notes(): readonly string[]
  /** Every key with its value and where it came from; keys of the sections that are built, sorted as declared. */
  values(): readonly ConfigValue[]
  /** Look at the files' stamps; `true` when the resolved values are others now. */
  refresh(): boolean
}

export type SectionName = EngineName | 'models'

/** A line of the ledger as it is written. */
export type LedgerEntry = Omit<LedgerLine, 'reason'> & {
  readonly reason?: string | null
  readonly engine: EngineName
  readonly session: string | null
  readonly turn: number | null
  /** ms since the epoch; now when left out. */
  readonly at?: number
}

/** A line of the ledger as it is read; the document of `outrigger ledger --json` without its schema. */
export interface LedgerRecord {
  /** ISO 8601 with milliseconds. */
  readonly at: string
  readonly engine: EngineName
  readonly session: string | null
  readonly turn: number | null
  readonly what: string
  readonly reason: string | null
  readonly text: string
  readonly detail?: Json
}

export interface LedgerFilter {
  readonly engine?: EngineName
  readonly session?: string
  /** ms since the epoch, inclusive. */
  readonly since?: number
}

/** The append-only log of what engines did and why they held back. Streams `ledger/<yyyy-mm>`, kept 90 days. */
export interface Ledger {
  /** Masked, then appended. Never throws: a store that cannot be written is the mode `ledger: not written`. */
  write(entries: readonly LedgerEntry[]): Promise<void>
  /** Oldest first. */
  read(filter?: LedgerFilter): AsyncIterable<LedgerRecord>
}

/** Named states in which something works less well; shown by doctor and the status line. */
export interface Modes {
  /** `why` undefined: the mode ended. */
  set(name: string, why: string | undefined): void
  list(): readonly { readonly name: string; readonly why: string }[]
}

/** What doctor and `init` ask of the machine beside the ports. */
export interface System {
  /** Like `24.1.0`. */
  readonly nodeVersion: string
  /** The package that runs. */
  readonly program: {
    readonly folder: string
    readonly name: string
    readonly version: string
    readonly isBuilt: boolean
  }
  /** Would a file be made in this folder, or the folder itself? The system's code when not. */
  whyNotWritable(folder: string): string | undefined
  /** Make a folder that only the user can enter, with those above it. */
  makeFolder(folder: string): void
}

export interface Project {
  /** Absolute. */
  readonly root: string
  readonly door: Caller['door']
  /** Version of this package. */
  readonly version: string
  readonly files: Files
  readonly git: Git
  readonly clock: Clock
  readonly processes: Processes
  readonly watcher: Watcher
  readonly system: System
  readonly env: Environment
  readonly places: Places
  readonly config: Configuration
  readonly ledger: Ledger
  readonly modes: Modes
  readonly withLease: WithLease
  /** Whom the command line asks; doors of hosts ask the host's own. */
  readonly models: Models
  /** A store is on disk already. */
  hasStore(): boolean
  /**
   * The store. Reads of one that is not there yet answer "nothing" and create nothing; the first write
   * makes it. Throws `STORE_DAMAGED`, `STORE_TOO_NEW`, `STORE_UNAVAILABLE`.
   */
  store(): Promise<Store>
  /**
   * The store for what a session remembers. Never refuses: what a store that cannot be used would keep lives
   * in memory, and the mode `no store` says why. Only `append` and `read` throw what the store throws.
   */
  sessionStore(): Promise<Store>
  /** Throws what `config.keel()` throws. The same object at every call until the configuration changed. */
  keelDeps(): KeelDeps
  /** The project's documents; one instance a project. Throws what `config.keel()` throws. */
  keel(): KeelProject
  /** What travels with its files; one instance a project. */
  companion(): Companion
  /** Throws what `config.pack()` throws. The same object at every call until the configuration changed. */
  packDeps(): PackDeps
  /** The project's work streams; one instance a configuration. Throws what `config.pack()` throws. */
  pack(): PackProject
  /**
   * Who acts: an agent marker in the environment always means agent; then the terminal, then what the
   * caller states (`person`, `agent`, each with `:name`), else person. Doors other than the command line act
   * for the host's agent unless the host says that a person typed it.
   */
  actor(stated?: string): Actor
  /** `user.name` of git, else the name of the system's user; for records of what a person did. */
  personName(): Promise<string | undefined>
  /** Secrets masked. */
  mask(text: string): string
  /** Set by the process that runs sessions of the project. */
  readonly live: { type?: TypeHere }
  /** Asks other processes of ours. */
  readonly reach?: Reach
  /** Saves caches and closes what is open. */
  close(): Promise<void>
}
