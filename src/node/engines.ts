/**
 * The engines that take part in sessions, made from a project: the one table behind every door. A new engine
 * is a row here; what differs between doors is an option.
 */
import { createCompanionEngine } from '../companion/engine.ts'
import { createKeelEngine } from '../keel/engine.ts'
import { createPackEngine } from '../pack/engine.ts'
import { nextEngineOf } from '../runtime/next.ts'
import type { Project } from '../runtime/project.ts'
import type { EngineName } from '../session/actions.ts'
import type { AnyEngine } from '../session/engine.ts'

/** What a door offers to the engines beside carrying their actions. */
export interface EngineOptions {
  /** The agent has our tools: engines name them instead of command lines. */
  readonly hasTools: boolean
  /** The host has a place of its own in the system prompt for what an engine teaches; else it is said when a session starts. */
  readonly hasPromptSection: boolean
}

type Make = (project: Project, options: EngineOptions) => AnyEngine

/** In the order in which engines hear an event. Making one throws what its section of the configuration throws. */
export const makers: Readonly<Partial<Record<EngineName, Make>>> = {
  keel: (project, { hasTools }) => createKeelEngine(project.keel(), project.keelDeps(), { hasAckTool: hasTools }),
  companion: project => createCompanionEngine(project.companion()),
  pack: (project, { hasPromptSection }) =>
    createPackEngine(project.pack(), project.packDeps(), { teachesAtStart: !hasPromptSection }),
  next: project => nextEngineOf(project),
}

/**
 * All engines that can take part. One with a fault in its section stands aside by name, the others work.
 *
 * @param warn - hears why an engine cannot take part.
 */
export function makeEngines(
  project: Project,
  options: EngineOptions,
  warn: (error: unknown, engine: EngineName) => void,
): readonly AnyEngine[] {
  const engines: AnyEngine[] = []
  for (const [name, make] of Object.entries(makers) as [EngineName, Make][]) {
    try {
      engines.push(make(project, options))
    } catch (error) {
      project.modes.set(`${name}: config`, error instanceof Error ? error.message : String(error))
      warn(error, name)
    }
  }
  return engines
}
