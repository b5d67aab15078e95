/** Puts a project together from the machine's ports. Nothing is read, opened or made until it is asked for. */
import { type Companion, createCompanion } from '../companion/project.ts'
import { OutriggerError } from '../errors.ts'
import type { KeelDeps } from '../keel/deps.ts'
import { exclusive } from '../keel/exclusive.ts'
import type { KeelConfig, KeelProject } from '../keel/types.ts'
import type { PackDeps } from '../pack/deps.ts'
import { createPack } from '../pack/project.ts'
import type { PackProject } from '../pack/types.ts'
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'
import type { Git } from '../ports/git.ts'
import type { Models } from '../ports/model.ts'
import type { Processes } from '../ports/process.ts'
import type { Store } from '../ports/store.ts'
import type { Watcher } from '../ports/watcher.ts'
import type { Caller } from '../session/operation.ts'
import { findActor } from './actor.ts'
import { cacheFile } from './cache.ts'
import { createConfiguration, type Override } from './config.ts'
import type { ModelsConfig } from './config-models.ts'
import { createEnduringStore } from './enduring-store.ts'
import { createLedger } from './ledger.ts'
import type { Reach } from './live-commands.ts'
import { cacheFolder, joinPath, parentOf } from './places.ts'
import type { Environment, Modes, Places, Project, System } from './project.ts'
import { createWithLease } from './with-lease.ts'

export interface Machine {
  readonly files: Files
  readonly git: Git
  readonly clock: Clock
  readonly processes: Processes
  readonly watcher: Watcher
  readonly system: System
  readonly env: Environment
  readonly places: Places
  readonly modes: Modes
  readonly door: Caller['door']
  readonly version: string
  readonly isTerminal: boolean
  readonly overrides?: readonly Override[]
  /** Is a store on disk? */
  hasStore(): boolean
  /** A handle that opens on its first read of something that is there, and makes the store on its first write. */
  openStore(): Store
  createModels(config: () => ModelsConfig): Models
  createKeel(deps: KeelDeps): KeelProject
  /** Asks other processes of ours. */
  readonly reach?: Reach
  /** Name of the system's user. */
  userName(): string | undefined
  mask(text: string): string
}

