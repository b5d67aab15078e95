import { describe, expect, it } from 'vitest'
import { composeStatus, mergeContexts, noticeMs, type StatusPart, unionOf } from '../../src/runtime/compose.ts'
import { fitPart } from '../../src/runtime/room.ts'
import { createVirtualTime } from '../../src/runtime/virtual-time.ts'
import { createWakes, type Wake } from '../../src/runtime/wakes.ts'
import type { EngineName } from '../../src/session/actions.ts'

const parts = (...given: readonly (readonly [EngineName, string, boolean?])[]): ReadonlyMap<EngineName, StatusPart> =>
  new Map(given.map(([engine, text, urgent = false]) => [engine, { text, urgent }]))

describe('the status line', () => {
  it.each<[string, ReadonlyMap<EngineName, StatusPart>, string[], string | null]>([
    ['nobody', parts(), [], null],
    [
      'the order of the engines',
      parts(['next', 'n'], ['repl', 'r'], ['companion', 'c'], ['keel', 'k'], ['pack', 'p']),
      [],
      'p · k · c · r · n',
    ],
    ['urgent ones first', parts(['pack', 'p'], ['next', 'n', true], ['keel', 'k', true]), [], 'k · n · p'],
    ['modes before all', parts(['next', 'n', true]), ['no git', 'no store'], 'outrigger: no git, no store · n'],
    ['one line', parts(['keel', ' a\nb  c ']), [], 'a b c'],
    ['empty texts', parts(['keel', ' '], ['next', 'n']), [], 'n'],
    [
      'the last that fits is cut',
      parts(['pack', 'p'.repeat(100)], ['keel', 'k'.repeat(100)], ['next', 'n']),
      [],
      `${'p'.repeat(100)} · ${'k'.repeat(56)}…`,
    ],
    ['what does not begin is left out', parts(['pack', 'p'.repeat(158)], ['keel', 'k']), [], 'p'.repeat(158)],
    ['no half character', parts(['pack', `${'p'.repeat(158)}😀😀`]), [], `${'p'.repeat(158)}…`],
  ])('%s', (_, given, modes, line) => {
    expect(composeStatus(given, modes)).toBe(line)
    expect((line ?? '').length).toBeLessThanOrEqual(160)
  })
})

describe('contexts', () => {
  it('of one engine become one, as they are', () => {
    const context = (engine: EngineName, id: string, text: string) => ({
      kind: 'add-context' as const,
      id,
      engine,
      text,
      summary: 's'.repeat(200),
    })
    const merged = mergeContexts([context('pack', '1', 'p\n'), context('keel', '2', 'a\n\n'), context('keel', '3', 'b\n')])
    expect(merged.map(({ action, ids }) => [action.engine, action.text, ids])).toEqual([
      ['keel', 'a\n\nb\n', ['2', '3']],
      ['pack', 'p\n', ['1']],
    ])
    expect(merged[0]?.action.summary).toHaveLength(120)
  })
})

describe('a part in its room', () => {
  it('is as it is, cut, or left out', () => {
    expect(fitPart('x', 1, 'keel')).toBe('x')
    expect(fitPart('a\n'.repeat(500), 599, 'keel')).toBe(undefined)
    expect(fitPart(`${'a'.repeat(700)}\n`.repeat(2), 1_000, 'companion')).toBe(
      `${'a'.repeat(700)}\n… cut: 702 characters; outrigger companion check shows all`,
    )
    const oneLine = fitPart('😀'.repeat(1_000), 700, 'keel')!
    expect(oneLine.length).toBeLessThanOrEqual(700)
    expect(oneLine.isWellFormed()).toBe(true)
  })
})

describe('small things', () => {
  it('keep their bounds', () => {
    expect([undefined, 0, 1_000, 5_000, 1e9].map(noticeMs)).toEqual([4_000, 1_000, 1_000, 5_000, 60_000])
    expect(unionOf([['/b', '/a'], ['/a']])).toEqual(['/a', '/b'])
  })
})

describe('wakes', () => {
  it('of times longer than a timer can wait fire at their time', async () => {
    const time = createVirtualTime(0)
    const fired: Wake[] = []
    const wakes = createWakes(time.clock, time.timers, wake => void fired.push(wake))
    const due = 100 * 24 * 3_600_000
    wakes.set({ session: 's', engine: 'next', key: 'k', due })
    const settle = async () => {}
    await time.moveTo(due - 1, settle)
    expect(fired).toEqual([])
    await time.moveTo(due, settle)
    expect(fired).toHaveLength(1)
    wakes.set({ session: 's', engine: 'next', key: 'k', due: due + 5 })
    wakes.close()
    await time.moveTo(due + 100, settle)
    expect(fired).toHaveLength(1)
  })
})
