/**
 * The door's live sessions: which runtime an agent's events go to, that a session's start is told before
 * anything else of it, and that what the runtime asks for is carried out.
 */
import type { Agent, SessionStartSource } from '@deepseek-ai/dsh-agent'
import type { UserMessage } from '@deepseek-ai/dsh-llm'
import { createChecks } from '../node/checks.ts'
import type { Json } from '../ports/json.ts'
import type { Door } from '../runtime/outrigger.ts'
import type { Action, ActionOf } from '../session/actions.ts'
import type { EventOf, SessionEvent } from '../session/events.ts'
import { placeIn } from '../session/place.ts'
import { type TrackedAgent, trackAgent } from './agents.ts'
import { createFreshStarts, createModelAsks } from './asked.ts'
import type { Doors } from './carries.ts'
import type { Guard } from './guard.ts'
import type { DoorHost } from './host.ts'
import { contextMessage, submission } from './messages.ts'
import { offerMessage, takeBack } from './next/messages.ts'
import type { DshRuntime, LiveProject } from './runtime.ts'
import { type Origin, startSource } from './translate.ts'
import { createWatches } from './watches.ts'
import type { Display } from './web/display.ts'
import { nextPart } from './web/next-shown.ts'
import { reviewPart } from './web/pack-shown.ts'

export type Told = Exclude<SessionEvent, EventOf<'turn-ending'>>

export interface Sessions {
  track(agent: Agent): TrackedAgent
  /** The agent of a session, while it lives. */
  find(session: string): Agent | undefined
  /** The runtime of an agent's project. A session whose start was not seen (this row was mounted later) begins with its first event. */
  open(agent: Agent, source?: SessionStartSource): Promise<LiveProject>
  /** The same between two turns: a changed configuration counts from here on. */
  reopen(agent: Agent): Promise<LiveProject>
  originOf(live: LiveProject, at: TrackedAgent): Origin
  /** Tell the runtime; the answer is what the model is to read now. */
  handle(live: LiveProject, event: Told, door?: Door): Promise<readonly UserMessage[]>
  /** Carry out what was asked for; the texts for the model are the answer. */
  carry(live: LiveProject, session: string, actions: readonly Action[]): readonly UserMessage[]
  /** The session is over. */
  end(agent: Agent): void
  close(): void
}

/** Why a notice was not carried out: it waited, and no page that shows the session asked for it. */
export const noPage = 'host:no page took it'

interface Parts {
  readonly host: DoorHost
  readonly guard: Guard
  readonly doors: Doors
  readonly display: Display
}

