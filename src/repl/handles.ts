/** Values that were too long or no JSON, kept so that a reader can page through them: the newest 32, on disk up to 8 MiB each. */
import { OutriggerError } from '../errors.ts'
import type { Journal } from './journal.ts'
import type { EndRecord, Page, PageQuery } from './types.ts'
import type { Graph } from './values/graph.ts'
import { pageGraph } from './values/page.ts'
import { parseGraph } from './values/parse.ts'

const kept = 32
const maxStoredBytes = 8 * 1024 * 1024

export interface Handles {
  keep(handle: string, bytes: Uint8Array): void
  /** The field of the `end` record that finds the value again. */
  store(bytes: Uint8Array): Promise<Pick<EndRecord, 'value'>>
  /** Throws `REPL_UNKNOWN_HANDLE`, `REPL_BAD_REQUEST` when the path leads nowhere. */
  page(query: PageQuery): Promise<Page>
}

export function createHandles(journal: Journal): Handles {
  const values = new Map<string, Uint8Array>()
  let parsed: { readonly handle: string; readonly graph: Graph } | undefined

  async function bytesOf(handle: string): Promise<Uint8Array> {
    const live = values.get(handle)
    if (live !== undefined) return live
    const cell = /^v(\d+)$/.exec(handle)?.[1]
    const value =
      cell === undefined || !isAmongNewest(journal, Number(cell)) ? undefined : journal.state.cells.get(Number(cell))?.end?.value
    const text = value === undefined ? undefined : await journal.load(value)
    if (text === undefined) {
      throw new OutriggerError('REPL_UNKNOWN_HANDLE', `there is no value ${handle}`, {
        subject: handle,
        hint: `the newest ${kept} are kept; return the value again`,
      })
    }
    const bytes = new Uint8Array(Buffer.from(text, 'base64'))
    values.set(handle, bytes)
    return bytes
  }

  return {
    keep: (handle, bytes) => {
      values.set(handle, bytes)
      const oldest = values.keys().next()
      if (values.size > kept && !oldest.done) values.delete(oldest.value)
    },
    store: async bytes => {
      if (bytes.length > maxStoredBytes) return {}
      // No pattern finds anything in this form, and a change would damage it.
      const part = await journal.part(Buffer.from(bytes).toString('base64'), { isMasked: true })
      return { value: part }
    },
    page: async ({ handle, path, offset, limit }) => {
      if (parsed?.handle !== handle) parsed = { handle, graph: parseGraph(await bytesOf(handle)) }
      return pageGraph(parsed.graph, path, offset, limit)
    },
  }
}

function isAmongNewest(journal: Journal, cell: number): boolean {
  const withValue = [...journal.state.cells.values()].filter(({ end }) => end?.value !== undefined).map(({ begin }) => begin.cell)
  return withValue.slice(-kept).includes(cell)
}
