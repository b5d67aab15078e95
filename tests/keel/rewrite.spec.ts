import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseChild } from '../../src/keel/child.ts'
import { rewriteStamps, rewriteTexts } from '../../src/keel/rewrite.ts'
import type { Entry, Hex12, Span } from '../../src/keel/types.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
const stamp = (digits: string): Hex12 => digits.padEnd(12, '0') as Hex12

/** Stamp the entries that have a stamp in the map, by their text. */
function stampBy(text: string, stamps: Readonly<Record<string, string>>): string {
  const bytes = encode(text)
  const known = new Map(Object.entries(stamps))
  const plan = new Map<Entry, Hex12>()
  for (const entry of parseChild(bytes).entries) {
    const value = known.get(entry.text)
    if (value !== undefined) plan.set(entry, value as Hex12)
  }
  const result = rewriteStamps(bytes, plan)
  if (result.kind === 'refused') throw new Error(result.why)
  return decode(result.bytes)
}

const pointAt = (text: string, from: string, to: string) => {
  const bytes = encode(text)
  const entry = parseChild(bytes).entries.find(one => one.text === from)!
  return rewriteTexts(bytes, new Map([[entry, to]]))
}

describe('stamping', () => {
  it('puts the stamp of the second worked example behind the text', () => {
    const text = '---\ntitle: Quick start\nsources:\n  - guide.md#Setup\n---\n# Quick start\nRun it.\n'
    expect(stampBy(text, { 'guide.md#Setup': 'df3855ab0bab' })).toBe(text.replace('#Setup', '#Setup @df3855ab0bab'))
  })

  it('keeps every form of the eighth worked example', () => {
    const text =
      '---\nsources:\n  - [[a]]\n  - b.md#Two: the second\n  - "b.md#One"\n---\n## S\n<!-- sources: a.md; b.md#One; a.md#L1 -->\n'
    const stamped = stampBy(text, {
      '[[a]]': '4a58007052a6',
      'b.md#Two: the second': '290193b5cfbb',
      'b.md#One': '5807c2b562f5',
      'a.md': '4a58007052a6',
      'a.md#L1': '4a58007052a6',
    })
    expect(stamped).toBe(
      '---\nsources:\n  - "[[a]] @4a58007052a6"\n  - b.md#Two: the second @290193b5cfbb\n  - "b.md#One @5807c2b562f5"\n---\n## S\n' +
        '<!-- sources: a.md @4a58007052a6; b.md#One @5807c2b562f5; a.md#L1 @4a58007052a6 -->\n',
    )
    expect(stampBy(stamped, { 'b.md#One': 'feae00a273e7' })).toBe(stamped.replaceAll('5807c2b562f5', 'feae00a273e7'))
  })

  it.each([
    ['  - [[a]] @ok', '  - [[a]] @4a58007052a6'],
    ['  - "[[a]]"', '  - "[[a]] @4a58007052a6"'],
    ["  - [[a|x'y]]", '  - "[[a|x\'y]] @4a58007052a6"'],
    ['  - [[a|x"y]]', "  - '[[a|x\"y]] @4a58007052a6'"],
    ['  - [[a|x"\'y]]', '  - [[a|x"\'y]]'],
    ['  - [[a]] # why', '  - "[[a]] @4a58007052a6" # why'],
    ['  - é.md @ok(checked twice) # é', '  - é.md @4a58007052a6 # é'],
    ['  - a.md #Head @123456789012', '  - a.md #Head @4a58007052a6'],
    ['  - a.md #Head', '  - a.md @4a58007052a6 #Head'],
    ["  - 'a.md  '", "  - 'a.md @4a58007052a6  '"],
    ['  - "a.md\\t"', '  - "a.md\\t @4a58007052a6"'],
    ['  - a.md\n    b.md\n  - "c\n    d @ok(x\n    y)"', '  - a.md\n    b.md @4a58007052a6\n  - "c\n    d @4a58007052a6"'],
    ['  - a.md @12345', '  - a.md @4a58007052a6'],
    ['  - a.md @111111111111 @222222222222', '  - a.md @4a58007052a6'],
    ['  - a.md\n  - <a.md> @111111111111\n  - a.md @111111111111', '  - a.md\n  - <a.md> @4a58007052a6\n  - a.md @4a58007052a6'],
    ['  - !!str a.md', '  - !!str a.md @4a58007052a6'],
    ['  - &x a.md\nsource: *x', '  - &x a.md @4a58007052a6\nsource: *x'],
  ])('writes %j as %j', (before, after) => {
    const wrap = (list: string): string => `\uFEFF---\nsources:\n${list}\n---\ntext`
    const bytes = encode(wrap(before))
    const plan = new Map(parseChild(bytes).entries.map(entry => [entry, '4a58007052a6' as Hex12]))
    const result = rewriteStamps(bytes, plan)
    expect(result.kind === 'ok' && decode(result.bytes)).toBe(wrap(after))
  })

  it('keeps the comment and brackets of the tenth worked example', () => {
    expect(stampBy('---\nsource: [a.md, b.md]   # both\n---\n', { 'a.md': '4a58007052a6', 'b.md': 'f0d50303f531' })).toBe(
      '---\nsource: [a.md @4a58007052a6, b.md @f0d50303f531]   # both\n---\n',
    )
  })

  it('names what it had to skip', () => {
    const bytes = encode('---\nsources:\n  - [[a|x"\'y]]\n  - b.md\n---\n')
    const { entries } = parseChild(bytes)
    const result = rewriteStamps(bytes, new Map(entries.map(entry => [entry, stamp('1')])))
    expect(result).toMatchObject({ kind: 'ok', skipped: [entries[0]] })
    expect(result.kind === 'ok' && decode(result.bytes)).toContain('- b.md @100000000000')
  })

  it('is refused for merge markers, for bytes that are not UTF-8, and for bytes that say something else now', () => {
    const text = '---\nsource: a.md\n---\n'
    const plan = new Map([[parseChild(encode(text)).entries[0]!, stamp('1')]])
    expect(rewriteStamps(encode(`${text}<<<<<<< a\n=======\n>>>>>>> b\n`), plan)).toEqual({
      kind: 'refused',
      why: 'merge markers inside',
    })
    expect(rewriteStamps(Buffer.from(`${text}\xff`, 'latin1'), plan)).toEqual({ kind: 'refused', why: 'not UTF-8' })
    expect(rewriteStamps(encode(text.replace('a.md', 'b.md')), plan)).toEqual({ kind: 'refused', why: 'it changed meanwhile' })
    expect(rewriteStamps(encode(`x${text}`), plan)).toEqual({ kind: 'refused', why: 'it changed meanwhile' })
  })

  it('is refused when the result would read differently', () => {
    const bytes = encode('---\nsource: a.md\n---\n')
    const [entry] = parseChild(bytes).entries
    expect(rewriteStamps(bytes, new Map([[{ ...entry!, stampAt: 3 }, stamp('1')]]))).toEqual({
      kind: 'refused',
      why: 'it would read differently',
    })
  })
})

