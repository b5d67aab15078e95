import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sliceIds } from '../../src/keel/forms.ts'
import { findMovedLines, lastLineOf, lineBounds, lineOf, parseLines, printLines, spanOfLines } from '../../src/keel/lines.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const context = { path: 'n.txt', parsed: null }
const stampOf = (text: string, first: number, last: number) =>
  sliceIds(bytesOf(text), spanOfLines(lineBounds(bytesOf(text)), { first, last })!, context).norm

describe('a line anchor', () => {
  it.each([
    ['L10', { first: 10, last: 10 }],
    ['L10-L20', { first: 10, last: 20 }],
    ['L10-20', { first: 10, last: 20 }],
    ['L0', { first: 0, last: 0 }],
    ['l10', null],
    ['L', null],
    ['L1-', null],
    ['L1-L2-L3', null],
    [' L1', null],
    ['L99999999999', null],
  ])('%j is %j', (anchor, range) => {
    expect(parseLines(anchor)).toEqual(range)
  })

  it('prints as it is suggested', () => {
    expect(printLines({ first: 3, last: 4 })).toBe('L3-L4')
    expect(printLines({ first: 3, last: 3 })).toBe('L3')
  })

  it.each([
    ['', [0]],
    ['a', [0, 1]],
    ['a\n', [0, 2]],
    ['a\nb', [0, 2, 3]],
    ['a\r\nb\rc\n\n', [0, 3, 5, 7, 8]],
  ])('counts the lines of %j', (text, bounds) => {
    expect(lineBounds(bytesOf(text))).toEqual(bounds)
  })

  it('knows the line of a byte', () => {
    const bounds = lineBounds(bytesOf('ab\ncd\n'))
    expect([0, 2, 3, 5, 6].map(offset => lineOf(bounds, offset))).toEqual([1, 1, 2, 2, 2])
    expect(lineOf([0], 0)).toBe(1)
  })

  it.each([[{ first: 1, last: 3 }], [{ first: 2, last: 1 }], [{ first: 0, last: 1 }]])(
    'names nothing for %j in two lines',
    range => {
      expect(spanOfLines(lineBounds(bytesOf('a\nb\n')), range)).toBeNull()
    },
  )
})

describe('the last line', () => {
  it('has the number that the table of lines gives it', () => {
    const bytes = fc.uint8Array({ max: 3, maxLength: 12 }).map(kinds => kinds.map(kind => [0x0a, 0x0d, 0x41, 0x41][kind]!))
    fc.assert(
      fc.property(bytes, file => {
        expect(lastLineOf(file)).toBe(lineOf(lineBounds(file), Math.max(0, file.length - 1)))
      }),
      { numRuns: 1000 },
    )
  })
})

describe('moved lines', () => {
  const before = 'one\ntwo\nthree\nfour\n'
  const stamp = stampOf(before, 2, 3)

  it.each([
    ['are found below', 'zero\n' + before, 'L3-L4'],
    ['are found above', 'two\nthree\n', 'L1-L2'],
    ['are found in converted line ends', ('zero\n' + before).replaceAll('\n', '\r\n'), 'L3-L4'],
    ['are not guessed between two', 'zero\n' + before + before, null],
    ['are not found when they changed', before.replace('two', 'TWO'), null],
  ])('%s', (_what, now, anchor) => {
    expect(findMovedLines(bytesOf(now), 'L2-L3', stamp, 'normalized', context)).toBe(anchor)
  })

  it('are searched for within bounds', () => {
    const bytes = bytesOf('x\n'.repeat(400_000))
    const startedAt = performance.now()
    expect(findMovedLines(bytes, 'L1-L200000', stamp, 'normalized', context)).toBeNull()
    expect(performance.now() - startedAt).toBeLessThan(20_000)
  })
})
