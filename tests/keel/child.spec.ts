import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { largestChildBytes, mightDeclare, parseChild, scopeBytes } from '../../src/keel/child.ts'
import { edgeId } from '../../src/keel/edge-id.ts'
import type { Entry } from '../../src/keel/types.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
const parse = (text: string) => parseChild(encode(text))
const frontmatter = (yaml: string) => parse(`---\n${yaml}\n---\n# T\n`)
const texts = (yaml: string): string[] => frontmatter(yaml).entries.map(entry => entry.text)
const problems = (yaml: string): string[] =>
  frontmatter(yaml).problems.map(({ code, line, column }) => `${code} ${line}:${column}`)
const sourceOf = (text: string, entry: Entry): string => decode(encode(text).subarray(entry.span.start, entry.span.end))
const stampOf = (text: string, entry: Entry): string | null =>
  entry.stampSpan === null ? null : decode(encode(text).subarray(entry.stampSpan.start, entry.stampSpan.end))

describe('sources in frontmatter', () => {
  it('are the entry, place and id of the first worked example', () => {
    const [entry] = parse('---\ntitle: Quick start\nsources:\n  - guide.md#Setup\n---\n# Quick start\nRun it.\n').entries
    expect(entry).toMatchObject({
      ref: 'guide.md',
      anchor: 'Setup',
      line: 4,
      column: 5,
      stamp: { kind: 'none' },
      scope: { type: 'file' },
    })
    expect(edgeId('docs/quick.md', entry!)).toBe('b9b871566cd8c128')
  })

  it.each([
    ['source: a.md', ['a.md']],
    ['sources:\n- a.md\n-   b.md', ['a.md', 'b.md']],
    ['source: [a.md, "b.md", \'c.md\', ]  # both', ['a.md', 'b.md', 'c.md']],
    ['source: [\n  a.md, # one\n  b.md\n]', ['a.md', 'b.md']],
    ['"source": a.md\n\'sources\': b.md', ['a.md', 'b.md']],
    ['? source\n: a.md', ['a.md']],
    ['{source: a.md, x: y}', ['a.md']],
    ['source:', []],
    ['source: ~\nsources: ""', []],
    ['source: [~, "", a.md]', ['a.md']],
    ['sources:\n  -\n  - a.md', ['a.md']],
    ['source: 2024', ['2024']],
    ['x:\n  source: a.md', []],
    ['resource: a.md\nsources-x: b.md', []],
    ['list: &l [a.md, b.md]\nsource: *l', ['a.md', 'b.md']],
    ['one: &l a.md\nsources: [*l, c.md]', ['a.md', 'c.md']],
    ['source: a.md\n  b.md', ['a.md b.md']],
    [`source: "it's \\u00e9.md"`, ["it's é.md"]],
    ["source: 'it''s.md'", ["it's.md"]],
    ['source: https://x.org/a#b', ['https://x.org/a#b']],
    // lenient forms
    ['sources:\n  - [[a]]\n  - [[b]]#X @123456789012\n  - [[c|d]] @ok # e', ['[[a]]', '[[b]]#X', '[[c|d]]']],
    ['sources: [[note]]', ['[[note]]']],
    ['sources: [[note]] @123456789012', ['[[note]]']],
    ['sources: [a.md, [[b]] @123456789012, [[c]]]', ['a.md', '[[b]]', '[[c]]']],
    ['sources: [[[a]], [[b]]]', ['[[a]]', '[[b]]']],
    ['sources:\n  - a.md#Step 1: go\n  - a.md#Step 2: stop @123456789012 # why', ['a.md#Step 1: go', 'a.md#Step 2: stop']],
    ['sources: [a.md#Step 1: go, b.md]', ['a.md#Step 1: go', 'b.md']],
    ['sources:\n  - a.md #Head @123456789012\n  - b.md # Head @123456789012\n  - c.md #Head', ['a.md #Head', 'b.md', 'c.md']],
  ])('%j', (yaml, expected) => {
    expect(texts(yaml)).toEqual(expected)
    expect(problems(yaml)).toEqual([])
  })

  it.each([
    ['source: {a: b}', ['KEEL_YAML_ITEM 2:9']],
    ['sources:\n  - path: a.md', ['KEEL_YAML_ITEM 3:5']],
    ['sources:\n  - [x, y]\n  - a.md', ['KEEL_YAML_ITEM 3:5']],
    ['source: |\n  a.md', ['KEEL_YAML_ITEM 2:9']],
    ['sources:\n  - >\n    a.md', ['KEEL_YAML_ITEM 3:5']],
    ['sources:\n  - a.md#X: "q"', ['KEEL_YAML_ITEM 3:5']],
    ['sources:\n  - a.md#X: y\n      z', ['KEEL_YAML_ITEM 3:5']],
    ['sources:\n  - [[a]] and more', ['KEEL_YAML_ITEM 3:5']],
    ['source: [[a], [b]]', ['KEEL_YAML_ITEM 2:10', 'KEEL_YAML_ITEM 2:15']],
    ['source: *gone', ['KEEL_YAML_ITEM 2:9']],
    ['source: a.md#X: y', ['KEEL_YAML_ITEM 2:9']],
    ['sources:\n  - "@123456789012"', ['KEEL_EMPTY_REF 3:5']],
    ['source: "a.md \\u0040123456789012"', ['KEEL_YAML_ITEM 2:9']],
    ['source: a.md\nsource: b.md', ['KEEL_DUPLICATE_KEY 3:1']],
  ])('%j is a problem with its place', (yaml, expected) => {
    expect(problems(yaml)).toEqual(expected)
  })

  it('keep both lists of a key that stands twice', () => {
    expect(texts('source: a.md\nsource: b.md')).toEqual(['a.md', 'b.md'])
  })

  it('are not hidden by a fault elsewhere', () => {
    expect(texts('bad: {{ x\nsources:\n  - a.md\n\n  # c\n  - b.md\nworse: [\nsource: [c.md]')).toEqual(['a.md', 'b.md', 'c.md'])
    expect(problems('bad: {{ x\nsource: a.md')).toEqual([])
  })

  it('follow aliases into other parts of a block with faults', () => {
    expect(texts('refs: &r [a.md, b.md]\nsources:\n  - &t t.md\n  - [[n]] @ok\n  - *t\nsource: *r\nbad: {{')).toEqual([
      'a.md',
      'b.md',
      't.md',
      '[[n]]',
    ])
  })

  it('are not hidden by a fault in their own list', () => {
    const yaml = 'sources:\n  - a.md\n  - @foo\n  - x: y: z\n  - [[b]] @ok\n'
    expect(texts(yaml)).toEqual(['a.md', '[[b]]'])
    expect(problems(yaml)).toEqual(['KEEL_YAML_ITEM 4:5', 'KEEL_YAML_ITEM 5:5'])
  })

  it.each(['\n', '\r\n', '\r'])('have byte spans and columns behind a BOM, multi-byte text and %j', end => {
    const text = ['\uFEFF---', 'title: "😀é"', 'sources: [😀.md @123456789012, "é.md @ok(twice ü)"]', '---', ''].join(end)
    const { entries } = parse(text)
    expect(entries.map(entry => [sourceOf(text, entry), stampOf(text, entry), entry.line, entry.column])).toEqual([
      ['😀.md @123456789012', '@123456789012', 3, 11],
      ['"é.md @ok(twice ü)"', '@ok(twice ü)', 3, 32],
    ])
  })

  it('find the stamp of a text that is folded over lines', () => {
    const text = '---\nsource: "a.md\n  b.md @ok(checked\n  twice)"\n---\n'
    const [entry] = parse(text).entries
    expect(entry).toMatchObject({ text: 'a.md b.md', stamp: { kind: 'ok', reason: 'checked twice' } })
    expect(stampOf(text, entry!)).toBe('@ok(checked\n  twice)')
  })

  it('are none without a closing line', () => {
    expect(parse('---\nsource: a.md\n').entries).toEqual([])
    expect(parse('---\nsource: a.md\n...\n').entries).toHaveLength(1)
    expect(parse('\n---\nsource: a.md\n---\n').entries).toEqual([])
  })
})

