/** Help texts, rendered from the table of operations and the list of first words. */
import { allowed } from '../session/decode.ts'
import type { AnyOperation, FieldSchema } from '../session/operation.ts'
import { kebab, optionFields, placeholder } from './arguments.ts'
import { engines, type Word, words } from './words.ts'

/** `keel.check` → `keel check`. */
export function wordsOf(operation: AnyOperation): string {
  return operation.name.replace('.', ' ')
}

export function usageOf(operation: AnyOperation): string {
  const required = operation.input.required ?? []
  const places = (operation.positional ?? []).map(name => {
    const isList = operation.input.properties[name]!.type === 'array'
    const shown = `${kebab(name)}${isList ? '...' : ''}`
    return required.includes(name) ? `<${shown}>` : `[${shown}]`
  })
  const needed = optionFields(operation)
    .filter(([name]) => required.includes(name))
    .map(([name, field]) => `--${kebab(name)} ${placeholder(name, field)}`.trim())
  return ['outrigger', wordsOf(operation), ...places, ...needed, '[options]'].join(' ')
}

export function helpOfOperation(operation: AnyOperation): string {
  const places = (operation.positional ?? []).map(
    name => [kebab(name), described(operation.input.properties[name]!, operation.cliDefaults?.[name])] as const,
  )
  const options = optionFields(operation).flatMap(([name, field]) => rowsOf(name, field, operation.cliDefaults?.[name]))
  const exits: (readonly [string, string])[] = [['0', 'fine']]
  if (operation.exitCode !== undefined) exits.push(['1', 'findings'])
  exits.push(
    ['2', 'usage or bad input'],
    ['3', 'something needed is not available'],
    ['4', 'somebody else holds it'],
    ['70', 'a fault of ours'],
  )
  return sections([
    [undefined, [operation.summary, '', `usage: ${usageOf(operation)}`]],
    ['arguments', table(places)],
    ['options', table([...options, ...commonRows(operation)])],
    ['examples', operation.examples.map(example => `  ${example}`)],
    ['exit codes', table(exits)],
  ])
}

export function helpOfGroup(word: Word, operations: readonly AnyOperation[]): string {
  return sections([
    [undefined, [`${word.word}: ${word.summary}`, '', `usage: outrigger ${word.word} <verb> [arguments] [options]`]],
    ['verbs', table(operations.map(operation => [operation.name.split('.')[1]!, operation.summary] as const))],
    ['more', [`  outrigger help ${word.word} <verb>`]],
  ])
}

export function helpOfBuiltin(word: Extract<Word, { readonly kind: 'builtin' }>): string {
  return sections([
    [undefined, [`${word.word}: ${word.summary}`, '', `usage: ${word.usage}`]],
    ['options', table([...word.options, ...common.slice(word.word === 'hook' ? 1 : 0)])],
    ['examples', word.examples.map(example => `  ${example}`)],
    ['exit codes', table(word.exits.map(([code, text]) => [String(code), text] as const))],
  ])
}

export function helpOfAll(version: string): string {
  const rows = (kinds: readonly Word['kind'][]) =>
    words.filter(word => kinds.includes(word.kind)).map(word => [word.word, word.summary] as const)
  return sections([
    [undefined, [`outrigger ${version}: rides beside a coding agent and keeps a long session upright`]],
    ['usage', ['  outrigger <engine> <verb> [arguments] [options]', '  outrigger <command> [arguments] [options]']],
    ['engines and logs', table(rows(['group']))],
    ['commands', table(rows(['operation', 'builtin']))],
    ['options of every command', table(common)],
    [
      'exit codes',
      table([
        ['0', 'fine'],
        ['1', 'findings: a check that failed'],
        ['2', 'usage or bad input'],
        ['3', 'something needed is not available'],
        ['4', 'somebody else holds it'],
        ['70', 'a fault of ours'],
        ['130, 143', 'interrupted'],
      ]),
    ],
    ['more', ['  outrigger help <engine> <verb>']],
  ])
}

/** What `outrigger` alone says: one screen with the first things to type. */
export function overview(version: string): string {
  return sections([
    [undefined, [`outrigger ${version}: rides beside a coding agent and keeps a long session upright`]],
    [
      'begin with',
      table([
        ['outrigger demo', 'see it at work in a throwaway project'],
        ['outrigger keel check', 'which documents are behind their sources'],
        ['outrigger init', 'write the configuration of this project'],
        ['outrigger doctor', 'what works here and what does not'],
        ['outrigger help', `all commands; engines: ${engines.join(', ')}`],
      ]),
    ],
  ])
}

const common: readonly (readonly [string, string])[] = [
  ['--json', 'one JSON document on stdout, the same as --format json'],
  ['--project <DIR>', 'the project; else the nearest folder above with .git, else the current one'],
  ['--quiet', 'no progress on stderr'],
  ['-h, --help', 'show this'],
]

function commonRows(operation: AnyOperation): readonly (readonly [string, string])[] {
  const names = optionFields(operation).map(([name]) => name)
  return common.filter(([flag]) => !names.some(name => flag === `--${kebab(name)}`))
}

function rowsOf(name: string, field: FieldSchema, standard?: string): readonly (readonly [string, string])[] {
  const flag = `--${kebab(name)}`
  if (field.type === 'boolean' && field.default === true) return [[`${flag}, --no-${kebab(name)}`, described(field, standard)]]
  return [[`${flag} ${placeholder(name, field)}`.trim(), described(field, standard)]]
}

/** @param standard - what it is when left out, in words; else the schema's default. */
function described(field: FieldSchema, standard?: string): string {
  const isRanged = field.minimum !== undefined || field.maximum !== undefined
  const range = field.type === 'integer' && isRanged ? [allowed(field).replace('an integer ', '')] : []
  const hasDefault = field.default !== undefined && !(field.type === 'boolean' && field.default === false)
  const notes = [...range, ...(standard !== undefined || hasDefault ? [`default ${standard ?? String(field.default)}`] : [])]
  return notes.length === 0 ? field.description : `${field.description} (${notes.join('; ')})`
}

function table(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.min(32, Math.max(0, ...rows.map(([left]) => left.length)))
  return rows.map(([left, right]) =>
    left.length > width ? `  ${left}\n  ${' '.repeat(width)}  ${right}` : `  ${left.padEnd(width)}  ${right}`,
  )
}

function sections(parts: readonly (readonly [string | undefined, readonly string[]])[]): string {
  return parts
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => (title === undefined ? lines : [title, ...lines]).join('\n'))
    .join('\n\n')
}
