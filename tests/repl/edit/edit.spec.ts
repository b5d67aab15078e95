import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFindMatches } from '../../../src/node/find-matches.ts'
import { chooseTarget, decodeEditRequest, editSource, isRefused } from '../../../src/repl/edit/index.ts'

const findMatches = createFindMatches()

/** What comes of a call's fields: the new source, or the code of the refusal. */
function edit(target: string, input: Record<string, unknown>): string {
  const request = decodeEditRequest(input)
  if (isRefused(request)) return request.error.code
  const edited = editSource(target, request, findMatches)
  return edited.kind === 'edited' ? edited.source : edited.error.code
}

function refusal(target: string, input: Record<string, unknown>) {
  const request = decodeEditRequest(input)
  const edited = isRefused(request) ? request : editSource(target, request, findMatches)
  if (edited.kind !== 'refused') throw new Error('it was not refused')
  return edited.error
}

const exact = (...pairs: [string, string][]) => ({ edits: pairs.map(([old_string, new_string]) => ({ old_string, new_string })) })
const regex = (pattern: string, replacement: string, expected_matches: number, flags = '') => ({
  regex_edits: [{ pattern, flags, replacement, expected_matches }],
})
const insert = (anchor: string, position: 'before' | 'after', text: string) => ({ anchor, position, text })