const item = fc.constantFrom(
  ...[
    'a.md',
    'é😀.md#Größe',
    '"b.md#One"',
    "'it''s.md'",
    '[[n]]',
    '[[n#H|x y]]',
    '"[[q]] @ok"',
    'c.md @123456789012',
    'd.md @ok(checked twice)',
  ],
  ...[
    'e.md @12',
    'f.md#Step 1: go',
    'f.md#Step 2: go @abcdefabcdef',
    'g.md #Head @ok',
    'https://x.org/a#b',
    '<h#i.md>#J',
    '"k\\u00e9.md"',
    '2024',
    '~',
    '"l @ok"',
  ],
  ...[
    '[[m]] @123456789012',
    '[[m]]#X',
    '{x: y}',
    'p: q',
    '@bad',
    'x: y: z',
    '# only a comment',
    'a.md # c',
    '"@ok"',
    'yes',
    '[r, s]',
    '&t t.md',
    '*t',
  ],
)
const document = fc
  .record({
    items: fc.array(item, { maxLength: 8 }),
    flow: fc.array(
      fc.constantFrom('a.md', '"u, v.md"', '[[w]]', '[[w]] @ok', 'x.md @123456789012', "'y'", 'z.md#S: t', '', 'é'),
      { maxLength: 5 },
    ),
    comment: fc.array(fc.constantFrom('a.md', 'a.md', '[[n]]#H', 'b.md @ok', 'c.md#D @123456789012', ' ', '@ok', 'é.md'), {
      maxLength: 5,
    }),
    end: fc.constantFrom('\n', '\r\n', '\r'),
    bom: fc.boolean(),
    other: fc.constantFrom('title: x', 'bad: {{', 'ü: "é"', ''),
    separator: fc.constantFrom('; ', '\n', ';'),
    final: fc.constantFrom('\n', ''),
  })
  .map(({ items, flow, comment, end, bom, other, separator, final }) => {
    const lines = ['---', other, 'sources:', ...items.map(one => `  - ${one}`), `source: [${flow.join(', ')}]`, '---', '# S é']
    lines.push(`<!-- sources: ${comment.join(separator)} -->`, 'text 😀 source')
    return `${bom ? '\uFEFF' : ''}${lines.join('\n')}${final}`.replaceAll('\n', end)
  })

