import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clip, graphemes, lengthInGraphemes, middle } from '../../src/text/clip.ts'

const family = '👨‍👩‍👧'

describe('clipping', () => {
  it.each([
    ['abcdef', 3, 'utf16', '', 'abc'],
    ['abc', 3, 'utf16', '…', 'abc'],
    ['abcd', 3, 'utf16', '…', 'ab…'],
    ['a😀b', 2, 'utf16', '', 'a'],
    ['a😀b', 3, 'utf16', '', 'a😀'],
    ['a😀b', 2, 'code-points', '', 'a😀'],
    [`a${family}b`, 2, 'graphemes', '', `a${family}`],
    [`${family}${family}${family}`, 2, 'graphemes', '…', `${family}…`],
    ['e\u0301x', 1, 'graphemes', '', 'e\u0301'],
    ['abc', 0, 'graphemes', '…', ''],
  ] as const)('%j to %i %s with %j gives %j', (text, max, unit, end, expected) => {
    expect(clip(text, max, unit, end)).toBe(expected)
  })

  it('never splits a surrogate pair and never goes over', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(30), (text, max) => {
        for (const cut of [clip(text, max), clip(text, max, 'utf16', '…'), middle(text, max)]) {
          expect(cut.isWellFormed()).toBe(true)
          expect(cut.length).toBeLessThanOrEqual(max)
        }
      }),
    )
  })

  it('keeps both ends in the middle form', () => {
    expect(middle('docs/long/path.md', 9)).toBe('docs…h.md')
    expect(middle('short', 5)).toBe('short')
    expect(middle('a😀😀b', 4)).toBe('a…b')
  })

  it('finds and counts the graphemes that the platform finds', () => {
    const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
    const unit = fc.oneof(
      fc.constantFrom('a', '\r', '\n', '\u0301', family, '한', '\ud800'),
      fc.string({ unit: 'grapheme', maxLength: 3 }),
    )
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 40 }), units => {
        const text = units.join('')
        const whole = [...segmenter.segment(text)].map(({ segment }) => segment)
        expect([...graphemes(text)]).toEqual(whole)
        expect(lengthInGraphemes(text)).toBe(whole.length)
      }),
    )
  })

  it('finds the graphemes of a long text in pieces as in one', () => {
    const text = `${'x'.repeat(4094)}${family}${'y'.repeat(5000)}e\u0301`
    const whole = [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)].map(one => one.segment)
    expect([...graphemes(text)]).toEqual(whole)
  })
})
