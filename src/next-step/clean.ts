/** Raw text of a model or a rule, made one plain line: no signs that a terminal or a reader could be fooled by, no dress around it. */
import { cutEnd } from '../text/data.ts'

const maxRaw = 4_000

/** Escape sequences of terminals; each alternative stops at the next escape, so that the whole is linear. */
const ansi = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[@-Z\\^_]?/g
/** Controls but line feeds, bidi and zero-width marks, soft hyphen, BOM, tag characters. */
const unseen =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/gu

/** Controls and marks out, NFC. Lines stay. */
export function plain(raw: string): string {
  return cutEnd(raw, maxRaw)
    .toWellFormed()
    .replaceAll('\ufffd', '')
    .replace(ansi, '')
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replaceAll('\t', ' ')
    .replace(unseen, '')
    .normalize('NFC')
}

const label = '(?:next steps?|suggestion|prompt|user|human|answer)'
const labelOnly = new RegExp(`^[\\s>#*_~\`-]{0,20}${label}[\\s*_~\`]{0,8}[:：][\\s*_~\`]{0,8}$`, 'i')
const labelBefore = new RegExp(`^[*_~\`]{0,3}${label}[*_~\`]{0,3}\\s?[:：][*_~\`]{0,3}\\s*`, 'i')
const isFence = (line: string) => /^(?:`{3,}|~{3,})/.test(line)

/** The line that counts: the first that is no fence and no label, joined to the next where it ends in a colon. */
export function firstLine(text: string): string {
  const lines = text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !isFence(line) && !labelOnly.test(line))
  const [first = '', second] = lines
  return /[:：]$/.test(first) && second !== undefined ? `${first} ${unwrap(second)}` : first
}

const markers = [
  /^(?:[-*+•‣◦▪–—]|\d{1,4}[.)])\s+/u,
  /^>\s+/,
  /^#{1,6}\s+/,
  /^(?:→|⇒|➜|➔|➤|▶|►|->|=>|-->)\s+/u,
  /^\[[ xX]\]\s+/,
  /^[☐☑☒]\s+/u,
]

const pairs: readonly (readonly [open: string, close: string])[] = [
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
  ['„', '“'],
  ['„', '”'],
  ['‘', '’'],
  ['‚', '‘'],
  ['«', '»'],
  ['»', '«'],
  ['‹', '›'],
  ['「', '」'],
  ['『', '』'],
  ['**', '**'],
  ['__', '__'],
  ['~~', '~~'],
  ['`', '`'],
  ['*', '*'],
  ['_', '_'],
  ['(', ')'],
  ['[', ']'],
]

/** Without markers, labels and one pair around the whole, until nothing changes; white space collapsed. */
export function unwrap(line: string): string {
  let text = line.replace(/\s+/g, ' ').trim()
  for (let round = 0; round < 8; round++) {
    const before = text
    for (const marker of markers) text = text.replace(marker, '')
    text = text.replace(labelBefore, '')
    text = withoutPair(text).trim()
    if (text === before) break
  }
  return text
}

function withoutPair(text: string): string {
  for (const [open, close] of pairs) {
    if (text.length <= open.length + close.length || !text.startsWith(open) || !text.endsWith(close)) continue
    const inside = text.slice(open.length, text.length - close.length)
    // The pair goes around the whole: its signs do not close before the end.
    if (!inside.includes(open) && !inside.includes(close)) return inside
  }
  return text
}