describe('entries that name the same source', () => {
  it('are one edge, whose stamp is on the first that has one', () => {
    const text = '---\nsources: [a.md, <a.md> @123456789012]\nsource: a.md\n---\n'
    const { entries } = parse(text)
    expect(entries).toHaveLength(1)
    expect(entries[0]).toMatchObject({ text: 'a.md', spanText: '<a.md>', stamp: { kind: 'hex' }, ordinal: 0 })
    expect(stampOf(text, entries[0]!)).toBe('@123456789012')
    expect(entries[0]!.repeats.map(repeat => repeat.text)).toEqual(['a.md', 'a.md'])
  })

  it('are in conflict with two different stamps', () => {
    expect(frontmatter('source: [a.md @111111111111, a.md @222222222222]').entries[0]!.stamp).toEqual({
      kind: 'conflict',
      values: ['111111111111', '222222222222'],
    })
    expect(frontmatter('source: [a.md @111111111111, a.md @111111111111]').entries[0]!.stamp.kind).toBe('hex')
  })

  it('are two edges with other anchors, kinds, or in a section', () => {
    expect(frontmatter('source: [a.md, a.md#X, "[[a.md]]"]').entries).toHaveLength(3)
    const { entries } = parse('# S\n<!-- sources: a.md; a.md -->\n')
    expect(entries.map(entry => entry.ordinal)).toEqual([0, 1])
    expect(new Set(entries.map(entry => edgeId('x.md', entry))).size).toBe(2)
  })
})

