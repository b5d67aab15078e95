/** Files in memory, without links: for tests that need no machine, or one that fails when they say so. */
import { OutriggerError } from '../../src/errors.ts'
import type { FileStat, Files } from '../../src/ports/files.ts'

interface MemoryFile {
  readonly bytes: Uint8Array
  readonly mode: number
  readonly inode: bigint
  readonly timeNs: bigint
}

export interface MemoryFiles extends Files {
  /** The next writes below this path fail with the system's code; `undefined` lets them through again. */
  failWrites(below: string, code: string | undefined): void
  /** The same for looking and reading. */
  failReads(below: string, code: string | undefined): void
  /** Text of a file; `undefined` when it is not there. */
  text(path: string): string | undefined
  paths(): readonly string[]
}

/** @param start - absolute paths and their text; the folders above them are there. */
export function memoryFiles(start: Readonly<Record<string, string>> = {}): MemoryFiles {
  const files = new Map<string, MemoryFile>()
  const folders = new Set<string>(['/', '/tmp'])
  const writeFaults = new Map<string, string>()
  const readFaults = new Map<string, string>()
  let inodes = 0n

  const parent = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/'
  const faultOf = (faults: ReadonlyMap<string, string>, path: string) =>
    [...faults].find(([below]) => path === below || path.startsWith(`${below}/`))?.[1]
  const beforeRead = (path: string): void => {
    const code = faultOf(readFaults, path)
    if (code !== undefined)
      throw new OutriggerError('FILES_UNREADABLE', `${path} cannot be read (${code})`, { subject: path, exit: 3 })
  }
  const beforeWrite = (path: string): void => {
    const isPlaced = folders.has(parent(path))
    const code = faultOf(writeFaults, path) ?? (isPlaced ? (folders.has(path) ? 'EISDIR' : undefined) : 'ENOENT')
    if (code !== undefined)
      throw new OutriggerError('FILES_UNWRITABLE', `${path} cannot be written (${code})`, {
        subject: path,
        exit: 3,
        cause: { code },
      })
  }
  const makeFolder = (path: string): void => {
    const code = faultOf(writeFaults, path)
    if (code !== undefined && !folders.has(path)) {
      throw new OutriggerError('FILES_UNWRITABLE', `${path} cannot be written (${code})`, {
        subject: path,
        exit: 3,
        cause: { code },
      })
    }
    for (let at = path; at !== '/'; at = parent(at)) folders.add(at)
  }
  const put = (path: string, bytes: Uint8Array, mode: number): void => {
    inodes += 1n
    files.set(path, { bytes: Uint8Array.from(bytes), mode, inode: inodes, timeNs: 1_000_000_000_000n + inodes })
  }
  for (const [path, content] of Object.entries(start)) {
    makeFolder(parent(path))
    put(path, new TextEncoder().encode(content), 0o644)
  }

  function stat(path: string): FileStat | undefined {
    beforeRead(path)
    const file = files.get(path)
    const common = { device: 1n, links: 1 }
    if (file !== undefined) {
      const { inode, mode, timeNs, bytes } = file
      return { ...common, inode, kind: 'file', size: bytes.length, mtimeNs: timeNs, ctimeNs: timeNs, mode }
    }
    return folders.has(path)
      ? { ...common, inode: 0n, kind: 'folder', size: 0, mtimeNs: 0n, ctimeNs: 0n, mode: 0o700 }
      : undefined
  }

  function read(path: string, maxBytes = Number.MAX_SAFE_INTEGER): Uint8Array {
    beforeRead(path)
    const file = files.get(path)
    if (file === undefined) {
      const code = folders.has(path) ? 'FILES_NOT_FILE' : 'FILES_MISSING'
      throw new OutriggerError(code, `${path} is no file`, { subject: path })
    }
    if (file.bytes.length > maxBytes)
      throw new OutriggerError('FILES_TOO_LARGE', `${path} has more than ${maxBytes} bytes`, { subject: path })
    return Uint8Array.from(file.bytes)
  }

  return {
    stat,
    lstat: stat,
    list(folder) {
      beforeRead(folder)
      if (!folders.has(folder)) {
        throw new OutriggerError(files.has(folder) ? 'FILES_NOT_FOLDER' : 'FILES_MISSING', `${folder} is no folder`, {
          subject: folder,
        })
      }
      const inside = (path: string): boolean => path !== '/' && parent(path) === folder
      return [
        ...[...files.keys()].filter(inside).map(path => ({ name: path.slice(path.lastIndexOf('/') + 1), kind: 'file' as const })),
        ...[...folders].filter(inside).map(path => ({ name: path.slice(path.lastIndexOf('/') + 1), kind: 'folder' as const })),
      ]
    },
    read,
    *readChunks(path, chunkBytes) {
      const bytes = read(path)
      for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
    },
    realpath: path => (stat(path) === undefined ? undefined : path),
    async replace(path, bytes, { expect, mode } = {}) {
      beforeWrite(path)
      const there = files.get(path)
      const isExpected =
        expect === null ? there === undefined : there !== undefined && Buffer.from(there.bytes).equals(expect ?? there.bytes)
      if (expect !== undefined && !isExpected) {
        throw new OutriggerError('FILES_MOVED', `${path} is not what it was when it was read`, { subject: path, exit: 4 })
      }
      put(path, bytes, mode ?? there?.mode ?? 0o644)
    },
    async append(path, bytes) {
      beforeWrite(path)
      const there = files.get(path)
      put(path, Buffer.concat([there?.bytes ?? new Uint8Array(), bytes]), there?.mode ?? 0o644)
    },
    makeFolder,
    remove: path => files.delete(path),
    failWrites: (below, code) => (code === undefined ? void writeFaults.delete(below) : void writeFaults.set(below, code)),
    failReads: (below, code) => (code === undefined ? void readFaults.delete(below) : void readFaults.set(below, code)),
    text: path => {
      const file = files.get(path)
      return file && new TextDecoder().decode(file.bytes)
    },
    paths: () => [...files.keys()].sort(),
  }
}
