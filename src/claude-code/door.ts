/**
 * The Claude Code door: what the host tells becomes events for the engine process, what the engines ask for becomes
 * results and calls of the host. Decides nothing; a fault in here lets the host go on.
 */
import { eventsOf, type HostEvent, type Payload } from '../hook/translate.ts'
import type { Action } from '../session/actions.ts'
import { capText } from '../session/caps.ts'
import type { By, SessionEvent } from '../session/events.ts'
import { createCarrier, type Submission, type Unplaced } from './carry.ts'
import { createEngineProcess } from './engine-process.ts'
import { type Completed, personOrigins, runningHelpers, turnEnded } from './events.ts'
import type { Host } from './host.ts'
import { commandOf, createShown, type Shown } from './shown.ts'

/** What goes back to the host with its event. */
export interface Carried {
  readonly contexts: readonly string[]
  readonly watched: readonly string[] | undefined
  readonly hold: string | undefined
}

export interface Answered {
  readonly text: string
  readonly ok: boolean
}

export interface ClaudeDoor {
  readonly shown: Shown
  /** `isUp`: the engine process heard it, so that the command hooks are not needed. */
  sessionStarted(host: Host, payload: Payload): Promise<Carried & { readonly isUp: boolean }>
  /** A person's words, or another origin's, are about to be sent. */
  promptEntering(host: Host, text: string, origin: string): Promise<Carried>
  /** Every prompt comes by here: only one of ours is looked at. `block`: it must not start. */
  promptStarting(host: Host, payload: Payload): Promise<Carried & { readonly block?: string }>
  turnStarted(host: Host, turn: { readonly turnId?: string; readonly agentId?: string }): Promise<void>
  stepEnded(step: { readonly turnId?: string; readonly answer?: string; readonly stopReason?: string | null }): void
  toolFinished(host: Host, event: 'PostToolUse' | 'PostToolUseFailure', payload: Payload): Promise<Carried>
  stopping(host: Host, payload: Payload): Promise<Carried>
  turnCompleted(host: Host, completed: Completed): Promise<void>
  measured(host: Host, context: { readonly tokens?: number; readonly window?: number; readonly percent?: number }): Promise<void>
  fileChanged(host: Host, payload: Payload): Promise<void>
  sessionEnded(host: Host, session: string, reason: string): Promise<void>
  command(host: Host, name: string, args: string, by: By): Promise<Answered>
  /** A button of ours was pressed: the command runs outside of the host's drawing. */
  press(host: Host, command: string): void
}

const nothing: Carried = { contexts: [], watched: undefined, hold: undefined }
const pollMs = 100
/** The host says how full the context is after each turn; below this share nobody asks where it compacts. */
const measuredFrom = 0.35
const install = 'install it with `npm install -g outrigger`, or set OUTRIGGER_BIN'

interface Turn {
  readonly id: string | undefined
  readonly answers: string[]
  lastStop: string | undefined
}

