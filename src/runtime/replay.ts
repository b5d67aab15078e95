/**
 * The engines over a recorded session, against a view of the project that forgets what is written:
 * nothing in the project or its store changes, no model is called.
 */
import { createCompanionEngine } from '../companion/engine.ts'
import { createCompanion } from '../companion/project.ts'
import { createKeelEngine } from '../keel/engine.ts'
import { createKeelProject } from '../keel/project.ts'
import { createPackEngine } from '../pack/engine.ts'
import { createPack } from '../pack/project.ts'
import type { Action, EngineName } from '../session/actions.ts'
import type { AnyEngine } from '../session/engine.ts'
import type { SessionEvent } from '../session/events.ts'
import { overlayFiles } from './overlay-files.ts'
import type { Project } from './project.ts'
import { type Ended, play, type World } from './tape.ts'
import { createWithLease } from './with-lease.ts'

/** One action, as `outrigger replay --json` prints it. */
export interface ReplayLine {
  readonly schema: 'outrigger.replay/1'
  /** From 1. */
  readonly n: number
  /** ISO 8601. */
  readonly at: string
  /** Kind of the event, or `timer`. */
  readonly on: string
  readonly session: string
  readonly action: { readonly engine: EngineName; readonly kind: string } & Readonly<Record<string, unknown>>
}

export interface ReplaySummary extends Ended {
  readonly schema: 'outrigger.replay.summary/1'
}

/** Engines that this version has, each over the view of a replay. */
const makers: Readonly<Record<'keel' | 'companion' | 'pack', (project: Project, world: World) => AnyEngine>> = {
  keel: (project, { clock, store }) => {
    const real = project.keelDeps()
    const deps = {
      ...real,
      files: overlayFiles(project.files, clock),
      clock,
      // A replay's time is not the project's: what it learns about files is not kept.
      cache: { load: (header: string) => real.cache.load(header), save: async () => true },
      watcher: { watch: () => ({ close: () => {} }) },
      store: async () => store,
      withLease: createWithLease({ store: async () => store, owner: () => project.processes.owner() }),
    }
    return createKeelEngine(createKeelProject(deps), deps, { hasAckTool: true })
  },
  companion: (project, { clock }) => {
    const real = project.companion().deps
    return createCompanionEngine(
      createCompanion({
        ...real,
        files: overlayFiles(project.files, clock),
        clock,
        cache: name => ({ load: header => real.cache(name).load(header), save: async () => true }),
      }),
      { isPatient: true },
    )
  },
  pack: (project, { clock, store }) => {
    const deps = {
      ...project.packDeps(),
      files: overlayFiles(project.files, clock),
      clock,
      store: async () => store,
      withLease: createWithLease({ store: async () => store, owner: () => project.processes.owner() }),
    }
    return createPackEngine(createPack(deps), deps)
  },
}

export type ReplayEngine = keyof typeof makers
export const replayEngines: readonly ReplayEngine[] = Object.keys(makers) as ReplayEngine[]

export interface ReplayOptions {
  /** Default: all. */
  readonly engines?: readonly ReplayEngine[]
  readonly drainMs: number
}

/** Throws what the configuration of an engine throws. */
export async function* replay(
  project: Project,
  events: AsyncIterable<SessionEvent>,
  { engines = replayEngines, drainMs }: ReplayOptions,
): AsyncGenerator<ReplayLine | ReplaySummary> {
  let n = 0
  const lines = play(events, {
    root: project.root,
    engines: world => engines.map(name => makers[name](project, world)),
    decode: event => event,
    encode: ({ at, on, byTimer, session, action }): ReplayLine => {
      n += 1
      return {
        schema: 'outrigger.replay/1',
        n,
        at: new Date(at).toISOString(),
        on: byTimer ? 'timer' : on,
        session,
        action: documentOf(action),
      }
    },
    drainMs,
  })
  for (;;) {
    const next = await lines.next()
    if (next.done !== true) yield next.value
    else {
      yield { schema: 'outrigger.replay.summary/1', ...next.value }
      return
    }
  }
}

function documentOf({ engine, kind, ...rest }: Action): ReplayLine['action'] {
  return { engine, kind, ...rest }
}
