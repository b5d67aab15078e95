/** Where keel keeps its things in a project, and how the folder comes to be. */
import type { Files } from '../ports/files.ts'

export const keelFolder: string = '.outrigger/keel'
export const journalPath: string = `${keelFolder}/journal.jsonl`
export const stampsPath: string = `${keelFolder}/stamps.tsv`
export const statusPath: string = `${keelFolder}/status.md`
export const offPath: string = `${keelFolder}/off`
export const legacyOffPath: string = '.stoa-keel-off'
export const legacyJournalPath: string = 'journal/keel.md'

/** Files that come with the folder, once: a later edit or removal by a person stays. */
const companions: readonly (readonly [path: string, text: string])[] = [
  [`${keelFolder}/.gitattributes`, 'journal.jsonl merge=union\nstamps.tsv merge=union\n'],
  [`${keelFolder}/.gitignore`, 'status.md\n'],
]
const stateIgnorePath = '.outrigger/state/.gitignore'

/**
 * Make keel's folder for a first write. Throws what the files port throws; nobody looks at a project
 * through this.
 */
export async function makeKeelFolder(files: Files, root: string): Promise<void> {
  const isNew = files.stat(`${root}/${keelFolder}`) === undefined
  files.makeFolder(`${root}/${keelFolder}`)
  if (isNew) for (const [path, text] of companions) await createFile(files, `${root}/${path}`, text)
  if (files.stat(`${root}/${stateIgnorePath}`) !== undefined) return
  files.makeFolder(`${root}/.outrigger/state`)
  await createFile(files, `${root}/${stateIgnorePath}`, '*\n')
}

async function createFile(files: Files, path: string, text: string): Promise<void> {
  if (files.lstat(path) !== undefined) return
  try {
    await files.replace(path, new TextEncoder().encode(text), { expect: null })
  } catch (error) {
    // Another process made it a moment ago.
    if (files.lstat(path) === undefined) throw error
  }
}

/** In the host's form; `/` separates everywhere. */
export function absoluteOf(root: string, path: string): string {
  return isAbsolutePath(path) ? path : `${root}/${path}`
}

/** `/…` or with a drive, `C:/…`; all other paths are project-relative. */
export function isAbsolutePath(path: string): boolean {
  const first = path.charCodeAt(0)
  if (first === 0x2f) return true
  const second = path.charCodeAt(1)
  return second === 0x3a && /^[A-Za-z]:[\\/]/u.test(path)
}

export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}
