import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OutriggerError } from '../../src/errors.ts'
import { decodeInput } from '../../src/session/decode.ts'
import type { InputSchema } from '../../src/session/operation.ts'

const schema: InputSchema = {
  type: 'object',
  properties: {
    paths: { type: 'array', description: 'paths', items: { type: 'string', maxLength: 5 }, maxItems: 3 },
    format: { type: 'string', description: 'form', enum: ['text', 'json'], default: 'text' },
    reason: { type: 'string', description: 'why', minLength: 1, maxLength: 4 },
    count: { type: 'integer', description: 'how many', minimum: 1, maximum: 9 },
    full: { type: 'boolean', description: 'all', default: false },
    edge: { type: 'string', description: 'edge' },
    kinds: { type: 'array', description: 'kinds', enum: ['a', 'b'], items: { type: 'string' } },
  },
  required: ['edge'],
  additionalProperties: false,
}

function refusal(value: unknown, with_: InputSchema = schema): OutriggerError {
  try {
    decodeInput(with_, value)
  } catch (error) {
    if (error instanceof OutriggerError) return error
    throw error
  }
  throw new Error('was accepted')
}

describe('decodeInput', () => {
  it('returns what was given, and defaults for what was not', () => {
    const value = { edge: 'e', paths: ['a', 'b'], count: 3, kinds: ['b'] }
    expect(decodeInput(schema, value)).toEqual({ ...value, format: 'text', full: false })
  })

  it('takes no value as no fields', () => {
    const empty: InputSchema = { type: 'object', properties: {}, additionalProperties: false }
    expect(decodeInput(empty, undefined)).toEqual({})
  })

  it.each([
    [{}, 'edge', 'give a string'],
    [{ edge: 1 }, 'edge', 'give a string'],
    [{ edge: 'e', egde: 'x' }, 'egde', 'the fields are: paths, format, reason, count, full, edge, kinds'],
    [{ edge: 'e', paths: 'a' }, 'paths', 'give a list of strings, at most 3 items'],
    [{ edge: 'e', paths: ['a', 2] }, 'paths[1]', 'give a string, at most 5 characters'],
    [{ edge: 'e', paths: ['a', 'bbbbbb'] }, 'paths[1]', 'give a string, at most 5 characters'],
    [{ edge: 'e', paths: ['a', 'b', 'c', 'd'] }, 'paths', 'give a list of strings, at most 3 items'],
    [{ edge: 'e', kinds: ['a', 'c'] }, 'kinds[1]', 'give one of: a, b'],
    [{ edge: 'e', format: 'xml' }, 'format', 'give one of: text, json'],
    [{ edge: 'e', reason: '' }, 'reason', 'give a string of 1 to 4 characters'],
    [{ edge: 'e', reason: 'abcde' }, 'reason', 'give a string of 1 to 4 characters'],
    [{ edge: 'e', count: 0 }, 'count', 'give an integer from 1 to 9'],
    [{ edge: 'e', count: 10 }, 'count', 'give an integer from 1 to 9'],
    [{ edge: 'e', count: 1.5 }, 'count', 'give an integer from 1 to 9'],
    [{ edge: 'e', count: '3' }, 'count', 'give an integer from 1 to 9'],
    [{ edge: 'e', full: 'yes' }, 'full', 'give true or false'],
    [{ edge: 'e', full: null }, 'full', 'leave the field out'],
  ])('refuses %j, naming %s', (value, subject, hint) => {
    const { code, subject: named, hint: said } = refusal(value)
    expect({ code, subject: named, hint: said }).toEqual({ code: 'BAD_INPUT', subject, hint })
  })

  it.each([[null], [[]], ['text'], [3]])('refuses %j, which is no object', value => {
    expect(refusal(value)).toMatchObject({ code: 'BAD_INPUT', subject: undefined })
  })

  it('quotes a short beginning of what it refuses', () => {
    expect(refusal({ edge: 'e', count: 'soon' }).message).toBe('"count" is "soon", not an integer')
    expect(refusal({ edge: 'e', count: 'x'.repeat(500) }).message.length).toBeLessThan(120)
  })

  it('counts characters, not UTF-16 units', () => {
    expect(decodeInput(schema, { edge: 'e', reason: '🙂🙂🙂🙂' })['reason']).toBe('🙂🙂🙂🙂')
  })

  it('takes a field named like a member of Object for unknown', () => {
    expect(refusal(JSON.parse('{"edge":"e","__proto__":{}}'))).toMatchObject({ subject: '__proto__' })
    expect(refusal({ edge: 'e', constructor: 'x' })).toMatchObject({ subject: 'constructor' })
  })

  it('answers any JSON with fields of the schema or BAD_INPUT', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.record({ edge: fc.jsonValue(), count: fc.jsonValue() })), value => {
        try {
          const decoded = decodeInput(schema, value)
          return Object.keys(decoded).every(key => Object.hasOwn(schema.properties, key)) && typeof decoded['edge'] === 'string'
        } catch (error) {
          return error instanceof OutriggerError && error.code === 'BAD_INPUT' && error.hint !== undefined
        }
      }),
    )
  })
})
