/**
 * Reads a DSH session log independently of the product's own reader. The file is zstd frames one after
 * another (RFC 8878): the header, then one frame per append batch. `zstdDecompressSync` gives the first
 * frame only, so frames are walked. A frame cut off at the end is left out, as after a crash.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import zlib from 'node:zlib'

const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

export interface LogRow {
  readonly type: string
  readonly seq: number
  // biome-ignore lint/suspicious/noExplicitAny: rows of a foreign log, asserted on by the tests
  readonly data: any
}

/** Where the frame at `start` ends; `undefined` when the bytes stop before it does. */
function frameEnd(bytes: Buffer, start: number): number | undefined {
  if (!bytes.subarray(start, start + 4).equals(magic)) throw new Error(`no zstd frame at byte ${start}`)
  const descriptor = bytes[start + 4] ?? 0
  const singleSegment = (descriptor >> 5) & 1
  const sizeFlag = descriptor >> 6
  const sizeBytes = sizeFlag === 0 ? singleSegment : ([0, 2, 4, 8][sizeFlag] ?? 0)
  let at = start + 5 + (singleSegment === 1 ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0) + sizeBytes
  for (let last = false; !last; ) {
    if (at + 3 > bytes.length) return undefined
    const block = bytes.readUIntLE(at, 3)
    last = (block & 1) === 1
    at += 3 + (((block >> 1) & 3) === 1 ? 1 : block >> 3)
  }
  if (((descriptor >> 2) & 1) === 1) at += 4
  return at > bytes.length ? undefined : at
}

export function readSessionLog(file: string): {
  readonly header: Readonly<Record<string, unknown>>
  readonly rows: readonly LogRow[]
} {
  const bytes = readFileSync(file)
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const end = frameEnd(bytes, at)
    if (end === undefined) break
    text += zlib.zstdDecompressSync(bytes.subarray(at, end)).toString('utf8')
    at = end
  }
  const [header, ...rows] = text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))
  return { header, rows }
}

/** Session files below a DSH home, oldest first. */
export function findSessionLogs(home: string): readonly string[] {
  return readdirSync(join(home, 'sessions'), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name === 'session.jsonl.zstd')
    .map(entry => join(entry.parentPath, entry.name))
    .sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs)
}
