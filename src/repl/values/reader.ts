/** A checked cursor over bytes: damage is one coded error, never a crash or an allocation beyond the input. */
import { OutriggerError } from '../../errors.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const floatBytes = new Uint8Array(8)
const floatView = new DataView(floatBytes.buffer)
const oneNaN = 0x7ff8000000000000n

export class Reader {
  readonly #bytes: Uint8Array
  #at: number

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes
    this.#at = at
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  damaged(what: string): OutriggerError {
    return new OutriggerError('REPL_BAD_VALUE', `stored value is damaged: ${what} at byte ${this.#at}`, {
      subject: String(this.#at),
      hint: 'run the cell again that made the value',
    })
  }

  byte(): number {
    const value = this.#bytes[this.#at]
    if (value === undefined) throw this.damaged('the end comes too early')
    this.#at++
    return value
  }

  count(): number {
    let byte = this.byte()
    if (byte < 0x80) return byte
    let value = byte & 0x7f
    let factor = 0x80
    for (let i = 1; i < 8; i++) {
      byte = this.byte()
      value += (byte & 0x7f) * factor
      if (byte < 0x80) {
        if (byte === 0) throw this.damaged('a number is longer than it needs to be')
        if (!Number.isSafeInteger(value)) throw this.damaged('a number is too large')
        return value
      }
      factor *= 0x80
    }
    throw this.damaged('a number does not end')
  }

  /** A count of things that take at least one byte each. */
  countOf(what: string): number {
    const value = this.count()
    if (value > this.left) throw this.damaged(`more ${what} than bytes`)
    return value
  }

  integer(): number {
    let zigzag = 0
    let factor = 1
    for (let i = 0; i < 7; i++) {
      const byte = this.byte()
      zigzag += (byte & 0x7f) * factor
      if (byte < 0x80) {
        if (byte === 0 && i > 0) throw this.damaged('a number is longer than it needs to be')
        return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
      }
      factor *= 0x80
    }
    // 49 bits are read; what is left can pass 2⁵³ before the sign is taken out.
    const last = this.byte()
    if (last >= 0x80) throw this.damaged('a number does not end')
    if (last === 0) throw this.damaged('a number is longer than it needs to be')
    const whole = BigInt(zigzag) + (BigInt(last) << 49n)
    const value = Number(whole % 2n === 0n ? whole / 2n : -(whole + 1n) / 2n)
    if (!Number.isSafeInteger(value)) throw this.damaged('an integer is not safe')
    return value
  }

  float(): number {
    floatBytes.set(this.raw(8))
    const value = floatView.getFloat64(0, true)
    if (Number.isNaN(value) && floatView.getBigUint64(0, true) !== oneNaN) throw this.damaged('another NaN')
    return value
  }

  raw(length: number): Uint8Array {
    if (length > this.left) throw this.damaged('the end comes too early')
    const part = this.#bytes.subarray(this.#at, this.#at + length)
    this.#at += length
    return part
  }

  utf8(): string {
    const length = this.countOf('bytes of text')
    if (length <= 24) {
      // Short ASCII without the decoder's overhead.
      let text = ''
      let i = 0
      for (; i < length; i++) {
        const byte = this.#bytes[this.#at + i]!
        if (byte > 0x7f) break
        text += String.fromCharCode(byte)
      }
      if (i === length) {
        this.#at += length
        return text
      }
    }
    const bytes = this.raw(length)
    try {
      return utf8.decode(bytes)
    } catch {
      throw this.damaged('a text is not UTF-8')
    }
  }

  utf16(): string {
    const bytes = this.raw(this.countOf('bytes of text'))
    if (bytes.length % 2 === 1) throw this.damaged('half a UTF-16 unit')
    const parts: string[] = []
    for (let start = 0; start < bytes.length; start += 8192) {
      const units: number[] = []
      for (let i = start; i < Math.min(bytes.length, start + 8192); i += 2) units.push(bytes[i]! | (bytes[i + 1]! << 8))
      parts.push(String.fromCharCode(...units))
    }
    return parts.join('')
  }
}
