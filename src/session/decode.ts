/**
 * The input of an operation, checked against its schema: one decoder for the command line, MCP tools
 * and hosts, so that a wrong field is refused with the same words everywhere. Pure.
 */
import { OutriggerError } from '../errors.ts'
import type { FieldSchema, InputSchema } from './operation.ts'

/**
 * Check a value that crossed a wire, and fill in defaults.
 *
 * @param value - `undefined` counts as no fields.
 * @returns the known fields that were given or have a default; nothing is converted.
 * @throws `BAD_INPUT`; `subject` is the path of the field (`paths[2]`), `hint` says what is allowed.
 */
export function decodeInput(schema: InputSchema, value: unknown): Record<string, unknown> {
  const given = value === undefined ? {} : value
  if (!isRecord(given)) throw badInput('', `the input is ${nameOf(given)}, not an object`, hintOfFields(schema))
  for (const key of Object.keys(given)) {
    if (!Object.hasOwn(schema.properties, key)) throw badInput(key, `no field "${short(key)}"`, hintOfFields(schema))
  }
  const decoded: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(schema.properties)) {
    const raw = Object.hasOwn(given, key) ? given[key] : undefined
    if (raw !== undefined) decoded[key] = decodeField(key, field, raw)
    else if (field.default !== undefined) decoded[key] = field.default
    else if (schema.required?.includes(key)) throw badInput(key, `"${key}" is missing`, `give ${allowed(field)}`)
  }
  return decoded
}

/** What a field takes, in words: `one of: json, text`, `an integer from 1 to 9`. */
export function allowed(field: FieldSchema): string {
  switch (field.type) {
    case 'string':
      if (field.enum !== undefined) return `one of: ${field.enum.join(', ')}`
      return `a string${range(field.minLength, field.maxLength, 'characters')}`
    case 'integer':
      return `an integer${range(field.minimum, field.maximum, '')}`
    case 'boolean':
      return 'true or false'
    case 'array':
      return `a list of strings${field.enum === undefined ? '' : `, each one of: ${field.enum.join(', ')}`}${range(undefined, field.maxItems, 'items')}`
    default:
      return field.type satisfies never
  }
}

function decodeField(path: string, field: FieldSchema, raw: unknown): unknown {
  const wrong = (why: string): OutriggerError => badInput(path, `"${path}" ${why}`, `give ${allowed(field)}`)
  if (raw === null) throw badInput(path, `"${path}" is null`, 'leave the field out')
  switch (field.type) {
    case 'string':
      if (typeof raw !== 'string') throw wrong(`is ${nameOf(raw)}, not a string`)
      checkText(raw, field, wrong)
      return raw
    case 'integer':
      if (typeof raw !== 'number' || !Number.isSafeInteger(raw)) throw wrong(`is ${nameOf(raw)}, not an integer`)
      if (field.minimum !== undefined && raw < field.minimum) throw wrong(`is ${raw}, below ${field.minimum}`)
      if (field.maximum !== undefined && raw > field.maximum) throw wrong(`is ${raw}, above ${field.maximum}`)
      return raw
    case 'boolean':
      if (typeof raw !== 'boolean') throw wrong(`is ${nameOf(raw)}, not true or false`)
      return raw
    case 'array':
      if (!Array.isArray(raw)) throw wrong(`is ${nameOf(raw)}, not a list`)
      if (field.maxItems !== undefined && raw.length > field.maxItems)
        throw wrong(`has ${raw.length} items, over ${field.maxItems}`)
      return raw.map((item, index) => decodeItem(`${path}[${index}]`, field, item))
    default:
      return field.type satisfies never
  }
}

function decodeItem(path: string, field: FieldSchema, item: unknown): string {
  const { enum: values, items } = field
  const form: FieldSchema = {
    type: 'string',
    description: '',
    ...(values !== undefined && { enum: values }),
    ...(items?.maxLength !== undefined && { maxLength: items.maxLength }),
  }
  return decodeField(path, form, item) as string
}

function checkText(text: string, field: FieldSchema, wrong: (why: string) => OutriggerError): void {
  if (field.enum !== undefined && !field.enum.includes(text)) throw wrong(`is "${short(text)}"`)
  if (field.minLength !== undefined && lengthOf(text) < field.minLength) {
    throw wrong(text === '' ? 'is empty' : `has ${lengthOf(text)} characters`)
  }
  // UTF-16 units are never fewer than characters, so a short text needs no counting.
  if (field.maxLength !== undefined && text.length > field.maxLength && lengthOf(text) > field.maxLength) {
    throw wrong(`has ${lengthOf(text)} characters`)
  }
}

function badInput(subject: string, message: string, hint: string): OutriggerError {
  return new OutriggerError('BAD_INPUT', message, { ...(subject !== '' && { subject }), hint })
}

function hintOfFields(schema: InputSchema): string {
  const names = Object.keys(schema.properties)
  return names.length === 0 ? 'give an empty object: there are no fields' : `the fields are: ${names.join(', ')}`
}

function range(low: number | undefined, high: number | undefined, unit: string): string {
  const words = unit === '' ? '' : ` ${unit}`
  if (low !== undefined && high !== undefined) return unit === '' ? ` from ${low} to ${high}` : ` of ${low} to ${high}${words}`
  if (low !== undefined) return `, at least ${low}${words}`
  return high === undefined ? '' : `, at most ${high}${words}`
}

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  switch (typeof value) {
    case 'string':
      return `"${short(value)}"`
    case 'number':
      return Number.isInteger(value) ? 'a number' : `the number ${value}`
    case 'boolean':
      return String(value)
    case 'object':
      return 'an object'
    default:
      return `a ${typeof value}`
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Length in code points, as JSON Schema counts. */
function lengthOf(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

function short(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`
}
