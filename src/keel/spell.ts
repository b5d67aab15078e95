/** How an entry would write a path: in the way it wrote the one it has. */
import type { Core } from './core.ts'
import { folderOf } from './places.ts'
import type { Edge } from './types.ts'
import { createWikilinkMap } from './wikilinks.ts'
import { createZones } from './zones.ts'

/** @param path - project-relative. @returns the ref; for wikilinks the name between the brackets. */
export function spell(core: Core, edge: Edge, path: string): string {
  if (edge.kind === 'wikilink') {
    const bare = path.replace(/\.(?:md|markdown)$/iu, '')
    const name = bare.slice(bare.lastIndexOf('/') + 1)
    const isOnly = createWikilinkMap(core.memory().documents.paths()).find(name).length === 1
    return isOnly && !edge.ref.includes('/') ? name : bare
  }
  const folder = folderOf(edge.child)
  if (/^\.\.?\//u.test(edge.ref)) return relative(folder, path)
  const base = createZones(core.deps.config, core.memory().locals).base(folder)
  if (base === '') return path
  return path.startsWith(`${base}/`) ? path.slice(base.length + 1) : relative(folder, path)
}

/** `./x` or `../x`, so that it reads as relative. */
function relative(folder: string, path: string): string {
  const from = folder === '' ? [] : folder.split('/')
  const to = path.split('/')
  let common = 0
  while (common < from.length && common < to.length - 1 && from[common] === to[common]) common += 1
  const up = '../'.repeat(from.length - common)
  return (up === '' ? './' : up) + to.slice(common).join('/')
}
