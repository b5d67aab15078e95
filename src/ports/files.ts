/**
 * Files as the engines need them. Paths are absolute, in the host's form. Calls are synchronous
 * (measured: statting 10,000 files takes 43 ms, the asynchronous form more than twice that) except
 * the ones that wait on purpose.
 *
 * `tests/ports/files.contract.ts` runs against every implementation.
 */

export type FileKind = 'file' | 'folder' | 'link' | 'other'

/** Everything that tells whether a file is still the one that was read; nanoseconds since the epoch. */
export interface FileIdentity {
  readonly device: bigint
  readonly inode: bigint
  readonly kind: FileKind
  readonly size: number
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

export interface FileStat extends FileIdentity {
  /** Permission bits, as `0o644`. */
  readonly mode: number
  /** Number of hard links. */
  readonly links: number
}

export interface FolderEntry {
  readonly name: string
  readonly kind: FileKind
}

export interface ReplaceOptions {
  /** The bytes that the file must hold right before the rename; else `FILES_MOVED`, nothing written. `null`: must not exist. */
  readonly expect?: Uint8Array | null
  /** Permission bits of the new file; default those of the old one, else 0o666 less the umask. */
  readonly mode?: number
}

/** What a reader of many small files knows and has. */
export interface ReadHint {
  /** Bytes of the file, which the caller looked at just now and found to be a regular one. */
  readonly size: number
  /** The bytes may be given as a part of this, good until the next read that is handed it. Used when larger than `size`. */
  readonly into: Uint8Array
}

export interface Files {
  /** Follows links. `undefined` when nothing is there, also behind a dangling or looping link. Throws `FILES_UNREADABLE` when it may not look. */
  stat(path: string): FileStat | undefined
  /** Does not follow the last link. */
  lstat(path: string): FileStat | undefined
  /** Entries of a folder in no order. Throws `FILES_MISSING`, `FILES_NOT_FOLDER`, `FILES_UNREADABLE`. */
  list(folder: string): readonly FolderEntry[]
  /** All bytes of a regular file. Throws `FILES_MISSING`, `FILES_NOT_FILE`, `FILES_UNREADABLE`, `FILES_TOO_LARGE` above `maxBytes`. Never opens a pipe or device. A hint changes nothing but the time it takes. */
  read(path: string, maxBytes?: number, hint?: ReadHint): Uint8Array
  /** The same in pieces, for files that should not be held whole. */
  readChunks(path: string, chunkBytes: number): Iterable<Uint8Array>
  /** With every link resolved; `undefined` when nothing is there. */
  realpath(path: string): string | undefined
  /**
   * Replace atomically: temporary file in the same folder, fsync, check of `expect`, rename over the
   * link's target, fsync of the folder. A crash leaves the old file or the new one.
   * Throws `FILES_MOVED`, `FILES_UNWRITABLE` (`cause.code` is the system's code).
   */
  replace(path: string, bytes: Uint8Array, options?: ReplaceOptions): Promise<void>
  /** One `O_APPEND` write and fsync, the file made when missing. Throws `FILES_SHORT_WRITE`, `FILES_UNWRITABLE`. */
  append(path: string, bytes: Uint8Array): Promise<void>
  /** Make the folder and those above it. Throws `FILES_UNWRITABLE`. */
  makeFolder(path: string, mode?: number): void
  /** Remove a file; `false` when it was not there. */
  remove(path: string): boolean
}
