/** Opens a project on the real machine, for every door. */
import { userInfo } from 'node:os'
import { resolve } from 'node:path'
import { OutriggerError } from '../errors.ts'
import { createKeelProject } from '../keel/project.ts'
import type { Files } from '../ports/files.ts'
import type { Override } from '../runtime/config.ts'
import { createProject } from '../runtime/create-project.ts'
import { createModes } from '../runtime/modes.ts'
import { findRoot, placesOf } from '../runtime/places.ts'
import type { Environment, Project } from '../runtime/project.ts'
import type { Caller } from '../session/operation.ts'
import { findStore } from '../store/location.ts'
import { openStore } from '../store/open.ts'
import { mask } from '../text/redact.ts'
import { isOfThisBoot, isOwnerAlive } from './boot.ts'
import { nodeClock } from './clock.ts'
import { nodeFiles } from './files.ts'
import { nodeGit } from './git.ts'
import { nodeModels } from './model.ts'
import { keepInside } from './own-folder.ts'
import { nodeProcesses } from './process.ts'
import { nodeSystem } from './system.ts'
import { packageVersion } from './version.ts'
import { nodeWatcher } from './watcher.ts'

export interface OpenOptions {
  /** Folder to start from. */
  readonly cwd: string
  /** The project's folder itself, relative to `cwd`; else the nearest `.git` above `cwd`, else `cwd`. */
  readonly project?: string
  readonly env: Environment
  readonly door: Caller['door']
  /** Settings that are nearer than the configuration's files. */
  readonly overrides?: readonly Override[]
  /** Default: what this process has. */
  readonly isTerminal?: boolean
}

/** Throws `BAD_INPUT` for a project or a folder to start from that is no folder, and for a clock or seed that cannot be read. Makes nothing. */
export async function openProject(options: OpenOptions): Promise<Project> {
  const { env, door } = options
  const machine = nodeFiles()
  const root = rootOf(machine, options)
  const files = keepInside(machine, root)
  const places = placesOf(files, root, env)
  const modes = createModes()
  return createProject({
    files,
    git: nodeGit(env),
    clock: nodeClock(env),
    processes: nodeProcesses(env),
    // Loaded when it is used: most commands speak to no other process.
    reach: async (socket, op, input, by) => {
      const { ask } = await import('../serve/client.ts')
      const body = { id: `cli-${process.pid}`, op, input, by }
      const answer = await ask({ socket, door: `cli/0 ${process.pid}` }, 'POST', '/op', body, { timeoutMs: 10_000 })
      return (answer as { readonly output?: unknown }).output
    },
    watcher: nodeWatcher(),
    system: nodeSystem(),
    env,
    places,
    modes,
    door,
    version: packageVersion(),
    isTerminal: options.isTerminal ?? process.stdin.isTTY === true,
    overrides: options.overrides ?? [],
    hasStore: () => findStore(places) !== undefined,
    openStore: () =>
      openStore(
        places,
        { isDead: owner => isOfThisBoot(owner) && !isOwnerAlive(owner), ...waitOf(door) },
        ({ file, notInProject }) =>
          modes.set(
            'store: not in the project',
            notInProject && `${places.state} cannot be written (${notInProject}); it is ${file}`,
          ),
      ),
    createModels: config => nodeModels(config, env),
    createKeel: createKeelProject,
    userName,
    mask,
  })
}

function rootOf(files: Files, { cwd, project }: OpenOptions): string {
  const root = project === undefined ? findRoot(files, resolve(cwd)) : resolve(cwd, project)
  if (isFolder(files, root)) return root
  const given = project ?? cwd
  throw new OutriggerError('BAD_INPUT', `${given} is no folder`, { subject: given, hint: 'give the folder of a project' })
}

/** A host waits a second for its answer: a session does not spend it on a store that another process holds. */
function waitOf(door: Caller['door']): { readonly waitMs?: number } {
  if (door === 'hook') return { waitMs: 500 }
  if (door === 'serve') return { waitMs: 1_000 }
  return door === 'dsh' ? { waitMs: 2_000 } : {}
}

function isFolder(files: Files, path: string): boolean {
  try {
    return files.stat(path)?.kind === 'folder'
  } catch {
    // What may not be looked at is no project of this user.
    return false
  }
}

function userName(): string | undefined {
  try {
    return userInfo().username
  } catch {
    // A user without an entry, as in some containers.
    return undefined
  }
}
