/** Where a project is and where its things lie. Only computes; nothing is made by asking. */
import { createHash } from 'node:crypto'
import type { Files } from '../ports/files.ts'
import type { Environment, Places } from './project.ts'

/** Parts of a path in the host's form: `\` where the folder is written with it. */
export function joinPath(folder: string, ...names: readonly string[]): string {
  if (/^[A-Za-z]:\\|^\\\\/.test(folder)) return [folder.replace(/[/\\]+$/, ''), ...names].join('\\')
  return [folder.replace(/\/+$/, ''), ...names].join('/')
}

/** The folder above; a root is its own. */
export function parentOf(path: string): string {
  const isWindows = /^[A-Za-z]:[\\/]|^\\\\/.test(path)
  const at = isWindows ? Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) : path.lastIndexOf('/')
  const root = isWindows ? (/^([A-Za-z]:[\\/]|\\\\[^\\/]+[\\/][^\\/]+)/.exec(path)?.[0] ?? path) : '/'
  return at < root.length ? root : path.slice(0, at)
}

/** The nearest folder at or above `cwd` that holds `.git`, as a folder or as a file (a work tree, a submodule); else `cwd`. */
export function findRoot(files: Files, cwd: string): string {
  for (let folder = cwd; ; folder = parentOf(folder)) {
    if (hasGit(files, folder)) return folder
    if (parentOf(folder) === folder) return cwd
  }
}

function hasGit(files: Files, folder: string): boolean {
  try {
    const kind = files.stat(joinPath(folder, '.git'))?.kind
    return kind === 'folder' || kind === 'file'
  } catch {
    // What may not be looked at is no project of this user.
    return false
  }
}

/** @param root - absolute, without a separator at its end. */
export function placesOf(files: Files, root: string, env: Environment): Places {
  const id = createHash('sha256')
    .update(files.realpath(root) ?? root, 'utf8')
    .digest('hex')
    .slice(0, 16)
  const outrigger = joinPath(root, '.outrigger')
  const config = userFolder(env, 'XDG_CONFIG_HOME', ['.config'])
  const state = userFolder(env, 'XDG_STATE_HOME', ['.local', 'state'])
  const cache = userFolder(env, 'XDG_CACHE_HOME', ['.cache'])
  return {
    root,
    id,
    outrigger,
    projectConfig: joinPath(outrigger, 'config.yml'),
    personConfig: config && joinPath(config, 'outrigger', 'config.yml'),
    state: joinPath(outrigger, 'state'),
    userState: state && joinPath(state, 'outrigger', id),
    userCache: cache && joinPath(cache, 'outrigger', id),
  }
}

/** As the XDG rules say: a value that is no absolute path does not count. */
function userFolder(env: Environment, variable: string, below: readonly string[]): string | null {
  const stated = env[variable]
  if (stated !== undefined && isAbsolute(stated)) return stated
  const home = [env['HOME'], env['USERPROFILE']].find(folder => folder !== undefined && isAbsolute(folder))
  return home === undefined ? null : joinPath(home, ...below)
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || /^[A-Za-z]:[\\/]|^\\\\/.test(path)
}

/** `.outrigger/state` when it is there, else the user's cache folder: looking at a project makes nothing in it. */
export function cacheFolder(files: Files, places: Places): string | null {
  try {
    return files.stat(places.state)?.kind === 'folder' ? places.state : places.userCache
  } catch {
    return places.userCache
  }
}
