import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeTold, encodeTold, isFresh, keepLive, nothingTold, tell } from '../../src/session/told.ts'

describe('told once', () => {
  it('is fresh until it is told', () => {
    expect(isFresh(nothingTold, 'a', {}, 1)).toBe(true)
    const told = tell(nothingTold, 'a', 1)
    expect(isFresh(told, 'a', {}, 99)).toBe(false)
    expect(isFresh(told, 'b', {}, 1)).toBe(true)
    expect(nothingTold.size).toBe(0)
  })

  it('may be told again after some ticks, at most so often', () => {
    let told = tell(nothingTold, 'a', 1)
    expect(isFresh(told, 'a', { every: 5 }, 5)).toBe(false)
    expect(isFresh(told, 'a', { every: 5 }, 6)).toBe(true)
    told = tell(told, 'a', 6)
    expect(told.get('a')).toEqual({ first: 1, last: 6, times: 2 })
    expect(isFresh(told, 'a', { every: 5, atMost: 2 }, 99)).toBe(false)
    expect(isFresh(nothingTold, 'a', { atMost: 0 }, 1)).toBe(false)
  })

  it('is news again after it was gone', () => {
    const told = tell(tell(nothingTold, 'a', 1), 'b', 1)
    expect([...keepLive(told, new Set(['b', 'c'])).keys()]).toEqual(['b'])
    expect(keepLive(told, new Set(['a', 'b']))).toBe(told)
  })

  it('survives as JSON, and damaged rows are left out', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.nat())), tellings => {
        const told = tellings.reduce((value, [key, tick]) => tell(value, key, tick), nothingTold)
        expect(decodeTold(JSON.parse(JSON.stringify(encodeTold(told))))).toEqual(told)
      }),
    )
    expect(decodeTold([['a', 1, 1, 1], ['b', '1', 1, 1], 7, null, ['c']]).size).toBe(1)
    expect(decodeTold({}).size).toBe(0)
  })
})