export function createProject(machine: Machine): Project {
  const { git, clock, processes, watcher, system, env, places, modes, door, version, mask } = machine
  const files = keepGone(machine.files, places.root)
  const config = createConfiguration(files, places, machine.overrides)
  const stores: Store[] = []
  const store = async (): Promise<Store> => (stores[0] ??= machine.openStore())
  const withLease = createWithLease({ store, owner: () => processes.owner() })
  const enduring = createEnduringStore({ open: store, clock, modes })
  const sessionStore = async (): Promise<Store> => enduring
  const kept = isOfSessions(door)
    ? { store: sessionStore, withLease: createWithLease({ store: sessionStore, owner: () => processes.owner() }) }
    : { store, withLease }
  const folder = () => cacheFolder(files, places)
  const cache = cacheFile(files, folder, 'keel/cache.bin')
  let deps: KeelDeps | undefined
  let companion: Companion | undefined
  let keel: { readonly of: KeelDeps; readonly project: KeelProject } | undefined

  function keelDeps(): KeelDeps {
    const now = config.keel()
    if (deps !== undefined && sameConfig(deps.config, now)) return deps
    deps = {
      root: places.root,
      config: now,
      files,
      git,
      clock,
      watcher,
      cache,
      // Asked for each time: the first stamp makes the project's state folder.
      get baselineFolder() {
        return joinPath(folder() ?? places.state, 'keel', 'baseline')
      },
      ...kept,
      mask,
      version,
    }
    return deps
  }

  /** Documents that declare a file, as keel sees them now; a bad configuration of keel's is its own affair. */
  async function declaredBy(): Promise<(path: string) => readonly string[]> {
    try {
      const { createKeel } = machine
      const now = keelDeps()
      if (keel?.of !== now) keel = { of: now, project: createKeel(now) }
      const { project } = keel
      if (project.isOff().off) return () => []
      await exclusive(project, () => project.refresh({ kind: 'full' }, { budgetMs: edgesMs }))
      return path => project.edgesOf(path).flatMap(edge => (edge.target === path ? [edge.child] : []))
    } catch (error) {
      if (error instanceof OutriggerError) return () => []
      throw error
    }
  }

  let pack: { readonly deps: PackDeps; readonly project: PackProject } | undefined

  function packNow(): { readonly deps: PackDeps; readonly project: PackProject } {
    const now = config.pack()
    if (pack !== undefined && JSON.stringify(pack.deps.config) === JSON.stringify(now)) return pack
    const own: PackDeps = { root: places.root, config: now, files, git, clock, ...kept, suspectOf }
    pack = { deps: own, project: createPack(own) }
    return pack
  }

  /** keel's word on a document. A fault in keel's own settings is not pack's. */
  async function suspectOf(child: string): Promise<string | null | undefined> {
    try {
      const now = keelDeps()
      if (keel?.of !== now) keel = { of: now, project: machine.createKeel(now) }
      const { project } = keel
      if (project.isOff().off) return undefined
      await exclusive(project, () => project.refresh({ kind: 'full' }, { budgetMs: edgesMs }))
      const edges = project.edgesOf(child).filter(edge => edge.child === child)
      if (edges.length === 0) return undefined
      return edges.find(edge => edge.state === 'suspect')?.reason ?? null
    } catch (error) {
      if (error instanceof OutriggerError) return undefined
      throw error
    }
  }

  return {
    root: places.root,
    door,
    version,
    files,
    git,
    clock,
    processes,
    watcher,
    system,
    env,
    places,
    config,
    modes,
    withLease,
    packDeps: () => packNow().deps,
    pack: () => packNow().project,
    models: machine.createModels(() => config.models()),
    ledger: createLedger({ store, clock, modes, mask }),
    hasStore: () => machine.hasStore(),
    store,
    sessionStore,
    keelDeps,
    keel() {
      const of = keelDeps()
      if (keel?.of !== of) keel = { of, project: machine.createKeel(of) }
      return keel.project
    },
    companion() {
      companion ??= createCompanion({
        root: places.root,
        config: () => config.companion(),
        files,
        git,
        clock,
        cache: name => cacheFile(files, folder, `companion/${name}`),
        personFolder: places.personConfig === null ? null : joinPath(parentOf(places.personConfig), 'companion'),
        home: env['HOME'] ?? env['USERPROFILE'] ?? null,
        readEdges: declaredBy,
        version,
      })
      return companion
    },
    actor: stated => findActor({ env, door, isTerminal: machine.isTerminal, ...(stated !== undefined && { stated }) }),
    async personName() {
      return (await git.userName(places.root)) ?? machine.userName()
    },
    mask,
    live: {},
    ...(machine.reach !== undefined && { reach: machine.reach }),
    async close() {
      await keel?.project.save()
      for (const opened of stores.splice(0)) opened.close()
    },
  }
}

/** How long keel may look at documents for a verb of companion's. */
const edgesMs = 2_000

/** Doors whose sessions go on when the store cannot be used; a verb fails instead, with the reason. */
function isOfSessions(door: Caller['door']): boolean {
  return door === 'hook' || door === 'dsh'
}

/** A project whose folder was removed while it was open is not made again by what is written into it. */
function keepGone(files: Files, root: string): Files {
  return {
    ...files,
    makeFolder(path, mode) {
      const isBelow = path === root || path.startsWith(joinPath(root, ''))
      if (isBelow && files.stat(root) === undefined) {
        throw new OutriggerError('FILES_UNWRITABLE', `the folder of the project is gone: ${root}`, { subject: path, exit: 3 })
      }
      files.makeFolder(path, mode)
    },
  }
}

function sameConfig(one: KeelConfig, other: KeelConfig): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
