/**
 * The runtimes of the host's process: one a project, made when its first session starts. The row `core`
 * provides this as the service `outrigger`; engine rows switch their engine on through it.
 */
import type {} from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { Json } from '../ports/json.ts'
import type { Door, Outrigger } from '../runtime/outrigger.ts'
import type { Project } from '../runtime/project.ts'
import type { Action, EngineName } from '../session/actions.ts'
import type { AnyEngine } from '../session/engine.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    outrigger: DshService
  }
}

/** An engine as its row brings it. */
export interface EngineRow {
  readonly name: EngineName
  /** Keys of the engine's configuration section that the host sets, by dotted path; nearer than the files. */
  settings(): Readonly<Record<string, Json>>
  create(project: Project): AnyEngine
  /** It looks at its section whenever it needs it: a changed setting needs no new engine. */
  readonly readsLate?: boolean
}

export interface LiveProject {
  readonly project: Project
  readonly outrigger: Outrigger
  /** Engines that are switched on and cannot work here, each with the reason in one line. */
  readonly faults: readonly string[]
}

export interface Opener {
  /** Root of the project that a folder belongs to. */
  rootOf(cwd: string): string
  /** Open a project with the engines that are switched on. */
  open(
    root: string,
    rows: readonly EngineRow[],
    deliver: (session: string, actions: readonly Action[]) => void,
    door: Door,
  ): Promise<LiveProject>
}

export interface DshRuntime {
  /** Switch an engine on. The answer switches it off again. */
  engine(row: EngineRow): () => void
  isOn(name: EngineName): boolean
  /**
   * The settings of a row, or files, changed. Projects are opened anew with the next event; one in which a loop or a countdown goes
   * on is kept until that has ended (`settle`).
   */
  changed(row?: EngineName): Promise<void>
  /** Between two turns: a project that was kept in spite of a change is let go when nothing goes on in it any more. */
  settle(cwd: string): Promise<void>
  /** The runtime of a session's folder. Rejects when the project cannot be opened; a later call tries again. */
  of(cwd: string): Promise<LiveProject>
  /** Who takes what engines ask for late or of their own accord. */
  onDeliver(take: (session: string, actions: readonly Action[]) => void): void
  /** Called before a project is closed that is not opened anew for the sake of a setting. */
  onLeave(leave: (live: LiveProject) => Promise<void>): void
  close(): Promise<void>
}

/** What other rows of ours reach as `ctx.outrigger`. */
export interface DshService extends DshRuntime {
  /** The runtime of an agent's project, and the session that the agent counts for. */
  live(agent: Agent): Promise<LiveProject & { readonly session: string }>
  /** The composer of a session's page is empty, or is not any more. */
  typing(session: string, isEmpty: boolean): void
  /** A person typed a command of an engine: what it answers. */
  command(agent: Agent, name: string, args: string): Promise<{ readonly ok: boolean; readonly text: string }>
}

/** @param door - the one of what the runtimes ask for of their own accord. */
export function createDshRuntime(opener: Opener, door: Door): DshRuntime {
  const rows = new Map<EngineName, EngineRow>()
  /** By root: sessions in different folders of a project share its runtime. */
  const live = new Map<string, Promise<LiveProject>>()
  const ready = new Map<string, LiveProject>()
  /** Roots of projects to be opened anew. */
  const stale = new Set<string>()
  let take: (session: string, actions: readonly Action[]) => void = () => {}
  let leave: (live: LiveProject) => Promise<void> = async () => {}

  const end = async (roots: readonly string[], isLeft = false): Promise<void> => {
    const opened = roots.flatMap(root => live.get(root) ?? [])
    for (const root of roots) {
      live.delete(root)
      ready.delete(root)
      stale.delete(root)
    }
    for (const result of await Promise.allSettled(opened)) {
      if (result.status === 'rejected') continue
      if (isLeft) await leave(result.value)
      await result.value.outrigger.close()
      await result.value.project.close()
    }
  }

  const close = (): Promise<void> => end([...live.keys()], true)

  /** Kept while something goes on by itself in it: a loop, a countdown. */
  const isKept = (root: string): boolean => ready.get(root)?.outrigger.isInFlow() === true

  return {
    engine: row => {
      rows.set(row.name, row)
      void close()
      return () => {
        if (rows.get(row.name) !== row) return
        rows.delete(row.name)
        void close()
      }
    },
    isOn: name => rows.has(name),
    changed: async name => {
      const isLate = name !== undefined && rows.get(name)?.readsLate === true
      const ended: string[] = []
      for (const root of live.keys()) {
        const at = ready.get(root)
        at?.project.config.refresh()
        if (isLate && at !== undefined && at.faults.length === 0) continue
        if (isKept(root)) stale.add(root)
        else ended.push(root)
      }
      await end(ended)
    },
    settle: async cwd => {
      const root = opener.rootOf(cwd)
      if (stale.has(root) && !isKept(root)) await end([root])
    },
    of: cwd => {
      const root = opener.rootOf(cwd)
      const known = live.get(root)
      if (known !== undefined) return known
      const opened = opener.open(root, [...rows.values()], (session, actions) => take(session, actions), door)
      live.set(root, opened)
      opened.then(
        at => live.get(root) === opened && ready.set(root, at),
        () => live.get(root) === opened && live.delete(root),
      )
      return opened
    },
    onDeliver: next => {
      take = next
    },
    onLeave: next => {
      leave = next
    },
    close,
  }
}