describe('an edit', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['return 1 + 1', exact(['+ 1', '+ 41']), 'return 1 + 41'],
    ['a b c', exact(['c', 'C'], ['a', 'A']), 'A b C'],
    ['ab', exact(['a', 'b'], ['b', 'a']), 'ba'],
    ['a\r\nb\n', exact(['\r\n', '\n']), 'a\nb\n'],
    ['x', exact(['x', '']), ''],
    ['x', exact(['x', '$& $1 $$']), '$& $1 $$'],
    ['f(1)', { inserts: [insert('(', 'after', '0, '), insert(')', 'before', ', 2')] }, 'f(0, 1, 2)'],
    ['a', { inserts: [insert('a', 'after', '1'), insert('a', 'after', '2')] }, 'a12'],
    ['[1, 2', { append: ']}' }, '[1, 2]}'],
    ['b', { prepend: 'a\n', append: '\nc' }, 'a\nb\nc'],
    ['', { append: 'x' }, 'x'],
    ['one two', regex('(\\w+) (\\w+)', '$2 $1', 1), 'two one'],
    ['aXbX', regex('x', '-', 2, 'i'), 'a-b-'],
    ['a1', regex('(?<l>[a-z])(?<d>\\d)', '$<d>$<l>$<none>$$', 1), '1a$'],
    ['abc', regex('b', "[$`|$&|$']", 1), 'a[a|b|c]c'],
    ['a', regex('a', '$0 $1 $< $<x> $', 1), '$0 $1 $< $<x> $'],
    ['abcdefghijk', regex('(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)(k)', '$11$10$1$12$99', 1), 'kjaa2i9'],
    ['😀😀', regex('.', 'x', 2, 'u'), 'xx'],
    ['aab', regex('a', 'x', 2, 'y'), 'xxb'],
  ])('of %j by %j gives %j', (target, input, expected) => {
    expect(edit(target, input)).toBe(expected)
  })

  it.each<[string, string, Record<string, unknown>]>([
    ['OUT-E001', 'a', {}],
    ['OUT-E001', 'a', { ...exact(['a', 'b']), append: 'x' }],
    ['OUT-E001', 'a', { edits: [] }],
    ['OUT-E001', 'a', exact(...Array.from({ length: 17 }, (_, i): [string, string] => [`${i}`, 'x']))],
    ['OUT-E001', 'a', exact(['', 'b'])],
    ['OUT-E001', 'a', { edits: [{ old_string: 'a' }] }],
    ['OUT-E001', 'a', { edits: [{ old_string: 'a', new_string: 'b', extra: 1 }] }],
    ['OUT-E001', 'a', { inserts: [{ anchor: 'a', position: 'at', text: '' }] }],
    ['OUT-E001', 'a', { append: 1 }],
    ['OUT-E001', 'a', { regex_edits: [{ pattern: 'a', flags: '', replacement: 'b', expected_matches: 0 }] }],
    ['OUT-E002', 'return 1', exact(['zzz', 'y'])],
    ['OUT-E002', 'a', { inserts: [insert('b', 'after', 'x')] }],
    ['OUT-E002', '😀', exact(['\ud83d', 'x'])],
    ['OUT-E003', 'a a', exact(['a', 'b'])],
    ['OUT-E003', 'aaa', exact(['aa', 'b'])],
    ['OUT-E004', 'const q = [1, 1]', regex('1', '2', 3)],
    ['OUT-E004', 'a', regex('(', '', 1)],
    ['OUT-E004', 'a', regex('a', 'b', 1, 'gg')],
    ['OUT-E004', 'a', regex('a', 'b', 1, 'uv')],
    ['OUT-E004', 'a', regex('a', 'b', 1, 'd')],
    ['OUT-E004', 'ab', regex('x*', 'b', 3)],
    ['OUT-E005', 'abc', exact(['ab', 'x'], ['bc', 'y'])],
    ['OUT-E005', 'abc', { regex_edits: [...regex('ab', 'x', 1).regex_edits, ...regex('b', 'y', 1).regex_edits] }],
    ['OUT-E006', 'a'.repeat(5000), regex('a', 'b', 5000)],
    ['OUT-E006', 'a', regex('a', 'b'.repeat(16_385), 1)],
    ['OUT-E006', 'a', { append: 'x'.repeat(1_048_576) }],
    ['OUT-E006', `${'a'.repeat(30)}!`, regex('(a+)+$', 'b', 1)],
    ['OUT-E006', `${'a'.repeat(4000)}`, regex('a', '$`$`', 4000)],
    ['OUT-E006', 'ab'.repeat(1000), regex(`(${'('.repeat(70)}a${')'.repeat(70)})`, 'b', 1000)],
    ['OUT-E008', 'a', exact(['a', 'a'])],
    ['OUT-E008', 'ab', exact(['a', ''], ['b', 'ab'])],
    ['OUT-E008', 'a', regex('a', '$&', 1)],
    ['OUT-E008', 'a', { prepend: '' }],
  ])('is refused with %s: %j by %j', (code, target, input) => {
    expect(edit(target, input)).toBe(code)
  })

  it('says where to look', () => {
    const source = 'const one = 1\nconst total = one  +  two\nreturn total\n'
    expect(refusal(source, exact(['total = one + two', 'x'])).help).toEqual([
      'Nearest is line 2: "const total = one  +  two"',
      'White space must be the same, too.',
    ])
    expect(refusal(source, exact(['const totals = one + 2', 'x'])).help[0]).toBe('Nearest is line 2: "const total = one  +  two"')
    expect(refusal('a\na\r\na\na\na\na\n', exact(['a', 'x'])).help).toEqual([
      'It is on lines 1, 2, 3, 4, 5, …. Give more of the text around the one you mean.',
    ])
    expect(refusal('1\n1', regex('1', '2', 3))).toMatchObject({
      message: '2 matches, expected 3',
      help: ['Found on lines 1, 2.'],
      subject: 'regex_edits[0]',
    })
  })

  it('stops a pattern that does not end, and goes on', () => {
    const begin = performance.now()
    expect(edit(`${'a'.repeat(40)}!`, regex('(a*)*b', 'x', 1))).toBe('OUT-E006')
    expect(performance.now() - begin).toBeLessThan(2_000)
    expect(edit('ab', regex('b', 'x', 1))).toBe('ax')
  })

  it('never tears a pair that the pattern does not tear', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 12 }),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 2 }),
        (target, wanted) => {
          const result = edit(target, exact([wanted, '-']))
          if (!result.startsWith('OUT-')) expect(result.isWellFormed()).toBe(true)
        },
      ),
    )
  })
})

