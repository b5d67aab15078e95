import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isDocumentPath, listAnchors, needsParser, openTarget, prepareAnchor, viewAnchor } from '../../src/keel/anchors.ts'
import { accepts, blobId, largeFileBytes } from '../../src/keel/forms.ts'
import type { AnchorView } from '../../src/keel/types.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
type Found = AnchorView & { kind: 'found' }
const viewOf = (text: string, anchor: string | null, path = 'x.md') => viewAnchor(bytesOf(text), path, anchor, null)
const foundOf = (text: string, anchor: string | null, path = 'x.md'): Found => {
  const view = viewOf(text, anchor, path)
  if (view.kind !== 'found') throw new Error(`${anchor} is ${view.kind}`)
  return view
}
const sliceOf = (text: string, view: Found) => new TextDecoder().decode(bytesOf(text).subarray(view.span.start, view.span.end))

const intro = '# Intro\none\n\n## Intro\ntwo\n\n# Getting started!\nthree\n'

describe('a whole file', () => {
  it('is all its bytes, without a match', () => {
    expect(foundOf('a\nb\n', null)).toMatchObject({
      match: null,
      heading: null,
      span: { start: 0, end: 4 },
      firstLine: 1,
      lastLine: 2,
    })
    expect(foundOf('', null)).toMatchObject({ firstLine: 1, lastLine: 1, ids: { norm: 'e69de29bb2d1' } })
  })

  it('over 16 MiB knows raw and lf only, and no anchors', () => {
    const bytes = new Uint8Array(largeFileBytes + 1).fill(0x61)
    const view = viewAnchor(bytes, 'x.md', null, null)
    expect(view).toMatchObject({ kind: 'found', ids: { raw: blobId(bytes), only: 'large', tail: [] } })
    expect(viewAnchor(bytes, 'x.md', 'L1', null)).toEqual({ kind: 'unreadable', why: 'over 16 MiB' })
  })

  it('that is not UTF-8 has ids, and no anchors', () => {
    const bytes = Uint8Array.of(0xff, 0x0a)
    expect(viewAnchor(bytes, 'x.md', null, null)).toMatchObject({ kind: 'found', ids: { raw: blobId(bytes) } })
    expect(viewAnchor(bytes, 'x.txt', 'L1', null)).toEqual({ kind: 'unreadable', why: 'not UTF-8' })
  })
})

