/** What the prompt offers at the end of a line. */
import { describe, expect, it } from 'vitest'
import { complete, keysOf } from '../../src/cli/repl/complete.ts'

const names = [
  { name: 'rows', type: 'Array(3)', preview: '[{ id: 1 }, { id: 2 }, { id: 3 }]' },
  { name: 'customer', type: 'object', preview: '{ first: "A, { b: 1 }", address: { street: 1 }, "no-name": 2, last: [getter] }' },
  { name: 'point', type: 'Point', preview: 'Point { x: 1, y: 2 }' },
  { name: 'known', type: 'Map(1)', preview: 'Map(1) { "k" => { a: 1 } }' },
]
const offered = (line: string): readonly string[] => complete(line, names, ['.exit', '.edit'])[0]

it.each([
  ['ro', ['rows']],
  ['return ro', ['rows']],
  ['customer.', ['customer.address', 'customer.first', 'customer.last']],
  ['customer.fi', ['customer.first']],
  ['f(point.', ['point.x', 'point.y']],
  ['rows.fla', ['rows.flat', 'rows.flatMap']],
  ['known.ha', ['known.has']],
  ['Math.max', ['Math.max']],
  ['capabilities.t', ['capabilities.tree()']],
  ['.e', ['.exit', '.edit']],
  ['nothing.', []],
  ['customer.address.', []],
  ['"cust', []],
  ['rows[0].', []],
  ['__proto__.', []],
])('offers for %j', (line, expected) => {
  expect(offered(line)).toEqual(expected)
})

it('replaces what was typed of the word', () => {
  expect(complete('return customer.fi', names, [])[1]).toBe('customer.fi')
})

describe('keys of a preview', () => {
  it.each([
    ['{ a: 1, b: { c: 2 }, d: [3, { e: 1 }] }', ['a', 'b', 'd']],
    ['[{ a: 1 }]', []],
    ['Map(1) { "k" => { a: 1 } }', []],
    ['{ a: "x, b: 1", c: "\\"", d: 1 }', ['a', 'c', 'd']],
    ['{ a: 1, … 3 more', ['a']],
    ['', []],
    ['"{ a: 1 }"', []],
  ])('%s', (preview, keys) => {
    expect(keysOf(preview)).toEqual(keys)
  })
})
