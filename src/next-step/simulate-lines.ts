/** Lines of `next simulate`, from text to values. What is left out takes a harmless value; what is wrong is named. */
import type { OutriggerError } from '../errors.ts'
import type { SessionEvent, Todo } from '../session/events.ts'
import { type Command, type CommandName, commandNames } from './effects.ts'
import { badConfig, badEvent } from './simulate.ts'
import type { NewestTurn } from './types.ts'

export type SimulatedLine =
  | { readonly kind: 'config'; readonly set: Readonly<Record<string, unknown>> }
  | { readonly kind: 'event'; readonly clock: number; readonly process: string; readonly event: SessionEvent }
  | {
      readonly kind: 'command'
      readonly clock: number
      readonly process: string
      readonly session: string
      readonly command: Command
    }
  | { readonly kind: 'restart' | 'process-died' | 'tick'; readonly clock: number; readonly process: string }

const maxLine = 256 * 1024
const project = '/project'

class Fields {
  readonly given: Readonly<Record<string, unknown>>
  readonly line: number

  constructor(given: Readonly<Record<string, unknown>>, line: number) {
    this.given = given
    this.line = line
  }

  bad(name: string, wanted: string): OutriggerError {
    return badEvent(this.line, `"${name}" has to be ${wanted}`, name)
  }

  text(name: string, otherwise: string): string {
    const value = this.given[name] ?? otherwise
    if (typeof value !== 'string') throw this.bad(name, 'a text')
    return value
  }

  number(name: string, otherwise: number): number {
    const value = this.given[name] ?? otherwise
    if (typeof value !== 'number' || !Number.isFinite(value)) throw this.bad(name, 'a number')
    return value
  }

  whole(name: string, otherwise: number): number {
    const value = this.number(name, otherwise)
    if (!Number.isSafeInteger(value) || value < 0) throw this.bad(name, 'a whole number, 0 or more')
    return value
  }

  flag(name: string, otherwise: boolean): boolean {
    const value = this.given[name] ?? otherwise
    if (typeof value !== 'boolean') throw this.bad(name, 'true or false')
    return value
  }

  oneOf<T extends string>(name: string, words: readonly T[], otherwise: T): T {
    const value = this.given[name] ?? otherwise
    const found = words.find(word => word === value)
    if (found === undefined) throw this.bad(name, `one of ${words.join(', ')}`)
    return found
  }

  texts(name: string): readonly string[] {
    const value = this.given[name] ?? []
    if (!Array.isArray(value) || !value.every(one => typeof one === 'string')) throw this.bad(name, 'a list of texts')
    return value
  }

  /** Only what is there. */
  some<T>(name: string, read: (name: string) => T): Readonly<Record<string, T>> {
    return this.given[name] === undefined ? {} : { [name]: read(name) }
  }

  usage(): { readonly usage?: { readonly input: number; readonly output: number } } {
    const value = this.given['usage']
    if (value === undefined || value === null) return {}
    if (typeof value !== 'object') throw this.bad('usage', 'an object with input and output')
    const usage = new Fields(value as Readonly<Record<string, unknown>>, this.line)
    return { usage: { input: usage.whole('input', 0), output: usage.whole('output', 0) } }
  }
}

