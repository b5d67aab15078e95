/**
 * An event that crossed a wire or a file, checked: every field that we know has its type, those that
 * must be there are, with a plain default where there is one. Fields that we do not know stay.
 */
import type { EventKind, SessionEvent } from './events.ts'

type Check = (value: unknown) => boolean

const string: Check = value => typeof value === 'string'
const number: Check = value => typeof value === 'number' && Number.isFinite(value)
const boolean: Check = value => typeof value === 'boolean'
const numberOrNull: Check = value => value === null || number(value)
const stringOrNull: Check = value => value === null || string(value)
const strings: Check = value => Array.isArray(value) && value.every(string)
const anything: Check = () => true
const oneOf =
  (...words: readonly string[]): Check =>
  value =>
    words.includes(value as string)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const usage: Check = value => isObject(value) && number(value['input']) && number(value['output'])
const todos: Check = value =>
  Array.isArray(value) &&
  value.every(todo => isObject(todo) && string(todo['text']) && oneOf('pending', 'in_progress', 'completed')(todo['state']))
const agents: Check = value =>
  Array.isArray(value) &&
  value.every(agent => isObject(agent) && string(agent['id']) && string(agent['type']) && string(agent['status']))

const by = oneOf('person', 'host', 'plugin', 'goal')
const reason = oneOf('completed', 'aborted', 'error', 'max-tokens', 'blocked', 'refused', 'interrupted')
const source = oneOf('startup', 'resume', 'clear', 'fork', 'compact')

interface Shape {
  /** Field → its check, and the value that stands for a missing one; without one it must be there. */
  readonly needs: Readonly<Record<string, readonly [Check] | readonly [Check, unknown]>>
  readonly may?: Readonly<Record<string, Check>>
}

const text = { text: [string] } as const

const shapes: Readonly<Record<EventKind, Shape>> = {
  'session-started': {
    needs: { source: [source, 'startup'] },
    may: {
      previous: string,
      title: string,
      model: string,
      contextWindow: number,
      cwd: string,
      root: string,
      interactive: boolean,
      mounted: boolean,
      starter: boolean,
      child: boolean,
    },
  },
  'title-changed': { needs: { title: [string] }, may: { by: oneOf('person', 'generated') } },
  'person-spoke': { needs: text },
  'draft-changed': { needs: { empty: [boolean] } },
  'turn-started': { needs: { turn: [number, 0], by: [by, 'person'] }, may: { turnId: string, offer: string } },
  'tool-finished': {
    needs: {
      turn: [numberOrNull, null],
      call: [string],
      tool: [string],
      input: [anything, {}],
      ok: [boolean, true],
      output: [string, ''],
    },
    may: { parent: string, exit: numberOrNull, read: strings, written: strings, cwd: string },
  },
  'file-changed': { needs: { path: [string], by: [oneOf('agent', 'outside'), 'outside'] } },
  'turn-starting': { needs: { offer: [string] }, may: { withPerson: boolean } },
  'turn-ending': { needs: { turn: [number, 0], answer: [string, ''], again: [boolean, false] }, may: { turnId: string } },
  'turn-ended': {
    needs: { turn: [number, 0], reason: [reason, 'completed'], answer: [string, ''] },
    may: { turnId: string, earlier: strings, usage, mark: string },
  },
  'context-measured': { needs: { tokens: [number], window: [number, 0] }, may: { compactsAt: number, percent: number } },
  'goal-changed': {
    needs: { goal: [stringOrNull, null] },
    may: { id: string, revision: number, phase: string, activation: string, operation: string },
  },
  'work-changed': {
    needs: {},
    may: {
      draining: boolean,
      queued: number,
      approvals: number,
      questions: number,
      children: number,
      jobs: number,
      otherLoop: boolean,
      planMode: boolean,
    },
  },
  'todos-changed': { needs: { todos: [todos] } },
  'agents-listed': { needs: { agents: [agents] }, may: { timedOut: boolean } },
  compacted: { needs: {}, may: { trigger: string } },
  'command-run': { needs: { name: [string], args: [string, ''], by: [by, 'person'] } },
  'model-answered': { needs: { ask: [string, ''], text: [string] }, may: { usage } },
  'model-failed': { needs: { ask: [string, ''], reason: [string] }, may: { message: string } },
  'check-finished': { needs: { check: [string], exit: [numberOrNull], output: [string, ''] }, may: { timedOut: boolean } },
  'submit-failed': { needs: { offer: [string], message: [string, ''] } },
  'action-failed': { needs: { action: [string], reason: [string] } },
  'action-done': { needs: { action: [string] } },
  woke: { needs: { key: [string] } },
  'session-ended': { needs: { reason: [string, 'other'] } },
}

export type DecodedEvent =
  | { readonly kind: 'event'; readonly event: SessionEvent }
  /** A kind of event that we do not have. */
  | { readonly kind: 'unknown'; readonly name: string }
  /** `field` is missing or of another type. */
  | { readonly kind: 'bad'; readonly field: string }

/** @param base - what stands for a missing `session`, `project` or `at`. */
export function decodeEvent(value: unknown, base: { session?: string; project?: string; at?: number } = {}): DecodedEvent {
  if (!isObject(value)) return bad('')
  const { schema: _, ...given } = value
  const { kind } = given
  if (typeof kind !== 'string') return bad('kind')
  if (!Object.hasOwn(shapes, kind)) return { kind: 'unknown', name: kind }
  const shape = shapes[kind as EventKind]
  const event: Record<string, unknown> = { ...base, ...given, at: timeOf(given['at'] ?? base.at) }
  for (const field of ['session', 'project'] as const) if (!string(event[field])) return bad(field)
  if (event['at'] === undefined) return bad('at')
  if (event['agent'] !== undefined && !string(event['agent'])) return bad('agent')
  for (const [field, [check, otherwise]] of Object.entries(shape.needs)) {
    if (event[field] === undefined && otherwise !== undefined) event[field] = otherwise
    if (event[field] === undefined || !check(event[field])) return bad(field)
  }
  for (const [field, check] of Object.entries(shape.may ?? {})) {
    if (event[field] !== undefined && !check(event[field])) return bad(field)
  }
  return { kind: 'event', event: event as unknown as SessionEvent }
}

const bad = (field: string): DecodedEvent => ({ kind: 'bad', field })

/** ms since the epoch, or ISO 8601. */
function timeOf(value: unknown): number | undefined {
  if (number(value)) return value as number
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}
