/** Where a stream's files lie, and how pack reads and writes them. */
import type { PackDeps } from './deps.ts'
import { type Journal, readJournal } from './journal.ts'

export const packFolder = '.outrigger/pack'

export interface StreamPaths {
  /** Project-relative, for people and documents. */
  readonly folder: string
  readonly journal: string
  readonly state: string
  readonly status: string
  readonly history: string
}

export function pathsOf(stream: string): StreamPaths {
  const folder = `${packFolder}/${stream}`
  return {
    folder,
    journal: `${folder}/journal.md`,
    state: `${folder}/state.md`,
    status: `${folder}/status.md`,
    history: `${folder}/history`,
  }
}

/** `history/r0007.md` */
export function revisionPath(stream: string, revision: number): string {
  return `${pathsOf(stream).history}/r${String(revision).padStart(4, '0')}.md`
}

export function absolute(deps: Pick<PackDeps, 'root'>, path: string): string {
  return `${deps.root}/${path}`
}

/** A text file of at most 4 MiB; `null` when it is not there. What is no UTF-8 comes with replacement signs. */
export function readText(deps: PackDeps, path: string, maxBytes: number = 4 * 1024 * 1024): string | null {
  const whole = absolute(deps, path)
  if (deps.files.stat(whole)?.kind !== 'file') return null
  return Buffer.from(deps.files.read(whole, maxBytes)).toString('utf8')
}

export async function writeText(deps: PackDeps, path: string, text: string): Promise<void> {
  const whole = absolute(deps, path)
  deps.files.makeFolder(whole.slice(0, whole.lastIndexOf('/')), 0o700)
  const isThere = deps.files.stat(whole) !== undefined
  await deps.files.replace(whole, Buffer.from(text), isThere ? {} : { mode: 0o600 })
}

const chunkBytes = 1024 * 1024

/** The journal, read in pieces; `null` when there is none. */
export function loadJournal(deps: PackDeps, stream: string): Journal | null {
  const path = absolute(deps, pathsOf(stream).journal)
  if (deps.files.stat(path)?.kind !== 'file') return null
  const reader = readJournal()
  for (const chunk of deps.files.readChunks(path, chunkBytes)) reader.push(chunk)
  return reader.end()
}

/** Names of the streams that have a journal or a state, sorted. */
export function foldersOf(deps: PackDeps): readonly string[] {
  const folder = absolute(deps, packFolder)
  if (deps.files.stat(folder)?.kind !== 'folder') return []
  const isStream = (name: string): boolean => {
    const paths = pathsOf(name)
    return [paths.journal, paths.state].some(path => deps.files.stat(absolute(deps, path))?.kind === 'file')
  }
  return deps.files
    .list(folder)
    .filter(entry => entry.kind === 'folder' && isStream(entry.name))
    .map(entry => entry.name)
    .sort()
}