/** The text with every stamp, and the blank before it, taken out. */
function withoutStamps(text: string): string {
  const bytes = encode(text)
  const spans: Span[] = []
  for (const entry of parseChild(bytes).entries) {
    if (entry.stampSpan !== null) spans.push(entry.stampSpan)
    for (const repeat of entry.repeats) if (repeat.stampSpan != null) spans.push(repeat.stampSpan)
  }
  spans.sort((a, b) => b.start - a.start)
  let left = Buffer.from(bytes)
  for (const span of spans) {
    let start = span.start
    while (left[start - 1] === 0x20) start--
    left = Buffer.concat([left.subarray(0, start), left.subarray(span.end)])
  }
  return left.toString('utf8')
}

describe('stamping any document and any of its edges', () => {
  it('changes no byte outside the stamps and gives the same entries', () => {
    fc.assert(
      fc.property(document, fc.nat(), (text, choice) => {
        const bytes = encode(text)
        const before = parseChild(bytes)
        const chosen = before.entries.filter((_, index) => ((choice >> (index % 30)) & 1) === 1)
        const plan = new Map(chosen.map((entry, index) => [entry, stamp(`${index + 1}`)]))
        const result = rewriteStamps(bytes, plan)
        expect(result).toMatchObject({ kind: 'ok', skipped: [] })
        if (result.kind !== 'ok') return
        const after = parseChild(result.bytes)
        expect(
          after.entries.map(entry => [entry.kind, entry.text, entry.ref, entry.anchor, entry.ordinal, entry.scope.type]),
        ).toEqual(before.entries.map(entry => [entry.kind, entry.text, entry.ref, entry.anchor, entry.ordinal, entry.scope.type]))
        after.entries.forEach((entry, index) => {
          const planned = plan.get(before.entries[index]!)
          expect(entry.stamp).toEqual(planned === undefined ? before.entries[index]!.stamp : { kind: 'hex', value: planned })
        })
        // Quotes are the one thing that may have come along, around bare wikilinks.
        const bare = (one: string): string => withoutStamps(one).replace(/"(\[\[[^"\r\n]*)"/g, '$1')
        expect(bare(decode(result.bytes))).toBe(bare(text))
      }),
      { numRuns: 600 },
    )
  }, 120_000)

  it('a second time with the same stamps changes nothing', () => {
    fc.assert(
      fc.property(document, text => {
        const planFor = (bytes: Uint8Array) =>
          new Map(parseChild(bytes).entries.map((entry, index) => [entry, stamp(`${index}`)]))
        const once = rewriteStamps(encode(text), planFor(encode(text)))
        if (once.kind !== 'ok') throw new Error(once.why)
        const twice = rewriteStamps(once.bytes, planFor(once.bytes))
        expect(twice.kind === 'ok' && decode(twice.bytes)).toBe(decode(once.bytes))
      }),
      { numRuns: 500 },
    )
  })

  it('never throws on hostile bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), noise => {
        const bytes = Buffer.concat([
          Buffer.from('---\nsources:\n  - '),
          noise,
          Buffer.from('\n---\n# S\n<!-- source: a; '),
          noise,
          Buffer.from('-->'),
        ])
        rewriteStamps(bytes, new Map(parseChild(bytes).entries.map(entry => [entry, stamp('a')])))
        rewriteTexts(
          bytes,
          new Map(
            parseChild(bytes)
              .entries.slice(0, 2)
              .map(entry => [entry, 'new.md']),
          ),
        )
      }),
      { numRuns: 500 },
    )
  })
})

