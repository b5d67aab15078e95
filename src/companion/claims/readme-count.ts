/** The number below `## Expected count`. */
import { outlineMarkdown } from '../../text/markdown.ts'
import { createOffsets } from '../../text/utf8.ts'

export interface ReadCount {
  readonly n: number
  /** From 1. */
  readonly line: number
  readonly column: number
  readonly text: string
}

/** 1–7 digits or comma groups of three, as a whole word. */
const counted = /(?<![\w.,-])(\d{1,3}(?:,\d{3})+|\d{1,7})[ \t]+PASS(?!\w)/

/** @param literal - the older reading: the first number after the first such text, anywhere. */
export function readExpectedCount(source: string, literal = false): ReadCount | null {
  const text = blankComments(source.replace(/^\uFEFF/, ''))
    .replaceAll('\r\n', '\n')
    .replaceAll('\r', '\n')
  if (literal) return readLiterally(text)
  const bytes = Buffer.from(text)
  const heading = outlineMarkdown(text).headings.find(each => each.level === 2 && each.raw === 'Expected count')
  if (heading === undefined) return null
  const before = bytes.subarray(0, heading.span.end).toString()
  const section = bytes.subarray(heading.span.end, heading.section.end).toString()
  const firstLine = before.split('\n').length
  for (const [index, line] of section.split('\n').entries()) {
    const match = counted.exec(line.replace(/[*_|`\u00a0]/g, ' '))
    if (match !== null) return { n: numberOf(match[1]!), line: firstLine + index, column: match.index + 1, text: match[0] }
  }
  return null
}

function readLiterally(text: string): ReadCount | null {
  const at = text.indexOf('## Expected count')
  if (at === -1) return null
  const match = /(\d+) PASS/.exec(text.slice(at))
  if (match === null) return null
  const { line, column } = createOffsets(text).placeOf(at + match.index)
  return { n: Number(match[1]), line, column, text: match[0] }
}

/** Line ends stay, so that lines keep their numbers. */
export function blankComments(text: string): string {
  if (!text.includes('<!--')) return text
  let out = ''
  let from = 0
  for (let at = text.indexOf('<!--'); at !== -1; at = text.indexOf('<!--', from)) {
    const close = text.indexOf('-->', at + 4)
    const end = close === -1 ? text.length : close + 3
    out += text.slice(from, at) + text.slice(at, end).replace(/[^\r\n]/g, ' ')
    from = end
  }
  return out + text.slice(from)
}

export const numberOf = (digits: string): number => Number(digits.replaceAll(',', ''))
