/**
 * Content ids: the id that git gives a blob of the same bytes in a SHA-1 repository, computed here so
 * that no git is needed. Bytes are never decoded before they are hashed.
 */
import { createHash, hash } from 'node:crypto'

/** Up to here a copy behind the head costs less than a hash in two pieces. */
const smallBytes = 32 * 1024
const largestHeadBytes = 16
let scratch: Buffer | undefined

/** SHA-1 of `blob <length> NUL <bytes>`: 40 lower-case hex digits. */
export function gitBlobHex(bytes: Uint8Array): string {
  const head = `blob ${bytes.length}\0`
  if (bytes.length > smallBytes) return createHash('sha1').update(head).update(bytes).digest('hex')
  scratch ??= Buffer.allocUnsafe(largestHeadBytes + smallBytes)
  const length = scratch.write(head, 'latin1')
  scratch.set(bytes, length)
  return hash('sha1', scratch.subarray(0, length + bytes.length), 'hex')
}

/** The first 12 digits of `gitBlobHex`. */
export function hex12(bytes: Uint8Array): string {
  return gitBlobHex(bytes).slice(0, 12)
}
