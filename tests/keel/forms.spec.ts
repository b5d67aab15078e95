import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseChild } from '../../src/keel/child.ts'
import {
  accepts,
  blobId,
  largeFileBytes,
  normalize,
  type SliceContext,
  sliceIds,
  streamedIds,
  writtenId,
} from '../../src/keel/forms.ts'
import type { Entry, Hex12, ParsedChild, SliceIds } from '../../src/keel/types.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
const text: SliceContext = { path: 'a.md', parsed: null }
const whole = (bytes: Uint8Array) => ({ start: 0, end: bytes.length })
const idsOf = (content: string | Uint8Array, context = text): SliceIds => {
  const bytes = typeof content === 'string' ? bytesOf(content) : content
  return sliceIds(bytes, whole(bytes), context)
}
const normalOf = (content: string, context = text) => textOf(normalize(bytesOf(content), whole(bytesOf(content)), context))

/** A file-level entry at the first occurrence of `source` in the file. */
function entryAt(file: string, source: string, decoded: string): Entry {
  const start = bytesOf(file.slice(0, file.indexOf(source))).length
  return {
    kind: 'path',
    text: decoded,
    ref: decoded,
    anchor: null,
    stamp: { kind: 'none' },
    scope: { type: 'file' },
    style: 'plain',
    span: { start, end: start + bytesOf(source).length },
    stampSpan: null,
    stampAt: start,
    line: 1,
    column: 1,
    ordinal: 0,
    repeats: [],
  }
}
const childOf = (entries: readonly Entry[], conflicted = false): ParsedChild => ({
  entries,
  problems: [],
  frontmatter: null,
  conflicted,
})

describe('content ids', () => {
  it.each([
    ['a\n', '78981922613b', '78981922613b'],
    ['a\r\n', '533790e525df', '78981922613b'],
    ['\uFEFFa\n', '7a2a9ee4f512', '78981922613b'],
    ['a', '2e65efe2a145', '78981922613b'],
    ['a \t\nb\n\n\n', 'ad185e6dabdc', '422c2b7ab3b3'],
    ['', 'e69de29bb2d1', 'e69de29bb2d1'],
    ['\n \n', blobId(bytesOf('\n \n')), 'e69de29bb2d1'],
  ])('of %j are raw %s and norm %s', (content, raw, norm) => {
    expect(idsOf(content)).toMatchObject({ raw, norm })
  })

  it('of a section are accepted raw and normal', () => {
    const ids = sliceIds(bytesOf('## A\none\n\n## B\ntwo\n'), { start: 0, end: 10 }, text)
    expect(ids).toMatchObject({ raw: 'e384f073b66f', norm: 'ce6799e7070e' })
    expect(accepts(ids, 'e384f073b66f', 'normalized')).toBe('raw')
    expect(accepts(ids, 'ce6799e7070e', 'normalized')).toBe('norm')
  })

  it('of binary slices know raw only', () => {
    const ids = idsOf('a\0\r\n')
    expect(ids.only).toBe('binary')
    expect(accepts(ids, ids.raw, 'normalized')).toBe('raw')
    expect(accepts(ids, blobId(bytesOf('a\0\n')), 'normalized')).toBeNull()
    expect(writtenId(ids, 'normalized')).toBe(ids.raw)
  })

  it('take a NUL after the first 8,000 bytes as text', () => {
    expect(idsOf('a'.repeat(7999) + '\0').only).toBe('binary')
    expect(idsOf('a'.repeat(8000) + '\0').only).toBeUndefined()
  })
})

