/**
 * Content ids: the id that git gives a blob of the same bytes in a SHA-1 repository, computed here so
 * that no git is needed. Bytes are never decoded before they are hashed.
 */
import { createHash } from 'node:crypto'

/** SHA-1 of `blob <length> NUL <bytes>`: 40 lower-case hex digits. */
export function gitBlobHex(bytes: Uint8Array): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}

/** The first 12 digits of `gitBlobHex`. */
export function hex12(bytes: Uint8Array): string {
  return gitBlobHex(bytes).slice(0, 12)
}
