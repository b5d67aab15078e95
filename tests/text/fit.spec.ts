import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { estimateTokens, fit as fitParts, list, names } from '../../src/text/fit.ts'

describe('fitting parts', () => {
  const parts = [
    { text: 'head', rank: 0 },
    { text: 'long text', shorter: 'lt', rank: 1 },
    { text: 'tail', rank: 2 },
  ]

  it('changes nothing that fits', () => {
    expect(fitParts(parts, { maxChars: 17 })).toEqual({ text: 'headlong texttail', left: [], shortened: [] })
  })

  it('shortens before it leaves anything out', () => {
    expect(fitParts(parts, { maxChars: 16 })).toEqual({ text: 'headlttail', left: [], shortened: [parts[1]] })
  })

  it('leaves out by rank, the highest first', () => {
    expect(fitParts(parts, { maxChars: 9 })).toMatchObject({ text: 'headlt', left: [parts[2]] })
    expect(fitParts(parts, { maxChars: 4 })).toMatchObject({ text: 'head', left: [parts[1], parts[2]] })
  })

  it('keeps a limit of tokens as well', () => {
    expect(estimateTokens('1234567')).toBe(2)
    expect(estimateTokens('héllo')).toBe(2)
    expect(
      fitParts(
        [
          { text: 'ééé', rank: 0 },
          { text: 'abc', rank: 1 },
        ],
        { maxChars: 100, maxTokens: 2 },
      ).text,
    ).toBe('ééé')
  })

  it('never goes over while a part can go', () => {
    const part = fc.record({ text: fc.string(), rank: fc.nat(3) })
    fc.assert(
      fc.property(fc.array(part), fc.nat(60), (some, maxChars) => {
        expect(fitParts(some, { maxChars }).text.length).toBeLessThanOrEqual(maxChars)
      }),
    )
  })
})

describe('lists', () => {
  const more = (left: number): string => `- and ${left} more`

  it('say how many they left out', () => {
    expect(list(['- a', '- b', '- c'], 2, more)).toBe('- a\n- b\n- and 1 more\n')
    expect(list(['- a', '- b'], 2, more)).toBe('- a\n- b\n')
    expect(list([], 2, more)).toBe('')
  })

  it('keep a cap of characters, the last line counted in', () => {
    const text = list(['- aaaa', '- bbbb', '- cccc'], 9, more, 20)
    expect(text).toBe('- aaaa\n- and 2 more\n')
    expect(text.length).toBeLessThanOrEqual(20)
  })

  it('name three', () => {
    expect(names(['a', 'b', 'c', 'd', 'e'])).toBe('a, b, c and 2 more')
    expect(names(['a', 'b', 'c'])).toBe('a, b, c')
  })
})
