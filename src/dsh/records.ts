/** Rows of a session's log as events: what no other moment of the host tells. */
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { ContentBlock } from '@deepseek-ai/dsh-llm'
import type { SessionEvent as HostEvent } from '@deepseek-ai/dsh-session'
import { capText } from '../session/caps.ts'
import type { EventOf, SessionEvent } from '../session/events.ts'
import type { TrackedAgent } from './agents.ts'
import type { Doors } from './carries.ts'
import type { DoorHost } from './host.ts'
import type { Sessions } from './sessions.ts'
import { contextMeasured, endReason, textOf, toolFinished, translateRecord } from './translate.ts'
import { foldWake, scheduleRow } from './wakes.ts'

/** Rows that are looked at; nearly all of a log are others, one for every few words of an answer. */
const heard: ReadonlySet<string> = new Set([
  'assistant/message',
  'tool/call',
  'tool/result',
  'turn/end',
  'session/title',
  'todo/write',
  'goal/change',
  'approval/asked',
  'approval/decided',
  'plan/mode',
  'tool/code-dispatch-start',
  'tool/code-dispatch',
  'compaction/end',
  scheduleRow,
])

/** Rows that say what keeps the session at work. */
export const isWork = ({ type }: { readonly type: string }): boolean =>
  type === 'approval/asked' || type === 'approval/decided' || type === 'plan/mode' || type === scheduleRow

/** The tool by which the host's agents ask a person; its call is open until the answer is there. */
const askTool = 'ask_user_question'

/** Note in the agent what waits for a person, and what will wake it. @returns whether that is other than before. */
export function noteWaiting(at: TrackedAgent, { type, data }: HostEvent): boolean {
  const row = data as unknown as Readonly<Record<string, unknown>>
  const toggled = (open: Set<string>, id: unknown, isOpen: boolean): boolean => {
    if (!isOpen) return open.delete(String(id))
    open.add(String(id))
    return true
  }
  switch (type as string) {
    case 'approval/asked':
      return toggled(at.approvals, row['id'], true)
    case 'approval/decided':
      return toggled(at.approvals, row['id'], false)
    case 'tool/call':
      return row['name'] === askTool && toggled(at.questions, row['callId'], true)
    case 'tool/code-dispatch-start':
      return row['name'] === askTool && toggled(at.questions, row['subCallId'], true)
    case 'tool/code-dispatch':
      return toggled(at.questions, row['subCallId'], false)
    case 'tool/result': {
      const { content } = row['message'] as { readonly content: readonly { readonly toolCallId?: string }[] }
      return toggled(at.questions, content[0]?.toolCallId, false)
    }
    case 'turn/end': {
      // What was open when a turn was cut off is asked no more.
      const had = at.questions.size > 0
      at.questions.clear()
      return had
    }
    case scheduleRow:
      return foldWake(at.wakes, row)
    default:
      return type === ('plan/mode' as string)
  }
}

export const isHeard = (event: HostEvent): boolean => heard.has(event.type)

/** Tell what a row says; call it in the order of the log. What belongs to the row's turn is taken before the first wait. */
export async function tellRecord(
  sessions: Sessions,
  host: DoorHost,
  doors: Doors,
  agent: Agent,
  event: HostEvent,
): Promise<void> {
  const at = sessions.track(agent)
  switch (event.type) {
    case 'assistant/message': {
      const { message, usage } = event.data
      const text = textOf(message.content)
      if (text !== '') at.answers.push(text)
      if (usage !== undefined) {
        at.usage.input += usage.inputTokens + (usage.cacheWriteTokens ?? 0)
        at.usage.output += usage.outputTokens
      }
      const window = host.window(agent)
      if (usage === undefined || window === 0 || at.helper !== undefined) return
      const live = await sessions.open(agent)
      await sessions.handle(live, contextMeasured(sessions.originOf(live, at), usage, window, host.compactsAt(window)))
      return
    }
    case 'tool/call':
      at.called.set(event.data.callId, { name: event.data.name, arguments: event.data.arguments })
      return
    case 'tool/result':
      return tellUnseenResult(sessions, doors, at, event.data.message.content[0])
    case 'turn/end':
      return tellTurnEnd(sessions, at, event.data.turn, endReason(event.data.reason))
    default: {
      if (at.helper !== undefined) return
      if (translateRecord({ session: '', project: '', at: 0 }, event) === undefined) return
      const live = await sessions.open(agent)
      const translated = withActivation(translateRecord(sessions.originOf(live, at), event), agent, host)
      if (translated !== undefined) at.pending.push(...(await sessions.handle(live, translated)))
    }
  }
}

/** The goal's rows do not say whether the host's own driver goes on with it; its service does. */
function withActivation<E extends SessionEvent>(event: E | undefined, agent: Agent, host: DoorHost): E | undefined {
  if (event?.kind !== 'goal-changed' || event.goal === null) return event
  const activation = host.goal(agent)?.activation
  return activation === undefined ? event : { ...event, activation }
}

/** A result of a call that the host refused: it passed no listener of finished calls. */
async function tellUnseenResult(
  sessions: Sessions,
  doors: Doors,
  at: TrackedAgent,
  block: { readonly toolCallId: string; readonly content: readonly ContentBlock[]; readonly isError?: boolean },
): Promise<void> {
  const call = at.called.get(block.toolCallId)
  if (call === undefined || at.reported.has(block.toolCallId)) return
  const { turn } = at
  const live = await sessions.open(at.agent)
  const event = toolFinished(sessions.originOf(live, at), {
    id: block.toolCallId,
    name: call.name,
    input: parsed(call.arguments),
    ok: block.isError !== true,
    content: block.content,
    turn: turn === 0 ? null : turn,
    cwd: at.agent.session.header.cwd ?? at.cwd,
  })
  await sessions.handle(live, event, doors.nested)
}

async function tellTurnEnd(
  sessions: Sessions,
  at: TrackedAgent,
  turn: number,
  reason: EventOf<'turn-ended'>['reason'],
): Promise<void> {
  // A turn whose only message was refused never began.
  if (at.turn < turn && at.voided.delete(turn)) return
  // The next turn empties the list.
  const answers = at.turn === turn ? at.answers : []
  const earlier = answers.slice(0, -1)
  const usage = at.turn === turn ? { ...at.usage } : { input: 0, output: 0 }
  const live = await sessions.open(at.agent)
  await sessions.handle(live, {
    ...sessions.originOf(live, at),
    kind: 'turn-ended',
    turn,
    reason,
    answer: capText(answers.at(-1) ?? ''),
    ...(earlier.length > 0 && { earlier }),
    ...(usage.input + usage.output > 0 && { usage }),
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text // a model may write arguments that are no JSON
  }
}
