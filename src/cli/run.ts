/**
 * One run of the program: which word, which operation, what is printed, which exit code. Everything that
 * not every command needs is loaded when it is asked for.
 */
import { OutriggerError } from '../errors.ts'
import type { Project } from '../runtime/project.ts'
import type { AnyOperation } from '../session/operation.ts'
import { type Globals, parseBuiltin, takeGlobals } from './arguments.ts'
import { helpOfAll, helpOfBuiltin, helpOfGroup, helpOfOperation, overview } from './help.ts'
import { exitOfInterruption, type Io } from './io.ts'
import { printDocument, printText, reportError } from './print.ts'
import type { ReplCommand } from './repl/main.ts'
import { runOperation } from './run-operation.ts'
import { unknownWord, type Word, wordOf } from './words.ts'

export interface OpenOptions {
  readonly cwd: string
  readonly project?: string
  readonly env: Io['env']
  readonly door: 'cli' | 'mcp' | 'hook' | 'serve'
}

/** What is loaded on demand; tests hand in their own. */
export interface Parts {
  readonly version: string
  open(options: OpenOptions): Promise<Project>
  operations(project: Project): Promise<readonly AnyOperation[]>
  mcp(
    io: Io,
    options: { readonly project?: string; readonly engines: readonly string[]; readonly serve: boolean },
  ): Promise<number>
  hook(io: Io, options: { readonly project?: string; readonly event: string }): Promise<number>
  serve(
    io: Io,
    options: { readonly project?: string; readonly detach: boolean; readonly stop: boolean; readonly json: boolean },
  ): Promise<number>
  demo(io: Io, options: { readonly json: boolean; readonly quiet: boolean }): Promise<number>
  repl(io: Io, command: ReplCommand): Promise<number>
}

/** @returns the exit code. Never throws. */
export async function run(argv: readonly string[], io: Io, parts: Parts): Promise<number> {
  try {
    const code = await dispatch(argv, io, parts)
    return exitOfInterruption(io.signal) ?? code
  } catch (error) {
    const interrupted = exitOfInterruption(io.signal)
    if (interrupted !== undefined) return interrupted
    return reportError(error, io, asksForJson(argv))
  }
}

async function dispatch(argv: readonly string[], io: Io, parts: Parts): Promise<number> {
  const { globals, rest } = takeGlobals(argv)
  if (globals.version) return version(io, parts, globals)
  const [first, ...args] = rest
  if (first === undefined) {
    if (globals.help) return help([], io, parts, globals)
    const text = overview(parts.version)
    io.stdout.write(globals.json ? printDocument('help', { topic: null, text }) : printText(text))
    return 0
  }
  if (globals.help) return help(rest.slice(0, 2), io, parts, globals)
  const word = wordOf(first)
  switch (word.kind) {
    case 'builtin':
      return builtin(word, args, io, parts, globals)
    case 'operation':
      return withTable(io, parts, globals, [args], (project, table) =>
        runOperation(operationOf(table, word.word), word.word, args, globals, io, project, () =>
          help([word.word], io, parts, globals),
        ),
      )
    case 'group': {
      const { globals: own, rest: more } = takeGlobals(args, globals)
      const [verb, ...verbArgs] = more
      if (own.help) return help([first, ...(verb === undefined ? [] : [verb])], io, parts, own)
      return withTable(io, parts, own, [verbArgs], (project, table) => {
        const operation = verbOf(table, first, verb)
        return runOperation(operation, `${first} ${verb}`, verbArgs, own, io, project, () => help([first, verb!], io, parts, own))
      })
    }
    default:
      return word satisfies never
  }
}

async function builtin(
  word: Extract<Word, { readonly kind: 'builtin' }>,
  args: readonly string[],
  io: Io,
  parts: Parts,
  before: Globals,
): Promise<number> {
  // A host goes on whatever we are given: nothing before this may throw.
  if (word.word === 'hook') return hook(args, io, parts, before)
  const { globals, words, options } = parseBuiltin(word.word, args, before, command => {
    if (word.word === 'mcp') command.option('--engine <E...>').option('--serve')
    if (word.word === 'serve') command.option('--detach').option('--stop')
    if (word.word === 'help') command.argument('[words...]')
    if (word.word === 'repl') {
      command.argument('[words...]').option('--json-lines').option('--source')
      for (const option of [
        'session <NAME|DIR>',
        'cwd <DIR>',
        'compute-ms <n>',
        'wall-ms <n>',
        'heap-mb <n>',
        'echo <what>',
        'limit <n>',
        'cell <n>',
        'to <NAME|DIR>',
      ])
        command.option(`--${option}`)
    }
  })
  if (globals.help) return help([word.word], io, parts, globals)
  const project = globals.project === undefined ? {} : { project: globals.project }
  switch (word.word) {
    case 'version':
      return version(io, parts, globals)
    case 'help':
      return help(words, io, parts, globals)
    case 'mcp':
      return parts.mcp(io, {
        ...project,
        engines: (options['engine'] as string[] | undefined) ?? [],
        serve: options['serve'] === true,
      })
    case 'serve':
      return parts.serve(io, {
        ...project,
        detach: options['detach'] === true,
        stop: options['stop'] === true,
        json: globals.json,
      })
    case 'repl':
      return parts.repl(io, { words, options, json: globals.json, ...project })
    case 'demo':
      return parts.demo(io, { json: globals.json, quiet: globals.quiet })
    default:
      throw new Error(`no command for ${word.word}`)
  }
}