describe('the normal form', () => {
  it.each([
    ['drops a BOM at the start of the file', '\uFEFFa\n', 'a\n'],
    ['keeps a BOM elsewhere', 'a\n\uFEFFb\n', 'a\n\uFEFFb\n'],
    ['turns CR LF and lone CR into LF', 'a\r\nb\rc\n', 'a\nb\nc\n'],
    ['reads CR CR LF as two line ends', 'a\r\r\nb', 'a\n\nb\n'],
    ['drops blanks before each line end and at the end', 'a \t\n\tb \n c\t', 'a\n\tb\n c\n'],
    ['ends in one LF', 'a\n\n \n\n', 'a\n'],
    ['keeps empty lines at the start', '\n\na', '\n\na\n'],
    ['is nothing when only blanks are left', ' \t\r\n \n', ''],
  ])('%s', (_rule, content, normal) => {
    expect(normalOf(content)).toBe(normal)
  })

  it.each(['t.tsv', 't.TAB', 'x.diff', 'x.patch'])('keeps blanks at line ends in %s', path => {
    expect(normalOf('a\t\nb \r\n', { path, parsed: null })).toBe('a\t\nb \n')
  })

  it('keeps a BOM of a slice that starts later', () => {
    const file = bytesOf('x\n\uFEFFa\n')
    expect(textOf(normalize(file, { start: 2, end: file.length }, text))).toBe('\uFEFFa\n')
  })

  it('takes stamps and quotes of declared items out', () => {
    const before = '---\nsources:\n  - [[ä]]\n---\nx\n'
    const after = '---\nsources:\n  - "[[ä]] @123456789abc"\n---\nx\n'
    const plain = { path: 'a.md', parsed: childOf([entryAt(before, '[[ä]]', '[[ä]]')]) }
    const stamped = { path: 'a.md', parsed: childOf([entryAt(after, '"[[ä]] @123456789abc"', '[[ä]]')]) }
    expect(normalOf(after, stamped)).toBe(before)
    expect(idsOf(after, stamped).norm).toBe(idsOf(before, plain).norm)
  })

  it('takes stamps of repeated items out, and reads one span once', () => {
    const file = 'a @1 a @2'
    const first = entryAt(file, 'a @1', 'a')
    const entry = { ...first, repeats: [{ span: { start: 5, end: 9 }, text: 'a' }] }
    expect(normalOf(file, { path: 'a.md', parsed: childOf([entry, first]) })).toBe('a a\n')
  })

  it('keeps the spelling of an item whose edge is declared in two spellings', () => {
    const entry = { ...entryAt('a#b @1 [[x]]', 'a#b @1', 'a # b'), spanText: 'a#b' }
    expect(normalOf('a#b @1 [[x]]', { path: 'a.md', parsed: childOf([entry]) })).toBe('a#b [[x]]\n')
  })

  it('leaves items alone that reach out of the slice, and files with merge markers', () => {
    const file = bytesOf('x @123456789abc\ny\n')
    const entry = entryAt('x @123456789abc', 'x @123456789abc', 'x')
    const cut = normalize(file, { start: 2, end: file.length }, { path: 'a.md', parsed: childOf([entry]) })
    expect(textOf(cut)).toBe('@123456789abc\ny\n')
    expect(normalOf(textOf(file), { path: 'a.md', parsed: childOf([entry], true) })).toBe(textOf(file))
  })

  it.each([
    ['takes the indent of its first line off', 'run() {\n    return 1\n\n  }\n', 'run() {\n  return 1\n\n}\n'],
    ['keeps lines when one has less indent', 'run() {\n    `\nx`\n  }\n', 'run() {\n    `\nx`\n  }\n'],
  ])('of a symbol %s', (_rule, slice, normal) => {
    expect(normalOf(slice, { path: 'a.ts', parsed: null, indent: bytesOf('  ') })).toBe(normal)
  })
})

