/**
 * A host's hook events as ours. The host's JSON is a stranger's: a field of another type counts as
 * absent, an event or a session that cannot be known is refused with `BAD_INPUT`.
 */
import { OutriggerError } from '../errors.ts'
import { uncounted } from '../runtime/outrigger.ts'
import { capInput, capOutput, capText } from '../session/caps.ts'
import type { SessionEvent, SessionStarted } from '../session/events.ts'
import { placeIn } from '../session/place.ts'
import { canonicalTool, isShell, shellExit, touchedBy } from '../session/tools.ts'

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
  const session = textIn(payload, 'session_id')
  if (session === undefined || session === '') {
    throw new OutriggerError('BAD_INPUT', 'the event has no session_id', {
      subject: 'session_id',
      hint: 'pass the host’s JSON on',
    })
  }
  const agent = textIn(payload, 'agent_id')
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
      const answer = capText(textIn(payload, 'last_assistant_message') ?? '')
      const again = payload['stop_hook_active'] === true
      return [workChanged(payload, base), { ...base, kind: 'turn-ending', turn: uncounted, answer, again }]
    }
    case 'FileChanged': {
      const path = textIn(payload, 'file_path')
      return path === undefined ? [] : [{ ...base, kind: 'file-changed', path: relative(payload, place, path), by: 'outside' }]
    }
    case 'PreCompact':
      // What is saved before a compaction belongs to another engine; the compaction itself comes as SessionStart.
      return []
    case 'SessionEnd':
      return [{ ...base, kind: 'session-ended', reason: textIn(payload, 'reason') ?? 'other' }]
    default:
      return event satisfies never
  }
}

type Base = Pick<SessionEvent, 'session' | 'project' | 'at' | 'agent'>

const sources: readonly string[] = ['startup', 'resume', 'clear', 'fork'] satisfies readonly SessionStarted['source'][]

function sessionStarted(payload: Payload, base: Base): SessionEvent {
  const source = textIn(payload, 'source') ?? 'startup'
  if (source === 'compact') return { ...base, kind: 'compacted' }
  const title = textIn(payload, 'session_title')
  const model = textIn(payload, 'model')
  const cwd = textIn(payload, 'cwd')
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
  const text = textIn(payload, 'prompt') ?? ''
  if (text.trimStart().startsWith('<task-notification>')) {
    return [{ ...base, kind: 'turn-started', turn: uncounted, by: 'host' }]
  }
  return [
    { ...base, kind: 'person-spoke', text: capText(text) },
    { ...base, kind: 'turn-started', turn: uncounted, by: 'person' },
  ]
}

function toolFinished(payload: Payload, ok: boolean, base: Base, place: Place): SessionEvent {
  const tool = canonicalTool(textIn(payload, 'tool_name') ?? 'unknown')
  const input = payload['tool_input'] ?? {}
  const output = ok ? outputOf(payload['tool_response']) : (textIn(payload, 'error') ?? outputOf(payload['tool_response']))
  const cwd = textIn(payload, 'cwd')
  // A call that failed is not known to have touched what it names.
  const { read, written } = ok ? touchedBy(tool, input) : { read: [], written: [] }
  return {
    ...base,
    kind: 'tool-finished',
    turn: null,
    call: textIn(payload, 'tool_use_id') ?? place.newId(),
    tool,
    input: capInput(input),
    ok,
    output: capOutput(output),
    ...(isShell(tool) && { exit: payload['is_interrupt'] === true ? null : shellExit(output, ok) }),
    ...(read.length > 0 && { read: read.map(path => relative(payload, place, path)) }),
    ...(written.length > 0 && { written: written.map(path => relative(payload, place, path)) }),
    ...(cwd !== undefined && { cwd }),
  }
}

/** What a tool answered, as text. */
function outputOf(response: unknown): string {
  if (typeof response === 'string') return response
  if (response === undefined || response === null) return ''
  const { stdout, stderr, content } = response as Payload
  if (typeof stdout === 'string') return [stdout, stderr].filter(part => typeof part === 'string' && part !== '').join('\n')
  const blocks = Array.isArray(response) ? response : content
  if (Array.isArray(blocks)) {
    const texts = blocks.map(block => (typeof block === 'object' && block !== null ? (block as Payload)['text'] : block))
    return texts.filter(text => typeof text === 'string').join('\n')
  }
  return JSON.stringify(response)
}

/** Helpers and jobs that still run; a host that does not say has none. */
function workChanged(payload: Payload, base: Base): SessionEvent {
  const tasks: readonly unknown[] = Array.isArray(payload['background_tasks']) ? payload['background_tasks'] : []
  let children = 0
  let jobs = 0
  for (const task of tasks) {
    if (typeof task !== 'object' || task === null) continue
    const { type, status } = task as Payload
    if (status !== undefined && status !== 'running' && status !== 'pending' && status !== 'waiting') continue
    if (type === 'subagent') children++
    else jobs++
  }
  return { ...base, kind: 'work-changed', children, jobs }
}

function relative(payload: Payload, place: Place, path: string): string {
  return placeIn(place.project, path, textIn(payload, 'cwd') ?? place.project)
}

function textIn(payload: Payload, key: string): string | undefined {
  const value = payload[key]
  return typeof value === 'string' ? value : undefined
}
