/**
 * A copy-on-write view of files: what is there is read through, what is written stays in memory and is
 * gone with the view. Nothing below changes.
 */
import { OutriggerError } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { FileStat, Files, FolderEntry, ReadHint } from '../ports/files.ts'
import { joinPath, parentOf } from './places.ts'

interface Written {
  readonly bytes: Uint8Array
  readonly mode: number
  readonly inode: bigint
  readonly timeNs: bigint
}

/** No device of a machine has it. */
const device = -1n

export function overlayFiles(base: Files, clock: Pick<Clock, 'now'>): Files {
  const written = new Map<string, Written>()
  const removed = new Set<string>()
  const folders = new Map<string, bigint>()
  let inodes = 0n

  /** The path itself, with every link above and at it resolved. */
  function keyOf(path: string): string {
    const real = base.realpath(path)
    if (real !== undefined) return real
    const parent = parentOf(path)
    return parent === path ? path : joinPath(keyOf(parent), nameOf(path))
  }

  function statKey(key: string, path: string): FileStat | undefined {
    const file = written.get(key)
    if (file !== undefined) return statOf('file', file.bytes.length, file.inode, file.timeNs, file.mode)
    if (removed.has(key)) return undefined
    const found = base.stat(path)
    const made = folders.get(key)
    return found ?? (made === undefined ? undefined : statOf('folder', 0, made, made, 0o755))
  }

  function put(key: string, bytes: Uint8Array, mode: number): void {
    inodes += 1n
    removed.delete(key)
    written.set(key, { bytes: Uint8Array.from(bytes), mode, inode: inodes, timeNs: BigInt(clock.now()) * 1_000_000n + inodes })
  }

  const stat = (path: string): FileStat | undefined => statKey(keyOf(path), path)

  function read(path: string, maxBytes?: number, hint?: ReadHint): Uint8Array {
    const key = keyOf(path)
    const file = written.get(key)
    if (file === undefined) {
      if (removed.has(key) || (folders.has(key) && base.stat(path) === undefined)) throw notReadable(path, stat(path))
      return base.read(path, maxBytes, hint)
    }
    if (maxBytes !== undefined && file.bytes.length > maxBytes) {
      throw new OutriggerError('FILES_TOO_LARGE', `${path} is larger than ${maxBytes} bytes`, { subject: path })
    }
    return Uint8Array.from(file.bytes)
  }

  function makeFolder(path: string): void {
    const found = stat(path)
    if (found?.kind === 'folder') return
    if (found !== undefined) throw unwritable(path, 'EEXIST')
    const parent = parentOf(path)
    if (parent !== path) makeFolder(parent)
    inodes += 1n
    folders.set(keyOf(path), inodes)
  }

  function checkPlace(path: string): void {
    const kind = stat(path)?.kind
    if (kind === 'folder') throw unwritable(path, 'EISDIR')
    if (kind === undefined && stat(parentOf(path))?.kind !== 'folder') throw unwritable(path, 'ENOENT')
  }

  return {
    stat,
    lstat(path) {
      const found = base.lstat(path)
      const key = joinPath(keyOf(parentOf(path)), nameOf(path))
      if (found?.kind === 'link' && !removed.has(key)) return found
      return statKey(key, path)
    },
    list(folder) {
      const key = keyOf(folder)
      const kind = stat(folder)?.kind
      if (kind === undefined) throw notReadable(folder, undefined)
      if (kind !== 'folder') throw new OutriggerError('FILES_NOT_FOLDER', `${folder} is no folder`, { subject: folder })
      const entries = new Map<string, FolderEntry>()
      if (base.stat(folder) !== undefined) for (const entry of base.list(folder)) entries.set(entry.name, entry)
      const below = (path: string) => parentOf(path) === key
      for (const path of removed) if (below(path)) entries.delete(nameOf(path))
      for (const path of folders.keys()) if (below(path)) entries.set(nameOf(path), { name: nameOf(path), kind: 'folder' })
      for (const path of written.keys()) {
        if (below(path) && !entries.has(nameOf(path))) entries.set(nameOf(path), { name: nameOf(path), kind: 'file' })
      }
      return [...entries.values()]
    },
    read,
    *readChunks(path, chunkBytes) {
      const key = keyOf(path)
      if (!written.has(key) && !removed.has(key)) {
        yield* base.readChunks(path, chunkBytes)
        return
      }
      const bytes = read(path)
      for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
    },
    realpath(path) {
      const key = keyOf(path)
      return statKey(key, path) === undefined ? undefined : key
    },
    async replace(path, bytes, { expect, mode } = {}) {
      checkPlace(path)
      const key = keyOf(path)
      const before = statKey(key, path)
      if (expect !== undefined && !isExpected(expect, before === undefined ? undefined : read(path))) {
        throw new OutriggerError('FILES_MOVED', `${path} was changed meanwhile`, { subject: path, exit: 4 })
      }
      put(key, bytes, mode ?? before?.mode ?? 0o644)
    },
    async append(path, bytes) {
      checkPlace(path)
      const key = keyOf(path)
      const before = statKey(key, path)
      const old = before === undefined ? new Uint8Array() : read(path)
      const all = new Uint8Array(old.length + bytes.length)
      all.set(old)
      all.set(bytes, old.length)
      put(key, all, before?.mode ?? 0o644)
    },
    makeFolder,
    remove(path) {
      const key = joinPath(keyOf(parentOf(path)), nameOf(path))
      const kind = stat(path)?.kind
      if (kind === 'folder') throw unwritable(path, 'EISDIR')
      if (!written.delete(key) && (removed.has(key) || base.lstat(path) === undefined)) return false
      if (base.lstat(path) !== undefined) removed.add(key)
      return true
    },
  }
}

const nameOf = (path: string) => path.slice(parentOf(path).length).replace(/^[\\/]+/, '')

function statOf(kind: 'file' | 'folder', size: number, inode: bigint, timeNs: bigint, mode: number): FileStat {
  return { device, inode, kind, size, mtimeNs: timeNs, ctimeNs: timeNs, mode, links: 1 }
}

function isExpected(expect: Uint8Array | null, now: Uint8Array | undefined): boolean {
  if (expect === null || now === undefined) return expect === null && now === undefined
  return expect.length === now.length && expect.every((byte, index) => byte === now[index])
}

function notReadable(path: string, found: FileStat | undefined): OutriggerError {
  return found === undefined
    ? new OutriggerError('FILES_MISSING', `${path} is not there`, { subject: path })
    : new OutriggerError('FILES_NOT_FILE', `${path} is no file`, { subject: path })
}

function unwritable(path: string, code: string): OutriggerError {
  return new OutriggerError('FILES_UNWRITABLE', `${path} cannot be written (${code})`, {
    subject: path,
    exit: 3,
    cause: { code },
  })
}
