/** What two revisions of a state say differently, line by line and with the reason. */
import { OutriggerError } from '../errors.ts'
import type { Pack } from './context.ts'
import { scalarKeys } from './entry-lines.ts'
import { pathsOf, readText } from './files.ts'
import { need } from './load.ts'
import { historyOf, textOfRevision } from './revisions.ts'
import { parseState, type StateFile, type StateRow } from './state-file.ts'
import type { DiffDocument, DiffLine } from './types.ts'

export async function diff(pack: Pack, stream: string, from?: number, to?: number): Promise<DiffDocument> {
  await need(pack, stream)
  const { deps } = pack
  const stateText = readText(deps, pathsOf(stream).state)
  const present = stateText === null ? 0 : (parseState(stateText)?.revision ?? 0)
  const last = to ?? present
  const first = from ?? Math.max(0, historyOf(deps, stream).findLast(revision => revision < last) ?? 0)
  const before = stateOf(pack, stream, first)
  const after = stateOf(pack, stream, last)
  const retired = new Map(pack.read(stream)?.folded.retired.map(one => [one.id, one.reason]))
  const left = new Map(before.rows.flatMap(row => (row.id === null ? [] : [[row.id, row] as const])))
  const added: DiffLine[] = []
  const changed: { id: string; section: StateRow['section']; from: string; to: string }[] = []
  for (const row of after.rows) {
    const { id, section, text } = row
    if (id === null) continue
    const old = left.get(id)
    if (old === undefined) added.push({ id, section, text })
    else if (old.text !== text || old.section !== section) changed.push({ id, section, from: old.text, to: text })
    left.delete(id)
  }
  const lines = pack.read(stream)?.folded.lines
  const liveIds = new Set([...(lines?.values() ?? [])].filter(line => line.state === 'live').map(line => line.shownId))
  const removed = [...left].map(([id, { section, text }]) => {
    const why = retired.has(id) ? ('retired' as const) : liveIds.has(id) ? ('dropped' as const) : ('gone' as const)
    return { id, section, text, why, reason: retired.get(id) ?? null }
  })
  const scalars = scalarKeys
    .map(key => ({ key, from: before.scalars[key] ?? '', to: after.scalars[key] ?? '' }))
    .filter(scalar => scalar.from !== scalar.to)
  return { stream, from: first, to: last, added, removed, changed, scalars }
}

const nothing: Pick<StateFile, 'rows' | 'scalars'> = { rows: [], scalars: { status: null, goal: null, deliverable: null } }

/** 0 is empty. */
function stateOf(pack: Pack, stream: string, revision: number): Pick<StateFile, 'rows' | 'scalars'> {
  if (revision === 0) return nothing
  const text = textOfRevision(pack.deps, stream, revision)
  const state = text === null ? null : parseState(pack.mask(text))
  if (state !== null) return state
  const kept = historyOf(pack.deps, stream)
  throw new OutriggerError('PACK_BAD_OPTION', `revision ${revision} of "${stream}" is not kept`, {
    subject: String(revision),
    hint: kept.length === 0 ? 'there are no earlier ones' : `kept are ${kept[0]} to ${kept.at(-1)}`,
  })
}
