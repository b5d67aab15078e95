/** Files that decisions and learnings speak of, with the stamp that they had. */
import { hex12 } from '../text/git-blob.ts'
import type { LiveLine } from './assemble.ts'
import type { Pack } from './context.ts'
import { absolute } from './files.ts'
import { codeSpansOf } from './spans.ts'
import type { StaleCite } from './types.ts'

export interface Cite {
  readonly id: string
  /** A project-relative path, or `keel:` and one. */
  readonly cite: string
  /** 12 hex digits of the file's blob id. */
  readonly stamp: string
}

const maxCites = 40
/** Words that are looked up at most. */
const maxLooks = 2_000
const maxBytes = 8 * 1024 * 1024

export async function citesOf(pack: Pack, lines: readonly LiveLine[]): Promise<readonly Cite[]> {
  const cites: Cite[] = []
  let looks = 0
  for (const line of lines) {
    if (line.section !== 'decisions' && line.section !== 'learnings') continue
    const words = new Set([...codeSpansOf(line.text), ...line.text.replaceAll('`', ' ').split(/\s+/).map(bare)])
    for (const word of words) {
      const path = word.startsWith('keel:') ? word.slice(5) : word
      if (!/[/.]/.test(path) || !isInside(path) || looks++ > maxLooks) continue
      const stamp = stampOf(pack, path)
      if (stamp === undefined) continue
      cites.push({ id: line.shownId, cite: word, stamp })
      if (cites.length === maxCites) return cites
    }
  }
  return cites
}

const bare = (word: string): string => word.replace(/^[("'[<]+/, '').replace(/[)"'\]>,;:.!?]+$/, '')

const isInside = (path: string): boolean =>
  path !== '' && path.length <= 500 && !path.startsWith('/') && !/^[A-Za-z]:|\\|\0/.test(path) && !path.split('/').includes('..')

function stampOf(pack: Pack, path: string): string | undefined {
  const { files } = pack.deps
  const whole = absolute(pack.deps, path)
  try {
    return files.stat(whole)?.kind === 'file' ? hex12(files.read(whole, maxBytes)) : undefined
  } catch {
    return undefined
  }
}

/** Cites whose file is another one now. */
export async function staleCites(pack: Pack, cites: readonly Cite[]): Promise<readonly StaleCite[]> {
  const stale: StaleCite[] = []
  for (const { id, cite, stamp } of cites.slice(0, maxCites)) {
    const isKeel = cite.startsWith('keel:')
    const path = isKeel ? cite.slice(5) : cite
    if (!isInside(path)) continue
    const now = stampOf(pack, path)
    if (now === undefined) stale.push({ id, cite, why: 'missing' })
    else if (isKeel) {
      if (((await pack.deps.suspectOf?.(path)) ?? null) !== null) stale.push({ id, cite, why: 'suspect' })
    } else if (now !== stamp) stale.push({ id, cite, why: 'changed' })
  }
  return stale
}
