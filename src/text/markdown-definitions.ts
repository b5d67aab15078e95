/**
 * Link reference definitions at the start of a paragraph. They matter to block structure: a paragraph of
 * nothing but definitions is no paragraph, so an underline of `===` below it makes no heading.
 */

/** A label has at most 999 characters, so what begins with `[` and is no label is given up early. */
const maxLabel = 999
const maxParentheses = 32

/**
 * @param content - lines of the paragraph joined by LF, without leading blanks.
 * @returns how many lines, from the first, are definitions.
 */
export function countDefinitionLines(content: string): number {
  let lines = 0
  let at = 0
  while (content[at] === '[') {
    const end = definitionEnd(content, at)
    if (end === -1) break
    for (let i = at; i < end; i++) if (content[i] === '\n') lines++
    if (end === content.length && content[end - 1] !== '\n') lines++
    at = end
  }
  return lines
}

/** Offset after the line end of the definition that begins at `start`, or -1. */
function definitionEnd(text: string, start: number): number {
  const label = labelEnd(text, start)
  if (label === -1 || text[label] !== ':') return -1
  const destination = destinationEnd(text, skipBlanks(text, label + 1))
  if (destination === -1) return -1
  const beforeTitle = skipBlanks(text, destination)
  if (beforeTitle > destination) {
    const title = titleEnd(text, beforeTitle)
    const end = title === -1 ? -1 : lineEnd(text, title)
    if (end !== -1) return end
  }
  return lineEnd(text, destination)
}

function labelEnd(text: string, start: number): number {
  let filled = false
  const limit = Math.min(text.length, start + maxLabel + 2)
  for (let i = start + 1; i < limit; i++) {
    const char = text[i]!
    if (char === ']') return filled ? i + 1 : -1
    if (char === '[') return -1
    if (char === '\\') i++
    if (!/\s/.test(char)) filled = true
  }
  return -1
}

/** Blanks with at most one line end among them. */
function skipBlanks(text: string, from: number): number {
  const blank = skipSpaces(text, from)
  return text[blank] === '\n' ? skipSpaces(text, blank + 1) : blank
}

function skipSpaces(text: string, from: number): number {
  let i = from
  while (text[i] === ' ' || text[i] === '\t') i++
  return i
}

/** Offset after the line end when only blanks are left on the line, or -1. */
function lineEnd(text: string, from: number): number {
  const end = skipSpaces(text, from)
  if (end >= text.length) return text.length
  return text[end] === '\n' ? end + 1 : -1
}

function destinationEnd(text: string, start: number): number {
  if (text[start] === '<') {
    for (let i = start + 1; i < text.length; i++) {
      const char = text[i]
      if (char === '>') return i + 1
      if (char === '<' || char === '\n') return -1
      if (char === '\\' && text[i + 1] !== '\n') i++
    }
    return -1
  }
  let depth = 0
  let i = start
  for (; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === 92 && isPunctuation(text.charCodeAt(i + 1))) i++
    else if (char === 40) {
      if (++depth > maxParentheses) return -1
    } else if (char === 41) {
      if (depth === 0) break
      depth--
    } else if (char <= 32 || char === 127) break
  }
  return i === start || depth > 0 ? -1 : i
}

function titleEnd(text: string, start: number): number {
  const open = text[start]
  const close = open === '"' || open === "'" ? open : open === '(' ? ')' : null
  if (close === null) return -1
  for (let i = start + 1; i < text.length; i++) {
    const char = text[i]
    if (char === close) return i + 1
    if (char === '(' && close === ')') return -1
    if (char === '\\') i++
  }
  return -1
}

/** ASCII punctuation, the only characters a backslash escapes. */
export function isPunctuation(unit: number): boolean {
  return (unit >= 33 && unit <= 47) || (unit >= 58 && unit <= 64) || (unit >= 91 && unit <= 96) || (unit >= 123 && unit <= 126)
}
