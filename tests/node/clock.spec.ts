import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodeClock } from '../../src/node/clock.ts'

const ulid = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/

describe('the clock', () => {
  it('goes with the machine', () => {
    const clock = nodeClock({})
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1_000)
    const ids = Array.from({ length: 1_000 }, () => clock.newId())
    expect(ids.every(id => ulid.test(id))).toBe(true)
    expect(new Set(ids).size).toBe(1_000)
    expect([...ids].sort()).toEqual(ids)
    expect(clock.randomHex(32)).toMatch(/^[0-9a-f]{32}$/)
    expect(clock.randomHex(32)).not.toBe(clock.randomHex(32))
    expect(clock.randomHex(0)).toBe('')
  })

  it('stands still at OUTRIGGER_NOW', () => {
    const clock = nodeClock({ OUTRIGGER_NOW: '2026-01-02T03:04:05.678Z' })
    expect(new Date(clock.now()).toISOString()).toBe('2026-01-02T03:04:05.678Z')
    expect(nodeClock({ OUTRIGGER_NOW: '2026-01-02' }).now()).toBe(Date.UTC(2026, 0, 2))
    expect(nodeClock({ OUTRIGGER_NOW: '2026-01-02T03:04:05+01:00' }).now()).toBe(Date.UTC(2026, 0, 2, 2, 4, 5))
    expect(clock.newId()).not.toBe(nodeClock({ OUTRIGGER_NOW: '2026-01-02T03:04:05.678Z' }).newId())
  })

  it('gives the same ids for the same time and seed, others for another seed', () => {
    const ids = (seed: string): readonly string[] => {
      const clock = nodeClock({ OUTRIGGER_NOW: '2026-01-02T03:04:05.678Z', OUTRIGGER_SEED: seed })
      return [clock.newId(), clock.newId(), clock.randomHex(16), clock.newId()]
    }
    fc.assert(
      fc.property(fc.integer({ min: -999_999_999, max: 999_999_999 }), seed => {
        expect(ids(String(seed))).toEqual(ids(String(seed)))
        expect(ids(String(seed))).not.toEqual(ids(String(seed + 1)))
        expect(new Set(ids(String(seed))).size).toBe(4)
      }),
    )
    for (const seed of [-1, 0x1_0000_0000 - 1, -0x1_0000_0000 - 1]) expect(ids(String(seed))).not.toEqual(ids(String(seed + 1)))
    expect(ids('7')[0]).toMatch(ulid)
  })

  it.each(['yesterday', '2026-13-01', '12', '2026-01-02T99:00:00Z', '1960-01-01T00:00:00Z'])('refuses the time "%s"', now => {
    expect(() => nodeClock({ OUTRIGGER_NOW: now })).toThrow(
      expect.objectContaining({ code: 'BAD_INPUT', subject: 'OUTRIGGER_NOW' }),
    )
  })

  it.each(['x', '1.5', '1e3', ' 1', '9'.repeat(16)])('refuses the seed "%s"', seed => {
    expect(() => nodeClock({ OUTRIGGER_SEED: seed })).toThrow(
      expect.objectContaining({ code: 'BAD_INPUT', subject: 'OUTRIGGER_SEED' }),
    )
  })

  it('takes empty variables for none', () => {
    expect(Math.abs(nodeClock({ OUTRIGGER_NOW: '', OUTRIGGER_SEED: '' }).now() - Date.now())).toBeLessThan(1_000)
  })
})
