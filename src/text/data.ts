/**
 * The only way by which text of files, logs or programs enters a prompt. Each form makes its own end
 * marks impossible inside the text, so that what was quoted can neither leave its frame nor begin a
 * line of ours. Pure; secrets are masked by the caller before (`redact.ts`).
 */

export interface FenceOptions {
  /** The sign that fences are made of. Default `` ` ``. */
  readonly sign?: '`' | '~'
  /** Shortest fence. Default 3. */
  readonly atLeast?: number
}

/**
 * A fenced block that its content cannot close: the fence is longer than every run of its sign inside.
 *
 * @param info - a word after the opening fence; everything but letters, digits, `-` and `_` is dropped.
 * @returns lines without a final line end.
 */
export function fence(text: string, info: string, options: FenceOptions = {}): string {
  const sign = options.sign ?? '`'
  const marks = sign.repeat(Math.max(options.atLeast ?? 3, longestRun(text, sign) + 1))
  const body = text === '' || text.endsWith('\n') ? text : `${text}\n`
  return `${marks}${info.replace(/[^A-Za-z0-9_-]/g, '')}\n${body}${marks}`
}

/** Length of the longest run of one sign. */
function longestRun(text: string, sign: string): number {
  let longest = 0
  let run = 0
  for (const character of text) {
    run = character === sign ? run + 1 : 0
    if (run > longest) longest = run
  }
  return longest
}

/**
 * A block between an opening and a closing mark that carry a nonce. Inside, every beginning of either
 * mark loses its `<`.
 *
 * @param tag - lower-case letters and `-`.
 * @param nonce - hex digits, fresh for each block.
 * @param attributes - written after the nonce; values lose quotes, angle brackets and line ends.
 */
export function block(tag: string, nonce: string, text: string, attributes: Readonly<Record<string, string>> = {}): string {
  const inside = text.replace(new RegExp(`<(?=/?\\s*${tag})`, 'gi'), '&lt;')
  const more = Object.entries(attributes).map(([name, value]) => ` ${name}="${value.replace(/["<>\r\n]/g, ' ')}"`)
  return `<${tag} nonce="${nonce}"${more.join('')}>\n${inside.endsWith('\n') ? inside : `${inside}\n`}</${tag} nonce="${nonce}">`
}

/** Text between `⟦record <hex>⟧` and `⟦end <hex>⟧`; these brackets become `[` and `]` inside. */
export function record(text: string, hex: string): string {
  const inside = text.replaceAll('⟦', '[').replaceAll('⟧', ']')
  return `⟦record ${hex}⟧\n${inside.endsWith('\n') ? inside : `${inside}\n`}⟦end ${hex}⟧`
}

/**
 * One line between double quotes: line ends and other control signs become escapes, quotes and
 * backslashes are escaped, the middle is left out above `max` UTF-16 units.
 */
export function quote(text: string, max: number): string {
  return `"${cutMiddle(text, max)
    .replace(/[\\"]/g, sign => `\\${sign}`)
    .replace(unprintable, escaped)}"`
}

/** A name of a file, heading or link as part of one of our lines: one line, no control or direction signs, at most `max` units. */
export function oneLine(text: string, max: number): string {
  return cutMiddle(text.replace(unprintable, escaped), max)
}

/** Controls, line and paragraph separators, direction overrides, zero-width signs, the BOM. */
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

/** Signs that turn the direction of what follows become U+FFFD: a name must look like what it is. */
export function withoutDirectionSigns(text: string): string {
  return text.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
}

function escaped(sign: string): string {
  if (sign === '\n') return '\\n'
  if (sign === '\r') return '\\r'
  if (sign === '\t') return '\\t'
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Both ends kept, `…` between; never splits a surrogate pair. */
export function cutMiddle(text: string, max: number): string {
  if (text.length <= max) return text
  const head = Math.ceil((max - 1) / 2)
  const tail = max - 1 - head
  return `${cutEnd(text, head)}…${dropStart(text, text.length - tail)}`
}

/** The first `max` UTF-16 units, one fewer when that would split a pair. */
export function cutEnd(text: string, max: number): string {
  if (text.length <= max) return text
  const last = text.charCodeAt(max - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max)
}

function dropStart(text: string, from: number): string {
  const first = text.charCodeAt(from)
  return text.slice(first >= 0xdc00 && first <= 0xdfff ? from + 1 : from)
}
