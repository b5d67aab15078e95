/**
 * A run of zstd frames (RFC 8878), each decompressed alone as soon as its bytes are there. Frames are
 * walked by their structure, so that the one that a crash cut off is seen and left out.
 *
 *   magic(4) descriptor(1) window(0–1) dictionary(0–4) size(0–8) (block header(3) block)… checksum(0–4)
 *   skippable: 184D2A5x(4, little endian) length(4) bytes
 */
import { zstdDecompressSync } from 'node:zlib'
import type { Chunks } from './lines.ts'

export const zstdMagic: Uint8Array = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd)

/** Of one frame, decompressed. */
const maxFrameBytes = 256 * 1024 * 1024

export interface Frames {
  readonly frames: AsyncIterable<Uint8Array>
  /** Bytes at the end that are no whole frame; known when `frames` is at its end. */
  torn(): { readonly bytes: number } | null
}

export function decodeFrames(chunks: Chunks): Frames {
  let torn: { readonly bytes: number } | null = null
  async function* walk(): AsyncGenerator<Uint8Array, void> {
    const buffer = new Growing()
    let broken = false
    for await (const chunk of chunks) {
      buffer.add(chunk)
      if (broken) {
        buffer.forgetText()
        continue
      }
      for (;;) {
        const frame = nextFrame(buffer.bytes())
        if (frame.kind === 'incomplete') break
        if (frame.kind === 'frame') {
          const text = frame.skippable ? new Uint8Array() : decompress(buffer.bytes().subarray(0, frame.end))
          if (text !== undefined) {
            buffer.drop(frame.end)
            if (text.length > 0) yield text
            continue
          }
        }
        broken = true
        buffer.forgetText()
        break
      }
    }
    if (buffer.size() > 0) torn = { bytes: buffer.size() }
  }
  return { frames: walk(), torn: () => torn }
}

type NextFrame =
  | { readonly kind: 'frame'; readonly end: number; readonly skippable: boolean }
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'broken' }

const incomplete: NextFrame = { kind: 'incomplete' }
const broken: NextFrame = { kind: 'broken' }

function nextFrame(bytes: Uint8Array): NextFrame {
  if (bytes.length < 4) return bytes.length > 0 && !mayBeMagic(bytes) ? broken : incomplete
  if (isSkippable(bytes)) {
    if (bytes.length < 8) return incomplete
    const end = 8 + littleEndian(bytes, 4, 4)
    return end > bytes.length ? incomplete : { kind: 'frame', end, skippable: true }
  }
  if (!zstdMagic.every((byte, index) => bytes[index] === byte)) return broken
  const descriptor = bytes[4]
  if (descriptor === undefined) return incomplete
  const isSingle = ((descriptor >> 5) & 1) === 1
  const sizeFlag = descriptor >> 6
  const sizeBytes = sizeFlag === 0 ? Number(isSingle) : [0, 2, 4, 8][sizeFlag]!
  let at = 5 + Number(!isSingle) + [0, 1, 2, 4][descriptor & 3]! + sizeBytes
  for (let isLast = false; !isLast; ) {
    if (at + 3 > bytes.length) return incomplete
    const header = littleEndian(bytes, at, 3)
    const type = (header >> 1) & 3
    if (type === 3) return broken
    isLast = (header & 1) === 1
    at += 3 + (type === 1 ? 1 : header >> 3)
  }
  if (((descriptor >> 2) & 1) === 1) at += 4
  return at > bytes.length ? incomplete : { kind: 'frame', end: at, skippable: false }
}

const isSkippable = (bytes: Uint8Array) =>
  (bytes[0]! & 0xf0) === 0x50 && bytes[1] === 0x2a && bytes[2] === 0x4d && bytes[3] === 0x18

/** Could these first bytes begin a frame? */
const mayBeMagic = (bytes: Uint8Array) =>
  zstdMagic.subarray(0, bytes.length).every((byte, index) => bytes[index] === byte) ||
  [0x50, 0x2a, 0x4d].slice(0, bytes.length).every((byte, index) => (index === 0 ? bytes[0]! & 0xf0 : bytes[index]) === byte)

function littleEndian(bytes: Uint8Array, at: number, length: number): number {
  let value = 0
  for (let index = length - 1; index >= 0; index--) value = value * 256 + bytes[at + index]!
  return value
}

/** `undefined`: damaged, or larger than a frame may be. */
function decompress(frame: Uint8Array): Uint8Array | undefined {
  try {
    return zstdDecompressSync(frame, { maxOutputLength: maxFrameBytes })
  } catch {
    return undefined
  }
}

/** Bytes that are added at the end and dropped at the front, copied seldom. */
class Growing {
  #bytes = new Uint8Array(64 * 1024)
  #start = 0
  #end = 0
  /** Bytes that were counted but not kept. */
  #forgotten = 0

  bytes(): Uint8Array {
    return this.#bytes.subarray(this.#start, this.#end)
  }

  size(): number {
    return this.#forgotten + this.#end - this.#start
  }

  add(chunk: Uint8Array): void {
    if (this.#end + chunk.length > this.#bytes.length) {
      const kept = this.bytes()
      const room = Math.max(this.#bytes.length, 2 * (kept.length + chunk.length))
      const next = kept.length + chunk.length <= this.#bytes.length / 2 ? this.#bytes : new Uint8Array(room)
      next.set(kept)
      this.#bytes = next
      this.#end = kept.length
      this.#start = 0
    }
    this.#bytes.set(chunk, this.#end)
    this.#end += chunk.length
  }

  drop(count: number): void {
    this.#start += count
  }

  forgetText(): void {
    this.#forgotten += this.#end - this.#start
    this.#start = 0
    this.#end = 0
  }
}
