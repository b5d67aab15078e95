/**
 * What a client writes, line by line, before the library sees it: the library ends the connection at a line that
 * is longer than its buffer. Here such a line is dropped as it comes, and its request is answered with an error.
 */
import { Transform, type TransformCallback } from 'node:stream'

/** In bytes, without the line feed; below the 10 MiB that the library holds. */
export const longestLine = 8_388_608
const edge = 1_024
const newline = 10

const idAtStart = /^\s*\{(?:\s*"[^"\\]*"\s*:\s*(?:"[^"\\]*"|[\d.]+|true|false|null)\s*,)*?\s*"id"\s*:\s*(\d{1,15}|"[^"\\]*")\s*,/
const idAtEnd = /"id"\s*:\s*(\d{1,15}|"[^"\\]*")\s*\}\s*$/

/**
 * Passes lines of at most `longestLine` bytes, each whole.
 * @param refuse - called once a longer line; `id` is that of its request, `null` where neither end of the line shows it.
 */
export function wholeLines(refuse: (id: string | number | null) => void): Transform {
  let parts: Buffer[] = []
  let size = 0
  let head = ''
  let tail = Buffer.alloc(0)

  const take = (part: Buffer): void => {
    const isFirstOver = size <= longestLine && size + part.length > longestLine
    size += part.length
    if (size <= longestLine) {
      parts.push(part)
      return
    }
    if (isFirstOver) {
      const held = Buffer.concat([...parts, part])
      parts = []
      head = held.toString('utf8', 0, edge)
      tail = Buffer.from(held.subarray(-edge))
      return
    }
    tail = Buffer.concat([tail, part.subarray(-edge)]).subarray(-edge)
  }

  const finish = (stream: Transform): void => {
    if (size <= longestLine) stream.push(Buffer.concat(parts))
    else refuse(requestOf(head, tail.toString('utf8')))
    parts = []
    size = 0
    head = ''
    tail = Buffer.alloc(0)
  }

  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      let start = 0
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, start)) {
        take(chunk.subarray(start, at))
        if (size <= longestLine) parts.push(chunk.subarray(at, at + 1))
        finish(this)
        start = at + 1
      }
      if (start < chunk.length) take(chunk.subarray(start))
      done()
    },
  })
}

function requestOf(head: string, tail: string): string | number | null {
  const found = idAtEnd.exec(tail) ?? idAtStart.exec(head)
  return found === null ? null : (JSON.parse(found[1]!) as string | number)
}
