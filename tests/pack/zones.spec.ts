import { describe, expect, it } from 'vitest'
import { parsePack, parseUnpack, splitArguments } from '../../src/pack/command-line.ts'
import { adviceText, countdownText, duration, savingText, teaching, unwritableText } from '../../src/pack/messages.ts'
import { defaultPackConfig, type Seam } from '../../src/pack/types.ts'
import { adviseHard, hardAt, noZone, type Surroundings, stepZone, type Zone } from '../../src/pack/zones.ts'

const { zones } = defaultPackConfig
const simple: Seam = { level: 'simple', task: null }
const strong: Seam = { level: 'strong', task: 'T9' }
const none: Seam = { level: 'none', task: null }
const at = (percent: number) => ({ tokens: percent * 1_000, window: 100_000, compactsAt: null })
const around = (more: Partial<Surroundings> = {}): Surroundings => ({
  seam: none,
  hasStream: true,
  isIdle: true,
  flow: null,
  isAuto: false,
  ...more,
})
const step = (percent: number, more: Partial<Surroundings> = {}, zone: Zone = noZone) =>
  stepZone(zone, at(percent), zones, around(more))

describe('the wall', () => {
  it.each([
    [200_000, 120_000, 114_000],
    [200_000, null, 140_000],
    [200_000, 190_000, 140_000],
  ])('of a window of %i that compacts at %s is at %i', (window, compactsAt, wall) => {
    expect(hardAt({ tokens: 0, window, compactsAt }, zones)).toBe(wall)
  })
})

describe('a measure', () => {
  it.each<[string, number, Partial<Surroundings>, number, readonly string[]]>([
    ['far from everything', 20, {}, 0, ['no-seam']],
    ['a decision below its floor', 49, { seam: simple }, 0, ['under-floor']],
    ['a decision at its floor', 50, { seam: simple }, 1, ['advised']],
    ['a closed task below its floor', 29, { seam: strong }, 0, ['under-floor']],
    ['a closed task at its floor', 30, { seam: strong }, 2, ['advised']],
    ['the wall', 70, {}, 3, ['saving']],
    ['the wall without a stream', 70, { hasStream: false }, 3, ['no-stream']],
    ['the wall in a turn', 70, { isIdle: false }, 0, ['busy']],
    ['the wall while a save runs', 70, { flow: 'saving' }, 0, ['busy']],
    ['the wall in a review', 70, { flow: 'review' }, 0, ['in-review']],
    ['the wall when a start is prepared', 70, { flow: 'armed' }, 0, ['armed']],
    ['the wall in auto mode', 70, { isAuto: true }, 3, ['left-to-auto']],
  ])('%s', (_, percent, more, rank, words) => {
    const { zone, words: said } = step(percent, more)
    expect([zone.rank, said]).toEqual([rank, words])
  })

  it('without a known window says nothing', () => {
    const { zone, notice, save } = stepZone(
      noZone,
      { tokens: 9_000, window: 0, compactsAt: null },
      zones,
      around({ seam: strong }),
    )
    expect([zone, notice, save]).toEqual([noZone, false, false])
  })

  it('raises a rank and never lowers it, with one notice for both', () => {
    const first = step(55, { seam: simple })
    const second = step(55, { seam: strong }, first.zone)
    const third = step(55, { seam: simple }, second.zone)
    expect([first, second, third].map(({ zone, notice, words }) => [zone.rank, notice, words[0]])).toEqual([
      [1, true, 'advised'],
      [2, false, 'raised'],
      [2, false, 'kept'],
    ])
  })

  it.each([
    [1, 50, 49.9],
    [2, 30, 29.9],
    [3, 50, 49.9],
  ] as const)('arms rank %i anew below its floor only', (rank, stays, goes) => {
    const zone: Zone = { ...noZone, cycle: 4, rank, hasSaved: rank === 3 }
    expect(step(stays, {}, zone).zone.cycle).toBe(4)
    expect(step(goes, {}, zone)).toMatchObject({ zone: { cycle: 5, rank: 0, hasSaved: false }, words: ['re-armed', 'no-seam'] })
  })

  it('saves near the wall once a cycle', () => {
    const first = step(71)
    expect([first.save, step(72, {}, first.zone).words]).toEqual([true, ['saved-already']])
  })

  it('has no advice from a save of an older cycle', () => {
    const { zone, notice } = adviseHard({ ...noZone, cycle: 2 }, 1, { kind: 'saved' })
    expect([zone.advice, notice]).toEqual([null, false])
  })
})

describe('what people read', () => {
  it.each([
    [duration(12_900), '12s'],
    [duration(185_000), '3m 05s'],
    [savingText('s', 12_000), 'Saving "s"… 12s'],
    [savingText('s', 185_000), 'Saving "s" takes long (3m 05s); it may hang'],
    [countdownText('s', 7, 71), '"s" goes to a fresh session in 7 s (context 71%). Typing or /pack cancel stops it'],
    [adviceText({ kind: 'seam', seam: strong }, 40), 'T9 is closed: a fresh start fits now (context 40%). /pack'],
    [
      adviceText({ kind: 'seam', seam: { level: 'strong', task: null } }, 40),
      'The direction changed: a fresh start fits now (context 40%). /pack',
    ],
    [
      adviceText({ kind: 'failed', why: 'x'.repeat(200) }, 71),
      `Saving failed at context 71% (${'x'.repeat(80)}). /pack tries again`,
    ],
    [
      unwritableText('s', 'disk\nfull', 2),
      '⚠ cannot write the journal of "s" (disk\\nfull); 2 checkpoint(s) held, next try with the next one',
    ],
  ])('%s', (text, expected) => {
    expect(text).toBe(expected)
  })

  it('teaches within its cap', () => {
    expect(teaching.length).toBeLessThanOrEqual(1_100)
    expect(teaching).toMatch(/^Work notes\. When an answer settles something .*\n<!-- ckpt\n/)
  })
})

describe('a typed line', () => {
  it('is split at blanks, and double quotes group', () => {
    expect(splitArguments(' for "fix the  importer" x""y ')).toEqual(['for', 'fix the  importer', 'xy'])
    expect(splitArguments('a "b')).toBeNull()
    expect(splitArguments('""')).toEqual([''])
  })

  it.each([
    ['', { kind: 'fresh', stream: null, review: false, plain: false, goal: null }],
    ['billing --review', { kind: 'fresh', stream: 'billing', review: true }],
    ['for "fix it"', { kind: 'fresh', goal: 'fix it' }],
    ['for fix it all', { kind: 'fresh', goal: 'fix it all' }],
    ['billing --for "fix it" --plain', { kind: 'fresh', stream: 'billing', goal: 'fix it', plain: true }],
    ['save billing', { kind: 'save', stream: 'billing' }],
    ['auto', { kind: 'auto', verb: 'on' }],
    ['show c01 c02', { kind: 'show', args: ['c01', 'c02'] }],
  ])('/pack %s', (line, request) => {
    expect(parsePack(line)).toMatchObject(request)
  })

  it('/unpack takes a stream and, from a person, trust', () => {
    expect(parseUnpack('billing --trust')).toEqual({ kind: 'load', stream: 'billing', trust: true })
  })
})
