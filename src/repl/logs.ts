/** What a cell printed, under a limit: the first so many bytes and the last 64 KiB; the rest is counted. */
import type { LogEntry } from './types.ts'

const tailBytes = 64 * 1024
/** An empty entry takes memory too. */
const entryBytes = 1

interface Kept extends LogEntry {
  readonly bytes: number
}

export class LogBuffer {
  readonly #headBytes: number
  readonly #head: Kept[] = []
  #headUsed = 0
  #tail: Kept[] = []
  #tailStart = 0
  #tailUsed = 0
  #omitted = 0

  constructor(headBytes: number) {
    this.#headBytes = headBytes
  }

  get omittedBytes(): number {
    return this.#omitted
  }

  /** One console call or write; its final line end goes. `omitted` bytes were left out behind it already, `tail` follows them. */
  add(stream: LogEntry['stream'], text: string, omitted = 0, tail?: string): void {
    const cut = omitted > 0 || tail !== undefined
    this.#put(stream, cut ? text : withoutEnd(text), cut)
    if (!cut) return
    this.#headUsed = this.#headBytes
    this.#omitted += omitted
    if (tail !== undefined) this.#put(stream, withoutEnd(tail), false)
  }

  entries(): readonly LogEntry[] {
    return [...this.#head, ...this.#tail.slice(this.#tailStart)].map(({ stream, text }) => ({ stream, text }))
  }

  #put(stream: LogEntry['stream'], text: string, continues: boolean): void {
    const bytes = Buffer.byteLength(text) + entryBytes
    if (this.#headUsed + bytes <= this.#headBytes) {
      this.#head.push({ stream, text, bytes })
      this.#headUsed += bytes
      return
    }
    const room = this.#headBytes - this.#headUsed
    this.#headUsed = this.#headBytes
    if (room > entryBytes && this.#tailUsed === 0) {
      const first = cutBytes(text, room - entryBytes)
      this.#head.push({ stream, text: first, bytes: room })
      if (!continues || first.length < text.length) this.#toTail(stream, text.slice(first.length))
      return
    }
    this.#toTail(stream, text)
  }

  #toTail(stream: LogEntry['stream'], text: string): void {
    let kept = text
    let bytes = Buffer.byteLength(kept)
    if (bytes > tailBytes) {
      kept = endOf(kept, tailBytes)
      this.#omitted += bytes - Buffer.byteLength(kept)
      bytes = Buffer.byteLength(kept)
    }
    this.#tail.push({ stream, text: kept, bytes: bytes + entryBytes })
    this.#tailUsed += bytes + entryBytes
    for (let over = this.#tailUsed - tailBytes; over > 0; over = this.#tailUsed - tailBytes) {
      const first = this.#tail[this.#tailStart]!
      const textBytes = first.bytes - entryBytes
      if (over < textBytes) {
        const rest = endOf(first.text, textBytes - over)
        const bytesLeft = Buffer.byteLength(rest) + entryBytes
        this.#tail[this.#tailStart] = { stream: first.stream, text: rest, bytes: bytesLeft }
        this.#tailUsed -= first.bytes - bytesLeft
        this.#omitted += first.bytes - bytesLeft
      } else {
        this.#tailStart++
        this.#tailUsed -= first.bytes
        this.#omitted += textBytes
      }
    }
    if (this.#tailStart > 1_000) {
      this.#tail = this.#tail.slice(this.#tailStart)
      this.#tailStart = 0
    }
  }
}

const withoutEnd = (text: string): string =>
  text.endsWith('\r\n') ? text.slice(0, -2) : text.endsWith('\n') ? text.slice(0, -1) : text

/** The longest end of the text that has at most so many bytes, from a code point on. */
function endOf(text: string, bytes: number): string {
  // A code unit has one byte at least and three at most.
  let kept = text.slice(Math.max(0, text.length - bytes))
  for (let over = Buffer.byteLength(kept) - bytes; over > 0; over = Buffer.byteLength(kept) - bytes)
    kept = kept.slice(Math.ceil(over / 3))
  return /^[\udc00-\udfff]/.test(kept) ? kept.slice(1) : kept
}

/** The longest start of the text that has at most so many bytes, at a code point. */
function cutBytes(text: string, bytes: number): string {
  let cut = Math.min(text.length, bytes)
  while (cut > 0 && Buffer.byteLength(text.slice(0, cut)) > bytes)
    cut -= Math.max(1, Math.ceil((Buffer.byteLength(text.slice(0, cut)) - bytes) / 3))
  const last = text.charCodeAt(cut - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? cut - 1 : cut)
}
