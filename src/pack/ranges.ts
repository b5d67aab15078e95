/** Names for lines that were left out: ranges of entries, single lines. Pure. */
import type { Line } from './fold.ts'

/**
 * Over the entries that have live lines, in order: neighbours whose live lines are all left out are one range, an
 * entry that is partly left out names its lines.
 *
 * @param live - sorted; @param isOut - was this line left out?
 */
export function rangesOf(live: readonly Line[], isOut: (line: Line) => boolean): readonly string[] {
  const names: string[] = []
  let run: { readonly first: string; last: string } | undefined
  const close = (): void => {
    if (run !== undefined) names.push(run.first === run.last ? run.first : `${run.first}-${run.last}`)
    run = undefined
  }
  for (const lines of byEntry(live)) {
    const out = lines.filter(isOut)
    const id = lines[0]!.entry
    if (out.length === lines.length && !id.includes('~')) {
      if (run === undefined) run = { first: id, last: id }
      else run.last = id
      continue
    }
    close()
    if (out.length === lines.length) names.push(id)
    else names.push(...out.map(line => line.shownId))
  }
  close()
  return names
}

function* byEntry(live: readonly Line[]): Generator<readonly Line[]> {
  for (let at = 0; at < live.length; ) {
    let end = at + 1
    while (end < live.length && live[end]!.entry === live[at]!.entry) end++
    yield live.slice(at, end)
    at = end
  }
}

/** For a line of at most 400 characters: the ranges, or the range that holds them all. */
export function shortRanges(names: readonly string[]): string {
  const text = names.join(', ')
  if (text.length <= 400) return text
  const entry = (name: string): string => name.split('.')[0]!
  return `within ${entry(names[0]!).split('-')[0]}-${entry(names.at(-1)!).split('-').at(-1)}`
}
