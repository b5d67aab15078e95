import { describe, expect, it } from 'vitest'
import {
  absoluteIn,
  cleanPath,
  decodePercent,
  driveOf,
  encodePercent,
  extensionOf,
  folderOf,
  isAbsolutePath,
  leavesProject,
  relativeTo,
  resolvePath,
  segments,
} from '../../src/text/paths.ts'

describe('paths', () => {
  it.each([
    ['/a', true],
    ['C:\\a', true],
    ['c:/a', true],
    ['\\\\server\\a', true],
    ['C:a', false],
    ['a/b', false],
    ['./a', false],
  ])('%s is absolute: %s', (path, expected) => {
    expect(isAbsolutePath(path)).toBe(expected)
  })

  it.each([
    ['docs', './a.md', 'docs/a.md'],
    ['docs/x', '../../a.md', 'a.md'],
    ['docs', '../../a.md', '../a.md'],
    ['', 'a//b/./c', 'a/b/c'],
    ['/home/p', '../q', '/home/q'],
    ['/', '../../q', '/q'],
    ['docs', '/etc/x', '/etc/x'],
    ['C:/p', 'a\\b', 'C:/p/a\\b'],
  ])('from %j, %j is %j', (folder, ref, expected) => {
    expect(resolvePath(folder, ref)).toBe(expected)
  })

  it('know what leaves the project', () => {
    expect(['..', '../a', '/a', 'C:/a', 'a', '..a', 'a/..b'].map(leavesProject)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
    ])
  })

  it.each([
    ['/p', '/p/a/b', 'a/b'],
    ['/p', '/p', ''],
    ['/p', '/pq/a', null],
    ['/', '/a', 'a'],
    ['C:\\p', 'c:/p/a', 'a'],
    ['/p', '/p/a\\b', 'a\\b'],
    ['/p', '/p/../q', null],
  ])('below %j, %j is %j', (root, path, expected) => {
    expect(relativeTo(root, path)).toBe(expected)
  })

  it('become absolute again', () => {
    expect(absoluteIn('/p', 'a/b')).toBe('/p/a/b')
    expect(absoluteIn('c:\\p', 'a')).toBe('C:/p/a')
    expect(absoluteIn('/p', '/q')).toBe('/q')
  })

  it.each([
    ['a%20b', 'a b'],
    ['100%25', '100%'],
    ['100% %20', '100%  '],
    ['%C3%A9', 'é'],
    ['%FF', null],
    ['plain', null],
    ['50%', null],
  ])('percent-decode %j to %j', (text, expected) => {
    expect(decodePercent(text)).toBe(expected)
  })

  it('encode what a URI does not take as it is', () => {
    expect(encodePercent('a b/é#(1).md')).toBe('a%20b/%C3%A9%23%281%29.md')
  })

  it('come apart', () => {
    expect(segments('a//./b')).toEqual(['a', 'b'])
    expect([folderOf('a/b'), folderOf('a'), folderOf('/a')]).toEqual(['a', '', '/'])
    expect([extensionOf('a.MD'), extensionOf('.git'), extensionOf('a.b/c')]).toEqual(['.md', '', ''])
    expect(driveOf('c:\\x')).toBe('C:')
    expect(cleanPath('./a/../b/')).toBe('b')
  })
})
