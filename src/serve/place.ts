/**
 * Where the engine process of a project listens. The folder is the whole authentication: only the user may
 * enter it, and it is no link that leads elsewhere.
 */
import { chmodSync, lstatSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { OutriggerError } from '../errors.ts'
import type { Environment } from '../runtime/project.ts'

/** A path of a Unix socket may have 104 to 108 bytes, by system. */
const maxPathBytes = 100

export interface PlaceOptions {
  /** 16 hex digits that name the project. */
  readonly id: string
  readonly env: Environment
  /** A host or an MCP server that listens itself: its process id goes into the name. */
  readonly pid?: number
  readonly platform?: NodeJS.Platform
  readonly uid?: number
  readonly temporary?: string
}

/** The socket's path; a named pipe on Windows. Only computes. */
export function socketPath(options: PlaceOptions): string {
  const { id, env, pid, platform = process.platform, uid = process.getuid?.() ?? 0, temporary = tmpdir() } = options
  const name = pid === undefined ? id : `${id}-${pid}`
  if (platform === 'win32') return `\\\\.\\pipe\\outrigger-${name}`
  const runtime = env['XDG_RUNTIME_DIR']
  const home = env['HOME']
  const folders = [
    ...(runtime?.startsWith('/') === true ? [join(runtime, 'outrigger')] : []),
    ...(home?.startsWith('/') === true ? [join(home, '.cache', 'outrigger', 'run')] : []),
    join(temporary, `outrigger-${uid}`),
  ]
  const path = join(folders[0]!, `${name}.sock`)
  return Buffer.byteLength(path) <= maxPathBytes ? path : join(folders.at(-1)!, `${name}.sock`)
}

/** Make the socket's folder, private to the user. Throws `SERVE_UNSAFE_PLACE` when it is somebody else's or a link. */
export function makeSocketFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = dirname(path)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const why = whyUnsafe(folder)
    if (why !== undefined) throw unsafe(folder, why)
    if ((lstatSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700)
  } catch (error) {
    throw error instanceof OutriggerError ? error : unsafe(folder, (error as NodeJS.ErrnoException).code ?? 'UNKNOWN', error)
  }
}

/** May a socket in there be trusted? What is not there is not unsafe. */
export function isSafePlace(path: string): boolean {
  if (process.platform === 'win32') return true
  try {
    return whyUnsafe(dirname(path)) === undefined && lstatSync(path).uid === process.getuid?.()
  } catch {
    return false
  }
}

function whyUnsafe(folder: string): string | undefined {
  const there = lstatSync(folder)
  if (there.isSymbolicLink()) return 'it is a link'
  if (!there.isDirectory()) return 'it is no folder'
  if (there.uid !== process.getuid?.()) return 'it belongs to another user'
  return undefined
}

function unsafe(folder: string, why: string, cause?: unknown): OutriggerError {
  return new OutriggerError('SERVE_UNSAFE_PLACE', `${folder} cannot hold the socket (${why})`, {
    subject: folder,
    hint: 'remove it, or set XDG_RUNTIME_DIR to a folder of yours',
    exit: 3,
    cause,
  })
}
