/** A byte stream as lines, under a limit. */

/** Stands for a line that was over the limit. */
export const tooLong: unique symbol = Symbol('too long')

/** Ends early when the signal says so. A last line without an end counts. */
export async function* linesOf(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
  signal: AbortSignal,
): AsyncGenerator<string | typeof tooLong> {
  const decoder = new TextDecoder()
  let parts: Uint8Array[] = []
  let size = 0
  let isOver = false
  const take = (): string | typeof tooLong => {
    const line = isOver ? tooLong : decoder.decode(Buffer.concat(parts))
    parts = []
    size = 0
    isOver = false
    return line
  }
  const add = (piece: Uint8Array): void => {
    size += piece.length
    if (size > maxBytes) {
      isOver = true
      parts = []
    } else if (!isOver) parts.push(piece)
  }
  const chunks = stream[Symbol.asyncIterator]()
  const aborted = new Promise<{ readonly done: true }>(resolve => {
    if (signal.aborted) resolve({ done: true })
    signal.addEventListener('abort', () => resolve({ done: true }), { once: true })
  })
  for (;;) {
    const next = await Promise.race([chunks.next(), aborted])
    if (next.done) break
    let chunk = next.value
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10)) {
      add(chunk.subarray(0, end))
      chunk = chunk.subarray(end + 1)
      yield take()
    }
    if (chunk.length > 0) add(chunk)
  }
  if (size > 0) yield take()
}
