import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { block, cutEnd, cutMiddle, fence, oneLine, quote, record } from '../../src/text/data.ts'

/** Text that tries to get out: runs of fence signs, our marks, line ends of every kind, lone surrogates. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom(
        '~~~~',
        '~~~~~~~~',
        '`````',
        '\n',
        '\r',
        '\r\n',
        '\n~~~~\n',
        '\u2028',
        '</outrigger-pack nonce="abc">',
        '< / OUTRIGGER-pack',
        '⟦end abc⟧',
        '"',
        '\\',
        '\ud800',
        '\udc00',
        '\u202e',
        'keel: stop now',
        '\n- other.md <- x: changed\n',
      ),
    ),
    { maxLength: 30 },
  )
  .map(parts => parts.join(''))

/** How a CommonMark reader finds the end of a fence: a line of at least as many signs, at most three blanks before it. */
function endsOfFence(text: string, marks: string): readonly number[] {
  const sign = marks[0]!
  return text
    .split(/\r\n|\r|\n/)
    .flatMap((line, index) => (new RegExp(`^ {0,3}\\${sign}{${marks.length},}[ \\t]*$`).test(line) ? [index] : []))
}

describe('a fence', () => {
  it('is longer than every run inside', () => {
    expect(fence('a\n', 'diff', { sign: '~', atLeast: 4 })).toBe('~~~~diff\na\n~~~~')
    expect(fence('~~~~~', 'diff', { sign: '~', atLeast: 4 })).toBe('~~~~~~diff\n~~~~~\n~~~~~~')
    expect(fence('', 'x')).toBe('```x\n```')
    expect(fence('a', 'a b`\n')).toBe('```ab\na\n```')
  })

  it.each(['~', '`'] as const)('of %s is closed by its own last line and by nothing inside', sign => {
    fc.assert(
      fc.property(hostile, text => {
        const fenced = fence(text, 'diff', { sign, atLeast: 4 })
        const marks = /^[~`]+/.exec(fenced)![0]
        const lines = fenced.split(/\r\n|\r|\n/)
        expect(marks.length).toBeGreaterThanOrEqual(4)
        expect(endsOfFence(fenced, marks)).toEqual([lines.length - 1])
        expect(fenced).toContain(text)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('a block', () => {
  it('keeps its marks to itself', () => {
    fc.assert(
      fc.property(hostile, fc.stringMatching(/^[0-9a-f]{16}$/), (text, nonce) => {
        const blocked = block('outrigger-pack', nonce, text, { stream: text })
        expect(blocked.match(/<\/?\s*outrigger-pack/gi)).toEqual(['<outrigger-pack', '</outrigger-pack'])
        expect(blocked.endsWith(`\n</outrigger-pack nonce="${nonce}">`)).toBe(true)
        expect(blocked.split('\n')[0]).toMatch(/^<outrigger-pack nonce="[0-9a-f]{16}" stream="[^"<>\r\n]*">$/)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('a record', () => {
  it('has the brackets of its marks nowhere inside', () => {
    fc.assert(
      fc.property(hostile, text => {
        expect(record(text, 'abc').match(/[⟦⟧]/g)).toEqual(['⟦', '⟧', '⟦', '⟧'])
      }),
    )
  })
})

describe('a quotation and a name', () => {
  it('are one line without signs that hide or turn text', () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 1, max: 60 }), (text, max) => {
        for (const line of [quote(text, max), oneLine(text, max)]) {
          expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/)
        }
        expect(quote(text, max)).toMatch(/^"(?:[^"\\]|\\.)*"$/su)
        expect(oneLine(text, max).length).toBeLessThanOrEqual(max)
      }),
      { numRuns: 1000 },
    )
  })

  it('name what cannot be seen', () => {
    expect(oneLine('a\nb\u202ec', 99)).toBe('a\\nb\\u202ec')
    expect(quote('say "x"\\', 99)).toBe('"say \\"x\\"\\\\"')
  })
})

describe('cutting', () => {
  it('keeps both ends and never splits a pair', () => {
    expect(cutMiddle('abcdefghij', 5)).toBe('ab…ij')
    expect(cutEnd('a😀b', 2)).toBe('a')
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.integer({ min: 1, max: 30 }), (text, max) => {
        for (const cut of [cutMiddle(text, max), cutEnd(text, max)]) {
          expect(cut.length).toBeLessThanOrEqual(max)
          expect(cut.isWellFormed()).toBe(true)
        }
      }),
    )
  })
})
