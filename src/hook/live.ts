/** The engines of one project for the time of one hook call. What must last is in the store. */
import { makeEngines } from '../node/engines.ts'
import { systemTimers } from '../node/timers.ts'
import { createOutrigger, type Door, type Outrigger } from '../runtime/outrigger.ts'
import type { Project } from '../runtime/project.ts'

export const hookDoor: Door = {
  name: 'hook',
  carries: new Set(['add-context', 'hold-stop', 'watch']),
  contextAt: new Set(['session-started', 'compacted', 'person-spoke', 'turn-started', 'tool-finished']),
  narrow: true,
  shortLived: true,
}

/**
 * What an engine teaches is the affair of the host's own text (a skill, a file of instructions): said by a hook it would stand in every project.
 *
 * @param warn - hears why an engine cannot take part.
 */
export function composeForHook(project: Project, warn: (error: unknown) => void): Outrigger {
  return createOutrigger({
    root: project.root,
    store: () => project.sessionStore(),
    clock: project.clock,
    timers: systemTimers,
    engines: makeEngines(project, { hasTools: false, hasPromptSection: true }, warn),
    ledger: project.ledger,
    door: hookDoor,
    modes: () => project.modes.list().map(mode => mode.name),
  })
}
