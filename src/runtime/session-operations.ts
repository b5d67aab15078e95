/** `session events`, `session facts` and `replay`: what a host's own log says, in our words. */
import { OutriggerError } from '../errors.ts'
import type { Files } from '../ports/files.ts'
import { decodeInput } from '../session/decode.ts'
import type { SessionFacts } from '../session/facts.ts'
import { emptyFolded, type Folded, foldEvent } from '../session/folded.ts'
import { type Chunks, type Log, type LogSummary, openLog } from '../session/logs/index.ts'
import type { AnyOperation, Caller, InputSchema, Operation } from '../session/operation.ts'
import { findRoot, joinPath } from './places.ts'
import type { Project } from './project.ts'
import { type ReplayEngine, type ReplayLine, type ReplaySummary, replay, replayEngines } from './replay.ts'

interface LogInput {
  readonly log: string
}

interface ReplayInput extends LogInput {
  readonly engine?: readonly ReplayEngine[]
  readonly drain: number
}

const log = {
  type: 'string',
  description: "a session's log: a DSH session, a Claude Code transcript, a file of events, `-`, or a folder with one",
  minLength: 1,
  maxLength: 4_096,
} as const

const logInput = {
  type: 'object',
  properties: { log },
  required: ['log'],
  additionalProperties: false,
} as const satisfies InputSchema

const replayInput = {
  type: 'object',
  properties: {
    log,
    engine: {
      type: 'array',
      description: `only these engines; this version has ${replayEngines.join(', ')}`,
      items: { type: 'string', maxLength: 20 },
      maxItems: 5,
    },
    drain: {
      type: 'integer',
      description: 'ms after the last event in which timers still fire',
      minimum: 0,
      maximum: 86_400_000,
      default: 60_000,
    },
  },
  required: ['log'],
  additionalProperties: false,
} as const satisfies InputSchema

export function sessionOperations(project: Project): readonly AnyOperation[] {
  return [eventsOperation(project), factsOperation(project), replayOperation(project)]
}

type EventDocument = { readonly schema: 'outrigger.session.event/1' } & Readonly<Record<string, unknown>>
type EventsSummary = { readonly schema: 'outrigger.session.summary/1' } & LogSummary

function eventsOperation(project: Project): Operation<LogInput, EventDocument | EventsSummary> {
  async function* stream(input: LogInput, caller: Caller): AsyncIterable<EventDocument | EventsSummary> {
    const opened = await openSessionLog(project, input.log, caller)
    for await (const event of opened.events) {
      yield { schema: 'outrigger.session.event/1', ...event, at: iso(event.at) }
    }
    yield { schema: 'outrigger.session.summary/1', ...opened.summary() }
  }
  return {
    name: 'session.events',
    summary: "Prints a host's session log as outrigger's events, one a line, then what was passed over.",
    input: logInput,
    positional: ['log'],
    readOnly: true,
    decode: value => decodeInput(logInput, value) as unknown as LogInput,
    async run() {
      throw new Error('the events are a stream')
    },
    stream,
    render: output => (isSummary(output) ? summaryText(output) : eventText(output)),
    examples: ['outrigger session events ~/.dsh/sessions/x/y/session.jsonl.zstd', 'outrigger session events log.jsonl --json'],
  }
}

type FactsDocument = Readonly<Record<string, unknown>>

function factsOperation(project: Project): Operation<LogInput, FactsDocument> {
  return {
    name: 'session.facts',
    summary: "Prints what a host's session log adds up to: turns, files, commands, todos, context.",
    input: logInput,
    positional: ['log'],
    readOnly: true,
    decode: value => decodeInput(logInput, value) as unknown as LogInput,
    async run(input, caller) {
      const opened = await openSessionLog(project, input.log, caller)
      let folded: Folded | undefined
      for await (const event of opened.events) {
        folded = foldEvent(folded ?? emptyFolded(opened.session, opened.project, event.at), event).folded
      }
      return factsDocument((folded ?? emptyFolded(opened.session, opened.project, 0)).facts)
    },
    render: factsText,
    examples: ['outrigger session facts log.jsonl', 'outrigger session facts ~/.dsh/sessions/x/y --json'],
  }
}

function replayOperation(project: Project): Operation<ReplayInput, ReplayLine | ReplaySummary> {
  async function* stream(input: ReplayInput, caller: Caller): AsyncIterable<ReplayLine | ReplaySummary> {
    const opened = await openSessionLog(project, input.log, caller)
    const engines = input.engine
    yield* replay(project, opened.events, { drainMs: input.drain, ...(engines !== undefined && { engines }) })
  }
  return {
    name: 'replay',
    summary: 'Runs the engines over a recorded session and prints what they ask for; changes nothing.',
    input: replayInput,
    positional: ['log'],
    readOnly: true,
    decode: value => decodeReplay(decodeInput(replayInput, value)),
    async run() {
      throw new Error('a replay is a stream')
    },
    stream,
    render: replayText,
    examples: ['outrigger replay session.jsonl.zstd', 'outrigger replay events.jsonl --engine keel --json'],
  }
}

function decodeReplay(input: Readonly<Record<string, unknown>>): ReplayInput {
  const given = input as unknown as ReplayInput
  const unknown = given.engine?.find(name => !replayEngines.includes(name))
  if (unknown === undefined) return given
  throw new OutriggerError('BAD_INPUT', `this version has no engine "${unknown}"`, {
    subject: 'engine',
    hint: `choose of: ${replayEngines.join(', ')}`,
  })
}