describe('pointing an entry elsewhere', () => {
  it.each([
    ['  - a.md#X @123456789012', 'a.md#X', 'b.md#Y', '  - b.md#Y @123456789012'],
    ['  - a.md', 'a.md', 'b: c.md', '  - "b: c.md"'],
    ['  - a.md', 'a.md', 'b.md#Step: c', '  - b.md#Step: c'],
    ['  - a.md', 'a.md', 'b #c', '  - "b #c"'],
    ['  - a.md', 'a.md', 'say "hi".md', '  - say "hi".md'],
    ['  - a.md', 'a.md', '"hi" \\.md', '  - "\\"hi\\" \\\\.md"'],
    ['  - "a.md @ok"', 'a.md', 'b"\\.md', '  - "b\\"\\\\.md @ok"'],
    ["  - 'a.md'", 'a.md', "it's.md", "  - 'it''s.md'"],
    ['  - [[a]] @123456789012', '[[a]]', '[[b]]', '  - [[b]] @123456789012'],
    ['  - [[a]]', '[[a]]', '[[b|c]]', '  - [[b|c]]'],
    ['  - a.md\n  - a.md @123456789012', 'a.md', 'b.md', '  - b.md\n  - b.md @123456789012'],
    ['  - null.md', 'null.md', '~', '  - "~"'],
  ])('%j: %j to %j', (before, from, to, after) => {
    const wrap = (list: string): string => `---\nsources:\n${list}\n---\n`
    const result = pointAt(wrap(before), from, to)
    expect(result.kind === 'ok' && decode(result.bytes)).toBe(wrap(after))
  })

  it('works in flow lists and comments', () => {
    const flow = pointAt('---\nsource: [a.md, z.md]\n---\n', 'a.md', 'b, c.md')
    expect(flow.kind === 'ok' && decode(flow.bytes)).toBe('---\nsource: ["b, c.md", z.md]\n---\n')
    const comment = pointAt('# S\n<!-- source: a.md @ok -->\n', 'a.md', 'b c.md')
    expect(comment.kind === 'ok' && decode(comment.bytes)).toBe('# S\n<!-- source: b c.md @ok -->\n')
  })

  it('skips a text that the place cannot hold, and one that another entry has', () => {
    for (const [text, from, to] of [
      ['# S\n<!-- source: a.md -->\n', 'a.md', 'b;c.md'],
      ['# S\n<!-- source: a.md -->\n', 'a.md', 'b-->c.md'],
      ['---\nsource: [a.md, b.md]\n---\n', 'a.md', 'b.md'],
    ] as const) {
      const result = pointAt(text, from, to)
      expect(result).toMatchObject({ kind: 'ok', skipped: [{ text: from }] })
      expect(result.kind === 'ok' && decode(result.bytes)).toBe(text)
    }
  })

  it('keeps stamps and other entries on any document', () => {
    fc.assert(
      fc.property(document, fc.constantFrom('n.md', 'n: o.md', '[[n]]', 'n\'"\\.md', 'n #o', '-', 'é, f'), (text, to) => {
        const bytes = encode(text)
        const before = parseChild(bytes)
        const [entry] = before.entries
        if (entry === undefined) return
        const result = rewriteTexts(bytes, new Map([[entry, to]]))
        if (result.kind !== 'ok') throw new Error(result.why)
        const after = parseChild(result.bytes)
        expect(after.entries.map(one => one.stamp)).toEqual(before.entries.map(one => one.stamp))
        const expected = before.entries.map((one, index) => (index === 0 && result.skipped.length === 0 ? to : one.text))
        expect(after.entries.map(one => one.text)).toEqual(expected)
      }),
      { numRuns: 500 },
    )
  })
})