/** @param newestOf - the newest turn of a session, for turns that a line does not number. */
export function decodeSimulated(text: string, line: number, newestOf: (session: string) => NewestTurn | null): SimulatedLine {
  if (text.length > maxLine / 3 && new TextEncoder().encode(text).length > maxLine)
    throw badEvent(line, 'a line is at most 256 KiB')
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {
    // The reason of the parser names no field of ours.
    throw badEvent(line, 'this is no JSON')
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw badEvent(line, 'a line is one JSON object')
  const fields = new Fields(given as Readonly<Record<string, unknown>>, line)
  const kind = fields.text('kind', '')
  if (kind === 'config') {
    const { set = {} } = fields.given
    if (typeof set !== 'object' || set === null || Array.isArray(set))
      throw badConfig(line, [{ key: 'set', message: 'allowed is an object' }])
    return { kind, set: set as Readonly<Record<string, unknown>> }
  }
  const clock = fields.given['clock']
  if (typeof clock !== 'number' || !Number.isSafeInteger(clock) || clock < 0)
    throw fields.bad('clock', 'a whole number of ms, 0 or more')
  const session = fields.text('session', 's1')
  const process = fields.text('process', 'p1')
  if (session === '') throw fields.bad('session', 'a name')
  if (process === '' || process.includes('#')) throw fields.bad('process', 'a name')
  switch (kind) {
    case 'restart':
    case 'process-died':
    case 'tick':
      return { kind, clock, process }
    case 'command':
      return { kind, clock, process, session, command: commandOf(fields) }
    default: {
      const event = eventOf(kind, fields, { session, project, at: clock }, newestOf(session))
      if (event === undefined) throw badEvent(line, `there is no kind "${kind.slice(0, 60)}"`, 'kind')
      return { kind: 'event', clock, process, event }
    }
  }
}

const values = ['rounds', 'tokens', 'minutes', 'until', 'judge', 'goOn', 'allowRisky', 'take', 'offer', 'spec'] as const

function commandOf(fields: Fields): Command {
  const name = fields.oneOf<CommandName>('name', commandNames, '' as CommandName)
  const id = fields.given['id']
  const given = values.flatMap(key => (fields.given[key] === undefined ? [] : [[key, fields.given[key]] as const]))
  return { name, by: fields.text('by', 'person'), ...(id !== undefined && { id: String(id) }), ...Object.fromEntries(given) }
}

const reasons = ['completed', 'aborted', 'error', 'max-tokens', 'blocked', 'refused', 'interrupted'] as const
const actors = ['person', 'host', 'plugin', 'goal'] as const
const sources = ['startup', 'resume', 'clear', 'fork', 'compact'] as const

interface Base {
  readonly session: string
  readonly project: string
  readonly at: number
}

function eventOf(kind: string, fields: Fields, origin: Base, newest: NewestTurn | null): SessionEvent | undefined {
  const agent = fields.given['agent']
  const base = { ...origin, ...(typeof agent === 'string' && { agent }) }
  const nextTurn = newest === null ? 1 : newest.turn + 1
  const openTurn = newest?.isOpen === true ? newest.turn : nextTurn
  switch (kind) {
    case 'session-started':
      return {
        ...base,
        kind,
        source: fields.oneOf('source', sources, 'startup'),
        ...fields.some('title', name => fields.text(name, '')),
        ...fields.some('interactive', name => fields.flag(name, true)),
        ...fields.some('mounted', name => fields.flag(name, true)),
        ...fields.some('starter', name => fields.flag(name, true)),
        ...fields.some('child', name => fields.flag(name, false)),
      }
    case 'title-changed':
      return { ...base, kind, title: fields.text('title', '') }
    case 'person-spoke':
      return { ...base, kind, text: fields.text('text', '') }
    case 'draft-changed':
      return { ...base, kind, empty: fields.flag('empty', true) }
    case 'turn-started':
      return {
        ...base,
        kind,
        turn: fields.whole('turn', nextTurn),
        by: fields.oneOf('by', actors, 'host'),
        ...fields.some('offer', name => fields.text(name, '')),
      }
    case 'tool-finished':
      return {
        ...base,
        kind,
        turn: null,
        call: fields.text('call', `call-${fields.line}`),
        tool: fields.text('tool', 'bash'),
        input: fields.given['input'] ?? {},
        ok: fields.flag('ok', true),
        output: fields.text('output', ''),
        ...(fields.given['exit'] === null ? { exit: null } : fields.some('exit', name => fields.number(name, 0))),
        ...fields.some('read', name => fields.texts(name)),
        ...fields.some('written', name => fields.texts(name)),
      }
    case 'file-changed':
      return { ...base, kind, path: fields.text('path', ''), by: fields.oneOf('by', ['agent', 'outside'], 'outside') }
    case 'turn-starting':
      return { ...base, kind, offer: fields.text('offer', ''), ...fields.some('withPerson', name => fields.flag(name, false)) }
    case 'turn-ending':
      return {
        ...base,
        kind,
        turn: fields.whole('turn', openTurn),
        answer: fields.text('answer', ''),
        again: fields.flag('again', false),
      }
    case 'turn-ended':
      return {
        ...base,
        kind,
        turn: fields.whole('turn', openTurn),
        reason: fields.oneOf('reason', reasons, 'completed'),
        answer: fields.text('answer', ''),
        ...fields.usage(),
        ...fields.some('mark', name => fields.text(name, '')),
      }
    case 'context-measured':
      return { ...base, kind, tokens: fields.number('tokens', 0), window: fields.number('window', 0) }
    case 'goal-changed':
      return {
        ...base,
        kind,
        goal: fields.given['goal'] === null || fields.given['goal'] === undefined ? null : fields.text('goal', ''),
        ...fields.some('id', name => fields.text(name, '')),
        ...fields.some('revision', name => fields.number(name, 0)),
        ...fields.some('phase', name => fields.text(name, '')),
        ...fields.some('activation', name => fields.text(name, '')),
        ...fields.some('operation', name => fields.text(name, '')),
      }
    case 'work-changed':
      return {
        ...base,
        kind,
        ...fields.some('draining', name => fields.flag(name, false)),
        ...fields.some('queued', name => fields.whole(name, 0)),
        ...fields.some('approvals', name => fields.whole(name, 0)),
        ...fields.some('questions', name => fields.whole(name, 0)),
        ...fields.some('children', name => fields.whole(name, 0)),
        ...fields.some('jobs', name => fields.whole(name, 0)),
        ...fields.some('otherLoop', name => fields.flag(name, false)),
        ...fields.some('planMode', name => fields.flag(name, false)),
      }
    case 'todos-changed':
      return { ...base, kind, todos: todosOf(fields) }
    case 'agents-listed':
      return { ...base, kind, agents: [] }
    case 'compacted':
      return { ...base, kind }
    case 'command-run':
      return {
        ...base,
        kind,
        name: fields.text('name', ''),
        args: fields.text('args', ''),
        by: fields.oneOf('by', actors, 'person'),
      }
    case 'model-answered':
      return { ...base, kind, ask: fields.text('ask', ''), text: fields.text('text', ''), ...fields.usage() }
    case 'model-failed':
      return {
        ...base,
        kind,
        ask: fields.text('ask', ''),
        reason: fields.text('reason', 'unavailable'),
        ...fields.some('message', name => fields.text(name, '')),
      }
    case 'check-finished':
      return {
        ...base,
        kind,
        check: fields.text('check', ''),
        exit: fields.given['exit'] === null || fields.given['exit'] === undefined ? null : fields.number('exit', 0),
        ...fields.some('timedOut', name => fields.flag(name, false)),
        output: fields.text('output', ''),
      }
    case 'submit-failed':
      return { ...base, kind, offer: fields.text('offer', ''), message: fields.text('message', '') }
    case 'action-failed':
      return { ...base, kind, action: fields.text('action', ''), reason: fields.text('reason', '') }
    case 'action-done':
      return { ...base, kind, action: fields.text('action', '') }
    case 'session-ended':
      return { ...base, kind, reason: fields.text('reason', 'other') }
    default:
      return undefined
  }
}

function todosOf(fields: Fields): readonly Todo[] {
  const list = fields.given['todos'] ?? []
  if (!Array.isArray(list)) throw fields.bad('todos', 'a list')
  return list.map((one: unknown) => {
    if (typeof one !== 'object' || one === null) throw fields.bad('todos', 'a list of {text, state}')
    const todo = new Fields(one as Readonly<Record<string, unknown>>, fields.line)
    return {
      text: todo.text('text', ''),
      state: todo.oneOf('state', ['pending', 'in_progress', 'completed'] as const, 'pending'),
    }
  })
}
