/**
 * The DSH door: what the host tells becomes events of the runtime, what the engines ask for becomes messages
 * of the host. `listeners.ts` registers the listeners. Decides nothing; a fault in here lets the host go on.
 */
import type { Agent, SessionStartSource } from '@deepseek-ai/dsh-agent'
import type { UserMessage } from '@deepseek-ai/dsh-llm'
import type { SessionEvent as HostEvent, Session } from '@deepseek-ai/dsh-session'
import type { ToolExecution, ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { OutriggerError } from '../errors.ts'
import type { ReplyDocument } from '../next-step/answer-text.ts'
import type { Action, ActionOf } from '../session/actions.ts'
import { capText } from '../session/caps.ts'
import { openTurn, type TrackedAgent } from './agents.ts'
import type { Doors } from './carries.ts'
import type { Reply } from './commands.ts'
import { createGuard } from './guard.ts'
import type { DoorHost } from './host.ts'
import { notice } from './messages.ts'
import { type Fence, fence } from './next/fence.ts'
import { ownMessage } from './next/messages.ts'
import { createReach } from './reach.ts'
import { isHeard, isWork, noteWaiting, tellRecord } from './records.ts'
import type { DshRuntime, LiveProject } from './runtime.ts'
import { createSessions, noPage } from './sessions.ts'
import { isPersonMessage, startedBy, textOf, toolFinished } from './translate.ts'
import type { Display } from './web/display.ts'
import { busyOf } from './work.ts'

export interface DshDoor {
  sessionStarted(agent: Agent, source: SessionStartSource): void
  /** Before a step: may the messages of ours begin it? */
  fence(agent: Agent, messages: readonly UserMessage[], turn: number): Promise<Fence>
  /** The messages to add to those that enter a step. */
  entering(agent: Agent, messages: readonly UserMessage[], turn: number): Promise<readonly UserMessage[]>
  /** The messages to add to a finished call's result. */
  called(exec: ToolExecution, result: Readonly<ToolExecutionResult>): Promise<readonly UserMessage[]>
  /** The agent would stop: keeps it going where an engine asks for it. */
  stopping(agent: Agent, turn: number): Promise<void>
  /** A row of the session's log, right after it was written. Appends nothing. */
  recorded(session: Session, event: HostEvent): void
  /** A person typed a command of an engine. */
  command(agent: Agent, name: string, args: string): Promise<Reply>
  /** The composer of a session's page is empty, or is not any more. */
  typing(session: string, isEmpty: boolean): void
  statusChanged(agent: Agent): void
  /** Jobs, or messages that wait, are others than before. */
  workChanged(agent: Agent): void
  disposed(agent: Agent): void
  close(): Promise<void>
  /** The runtime of an agent's project and the session that the agent counts for. */
  live(agent: Agent): Promise<LiveProject & { readonly session: string }>
}

export function createDoor(runtime: DshRuntime, host: DoorHost, doors: Doors, display: Display): DshDoor {
  const guard = createGuard(host.warn)
  const sessions = createSessions(runtime, { host, guard, doors, display })
  const { track, open, originOf, handle } = sessions
  const reach = createReach(host.warn)
  runtime.onLeave(live => reach.leaveAll(live))

  const tellBusy = async (agent: Agent): Promise<void> => {
    const at = track(agent)
    if (at.helper !== undefined) {
      const main = sessions.find(at.session)
      if (main !== undefined && main !== agent) await tellBusy(main)
      return
    }
    const busy = busyOf(agent, host, track)
    const key = JSON.stringify(busy)
    if (key === at.busy) return
    at.busy = key
    const live = await open(agent)
    await handle(live, { ...originOf(live, at), kind: 'work-changed', ...busy })
  }

  const enter = async (agent: Agent, messages: readonly UserMessage[], turn: number): Promise<readonly UserMessage[]> => {
    const at = track(agent)
    const isNewTurn = at.turn !== turn
    if (at.helper !== undefined) {
      if (isNewTurn) openTurn(at, turn)
      return takePending(at)
    }
    const live = isNewTurn ? await sessions.reopen(agent) : await open(agent)
    await at.starting
    if (isNewTurn) guard.start(at.session, 'the socket', () => beReachable(agent, live, true))
    const added: UserMessage[] = []
    const own = messages.map(ownMessage).find(each => each !== undefined)
    for (const message of messages.filter(each => isPersonMessage(each) && ownMessage(each) === undefined)) {
      const text = capText(textOf(message.content))
      added.push(...(await handle(live, { ...originOf(live, at), kind: 'person-spoke', text })))
    }
    if (isNewTurn) {
      openTurn(at, turn)
      added.push(
        ...(await handle(live, {
          ...originOf(live, at),
          kind: 'turn-started',
          turn,
          by: startedBy(messages),
          ...(own !== undefined && { offer: own.offer }),
        })),
      )
    }
    return [...takePending(at), ...added]
  }

  const ask = async (agent: Agent, messages: readonly UserMessage[], turn: number): Promise<Fence> => {
    if (!messages.some(message => ownMessage(message)?.as === 'plugin')) return { kind: 'open' }
    const at = track(agent)
    const live = await open(agent)
    await at.starting
    const told = await fence(messages, async event => {
      const actions = await live.outrigger.handle({ ...originOf(live, at), kind: 'turn-starting', ...event })
      at.pending.push(...sessions.carry(live, at.session, actions))
      return actions
    })
    if (told.kind === 'reject') at.voided.add(turn)
    return told
  }

  /** The goal as the host has it now, where that is other than what was told; its driver is switched without a word in the log. */
  const tellGoal = async (agent: Agent): Promise<void> => {
    const at = track(agent)
    if (at.helper !== undefined) return
    const goal = host.goal(agent)
    const key = goalKey(goal)
    if (key === at.goal || (at.goal === '' && goal === undefined)) return
    at.goal = key
    const live = await open(agent)
    const event = { ...originOf(live, at), kind: 'goal-changed' } as const
    if (goal === undefined) await handle(live, { ...event, goal: null, operation: 'clear' })
    else {
      const { objective, id, revision, phase, activation } = goal
      await handle(live, { ...event, goal: objective, id, revision, phase, activation })
    }
  }

  const finish = async (
    agent: Agent,
    exec: ToolExecution,
    result: Readonly<ToolExecutionResult>,
  ): Promise<readonly UserMessage[]> => {
    const at = track(agent)
    at.reported.add(exec.callId)
    const live = await open(agent)
    const isNested = exec.parent !== undefined
    const event = toolFinished(originOf(live, at), {
      id: exec.callId,
      ...(isNested && { parent: exec.rootCallId }),
      name: exec.name,
      input: exec.arguments,
      ok: !result.isError,
      content: result.content,
      turn: at.turn === 0 ? null : at.turn,
      cwd: agent.session.header.cwd ?? at.cwd,
    })
    return handle(live, event, isNested ? doors.nested : doors.outer)
  }

  const stop = async (agent: Agent, turn: number): Promise<void> => {
    const at = track(agent)
    if (at.helper !== undefined) return
    const live = await open(agent)
    await tellBusy(agent)
    const answer = capText(at.answers.at(-1) ?? '')
    const {
      hold,
      parts = [],
      actions,
    } = await live.outrigger.mayStop({
      ...originOf(live, at),
      kind: 'turn-ending',
      turn,
      answer,
      again: at.held,
    })
    at.pending.push(...sessions.carry(live, at.session, actions))
    if (hold === null) return
    at.held = true
    const engine = parts.length > 1 ? undefined : (parts[0]?.engine ?? 'keel')
    agent.steer(notice(engine, hold, hold.split('\n', 1)[0] ?? hold))
  }

  /** Switch the host's own driver of the goal off; the objective stays. */
  const displace = async (live: LiveProject, agent: Agent, action: string): Promise<readonly Action[]> => {
    const at = track(agent)
    const event = { ...originOf(live, at), action } as const
    try {
      host.disarmGoal(agent)
      at.goal = goalKey(host.goal(agent))
      return live.outrigger.handle({ ...event, kind: 'action-done' })
    } catch (error) {
      // Whatever the host throws: the loop waits for the goal, and says so.
      const code =
        error instanceof OutriggerError && error.code === 'DSH_NO_GOALS' ? 'absent' : `host:${String(error).slice(0, 200)}`
      return live.outrigger.handle({ ...event, kind: 'action-failed', reason: code })
    }
  }

  /** Everything that a command asks for but its answer is carried out here. */
  const obey = async (
    agent: Agent,
    name: string,
    args: string,
    by: 'person' | 'plugin',
  ): Promise<ActionOf<'reply'> | undefined> => {
    const at = track(agent)
    const live = await open(agent)
    await at.starting
    if (name === 'next') {
      await tellBusy(agent)
      await tellGoal(agent)
    }
    const event = { ...originOf(live, at), kind: 'command-run', name, args, by } as const
    const actions = [...(await live.outrigger.handle(event, doors.outer))]
    const displaced = actions.find(action => action.kind === 'displace-goal')
    if (displaced !== undefined) actions.push(...(await displace(live, agent, displaced.id)))
    at.pending.push(...sessions.carry(live, at.session, actions))
    return actions.find(action => action.kind === 'reply')
  }

  const command = async (agent: Agent, name: string, args: string): Promise<Reply> => {
    const reply = await obey(agent, name, args, 'person')
    return reply === undefined
      ? { ok: false, text: `${name}: no answer yet; see the status line` }
      : { ok: reply.ok, text: reply.text }
  }

  /** From now on a terminal of the person reaches the session, once it has a store: one in which nothing was said makes none. */
  const beReachable = async (agent: Agent, live: LiveProject, hasSpoken: boolean): Promise<void> => {
    const at = track(agent)
    if (at.helper !== undefined || !display.isOpen || !runtime.isOn('next')) return
    if (!hasSpoken && !live.project.hasStore()) return
    live.project.live.type ??= async (session, name, args, by) => {
      const found = sessions.find(session)
      if (found === undefined || track(found).helper !== undefined) return undefined
      const reply = await obey(found, name, args, by)
      if (reply === undefined)
        throw new OutriggerError('NEXT_NO_ANSWER', 'the session gave no answer', { exit: 3, hint: 'try again' })
      return { session, document: reply.document as unknown as ReplyDocument }
    }
    await reach.enter(live, at.session)
  }

  const end = async (agent: Agent): Promise<void> => {
    const at = track(agent)
    sessions.end(agent)
    if (!at.started || at.helper !== undefined) return
    const untaken = display.end(at.session)
    const live = await runtime.of(at.cwd)
    await reach.leave(live, at.session)
    for (const id of untaken) await live.outrigger.failed(id, noPage)
    await live.outrigger.handle({ ...originOf(live, at), kind: 'session-ended', reason: 'disposed' })
  }

  return {
    sessionStarted: (agent, source) =>
      guard.start(agent.id, 'the start of a session', async () => {
        const live = await open(agent, source)
        await beReachable(agent, live, false)
      }),
    fence: (agent, messages, turn) => guard.run(agent.id, 'a step', { kind: 'open' } as Fence, () => ask(agent, messages, turn)),
    entering: (agent, messages, turn) => guard.run(agent.id, 'a step', nothing, () => enter(agent, messages, turn)),
    called: async (exec, result) => {
      const { agent } = exec
      if (agent === undefined) return nothing
      return guard.run(agent.id, `a call of ${exec.name}`, nothing, () => finish(agent, exec, result))
    },
    stopping: (agent, turn) => guard.run(agent.id, 'the end of a turn', undefined, () => stop(agent, turn)),
    recorded: (session, event) => {
      if (!isHeard(event) || event.seq < session.firstLiveSeq) return
      const agent = sessions.find(session.id)
      if (agent === undefined) return
      if (noteWaiting(track(agent), event)) guard.start(agent.id, 'what waits for a person', () => tellBusy(agent))
      if (isWork(event)) return
      guard.start(agent.id, `a row ${event.type}`, () => tellRecord(sessions, host, doors, agent, event))
    },
    command: (agent, name, args) => command(agent, name, args),
    typing: (session, isEmpty) =>
      guard.start(session, 'the composer', async () => {
        const agent = sessions.find(session)
        if (agent === undefined) return
        const live = await open(agent)
        await handle(live, { ...originOf(live, track(agent)), kind: 'draft-changed', empty: isEmpty })
      }),
    statusChanged: agent =>
      guard.start(agent.id, 'a change of status', async () => {
        await tellGoal(agent)
        await tellBusy(agent)
      }),
    workChanged: agent => {
      const at = track(agent)
      // Its start is told by what starts it.
      if (!at.started && at.helper === undefined) return
      guard.start(agent.id, 'what runs beside a session', () => tellBusy(agent))
    },
    disposed: agent => guard.start(agent.id, 'the end of a session', () => end(agent)),
    close: async () => {
      sessions.close()
      await reach.close()
    },
    live: async agent => ({ ...(await open(agent)), session: track(agent).session }),
  }
}

const goalKey = (goal: ReturnType<DoorHost['goal']>): string =>
  goal === undefined ? '' : [goal.id, goal.revision, goal.phase, goal.activation].join(' ')

const nothing: readonly UserMessage[] = []

function takePending(at: TrackedAgent): readonly UserMessage[] {
  const waiting = at.pending
  at.pending = []
  return waiting
}
