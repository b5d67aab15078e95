/** What engines ask of the host that takes its time: a model's words, a fresh session. The answers come back as events. */
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { ActionOf } from '../session/actions.ts'
import type { Guard } from './guard.ts'
import type { DoorHost } from './host.ts'
import type { LiveProject } from './runtime.ts'
import type { Told } from './sessions.ts'
import type { Display } from './web/display.ts'

interface Parts {
  readonly host: DoorHost
  readonly guard: Guard
  find(session: string): Agent | undefined
}

export interface ModelAsks {
  ask(live: LiveProject, session: string, action: ActionOf<'ask-model'>): void
  cancel(id: string): void
  endAll(): void
}

export function createModelAsks({
  host,
  guard,
  find,
  handle,
}: Parts & { handle(live: LiveProject, event: Told): Promise<unknown> }): ModelAsks {
  const open = new Map<string, AbortController>()
  let isClosed = false

  const run = async (live: LiveProject, session: string, action: ActionOf<'ask-model'>): Promise<void> => {
    const agent = find(session)
    if (agent === undefined) return live.outrigger.failed(action.id, 'host:the session is gone')
    const gone = new AbortController()
    open.set(action.id, gone)
    const reply = await host.ask(agent, action, gone.signal)
    open.delete(action.id)
    if (isClosed || find(session) === undefined) return
    const base = { session, project: live.project.root, at: live.project.clock.now(), ask: action.id }
    if (gone.signal.aborted) {
      // A loop that gave the call up goes on when it is over, not by its own clock.
      if (action.engine === 'next') await handle(live, { ...base, kind: 'model-failed', reason: 'canceled' })
    } else if (reply.kind === 'answered') {
      const { text, usage } = reply
      await handle(live, { ...base, kind: 'model-answered', text, ...(usage !== undefined && { usage }) })
    } else {
      const { reason, message } = reply
      await handle(live, { ...base, kind: 'model-failed', reason, ...(message !== undefined && { message }) })
    }
  }

  const cancel = (id: string): void => {
    open.get(id)?.abort()
    open.delete(id)
  }

  return {
    ask: (live, session, action) => guard.start(session, 'a question to the model', () => run(live, session, action)),
    cancel,
    endAll: () => {
      isClosed = true
      for (const id of [...open.keys()]) cancel(id)
    },
  }
}

/** `dsh.fresh` of pack's settings; what is no such word is the host's choice. */
function wantedOf({ project }: LiveProject): string | undefined {
  const { dsh } = project.config.section('pack') as { readonly dsh?: { readonly fresh?: unknown } }
  return typeof dsh?.fresh === 'string' && dsh.fresh !== 'by host' ? dsh.fresh : undefined
}

export interface FreshStarts {
  start(live: LiveProject, session: string, action: ActionOf<'start-fresh'>): void
  /** The session from which this one was opened. */
  previousOf(session: string): string | undefined
}

/** Why no session was opened where none can be shown: the person goes to one and loads the notes. */
const handover = 'host:handover'

export function createFreshStarts({ host, guard, find, display }: Parts & { readonly display: Display }): FreshStarts {
  const previous = new Map<string, string>()

  const run = async (live: LiveProject, session: string, action: ActionOf<'start-fresh'>): Promise<void> => {
    const agent = find(session)
    if (agent === undefined) return live.outrigger.failed(action.id, 'host:the session is gone')
    const wanted = wantedOf(live) ?? (display.isOpen ? 'new-session' : 'handover')
    if (wanted === 'handover') return live.outrigger.failed(action.id, handover)
    try {
      const opened = await host.openBeside(agent, id => previous.set(id, session))
      const text = `the work goes on in a new session: ${opened.session.id}`
      display.notify(session, {
        kind: 'notify',
        id: `${action.id}-opened`,
        engine: action.engine,
        level: 'info',
        text,
        ms: 12_000,
      })
    } catch (error) {
      // Whatever the host throws: the notes are saved, and the person can load them.
      guard.tellOnce(session, `no session could be opened: ${error instanceof Error ? error.message : String(error)}`)
      await live.outrigger.failed(action.id, handover)
    }
  }

  return {
    start: (live, session, action) => guard.start(session, 'a fresh session', () => run(live, session, action)),
    previousOf: session => previous.get(session),
  }
}
