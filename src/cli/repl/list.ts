/** The sessions of a project, without opening one. */
import type { Project } from '../../runtime/project.ts'

export interface ListedSession {
  readonly name: string
  readonly cells: number
  /** ISO 8601; `null` before the first cell. */
  readonly lastUse: string | null
  readonly mode: 'durable' | 'volatile'
  /** Bytes of its records as JSON. */
  readonly size: number
}

export async function listSessions(project: Project): Promise<readonly ListedSession[]> {
  if (!project.hasStore()) return []
  const store = await project.store()
  const streams = (await store.list('repl/')).filter(key => key.endsWith('/journal'))
  const sessions: ListedSession[] = []
  for (const stream of streams) {
    let cells = 0
    let last = 0
    let size = 0
    const names = new Set<string>()
    for await (const { record } of store.read(stream, 0)) {
      const fields = record as {
        k?: unknown
        at?: unknown
        names?: { added?: { name: string }[]; changed?: { name: string }[]; removed?: string[] }
        statuses?: { name: string; status: string }[]
      }
      size += Buffer.byteLength(JSON.stringify(record))
      if (typeof fields.at === 'number') last = Math.max(last, fields.at)
      if (fields.k === 'begin') cells++
      if (fields.k === 'end') {
        for (const { name } of [...(fields.names?.added ?? []), ...(fields.names?.changed ?? [])]) names.add(name)
        for (const name of fields.names?.removed ?? []) names.delete(name)
      }
      if (fields.k === 'recover') for (const { name, status } of fields.statuses ?? []) if (status === 'lost') names.delete(name)
    }
    const name = stream.slice('repl/'.length, -'/journal'.length)
    sessions.push({
      name,
      cells,
      lastUse: last === 0 ? null : new Date(last).toISOString(),
      mode: names.size === 0 ? 'durable' : 'volatile',
      size,
    })
  }
  return sessions
}
