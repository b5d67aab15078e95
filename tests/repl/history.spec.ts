import { expect, it } from 'vitest'
import { historyOf } from '../../src/repl/history.ts'
import type { JournalState } from '../../src/repl/journal-state.ts'

it.each([
  ['return 1', 1],
  ['return 1\n', 1],
  ['return 1\r\n', 1],
  ['let a\nreturn 1\n', 2],
  ['let a\n\n', 2],
  ['', 1],
])('the cell %j has %d lines', async (text, lines) => {
  const begin = { cell: 1, parent: 0, at: 0 }
  const state = { cells: new Map([[1, { begin }]]), head: 1 } as unknown as JournalState
  const { cells } = await historyOf(state, {}, undefined, async () => text)
  expect(cells).toMatchObject([{ cell: 1, lines }])
})
