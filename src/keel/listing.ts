/**
 * The documents of a project, found by walking it. Version-control ignore rules play no part, ignored
 * folders and linked folders are not entered.
 */

import { OutriggerError } from '../errors.ts'
import type { Files, FolderEntry } from '../ports/files.ts'
import type { KeelConfig } from './types.ts'
import { createZones, type LocalZones, localZonesName, readLocalZones, type Zone, type Zones } from './zones.ts'

export interface Listed {
  /** Project-relative. */
  readonly path: string
  /** A link to a regular file inside the project that is not listed itself. */
  readonly isLink: boolean
  readonly zone: Zone | null
}

export interface Listing {
  readonly documents: readonly Listed[]
  readonly locals: readonly LocalZones[]
  readonly zones: Zones
  /** Folders that could not be looked into. */
  readonly unreadable: readonly string[]
  /** `false`: stopped before the end; what is not in `documents` may still be there. */
  readonly isComplete: boolean
}

const maxLocalZonesBytes = 1024 * 1024

export function isDocumentName(name: string): boolean {
  return name.endsWith('.md') || /\.(?:md|markdown)$/iu.test(name)
}

/**
 * @param accept - which regular files are listed; by default documents.
 * @param mayGoOn - asked once per folder.
 */
export function listDocuments(
  files: Files,
  root: string,
  config: Pick<KeelConfig, 'ignore' | 'frozen' | 'vendored'>,
  mayGoOn: () => boolean = () => true,
  accept: (name: string) => boolean = isDocumentName,
): Listing {
  const documents: Listed[] = []
  const links: Listed[] = []
  const locals: LocalZones[] = []
  const unreadable: string[] = []
  let zones = createZones(config, locals)
  const folders = ['']
  let isComplete = true
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    if (!mayGoOn()) {
      isComplete = false
      break
    }
    const entries = entriesOf(files, folder === '' ? root : `${root}/${folder}`)
    if (entries === 'gone') continue
    if (entries === 'unreadable') {
      unreadable.push(folder === '' ? '.' : folder)
      continue
    }
    const local = localZonesIn(files, root, folder, entries)
    if (local !== null) {
      locals.push(local)
      zones = createZones(config, locals)
    }
    const prefix = folder === '' ? '' : `${folder}/`
    const zoneOf = zones.within(folder)
    for (const { name, kind } of entries) {
      if (kind === 'folder') {
        if (zones.enters(folder, name)) folders.push(prefix + name)
      } else if (kind !== 'other' && accept(name)) {
        const zone = zoneOf(name)
        if (zone === 'ignore') continue
        const listed = { path: prefix + name, isLink: kind === 'link', zone }
        if (listed.isLink) links.push(listed)
        else documents.push(listed)
      }
    }
  }
  for (const link of linkedDocuments(files, root, links, documents)) documents.push(link)
  return { documents, locals, zones, unreadable, isComplete }
}

function entriesOf(files: Files, folder: string): readonly FolderEntry[] | 'gone' | 'unreadable' {
  try {
    return files.list(folder)
  } catch (error) {
    // A folder can go away, or become a file, between two looks.
    if (error instanceof OutriggerError && error.code !== 'FILES_UNREADABLE') return 'gone'
    return 'unreadable'
  }
}

function localZonesIn(files: Files, root: string, folder: string, entries: readonly FolderEntry[]): LocalZones | null {
  if (!entries.some(entry => entry.name === localZonesName && (entry.kind === 'file' || entry.kind === 'link'))) return null
  try {
    return readLocalZones(
      folder,
      files.read(`${folder === '' ? root : `${root}/${folder}`}/${localZonesName}`, maxLocalZonesBytes),
    )
  } catch {
    return null // unreadable, a folder behind a link, or too large: it says nothing
  }
}

function linkedDocuments(files: Files, root: string, links: readonly Listed[], documents: readonly Listed[]): readonly Listed[] {
  if (links.length === 0) return []
  const realRoot = files.realpath(root) ?? root
  const listed = new Set(documents.map(document => document.path))
  return links.filter(({ path }) => {
    try {
      const real = files.realpath(`${root}/${path}`)?.replaceAll('\\', '/')
      const prefix = `${realRoot.replaceAll('\\', '/')}/`
      if (real === undefined || !real.startsWith(prefix) || listed.has(real.slice(prefix.length))) return false
      return files.stat(`${root}/${path}`)?.kind === 'file'
    } catch {
      return false // what it leads to may not be looked at
    }
  })
}
