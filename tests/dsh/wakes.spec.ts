import { describe, expect, it } from 'vitest'
import { foldWake, wakesIn } from '../../src/dsh/wakes.ts'

const row = (data: unknown, type = 'schedule/change') => ({ type, data })
const create = (id: string) => row({ version: 1, operation: 'create', schedule: { id, kind: 'after', prompt: 'x' } })
const over = (id: string, more: object = {}) => row({ version: 1, operation: 'dispatch', id, ...more })
const wakes = (events: readonly object[], seedLength?: number) => [...wakesIn({ events, header: { seedLength } } as never)]

describe('reminders in a log', () => {
  it('are open until they came or were deleted; one that comes again stays', () => {
    expect(wakes([create('a'), create('b'), create('c')])).toEqual(['a', 'b', 'c'])
    const ends = [over('a'), row({ version: 1, operation: 'delete', id: 'b' }), over('c', { acceptedAt: '2026-01-01T00:00:00Z' })]
    expect(wakes([create('a'), create('b'), create('c'), ...ends])).toEqual(['c'])
  })

  it('of a parent are not those of its fork', () => {
    expect(wakes([create('a'), create('b')], 1)).toEqual(['b'])
  })

  it.each([null, 'x', 7, {}, { operation: 'create' }, { operation: 'create', schedule: { id: 3 } }, { operation: 'dispatch' }])(
    'are as before after %j',
    data => {
      const open = new Set(['a'])
      expect(foldWake(open, data)).toBe(false)
      expect([...open]).toEqual(['a'])
    },
  )
})