const letters = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '😀', '$', '1'), maxLength: 30 })

describe('any edit', () => {
  it('by a pattern is what JavaScript replaces', () => {
    const patterns = fc.constantFrom(
      'a',
      'a+',
      '(a)(b)?',
      '(?<n>a|b)',
      '[^a]',
      '$',
      '\\n',
      '.',
      '(?:ab)+',
      'b|(a)',
      '(?<x>1)(?<y>a)?',
    )
    const templates = fc.string({ unit: fc.constantFrom('$', '1', '2', '0', '&', '`', "'", '<', 'n', '>', 'x'), maxLength: 8 })
    fc.assert(
      fc.property(letters, patterns, templates, fc.constantFrom('', 'u', 'i', 'm', 's'), (target, pattern, template, flags) => {
        const naive = new RegExp(pattern, `${flags}g`)
        const found = [...target.matchAll(naive)]
        const expected = found.length === 0 || found.some(match => match[0] === '') ? 'OUT-E004' : target.replace(naive, template)
        const result = edit(target, regex(pattern, template, Math.max(found.length, 1), flags))
        expect(result).toBe(expected === target ? 'OUT-E008' : expected)
      }),
      { numRuns: 500 },
    )
  })

  it('by texts is each text in its place', () => {
    fc.assert(
      fc.property(
        letters,
        fc.array(fc.tuple(fc.nat(29), fc.integer({ min: 1, max: 4 }), letters), { minLength: 1, maxLength: 4 }),
        (target, cuts) => {
          const pairs = cuts.map(([at, length, text]): [string, string] => [target.slice(at, at + length), text])
          if (pairs.some(([old, text]) => old === '' || old === text || !old.isWellFormed())) return
          const places = pairs.map(([old]) => target.indexOf(old))
          const single = pairs.every(([old], i) => target.indexOf(old, places[i]! + 1) < 0)
          const taken = new Set<number>()
          const apart = pairs.every(([old], i) =>
            Array.from({ length: old.length }, (_, k) => places[i]! + k).every(at => !taken.has(at) && taken.add(at)),
          )
          const result = edit(target, exact(...pairs))
          if (!single) {
            expect(result).toBe('OUT-E003')
            return
          }
          if (!apart) {
            expect(result).toBe('OUT-E005')
            return
          }
          let expected = ''
          for (let at = 0; at < target.length; at++) {
            const index = places.indexOf(at)
            if (index >= 0) {
              expected += pairs[index]![1]
              at += pairs[index]![0].length - 1
            } else expected += target[at]
          }
          expect(result).toBe(expected === target ? 'OUT-E008' : expected)
        },
      ),
      { numRuns: 1000 },
    )
  })
})

describe('the target', () => {
  const exists = (cell: number) => cell >= 1 && cell <= 3
  it('is the newest cell, or the one that is named', () => {
    expect(chooseTarget({}, 3, exists)).toEqual({ kind: 'target', cell: 3 })
    expect(chooseTarget({ target: 1 }, 3, exists)).toEqual({ kind: 'target', cell: 1 })
    expect(chooseTarget({ expectedTarget: 3 }, 3, exists)).toEqual({ kind: 'target', cell: 3 })
  })
  it('is refused when there is none, or it is another than expected', () => {
    for (const asked of [{ target: 9 }, { target: 0 }, { expectedTarget: 1 }, { target: 2, expectedTarget: 1 }]) {
      expect(chooseTarget(asked, 3, exists)).toMatchObject({ kind: 'refused', error: { code: 'OUT-E007' } })
    }
    expect(chooseTarget({}, undefined, exists)).toMatchObject({ error: { code: 'OUT-E007' } })
  })
})
