/** Which workspace and package a call belongs to. */
import type { ToolFinished } from '../../session/events.ts'
import { isAbsolutePath, relativeTo, resolvePath } from '../../text/paths.ts'
import { isLiteral } from '../config.ts'
import type { CompanionDeps } from '../deps.ts'
import { type Call, field } from '../judge/call.ts'
import { defaultSignature } from '../pack/builtin.ts'
import type { Compiled } from '../pack/types.ts'
import { folderName, readName } from '../packages.ts'
import type { Companion } from '../project.ts'
import type { CompanionConfig } from '../types.ts'

export interface Workspace {
  /** Absolute. */
  readonly root: string
  readonly compiled: Compiled
  /** Of the playform profile; absolute folder. `null`: the call belongs to none. */
  readonly package: { readonly dir: string; readonly name: string } | null
  /** The file or folder that the call is about; absolute. */
  readonly callPath: string
}

/** `null`: not one of ours. */
export function findWorkspace(companion: Companion, config: CompanionConfig, event: ToolFinished, call: Call): Workspace | null {
  const { deps } = companion
  const callPath = callPathOf(deps, event, call)
  if (config.compat === 'none') {
    const compiled = companion.compiled(config)
    const isOurs = compiled.signature === null || carries(deps, deps.root, compiled.signature)
    return isOurs ? { root: deps.root, compiled, package: null, callPath } : null
  }
  const isInside = relativeTo(deps.root, callPath) !== null
  const cwd = absolute(deps, call.cwd ?? '')
  const start = isInside ? callPath : relativeTo(deps.root, cwd) === null ? deps.root : cwd
  const found = rootAbove(companion, config, start)
  if (found === null) return null
  return { ...found, package: packageAt(deps, start, found.root, isLiteral(config, 'stubs')), callPath: start }
}

/** The nearest ancestor with every file of the signature that its own pack gives. */
export function rootAbove(
  companion: Companion,
  config: CompanionConfig,
  start: string,
): { root: string; compiled: Compiled } | null {
  const { deps } = companion
  for (const folder of ancestors(start)) {
    if (isKind(deps, folder, 'folder')) {
      const compiled = companion.compiled(config, folder)
      if (carries(deps, folder, compiled.signature ?? defaultSignature)) return { root: folder, compiled }
      if (exists(deps, `${folder}/.git`)) return null
    }
    if (folder === deps.home) return null
  }
  return null
}

function carries(deps: CompanionDeps, folder: string, signature: readonly string[]): boolean {
  return signature.length > 0 && signature.every(file => isKind(deps, `${folder}/${file}`, 'file'))
}

function packageAt(deps: CompanionDeps, start: string, root: string, stubsCount: boolean): Workspace['package'] {
  for (const folder of ancestors(start)) {
    if (relativeTo(root, folder) === null) return null
    if (folder.split('/').includes('node_modules') || !isKind(deps, `${folder}/package.json`, 'file')) continue
    const name = readName({ files: deps.files, root: folder }, 'package.json')
    if (name === 'nameless' && !stubsCount) continue
    return { dir: folder, name: typeof name === 'object' && name !== null ? name.name : folderName(folder) }
  }
  return null
}

/** Every package of a workspace that could state counts, by folder. */
export function packagesBelow(
  deps: CompanionDeps,
  root: string,
  stubsCount: boolean,
): readonly NonNullable<Workspace['package']>[] {
  const found: NonNullable<Workspace['package']>[] = []
  const pending = [{ folder: root, depth: 0 }]
  for (let next = pending.pop(); next !== undefined && found.length < 1_000; next = pending.pop()) {
    const { folder, depth } = next
    const own = packageAt(deps, folder, folder, stubsCount)
    if (own !== null) found.push(own)
    if (depth >= 6) continue
    for (const name of foldersIn(deps, folder)) {
      if (!name.startsWith('.') && name !== 'node_modules' && name !== 'Source' && name !== 'Target') {
        pending.push({ folder: `${folder}/${name}`, depth: depth + 1 })
      }
    }
  }
  return found.sort((a, b) => (a.dir < b.dir ? -1 : 1))
}

function callPathOf(deps: CompanionDeps, event: ToolFinished, call: Call): string {
  const base = absolute(deps, call.cwd ?? '')
  const given =
    call.command === null ? (field(event.input, 'file_path', 'path', 'filePath') ?? call.written[0] ?? call.read[0]) : undefined
  return given === undefined
    ? base
    : isAbsolutePath(given)
      ? resolvePath('/', given)
      : resolvePath(absolute(deps, event.cwd ?? ''), given)
}

export function absolute({ root }: Pick<CompanionDeps, 'root'>, path: string): string {
  return path === '' ? root : isAbsolutePath(path) ? resolvePath(root, path) : resolvePath(root, path)
}

function* ancestors(start: string): Generator<string> {
  for (
    let folder = start.replace(/\/+$/, '');
    folder !== '' && !/^[A-Za-z]:$/.test(folder);
    folder = folder.slice(0, folder.lastIndexOf('/'))
  ) {
    yield folder
  }
}

export function exists(deps: Pick<CompanionDeps, 'files'>, path: string): boolean {
  try {
    return deps.files.stat(path) !== undefined
  } catch {
    return false
  }
}

export function isKind(deps: Pick<CompanionDeps, 'files'>, path: string, kind: 'file' | 'folder'): boolean {
  try {
    return deps.files.stat(path)?.kind === kind
  } catch {
    return false
  }
}

export function foldersIn(deps: Pick<CompanionDeps, 'files'>, folder: string): readonly string[] {
  try {
    return deps.files
      .list(folder)
      .filter(({ kind }) => kind === 'folder')
      .map(({ name }) => name)
      .sort()
  } catch {
    return []
  }
}