/** @param connection - names this program for as long as it lives. */
export function createDoor(connection: string): ClaudeDoor {
  const engines = createEngineProcess(connection)
  const shown = createShown()
  /** The session that was cleared away and has no successor yet. */
  let previous: string | undefined
  let following: string | undefined
  let turn: Turn | undefined
  let hasSpoken = false
  let starting: Submission | undefined
  let title: string | undefined
  let compactsAt: number | undefined
  let isMeasured = false
  let wasEmpty: boolean | undefined
  let fault: string | undefined
  const told = new Set<string>()

  const send = async (host: Host, event: SessionEvent): Promise<readonly Action[]> => {
    try {
      const actions = await engines.tell(host, event)
      if (fault !== undefined) {
        fault = undefined
        await host.status(shown.status ?? undefined).catch(ignore)
      }
      follow(host, event.session)
      return actions
    } catch (error) {
      fault = error instanceof Error ? error.message : String(error)
      await degraded(host, event.session)
      return []
    }
  }

  /** The person is told once a session, with the name of what is missing; the host goes on. */
  const degraded = async (host: Host, session: string): Promise<void> => {
    if (told.has(session)) return
    told.add(session)
    await host.status('no engine process').catch(ignore)
    await host.toast(`outrigger: no engine process (${fault}); ${install}`, 8_000).catch(ignore)
  }

  /** Tell one event; context, holds and watched paths of the answer come back, everything else is carried out. */
  const tell = async (host: Host, event: SessionEvent): Promise<{ readonly carried: Carried; readonly actions: readonly Action[] }> => {
    const actions = await send(host, event)
    const contexts: string[] = []
    let watched: readonly string[] | undefined
    let hold: string | undefined
    for (const action of actions) {
      if (action.kind === 'add-context') contexts.push(action.text)
      else if (action.kind === 'watch') watched = action.paths
      else if (action.kind === 'hold-stop') hold = action.text
      else await carrier.carry(host, event.session, action)
    }
    return { carried: { contexts, watched, hold }, actions }
  }

  const place = async (host: Host, session?: string) => {
    const [id, project, at] = [session ?? (await host.session()), await projectOf(host), await host.now()]
    return { session: id, project, at, newId: () => `${connection}-${(counter += 1)}` }
  }
  let counter = 0

  const projectOf = async (host: Host): Promise<string> => {
    try {
      return await engines.project(host)
    } catch {
      // The event then reaches nobody, and says why.
      return host.root()
    }
  }

  const placed = async (host: Host, event: Unplaced): Promise<void> => {
    const { project, at } = await place(host, event.session)
    await tell(host, { ...event, project, at } as SessionEvent)
  }

  const carrier = createCarrier(shown, placed)

  const classic = async (host: Host, name: HostEvent, payload: Payload, more: object = {}) => {
    const where = await place(host)
    let last: { readonly carried: Carried; readonly actions: readonly Action[] } = { carried: nothing, actions: [] }
    for (const event of eventsOf(name, payload, where)) last = await tell(host, { ...event, ...more } as SessionEvent)
    return last
  }

  /** Listen to what the engines ask of their own accord: a question that the process answers late, again and again. */
  const follow = (host: Host, session: string): void => {
    if (following === session) return
    following = session
    host.later(pollMs, () => poll(host, session))
  }

  const poll = async (host: Host, session: string): Promise<void> => {
    let after = 0
    while (following === session) {
      try {
        const waited = await engines.wait(host, session, after)
        if (following !== session) return
        for (const { seq, action } of waited) {
          after = seq
          await carrier.carry(host, session, action)
        }
        if (waited.length > 0) await tellDraft(host, session)
      } catch {
        // Nobody answers: the next event starts the process again, and with it this.
        if (following === session) following = undefined
        return
      }
    }
  }

  /** What the person types holds everything back that would begin a turn. */
  const tellDraft = async (host: Host, session: string): Promise<void> => {
    const draft = await host.draft().catch(() => '')
    const empty = draft.trim() === ''
    if (empty === (wasEmpty ?? true)) return
    wasEmpty = empty
    await placed(host, { kind: 'draft-changed', session, empty })
  }

  const tellTitle = async (host: Host, payload: Payload): Promise<void> => {
    const now = payload['session_title']
    if (typeof now !== 'string' || now === '' || now === title) return
    title = now
    await placed(host, { kind: 'title-changed', session: await host.session(), title: now })
  }

  const command = async (host: Host, name: string, args: string, by: By): Promise<Answered> => {
    const where = await place(host)
    const { actions } = await tell(host, { ...pick(where), kind: 'command-run', name, args, by })
    const reply = actions.find(action => action.kind === 'reply')
    if (reply !== undefined) return { text: reply.text, ok: reply.ok }
    if (fault !== undefined) return { text: `no engine process (${fault}); ${install}`, ok: false }
    return { text: `${name}: no answer yet; see the status line`, ok: true }
  }

  return {
    shown,
    command,
    async sessionStarted(host, payload) {
      const isCompaction = payload['source'] === 'compact'
      if (!isCompaction) {
        title = typeof payload['session_title'] === 'string' ? payload['session_title'] : undefined
        isMeasured = false
        turn = undefined
      }
      const more = previous === undefined || isCompaction ? {} : { previous }
      if (!isCompaction) previous = undefined
      const { carried } = await classic(host, 'SessionStart', payload, more)
      return { ...carried, isUp: fault === undefined }
    },
    async promptEntering(host, text, origin) {
      if (!personOrigins.includes(origin)) return nothing
      hasSpoken = true
      const where = await place(host)
      return (await tell(host, { ...pick(where), kind: 'person-spoke', text: capText(text) })).carried
    },
    async promptStarting(host, payload) {
      await tellTitle(host, payload)
      starting = carrier.submissionOf(String(payload['prompt'] ?? ''))
      if (starting === undefined) return nothing
      if (starting.withdrawn) return { ...nothing, block: 'outrigger took its prompt back' }
      if (starting.offer === undefined) return nothing
      const where = await place(host)
      await tellDraft(host, where.session)
      const { carried, actions } = await tell(host, { ...pick(where), kind: 'turn-starting', offer: starting.offer })
      const verdict = actions.find(action => action.kind === 'verdict')
      if (verdict === undefined || verdict.admit) return carried
      starting.refused = true
      starting = undefined
      return { ...carried, block: `outrigger: ${verdict.why}` }
    },
    async turnStarted(host, { turnId, agentId }) {
      if (agentId !== undefined) return
      turn = { id: turnId, answers: [], lastStop: undefined }
      const by: By = hasSpoken ? 'person' : starting === undefined ? 'host' : 'plugin'
      const offer = hasSpoken ? undefined : starting?.offer
      hasSpoken = false
      starting = undefined
      const where = await place(host)
      await tell(host, {
        ...pick(where),
        kind: 'turn-started',
        turn: 0,
        ...(turnId !== undefined && { turnId }),
        by,
        ...(offer !== undefined && { offer }),
      })
    },
    stepEnded({ turnId, answer, stopReason }) {
      if (turn === undefined || turn.id !== turnId) return
      if (answer !== undefined && answer !== '') turn.answers.push(answer)
      turn.lastStop = stopReason ?? undefined
    },
    toolFinished: async (host, event, payload) => (await classic(host, event, payload)).carried,
    async stopping(host, payload) {
      const helpers = runningHelpers(await host.helpers().catch(() => []))
      const listed = Array.isArray(payload['background_tasks']) ? payload['background_tasks'] : []
      const known = listed.filter(each => (each as { type?: unknown } | null)?.type === 'subagent').length
      const missing = Array.from({ length: Math.max(0, helpers - known) }, () => ({ type: 'subagent', status: 'running' }))
      return (await classic(host, 'Stop', { ...payload, background_tasks: [...listed, ...missing] })).carried
    },
    async turnCompleted(host, completed) {
      const isMain = completed.agentId === undefined
      const mine = isMain && turn?.id === completed.turnId ? turn : undefined
      if (mine !== undefined) turn = undefined
      const where = await place(host)
      if (isMain) await tellDraft(host, where.session)
      await tell(host, turnEnded(pick(where), completed, mine?.answers ?? [], mine?.lastStop))
    },
    async measured(host, { tokens, window, percent }) {
      if (tokens === undefined || window === undefined || window <= 0) return
      if (!isMeasured && tokens / window >= measuredFrom) {
        isMeasured = true
        compactsAt = await host.compactsAt().catch(() => undefined)
      }
      const where = await place(host)
      await tell(host, {
        ...pick(where),
        kind: 'context-measured',
        tokens,
        window,
        ...(percent !== undefined && { percent }),
        ...(compactsAt !== undefined && { compactsAt }),
      })
    },
    async fileChanged(host, payload) {
      await classic(host, 'FileChanged', payload)
    },
    async sessionEnded(host, session, reason) {
      if (following === session) following = undefined
      if (reason === 'clear') previous = session
      shown.offer = null
      shown.review = null
      const where = await place(host, session)
      // Told without `tell`: nobody listens for the rest any more, and the program may be about to end.
      await engines.tell(host, { ...pick(where), kind: 'session-ended', reason })
    },
    press(host, text) {
      const { name, args } = commandOf(text)
      host.later(pollMs / 2, async () => {
        const { text: said, ok } = await command(host, name, args, 'person')
        if (said !== '') await host.toast(said.split('\n', 1)[0] ?? said, ok ? 4_000 : 8_000)
      })
    },
  }
}

function pick<P extends { session: string; project: string; at: number }>({ session, project, at }: P) {
  return { session, project, at }
}

function ignore(): void {}