describe('a heading', () => {
  it.each([
    ['Intro', 4, 'exact'],
    ['Intro (2)', 1, 'ordinal'],
    ['getting-started', 7, 'slug'],
    ['Getting started!', 7, 'exact'],
    ['getting STARTED', 7, 'folded'],
    ['intro-1', 4, 'slug'],
  ])('%j is at line %i, %s', (anchor, line, match) => {
    expect(foundOf(intro, anchor)).toMatchObject({ firstLine: line, match })
  })

  it.each([
    ['raw', '## `a` \\* b ##\nx\n', '`a` \\* b', 'exact'],
    ['text', '## `a` \\* b ##\nx\n', '`a` * b', 'exact'],
    ['plain', '## `a` \\* b ##\nx\n', 'a * b', 'plain'],
    ['legacy', '## `a` \\* b ##\nx\n', '`a` \\* b ##', 'plain'],
    ['NFC of decomposed words', '## Cafe\u0301\nx\n', 'Caf\u00e9', 'unicode'],
    ['NFC of plain words', '## *Cafe\u0301*\nx\n', 'Caf\u00e9', 'unicode'],
    ['id', '## Set up {#install}\nx\n', 'install', 'id'],
    ['folded words', '## Was gibt’s   Neues?\nx\n', 'was GIBTS neues', 'folded'],
    ['setext', 'Two\nlines\n---\nx\n', 'Two lines', 'exact'],
  ])('answers to its %s', (_name, text, anchor, match) => {
    expect(foundOf(text, anchor).match).toBe(match)
  })

  it.each([
    ['a slug of two', '## A!\n## A?\n', 'A'],
    ['nothing', '## A\n', ''],
    ['an empty heading', '##\nx\n', ''],
    ['the first by number', '## A\n', 'A (1)'],
    ['one too many', '## A\n## A\n', 'A (3)'],
    ['a heading in a list', '- ## A\n', 'A'],
    ['another case of an exact name in a list', '## A\n', 'B'],
  ])('is missing for %s', (_what, text, anchor) => {
    expect(viewOf(text, anchor)).toEqual({ kind: 'missing' })
  })

  it('prefers an earlier tier of a later heading', () => {
    expect(foundOf('## *A*\n\n## A\n', 'A')).toMatchObject({ firstLine: 3, match: 'exact' })
  })

  it('of any name beats the number, lines and blocks', () => {
    const text = '## A\n1\n\n## A\n2\n\n## A (2)\n3\n\n## L1\n4\n\n## ^b\n5\n'
    expect(['A (2)', 'L1', '^b'].map(anchor => foundOf(text, anchor).match)).toEqual(['exact', 'exact', 'exact'])
    expect(viewOf(text, '^c')).toEqual({ kind: 'unsupported' })
  })

  it('is its section, up to the next of its level', () => {
    const text = '# T\n\n## A\none\n### B\ntwo\n## C\n'
    expect(sliceOf(text, foundOf(text, 'A'))).toBe('## A\none\n### B\ntwo\n')
    expect(foundOf(text, 'A')).toMatchObject({ firstLine: 3, lastLine: 6, heading: 'A' })
  })

  it('keeps its id when a section or blank lines follow', () => {
    const before = foundOf('## A\none\n', 'A').ids.norm
    expect(foundOf('## A\none\n\n\n## B\n', 'A').ids.norm).toBe(before)
    expect(foundOf('\uFEFF## A\r\none\r\n', 'A').ids.norm).toBe(before)
  })
})

describe('nested headings', () => {
  const text = '# One\n## Use\n1\n## Use\n2\n# Two\n## Use\n3\n### Deep\n4\n'

  it.each([
    ['One#Use', 2],
    ['One#Use (2)', 4],
    ['Two#Use', 7],
    ['two#use', 7],
    ['Two#Use#Deep', 9],
  ])('%j is at line %i', (anchor, line) => {
    expect(foundOf(text, anchor)).toMatchObject({ firstLine: line, match: 'nested' })
  })

  it.each(['One#Deep', 'Three#Use', 'One#One', '#Use'])('%j is missing', anchor => {
    expect(viewOf(text, anchor)).toEqual({ kind: 'missing' })
  })

  it('read a # in a heading as part of it', () => {
    const sharp = '# C# notes\n## F# too\nx\n'
    expect(foundOf(sharp, 'C# notes')).toMatchObject({ firstLine: 1, match: 'exact' })
    expect(foundOf(sharp, 'C# notes#F# too')).toMatchObject({ firstLine: 2, match: 'nested' })
  })

  it('name their namesakes by the whole anchor', () => {
    expect(foundOf(text, 'One#Use').namesakes.map(one => one.anchor)).toEqual(['One#Use (2)'])
  })
})