export function createSessions(runtime: DshRuntime, { host, guard, doors, display }: Parts): Sessions {
  const tracked = new WeakMap<Agent, TrackedAgent>()
  /** By session: asking the host for each row of a log is dear. */
  const agents = new Map<string, Agent>()

  const track = (agent: Agent): TrackedAgent => {
    let known = tracked.get(agent)
    if (known === undefined) {
      known = trackAgent(agent, host.find)
      tracked.set(agent, known)
      agents.set(agent.id, agent)
    }
    return known
  }

  const find = (session: string): Agent | undefined => agents.get(session) ?? host.find(session)

  const originOf = (live: LiveProject, at: TrackedAgent): Origin => ({
    session: at.session,
    project: live.project.root,
    at: live.project.clock.now(),
    ...(at.helper !== undefined && { agent: at.helper }),
  })

  const open = async (agent: Agent, source: SessionStartSource = 'resume'): Promise<LiveProject> => {
    const at = track(agent)
    const isFirst = !at.started && at.helper === undefined
    at.started = true
    const live = await runtime.of(at.cwd).catch((error: unknown) => {
      // It begins with the first event that finds its project.
      if (isFirst) at.started = false
      throw error
    })
    if (at.toldTo !== undefined && at.toldTo !== live.outrigger) {
      at.busy = ''
      at.goal = ''
    }
    at.toldTo = live.outrigger
    for (const fault of live.faults) guard.tellOnce(`${live.project.root} ${fault}`, fault)
    if (isFirst) at.starting = begin(live, at, source)
    return live
  }

  const begin = async (live: LiveProject, at: TrackedAgent, source: SessionStartSource): Promise<void> => {
    const previous = fresh.previousOf(at.agent.id)
    if (previous !== undefined) at.previous = previous
    const messages = await handle(live, startOf(live, at, source), previous === undefined ? doors.outer : doors.fresh)
    // In the inbox it is there for the first request, and after a restart of the host.
    for (const message of messages) at.agent.inject(message)
  }

  const startOf = (live: LiveProject, at: TrackedAgent, source: SessionStartSource): EventOf<'session-started'> => {
    const { model } = at.agent.options
    const window = host.window(at.agent)
    return {
      ...originOf(live, at),
      kind: 'session-started',
      ...(at.previous === undefined
        ? { source: startSource(source, at.agent.session.header) }
        : { source: 'clear', previous: at.previous }),
      cwd: at.cwd,
      root: live.project.root,
      // Headless has nobody who could press Run or type.
      interactive: display.isOpen,
      // Another agent works with its answer, whatever the host calls it.
      ...((at.agent.session.header.delegationDepth ?? 0) > 0 && { child: true }),
      ...(model !== undefined && { model }),
      ...(window > 0 && { contextWindow: window }),
    }
  }

  /**
   * While an agent works in a project, its own calls tell what changed. Told to a waiting session first, a call's change would
   * look like an outsider's, and the project would have nothing new left for the call. A waiting session looks before its next turn.
   */
  const isAtWork = async (live: LiveProject): Promise<boolean> => {
    for (const agent of agents.values()) {
      if (agent.status === 'running' && (await runtime.of(track(agent).cwd).catch(() => undefined)) === live) return true
    }
    return false
  }

  const watches = createWatches((session, path) =>
    guard.start(session, 'a changed file', async () => {
      const agent = find(session)
      if (agent === undefined || agent.status === 'running') return
      const live = await open(agent)
      if (await isAtWork(live)) return
      const place = placeIn(live.project.root, path)
      await live.outrigger.handle({ ...originOf(live, track(agent)), kind: 'file-changed', path: place, by: 'outside' })
    }),
  )

  const checks = createChecks()
  const asks = createModelAsks({ host, guard, find, handle: (live, event) => handle(live, event) })
  const fresh = createFreshStarts({ host, guard, find, display })

  /** Offers that were taken back before their message was sent. */
  const withdrawn = new Set<string>()

  /** What the host refuses to queue is told to the engine: it takes the round back. */
  const submit = (live: LiveProject, session: string, action: ActionOf<'submit'>): void => {
    const agent = find(session)
    const { offer = '' } = action
    withdrawn.delete(offer)
    guard.start(session, 'a turn of ours', async () => {
      try {
        if (agent === undefined) throw new Error('the session is gone')
        await host.start(agent, offerMessage(action, agent) ?? submission(action), () => !withdrawn.delete(offer))
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        await live.outrigger.failed(action.id, `host:${message.slice(0, 200)}`)
      }
    })
  }

  const withdraw = (session: string, offer: string): void => {
    const agent = find(session)
    withdrawn.add(offer)
    // One that is claimed already is refused where its turn would begin.
    if (agent !== undefined)
      guard.start(session, 'a withdrawn turn', async () => takeBack(agent, offer) && withdrawn.delete(offer))
  }

  const runCheck = (live: LiveProject, session: string, action: ActionOf<'run-check'>): void => {
    checks.run(action, live.project.root, ({ exit, timedOut, output }) =>
      guard.start(session, 'the end of a check', async () => {
        const agent = find(session)
        if (agent === undefined) return
        const event = { ...originOf(live, track(agent)), kind: 'check-finished', check: action.check, exit, timedOut } as const
        await handle(live, { ...event, output: live.project.mask(output) })
      }),
    )
  }

  const carry = (live: LiveProject, session: string, actions: readonly Action[]): readonly UserMessage[] => {
    for (const action of actions) {
      if (action.kind === 'watch') watches.set(live, session, action.paths)
      if (action.kind === 'status') display.status(session, action.text)
      if (action.kind === 'notify') for (const id of display.notify(session, action)) void live.outrigger.failed(id, noPage)
      if (action.kind === 'ask-model') asks.ask(live, session, action)
      if (action.kind === 'cancel-model') asks.cancel(action.ask)
      if (action.kind === 'start-fresh') fresh.start(live, session, action)
      if (action.kind === 'submit') submit(live, session, action)
      if (action.kind === 'withdraw') withdraw(session, action.offer)
      if (action.kind === 'show-offer') display.part(session, nextPart, (action.view ?? null) as Json | null)
      if (action.kind === 'show-review') display.part(session, reviewPart, action.review as unknown as Json | null)
      if (action.kind === 'run-check') runCheck(live, session, action)
      if (action.kind === 'cancel-check') checks.cancel(action.check)
    }
    return actions.filter((action): action is ActionOf<'add-context'> => action.kind === 'add-context').map(contextMessage)
  }

  const handle = async (live: LiveProject, event: Told, door: Door = doors.outer): Promise<readonly UserMessage[]> => {
    const messages = carry(live, event.session, await live.outrigger.handle(event, door))
    // A runtime that was made anew in the middle of a turn does not know what the one before it showed.
    if (event.kind === 'turn-ended' && display.isOpen) display.status(event.session, live.outrigger.status(event.session))
    return messages
  }

  runtime.onDeliver((session, actions) =>
    guard.start(session, 'what came late', async () => {
      const agent = find(session)
      if (agent === undefined) return
      const at = track(agent)
      at.pending.push(...carry(await runtime.of(at.cwd), session, actions))
    }),
  )

  return {
    track,
    find,
    open,
    originOf,
    handle,
    carry,
    reopen: async agent => {
      await runtime.settle(track(agent).cwd)
      const live = await open(agent)
      if (!live.project.config.refresh()) return live
      await runtime.changed()
      return open(agent)
    },
    end: agent => {
      agents.delete(agent.id)
      watches.end(agent.id)
    },
    close: () => {
      asks.endAll()
      checks.endAll()
      watches.endAll()
    },
  }
}
