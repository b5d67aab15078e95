/**
 * The files port on the real machine. The only place with temporary files, renames and fsyncs.
 *
 * A file is opened without blocking and looked at through its descriptor before a byte is read, so
 * that a pipe or a device put in a file's place is refused, never opened for long.
 */

import { randomBytes } from 'node:crypto'
import type { BigIntStats, Dirent } from 'node:fs'
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { OutriggerError } from '../errors.ts'
import type { FileKind, FileStat, Files, FolderEntry, ReadHint } from '../ports/files.ts'

/** The calls whose failures tests inject; the real ones by default. */
export interface FileCalls {
  readonly write: typeof writeSync
  readonly fsync: typeof fsyncSync
  readonly rename: typeof renameSync
}

const realCalls: FileCalls = { write: writeSync, fsync: fsyncSync, rename: renameSync }

const missing = new Set(['ENOENT', 'ENOTDIR', 'ELOOP'])
const retriedOnWindows = new Set(['EPERM', 'EACCES', 'EBUSY'])

export function nodeFiles(calls: FileCalls = realCalls): Files {
  return {
    stat: path => statOf(path, statSync),
    lstat: path => statOf(path, lstatSync),
    list,
    read: (path, maxBytes = Number.MAX_SAFE_INTEGER, hint) =>
      (hint !== undefined && readSeen(path, maxBytes, hint)) || readWhole(path, maxBytes),
    readChunks,
    realpath(path) {
      try {
        return realpathSync.native(path)
      } catch (error) {
        if (missing.has(codeOf(error))) return undefined
        throw unreadable(path, error)
      }
    },
    replace: (path, bytes, options = {}) => replace(calls, path, bytes, options),
    async append(path, bytes) {
      await null
      append(calls, path, bytes)
    },
    makeFolder(path, mode) {
      try {
        mkdirSync(path, { recursive: true, ...(mode !== undefined && { mode }) })
      } catch (error) {
        throw unwritable(path, error)
      }
    },
    remove(path) {
      try {
        unlinkSync(path)
        return true
      } catch (error) {
        if (missing.has(codeOf(error))) return false
        throw unwritable(path, error)
      }
    },
  }
}

