/** Where frontmatter lies in a document. What it says is read elsewhere. */

export interface FrontmatterFence {
  /** Of the opening line. */
  readonly start: number
  /** After the closing line, its line end included. */
  readonly end: number
  /** Of what lies between the two lines. */
  readonly innerStart: number
  readonly innerEnd: number
}

const opening = /^\uFEFF?---[ \t]*(?:\r\n|\n|\r)/
const closing = /(?<=[\r\n])(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|$)/g

/** Offsets are UTF-16 units. `null`: the first line is no `---`, or no later line closes it. */
export function findFrontmatter(text: string): FrontmatterFence | null {
  const open = opening.exec(text)
  if (open === null) return null
  const innerStart = open[0].length
  const search = new RegExp(closing)
  search.lastIndex = innerStart
  const close = search.exec(text)
  if (close === null) return null
  return { start: text.charCodeAt(0) === 0xfeff ? 1 : 0, end: close.index + close[0].length, innerStart, innerEnd: close.index }
}
