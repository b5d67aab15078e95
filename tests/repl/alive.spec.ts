import { expect, it } from 'vitest'
import { aliveText } from '../../src/repl/alive.ts'
import type { BindingState } from '../../src/repl/types.ts'

const binding = (name: string, more: Partial<BindingState> = {}): BindingState => ({
  name,
  kind: 'const',
  type: 'number',
  preview: '1',
  cell: 3,
  recover: 'snapshot',
  ...more,
})

it('says what every name holds', () => {
  const bindings = [
    binding('a'),
    binding('rows', { type: 'Array', preview: 'Array(200)' }),
    binding('load', { kind: 'function', type: 'function', preview: '[function load]' }),
  ]
  expect(aliveText({ bindings })).toBe('REPL names still alive (3): a: number 1; rows: Array(200); load: function (cell 3)')
  expect(aliveText({ bindings: [] })).toBeUndefined()
})

it('is bounded, and says how many were left out', () => {
  const bindings = Array.from({ length: 500 }, (_, i) => binding(`name${i}`, { preview: 'x\n'.repeat(400) }))
  const text = aliveText({ bindings })!
  expect(text.length).toBeLessThanOrEqual(2_048)
  expect(text).not.toContain('\n')
  expect(text).toMatch(/ and \d+ more$/)
})
