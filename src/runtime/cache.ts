/**
 * Cache files: what can be recomputed, kept under a header that says what it was computed from. Another
 * header or damage is an empty cache; losing it loses nothing.
 *
 * Format: the line `outrigger-cache 1 <header bytes> <body bytes> <crc32 of both, hex>`, the header, the body.
 */
import { crc32 } from 'node:zlib'
import type { CacheFile } from '../keel/deps.ts'
import type { Files } from '../ports/files.ts'
import { joinPath, parentOf } from './places.ts'

const maxBytes = 1024 * 1024 * 1024
const firstLine = /^outrigger-cache 1 (\d{1,12}) (\d{1,12}) ([0-9a-f]{1,8})\n/

/** @param folder - where it lies now; `null`: nowhere. @param name - its path below that, with `/`. */
export function cacheFile(files: Files, folder: () => string | null, name: string): CacheFile {
  const pathNow = (): string | null => {
    const below = folder()
    return below === null ? null : joinPath(below, ...name.split('/'))
  }
  return {
    load(header) {
      const path = pathNow()
      if (path === null) return undefined
      try {
        if (files.stat(path) === undefined) return undefined
        return decode(files.read(path, maxBytes), header) ?? 'rebuilt'
      } catch {
        return 'rebuilt'
      }
    },
    async save(header, body) {
      const path = pathNow()
      if (path === null) return false
      try {
        files.makeFolder(parentOf(path), 0o700)
        await files.replace(path, encode(header, body), { mode: 0o600 })
        return true
      } catch {
        return false
      }
    },
  }
}

function encode(header: string, body: Uint8Array): Uint8Array {
  const head = Buffer.from(header, 'utf8')
  const line = Buffer.from(`outrigger-cache 1 ${head.length} ${body.length} ${crc32(body, crc32(head)).toString(16)}\n`, 'latin1')
  return Buffer.concat([line, head, body])
}

function decode(bytes: Uint8Array, header: string): Uint8Array | undefined {
  const match = firstLine.exec(Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 80)).toString('latin1'))
  if (match === null) return undefined
  const headAt = match[0].length
  const bodyAt = headAt + Number(match[1])
  const end = bodyAt + Number(match[2])
  if (end !== bytes.length) return undefined
  const head = bytes.subarray(headAt, bodyAt)
  const body = bytes.subarray(bodyAt, end)
  if (crc32(body, crc32(head)).toString(16) !== match[3]) return undefined
  return Buffer.from(head).toString('utf8') === header ? body : undefined
}