describe('sources of a section', () => {
  it('stand in the comments directly below a heading', () => {
    const text =
      '# A b\n\n<!-- note -->\n\n<!--\nsources:\n  a.md\n  b.md#X @123456789012; c.md\n-->\ntext\n## C\n<!--source:d.md-->\n'
    const { entries } = parse(text)
    expect(entries.map(entry => [entry.text, entry.line, entry.scope.type === 'section' && entry.scope.slug])).toEqual([
      ['a.md', 7, 'a-b'],
      ['b.md#X', 8, 'a-b'],
      ['c.md', 8, 'a-b'],
      ['d.md', 12, 'c'],
    ])
    expect(entries[3]!.scope).toMatchObject({ heading: 'C', level: 2, line: 11 })
    expect(decode(scopeBytes(encode(text), parse(text), entries[3]!.scope))).toBe('## C\n<!--source:d.md-->\n')
    expect(stampOf(text, entries[1]!)).toBe('@123456789012')
  })

  it.each([
    ['<!-- source: a.md -->\n# A\n', 'KEEL_STRAY_COMMENT 1:1'],
    ['# A\ntext\n\n<!-- source: a.md -->\n', 'KEEL_STRAY_COMMENT 4:1'],
    ['# A\n<!-- sources: a.md; @ok -->\n', 'KEEL_EMPTY_REF 2:21'],
  ])('%j has a problem', (text, expected) => {
    expect(parse(text).problems.map(({ code, line, column }) => `${code} ${line}:${column}`)).toEqual([expected])
  })

  it.each([
    '# A\n<!-- source: a.md --> text\n',
    '# A\n<!-- source a.md -->\n',
    '# A\n<!-- my source: a.md -->\n',
    '# A\n<!-- source: a.md\n',
    '# A\n> <!-- source: a.md -->\n',
    '# A\n- <!-- source: a.md -->\n',
    '# A\n```\n<!-- source: a.md -->\n```\n',
    '# A\n    <!-- source: a.md -->\n',
    '# A\n<!-- source: ; ; -->\n',
  ])('%j declares nothing and is no problem', text => {
    expect(parse(text)).toMatchObject({ entries: [], problems: [] })
  })

  it('end their scope where the section ends, and file scope begins behind the frontmatter', () => {
    const text = '\uFEFF---\nsource: a.md\n---\n# A\n<!-- source: b.md -->\n## B\n# C\n'
    const parsed = parse(text)
    expect(parsed.entries.map(entry => decode(scopeBytes(encode(text), parsed, entry.scope)))).toEqual([
      '# A\n<!-- source: b.md -->\n## B\n# C\n',
      '# A\n<!-- source: b.md -->\n## B\n',
    ])
  })
})