describe('acceptance', () => {
  const legacy = idsOf('a\r\nb\r\n\r\n')

  it.each([
    ['norm', 'a\nb\n'],
    ['raw', 'a\r\nb\r\n\r\n'],
    ['lf', 'a\nb\n\n'],
    ['tail', 'a\nb'],
  ])('names the form %s', (form, stamped) => {
    const ids = form === 'lf' ? idsOf('a \r\nb\n\n\n\n') : legacy
    const content = form === 'lf' ? 'a \nb\n\n\n\n' : stamped
    expect(accepts(ids, blobId(bytesOf(content)), 'normalized')).toBe(form)
  })

  it('knows final LFs none, one and two as tails', () => {
    const ids = idsOf('a \n\n\n\n')
    for (const tail of ['a ', 'a \n', 'a \n\n']) expect(accepts(ids, blobId(bytesOf(tail)), 'normalized')).toBe('tail')
    expect(accepts(ids, blobId(bytesOf('a \n\n\n')), 'normalized')).toBeNull()
  })

  it('knows the index id of an unmodified file, last', () => {
    expect(accepts(legacy, '0123456789ab', 'exact', '0123456789abcdef')).toBe('index')
    expect(accepts(legacy, '0123456789ab', 'normalized', null)).toBeNull()
  })

  it('is raw and index only when comparing exactly', () => {
    expect(accepts(legacy, legacy.norm, 'exact')).toBeNull()
    expect(accepts(legacy, legacy.raw, 'exact')).toBe('raw')
    expect(writtenId(legacy, 'exact')).toBe(legacy.raw)
  })

  it('by norm holds exactly when the normal forms are equal', () => {
    const piece = fc.constantFrom('a', 'b ', '\t', ' ', '\n', '\r\n', '\r', '\uFEFF', 'é')
    const content = fc.array(piece, { maxLength: 12 }).map(parts => parts.join(''))
    fc.assert(
      fc.property(content, content, (before, after) => {
        const stamp = writtenId(idsOf(before), 'normalized')
        const isEqual = normalOf(before) === normalOf(after)
        expect(idsOf(after).norm === stamp).toBe(isEqual)
        // Any other form accepts a normal stamp only for bytes that are that normal form.
        const form = accepts(idsOf(after), stamp, 'normalized')
        if (form === 'norm') expect(isEqual).toBe(true)
        if (isEqual) expect(form).toBe('norm')
      }),
      { numRuns: 1000 },
    )
  })

  it('does not see line ends, a BOM, blanks at line ends and final line ends', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'b', ' c', '\td', 'é') })
    fc.assert(
      fc.property(fc.array(line, { minLength: 1 }), fc.constantFrom('\n', '\r\n', '\r'), fc.nat(3), (lines, end, finals) => {
        const plain = lines.join('\n') + '\n'
        const noisy = '\uFEFF' + lines.map((one, n) => one + (n % 2 === 0 ? ' \t' : '')).join(end) + end.repeat(finals)
        expect(idsOf(noisy).norm).toBe(idsOf(plain).norm)
      }),
    )
  })

  it('keeps different invalid bytes apart', () => {
    expect(idsOf(Uint8Array.of(0xff, 0x0a)).norm).not.toBe(idsOf(Uint8Array.of(0xfe, 0x0a)).norm)
  })
})

describe('ids of a file read in pieces', () => {
  const cut = (bytes: Uint8Array, size: number) =>
    function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
    }

  it('are the raw and lf ids of the whole, wherever the pieces end', () => {
    const piece = fc.constantFrom('a', '\n', '\r\n', '\r', '\uFEFF')
    const content = fc.array(piece, { maxLength: 12 }).map(parts => bytesOf(parts.join('')))
    fc.assert(
      fc.property(content, fc.integer({ min: 1, max: 5 }), (bytes, size) => {
        const ids = sliceIds(bytes, whole(bytes), text)
        expect(streamedIds(cut(bytes, size))).toEqual({ norm: ids.raw, raw: ids.raw, lf: ids.lf, tail: [], only: 'large' })
      }),
    )
  })

  it('know neither norm nor tail, and write raw', () => {
    const bytes = bytesOf('a \r\n\n')
    const ids = streamedIds(cut(bytes, 2))!
    expect(accepts(ids, blobId(bytesOf('a\n')), 'normalized')).toBeNull()
    expect(accepts(ids, blobId(bytesOf('a \n\n')), 'normalized')).toBe('lf')
    expect(accepts(ids, ids.raw, 'normalized')).toBe('raw')
    expect(writtenId(ids, 'normalized')).toBe(blobId(bytes))
    expect(largeFileBytes).toBe(16_777_216)
  })

  it('see a NUL across pieces', () => {
    expect(streamedIds(cut(bytesOf('abc\0'), 3))!.only).toBe('binary')
  })

  it('are refused when the file moved between the readings', () => {
    const contents = [bytesOf('abc'), bytesOf('abcd')]
    expect(streamedIds(() => [contents.shift()!])).toBeNull()
  })
})

describe('long content', () => {
  it('of blanks is normalised in linear time', () => {
    const bytes = bytesOf((' '.repeat(2000) + 'a\n').repeat(2000) + ' '.repeat(4_000_000))
    const startedAt = performance.now()
    const ids: Hex12 = sliceIds(bytes, whole(bytes), text).norm
    expect(ids).toHaveLength(12)
    expect(performance.now() - startedAt).toBeLessThan(20_000)
  })
  it('with a section for each of many sources is normalised section by section in linear time', () => {
    const sections = 30_000
    const file = bytesOf(
      Array.from({ length: sections }, (_, n) => `## H${n}\n<!-- sources: s.md#A @123456789012 -->\n\n`).join(''),
    )
    const parsed = parseChild(file)
    const startedAt = performance.now()
    for (const { scope } of parsed.entries) {
      if (scope.type === 'section') expect(normalize(file, scope.span, { path: 'a.md', parsed }).length).toBeLessThan(60)
    }
    expect(parsed.entries).toHaveLength(sections)
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  })
})
