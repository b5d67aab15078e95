/**
 * Copies of the contents that stamps were given for, so that a diff needs no git and survives its
 * garbage collection. Deflated, named by their id, verified when read: a torn or foreign file is none.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { OutriggerError } from '../errors.ts'
import type { Files } from '../ports/files.ts'
import { blobId } from './forms.ts'
import type { Hex12 } from './types.ts'

/** Larger contents have no copy. */
export const maxBaselineBytes: number = 1024 * 1024

export interface Baseline {
  get(id: Hex12): Uint8Array | undefined
  /** `full`: there is no room beside the contents in use. `unwritable`: the folder is not. */
  put(id: Hex12, content: Uint8Array, inUse: ReadonlySet<string>): Promise<'kept' | 'full' | 'unwritable'>
  /** Bytes on disk as far as known; `null` before they were counted. */
  size(): number | null
}

interface Stored {
  readonly path: string
  readonly id: string
  readonly bytes: number
  readonly at: bigint
}

/**
 * @param folderNow - where the copies lie; the first write of a project can move it.
 * @param maxBytes - of all copies as they lie on disk; 0 keeps none.
 * @param knownSize - what `size()` said when the last process ended; saves counting them.
 */
export function createBaseline(
  files: Files,
  folderNow: () => string,
  maxBytes: number,
  knownSize: number | null = null,
): Baseline {
  let total = knownSize
  const pathOf = (id: string) => `${folderNow()}/${id.slice(0, 2)}/${id}`

  return {
    get(id) {
      try {
        const content = inflateRawSync(files.read(pathOf(id), 2 * maxBaselineBytes), { maxOutputLength: maxBaselineBytes })
        return blobId(content) === id ? content : undefined
      } catch {
        return undefined // not there, torn, or no permission
      }
    },
    async put(id, content, inUse) {
      if (maxBytes === 0 || content.length > maxBaselineBytes || blobId(content) !== id) return 'kept'
      const path = pathOf(id)
      try {
        if (files.stat(path) !== undefined && this.get(id) !== undefined) return 'kept'
        const packed = deflateRawSync(content)
        total ??= sizeOf(storedIn(files, folderNow()))
        if (total + packed.length > maxBytes) total = makeRoom(files, folderNow(), maxBytes - packed.length, inUse)
        if (total + packed.length > maxBytes) return 'full'
        files.makeFolder(path.slice(0, path.lastIndexOf('/')))
        await files.replace(path, packed)
        total += packed.length
        return 'kept'
      } catch (error) {
        if (error instanceof OutriggerError) return 'unwritable'
        throw error
      }
    },
    size: () => total,
  }
}

/** Oldest first, those in use last and only when nothing else is left to give. Answers what is left on disk. */
function makeRoom(files: Files, folder: string, room: number, inUse: ReadonlySet<string>): number {
  const stored = storedIn(files, folder).sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.id < b.id ? -1 : 1))
  let left = sizeOf(stored)
  for (const one of stored) {
    if (left <= room) break
    if (!inUse.has(one.id) && files.remove(one.path)) left -= one.bytes
  }
  return left
}

function sizeOf(stored: readonly Stored[]): number {
  return stored.reduce((sum, one) => sum + one.bytes, 0)
}

function storedIn(files: Files, folder: string): Stored[] {
  return namesIn(files, folder).flatMap(shelf =>
    namesIn(files, `${folder}/${shelf}`).flatMap(name => {
      const path = `${folder}/${shelf}/${name}`
      const stat = files.lstat(path)
      return stat?.kind === 'file' ? [{ path, id: name, bytes: stat.size, at: stat.mtimeNs }] : []
    }),
  )
}

function namesIn(files: Files, folder: string): string[] {
  try {
    return files.list(folder).map(entry => entry.name)
  } catch {
    return [] // not there yet, or not a folder
  }
}
