import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { cacheFile } from '../../src/runtime/cache.ts'
import { cacheFolder, findRoot, joinPath, parentOf, placesOf } from '../../src/runtime/places.ts'
import { memoryFiles } from '../support/memory-files.ts'

describe('the root of a project', () => {
  it('is the nearest folder above with .git, as a folder or as a file', () => {
    const files = memoryFiles({
      '/a/.git/HEAD': 'x',
      '/a/b/c/d/x': '',
      '/a/tree/.git': 'gitdir: elsewhere',
      '/a/tree/deep/x': '',
    })
    expect(findRoot(files, '/a/b/c/d')).toBe('/a')
    expect(findRoot(files, '/a')).toBe('/a')
    expect(findRoot(files, '/a/tree/deep')).toBe('/a/tree')
  })

  it('is the folder itself where there is none', () => {
    const files = memoryFiles({ '/a/b/x': '' })
    expect(findRoot(files, '/a/b')).toBe('/a/b')
    expect(findRoot(files, '/')).toBe('/')
  })

  it('is not where the user may not look', () => {
    const files = memoryFiles({ '/a/.git/HEAD': 'x', '/a/b/x': '' })
    files.failReads('/a/.git', 'EACCES')
    expect(findRoot(files, '/a/b')).toBe('/a/b')
  })
})

describe('places', () => {
  const files = memoryFiles({ '/place/x': '' })
  const id = createHash('sha256').update('/place').digest('hex').slice(0, 16)

  it('are named by the real root', () => {
    expect(placesOf(files, '/place', { HOME: '/home/ada' })).toEqual({
      root: '/place',
      id,
      outrigger: '/place/.outrigger',
      projectConfig: '/place/.outrigger/config.yml',
      personConfig: '/home/ada/.config/outrigger/config.yml',
      state: '/place/.outrigger/state',
      userState: `/home/ada/.local/state/outrigger/${id}`,
      userCache: `/home/ada/.cache/outrigger/${id}`,
    })
    const linked = { ...files, realpath: () => '/place' }
    expect(placesOf(linked, '/link', {}).id).toBe(id)
  })

  it('follow the XDG variables when they are absolute', () => {
    const env = { HOME: '/home/ada', XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s', XDG_CACHE_HOME: 'relative' }
    expect(placesOf(files, '/place', env)).toMatchObject({
      personConfig: '/c/outrigger/config.yml',
      userState: `/s/outrigger/${id}`,
      userCache: `/home/ada/.cache/outrigger/${id}`,
    })
  })

  it('of the user are nowhere without a home', () => {
    expect(placesOf(files, '/place', {})).toMatchObject({ personConfig: null, userState: null, userCache: null })
    expect(placesOf(files, '/place', { USERPROFILE: 'C:\\Users\\Ada' }).userCache).toBe(
      `C:\\Users\\Ada\\.cache\\outrigger\\${id}`,
    )
  })

  it("of the cache are the project's state once it is there", () => {
    const own = memoryFiles({ '/place/x': '' })
    const places = placesOf(own, '/place', { HOME: '/home/ada' })
    expect(cacheFolder(own, places)).toBe(places.userCache)
    own.makeFolder('/place/.outrigger/state')
    expect(cacheFolder(own, places)).toBe(places.state)
    own.failReads('/place/.outrigger', 'EACCES')
    expect(cacheFolder(own, places)).toBe(places.userCache)
  })
})

it.each([
  ['/a/b', '/a'],
  ['/a', '/'],
  ['/', '/'],
  ['C:\\a\\b', 'C:\\a'],
  ['C:\\a', 'C:\\'],
  ['C:\\', 'C:\\'],
  ['\\\\host\\share\\a', '\\\\host\\share'],
  ['\\\\host\\share', '\\\\host\\share'],
  ['/a\\b', '/'],
])('the folder above %s is %s', (path, above) => {
  expect(parentOf(path)).toBe(above)
})

it.each([
  ['/a', ['b', 'c'], '/a/b/c'],
  ['/', ['b'], '/b'],
  ['C:\\', ['b', 'c'], 'C:\\b\\c'],
  ['C:\\a', ['b'], 'C:\\a\\b'],
])('%s with %j is %s', (folder, names, path) => {
  expect(joinPath(folder, ...names)).toBe(path)
})

describe('a cache file', () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
  const setUp = () => {
    const files = memoryFiles({ '/cache/x': '' })
    return { files, cache: cacheFile(files, () => '/cache', 'keel/cache.bin'), path: '/cache/keel/cache.bin' }
  }

  it('gives back what was saved under the same header', async () => {
    const { cache } = setUp()
    expect(cache.load('head')).toBeUndefined()
    for (const body of ['', 'body', '\u0000\n'.repeat(100_000)]) {
      expect(await cache.save('head ä\n', bytes(body))).toBe(true)
      expect(Buffer.from(cache.load('head ä\n') as Uint8Array).toString()).toBe(body)
    }
  })

  it('is private', async () => {
    const { files, cache, path } = setUp()
    await cache.save('head', bytes('x'))
    expect(files.stat(path)?.mode).toBe(0o600)
  })

  it('is empty under another header', async () => {
    const { cache } = setUp()
    await cache.save('head', bytes('body'))
    expect(cache.load('other')).toBe('rebuilt')
    expect(cache.load('hea')).toBe('rebuilt')
  })

  it('is empty after any change of any byte, and after a cut anywhere', async () => {
    const { files, cache, path } = setUp()
    await cache.save('head', bytes('body'))
    const whole = files.read(path)
    for (let at = 0; at < whole.length; at += 1) {
      const broken = Uint8Array.from(whole)
      broken[at]! ^= 0x20
      await files.replace(path, broken)
      expect(cache.load('head')).toBe('rebuilt')
      await files.replace(path, whole.slice(0, at))
      expect(cache.load('head')).toBe('rebuilt')
    }
    await files.replace(path, Buffer.concat([whole, bytes('x')]))
    expect(cache.load('head')).toBe('rebuilt')
    await files.replace(path, whole)
    expect(Buffer.from(cache.load('head') as Uint8Array).toString()).toBe('body')
  })

  it.each(['ENOSPC', 'EACCES', 'EROFS'])('says that it was not written when the system says %s', async code => {
    const { files, cache } = setUp()
    files.failWrites('/cache', code)
    expect(await cache.save('head', bytes('x'))).toBe(false)
    expect(cache.load('head')).toBeUndefined()
  })

  it('that cannot be read is empty', async () => {
    const { files, cache } = setUp()
    await cache.save('head', bytes('x'))
    files.failReads('/cache/keel', 'EACCES')
    expect(cache.load('head')).toBe('rebuilt')
  })

  it('without a place holds nothing', async () => {
    const cache = cacheFile(memoryFiles(), () => null, 'x')
    expect(cache.load('head')).toBeUndefined()
    expect(await cache.save('head', bytes('x'))).toBe(false)
  })
})