describe('a document', () => {
  it('without the word declares nothing', () => {
    expect(mightDeclare(encode('---\nSource: a.md\n---\n'))).toBe(false)
    expect(mightDeclare(encode('a resource'))).toBe(true)
  })

  it('with sources must be UTF-8', () => {
    const bad = (text: string) =>
      parseChild(Buffer.from(text, 'latin1')).problems.map(problem => `${problem.level} ${problem.code}`)
    expect(bad('---\nsource: é.md\n---\n')).toEqual(['error KEEL_NOT_UTF8'])
    expect(bad('# é\n<!-- sources: a.md -->\n')).toEqual(['error KEEL_NOT_UTF8'])
    expect(bad('the source of the Tagus is near é\n')).toEqual([])
  })

  it('with sources must not be larger than 8 MiB', () => {
    const text = '---\nsource: a.md\n---\n'
    const padded = text + 'x'.repeat(largestChildBytes - text.length)
    expect(parse(padded).entries).toHaveLength(1)
    expect(parse(`${padded}x`)).toMatchObject({ entries: [], problems: [{ code: 'KEEL_CHILD_TOO_LARGE', level: 'error' }] })
  })

  it('keeps names of plain objects as texts', () => {
    expect(texts('source: [__proto__, constructor]\n__proto__: x')).toEqual(['__proto__', 'constructor'])
  })
})

describe('merge markers', () => {
  it.each(['', '\uFEFF'])('at the start of a file may hold its frontmatter (%#)', bom => {
    const text = `${bom}<<<<<<< ours\n---\nsource: a.md\n---\n=======\n>>>>>>> theirs\n# A\n`
    expect(parse(text)).toMatchObject({ conflicted: true, entries: [{ text: 'a.md', stamp: { kind: 'conflict' } }] })
  })

  const merged = [
    '---',
    'sources:',
    '  - a.md @111111111111',
    '<<<<<<< ours',
    '  - b.md @111111111111',
    '||||||| base',
    '  - b.md @000000000000',
    '=======',
    '  - b.md @222222222222',
    '  - c.md',
    '>>>>>>> theirs',
    '  - é.md @333333333333',
    '---',
    '# A',
    '',
  ].join('\n')

  it('make an edge of both sides of each entry between them, and leave the others', () => {
    const parsed = parse(merged)
    expect(parsed.conflicted).toBe(true)
    expect(parsed.entries.map(entry => [entry.text, entry.line, entry.stamp])).toEqual([
      ['a.md', 3, { kind: 'hex', value: '111111111111' }],
      ['b.md', 5, { kind: 'conflict', values: ['111111111111', '222222222222'] }],
      ['c.md', 10, { kind: 'conflict', values: [] }],
      ['é.md', 12, { kind: 'hex', value: '333333333333' }],
    ])
    expect(parsed.entries.map(entry => sourceOf(merged, entry))).toEqual([
      'a.md @111111111111',
      'b.md @111111111111',
      'c.md',
      'é.md @333333333333',
    ])
  })

  it.each(['\r\n', '\r'])('are seen with %j as line end', end => {
    expect(parse(merged.replaceAll('\n', end)).entries.map(entry => entry.line)).toEqual([3, 5, 10, 12])
  })

  it('in another order, or of another length, are none', () => {
    for (const text of [
      '---\nsource: a.md\n---\n=======\n<<<<<<< a\n>>>>>>> b\n',
      '---\nsource: a.md\n---\n<<<<<<<< a\n=======\n>>>>>>> b\n',
      '---\nsource: a.md\n---\n<<<<<<< a\n=======\n',
      '---\nsource: a.md\n---\nx <<<<<<< a\n=======\n>>>>>>> b\n',
    ]) {
      expect(parse(text).conflicted).toBe(false)
    }
  })
})

