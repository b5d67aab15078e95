/**
 * Where the work of an armed loop stands, as one short mark: the repository's head and the contents of the files that the session wrote since the loop
 * was armed. A mark that was not there before is progress; the same files rewritten to what they were are not.
 */
import { createHash } from 'node:crypto'
import { markWrites, type Writes, writesSince } from '../session/writes.ts'
import type { Project } from './project.ts'

/** Takes the mark over these files; paths as events give them, each once, sorted. 12 hexadecimal digits. */
export type TakeMark = (paths: readonly string[]) => Promise<string>

/** What a mark is taken against. */
export interface Grant {
  /** Of the session's writes when the loop was armed. */
  readonly from: number
  /** Mark of nothing written. */
  readonly base: string
}

const chunkBytes = 1_048_576

export function markOf(project: Pick<Project, 'root' | 'git' | 'files'>): TakeMark {
  return async paths => {
    const hash = createHash('sha256')
    const head = await project.git.head(project.root).catch(() => undefined)
    hash.update(head?.commit ?? '')
    for (const path of paths) hash.update(`\0${path}\0${contentOf(project, path)}`)
    return hash.digest('hex').slice(0, 12)
  }
}

function contentOf({ root, files }: Pick<Project, 'root' | 'files'>, path: string): string {
  const full = /^(?:[/\\]|[A-Za-z]:)/.test(path) ? path : `${root}/${path}`
  const hash = createHash('sha256')
  try {
    if (files.stat(full)?.kind !== 'file') return 'none'
    for (const chunk of files.readChunks(full, chunkBytes)) hash.update(chunk)
  } catch {
    return 'unreadable'
  }
  return hash.digest('hex')
}

export async function beginGrant(writes: Writes, take: TakeMark): Promise<Grant> {
  return { from: markWrites(writes), base: await take([]) }
}

/** `undefined`: nothing was written and the head stands where it stood. */
export async function progressSince({ from, base }: Grant, writes: Writes, take: TakeMark): Promise<string | undefined> {
  const paths = [...new Set(writesSince(writes, from).map(({ path }) => path))].sort()
  const mark = await take(paths)
  return mark === base ? undefined : mark
}
