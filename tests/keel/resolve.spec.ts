import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OutriggerError } from '../../src/errors.ts'
import {
  baseFolder,
  candidates,
  chooseByStamp,
  createWorld,
  type PathKind,
  resolveRef,
  type World,
} from '../../src/keel/resolve.ts'
import type { Entry, EntryKind } from '../../src/keel/types.ts'
import { createWikilinkMap } from '../../src/keel/wikilinks.ts'
import type { FileKind, Files } from '../../src/ports/files.ts'

/** A world whose regular files are these; `others` are there but no files. */
function worldOf(files: readonly string[], others: Readonly<Record<string, PathKind>> = {}, root = '/home/p'): World {
  const kinds = new Map<string, PathKind>([...files.map(path => [path, 'file'] as const), ...Object.entries(others)])
  return {
    root,
    kindOf: path => kinds.get(path) ?? 'missing',
    wikilinks: createWikilinkMap(files.filter(path => path.endsWith('.md'))),
  }
}

/** An entry as the parser gives it, split by the last, textual rule. */
function entryOf(text: string, kind: EntryKind = 'path', parts?: { ref: string; anchor: string | null }): Entry {
  const split = /^(.*?\.[a-z0-9]{1,8})#(.*)$/isu.exec(text) ?? /^([^#]*)#(.*)$/su.exec(text)
  const span = { start: 0, end: 0 }
  return {
    kind,
    text,
    ref: parts?.ref ?? split?.[1] ?? text,
    anchor: parts === undefined ? (split?.[2] ?? null) : parts.anchor,
    stamp: { kind: 'none' },
    scope: { type: 'file' },
    style: 'plain',
    span,
    stampSpan: null,
    stampAt: 0,
    line: 1,
    column: 1,
    ordinal: 0,
    repeats: [],
  }
}

const child = 'docs/deep/quick.md'
const resolve = (text: string, world: World, base = '') => resolveRef(entryOf(text), child, base, world)

