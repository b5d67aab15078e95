/**
 * The project's files as maps that answer in no time: by path, folder, stem and base name. Filled once in
 * the background, then kept up to date file by file.
 */
import { baseName, folderOf, segments } from '../text/paths.ts'
import type { CompanionDeps } from './deps.ts'
import { bareStem, classOf, stemOf } from './kinds.ts'
import { createPace } from './pace.ts'
import type { FileClass } from './types.ts'

export const maxPaths = 100_000
const never: ReadonlySet<string> = new Set(['.git', 'node_modules', '.outrigger', '.dsh'])
/** Where nothing says what is ignored. */
const unlisted: ReadonlySet<string> = new Set('build out coverage target vendor .venv venv __pycache__'.split(' '))

export interface Tree {
  /** More paths than are kept: only conventions are looked at, by `stat`. */
  readonly capped: boolean
  /** Git said what is there. */
  readonly listed: boolean
  readonly size: number
  has(path: string): boolean
  hasFolder(folder: string): boolean
  paths(): Iterable<string>
  kind(path: string): FileClass
  /** Names of files in a folder. */
  names(folder: string): ReadonlySet<string>
  sourcesOfStem(stem: string): ReadonlySet<string>
  testsOfStem(stem: string): ReadonlySet<string>
  withBaseName(name: string): ReadonlySet<string>
  ofKind(kind: FileClass): ReadonlySet<string>
  /** `false`: it was there already, or may not be. */
  add(path: string): boolean
  remove(path: string): boolean
  /** Rises with every change. */
  readonly version: number
}

const nothing: ReadonlySet<string> = new Set()

export function createTree(options: { readonly capped: boolean; readonly listed: boolean }): Tree {
  const kinds = new Map<string, FileClass>()
  const folders = new Map<string, Set<string>>()
  const sources = new Map<string, Set<string>>()
  const tests = new Map<string, Set<string>>()
  const bases = new Map<string, Set<string>>()
  const byKind = new Map<FileClass, Set<string>>()
  let version = 0

  return {
    ...options,
    get size() {
      return kinds.size
    },
    get version() {
      return version
    },
    has: path => kinds.has(path),
    hasFolder: folder => folders.has(folder),
    paths: () => kinds.keys(),
    kind: path => kinds.get(path) ?? classOf(path),
    names: folder => folders.get(folder) ?? nothing,
    sourcesOfStem: stem => sources.get(stem) ?? nothing,
    testsOfStem: stem => tests.get(stem) ?? nothing,
    withBaseName: name => bases.get(name) ?? nothing,
    ofKind: kind => byKind.get(kind) ?? nothing,
    add(path) {
      if (kinds.has(path) || !mayBeListed(path)) return false
      const kind = classOf(path)
      kinds.set(path, kind)
      put(folders, folderOf(path), baseName(path))
      put(bases, baseName(path), path)
      put(byKind, kind, path)
      if (kind === 'source') put(sources, stemOf(path), path)
      if (kind === 'test') put(tests, bareStem(path), path)
      version++
      return true
    },
    remove(path) {
      const kind = kinds.get(path)
      if (kind === undefined) return false
      kinds.delete(path)
      take(folders, folderOf(path), baseName(path))
      take(bases, baseName(path), path)
      take(byKind, kind, path)
      take(sources, stemOf(path), path)
      take(tests, bareStem(path), path)
      version++
      return true
    },
  }
}

/** `false` for what never belongs to a project. */
export const mayBeListed = (path: string): boolean => !segments(path).some(segment => never.has(segment))

function put<K>(map: Map<K, Set<string>>, key: K, value: string): void {
  const known = map.get(key)
  if (known === undefined) map.set(key, new Set([value]))
  else known.add(value)
}

function take<K>(map: Map<K, Set<string>>, key: K, value: string): void {
  const known = map.get(key)
  if (known?.delete(value) === true && known.size === 0) map.delete(key)
}

/** Read the project's list of files. Lets the host's other work run now and then. */
export async function readTree(deps: Pick<CompanionDeps, 'root' | 'files' | 'git'>): Promise<Tree> {
  const listed = await deps.git.listed(deps.root)
  const paths = listed === undefined ? await walk(deps) : listed.filter(mayBeListed)
  const capped = paths.length > maxPaths
  const tree = createTree({ capped, listed: listed !== undefined })
  if (capped) return tree
  const pace = createPace()
  for (const path of paths) {
    if (listed === undefined || isRegular(deps, path)) tree.add(path)
    const rest = pace.rest()
    if (rest !== undefined) await rest
  }
  return tree
}

/** Links and what a listing has of other repositories are no files of the project. */
export function isRegular({ root, files }: Pick<CompanionDeps, 'root' | 'files'>, path: string): boolean {
  try {
    return files.lstat(`${root}/${path}`)?.kind === 'file'
  } catch {
    // What may not be looked at is as good as gone.
    return false
  }
}

async function walk({ root, files }: Pick<CompanionDeps, 'root' | 'files'>): Promise<readonly string[]> {
  const found: string[] = []
  const pending = ['']
  const pace = createPace()
  for (let folder = pending.pop(); folder !== undefined && found.length <= maxPaths; folder = pending.pop()) {
    const rest = pace.rest()
    if (rest !== undefined) await rest
    let entries: ReturnType<typeof files.list>
    try {
      entries = files.list(folder === '' ? root : `${root}/${folder}`)
    } catch {
      continue
    }
    for (const { name, kind } of entries) {
      const path = folder === '' ? name : `${folder}/${name}`
      if (kind === 'file') found.push(path)
      else if (kind === 'folder' && !never.has(name) && !unlisted.has(name)) pending.push(path)
    }
  }
  return found.sort()
}