/** A session's log by its path, `-`, or a folder that holds one. */
export async function openSessionLog(project: Project, path: string, caller: Caller): Promise<Log> {
  const { files, root } = project
  const chunks = path === '-' && caller.stdin !== undefined ? caller.stdin() : chunksOf(files, absolute(path, caller.cwd ?? root))
  return openLog(chunks, { projectOf: folder => (files.stat(folder)?.kind === 'folder' ? findRoot(files, folder) : folder) })
}

const absolute = (path: string, cwd: string) => (/^(?:[\\/]|[A-Za-z]:[\\/])/.test(path) ? path : joinPath(cwd, path))

const chunkBytes = 1024 * 1024

function chunksOf(files: Files, path: string): Chunks {
  const file = fileOf(files, path)
  function* chunks() {
    try {
      yield* files.readChunks(file, chunkBytes)
    } catch (error) {
      // Everything that the files port throws here means: it cannot be read.
      throw noLog(path, error)
    }
  }
  return chunks()
}

/** A folder means its newest session. */
function fileOf(files: Files, path: string): string {
  try {
    if (files.stat(path)?.kind !== 'folder') return path
    const newest = sessionsBelow(files, path, 4).sort((one, other) => (one.mtimeNs < other.mtimeNs ? 1 : -1))[0]
    if (newest !== undefined) return newest.path
  } catch (error) {
    // Everything that the files port throws here means: it cannot be read.
    throw noLog(path, error)
  }
  throw noLog(path, new Error('the folder holds no session'))
}

const sessionName = /^session(?:\.v\d+)?\.jsonl(?:\.zstd)?$/

function sessionsBelow(files: Files, folder: string, depth: number): { readonly path: string; readonly mtimeNs: bigint }[] {
  const entries = files.list(folder)
  const own = entries.flatMap(({ name }) => {
    const path = joinPath(folder, name)
    const found = sessionName.test(name) ? files.stat(path) : undefined
    return found?.kind === 'file' ? [{ path, mtimeNs: found.mtimeNs }] : []
  })
  if (own.length > 0 || depth === 0) return own
  return entries.flatMap(({ name, kind }) => (kind === 'folder' ? sessionsBelow(files, joinPath(folder, name), depth - 1) : []))
}

function noLog(path: string, error: unknown): OutriggerError {
  const why = error instanceof Error ? error.message : String(error)
  return new OutriggerError('SESSION_NO_LOG', why.includes(path) ? why : `${path} cannot be read: ${why}`, {
    subject: path,
    hint: 'give the path of a session log, or of a folder that holds one',
    cause: error,
  })
}

const iso = (at: number) => new Date(at).toISOString()
const isoOrNull = (at: number | null) => (at === null ? null : iso(at))

function factsDocument(facts: SessionFacts): FactsDocument {
  const command = (one: SessionFacts['lastTest']) => one && { ...one, at: iso(one.at) }
  const files = Object.entries(facts.files).map(([path, file]) => [
    path,
    { ...file, readAt: isoOrNull(file.readAt), writtenAt: isoOrNull(file.writtenAt) },
  ])
  return {
    ...facts,
    startedAt: iso(facts.startedAt),
    lastAt: iso(facts.lastAt),
    endedAt: isoOrNull(facts.endedAt),
    turn: facts.turn && { ...facts.turn, startedAt: iso(facts.turn.startedAt) },
    context: facts.context && { ...facts.context, at: iso(facts.context.at) },
    files: Object.fromEntries(files),
    commands: facts.commands.map(command),
    lastTest: command(facts.lastTest),
  }
}

const isSummary = (output: EventDocument | EventsSummary): output is EventsSummary =>
  output.schema === 'outrigger.session.summary/1'

function eventText(event: EventDocument): string {
  const { schema: _, kind, at, session: __, project: ___, ...rest } = event as Record<string, unknown>
  const fields = Object.entries(rest).map(([name, value]) => `${name}=${shorten(JSON.stringify(value) ?? '')}`)
  return [at, kind, ...fields].join(' ')
}

const shorten = (text: string) => {
  const characters = [...text.slice(0, 200)]
  return characters.length > 80 ? `${characters.slice(0, 79).join('')}…` : text
}

function summaryText({ format, session, events, skipped, gaps, torn }: EventsSummary): string {
  const passed = Object.entries(skipped).map(([type, count]) => `${count} ${type}`)
  return [
    `${format} session ${session}: ${events} events`,
    ...(passed.length > 0 ? [`passed over: ${passed.join(', ')}`] : []),
    ...(gaps > 0 ? [`jumps in the numbering: ${gaps}`] : []),
    ...(torn === null ? [] : [`cut off: the last ${torn.bytes} bytes are no whole frame`]),
  ].join('\n')
}

function factsText(document: FactsDocument): string {
  const { session, turns, personTurns, files, commands, lastTest, todos, title, compactions } =
    document as unknown as SessionFacts
  return [
    `session ${session}${title === null ? '' : ` "${title}"`}`,
    `turns: ${turns}, ${personTurns} of a person; compactions: ${compactions}`,
    `files: ${Object.keys(files).length}; commands: ${commands.length}; todos: ${todos.length}`,
    ...(lastTest === null ? [] : [`last test: ${lastTest.command} → exit ${lastTest.exit ?? 'unknown'}`]),
  ].join('\n')
}

function replayText(output: ReplayLine | ReplaySummary): string {
  if (output.schema === 'outrigger.replay.summary/1') return `${output.events} events, ${output.actions} actions`
  const { engine, kind, text } = output.action
  const said = typeof text === 'string' ? `\n${text.replace(/^/gm, '  ')}` : ''
  return `${output.at} ${output.on} → ${engine} ${kind}${said}`
}
