/**
 * A host's hook events as ours. The host's JSON is a stranger's: a field of another type counts as
 * absent, an event or a session that cannot be known is refused with `BAD_INPUT`.
 */
import { OutriggerError } from '../errors.ts'
import { uncounted } from '../runtime/turns.ts'
import { completeTool } from '../session/calls.ts'
import { capInput, capOutput, capText } from '../session/caps.ts'
import type { SessionEvent, SessionStarted } from '../session/events.ts'
import { blocksText, listOf, rowOf, textOf } from '../session/logs/lines.ts'
import { placeIn } from '../session/place.ts'

/** Events that we answer; a host may register others, they have nothing to say. */
export const hostEvents = [
  'SessionStart',
  'UserPromptSubmit',
  'PostToolUse',
  'PostToolUseFailure',
  'Stop',
  'FileChanged',
  'PreCompact',
  'SessionEnd',
] as const

export type HostEvent = (typeof hostEvents)[number]

export type Payload = Readonly<Record<string, unknown>>

export interface Place {
  /** Absolute root of the project. */
  readonly project: string
  /** ms since the epoch. */
  readonly at: number
  newId(): string
}

export function decodePayload(text: string): Payload {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new OutriggerError('BAD_INPUT', 'standard input is not JSON', { cause, hint: 'give the JSON of the host’s event' })
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Payload
  throw new OutriggerError('BAD_INPUT', 'standard input is no JSON object', { hint: 'give the JSON of the host’s event' })
}

/** Throws `BAD_INPUT` without a session id. `turn-ending` stands last: its answer decides what follows. */
export function eventsOf(event: HostEvent, payload: Payload, place: Place): readonly SessionEvent[] {
  const session = textOf(payload['session_id'])
  if (session === undefined || session === '') {
    throw new OutriggerError('BAD_INPUT', 'the event has no session_id', {
      subject: 'session_id',
      hint: 'pass the host’s JSON on',
    })
  }
  const agent = textOf(payload['agent_id'])
  const base = { session, project: place.project, at: place.at, ...(agent !== undefined && { agent }) }
  switch (event) {
    case 'SessionStart':
      return [sessionStarted(payload, base)]
    case 'UserPromptSubmit':
      return prompted(payload, base)
    case 'PostToolUse':
    case 'PostToolUseFailure':
      return [toolFinished(payload, event === 'PostToolUse', base, place)]
    case 'Stop': {
      const answer = capText(textOf(payload['last_assistant_message']) ?? '')
      const again = payload['stop_hook_active'] === true
      return [workChanged(payload, base), { ...base, kind: 'turn-ending', turn: uncounted, answer, again }]
    }
    case 'FileChanged': {
      const path = textOf(payload['file_path'])
      return path === undefined ? [] : [{ ...base, kind: 'file-changed', path: relative(payload, place, path), by: 'outside' }]
    }
    case 'PreCompact':
      // pack's notes are saved while everything is there; the compaction itself comes as SessionStart.
      return [{ ...base, kind: 'command-run', name: 'pack', args: 'save --plain', by: 'host' }]
    case 'SessionEnd':
      return [{ ...base, kind: 'session-ended', reason: textOf(payload['reason']) ?? 'other' }]
    default:
      return event satisfies never
  }
}

type Base = Pick<SessionEvent, 'session' | 'project' | 'at' | 'agent'>

const sources: readonly string[] = ['startup', 'resume', 'clear', 'fork'] satisfies readonly SessionStarted['source'][]

function sessionStarted(payload: Payload, base: Base): SessionEvent {
  const source = textOf(payload['source']) ?? 'startup'
  if (source === 'compact') return { ...base, kind: 'compacted' }
  const title = textOf(payload['session_title'])
  const model = textOf(payload['model'])
  const cwd = textOf(payload['cwd'])
  return {
    ...base,
    kind: 'session-started',
    source: sources.includes(source) ? (source as SessionStarted['source']) : 'startup',
    ...(title !== undefined && { title }),
    ...(model !== undefined && { model }),
    ...(cwd !== undefined && { cwd }),
  }
}

/** The host raises the same event when a task in the background ends; nobody spoke then. */
function prompted(payload: Payload, base: Base): readonly SessionEvent[] {
  const text = textOf(payload['prompt']) ?? ''
  if (text.trimStart().startsWith('<task-notification>')) {
    return [{ ...base, kind: 'turn-started', turn: uncounted, by: 'host' }]
  }
  return [
    { ...base, kind: 'person-spoke', text: capText(text) },
    { ...base, kind: 'turn-started', turn: uncounted, by: 'person' },
  ]
}

function toolFinished(payload: Payload, ok: boolean, base: Base, place: Place): SessionEvent {
  const input = payload['tool_input'] ?? {}
  const response = outputOf(payload['tool_response'])
  const output = ok ? response : (textOf(payload['error']) ?? response)
  const cwd = textOf(payload['cwd'])
  const complete = completeTool({
    ...base,
    kind: 'tool-finished',
    turn: null,
    call: textOf(payload['tool_use_id']) ?? place.newId(),
    tool: textOf(payload['tool_name']) ?? 'unknown',
    input,
    ok,
    output,
    ...(cwd !== undefined && { cwd }),
  })
  const isInterrupted = payload['is_interrupt'] === true && complete.exit !== undefined
  return { ...complete, input: capInput(input), output: capOutput(output), ...(isInterrupted && { exit: null }) }
}

/** What a tool answered, as text. */
function outputOf(response: unknown): string {
  if (response === undefined || response === null) return ''
  const { stdout, stderr, content } = rowOf(response)
  if (typeof stdout === 'string') return [stdout, textOf(stderr) ?? ''].filter(part => part !== '').join('\n')
  const text = blocksText(content ?? response, '\n')
  return text === '' && typeof response !== 'string' ? JSON.stringify(response) : text
}

/** Helpers and jobs that still run; a host that does not say has none. */
function workChanged(payload: Payload, base: Base): SessionEvent {
  let children = 0
  let jobs = 0
  for (const { type, status } of listOf(payload['background_tasks']).map(rowOf)) {
    if (type === undefined) continue
    if (status !== undefined && status !== 'running' && status !== 'pending' && status !== 'waiting') continue
    if (type === 'subagent') children++
    else jobs++
  }
  return { ...base, kind: 'work-changed', children, jobs }
}

function relative(payload: Payload, place: Place, path: string): string {
  return placeIn(place.project, path, textOf(payload['cwd']) ?? place.project)
}
