/** The engines of one project for the time of one hook call. What must last is in the store. */
import { createKeelEngine } from '../keel/engine.ts'
import { systemTimers } from '../node/timers.ts'
import { createOutrigger, type Door, type Outrigger } from '../runtime/outrigger.ts'
import type { Project } from '../runtime/project.ts'
import type { AnyEngine } from '../session/engine.ts'

export const hookDoor: Door = {
  name: 'hook',
  carries: new Set(['add-context', 'hold-stop', 'watch']),
  contextAt: new Set(['session-started', 'compacted', 'person-spoke', 'turn-started', 'tool-finished']),
  narrow: true,
  shortLived: true,
}

/** @param warn - hears why an engine cannot take part. */
export function composeForHook(project: Project, warn: (error: unknown) => void): Outrigger {
  return createOutrigger({
    root: project.root,
    store: () => project.sessionStore(),
    clock: project.clock,
    timers: systemTimers,
    engines: enginesOf(project, warn),
    ledger: project.ledger,
    door: hookDoor,
    modes: () => project.modes.list().map(mode => mode.name),
  })
}

function enginesOf(project: Project, warn: (error: unknown) => void): readonly AnyEngine[] {
  try {
    return [createKeelEngine(project.keel(), project.keelDeps(), { hasAckTool: false })]
  } catch (error) {
    // A fault in the engine's configuration: it stands aside, the host goes on.
    warn(error)
    return []
  }
}
