/**
 * Frontmatter as most of it is written: keys with a few words each and one list of sources, without
 * quotes, anchors or comments. Read line by line, with the outcome that a YAML parser has, in a tenth of its time.
 */
import { type Item, literalItem } from './draft.ts'
import { readEntry } from './entry.ts'

const otherKey = /(?!sources?:)[A-Za-z_][\w-]*: +[A-Za-z0-9_][\w ./-]*\n/y
const sourcesKey = /sources?:\n/y
/** No word that YAML takes for another thing than text has a dot or slash in it, and a number is kept as it is written. */
const listItem = /( *- +)([A-Za-z0-9_][\w./#%-]*(?: @[0-9a-f]{12})?)\n/y
const hasDotOrSlash = /^[^ ]*[./]/

/** @returns the items of the list; `null`: some line is of another kind, and YAML must read it all. */
export function readSimple(text: string, start: number, end: number): readonly Item[] | null {
  const items: Item[] = []
  let at = start
  const take = (shape: RegExp): RegExpExecArray | null => {
    shape.lastIndex = at
    const found = shape.exec(text)
    if (found !== null) at += found[0].length
    return found
  }
  const skipKeys = () => {
    while (at < end && take(otherKey) !== null);
  }
  skipKeys()
  if (at >= end || take(sourcesKey) === null) return null
  let dash: string | undefined
  while (at < end) {
    const from = at
    const found = take(listItem)
    if (found === null) break
    const [, before, raw] = found as unknown as [string, string, string]
    dash ??= before
    const read = readEntry(raw)
    if (before !== dash || !hasDotOrSlash.test(raw) || read === null) return null
    const itemStart = from + before.length
    items.push({ ...literalItem(read, 'plain', itemStart), start: itemStart, end: itemStart + raw.length })
  }
  skipKeys()
  return at === end && items.length > 0 ? items : null
}
