/** A clock that stands still until a test moves it, with ids that count up. */
import type { Clock } from '../../src/ports/clock.ts'

export interface FixedClock extends Clock {
  /** Move on by `ms`. */
  advance(ms: number): void
  set(ms: number): void
}

export function fixedClock(start: number | string = '2026-01-02T03:04:05.000Z'): FixedClock {
  let now = typeof start === 'string' ? Date.parse(start) : start
  let ids = 0
  let digits = 0
  return {
    now: () => now,
    newId: () => '01' + (ids += 1).toString(32).toUpperCase().padStart(24, '0'),
    randomHex: count => (digits += 1).toString(16).padStart(count, '0').slice(-count),
    advance: ms => {
      now += ms
    },
    set: ms => {
      now = ms
    },
  }
}
