/** The sessions of a project, without opening one. */
import { readSession } from '../../repl/journal.ts'
import { createPaths } from '../../repl/path.ts'
import { namesAtRisk } from '../../repl/states.ts'
import { replConfig } from '../../runtime/config-repl.ts'
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
  const { recoverMs } = replConfig(project.config.section('repl'))
  const streams = (await store.list('repl/')).filter(key => key.endsWith('/journal'))
  const sessions: ListedSession[] = []
  for (const stream of streams) {
    const name = stream.slice('repl/'.length, -'/journal'.length)
    const { journal, lastUse, bytes } = await readSession(store, name)
    const risks = namesAtRisk(await createPaths(journal).current(), recoverMs)
    sessions.push({
      name,
      cells: journal.state.cells.size,
      lastUse: lastUse === 0 ? null : new Date(lastUse).toISOString(),
      mode: risks.length === 0 ? 'durable' : 'volatile',
      size: bytes,
    })
  }
  return sessions
}
