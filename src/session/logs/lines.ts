/** Bytes into lines, without holding more than one line. A line over 32 MiB is passed over. */

/** A file's bytes in pieces of any size. */
export type Chunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/** `undefined`: a line that is too long. Empty lines are left out. */
export type Line = string | undefined

export const maxLineBytes: number = 32 * 1024 * 1024

/** @param limit - bytes of one line; tests make it small. */
export async function* splitLines(chunks: Chunks, limit: number = maxLineBytes): AsyncGenerator<Line, void> {
  const decoder = new TextDecoder()
  let parts: Uint8Array[] = []
  let size = 0
  const add = (part: Uint8Array) => {
    size += part.length
    if (size <= limit) parts.push(part)
    else parts = []
  }
  const take = (): Line | '' => {
    const line = size > limit ? undefined : decoder.decode(join(parts, size))
    parts = []
    size = 0
    return line
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(0x0a, start); end !== -1; end = chunk.indexOf(0x0a, start)) {
      add(chunk.subarray(start, end))
      const line = take()
      if (line !== '' && line?.trim() !== '') yield line
      start = end + 1
    }
    if (start < chunk.length) add(chunk.slice(start))
  }
  if (size === 0) return
  const line = take()
  if (line?.trim() !== '') yield line
}

function join(parts: readonly Uint8Array[], size: number): Uint8Array {
  if (parts.length === 1) return parts[0]!
  const bytes = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** An object of a line; `undefined` for anything else. */
export function parseRow(line: Line): Row | undefined {
  if (line === undefined) return undefined
  try {
    const value: unknown = JSON.parse(line)
    return isRow(value) ? value : undefined
  } catch {
    // No JSON: the reader counts the line.
    return undefined
  }
}

export type Row = Readonly<Record<string, unknown>>

export const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined
export const rowOf = (value: unknown): Row => (isRow(value) ? value : {})
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The text of a message: a string, or its text blocks joined. */
export function blocksText(content: unknown, separator = ''): string {
  if (typeof content === 'string') return content
  const texts = listOf(content).flatMap(block => (rowOf(block)['type'] === 'text' ? (textOf(rowOf(block)['text']) ?? []) : []))
  return texts.join(separator)
}

/** ms since the epoch, or ISO 8601. */
export function timeOf(value: unknown): number | undefined {
  if (typeof value !== 'string') return numberOf(value)
  const time = Date.parse(value)
  return Number.isNaN(time) ? undefined : time
}
