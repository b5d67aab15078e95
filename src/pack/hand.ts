/** What a person changed in a state, as operations. Pure. */
import { scalarKeys } from './entry-lines.ts'
import { parseState, type StateRow } from './state-file.ts'

/** @param written - as it was written last; @param edited - as it is now. */
export function handEdits(written: string, edited: string): readonly (readonly [key: string, value: string])[] {
  const before = parseState(written)
  const after = parseState(edited)
  if (before === null || after === null) return []
  const values: (readonly [string, string])[] = []
  for (const key of scalarKeys) {
    const now = after.scalars[key]
    if (now !== null && now !== before.scalars[key]) values.push([key, now])
  }
  const shown = new Map(before.rows.flatMap(row => (row.id === null ? [] : [[row.id, row] as const])))
  const kept = new Set<string>()
  for (const row of after.rows) {
    const old = row.id === null ? undefined : shown.get(row.id)
    if (old === undefined || kept.has(row.id!)) {
      // An id that was not shown is part of what somebody wrote.
      values.push([row.section, row.id === null ? row.text : `${row.text}${row.mark} (${row.id})`])
      continue
    }
    if (old.section !== row.section) {
      values.push([row.section, row.text])
      continue
    }
    kept.add(row.id!)
    if (old.text !== row.text) values.push(['edit', `${row.id} ${row.text}`])
  }
  for (const [id, row] of shown) if (!kept.has(id)) values.push(removal(id, row))
  return values
}

function removal(id: string, row: StateRow): readonly [string, string] {
  const key = row.section === 'decisions' ? 'retire_superseded' : 'retire_dropped'
  return [key, `${id} — removed by hand`]
}
