/** The cells of a session, as a reader asks for them. */
import type { JournalState } from './journal-state.ts'
import type { History, HistoryQuery } from './types.ts'

/** @param running - the cell that runs now. @param source - of a cell, as submitted. */
export async function historyOf(
  state: JournalState,
  query: HistoryQuery,
  running: number | undefined,
  source: (cell: number) => Promise<string | undefined>,
): Promise<History> {
  const { from = 1, to = Number.POSITIVE_INFINITY, limit = 100 } = query
  const wanted = [...state.cells.values()].filter(({ begin }) => begin.cell >= from && begin.cell <= to).slice(-limit)
  const cells = await Promise.all(
    wanted.map(async ({ begin, end }) => {
      const text = (await source(begin.cell)) ?? ''
      const names = end === undefined ? [] : [...end.names.added, ...end.names.changed].map(each => each.name)
      return {
        cell: begin.cell,
        parent: begin.parent,
        at: new Date(begin.at).toISOString(),
        outcome: end?.outcome ?? (begin.cell === running ? ('running' as const) : ('exited' as const)),
        class: end?.class ?? ('effect' as const),
        lines: text.replace(/(?:\r\n|[\n\r])$/, '').split(/\r\n|[\n\r\u2028\u2029]/).length,
        names: [...new Set([...names, ...(end?.names.removed ?? [])])].sort(),
        ...(begin.description !== undefined && { description: begin.description }),
        ...(begin.edit !== undefined && { edit: { target: begin.edit.target } }),
        ...(query.source === true && { source: text }),
      }
    }),
  )
  return { cells, head: state.head }
}