describe('hostile bytes', () => {
  it('never throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), noise => {
        parseChild(
          Buffer.concat([
            Buffer.from('---\nsource: '),
            noise,
            Buffer.from('\n---\n# S\n<!-- sources: '),
            noise,
            Buffer.from('-->'),
          ]),
        )
      }),
      { numRuns: 500 },
    )
  })

  it('of the grammar never throw, and spans hold what was read', () => {
    const pieces = fc.constantFrom(
      ...[
        '- ',
        '  - ',
        '[',
        ']',
        '[[',
        ']]',
        ', ',
        ': ',
        '#',
        ' #',
        ' @',
        '@ok',
        '@123456789012',
        '@ok(',
        ')',
        '"',
        "'",
        '\\',
        '|',
        '>',
        '&a ',
        '*a',
        '{',
        '}',
      ],
      ...[
        '\n',
        '\n',
        '\r\n',
        '\r',
        'a.md',
        'b',
        'é',
        '😀',
        '~',
        '? ',
        '!t ',
        '%',
        '---\n',
        '<<<<<<<\n',
        '=======\n',
        '>>>>>>>\n',
        'source: ',
        'sources:\n',
        '<!--',
        '-->',
        '# H\n',
        '; ',
      ],
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), fc.boolean(), (parts, bom) => {
        const text = `${bom ? '\uFEFF' : ''}---\nsources:\n${parts.join('')}\n---\n# S\n<!-- sources: ${parts.join('')} -->\n`
        for (const entry of parse(text).entries) {
          if (entry.stamp.kind === 'hex') expect(stampOf(text, entry)).toBe(`@${entry.stamp.value}`)
          if (entry.style === 'comment') expect(sourceOf(text, entry).startsWith(entry.text)).toBe(true)
          expect(entry.span.end).toBeGreaterThan(entry.span.start)
          expect(entry.stampAt).toBeGreaterThan(entry.span.start)
          expect(entry.line).toBeGreaterThan(0)
        }
      }),
      { numRuns: 3000 },
    )
  })

  const size = 100_000
  it.each([
    ['wikilinks left open', '[['.repeat(size / 2)],
    ['wikilinks', `[${'[[a]] @ok, '.repeat(size / 11)}b]`],
    ['lists left open', '[a, '.repeat(size / 4)],
    ['number signs', ` ${'#'.repeat(size)}`],
    ['number signs apart', ` a${' #b'.repeat(size / 3)} @ok`],
    ['comments', '<!--'.repeat(size / 4)],
    ['maps', 'a: '.repeat(size / 3)],
    ['items', `\n${'- a\n'.repeat(size / 4)}`],
    ['refused items', `\n${'- [[a]] @ok\n'.repeat(size / 12)}`],
    ['dashes', '- '.repeat(size / 2)],
    ['aliases', `&a x\nsources: [${'*a, '.repeat(size / 4)}]`],
    ['quotes', '"'.repeat(size)],
    ['stamps', `a${' @123456789012'.repeat(size / 14)}`],
    ['keys', 'a\nsource: b'.repeat(size / 12)],
    ['merge markers', `a\n---\n${'<<<<<<<\n=======\n>>>>>>>\n'.repeat(size / 24)}`],
  ])('of a hundred thousand characters of %s take linear time', (_, yaml) => {
    const before = process.cpuUsage()
    parse(`---\nsource: ${yaml}\n---\n# S\n<!-- source: ${yaml} -->\n`)
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(10_000)
  })
})
