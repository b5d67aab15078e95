/** Bytes that arrive on descriptor 1 or 2 of a worker: text, and the marks that end a cell's output. */

const maxMark = 128

/**
 * @param nonce - of the marks, lower-case hex.
 * @param onText - text between marks, as it comes.
 * @param onMark - the output of that cell is complete.
 */
export class RawOutput {
  readonly #start: Uint8Array
  readonly #onText: (text: string) => void
  readonly #onMark: (cell: number) => void
  #decoder = new TextDecoder()
  #held = Buffer.alloc(0)

  constructor(nonce: string, onText: (text: string) => void, onMark: (cell: number) => void) {
    this.#start = Buffer.from(`\u0000outrigger ${nonce} `)
    this.#onText = onText
    this.#onMark = onMark
  }

  push(chunk: Uint8Array): void {
    let bytes =
      this.#held.length === 0 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) : Buffer.concat([this.#held, chunk])
    this.#held = Buffer.alloc(0)
    for (;;) {
      const at = bytes.indexOf(this.#start)
      const end = at < 0 ? -1 : bytes.indexOf(0, at + this.#start.length)
      if (at < 0 || (end < 0 && bytes.length - at > maxMark)) {
        const held = at < 0 ? this.#unfinished(bytes) : 0
        this.#text(bytes.subarray(0, bytes.length - held))
        // The chunk is only ours during the call.
        this.#held = Buffer.from(bytes.subarray(bytes.length - held))
        return
      }
      if (end < 0) {
        this.#text(bytes.subarray(0, at))
        this.#held = Buffer.from(bytes.subarray(at))
        return
      }
      this.#text(bytes.subarray(0, at))
      const rest = this.#decoder.decode()
      if (rest !== '') this.#onText(rest)
      this.#onMark(Number(bytes.toString('latin1', at + this.#start.length, end)))
      bytes = bytes.subarray(end + 1)
      if (bytes.length === 0) return
    }
  }

  /** No more will come. */
  end(): void {
    this.#text(this.#held)
    const rest = this.#decoder.decode()
    if (rest !== '') this.#onText(rest)
  }

  #text(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    const text = this.#decoder.decode(bytes, { stream: true })
    if (text !== '') this.#onText(text)
  }

  /** How many bytes at the end could be the beginning of a mark. */
  #unfinished(bytes: Buffer): number {
    const zero = bytes.lastIndexOf(0)
    if (zero < 0 || bytes.length - zero >= this.#start.length) return 0
    for (let i = zero; i < bytes.length; i++) if (bytes[i] !== this.#start[i - zero]) return 0
    return bytes.length - zero
  }
}
