/** The tools of the REPL as models are offered them: names, texts, schemas, and the check of what came over a wire. */
import { OutriggerError } from '../errors.ts'
import type { Json } from '../ports/json.ts'

export type FieldOf =
  | {
      readonly type: 'string'
      readonly description: string
      readonly maxLength?: number
      readonly pattern?: string
      readonly enum?: readonly string[]
      readonly default?: string
    }
  | {
      readonly type: 'integer'
      readonly description: string
      readonly minimum?: number
      readonly maximum?: number
      readonly default?: number
    }
  | { readonly type: 'boolean'; readonly description: string; readonly default?: boolean }
  | {
      readonly type: 'array'
      readonly description: string
      readonly items: Readonly<Record<string, Json>>
      readonly minItems?: number
      readonly maxItems?: number
    }

export interface ReplTool {
  readonly name: 'run_code' | 'edit_run_code' | 'repl_state' | 'repl_history'
  /** At most 400 characters. */
  readonly description: string
  readonly input: {
    readonly type: 'object'
    readonly properties: Readonly<Record<string, FieldOf>>
    readonly required?: readonly string[]
    readonly additionalProperties: false
  }
}

const code = {
  type: 'string',
  description: 'The cell: body of an async function; top-level await, return, import.',
  maxLength: 1_048_576,
} as const
const description = { type: 'string', description: 'What the cell does, 5 to 10 words.', maxLength: 200 } as const
/** The session of a call that names none. */
const defaultSession = 'default'
const session = {
  type: 'string',
  description: 'Name of the session.',
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  default: defaultSession,
} as const
const compute = {
  type: 'integer',
  description: 'Milliseconds it may compute.',
  minimum: 100,
  maximum: 600_000,
} as const
const wall = { type: 'integer', description: 'Milliseconds it may take in all.', minimum: 100, maximum: 3_600_000 } as const

const text = (about: string): Json => ({ type: 'string', description: about })

