import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseStampFile, printStampFile, type StampLine, stampsById } from '../../src/keel/stamp-file.ts'
import type { Hex12 } from '../../src/keel/types.ts'

const parse = (text: string) => parseStampFile(new TextEncoder().encode(text))
const line = (id: string, child: string, text: string, stamp: string): StampLine => ({ id, child, text, stamp: stamp as Hex12 })

describe('the file of stamps', () => {
  it('is that of the twentieth worked example', () => {
    const lines = [line('b9b871566cd8c128', 'docs/quick.md', 'guide.md#Setup', 'df3855ab0bab')]
    const text = '#outrigger-keel-stamps 1\nb9b871566cd8c128\tdocs/quick.md\tguide.md#Setup\tdf3855ab0bab\n'
    expect(printStampFile(lines)).toBe(text)
    expect(parse(text)).toEqual({ lines, unreadable: 0 })
  })

  it('is sorted by child and id as bytes, equal lines once', () => {
    const a = line('b'.repeat(16), 'a.md', 'x', '1'.repeat(12))
    const b = line('a'.repeat(16), '\u{1F600}.md', 'x', '1'.repeat(12))
    const c = line('c'.repeat(16), '\uFF5E.md', 'x', '1'.repeat(12))
    const d = line('a'.repeat(16), 'a.md', 'y', '1'.repeat(12))
    expect(parse(printStampFile([b, a, c, d, a])).lines).toEqual([d, a, c, b])
  })

  it('keeps names with tabs, line ends and percent signs', () => {
    const odd = line('a'.repeat(16), 'a\tb\r\n%.md', '100%25', '1'.repeat(12))
    const text = printStampFile([odd])
    expect(text).toContain('a%09b%0D%0A%25.md\t100%2525')
    expect(parse(text).lines).toEqual([odd])
  })

  it('reads both sides of an unfinished merge', () => {
    const row = (stamp: string): string => `${'a'.repeat(16)}\ta.md\tb.md\t${stamp}\n`
    const file = parse(
      `#outrigger-keel-stamps 1\n<<<<<<< ours\n${row('1'.repeat(12))}=======\n${row('2'.repeat(12))}${row('1'.repeat(12))}>>>>>>> theirs\n`,
    )
    expect(file.unreadable).toBe(0)
    expect(stampsById(file).get('a'.repeat(16))).toEqual(['1'.repeat(12), '2'.repeat(12)])
  })

  it('counts lines it cannot read and takes nothing from another format', () => {
    expect(parse('#outrigger-keel-stamps 1\nrubbish\na\tb\tc\td\n')).toEqual({ lines: [], unreadable: 2 })
    expect(parse(`#outrigger-keel-stamps 2\n${'a'.repeat(16)}\ta\tb\t${'1'.repeat(12)}\n`)).toEqual({ lines: [], unreadable: 2 })
  })

  it('reads back what is printed', () => {
    const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`))
    const any = fc.string({ unit: 'grapheme' })
    const one = fc.record({ id: hex(16), child: any, text: any, stamp: hex(12) }).map(row => row as StampLine)
    fc.assert(
      fc.property(fc.array(one), lines => {
        const printed = printStampFile(lines)
        expect(printStampFile(parse(printed).lines)).toBe(printed)
        expect(new Set(parse(printed).lines.map(row => JSON.stringify(row)))).toEqual(
          new Set(lines.map(({ id, child, text, stamp }) => JSON.stringify({ id, child, text, stamp }))),
        )
      }),
    )
  })

  it('never throws on hostile bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 500 }), bytes => void stampsById(parseStampFile(bytes))))
  })
})
