/**
 * Command-line arguments, parsed by commander: the options that every command knows, and the fields of
 * one operation. Values are checked by the operation's own decoder, as in every other door.
 */
import { Command, CommanderError, Option } from 'commander'
import { OutriggerError } from '../errors.ts'
import type { AnyOperation, FieldSchema, InputSchema } from '../session/operation.ts'

export interface Globals {
  readonly json: boolean
  readonly quiet: boolean
  readonly help: boolean
  readonly version: boolean
  readonly project: string | undefined
}

export const noGlobals: Globals = { json: false, quiet: false, help: false, version: false, project: undefined }

/** Take the common options off the front, up to the first word. The rest is left as it is. */
export function takeGlobals(args: readonly string[], before: Globals = noGlobals): { globals: Globals; rest: readonly string[] } {
  const command = bare('outrigger')
  command.passThroughOptions().allowExcessArguments(true).argument('[words...]')
  parse(command, args, 'outrigger help')
  return { globals: globalsOf(command, before), rest: command.args }
}

/** Common options without a verb of their own; for commands of the program itself. */
export function parseBuiltin(
  usage: string,
  args: readonly string[],
  before: Globals,
  add: (command: Command) => void = () => undefined,
): { readonly globals: Globals; readonly words: readonly string[]; readonly options: Readonly<Record<string, unknown>> } {
  const command = bare(usage)
  add(command)
  parse(command, args, `outrigger help ${usage}`)
  return { globals: globalsOf(command, before), words: command.args, options: command.opts() }
}

export interface ParsedVerb {
  readonly globals: Globals
  /** What the operation decodes; only fields that were given. */
  readonly input: Readonly<Record<string, unknown>>
}

/** @param words - `keel check`, as typed. Throws `CLI_USAGE`. */
export function parseVerb(operation: AnyOperation, words: string, args: readonly string[], before: Globals): ParsedVerb {
  const command = bare(words)
  for (const name of operation.positional ?? []) {
    const field = operation.input.properties[name]!
    command.argument(field.type === 'array' ? `[${kebab(name)}...]` : `[${kebab(name)}]`)
  }
  for (const [name, field] of optionFields(operation)) for (const option of optionsOf(name, field)) command.addOption(option)
  if (operation.input.properties['format'] === undefined) command.option('--format <form>')
  parse(command, args, `outrigger help ${words}`)

  const input: Record<string, unknown> = {}
  for (const [index, name] of (operation.positional ?? []).entries()) {
    const value: unknown = command.processedArgs[index]
    const isGiven = value !== undefined && !(Array.isArray(value) && value.length === 0)
    if (isGiven) input[name] = converted(operation.input.properties[name]!, value)
  }
  for (const [name, field] of optionFields(operation)) {
    if (command.getOptionValueSource(name) === 'cli') input[name] = converted(field, command.getOptionValue(name))
  }
  const globals = withFormat(operation, globalsOf(command, before), input, command)
  return { globals, input }
}

/** Throws `CLI_USAGE` for a required field that was not given. */
export function requireFields(operation: AnyOperation, input: Readonly<Record<string, unknown>>, usage: string): void {
  for (const name of operation.input.required ?? []) {
    if (Object.hasOwn(input, name)) continue
    const shown = operation.positional?.includes(name) ? `<${kebab(name)}>` : `--${kebab(name)}`
    throw new OutriggerError('CLI_USAGE', `${shown} is missing`, { subject: name, hint: `usage: ${usage}` })
  }
}

/** Fields that are options, in the schema's order. */
export function optionFields(operation: AnyOperation): readonly (readonly [string, FieldSchema])[] {
  const input: InputSchema = operation.input
  return Object.entries(input.properties).filter(([name]) => !operation.positional?.includes(name))
}

export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
}

/** What stands for the value in a usage line; empty for a flag. */
export function placeholder(name: string, field: FieldSchema): string {
  switch (field.type) {
    case 'boolean':
      return ''
    case 'integer':
      return '<n>'
    case 'array':
      return `<${kebab(name)}...>`
    case 'string':
      return field.enum === undefined ? `<${kebab(name)}>` : `<${field.enum.join('|')}>`
    default:
      return field.type satisfies never
  }
}

function optionsOf(name: string, field: FieldSchema): readonly Option[] {
  const flag = `--${kebab(name)}`
  if (field.type !== 'boolean') return [new Option(`${flag} ${field.type === 'array' ? '<value...>' : '<value>'}`)]
  return field.default === true ? [new Option(flag), new Option(`--no-${kebab(name)}`)] : [new Option(flag)]
}

/** A number is a number; what does not look like one is left for the decoder to refuse. */
function converted(field: FieldSchema, value: unknown): unknown {
  return field.type === 'integer' && typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value
}

/** `--json` is `--format json`, for every operation. */
function withFormat(operation: AnyOperation, globals: Globals, input: Record<string, unknown>, command: Command): Globals {
  const field = operation.input.properties['format']
  const given = field === undefined ? command.opts()['format'] : input['format']
  if (field === undefined && given !== undefined && given !== 'json' && given !== 'text') {
    throw new OutriggerError('CLI_USAGE', `no form "${String(given)}"`, { subject: 'format', hint: 'give one of: text, json' })
  }
  if (globals.json && given !== undefined && given !== 'json') {
    throw new OutriggerError('CLI_USAGE', `--json and --format ${String(given)} ask for two forms`, {
      subject: 'format',
      hint: 'give one of them',
    })
  }
  if (globals.json && field?.enum?.includes('json')) input['format'] = 'json'
  return given === 'json' ? { ...globals, json: true } : globals
}

function bare(name: string): Command {
  return new Command(name)
    .exitOverride()
    .configureOutput({ writeOut: () => undefined, writeErr: () => undefined })
    .helpOption(false)
    .helpCommand(false)
    .option('--json')
    .option('--quiet')
    .option('--project <DIR>')
    .option('-h, --help')
    .option('-V, --version')
}

function globalsOf(command: Command, before: Globals): Globals {
  const { json, quiet, help, version, project } = command.opts<Partial<Globals>>()
  return {
    json: before.json || json === true,
    quiet: before.quiet || quiet === true,
    help: before.help || help === true,
    version: before.version || version === true,
    project: project ?? before.project,
  }
}

function parse(command: Command, args: readonly string[], help: string): void {
  try {
    command.parse(args, { from: 'user' })
  } catch (error) {
    // commander throws its own error for every mistake of the person.
    if (error instanceof CommanderError) throw usageError(error, help)
    throw error
  }
}

function usageError(error: CommanderError, help: string): OutriggerError {
  const [first = '', ...more] = error.message.replace(/^error: /, '').split('\n')
  const meant = /\(Did you mean (.+?)\?\)/.exec(more.join(' '))?.[1]
  return new OutriggerError('CLI_USAGE', first, {
    hint: meant === undefined ? `\`${help}\` shows the options` : `did you mean ${meant}?`,
  })
}