describe('a path', () => {
  it.each<[string, string, readonly string[], string, string | null, string | null]>([
    ['without anchor', 'a.md', ['a.md'], 'a.md', null, null],
    ['with an anchor', 'a.md#Head', ['a.md'], 'a.md', 'Head', null],
    ['with a # in the heading', 'a.md#C# notes', ['a.md'], 'a.md', 'C# notes', null],
    ['with a # in its name', 'c#/a.md', ['c#/a.md'], 'c#/a.md', null, null],
    ['with a # in name and heading', 'c#/a#b.md#C# x', ['c#/a#b.md'], 'c#/a#b.md', 'C# x', null],
    ['that is longer wins over a shorter', 'a#b#c', ['a', 'a#b'], 'a#b', 'c', null],
    ['whole wins over a split', 'a#b', ['a', 'a#b'], 'a#b', null, null],
    ['in angle brackets', '<a b#c.md>#Head', ['a b#c.md'], 'a b#c.md', 'Head', null],
    ['in angle brackets without anchor', '<a b.md>', ['a b.md'], 'a b.md', null, null],
    ['percent-encoded', 'a%20b.md#H%C3%A9', ['a b.md'], 'a b.md', 'H\u00e9', 'decoded'],
    ['that is literally percent-encoded', 'a%20b.md', ['a%20b.md', 'a b.md'], 'a%20b.md', null, null],
    ['composed, of a decomposed name', 'caf\u00e9.md#x', ['cafe\u0301.md'], 'cafe\u0301.md', 'x', 'unicode'],
    ['decomposed, of a composed name', 'cafe\u0301.md', ['caf\u00e9.md'], 'caf\u00e9.md', null, 'unicode'],
    ['with back slashes', 'src\\a.ts#run', ['src/a.ts'], 'src/a.ts', 'run', null],
    ['with a back slash in its name', 'a\\b.md', ['a\\b.md', 'a/b.md'], 'a\\b.md', null, null],
    ['absolute, inside the project', '/home/p/src/a.ts', ['src/a.ts'], 'src/a.ts', null, null],
    ['absolute, outside the project', '/etc/a.md#x', ['/etc/a.md'], '/etc/a.md', 'x', null],
    ['absolute, of a folder whose name begins alike', '/home/p2/a.md', ['/home/p2/a.md'], '/home/p2/a.md', null, null],
    ['above the root', '../../../b/a.md', ['/home/b/a.md'], '/home/b/a.md', null, null],
    ['from the folder of the child', './a.md', ['docs/deep/a.md'], 'docs/deep/a.md', null, null],
    ['from above the folder of the child', '../a.md', ['docs/a.md'], 'docs/a.md', null, null],
    ['from the base folder after that', './a.md', ['a.md'], 'a.md', null, null],
    ['with dots inside', 'src/./x/../a.ts', ['src/a.ts'], 'src/a.ts', null, null],
    ['with relative back slashes', '..\\a.md', ['docs/a.md'], 'docs/a.md', null, null],
  ])('%s is found', (_what, text, files, path, anchor, match) => {
    expect(resolve(text, worldOf(files))).toMatchObject({ kind: 'file', path, anchor, match })
  })

  it.each([
    ['a%20b.md#x', 'a%20b.md', 'a b.md'],
    ['<a%20b.md>#x', 'a%20b.md', 'a b.md'],
    ['a%23b.md', 'a%23b.md', 'a#b.md'],
    ['caf\u00e9.md#x', 'caf\u00e9.md', 'cafe\u0301.md'],
    ['src\\a.md', 'src\\a.md', 'src/a.md'],
  ])('%j keeps its spelling %j as ref', (text, ref, path) => {
    expect(resolve(text, worldOf([path]))).toMatchObject({ kind: 'file', ref, path })
  })

  it('of a drive is absolute', () => {
    const world = worldOf(['src/a.ts', 'D:/b.md'], {}, 'C:\\work\\p')
    expect(resolve('C:\\work\\p\\src\\a.ts#run', world)).toMatchObject({ kind: 'file', path: 'src/a.ts', anchor: 'run' })
    expect(resolve('D:/b.md', world)).toMatchObject({ kind: 'file', path: 'D:/b.md' })
  })

  it('is relative to the base folder', () => {
    const world = worldOf(['docs/a.md', 'a.md'])
    expect(resolve('a.md', world, 'docs')).toMatchObject({ path: 'docs/a.md', others: [] })
    expect(resolve('a.md', world)).toMatchObject({ path: 'a.md', others: [] })
  })

  it('that two folders can mean is the one that accepts the stamp, else that of the child', () => {
    const both = resolve('./a.md#x', worldOf(['docs/deep/a.md', 'a.md']))
    expect(both).toMatchObject({ path: 'docs/deep/a.md', others: ['a.md'] })
    expect(chooseByStamp(both, path => path === 'a.md')).toMatchObject({ kind: 'file', path: 'a.md', others: [] })
    expect(chooseByStamp(both, () => true)).toMatchObject({ path: 'docs/deep/a.md' })
    expect(chooseByStamp(both, () => false)).toMatchObject({ path: 'docs/deep/a.md', match: null })
  })

  it('that is settled asks for no content', () => {
    const one = resolve('a.md', worldOf(['a.md']))
    const fail = () => expect.unreachable()
    expect(chooseByStamp(one, fail)).toBe(one)
    expect(chooseByStamp(resolve('b.md', worldOf([])), fail)).toMatchObject({ kind: 'missing' })
  })

  it.each<[string, Readonly<Record<string, PathKind>>, string, string | null]>([
    ['src#x', { src: 'not-file' }, 'not-file', 'x'],
    ['a.md#x', { 'a.md': 'unreadable' }, 'unreadable', 'x'],
    ['a.md#x#y', {}, 'missing', 'x#y'],
    ['*.md', { 'a.md': 'file' }, 'missing', null],
    ['#x', { '': 'file', '.': 'not-file' }, 'missing', 'x'],
    ['.', { '.': 'not-file', docs: 'not-file', 'docs/deep': 'not-file' }, 'not-file', null],
  ])('%j with %j is %s', (text, kinds, kind, anchor) => {
    expect(resolve(text, worldOf([], kinds))).toMatchObject({ kind, anchor })
  })

  it('that is missing is expected where it would be', () => {
    expect(resolve('a.md#x', worldOf([]))).toEqual({ kind: 'missing', ref: 'a.md', anchor: 'x', path: 'a.md' })
    expect(resolve('../a.md', worldOf([]))).toMatchObject({ kind: 'missing', path: 'docs/a.md' })
  })

  it('of hostile text asks a bounded number of questions', () => {
    for (const text of ['#'.repeat(100_000), 'a#'.repeat(2000), '%'.repeat(4000), '\\'.repeat(4000), 'é#'.repeat(1000)]) {
      let asked = 0
      const kindOf = (): PathKind => {
        asked += 1
        return 'missing'
      }
      const world = { ...worldOf([]), kindOf }
      expect(resolve(text, world).kind).toBe('missing')
      expect(asked).toBeLessThan(1000)
    }
  })

  it('of any text has an answer, inside or outside, without dots', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '.', '/', '\\', '#', '%', '2', 'é', '<', '>', ' ') }), text => {
        const result = resolve(text, { ...worldOf([]), kindOf: path => (path.endsWith('a') ? 'file' : 'missing') })
        if (result.kind === 'file') expect(result.path.split('/')).not.toContain('..')
      }),
    )
  })
})

