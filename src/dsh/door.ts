/**
 * The DSH door: what the host tells becomes events of the runtime, what the engines ask for becomes messages
 * of the host. `core.ts` registers the listeners. Decides nothing; a fault in here lets the host go on.
 */
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { UserMessage } from '@deepseek-ai/dsh-llm'
import type { SessionEvent as HostEvent, Session } from '@deepseek-ai/dsh-session'
import type { ToolExecution, ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import type { Door } from '../runtime/outrigger.ts'
import type { Action, ActionOf } from '../session/actions.ts'
import type { EventOf, SessionEvent } from '../session/events.ts'
import { openTurn, type TrackedAgent, trackAgent } from './agents.ts'
import { contextMessage, notice } from './messages.ts'
import type { DshRuntime, LiveProject } from './runtime.ts'
import {
  contextMeasured,
  endReason,
  isPersonMessage,
  type Origin,
  projectPath,
  startedBy,
  startSource,
  textOf,
  toolFinished,
  translateRecord,
} from './translate.ts'
import { createWatches } from './watches.ts'
import { busyOf } from './work.ts'

/** The host has no place for a status line or a notice in headless, and its web part is not ours yet. */
export const dshDoor: Door = {
  name: 'dsh',
  carries: new Set(['add-context', 'hold-stop', 'watch']),
  contextAt: new Set(['person-spoke', 'turn-started', 'tool-finished', 'compacted']),
}

/** A call inside a program cannot carry context by itself: it waits for the call of the model around it. */
const nestedDoor: Door = { ...dshDoor, contextAt: new Set() }

/** Rows of the log that are looked at; all others are the most, a row for every few words. */
const heard: ReadonlySet<string> = new Set([
  'assistant/message',
  'tool/call',
  'tool/result',
  'turn/end',
  'session/title',
  'todo/write',
  'goal/change',
  'compaction/end',
])

export interface DoorHost {
  /** A live agent by the id of its session. */
  find(session: string): Agent | undefined
  /** All live agents. */
  agents(): readonly Agent[]
  /** Background jobs of an agent that run now. */
  jobs(agent: Agent): number
  /** Tokens that fit into the agent's context; 0 when the host does not know. */
  window(agent: Agent): number
  /** One line for people; the host's log. */
  warn(text: string): void
}

export interface DshDoor {
  sessionStarted(agent: Agent, source: 'startup' | 'resume' | 'clear' | 'compact'): void
  /** The messages to add to those that enter a step. */
  entering(agent: Agent, messages: readonly UserMessage[], turn: number): Promise<readonly UserMessage[]>
  /** The messages to add to a finished call's result. */
  called(exec: ToolExecution, result: Readonly<ToolExecutionResult>): Promise<readonly UserMessage[]>
  /** The agent would stop: keeps it going where an engine asks for it. */
  stopping(agent: Agent, turn: number): Promise<void>
  /** A row of the session's log, right after it was written. Appends nothing. */
  recorded(session: Session, event: HostEvent): void
  statusChanged(agent: Agent): void
  disposed(agent: Agent): void
  close(): void
  /** The runtime of an agent's project and the session that the agent counts for. */
  live(agent: Agent): Promise<LiveProject & { readonly session: string }>
}

export function createDoor(runtime: DshRuntime, host: DoorHost): DshDoor {
  const tracked = new WeakMap<Agent, TrackedAgent>()
  /** By session: the log has many rows, and asking the host for each is dear. */
  const agents = new Map<string, Agent>()
  const told = new Set<string>()

  const tellOnce = (key: string, text: string): void => {
    if (told.has(key)) return
    told.add(key)
    host.warn(`outrigger: ${text}`)
  }

  const track = (agent: Agent): TrackedAgent => {
    let known = tracked.get(agent)
    if (known === undefined) {
      known = trackAgent(agent, host.find)
      tracked.set(agent, known)
      agents.set(agent.id, agent)
    }
    return known
  }

  const originOf = (live: LiveProject, at: TrackedAgent): Origin => ({
    session: at.session,
    project: live.project.root,
    at: live.project.clock.now(),
    ...(at.helper !== undefined && { agent: at.helper }),
  })

  /** A session whose start was not seen (this row was mounted later) begins with its first event. */
  const opened = async (agent: Agent, source?: 'startup' | 'resume' | 'clear' | 'compact'): Promise<LiveProject> => {
    const at = track(agent)
    const isFirst = !at.started && at.helper === undefined
    at.started = true
    const live = await runtime.of(at.cwd)
    for (const fault of live.faults) tellOnce(`${live.project.root} ${fault}`, fault)
    if (isFirst) at.starting = handle(live, startOf(live, at, source ?? 'resume'))
    return live
  }

  /** Between turns a changed configuration counts from the next turn on. */
  const current = async (agent: Agent): Promise<LiveProject> => {
    const live = await opened(agent)
    if (!live.project.config.refresh()) return live
    await runtime.changed()
    return opened(agent)
  }

  const startOf = (
    live: LiveProject,
    at: TrackedAgent,
    source: 'startup' | 'resume' | 'clear' | 'compact',
  ): EventOf<'session-started'> => {
    const header = at.agent.session.header
    const { model } = at.agent.options
    const window = host.window(at.agent)
    return {
      ...originOf(live, at),
      kind: 'session-started',
      source: startSource(source, header),
      cwd: at.cwd,
      root: live.project.root,
      ...(model !== undefined && { model }),
      ...(window > 0 && { contextWindow: window }),
    }
  }

  const watches = createWatches((session, path) => {
    void guarded(undefined, 'a changed file', undefined, async () => {
      const agent = host.find(session)
      // While the agent works its own calls tell what changed; told here first, a call's change would look like an outsider's.
      if (agent === undefined || agent.status === 'running') return undefined
      const live = await opened(agent)
      await live.outrigger.handle({
        ...originOf(live, track(agent)),
        kind: 'file-changed',
        path: projectPath(live.project.root, '/', path),
        by: 'outside',
      })
      return undefined
    })
  })

  /** Carry out what was asked for; the texts for the model are the answer. */
  const carry = (live: LiveProject, session: string, actions: readonly Action[]): readonly UserMessage[] => {
    for (const action of actions) if (action.kind === 'watch') watches.set(live, session, action.paths)
    return actions.filter((action): action is ActionOf<'add-context'> => action.kind === 'add-context').map(contextMessage)
  }

  const handle = async (
    live: LiveProject,
    event: Exclude<SessionEvent, EventOf<'turn-ending'>>,
    door: Door = dshDoor,
  ): Promise<readonly UserMessage[]> => carry(live, event.session, await live.outrigger.handle(event, door))

  /** Nothing that goes wrong in here reaches the host's turn; a person reads of it once. */
  const guarded = async <T>(agent: Agent | undefined, what: string, otherwise: T, run: () => Promise<T>): Promise<T> => {
    try {
      return await run()
    } catch (error) {
      const code = codeOf(error)
      const why = error instanceof Error ? error.message : String(error)
      tellOnce(`${agent?.id ?? ''} ${code}`, `could not handle ${what} (${code}): ${why}`)
      return otherwise
    }
  }

  const silently = (agent: Agent, what: string, run: () => Promise<unknown>): void => {
    void guarded(agent, what, undefined, async () => {
      await run()
      return undefined
    })
  }

  const tellBusy = async (agent: Agent): Promise<void> => {
    const at = track(agent)
    if (at.helper !== undefined) {
      const main = host.find(at.session)
      if (main !== undefined && main !== agent) await tellBusy(main)
      return
    }
    const busy = busyOf(agent, host)
    const key = JSON.stringify(busy)
    if (key === at.busy) return
    at.busy = key
    const live = await opened(agent)
    await handle(live, { ...originOf(live, at), kind: 'work-changed', ...busy })
  }

  runtime.onDeliver((session, actions) => {
    const agent = host.find(session)
    if (agent === undefined) return
    const at = track(agent)
    silently(agent, 'what came late', async () => at.pending.push(...carry(await runtime.of(at.cwd), session, actions)))
  })

  const takePending = (at: TrackedAgent): readonly UserMessage[] => {
    const waiting = at.pending
    at.pending = []
    return waiting
  }

  return {
    sessionStarted: (agent, source) => silently(agent, 'the start of a session', () => opened(agent, source)),

    entering: (agent, messages, turn) =>
      guarded<readonly UserMessage[]>(agent, 'a step', [], async () => {
        const at = track(agent)
        if (at.helper !== undefined) {
          if (at.turn !== turn) openTurn(at, turn)
          return takePending(at)
        }
        const live = at.turn === turn ? await opened(agent) : await current(agent)
        await at.starting
        const added: UserMessage[] = []
        for (const message of messages.filter(isPersonMessage))
          added.push(...(await handle(live, { ...originOf(live, at), kind: 'person-spoke', text: textOf(message.content) })))
        if (at.turn !== turn) {
          openTurn(at, turn)
          added.push(...(await handle(live, { ...originOf(live, at), kind: 'turn-started', turn, by: startedBy(messages) })))
        }
        return [...takePending(at), ...added]
      }),

    called: (exec, result) => {
      const { agent } = exec
      if (agent === undefined) return Promise.resolve([])
      return guarded<readonly UserMessage[]>(agent, `a call of ${exec.name}`, [], async () => {
        const at = track(agent)
        at.reported.add(exec.callId)
        const live = await opened(agent)
        const isNested = exec.parent !== undefined
        const event = toolFinished(originOf(live, at), {
          id: exec.callId,
          ...(isNested && { parent: exec.rootCallId }),
          name: exec.name,
          input: exec.arguments,
          ok: !result.isError,
          content: result.content,
          turn: at.turn === 0 ? null : at.turn,
          cwd: at.agent.session.header.cwd ?? at.cwd,
        })
        return handle(live, event, isNested ? nestedDoor : dshDoor)
      })
    },

    stopping: (agent, turn) =>
      guarded(agent, 'the end of a turn', undefined, async () => {
        const at = track(agent)
        if (at.helper !== undefined) return undefined
        const live = await opened(agent)
        await tellBusy(agent)
        const { hold, actions } = await live.outrigger.mayStop({
          ...originOf(live, at),
          kind: 'turn-ending',
          turn,
          answer: at.answers.at(-1) ?? '',
          again: at.held,
        })
        at.pending.push(...carry(live, at.session, actions))
        if (hold === null) return undefined
        at.held = true
        // Only keel asks for holds so far; the runtime joins those of several engines into one text.
        agent.steer(notice('keel', hold, firstLine(hold)))
        return undefined
      }),

    recorded: (session, event) => {
      if (!heard.has(event.type) || event.seq < session.firstLiveSeq) return
      const agent = agents.get(session.id) ?? host.find(session.id)
      if (agent !== undefined) silently(agent, `a record ${event.type}`, () => record(agent, event))
    },

    statusChanged: agent => silently(agent, 'a change of status', () => tellBusy(agent)),

    disposed: agent => {
      agents.delete(agent.id)
      silently(agent, 'the end of a session', async () => {
        const at = tracked.get(agent)
        if (at === undefined || !at.started || at.helper !== undefined) return
        const live = await runtime.of(at.cwd)
        watches.end(at.session)
        await live.outrigger.handle({ ...originOf(live, at), kind: 'session-ended', reason: 'disposed' })
      })
    },

    close: () => watches.endAll(),

    live: async agent => ({ ...(await opened(agent)), session: track(agent).session }),
  }

  async function record(agent: Agent, event: HostEvent): Promise<void> {
    const at = track(agent)
    switch (event.type) {
      case 'assistant/message': {
        const { message, usage } = event.data
        const text = textOf(message.content)
        if (text !== '') at.answers.push(text)
        const window = host.window(agent)
        if (usage === undefined || window === 0 || at.helper !== undefined) return
        const live = await opened(agent)
        await handle(live, contextMeasured(originOf(live, at), usage, window))
        return
      }
      case 'tool/call':
        at.called.set(event.data.callId, { name: event.data.name, arguments: event.data.arguments })
        return
      case 'tool/result':
        return reportUnseen(agent, at, event.data.message.content[0])
      case 'turn/end':
        return turnEnded(agent, at, event.data.turn, endReason(event.data.reason))
      default: {
        if (at.helper !== undefined) return
        if (translateRecord({ session: '', project: '', at: 0 }, event) === undefined) return
        const live = await opened(agent)
        const translated = translateRecord(originOf(live, at), event)
        if (translated !== undefined) at.pending.push(...(await handle(live, translated)))
      }
    }
  }

  /** A result of a call that the pipeline refused never passed `called`. */
  async function reportUnseen(
    agent: Agent,
    at: TrackedAgent,
    block: { readonly toolCallId: string; readonly content: UserMessage['content']; readonly isError?: boolean },
  ): Promise<void> {
    const call = at.called.get(block.toolCallId)
    if (call === undefined || at.reported.has(block.toolCallId)) return
    const { turn } = at
    const live = await opened(agent)
    const event = toolFinished(originOf(live, at), {
      id: block.toolCallId,
      name: call.name,
      input: parsed(call.arguments),
      ok: block.isError !== true,
      content: block.content,
      turn: turn === 0 ? null : turn,
      cwd: at.agent.session.header.cwd ?? at.cwd,
    })
    await handle(live, event, nestedDoor)
  }

  async function turnEnded(agent: Agent, at: TrackedAgent, turn: number, reason: EventOf<'turn-ended'>['reason']): Promise<void> {
    if (at.helper !== undefined) return
    // Taken before the first wait: the next turn empties the list.
    const answers = at.turn === turn ? at.answers : []
    const earlier = answers.slice(0, -1)
    const live = await opened(agent)
    await live.outrigger.handle({
      ...originOf(live, at),
      kind: 'turn-ended',
      turn,
      reason,
      answer: answers.at(-1) ?? '',
      ...(earlier.length > 0 && { earlier }),
    })
  }
}

const firstLine = (text: string): string => text.slice(0, text.indexOf('\n') < 0 ? text.length : text.indexOf('\n'))

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'INTERNAL'
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text // a model may write arguments that are no JSON
  }
}
