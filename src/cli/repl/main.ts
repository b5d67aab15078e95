/** `outrigger repl …`: sessions of cells from a terminal or a script. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { OutriggerError } from '../../errors.ts'
import { isSessionName, openRepl } from '../../node/repl.ts'
import { resultText } from '../../repl/render.ts'
import { createSecrets } from '../../repl/secrets.ts'
import type { ReplSession, RunOptions } from '../../repl/types.ts'
import { replConfig } from '../../runtime/config-repl.ts'
import { joinPath } from '../../runtime/places.ts'
import type { Project } from '../../runtime/project.ts'
import type { Io } from '../io.ts'
import { printDocument, printText, reportError } from '../print.ts'
import { bytesOfStdin } from '../stdin.ts'
import { nearest } from '../words.ts'
import { interactive } from './interactive.ts'
import { openLineHistory } from './line-history.ts'
import { listSessions } from './list.ts'
import { answerOf, heard, serve } from './serve.ts'
import { historyText, listText, stateText } from './texts.ts'

export interface ReplCommand {
  /** `run`, `state` …; nothing: interactive. */
  readonly words: readonly string[]
  /** As commander read them. */
  readonly options: Readonly<Record<string, unknown>>
  readonly json: boolean
  readonly project?: string
}

type Open = (options: {
  readonly cwd: string
  readonly project?: string
  readonly env: Io['env']
  readonly door: 'cli'
}) => Promise<Project>

const verbs = ['run', 'serve', 'state', 'history', 'list', 'prune', 'fork'] as const
type Verb = (typeof verbs)[number]
const maxCellBytes = 4 * 1024 * 1024

/** @returns the exit code. Throws what is refused. */
export async function runRepl(io: Io, command: ReplCommand, open: Open): Promise<number> {
  try {
    return await dispatch(io, command, open)
  } catch (error) {
    // A client of `serve` reads stdout and nothing else.
    if (command.words[0] !== 'serve' || !(error instanceof OutriggerError)) throw error
    return reportError(error, io, true)
  }
}

async function dispatch(io: Io, command: ReplCommand, open: Open): Promise<number> {
  const [verb, ...rest] = command.words
  if (verb !== undefined && !verbs.includes(verb as Verb))
    throw usage(`no verb "${verb}" of repl`, `give one of: ${verbs.join(', ')}`)
  if (rest.length > (verb === 'run' ? 1 : 0))
    throw usage(`too many words after repl ${verb}`, '`outrigger help repl` shows the usage')
  const runOptions = optionsOf(command)
  const project = await open({
    cwd: io.cwd,
    ...(command.project !== undefined && { project: command.project }),
    env: io.env,
    door: 'cli',
  })
  try {
    for (const note of project.config.check('repl')) io.stderr.write(`${note}\n`)
    if (verb === 'list') return await list(io, command, project)
    const session = await openFor(io, command, project, verb)
    let isOpen = true
    try {
      if (verb === 'serve') {
        isOpen = false
        return await serve(io, { session, name: nameOf(command), run: runOptions, pid: pidOf(project), node: process.version })
      }
      if (verb === 'run') return await runOne(io, command, project, session, runOptions, rest[0])
      if (verb === 'prune') return await prune(io, command, session)
      if (verb === 'fork') return await fork(io, command, session)
      if (verb === 'state' || verb === 'history') return await look(io, command, session, verb)
      return await interactive(
        io,
        session,
        { ...runOptions, echo: runOptions.echo ?? 'last' },
        replConfig(project.config.section('repl')),
        openLineHistory(historyFile(project), createSecrets(project.env, text => project.mask(text)).mask),
      )
    } finally {
      if (isOpen) await session.close()
    }
  } finally {
    await project.close()
  }
}

async function openFor(io: Io, command: ReplCommand, project: Project, verb: string | undefined): Promise<ReplSession> {
  const { cwd, heapMb } = command.options
  if (verb !== undefined && command.options['session'] === undefined)
    throw usage(`repl ${verb}: which session?`, 'give --session with a name or a folder')
  const name = nameOf(command)
  if ((verb === 'state' || verb === 'history') && isSessionName(name)) await requireSession(project, name)
  return openRepl(project, {
    session: isFolder(name) ? resolve(io.cwd, name) : name,
    cwd: typeof cwd === 'string' ? resolve(io.cwd, cwd) : io.cwd,
    ...(heapMb !== undefined && { override: { heapMb: integer('--heap-mb', heapMb, 64) } }),
  })
}