describe('other entries', () => {
  it('are opaque when they are URLs', () => {
    const entry = entryOf('https://a.b/c#d', 'url', { ref: 'https://a.b/c#d', anchor: null })
    expect(resolveRef(entry, child, '', worldOf([]))).toEqual({ kind: 'url', ref: 'https://a.b/c#d', anchor: null })
  })

  const link = (ref: string, anchor: string | null, world: World) =>
    resolveRef(entryOf(`[[${ref}]]`, 'wikilink', { ref, anchor }), child, '', world)

  it('name the only document of that name', () => {
    expect(link('note', 'x', worldOf(['a/note.md', 'b/other.md']))).toMatchObject({
      kind: 'file',
      path: 'a/note.md',
      anchor: 'x',
      match: null,
    })
  })

  it('name the child itself when they have no name', () => {
    expect(link('', 'x', worldOf([child]))).toMatchObject({ kind: 'file', path: child, anchor: 'x' })
  })

  it('with namesakes are settled only by exactly one that accepts the stamp', () => {
    const several = link('note', null, worldOf(['a/note.md', 'b/note.md']))
    expect(several).toEqual({ kind: 'wikilinks', ref: 'note', anchor: null, paths: ['a/note.md', 'b/note.md'] })
    expect(chooseByStamp(several, path => path === 'b/note.md')).toMatchObject({
      kind: 'file',
      path: 'b/note.md',
      match: 'by-stamp',
    })
    expect(chooseByStamp(several, () => true)).toBe(several)
    expect(chooseByStamp(several, () => false)).toBe(several)
    expect(link('none', null, worldOf([]))).toMatchObject({ kind: 'wikilinks', paths: [] })
  })
})

describe('wikilink names', () => {
  const map = createWikilinkMap([
    'a/Note.md',
    'b/note.MARKDOWN',
    'c/Straße.md',
    'c/cafe\u0301.md',
    'guide/setup.md',
    'old-guide/setup.md',
    'x.y.md',
  ])

  it.each<[string, readonly string[]]>([
    ['note', ['a/Note.md', 'b/note.MARKDOWN']],
    ['NOTE.md', ['a/Note.md', 'b/note.MARKDOWN']],
    ['a/note', ['a/Note.md']],
    ['/a/note', ['a/Note.md']],
    ['STRASSE', ['c/Straße.md']],
    ['Caf\u00e9', ['c/cafe\u0301.md']],
    ['guide/setup', ['guide/setup.md']],
    ['setup', ['guide/setup.md', 'old-guide/setup.md']],
    ['ide/setup', []],
    ['x.y', ['x.y.md']],
    ['x', []],
    ['', []],
    ['__proto__', []],
  ])('%j are %j', (name, paths) => {
    expect(map.find(name)).toEqual(paths)
  })
})

describe('the order of readings', () => {
  it('is whole, then each # from the last to the first, then decoded, then the Unicode forms', () => {
    expect([...candidates('\u00e9%20#a#b')].map(one => [one.ref, one.anchor, one.match])).toEqual([
      ['\u00e9%20#a#b', null, null],
      ['\u00e9%20#a', 'b', null],
      ['\u00e9%20', 'a#b', null],
      ['\u00e9 #a#b', null, 'decoded'],
      ['\u00e9 #a', 'b', 'decoded'],
      ['\u00e9 ', 'a#b', 'decoded'],
      ['e\u0301%20#a#b', null, 'unicode'],
      ['e\u0301%20#a', 'b', 'unicode'],
      ['e\u0301%20', 'a#b', 'unicode'],
    ])
  })

  it.each(['%', '%zz', '%ff', 'a%'])('leaves %j alone, which is no percent-encoded UTF-8', text => {
    expect([...candidates(text)]).toEqual([{ ref: text, anchor: null, match: null }])
  })
})

describe('the base folder', () => {
  it.each([
    ['docs/deep/a.md', ['docs'], 'docs'],
    ['docs/deep/a.md', ['docs', 'docs/deep'], 'docs/deep'],
    ['docs/a.md', ['other', 'docs/deep'], ''],
    ['a.md', [''], ''],
  ])('of %s with zone files in %j is %j', (path, folders, base) => {
    expect(baseFolder(path, folder => folders.includes(folder))).toBe(base)
  })
})

describe('the world of a project', () => {
  const stat = (kind: FileKind) => ({ device: 1n, inode: 1n, kind, size: 0, mtimeNs: 0n, ctimeNs: 0n, mode: 0o644, links: 1 })
  const asked: string[] = []
  const files = {
    stat(path: string) {
      asked.push(path)
      if (path.endsWith('/secret')) throw new OutriggerError('FILES_UNREADABLE', 'no')
      if (path.endsWith('/file')) return stat('file')
      return path.endsWith('/folder') ? stat('folder') : path.endsWith('/pipe') ? stat('other') : undefined
    },
    lstat: (path: string) => (path.endsWith('/dangling') ? stat('link') : undefined),
  } as unknown as Files
  const world = createWorld('/p', files, createWikilinkMap([]))

  it.each([
    ['file', 'file'],
    ['/abs/file', 'file'],
    ['folder', 'not-file'],
    ['pipe', 'not-file'],
    ['dangling', 'not-file'],
    ['gone', 'missing'],
    ['secret', 'unreadable'],
    ['', 'missing'],
    ['a\0/file', 'missing'],
    [`${'x'.repeat(300)}/file`, 'missing'],
    ['C:/file', 'missing'],
  ])('has %j as %s', (path, kind) => {
    expect(world.kindOf(path)).toBe(kind)
    expect(asked.every(one => one.startsWith('/p/') || one.startsWith('/abs/'))).toBe(true)
  })
})