function statOf(path: string, stat: typeof statSync | typeof lstatSync): FileStat | undefined {
  let found: BigIntStats | undefined
  try {
    found = stat(path, { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    if (missing.has(codeOf(error))) return undefined
    throw unreadable(path, error)
  }
  if (found === undefined) return undefined
  const mode = Number(found.mode)
  return {
    device: found.dev,
    inode: found.ino,
    kind: kindOfMode(mode),
    size: Number(found.size),
    mtimeNs: found.mtimeNs,
    ctimeNs: found.ctimeNs,
    mode: mode & 0o7777,
    links: Number(found.nlink),
  }
}

/** What the stat's own methods tell, without a large integer for each question. */
function kindOfMode(mode: number): FileKind {
  switch (mode & constants.S_IFMT) {
    case constants.S_IFREG:
      return 'file'
    case constants.S_IFDIR:
      return 'folder'
    default:
      return (mode & constants.S_IFMT) === constants.S_IFLNK ? 'link' : 'other'
  }
}

function kindOf(entry: Dirent): FileKind {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  return entry.isSymbolicLink() ? 'link' : 'other'
}

function list(folder: string): readonly FolderEntry[] {
  let entries: Dirent[]
  try {
    entries = readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOTDIR')
      throw new OutriggerError('FILES_NOT_FOLDER', `${folder} is not a folder`, { subject: folder, cause: error })
    if (missing.has(code)) throw gone(folder, error)
    throw unreadable(folder, error)
  }
  return entries.map(entry => ({ name: entry.name, kind: kindOf(entry) }))
}

/** Opens a regular file; anything else is closed again unread. */
function openFile(path: string): { readonly descriptor: number; readonly size: number } {
  // Looked at before it is opened: opening a pipe or a device can already have an effect.
  const before = statOf(path, statSync)
  if (before === undefined) throw gone(path)
  if (before.kind !== 'file') throw notFile(path)
  let descriptor: number
  try {
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    throw missing.has(codeOf(error)) ? gone(path, error) : unreadable(path, error)
  }
  const now = fstatSync(descriptor)
  if (now.isFile()) return { descriptor, size: now.size }
  closeSync(descriptor)
  throw notFile(path)
}

/**
 * A file that was looked at just now, with as few calls as there can be: a read that asks for more than
 * the size and gets the size has all of it. `undefined`: it is another by now, or cannot be read.
 */
function readSeen(path: string, maxBytes: number, { size, into }: ReadHint): Uint8Array | undefined {
  if (size === 0 || size >= into.length || size > maxBytes) return undefined
  let descriptor: number
  try {
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch {
    return undefined
  }
  try {
    return readSync(descriptor, into, 0, into.length, null) === size ? into.subarray(0, size) : undefined
  } catch {
    return undefined // a folder or pipe in its place
  } finally {
    closeSync(descriptor)
  }
}

function readWhole(path: string, maxBytes: number): Uint8Array {
  const { descriptor, size } = openFile(path)
  try {
    if (size > maxBytes) throw tooLarge(path, maxBytes)
    // One byte more than the size tells a file that grows while it is read.
    let bytes = Buffer.allocUnsafe(size + 1)
    let length = 0
    for (;;) {
      const read = readSync(descriptor, bytes, length, bytes.length - length, null)
      if (read === 0) return bytes.subarray(0, length)
      length += read
      if (length > maxBytes) throw tooLarge(path, maxBytes)
      if (length === bytes.length) bytes = Buffer.concat([bytes, Buffer.allocUnsafe(Math.max(65_536, bytes.length))])
    }
  } catch (error) {
    throw error instanceof OutriggerError ? error : unreadable(path, error)
  } finally {
    closeSync(descriptor)
  }
}

function* readChunks(path: string, chunkBytes: number): Iterable<Uint8Array> {
  const { descriptor } = openFile(path)
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(chunkBytes)
      const read = readSync(descriptor, chunk, 0, chunkBytes, null)
      if (read === 0) return
      yield chunk.subarray(0, read)
    }
  } catch (error) {
    throw error instanceof OutriggerError ? error : unreadable(path, error)
  } finally {
    closeSync(descriptor)
  }
}

async function replace(
  calls: FileCalls,
  path: string,
  bytes: Uint8Array,
  options: { readonly expect?: Uint8Array | null; readonly mode?: number },
): Promise<void> {
  const target = linkTarget(path)
  const folder = dirname(target)
  const temporary = join(folder, temporaryName(target))
  clearLeftovers(folder)
  try {
    const there = statOf(target, statSync)
    if (there !== undefined && there.kind !== 'file') throw unwritable(target, notFile(target))
    const mode = options.mode ?? there?.mode
    writeNew(calls, temporary, bytes, mode)
    expectUnmoved(target, options.expect)
    await rename(calls, temporary, target)
    syncFolder(calls, folder)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error instanceof OutriggerError ? error : unwritable(path, error)
  }
}

function temporaryName(target: string): string {
  return `.${basename(target).slice(0, 100)}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`
}

const temporaryNames = /^\..+\.(\d+)\.[0-9a-f]{12}\.tmp$/
/** A shared folder may hold the files of another machine's processes, whose numbers mean nothing here. */
const leftoverAgeMs = 60_000
const clearedFolders = new Set<string>()

/** Temporary files of processes that were killed before their rename; looked for once a folder and process. */
function clearLeftovers(folder: string): void {
  if (clearedFolders.has(folder)) return
  clearedFolders.add(folder)
  try {
    for (const name of readdirSync(folder)) {
      const pid = temporaryNames.exec(name)?.[1]
      if (pid === undefined || isAlive(Number(pid))) continue
      const path = join(folder, name)
      if (Date.now() - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > leftoverAgeMs)
        rmSync(path, { force: true })
    }
  } catch {
    // A folder that cannot be listed is told by the write that follows.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) !== 'ESRCH'
  }
}

/** Where a chain of links leads, also when nothing is there yet; a link is written through, not replaced. */
function linkTarget(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (!missing.has(codeOf(error))) throw unwritable(path, error)
    const isLink = statOf(path, lstatSync)?.kind === 'link'
    if (isLink)
      throw new OutriggerError('FILES_UNWRITABLE', `${path} is a link that leads nowhere`, {
        subject: path,
        cause: error,
      })
    return resolve(path)
  }
}

