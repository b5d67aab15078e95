/** The short way from bytes to JSON gives what the long one gives, or nothing. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { jsonOf } from '../../../src/repl/values/json.ts'
import { printBounded } from '../../../src/repl/values/notation.ts'
import { parseGraph } from '../../../src/repl/values/parse.ts'
import { readJson, shownGraph } from '../../../src/repl/values/read-json.ts'
import { createTestRealm } from '../../support/repl/values.ts'

const test = createTestRealm()
const bytesOf = (value: unknown) => test.bytes(test.run(`JSON.parse(${JSON.stringify(JSON.stringify(value))})`))

const { value } = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 9 },
    fc.constantFrom(null, true, false, 0, -1, 0.5, 2 ** 53 - 1, -(2 ** 53 - 1), 1e300),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(number => number + 0),
    fc.string({ maxLength: 90 }),
    fc.array(tie('value'), { maxLength: 8 }),
    fc.dictionary(fc.oneof(fc.constantFrom('a', 'b', '1', '__proto__', 'no name'), fc.string()), tie('value'), { maxKeys: 8 }),
  ),
}))

it('reads every value as the graph has it, and prints the same', () => {
  let short = 0
  fc.assert(
    fc.property(value, fc.integer({ min: 1, max: 400 }), (given, maxChars) => {
      const bytes = bytesOf(given)
      const graph = parseGraph(bytes)
      const read = readJson(bytes)
      if (read === undefined) return
      short++
      expect(read).toEqual(jsonOf(graph))
      expect(JSON.stringify(read.value)).toBe(JSON.stringify(jsonOf(graph)!.value))
      expect(printBounded(shownGraph(read.value), { maxChars })).toEqual(printBounded(graph, { maxChars }))
    }),
    { numRuns: 600 },
  )
  expect(short).toBeGreaterThan(300)
})

it.each([
  ['a long list', Array.from({ length: 20_000 }, (_, i) => i)],
  ['rows', Array.from({ length: 2_000 }, (_, id) => ({ id, name: `row ${id}`, tags: ['a', 'b'] }))],
  ['a list of long lists', Array.from({ length: 3 }, () => Array.from({ length: 300 }, (_, i) => `n${i}`))],
  ['an object of many keys', Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`key${i}`, i]))],
  ['a deep one', JSON.parse(`${'['.repeat(900)}${']'.repeat(900)}`)],
  ['a long text', 'x'.repeat(50_000)],
])('prints %s the same, whatever the room', (_, given) => {
  const bytes = bytesOf(given)
  const read = readJson(bytes)!
  expect(read.value).toEqual(given)
  for (const maxChars of [200, 1_000, 4_000, 100_000])
    expect(printBounded(shownGraph(read.value), { maxChars })).toEqual(printBounded(parseGraph(bytes), { maxChars }))
})

it.each([
  'undefined',
  '[undefined]',
  '-0',
  'NaN',
  '[1, , 2]',
  '10n',
  'new Map()',
  'Object.freeze({ a: 1 })',
  '"\\ud83d"',
  'JSON.parse(\'{"__proto__": 1}\')',
])('has no answer for %s', source => {
  expect(readJson(test.bytes(test.run(`(${source})`)))).toBeUndefined()
})

it('never throws on other bytes, and never makes more of them than they are', () => {
  fc.assert(
    fc.property(
      value,
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 4 }),
      (given, changes) => {
        const bytes = bytesOf(given).slice()
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte
        const read = readJson(bytes)
        if (read !== undefined) expect(JSON.stringify(read.value).length).toBeLessThan(bytes.length * 80 + 64)
      },
    ),
    { numRuns: 1_500 },
  )
})
