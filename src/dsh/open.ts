/** Opens the project of a session's folder and composes its engines, as the host's process needs it. */
import { openProject } from '../node/open.ts'
import { systemTimers } from '../node/timers.ts'
import { createOutrigger } from '../runtime/outrigger.ts'
import { dshDoor } from './door.ts'
import type { OpenLive } from './runtime.ts'

export const openLive: OpenLive = async (cwd, rows, deliver) => {
  const project = await openProject({ cwd, env: process.env, door: 'dsh' })
  const outrigger = createOutrigger({
    root: project.root,
    store: () => project.store(),
    clock: project.clock,
    timers: systemTimers,
    engines: rows.map(row => row.create(project)),
    ledger: project.ledger,
    door: dshDoor,
    deliver,
    modes: () => project.modes.list().map(mode => mode.name),
  })
  return { project, outrigger }
}
