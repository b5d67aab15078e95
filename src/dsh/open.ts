/** Opens the project of a session's folder and composes its engines, as the host's process needs it. */
import { resolve } from 'node:path'
import { OutriggerError } from '../errors.ts'
import { nodeFiles } from '../node/files.ts'
import { openProject } from '../node/open.ts'
import { systemTimers } from '../node/timers.ts'
import { createOutrigger, type Door } from '../runtime/outrigger.ts'
import { findRoot } from '../runtime/places.ts'
import { markOf } from '../runtime/progress.ts'
import type { Project } from '../runtime/project.ts'
import type { Action } from '../session/actions.ts'
import type { AnyEngine } from '../session/engine.ts'
import type { EngineRow, LiveProject, Opener } from './runtime.ts'

export const opener: Opener = { rootOf: cwd => findRoot(nodeFiles(), resolve(cwd)), open: openLive }

async function openLive(
  root: string,
  rows: readonly EngineRow[],
  deliver: (session: string, actions: readonly Action[]) => void,
  door: Door,
): Promise<LiveProject> {
  const overrides = rows.map(row => ({
    from: 'host' as const,
    section: row.name,
    get values() {
      return row.settings()
    },
  }))
  const project = await openProject({ cwd: root, env: process.env, door: 'dsh', isTerminal: false, overrides })
  const { engines, faults } = await enginesOf(project, rows)
  const outrigger = createOutrigger({
    root: project.root,
    store: () => project.sessionStore(),
    clock: project.clock,
    timers: systemTimers,
    engines,
    ledger: project.ledger,
    door,
    deliver,
    mark: markOf(project),
    modes: () => project.modes.list().map(mode => mode.name),
  })
  return { project, outrigger, faults }
}

/** An engine with a fault in its section of the configuration is left out by name; the others work. */
async function enginesOf(
  project: Project,
  rows: readonly EngineRow[],
): Promise<{ readonly engines: readonly AnyEngine[]; readonly faults: readonly string[] }> {
  const engines: AnyEngine[] = []
  const faults: string[] = []
  for (const row of rows) {
    try {
      engines.push(row.create(project))
    } catch (error) {
      if (!(error instanceof OutriggerError)) throw error
      project.modes.set(`${row.name}: config`, error.message)
      faults.push(`${row.name} is off here (${error.code}): ${error.message}`)
      const line = { what: 'failed', reason: error.code, text: error.message }
      await project.ledger.write([{ ...line, engine: row.name, session: null, turn: null }])
    }
  }
  return { engines, faults }
}
