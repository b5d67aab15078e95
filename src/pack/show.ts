/** Entries by their exact ids, and what became of their lines. */
import type { Pack } from './context.ts'
import { pathsOf, readText } from './files.ts'
import type { Folded, FoldedEntry } from './fold.ts'
import { entryId, parseId, parseRange } from './ids.ts'
import { need } from './load.ts'
import { parseState } from './state-file.ts'
import type { ShowDocument, ShownEntry } from './types.ts'

export async function show(pack: Pack, stream: string, ids: readonly string[] = []): Promise<ShowDocument> {
  await need(pack, stream)
  const stateText = readText(pack.deps, pathsOf(stream).state)
  const state = stateText === null ? null : parseState(stateText)
  const shown = new Set(state?.rows.flatMap(row => row.id ?? []))
  const folded = pack.read(stream)?.folded ?? null
  const entryOf = (found: FoldedEntry): ShownEntry => shownEntry(pack, folded!, found, shown)
  if (ids.length === 0) {
    return {
      stream,
      entries: folded?.entries.map(entryOf) ?? [],
      missing: [],
      state: stateText === null ? null : { revision: state?.revision ?? 0, text: pack.mask(stateText) },
    }
  }
  const entries = new Map<string, FoldedEntry>()
  const missing: string[] = []
  for (const id of ids) {
    const found = findEntries(folded, id)
    if (found.length === 0) missing.push(id)
    for (const one of found) entries.set(one.entry.id, one)
  }
  const inOrder = folded?.entries.filter(({ entry }) => entries.has(entry.id)) ?? []
  return { stream, entries: inOrder.map(entryOf), missing, state: null }
}

function findEntries(folded: Folded | null, text: string): readonly FoldedEntry[] {
  if (folded === null) return []
  const range = parseRange(text)
  if (range !== null) return folded.entries.filter(({ entry }) => entry.number >= range.from && entry.number <= range.to)
  const id = parseId(text)
  if (id === null) return []
  return folded.entries.filter(
    ({ entry, lineIds }) =>
      entry.id === id.entry && (typeof id.clause !== 'number' || lineIds.includes(`${entry.id}.${id.clause}`)),
  )
}

function shownEntry(pack: Pack, folded: Folded, { entry, lineIds }: FoldedEntry, shown: ReadonlySet<string>): ShownEntry {
  return {
    id: entry.id,
    at: entry.time,
    session: entry.session,
    kind: entry.kind,
    flags: entry.flags,
    state: entry.state,
    text: pack.mask(entry.body),
    lines: lineIds.map(id => {
      const line = folded.lines.get(id)!
      return {
        id,
        section: line.section,
        keyword: line.keyword,
        text: pack.mask(line.text),
        state: line.state,
        shown: line.state === 'live' && shown.has(line.shownId),
      }
    }),
  }
}

export const cursorId = (cursor: number): string => (cursor === 0 ? 'c00' : entryId(cursor))