function writeNew(calls: FileCalls, path: string, bytes: Uint8Array, mode: number | undefined): void {
  const descriptor = openSync(path, 'wx', mode === undefined ? 0o666 : mode & 0o777)
  try {
    writeAll(calls, descriptor, bytes)
    if (mode !== undefined) fchmodSync(descriptor, mode)
    calls.fsync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function writeAll(calls: FileCalls, descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += calls.write(descriptor, bytes, at, bytes.length - at, null)
}

function expectUnmoved(target: string, expect: Uint8Array | null | undefined): void {
  if (expect === undefined) return
  const there = statOf(target, statSync)
  if (
    expect === null
      ? there === undefined
      : there?.size === expect.length && Buffer.compare(readWhole(target, expect.length), expect) === 0
  ) {
    return
  }
  throw new OutriggerError('FILES_MOVED', `${target} is not what it was when it was read`, {
    subject: target,
    hint: 'run it again on the file as it is now',
    exit: 4,
  })
}

/** On Windows a file that somebody has open cannot be replaced for a moment. */
async function rename(calls: FileCalls, from: string, to: string): Promise<void> {
  for (const waitMs of [20, 40, 80, 140, 200]) {
    try {
      calls.rename(from, to)
      return
    } catch (error) {
      if (process.platform !== 'win32' || !retriedOnWindows.has(codeOf(error))) throw error
      await sleep(waitMs)
    }
  }
  calls.rename(from, to)
}

/** The rename itself must survive a power cut; systems that cannot sync a folder do without. */
function syncFolder(calls: FileCalls, folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, constants.O_RDONLY)
  try {
    calls.fsync(descriptor)
  } catch (error) {
    if (!['EINVAL', 'ENOTSUP', 'EBADF'].includes(codeOf(error))) throw error
  } finally {
    closeSync(descriptor)
  }
}

function append(calls: FileCalls, path: string, bytes: Uint8Array): void {
  let written: number
  const isNew = statOf(path, statSync) === undefined
  let descriptor: number | undefined
  try {
    if (!isNew && statOf(path, statSync)?.kind !== 'file') throw notFile(path)
    descriptor = openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0), 0o666)
    if (!fstatSync(descriptor).isFile()) throw notFile(path)
    written = calls.write(descriptor, bytes, 0, bytes.length, null)
    calls.fsync(descriptor)
    if (isNew) syncFolder(calls, dirname(resolve(path)))
  } catch (error) {
    if (error instanceof OutriggerError && error.code !== 'FILES_NOT_FILE') throw error
    throw unwritable(path, error)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
  if (written === bytes.length) return
  throw new OutriggerError('FILES_SHORT_WRITE', `only ${written} of ${bytes.length} bytes were added to ${path}`, {
    subject: path,
    hint: 'make room on the disk',
    exit: 3,
  })
}

function codeOf(error: unknown): string {
  if (error instanceof OutriggerError) return error.code
  return (error as NodeJS.ErrnoException | null)?.code ?? 'UNKNOWN'
}

function gone(path: string, cause?: unknown): OutriggerError {
  return new OutriggerError('FILES_MISSING', `${path} is not there`, { subject: path, cause })
}

function notFile(path: string): OutriggerError {
  return new OutriggerError('FILES_NOT_FILE', `${path} is not a regular file`, { subject: path })
}

function tooLarge(path: string, maxBytes: number): OutriggerError {
  return new OutriggerError('FILES_TOO_LARGE', `${path} has more than ${maxBytes} bytes`, { subject: path })
}

function unreadable(path: string, cause: unknown): OutriggerError {
  return new OutriggerError('FILES_UNREADABLE', `${path} cannot be read (${codeOf(cause)})`, {
    subject: path,
    hint: 'check the permissions of the file and of the folders above it',
    exit: 3,
    cause,
  })
}

function unwritable(path: string, cause: unknown): OutriggerError {
  const code = codeOf(cause)
  return new OutriggerError('FILES_UNWRITABLE', `${path} cannot be written (${code})`, {
    subject: path,
    hint: code === 'ENOSPC' ? 'make room on the disk' : 'check the permissions of the file and of the folders above it',
    exit: 3,
    cause,
  })
}