describe('namesakes', () => {
  it.each([
    ['Intro', ['Intro (2)']],
    ['Intro (2)', ['Intro']],
    ['intro', ['Intro']],
    ['Getting started!', []],
  ])('of %j are %j', (anchor, names) => {
    expect(foundOf(intro, anchor).namesakes.map(one => one.anchor)).toEqual(names)
  })

  it('are named so that the name finds them again, with their ids', () => {
    const heading = fc.tuple(fc.constantFrom('# ', '## ', '### '), fc.constantFrom('A', 'A (2)', 'A (3)', '*A*', 'a', 'B'))
    const document = fc
      .array(heading, { minLength: 1, maxLength: 8 })
      .map(all => all.map(([level, name], n) => `${level}${name}\n${n}\n`).join(''))
    fc.assert(
      fc.property(document, fc.constantFrom('A', 'A (2)', 'A (3)', 'a', 'B'), (text, anchor) => {
        const view = viewOf(text, anchor)
        if (view.kind !== 'found') return
        for (const one of view.namesakes) {
          const other = foundOf(text, one.anchor)
          expect(other.ids).toEqual(one.ids)
          expect(other.span).not.toEqual(view.span)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('show where a stamped section went when the order changed', () => {
    const stamp = foundOf('## A\none\n', 'A').ids.norm
    const view = foundOf('## A\nnew\n\n## A\none\n', 'A')
    expect(accepts(view.ids, stamp, 'normalized')).toBeNull()
    expect(view.namesakes.filter(one => accepts(one.ids, stamp, 'normalized') !== null).map(one => one.anchor)).toEqual(['A (2)'])
  })
})

describe('lines and other anchors', () => {
  it.each([
    ['n.txt', 'L2-L3', 'two\nthree\n'],
    ['n.txt', 'L2-3', 'two\nthree\n'],
    ['n.md', 'L4', 'four'],
    ['n.ts', 'L1', 'one\n'],
    ['LICENSE', 'L1', 'one\n'],
  ])('%s#%s are those lines', (path, anchor, slice) => {
    const text = 'one\ntwo\nthree\nfour'
    expect(sliceOf(text, foundOf(text, anchor, path))).toBe(slice)
    expect(foundOf(text, anchor, path).match).toBe('lines')
  })

  it.each([
    ['n.txt', 'L5', 'missing'],
    ['n.txt', 'L3-L2', 'missing'],
    ['n.txt', 'L0', 'missing'],
    ['notes.txt', 'Intro', 'unsupported'],
    ['notes.json', '', 'unsupported'],
    ['n.md', 'L9', 'missing'],
  ])('%s#%s is %s', (path, anchor, kind) => {
    expect(viewOf('one\ntwo\n', anchor, path).kind).toBe(kind)
  })
})

describe('code symbols', () => {
  it('follow their own body only', async () => {
    const before = 'export class Job { run() { return 1 }\n  stop() {} }\n'
    await prepareAnchor('src/job.ts', 'Job.run')
    const stamp = foundOf(before, 'Job.run', 'src/job.ts').ids.norm
    expect(foundOf(before.replace('stop() {}', 'stop() { halt() }'), 'Job.run', 'src/job.ts').ids.norm).toBe(stamp)
    expect(foundOf(before.replace('return 1', 'return 2'), 'Job.run', 'src/job.ts').ids.norm).not.toBe(stamp)
    expect(viewOf(before, 'Job.walk', 'src/job.ts')).toEqual({ kind: 'missing' })
  })

  it('keep their id when the code around them is indented anew', async () => {
    await prepareAnchor('a.ts', 'run')
    const flat = 'function run() {\n  return 1\n}\n'
    const deep = 'namespace N {\n    function run() {\n      return 1\n    }\n}\n'
    expect(foundOf(deep, 'N.run', 'a.ts').ids.norm).toBe(foundOf(flat, 'run', 'a.ts').ids.norm)
  })

  it('have bytes, not characters, as spans', async () => {
    await prepareAnchor('a.ts', 'b')
    const text = '\uFEFF// é😀\nconst a = "😀"\r\nconst b = "é"\r\n'
    expect(sliceOf(text, foundOf(text, 'b', 'a.ts'))).toBe('const b = "é"')
    expect(foundOf(text, 'b', 'a.ts')).toMatchObject({ firstLine: 3, lastLine: 3, match: 'symbol', heading: null })
  })

  it('name their namesakes with a number', async () => {
    await prepareAnchor('a.py', 'f')
    const text = 'def f(): return 1\nx = 1\ndef f(): return 2\n'
    expect(foundOf(text, 'f', 'a.py').namesakes.map(one => one.anchor)).toEqual(['f~2'])
    expect(foundOf(text, 'f~2', 'a.py')).toMatchObject({ firstLine: 3 })
    expect(foundOf(text, 'f()', 'a.py')).toMatchObject({ firstLine: 1 })
    expect(viewOf(text, 'f~3', 'a.py').kind).toBe('missing')
  })

  it.each([
    ['a.ts', 'run', true],
    ['a.ts', 'L1-L2', false],
    ['a.ts', null, false],
    ['a.md', 'run', false],
    ['a.txt', 'run', false],
  ])('need a parser: %s#%s %s', (path, anchor, needed) => {
    expect(needsParser(path, anchor)).toBe(needed)
  })
})

describe('the list of anchors', () => {
  it('of a document has its headings in file order', async () => {
    const list = await listAnchors(bytesOf(intro), 'x.md', null)
    expect(list.language).toBe('markdown')
    expect(
      list.anchors.map(({ anchor, kind, level, slug, ordinal, line }) => [anchor, kind, level, slug, ordinal, line]),
    ).toEqual([
      ['Intro', 'heading', 1, 'intro', 1, 1],
      ['Intro', 'heading', 2, 'intro-1', 2, 4],
      ['Getting started!', 'heading', 1, 'getting-started', 1, 7],
    ])
    expect(list.anchors[1]).toMatchObject({ id: foundOf(intro, 'Intro').ids.norm, span: foundOf(intro, 'Intro').span })
  })

  it('of a code file has its symbols', async () => {
    const text = 'class A {\n  b() {}\n}\nfunction A() {}\nclass A { c = 1 }\n'
    const list = await listAnchors(bytesOf(text), 'x.ts', null)
    expect(list.language).toBe('typescript')
    expect(list.anchors.map(({ anchor, ordinal, line, level, slug }) => [anchor, ordinal, line, level, slug])).toEqual([
      ['A', 1, 1, null, null],
      ['A.b', 1, 2, null, null],
      ['A.c', 1, 5, null, null],
    ])
    expect(list.anchors[1]!.id).toBe(foundOf(text, 'A.b', 'x.ts').ids.norm)
  })

  it('of other files is empty', async () => {
    expect(await listAnchors(bytesOf('a'), 'x.txt', null)).toEqual({ language: null, anchors: [] })
    expect(await listAnchors(Uint8Array.of(0xff), 'x.md', null)).toEqual({ language: 'markdown', anchors: [] })
  })
})

describe('hostile content', () => {
  it('of any bytes and any anchor is viewed without a fault', async () => {
    await Promise.all(['a.ts', 'a.py', 'a.jsx'].map(path => prepareAnchor(path, 'x')))
    const content = fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: 'binary', maxLength: 200 }).map(bytesOf))
    fc.assert(
      fc.property(
        content,
        fc.string({ unit: 'binary' }),
        fc.constantFrom('a.md', 'a.ts', 'a.jsx', 'a.py', 'a.txt'),
        (bytes, anchor, path) => {
          const target = openTarget(bytes, path, null)
          for (const one of [anchor, null, 'L1', 'a#b', '']) {
            const view = target.view(one)
            if (view.kind === 'found') expect(view.lastLine).toBeGreaterThanOrEqual(view.firstLine)
          }
        },
      ),
      { numRuns: 200 },
    )
  })

  it.each([
    ['many headings of one name', '## A\n'.repeat(5000), 'A'],
    ['an anchor of #', '## A\n', '#'.repeat(100_000)],
    ['an anchor of blanks and brackets', '## A\n', ' (2)'.repeat(50_000)],
    ['one huge line', '#'.repeat(2_000_000), 'A'],
  ])('%s takes bounded time', (_what, text, anchor) => {
    const startedAt = performance.now()
    const view = viewOf(text, anchor)
    if (view.kind === 'found') view.namesakes.length
    expect(performance.now() - startedAt).toBeLessThan(20_000)
  })
})

it.each([
  ['a.MD', true],
  ['a.markdown', true],
  ['a.mdx', false],
  ['md', false],
])('%s is a document: %s', (path, is) => {
  expect(isDocumentPath(path)).toBe(is)
})