function items(properties: { readonly [name: string]: Json }): Readonly<Record<string, Json>> {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

/** The kinds of edit; exactly one is given. Their values are judged by the edit engine, whose refusals have codes of their own. */
export const editFields: Readonly<Record<'edits' | 'regex_edits' | 'inserts' | 'prepend' | 'append', FieldOf>> = {
  edits: {
    type: 'array',
    description: 'Texts to replace.',
    minItems: 1,
    maxItems: 16,
    items: items({ old_string: text('Occurs exactly once in the cell.'), new_string: text('Takes its place.') }),
  },
  regex_edits: {
    type: 'array',
    description: 'Patterns to replace.',
    minItems: 1,
    maxItems: 16,
    items: items({
      pattern: text('A regular expression of JavaScript.'),
      flags: text('Of gimsuvy; g is implied.'),
      replacement: text('May use $1, $<name>, $&, $$.'),
      expected_matches: { type: 'integer', description: 'How often it matches.' },
    }),
  },
  inserts: {
    type: 'array',
    description: 'Texts to add.',
    minItems: 1,
    maxItems: 16,
    items: items({
      anchor: text('Occurs exactly once in the cell.'),
      position: { type: 'string', enum: ['before', 'after'] },
      text: text('Is added there.'),
    }),
  },
  prepend: { type: 'string', description: 'Text to add at the start.' },
  append: { type: 'string', description: 'Text to add at the end.' },
}

const editTarget = {
  target: { type: 'integer', description: 'Number of the cell; default the newest.', minimum: 1 },
  expected_target: { type: 'integer', description: 'Refuse if the newest cell is another one.', minimum: 1 },
  dry_run: { type: 'boolean', description: 'Only say whether the changed cell parses.' },
} as const

const editText =
  'Change a cell you already sent and run the result as a new cell. Give exactly one kind of edit; every old_string must occur once.'

export const runTool: ReplTool = {
  name: 'run_code',
  description: "Run a TypeScript cell in this session's REPL; names persist.",
  input: {
    type: 'object',
    properties: {
      code,
      description,
      session,
      compute_ms: compute,
      wall_ms: wall,
      echo: {
        type: 'string',
        description: 'What gives the value: return, or the last expression too. Default return.',
        enum: ['return', 'last'],
      },
    },
    required: ['code'],
    additionalProperties: false,
  },
}

export const editTool: ReplTool = {
  name: 'edit_run_code',
  description: editText,
  input: {
    type: 'object',
    properties: { ...editFields, ...editTarget, description, session, compute_ms: compute, wall_ms: wall },
    additionalProperties: false,
  },
}

/** The form for hosts in which a session has one REPL, with the limits of the configuration. */
export const hostEditTool: ReplTool = {
  name: 'edit_run_code',
  description: editText,
  input: { type: 'object', properties: { ...editFields, ...editTarget, description }, additionalProperties: false },
}

export const stateTool: ReplTool = {
  name: 'repl_state',
  description: 'List names and what a restart would keep; save, restore, delete or reset states; page a long value or log.',
  input: {
    type: 'object',
    properties: {
      action: {
        type: 'string',
        description: 'What to do.',
        enum: ['list', 'sessions', 'save', 'restore', 'delete', 'reset', 'page', 'logs'],
        default: 'list',
      },
      name: { type: 'string', description: 'Name of a state.' },
      cell: { type: 'integer', description: 'With logs and restore: the cell.', minimum: 1 },
      handle: { type: 'string', description: 'With page: the handle of the value.', pattern: '^v[0-9]+$' },
      path: {
        type: 'array',
        description: 'With page: the way into the value.',
        items: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
      },
      offset: { type: 'integer', description: 'Where to begin, in characters or entries.', minimum: 0 },
      limit: { type: 'integer', description: 'How many.', minimum: 1, maximum: 100_000 },
      session,
    },
    additionalProperties: false,
  },
}

export const historyTool: ReplTool = {
  name: 'repl_history',
  description: 'List cells, their outcome and, if asked, their source.',
  input: {
    type: 'object',
    properties: {
      from: { type: 'integer', description: 'First cell.' },
      to: { type: 'integer', description: 'Last cell.' },
      limit: { type: 'integer', description: 'At most so many, the newest.', minimum: 1, maximum: 1_000, default: 100 },
      source: { type: 'boolean', description: 'With their source.', default: false },
      session,
    },
    additionalProperties: false,
  },
}

/**
 * Check a value that crossed a wire, and fill in defaults. Edits are passed on as they are.
 *
 * @throws `BAD_INPUT`; `subject` is the field.
 */
export function decodeTool(tool: ReplTool, value: unknown): Readonly<Record<string, Json>> {
  const { properties, required = [] } = tool.input
  const hint = `the fields are: ${Object.keys(properties).join(', ')}`
  const given = value === undefined ? {} : value
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw bad('', 'the input is not an object', hint)
  for (const key of Object.keys(given)) {
    if (!Object.hasOwn(properties, key)) throw bad(key, `no field ${JSON.stringify(key.slice(0, 60))}`, hint)
  }
  const decoded: Record<string, Json> = {}
  for (const [key, field] of Object.entries(properties)) {
    const raw = Object.hasOwn(given, key) ? (given as Record<string, unknown>)[key] : undefined
    if (raw === undefined) {
      if (required.includes(key)) throw bad(key, `"${key}" is missing`, `give ${allowed(field)}`)
      if ('default' in field && field.default !== undefined) decoded[key] = field.default
      continue
    }
    if (!Object.hasOwn(editFields, key) && !fits(field, raw))
      throw bad(key, `"${key}" is not what is taken`, `give ${allowed(field)}`)
    decoded[key] = raw as Json
  }
  return decoded
}

function fits(field: FieldOf, raw: unknown): boolean {
  switch (field.type) {
    case 'string':
      if (typeof raw !== 'string') return false
      if (field.enum !== undefined && !field.enum.includes(raw)) return false
      if (field.pattern !== undefined && !new RegExp(field.pattern).test(raw)) return false
      return field.maxLength === undefined || raw.length <= field.maxLength
    case 'integer':
      if (typeof raw !== 'number' || !Number.isSafeInteger(raw)) return false
      return raw >= (field.minimum ?? Number.NEGATIVE_INFINITY) && raw <= (field.maximum ?? Number.POSITIVE_INFINITY)
    case 'boolean':
      return typeof raw === 'boolean'
    case 'array':
      return Array.isArray(raw) && raw.every(item => typeof item === 'string' || Number.isSafeInteger(item))
    default:
      return field satisfies never
  }
}

function allowed(field: FieldOf): string {
  switch (field.type) {
    case 'string':
      if (field.enum !== undefined) return `one of: ${field.enum.join(', ')}`
      if (field.pattern !== undefined) return `a string that matches ${field.pattern}`
      return field.maxLength === undefined ? 'a string' : `a string of at most ${field.maxLength} characters`
    case 'integer':
      return `an integer${field.minimum === undefined ? '' : ` from ${field.minimum}`}${field.maximum === undefined ? '' : ` to ${field.maximum}`}`
    case 'boolean':
      return 'true or false'
    case 'array':
      return 'a list of strings and integers'
    default:
      return field satisfies never
  }
}

function bad(subject: string, message: string, hint: string): OutriggerError {
  return new OutriggerError('BAD_INPUT', message, { ...(subject !== '' && { subject }), hint })
}

/** The session that a call is for. */
export const sessionOf = (given: unknown): string => {
  const { session } = (given ?? {}) as { readonly session?: unknown }
  return typeof session === 'string' ? session : defaultSession
}