/** Who looks at a session that nobody began has mistyped its name. */
async function requireSession(project: Project, name: string): Promise<void> {
  const known = (await listSessions(project)).map(session => session.name)
  if (known.includes(name)) return
  const near = nearest(name, known) ?? known.slice(0, 5).join(', ')
  throw new OutriggerError('REPL_NO_SESSION', `no session "${name}" in this project`, {
    subject: name,
    hint:
      near === '' ? `\`outrigger repl --session ${name}\` begins it` : `did you mean ${near}? \`outrigger repl list\` lists them`,
  })
}

/** In the user's state, not in the project's: what a person types is the person's. */
const historyFile = ({ places }: Project): string | null =>
  places.userState === null ? null : joinPath(places.userState, 'repl-history')

/** A session in a folder of its own is given as a path. */
const isFolder = (name: string): boolean => /[/\\]|^\.{1,2}$/.test(name)

const nameOf = (command: ReplCommand): string =>
  typeof command.options['session'] === 'string' ? command.options['session'] : 'default'

const pidOf = (project: Project): number => ((project.env['OUTRIGGER_NOW'] ?? '') === '' ? process.pid : 0)

function optionsOf({ options }: ReplCommand): RunOptions {
  const { computeMs, wallMs, echo } = options
  if (echo !== undefined && echo !== 'return' && echo !== 'last') throw usage(`--echo ${String(echo)}`, 'give return or last')
  return {
    ...(computeMs !== undefined && { computeMs: integer('--compute-ms', computeMs, 1) }),
    ...(wallMs !== undefined && { wallMs: integer('--wall-ms', wallMs, 1) }),
    ...(echo !== undefined && { echo }),
  }
}

function integer(option: string, value: unknown, min: number): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number) || number < min || number > 2 ** 31 - 1)
    throw usage(`${option} is "${String(value)}"`, `give an integer from ${min}`)
  return number
}

function usage(message: string, hint: string): OutriggerError {
  return new OutriggerError('CLI_USAGE', message, { subject: 'repl', hint })
}

async function runOne(
  io: Io,
  command: ReplCommand,
  project: Project,
  session: ReplSession,
  options: RunOptions,
  file: string | undefined,
): Promise<number> {
  const code =
    file === undefined || file === '-' ? new TextDecoder().decode(await bytesOfStdin(io, maxCellBytes)) : readCell(io, file)
  const abort = new AbortController()
  io.signal.addEventListener('abort', () => abort.abort(), { once: true })
  const result = await session.run(code, { ...options, signal: abort.signal })
  const { modelChars } = replConfig(project.config.section('repl'))
  io.stdout.write(command.json ? printDocument('repl.run', result) : printText(resultText(result, modelChars)))
  await heard(io, session, result.cell)
  return result.ok ? 0 : 1
}

function readCell(io: Io, file: string): string {
  try {
    return readFileSync(resolve(io.cwd, file), 'utf8')
  } catch (error) {
    throw new OutriggerError('BAD_INPUT', `${file} cannot be read (${(error as NodeJS.ErrnoException).code})`, {
      subject: file,
      hint: 'give a file, or - for standard input',
    })
  }
}

async function look(io: Io, command: ReplCommand, session: ReplSession, verb: 'state' | 'history'): Promise<number> {
  if (verb === 'state') {
    const state = await session.state()
    io.stdout.write(command.json ? printDocument('repl.state', state) : printText(stateText(state)))
    return 0
  }
  const { limit, source } = command.options
  const history = (await answerOf(session, 'history', {
    ...(limit !== undefined && { limit: integer('--limit', limit, 1) }),
    ...(source === true && { source: true }),
  })) as Awaited<ReturnType<ReplSession['history']>>
  io.stdout.write(command.json ? printDocument('repl.history', history) : printText(historyText(history)))
  return 0
}

async function prune(io: Io, command: ReplCommand, session: ReplSession): Promise<number> {
  const pruned = await session.prune()
  const text = pruned.blobs === 0 ? 'nothing to remove' : `removed ${pruned.blobs} stored copies, ${pruned.bytes} bytes`
  io.stdout.write(command.json ? printDocument('repl.prune', pruned) : printText(text))
  return 0
}

async function fork(io: Io, command: ReplCommand, session: ReplSession): Promise<number> {
  const { to } = command.options
  const cell = integer('--cell', command.options['cell'], 1)
  if (typeof to !== 'string') throw usage('repl fork: where to?', 'give --to with a folder or a name that is new')
  await session.fork(cell, isFolder(to) ? resolve(io.cwd, to) : to)
  const forked = { to, cell }
  io.stdout.write(command.json ? printDocument('repl.fork', forked) : printText(`${to} begins after cell ${cell}`))
  return 0
}

async function list(io: Io, command: ReplCommand, project: Project): Promise<number> {
  const sessions = await listSessions(project)
  io.stdout.write(command.json ? printDocument('repl.list', { sessions }) : printText(listText(sessions)))
  return 0
}
