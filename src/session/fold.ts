/** Events into facts, purely: the same events give the same facts, live and from a log. */
import { isTestSegment, segmentsOf, testCommands } from '../text/checks.ts'
import { firstBytes } from './caps.ts'
import type { SessionEvent, ToolFinished } from './events.ts'
import type { Command, FileFact, SessionFacts } from './facts.ts'
import { isShell } from './tools.ts'

export interface FoldOptions {
  /** Commands of the configuration that run tests, beside the known ones. */
  readonly testCommands?: readonly string[]
}

const maxCommands = 50
const lastAnswerBytes = 64 * 1024

export function emptyFacts(session: string, project: string, at: number): SessionFacts {
  return {
    session,
    project,
    startedAt: at,
    lastAt: at,
    endedAt: null,
    source: 'startup',
    title: null,
    model: null,
    turn: null,
    turns: 0,
    personTurns: 0,
    context: null,
    goal: null,
    files: emptyRecord(),
    commands: [],
    lastTest: null,
    todos: [],
    agents: null,
    compactions: 0,
    lastAnswer: null,
  }
}

/** One event more. Give it completed tool events (`calls.ts`). */
export function fold(facts: SessionFacts, event: SessionEvent, options: FoldOptions = {}): SessionFacts {
  const timed = event.at > facts.lastAt ? { ...facts, lastAt: event.at } : facts
  if (event.agent !== undefined) return foldFiles(timed, event)
  switch (event.kind) {
    case 'session-started':
      return start(timed, event)
    case 'turn-started':
      return { ...timed, turn: { turn: event.turn, by: event.by, startedAt: event.at } }
    case 'turn-ended':
      return {
        ...timed,
        turn: null,
        turns: timed.turns + 1,
        personTurns: timed.personTurns + (timed.turn?.by === 'person' ? 1 : 0),
        lastAnswer: firstBytes(event.answer, lastAnswerBytes),
      }
    case 'tool-finished':
      return foldCommand(foldFiles(timed, event), event, options)
    case 'file-changed':
      return foldFiles(timed, event)
    case 'context-measured': {
      const { tokens, at } = event
      const window = event.window > 0 ? event.window : (timed.context?.window ?? 0)
      return { ...timed, context: { tokens, window, compactsAt: event.compactsAt ?? null, at } }
    }
    case 'todos-changed':
      return { ...timed, todos: event.todos }
    case 'goal-changed':
      return { ...timed, goal: event.goal }
    case 'agents-listed':
      return { ...timed, agents: event.agents }
    case 'title-changed':
      return { ...timed, title: event.title }
    case 'compacted':
      return { ...timed, compactions: timed.compactions + 1 }
    case 'session-ended':
      return { ...timed, endedAt: event.at }
    default:
      return timed
  }
}

function start(facts: SessionFacts, event: Extract<SessionEvent, { kind: 'session-started' }>): SessionFacts {
  const { session, project, at, source } = event
  const told = {
    ...(event.title !== undefined && { title: event.title }),
    ...(event.model !== undefined && { model: event.model }),
  }
  if (source === 'compact') return { ...facts, ...told, compactions: facts.compactions + 1 }
  if (source === 'clear') {
    return { ...facts, ...told, session, project, source, endedAt: null, turn: null, context: null, lastAnswer: null }
  }
  return { ...emptyFacts(session, project, at), source, ...told }
}

function foldFiles(facts: SessionFacts, event: SessionEvent): SessionFacts {
  if (event.kind === 'file-changed') {
    return { ...facts, files: withFile(facts.files, event.path, { writtenAt: event.at, by: event.by }) }
  }
  if (event.kind !== 'tool-finished') return facts
  let files = facts.files
  for (const path of event.read ?? []) files = withFile(files, path, { readAt: event.at, by: 'agent' })
  for (const path of event.written ?? []) files = withFile(files, path, { writtenAt: event.at, by: 'agent' })
  return files === facts.files ? facts : { ...facts, files }
}

function withFile(
  files: SessionFacts['files'],
  path: string,
  change: Partial<FileFact> & Pick<FileFact, 'by'>,
): SessionFacts['files'] {
  const before = files[path] ?? { readAt: null, writtenAt: null }
  return Object.assign(emptyRecord<FileFact>(), files, { [path]: { ...before, ...change } })
}

function foldCommand(facts: SessionFacts, event: ToolFinished, options: FoldOptions): SessionFacts {
  const line = isShell(event.tool) ? commandOf(event.input) : undefined
  if (line === undefined) return facts
  const known = options.testCommands === undefined ? testCommands : [...testCommands, ...options.testCommands]
  const { segments, piped } = segmentsOf(line)
  const test = segments.some(segment => isTestSegment(segment, known))
  const command: Command = {
    command: line.replace(/\s+/g, ' ').trim(),
    exit: test && piped ? null : (event.exit ?? null),
    at: event.at,
    call: event.call,
    test,
  }
  return { ...facts, commands: [...facts.commands, command].slice(-maxCommands), ...(test && { lastTest: command }) }
}

function commandOf(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null) return undefined
  const { command } = input as { readonly command?: unknown }
  return typeof command === 'string' ? command : undefined
}

/** Without a prototype: a file named `constructor` is a file. */
function emptyRecord<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>
}
