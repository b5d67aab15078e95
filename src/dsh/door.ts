/**
 * The DSH door: what the host tells becomes events of the runtime, what the engines ask for becomes messages
 * of the host. `listeners.ts` registers the listeners. Decides nothing; a fault in here lets the host go on.
 */
import type { Agent, SessionStartSource } from '@deepseek-ai/dsh-agent'
import type { UserMessage } from '@deepseek-ai/dsh-llm'
import type { SessionEvent as HostEvent, Session } from '@deepseek-ai/dsh-session'
import type { ToolExecution, ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { capText } from '../session/caps.ts'
import { openTurn, type TrackedAgent } from './agents.ts'
import type { Doors } from './carries.ts'
import type { Reply } from './commands.ts'
import { createGuard } from './guard.ts'
import type { DoorHost } from './host.ts'
import { notice } from './messages.ts'
import { isHeard, tellRecord } from './records.ts'
import type { DshRuntime, LiveProject } from './runtime.ts'
import { createSessions, noPage } from './sessions.ts'
import { isPersonMessage, startedBy, textOf, toolFinished } from './translate.ts'
import type { Display } from './web/display.ts'
import { busyOf } from './work.ts'

export interface DshDoor {
  sessionStarted(agent: Agent, source: SessionStartSource): void
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
  statusChanged(agent: Agent): void
  disposed(agent: Agent): void
  close(): void
  /** The runtime of an agent's project and the session that the agent counts for. */
  live(agent: Agent): Promise<LiveProject & { readonly session: string }>
}

export function createDoor(runtime: DshRuntime, host: DoorHost, doors: Doors, display: Display): DshDoor {
  const guard = createGuard(host.warn)
  const sessions = createSessions(runtime, { host, guard, doors, display })
  const { track, open, originOf, handle } = sessions

  const tellBusy = async (agent: Agent): Promise<void> => {
    const at = track(agent)
    if (at.helper !== undefined) {
      const main = sessions.find(at.session)
      if (main !== undefined && main !== agent) await tellBusy(main)
      return
    }
    const busy = busyOf(agent, host)
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
    const added: UserMessage[] = []
    for (const message of messages.filter(isPersonMessage)) {
      const text = capText(textOf(message.content))
      added.push(...(await handle(live, { ...originOf(live, at), kind: 'person-spoke', text })))
    }
    if (isNewTurn) {
      openTurn(at, turn)
      added.push(...(await handle(live, { ...originOf(live, at), kind: 'turn-started', turn, by: startedBy(messages) })))
    }
    return [...takePending(at), ...added]
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
    const { hold, actions } = await live.outrigger.mayStop({
      ...originOf(live, at),
      kind: 'turn-ending',
      turn,
      answer,
      again: at.held,
    })
    at.pending.push(...sessions.carry(live, at.session, actions))
    if (hold === null) return
    at.held = true
    // Only keel asks for holds so far; the runtime joins those of several engines into one text.
    agent.steer(notice('keel', hold, hold.split('\n', 1)[0] ?? hold))
  }

  const command = async (agent: Agent, name: string, args: string): Promise<Reply> => {
    const at = track(agent)
    const live = await open(agent)
    await at.starting
    const event = { ...originOf(live, at), kind: 'command-run', name, args, by: 'person' } as const
    const actions = await live.outrigger.handle(event, doors.outer)
    at.pending.push(...sessions.carry(live, at.session, actions))
    const reply = actions.find(action => action.kind === 'reply')
    return reply === undefined ? { ok: false, text: `${name}: no answer yet; see the status line` } : { ok: reply.ok, text: reply.text }
  }

  const end = async (agent: Agent): Promise<void> => {
    const at = track(agent)
    sessions.end(agent)
    if (!at.started || at.helper !== undefined) return
    const untaken = display.end(at.session)
    const live = await runtime.of(at.cwd)
    for (const id of untaken) await live.outrigger.failed(id, noPage)
    await live.outrigger.handle({ ...originOf(live, at), kind: 'session-ended', reason: 'disposed' })
  }

  return {
    sessionStarted: (agent, source) => guard.start(agent.id, 'the start of a session', () => open(agent, source)),
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
      if (agent !== undefined) guard.start(agent.id, `a row ${event.type}`, () => tellRecord(sessions, host, doors, agent, event))
    },
    command: (agent, name, args) => command(agent, name, args),
    statusChanged: agent => guard.start(agent.id, 'a change of status', () => tellBusy(agent)),
    disposed: agent => guard.start(agent.id, 'the end of a session', () => end(agent)),
    close: sessions.close,
    live: async agent => ({ ...(await open(agent)), session: track(agent).session }),
  }
}

const nothing: readonly UserMessage[] = []

function takePending(at: TrackedAgent): readonly UserMessage[] {
  const waiting = at.pending
  at.pending = []
  return waiting
}
