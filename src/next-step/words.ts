/** What a person types after `/next`, as a command; and back, for doors that have the values already. */
import { type Command, commandNames } from './effects.ts'

export const usage =
  'usage: /next [state [--wire] | suggest | run [--offer GEN] | dismiss | arm [--rounds N] [--tokens N] [--minutes N] [--until "CMD"] [--judge] [--go-on] [--allow-risky] [--take] | disarm | autorun on|off | off | on | model <provider/model>|clear | log [N]]'

export type Typed =
  | { readonly kind: 'command'; readonly command: Command }
  | { readonly kind: 'log'; readonly count: number }
  | { readonly kind: 'usage' }

interface Option {
  readonly key: 'rounds' | 'tokens' | 'minutes' | 'until' | 'judge' | 'goOn' | 'allowRisky' | 'take' | 'offer' | 'wire'
  readonly takes: 'number' | 'text' | 'nothing'
}

const options: Readonly<Record<string, Readonly<Record<string, Option>>>> = {
  state: { '--wire': { key: 'wire', takes: 'nothing' } },
  run: { '--offer': { key: 'offer', takes: 'text' } },
  arm: {
    '--rounds': { key: 'rounds', takes: 'number' },
    '--tokens': { key: 'tokens', takes: 'number' },
    '--minutes': { key: 'minutes', takes: 'number' },
    '--until': { key: 'until', takes: 'text' },
    '--judge': { key: 'judge', takes: 'nothing' },
    '--go-on': { key: 'goOn', takes: 'nothing' },
    '--allow-risky': { key: 'allowRisky', takes: 'nothing' },
    '--take': { key: 'take', takes: 'nothing' },
  },
}

const maxLog = 200

/** Anything that is not understood whole is usage, and has no effect. */
export function readWords(args: string, by: string): Typed {
  const words = wordsOf(args)
  if (words === null) return { kind: 'usage' }
  const [verb = 'state', ...rest] = words
  if (verb === 'log') return readLog(rest)
  if (verb === 'autorun') {
    if (rest.length !== 1 || (rest[0] !== 'on' && rest[0] !== 'off')) return { kind: 'usage' }
    return { kind: 'command', command: { name: rest[0] === 'on' ? 'arm' : 'disarm', by } }
  }
  if (verb === 'model') {
    const [spec] = rest
    if (rest.length > 1 || spec?.startsWith('-') === true) return { kind: 'usage' }
    return { kind: 'command', command: { name: 'model', by, ...(spec !== undefined && { spec }) } }
  }
  const name = commandNames.find(one => one === verb)
  if (name === undefined) return { kind: 'usage' }
  const values = readOptions(rest, options[name] ?? {})
  return values === null ? { kind: 'usage' } : { kind: 'command', command: { name, by, ...values } }
}

function readLog(rest: readonly string[]): Typed {
  if (rest.length > 1) return { kind: 'usage' }
  const count = rest[0] === undefined ? 20 : Number(rest[0])
  return Number.isSafeInteger(count) && count >= 1 && count <= maxLog ? { kind: 'log', count } : { kind: 'usage' }
}

function readOptions(
  words: readonly string[],
  known: Readonly<Record<string, Option>>,
): Readonly<Record<string, unknown>> | null {
  const values: Record<string, unknown> = {}
  for (let at = 0; at < words.length; at++) {
    const [word, joined] = splitOption(words[at]!)
    const option = Object.hasOwn(known, word) ? known[word] : undefined
    if (option === undefined || Object.hasOwn(values, option.key)) return null
    if (option.takes === 'nothing') {
      if (joined !== undefined) return null
      values[option.key] = true
      continue
    }
    const value = joined ?? words[++at]
    if (value === undefined) return null
    // What is no number is refused as a grant, where every other bad number is.
    values[option.key] = option.takes === 'number' ? numberOf(value) : value
  }
  return values
}

const splitOption = (word: string): readonly [string, string | undefined] => {
  const at = word.startsWith('--') ? word.indexOf('=') : -1
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)]
}

const numberOf = (text: string) => (/^-?\d[\d_]*(?:\.\d+)?$/.test(text) ? Number(text.replaceAll('_', '')) : text)

/** Words at white space; quotes of both kinds hold together, a backslash takes the next sign as it is. `null`: a quote is not closed. */
function wordsOf(text: string): readonly string[] | null {
  const words: string[] = []
  let word: string | null = null
  let quote = ''
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!
    if (quote !== '') {
      if (sign === quote) quote = ''
      else if (sign === '\\' && quote === '"' && at + 1 < text.length) word += text[++at]!
      else word += sign
    } else if (sign === '"' || sign === "'") {
      quote = sign
      word ??= ''
    } else if (/\s/.test(sign)) {
      if (word !== null) words.push(word)
      word = null
    } else word = (word ?? '') + sign
  }
  if (quote !== '') return null
  if (word !== null) words.push(word)
  return words
}

/** The same as a person would type it. */
export function typed(command: Omit<Command, 'by' | 'id'>): string {
  const { name, spec } = command
  const parts: string[] = [name]
  if (typeof spec === 'string') parts.push(quoted(spec))
  for (const [word, { key, takes }] of Object.entries(options[name] ?? {})) {
    const value = command[key]
    if (value === undefined || value === false) continue
    parts.push(takes === 'nothing' ? word : `${word} ${quoted(String(value))}`)
  }
  return parts.join(' ')
}

const quoted = (text: string) => (/^[\w./-]+$/.test(text) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`)
