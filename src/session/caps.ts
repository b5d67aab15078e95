/** How much of a text an event carries. Cuts fall between code points. */

const encoder = new TextEncoder()
const answerBytes = 1024 * 1024
const outputHead = 12 * 1024
const outputTail = 4 * 1024
const inputBytes = 64 * 1024

/** `answer` and `text`: the first MiB. */
export const capText = (text: string): string => firstBytes(text, answerBytes)

/** `output`: 16 KiB, the first 12 and the last 4 with a line between that says what is missing. */
export function capOutput(text: string): string {
  if (text.length * 3 <= outputHead + outputTail) return text
  const size = encoder.encode(text).length
  if (size <= outputHead + outputTail) return text
  const head = firstBytes(text, outputHead)
  const tail = lastBytes(text, outputTail)
  const left = size - encoder.encode(head).length - encoder.encode(tail).length
  return `${head}\n… ${left} bytes left out …\n${tail}`
}

/** `input`: 64 KiB as JSON, else a note that it was cut. */
export function capInput(input: unknown): unknown {
  const json = JSON.stringify(input) ?? ''
  if (json.length * 3 <= inputBytes) return input
  return encoder.encode(json).length <= inputBytes ? input : { truncated: true }
}

/** The longest beginning of a text that is at most `max` bytes in UTF-8. */
export function firstBytes(text: string, max: number): string {
  if (text.length * 3 <= max) return text
  const { read } = encoder.encodeInto(text.length > max ? text.slice(0, max) : text, new Uint8Array(max))
  return withoutHalf(text.slice(0, read), text, read)
}

function lastBytes(text: string, max: number): string {
  let at = text.length
  let size = 0
  while (at > 0) {
    const isPair = at > 1 && isLow(text.charCodeAt(at - 1)) && isHigh(text.charCodeAt(at - 2))
    const width = isPair ? 4 : widthOf(text.charCodeAt(at - 1))
    if (size + width > max) break
    size += width
    at -= isPair ? 2 : 1
  }
  return text.slice(at)
}

const isHigh = (code: number) => code >= 0xd800 && code <= 0xdbff
const isLow = (code: number) => code >= 0xdc00 && code <= 0xdfff
const widthOf = (code: number) => (code < 0x80 ? 1 : code < 0x800 ? 2 : 3)

/** A cut between the halves of a pair takes the first half away too. */
function withoutHalf(head: string, text: string, end: number): string {
  return end < text.length && end > 0 && isHigh(text.charCodeAt(end - 1)) && isLow(text.charCodeAt(end))
    ? head.slice(0, -1)
    : head
}