async function hook(args: readonly string[], io: Io, parts: Parts, before: Globals): Promise<number> {
  let event = ''
  let project = before.project
  try {
    const parsed = parseBuiltin('hook', args, before, command => command.argument('[event]').allowExcessArguments(true))
    if (parsed.globals.help) return await help(['hook'], io, parts, parsed.globals)
    event = parsed.words[0] ?? ''
    project = parsed.globals.project
  } catch (error) {
    // A mistyped option; the host must not notice, the person reads it in the host's log.
    reportError(error, io, false)
  }
  return parts.hook(io, { ...(project !== undefined && { project }), event })
}

function version(io: Io, parts: Parts, globals: Globals): number {
  const document = { version: parts.version, node: process.versions.node }
  io.stdout.write(globals.json ? printDocument('version', document) : `${parts.version}\n`)
  return 0
}

async function help(words: readonly string[], io: Io, parts: Parts, globals: Globals): Promise<number> {
  const text = await helpText(words, io, parts, globals)
  io.stdout.write(globals.json ? printDocument('help', { topic: words.join(' ') || null, text }) : printText(text))
  return 0
}

async function helpText(words: readonly string[], io: Io, parts: Parts, globals: Globals): Promise<string> {
  const [first, verb] = words
  if (first === undefined) return helpOfAll(parts.version)
  const word = wordOf(first)
  if (words.length > (word.kind === 'group' ? 2 : 1)) {
    throw new OutriggerError('CLI_USAGE', `no help for "${words.join(' ')}"`, { hint: `\`outrigger help ${first}\` is one` })
  }
  if (word.kind === 'builtin') return helpOfBuiltin(word)
  return withTable(io, parts, globals, [], async (_project, table) => {
    if (word.kind === 'operation') return helpOfOperation(operationOf(table, first))
    if (verb !== undefined) return helpOfOperation(verbOf(table, first, verb))
    return helpOfGroup(
      word,
      table.filter(operation => operation.name.startsWith(`${first}.`)),
    )
  })
}

/** Opens the project for the time of one command. */
async function withTable<T>(
  io: Io,
  parts: Parts,
  globals: Globals,
  more: readonly (readonly string[])[],
  use: (project: Project, table: readonly AnyOperation[]) => Promise<T>,
): Promise<T> {
  const folder = globals.project ?? more.map(projectOf).find(found => found !== undefined)
  const project = await parts.open({ cwd: io.cwd, ...(folder !== undefined && { project: folder }), env: io.env, door: 'cli' })
  try {
    return await use(project, await parts.operations(project))
  } finally {
    await project.close()
  }
}

/** `--project` among the verb's own options; the verb's table needs the project before it can parse them. */
function projectOf(args: readonly string[]): string | undefined {
  for (const [index, arg] of args.entries()) {
    if (arg === '--') return undefined
    if (arg === '--project') return args[index + 1]
    if (arg.startsWith('--project=')) return arg.slice('--project='.length)
  }
  return undefined
}

function operationOf(table: readonly AnyOperation[], name: string): AnyOperation {
  const found = table.find(operation => operation.name === name)
  if (found === undefined) throw new Error(`no operation ${name}`)
  return found
}

function verbOf(table: readonly AnyOperation[], group: string, verb: string | undefined): AnyOperation {
  const verbs = table.filter(operation => operation.name.startsWith(`${group}.`)).map(operation => operation.name.split('.')[1]!)
  if (verb === undefined) {
    throw new OutriggerError('CLI_USAGE', `${group}: which verb?`, { subject: group, hint: `give one of: ${verbs.join(', ')}` })
  }
  const found = table.find(operation => operation.name === `${group}.${verb}`)
  if (found === undefined) {
    throw unknownWord(`no verb "${verb}" of ${group}`, verb, verbs, `outrigger ${group}`, `outrigger help ${group}`)
  }
  return found
}

/** Known before anything is parsed, so that a mistake in the options is reported in the form that was asked for. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  const options = end < 0 ? argv : argv.slice(0, end)
  // A simulation prints lines for scripts, whatever was asked for.
  if (options.includes('next') && options.includes('simulate')) return true
  return options.some(
    (arg, index) => arg === '--json' || arg === '--format=json' || (arg === '--format' && options[index + 1] === 'json'),
  )
}
