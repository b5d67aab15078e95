/**
 * The host's records as events of ours. Pure: no context, no clock but the records' own, no decisions.
 * A record that says nothing to an engine translates to `undefined`.
 */
import type { ContentBlock, TokenUsage, UserMessage } from '@deepseek-ai/dsh-llm'
import type { SessionEvent as HostEvent, TurnEndReason as HostReason, SessionHeader } from '@deepseek-ai/dsh-session'
import { capInput, capOutput } from '../session/caps.ts'
import type { By, EventOf, SessionEvent, TurnEndReason } from '../session/events.ts'
import { readGoalRow } from '../session/goal-row.ts'
import { placeIn } from '../session/place.ts'
import { canonicalTool, isShell, shellExit, touchedBy } from '../session/tools.ts'

/** Whose event it is and when. */
export interface Origin {
  readonly session: string
  readonly project: string
  readonly at: number
  /** Set: a helper agent's. */
  readonly agent?: string
}

export function textOf(content: readonly ContentBlock[]): string {
  return content.map(block => (block.type === 'text' ? block.text : '')).join('')
}

/** How the session began. A fork is a new session that starts with rows of another one. */
export function startSource(
  hostSource: 'startup' | 'resume' | 'clear' | 'compact',
  header: SessionHeader,
): EventOf<'session-started'>['source'] {
  const forked = header.parentSession !== undefined && header.seedLength !== undefined && header.origin !== 'subagent'
  return hostSource === 'startup' && forked ? 'fork' : hostSource
}

export function isPersonMessage(message: UserMessage): boolean {
  return message.source === undefined || message.source.kind === 'user'
}

/** Who opened a turn: the source of its first message that is not the host's own snapshot. */
export function startedBy(messages: readonly UserMessage[]): By {
  const first = messages.find(message => !isSnapshot(message))
  const kind = first?.source?.kind as string | undefined
  if (kind === 'user') return 'person'
  if (kind === 'goal') return 'goal'
  // Later hosts write a plugin's name behind its kind.
  return kind === 'plugin' || kind?.startsWith('plugin:') === true ? 'plugin' : 'host'
}

function isSnapshot(message: UserMessage): boolean {
  return message.source?.kind === 'plugin' && message.source.form === 'snapshot'
}

export function endReason(reason: HostReason): TurnEndReason {
  switch (reason.kind) {
    case 'completed':
    case 'aborted':
    case 'blocked':
    case 'error':
    case 'max-tokens':
    case 'interrupted':
      return reason.kind
    default:
      return 'error' // a kind that a later host or another plugin added: it did not complete
  }
}

/** A call that finished, with the files it named as paths of the project. */
export function toolFinished(
  origin: Origin,
  call: {
    readonly id: string
    /** The call of the model that this one was made inside of. */
    readonly parent?: string
    readonly name: string
    readonly input: unknown
    readonly ok: boolean
    readonly content: readonly ContentBlock[]
    readonly turn: number | null
    readonly cwd: string
  },
): EventOf<'tool-finished'> {
  const tool = canonicalTool(call.name)
  const { read, written } = touchedBy(tool, call.input)
  const output = textOf(call.content)
  const inProject = (path: string): string => placeIn(origin.project, path, call.cwd)
  return {
    ...origin,
    kind: 'tool-finished',
    turn: call.turn,
    call: call.id,
    ...(call.parent !== undefined && { parent: call.parent }),
    tool,
    input: capInput(call.input),
    ok: call.ok,
    output: capOutput(output),
    ...(isShell(tool) && { exit: shellExit(output, call.ok) }),
    ...(read.length > 0 && { read: read.map(inProject) }),
    ...(written.length > 0 && { written: written.map(inProject) }),
    cwd: call.cwd,
  }
}

/** What the log alone tells: titles, todos, goals, compactions. Words, calls and turns have moments of their own. */
export function translateRecord(origin: Origin, event: HostEvent): Exclude<SessionEvent, EventOf<'turn-ending'>> | undefined {
  // Rows of packages that this one does not depend on are looked at by name and shape.
  const { type, data } = event as { readonly type: string; readonly data: Readonly<Record<string, unknown>> }
  switch (type) {
    case 'session/title': {
      const source = data.source as { readonly kind?: string } | undefined
      return {
        ...origin,
        kind: 'title-changed',
        title: String(data.title),
        by: source?.kind === 'user' ? 'person' : 'generated',
      }
    }
    case 'todo/write': {
      const todos = data.todos as readonly {
        readonly content: string
        readonly status: 'pending' | 'in_progress' | 'completed'
      }[]
      return { ...origin, kind: 'todos-changed', todos: todos.map(todo => ({ text: todo.content, state: todo.status })) }
    }
    case 'goal/change': {
      const goal = readGoalRow(data)
      return goal === undefined ? undefined : { ...origin, kind: 'goal-changed', ...goal }
    }
    case 'compaction/end':
      return data.error === undefined
        ? { ...origin, kind: 'compacted', trigger: data.sourceCommandId === undefined ? 'auto' : 'manual' }
        : undefined
    default:
      return undefined
  }
}

/** Tokens in the window after a request: uncached and cached input, and the answer, which is part of the next one. */
export function contextMeasured(
  origin: Origin,
  usage: TokenUsage,
  window: number,
  compactsAt?: number,
): EventOf<'context-measured'> {
  const tokens = usage.inputTokens + (usage.cacheReadTokens ?? 0) + (usage.cacheWriteTokens ?? 0) + usage.outputTokens
  return { ...origin, kind: 'context-measured', tokens, window, ...(compactsAt !== undefined && { compactsAt }) }
}
