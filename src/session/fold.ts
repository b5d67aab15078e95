/** Events into facts, purely: the same events give the same facts, live and from a log. */
import { isTestSegment, segmentsOf, testCommands } from '../text/checks.ts'
import { firstBytes } from './caps.ts'
import type { SessionEvent, ToolFinished } from './events.ts'
import type { Command, SessionFacts } from './facts.ts'
import { changeFacts, changeFiles, type FileChange, noFiles } from './file-facts.ts'
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
    files: noFiles(),
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
  const timed = event.at > facts.lastAt ? changeFacts(facts, { lastAt: event.at }) : facts
  if (event.agent !== undefined) return foldFiles(timed, event)
  switch (event.kind) {
    case 'session-started':
      return start(timed, event)
    case 'turn-started':
      return changeFacts(timed, { turn: { turn: event.turn, by: event.by, startedAt: event.at } })
    case 'turn-ended':
      return changeFacts(timed, {
        turn: null,
        turns: timed.turns + 1,
        personTurns: timed.personTurns + (timed.turn?.by === 'person' ? 1 : 0),
        lastAnswer: firstBytes(event.answer, lastAnswerBytes),
      })
    case 'tool-finished':
      return foldCommand(foldFiles(timed, event), event, options)
    case 'file-changed':
      return foldFiles(timed, event)
    case 'context-measured': {
      const { tokens, at } = event
      const window = event.window > 0 ? event.window : (timed.context?.window ?? 0)
      return changeFacts(timed, { context: { tokens, window, compactsAt: event.compactsAt ?? null, at } })
    }
    case 'todos-changed':
      return changeFacts(timed, { todos: event.todos })
    case 'goal-changed':
      return changeFacts(timed, { goal: event.goal })
    case 'agents-listed':
      return changeFacts(timed, { agents: event.agents })
    case 'title-changed':
      return changeFacts(timed, { title: event.title })
    case 'compacted':
      return changeFacts(timed, { compactions: timed.compactions + 1 })
    case 'session-ended':
      return changeFacts(timed, { endedAt: event.at })
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
  if (source === 'compact') return changeFacts(facts, { ...told, compactions: facts.compactions + 1 })
  if (source === 'clear') {
    return changeFacts(facts, { ...told, session, project, source, endedAt: null, turn: null, context: null, lastAnswer: null })
  }
  return { ...emptyFacts(session, project, at), source, ...told }
}

function foldFiles(facts: SessionFacts, event: SessionEvent): SessionFacts {
  const { at } = event
  if (event.kind === 'file-changed') return changeFiles(facts, [[event.path, { writtenAt: at, by: event.by }]])
  if (event.kind !== 'tool-finished') return facts
  const reads = event.read?.map((path): readonly [string, FileChange] => [path, { readAt: at, by: 'agent' }]) ?? []
  const writes = event.written?.map((path): readonly [string, FileChange] => [path, { writtenAt: at, by: 'agent' }]) ?? []
  return changeFiles(facts, [...reads, ...writes])
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
  const commands = [...facts.commands, command].slice(-maxCommands)
  return changeFacts(facts, { commands, ...(test && { lastTest: command }) })
}

function commandOf(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null) return undefined
  const { command } = input as { readonly command?: unknown }
  return typeof command === 'string' ? command : undefined
}
