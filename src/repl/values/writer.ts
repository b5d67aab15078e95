/** Growing bytes to write into. */
import type { LimitName } from './limits.ts'

/** Thrown to end an encoding that grew over a limit; never leaves `encode.ts`. */
export class OverLimit extends Error {
  readonly limit: LimitName
  constructor(limit: LimitName) {
    super(limit)
    this.limit = limit
  }
}

const encoder = new TextEncoder()
const floatBytes = new Uint8Array(8)
const floatView = new DataView(floatBytes.buffer)

export class Writer {
  #bytes: Uint8Array = new Uint8Array(1024)
  #length = 0
  readonly #max: number

  constructor(maxBytes: number) {
    this.#max = maxBytes
  }

  #reserve(count: number): void {
    const needed = this.#length + count
    if (needed <= this.#bytes.length) return
    // Nine bytes of grace: numbers reserve more than they may need.
    if (needed > this.#max + 9) throw new OverLimit('bytes')
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }

  byte(value: number): void {
    if (this.#length === this.#bytes.length) this.#reserve(1)
    this.#bytes[this.#length++] = value
  }

  /** Unsigned LEB128 of an integer up to 2⁵³. */
  count(value: number): void {
    this.#reserve(8)
    let rest = value
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.#length++] = rest
  }

  /** Zigzag LEB128 of a safe integer. */
  integer(value: number): void {
    const doubled = value < 0 ? -value * 2 - 1 : value * 2
    if (doubled <= Number.MAX_SAFE_INTEGER) {
      this.count(doubled)
      return
    }
    let rest = value < 0 ? -BigInt(value) * 2n - 1n : BigInt(value) * 2n
    while (rest >= 0x80n) {
      this.byte(Number(rest & 0x7fn) | 0x80)
      rest >>= 7n
    }
    this.byte(Number(rest))
  }

  float(value: number): void {
    floatView.setFloat64(0, Number.isNaN(value) ? Number.NaN : value, true)
    if (Number.isNaN(value)) floatView.setBigUint64(0, 0x7ff8000000000000n, true)
    this.raw(floatBytes)
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** Byte length and UTF-8 of a well-formed text. */
  utf8(text: string): void {
    if (text.length > this.#max) throw new OverLimit('bytes')
    if (text.length <= 64) {
      // Short ASCII, by far the most common, without an intermediate array.
      this.#reserve(text.length + 1)
      const start = this.#length
      this.#bytes[this.#length++] = text.length
      let i = 0
      for (; i < text.length; i++) {
        const unit = text.charCodeAt(i)
        if (unit > 0x7f) break
        this.#bytes[this.#length++] = unit
      }
      if (i === text.length) return
      this.#length = start
    }
    const bytes = encoder.encode(text)
    this.count(bytes.length)
    this.raw(bytes)
  }

  utf16(text: string): void {
    if (text.length * 2 > this.#max) throw new OverLimit('bytes')
    this.count(text.length * 2)
    this.#reserve(text.length * 2)
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      this.#bytes[this.#length++] = unit & 0xff
      this.#bytes[this.#length++] = unit >> 8
    }
  }

  finish(): Uint8Array {
    if (this.#length > this.#max) throw new OverLimit('bytes')
    return this.#bytes.slice(0, this.#length)
  }
}
