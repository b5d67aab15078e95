import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { endsInStamp, readAsFile, readEntry, readText, retarget } from '../../src/keel/entry.ts'
import type { Entry } from '../../src/keel/types.ts'

const none = { kind: 'none' }
const hex = { kind: 'hex', value: '123456789012' }
const stamped = '@123456789012'

describe('an entry', () => {
  it.each([
    ['a.md', { kind: 'path', text: 'a.md', ref: 'a.md', anchor: null, stamp: none }],
    ['  a.md\t', { text: 'a.md' }],
    [`a.md#Head one ${stamped}`, { text: 'a.md#Head one', ref: 'a.md', anchor: 'Head one', stamp: hex }],
    [`a.md \t ${stamped} `, { text: 'a.md', stamp: hex }],
    ['a.md @ok', { stamp: { kind: 'ok', value: null, reason: null } }],
    ['a.md @ok(checked twice)', { text: 'a.md', stamp: { kind: 'ok', value: null, reason: 'checked twice' } }],
    ['a.md @ok(see @b)', { text: 'a.md', stamp: { kind: 'ok', value: null, reason: 'see @b' } }],
    ['a.md @12345', { text: 'a.md', stamp: { kind: 'bad', value: '12345' }, whole: 'a.md @12345' }],
    ['a.md @123456789ABC', { stamp: { kind: 'bad', value: '123456789ABC' } }],
    ['a.md @ok()', { text: 'a.md', stamp: { kind: 'bad', value: 'ok()' } }],
    ['a.md @ok(x (y))', { text: 'a.md', stamp: { kind: 'bad', value: 'ok(x (y))' } }],
    [`a.md @ok(${'x'.repeat(121)})`, { stamp: { kind: 'bad', value: `ok(${'x'.repeat(121)})` } }],
    [`a.md @ok(${'x'.repeat(120)})`, { stamp: { kind: 'ok', value: null, reason: 'x'.repeat(120) } }],
    [`a.md ${stamped} @abcdefabcdef`, { text: 'a.md', stamp: { kind: 'bad', value: '123456789012 @abcdefabcdef' } }],
    [`a.md ${stamped} @12`, { text: 'a.md', stamp: { kind: 'bad', value: '123456789012 @12' } }],
    [`a.md${stamped}`, { text: `a.md${stamped}`, stamp: none }],
    ['me@home.md', { text: 'me@home.md', stamp: none }],
    ['a @b c.md', { text: 'a @b c.md', stamp: none }],
    ['https://x.org/a#b @ok', { kind: 'url', text: 'https://x.org/a#b', ref: 'https://x.org/a#b', anchor: null }],
    ['C:/a.md', { kind: 'path', ref: 'C:/a.md' }],
    ['dir#1/a.md#b', { ref: 'dir#1/a.md', anchor: 'b' }],
    ['a#b#c', { ref: 'a', anchor: 'b#c' }],
    ['a.md#', { ref: 'a.md', anchor: null }],
    ['<a#b.md>#c', { ref: 'a#b.md', anchor: 'c' }],
    ['<a b>', { ref: 'a b', anchor: null }],
    ['<a', { ref: '<a' }],
    ['a.md #Head', { ref: 'a.md', anchor: 'Head' }],
    ['[[note]]', { kind: 'wikilink', ref: 'note', anchor: null }],
    ['[[note#A b|shown]]', { kind: 'wikilink', ref: 'note', anchor: 'A b', alias: 'shown' }],
    ['[[note|a|b]]#C', { ref: 'note', anchor: 'C', alias: 'a|b' }],
    ['[[note#A]]#B', { ref: 'note', anchor: 'A#B' }],
    ['[[#Self]]', { kind: 'wikilink', ref: '', anchor: 'Self' }],
    ['[[a]] b', { kind: 'path' }],
    ['[[a], [b]]', { kind: 'path' }],
  ])('%j', (raw, expected) => {
    expect(readEntry(raw)).toMatchObject(expected)
  })

  it.each(['', '  ', stamped, '@ok', '#Head', '@nonsense'])('%j names nothing', raw => {
    expect(readEntry(raw)).toBeNull()
  })

  it('tells where its parts stand', () => {
    expect(readEntry(`  é.md ${stamped} `)).toMatchObject({ textStart: 2, textEnd: 6, stampStart: 7, stampEnd: 20 })
  })

  it('reads back what is printed', () => {
    const name = fc.stringMatching(/^[a-zé]{1,6}( [a-z]{1,4})?(\.[a-z]{1,3})?$/)
    const anchor = fc.option(fc.stringMatching(/^[A-Z][a-z:.!é]{0,8}( [a-z]{1,4})?$/))
    fc.assert(
      fc.property(name, anchor, fc.constantFrom('path', 'angle', 'link', 'behind', 'alias'), (ref, tag, form) => {
        const at = tag === null ? '' : `#${tag}`
        const texts = {
          path: `${ref}${at}`,
          angle: `<${ref}>${at}`,
          link: `[[${ref}${at}]]`,
          behind: `[[${ref}]]${at}`,
          alias: `[[${ref}${at}|x]]`,
        }
        const read = readEntry(`${texts[form]} ${stamped}`)!
        expect(read).toMatchObject({ text: texts[form], ref, anchor: tag, stamp: hex })
        expect(retarget(read, read.ref, read.anchor)).toBe(read.text)
        const moved = readText(retarget(read, 'new#1.md', 'To'))
        if (read.kind === 'path') expect(moved).toMatchObject({ ref: 'new#1.md', anchor: 'To' })
      }),
    )
  })

  it('with a bad stamp can be read as the name of a file', () => {
    const read = readEntry('notes @home.md')!
    const entry = { ...read, stampSpan: { start: 6, end: 14 }, stampAt: 5 } as unknown as Entry
    expect(readAsFile(entry)).toMatchObject({
      text: 'notes @home.md',
      ref: 'notes @home.md',
      stamp: none,
      stampSpan: null,
      stampAt: 14,
    })
  })

  it('is told to end in a stamp only by one that can be read', () => {
    expect([`a ${stamped}`, 'a @ok', 'a @12', 'a'].map(endsInStamp)).toEqual([true, true, false, false])
  })

  it('is read in linear time', () => {
    for (const raw of [
      '@'.repeat(1e6),
      ' @'.repeat(5e5),
      ` ${stamped}`.repeat(7e4),
      '[['.repeat(5e5),
      '#'.repeat(1e6),
      ' '.repeat(1e6),
      `a.${'b'.repeat(1e6)}`,
    ]) {
      const before = process.cpuUsage()
      readEntry(raw)
      expect(process.cpuUsage(before).user / 1000).toBeLessThan(3000)
    }
  })
})
