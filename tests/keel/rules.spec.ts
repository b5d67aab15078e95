import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { OutriggerError } from '../../src/errors.ts'
import { nodeFiles } from '../../src/node/files.ts'
import type { Files } from '../../src/ports/files.ts'
import { keelWorld, stateLine } from '../support/keel-world.ts'

const child = (...sources: readonly string[]) => `---\nsources:\n${sources.map(source => `  - ${source}\n`).join('')}---\ntext\n`
const agent = { kind: 'agent', name: 'a' } as const
/** Older than the grain of the file system's clock, so that records of it can be trusted. */
const settle = () => new Promise(done => setTimeout(done, 60))

describe('names and broken files', () => {
  it('K2: names that objects know are names like others', async () => {
    const world = keelWorld({
      '__proto__.md': child('constructor.md#toString'),
      'constructor.md': '# toString\nx\n',
      'hasOwnProperty/__proto__.md': child('[[__proto__]]', '../constructor.md'),
    })
    await world.stamp()
    expect(await world.states()).toEqual([
      '__proto__.md <- constructor.md#toString: clean',
      'hasOwnProperty/__proto__.md <- __proto__: unresolved',
      'hasOwnProperty/__proto__.md <- ../constructor.md: clean',
    ])
  })

  it('K2: one bad file stops nothing', async () => {
    const world = keelWorld({
      'a.md': 'alpha\n',
      'bad.md': Buffer.concat([Buffer.from('---\nsource: a.md\n---\n'), Buffer.from([0xff, 0xfe, 0x80])]),
      'broken.md': '---\nsources:\n  - {a: [}\n  - a.md\nother: "\n---\n',
      'good.md': child('a.md'),
    })
    const { edges, problems } = await world.check()
    expect(edges.filter(edge => edge.child === 'good.md').map(stateLine)).toEqual(['good.md <- a.md: pending-stamp'])
    expect(problems.map(problem => [problem.file, problem.code])).toContainEqual(['bad.md', 'KEEL_NOT_UTF8'])
    expect(problems.some(problem => problem.file === 'broken.md' && problem.code === 'KEEL_YAML_ITEM')).toBe(true)
  })

  it('K23: what cannot be an entry is a problem with its line, never a made-up reference', async () => {
    const world = keelWorld({ 'a.md': 'x\n', 'd.md': '---\nsources:\n  - a.md\n  - path: a.md\n---\n' })
    const { edges, problems } = await world.check()
    expect(edges.map(stateLine)).toEqual(['d.md <- a.md: pending-stamp'])
    expect(problems).toMatchObject([{ file: 'd.md', code: 'KEEL_YAML_ITEM', level: 'error', line: 4 }])
  })

  it('K26: names with line ends, blanks at their ends and any extension case', async () => {
    const world = keelWorld({ 'new\nline .MD': '# x\n', 'D.Markdown': child('"new\\nline .MD"') })
    await world.stamp()
    expect(await world.states()).toEqual(['D.Markdown <- new\nline .MD: clean'])
  })

  it('K24: a full sweep, a write event and a look at what is known find the same declarations', async () => {
    const text = child('a.md', '"b.md#One"').replace('text', '# T\n<!-- source: a.md -->\n')
    const world = keelWorld({ 'a.md': 'alpha\n', 'b.md': '# One\nx\n', 'other.md': child('a.md') })
    const keel = await world.open()
    await keel.refresh({ kind: 'full' })
    world.write('d.md', text)
    const byEvent = (await keel.refresh({ kind: 'files', paths: ['d.md'] })).edges
    const byFull = (await world.check()).edges
    expect(byEvent).toEqual(byFull)
    world.edit('d.md', '  - a.md\n', '')
    const byKnown = (await keel.refresh({ kind: 'known' })).edges
    expect(byKnown).toEqual((await world.check()).edges)
    expect(byKnown).toHaveLength(3)
  })

  it('does not open pipes, and answers for folders and links that lead nowhere', async () => {
    const world = keelWorld({ 'd.md': child('pipe.md', 'folder', 'loop.md', 'gone.md') })
    execFileSync('mkfifo', [join(world.root, 'pipe.md')])
    mkdirSync(join(world.root, 'folder'))
    symlinkSync('loop.md', join(world.root, 'loop.md'))
    symlinkSync('nowhere', join(world.root, 'gone.md'))
    expect(await world.states()).toEqual([
      'd.md <- pipe.md: source-not-file',
      'd.md <- folder: source-not-file',
      'd.md <- loop.md: source-not-file',
      'd.md <- gone.md: source-not-file',
    ])
  })
})

describe('what moved and what did not', () => {
  it('K16: blank lines and new sections behind a section leave it as it was', async () => {
    const world = keelWorld({ 'a.md': '## One\nx\n', 'd.md': child('"a.md#One"', 'a.md#L1-L2') })
    await world.stamp()
    world.write('a.md', '## One\nx\n\n\n\n## Two\ny\n')
    expect(await world.states()).toEqual(['d.md <- a.md#One: clean', 'd.md <- a.md#L1-L2: clean'])
  })

  it('K17: other line ends, a BOM and a missing last line end make nothing suspect', async () => {
    const world = keelWorld({ 'a.md': '# A\nx\ny\n', 'd.md': child('a.md', '"a.md#A"') })
    await world.stamp()
    for (const text of ['# A\r\nx\r\ny\r\n', '\ufeff# A\nx\ny\n', '# A\nx\ny', '# A\rx\ry\r']) {
      world.write('a.md', text)
      expect(await world.states()).toEqual(['d.md <- a.md: clean', 'd.md <- a.md#A: clean'])
    }
    world.write('a.md', '# A\nx\nY\n')
    expect(await world.states()).toEqual(['d.md <- a.md: changed', 'd.md <- a.md#A: changed'])
  })

  it('K19: an edit of the same size with its time put back is seen', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': child('a.md') })
    await world.stamp()
    await settle()
    const keel = await world.open()
    await keel.refresh({ kind: 'full' })
    const { atimeMs, mtimeMs } = statSync(join(world.root, 'a.md'))
    world.write('a.md', 'ALPHA\n')
    utimesSync(join(world.root, 'a.md'), atimeMs / 1000, mtimeMs / 1000)
    const { edges, movedTargets } = await keel.refresh({ kind: 'known' })
    expect(edges.map(stateLine)).toEqual(['d.md <- a.md: changed'])
    expect(movedTargets).toEqual(['a.md'])
  })

  it('K19: an edit within one tick of the clock is seen', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': child('a.md') })
    await world.stamp()
    const real = nodeFiles()
    // The worst a file system can do: every time it tells is the same.
    const frozen = { ...real, lstat: still(real.lstat), stat: still(real.stat) }
    const keel = await world.open({ files: frozen })
    await keel.refresh({ kind: 'full' })
    world.write('a.md', 'ALPHA\n')
    expect((await keel.refresh({ kind: 'known' })).edges.map(stateLine)).toEqual(['d.md <- a.md: changed'])
  })

  it('K19: a touch is no edit', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': child('a.md') })
    await world.stamp()
    const keel = await world.open()
    await keel.refresh({ kind: 'full' })
    utimesSync(join(world.root, 'a.md'), 1, 1)
    utimesSync(join(world.root, 'd.md'), 1, 1)
    expect(await keel.refresh({ kind: 'known' })).toMatchObject({ movedTargets: [], movedChildren: [], movedScopes: [] })
  })

  it('a link led elsewhere is another content', async () => {
    const world = keelWorld({ 'x.txt': 'x\n', 'y.txt': 'y\n', 'd.md': child('link.txt') })
    symlinkSync('x.txt', join(world.root, 'link.txt'))
    await world.stamp()
    const keel = await world.open()
    await keel.refresh({ kind: 'full' })
    world.remove('link.txt')
    symlinkSync('y.txt', join(world.root, 'link.txt'))
    expect((await keel.refresh({ kind: 'known' })).edges.map(stateLine)).toEqual(['d.md <- link.txt: changed'])
  })

  it('names what moved, and the scopes of children before and after', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': child('a.md') })
    await world.stamp()
    const keel = await world.open()
    const [edge] = (await keel.refresh({ kind: 'full' })).edges
    const before = keel.scopeId(edge!.id)
    world.edit('d.md', 'text', 'other text')
    const moved = await keel.refresh({ kind: 'files', paths: ['d.md'] })
    expect(moved.movedChildren).toEqual(['d.md'])
    expect(moved.movedScopes).toEqual([{ edge: edge!.id, before, after: keel.scopeId(edge!.id) }])
    expect(keel.scopeId(edge!.id)).not.toBe(before)
    world.edit('d.md', '---\n', '---\ntitle: t\n')
    const [scope] = (await keel.refresh({ kind: 'known' })).movedScopes
    expect(scope?.after).toBe(scope?.before)
  })

  it('a target that goes away and comes back counts as moved each time', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': child('a.md') })
    await world.stamp()
    const keel = await world.open()
    await keel.refresh({ kind: 'full' })
    world.remove('a.md')
    const gone = await keel.refresh({ kind: 'known' })
    expect([gone.movedTargets, gone.edges.map(stateLine)]).toEqual([['a.md'], ['d.md <- a.md: source-missing']])
    world.write('a.md', 'alpha\n')
    const back = await keel.refresh({ kind: 'known' })
    expect([back.movedTargets, back.edges.map(stateLine)]).toEqual([['a.md'], ['d.md <- a.md: clean']])
  })
})

function still(stat: Files['stat']): Files['stat'] {
  return path => {
    const found = stat(path)
    const now = BigInt(Date.now()) * 1_000_000n
    return found && { ...found, mtimeNs: now - (now % 1_000_000_000n), ctimeNs: now - (now % 1_000_000_000n), inode: 1n }
  }
}

describe('a stamp that was taken out', () => {
  const files = { 'a.md': 'alpha\n', 'd.md': child('a.md') }
  const takeOut = (world: ReturnType<typeof keelWorld>) => world.write('d.md', child('a.md'))

  it('K10: is no review while the content is another', async () => {
    const world = keelWorld(files)
    await world.stamp()
    world.write('a.md', 'beta\n')
    takeOut(world)
    const [edge] = (await world.check()).edges
    expect(edge).toMatchObject({ reason: 'stamp-removed', class: 'moved', old: '4a58007052a6', stamp: { kind: 'none' } })
    expect((await world.stamp()).stamped).toEqual([])
  })

  it('K10: the same without the cache, by the journal', async () => {
    const world = keelWorld(files)
    await world.stamp()
    world.write('a.md', 'beta\n')
    takeOut(world)
    world.forgetCache()
    expect(await world.states()).toEqual(['d.md <- a.md: stamp-removed'])
  })

  it('K10: the same without cache and journal, by the last commit; a boundary asks too', async () => {
    const world = keelWorld(files)
    await world.stamp()
    world.commit()
    world.write('a.md', 'beta\n')
    takeOut(world)
    world.remove('.outrigger')
    expect((await world.stamp()).stamped).toEqual([])
    expect(await world.states()).toEqual(['d.md <- a.md: stamp-removed'])
  })

  it('K10: committed without it, the base revision still tells', async () => {
    const world = keelWorld(files)
    await world.stamp()
    world.commit()
    world.git('checkout', '-qb', 'work')
    world.write('a.md', 'beta\n')
    takeOut(world)
    world.remove('.outrigger')
    world.commit()
    const keel = await world.open()
    const { commit, paths } = await keel.changedSince('main')
    expect([...paths]).toEqual(expect.arrayContaining(['a.md', 'd.md']))
    const states = async (since?: string) =>
      (await keel.refresh({ kind: 'full' }, since === undefined ? {} : { since })).edges.map(stateLine)
    expect(await states()).toEqual(['d.md <- a.md: pending-stamp'])
    expect(await states(commit)).toEqual(['d.md <- a.md: stamp-removed'])
  })

  it('waits for a new stamp while the old one would still hold', async () => {
    const world = keelWorld(files)
    await world.stamp()
    takeOut(world)
    expect(await world.states()).toEqual(['d.md <- a.md: pending-stamp'])
    expect((await world.stamp()).stamped).toMatchObject([{ kind: 'stamp', old: '4a58007052a6', new: '4a58007052a6' }])
  })
})

describe('what keel writes', () => {
  it('K8: mode, BOM and line ends stay', async () => {
    const text = '\ufeff---\r\nsource: a.md\r\n---\r\nä text'
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': text })
    chmodSync(join(world.root, 'd.md'), 0o640)
    await world.stamp()
    expect(readFileSync(join(world.root, 'd.md'))).toEqual(Buffer.from(text.replace('a.md', 'a.md @4a58007052a6')))
    expect(statSync(join(world.root, 'd.md')).mode & 0o777).toBe(0o640)
  })

  it('K8: a document that changed between reading and writing is left as it is', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': child('a.md') })
    const real = nodeFiles()
    const files: Files = {
      ...real,
      replace(path, bytes, options) {
        if (path.endsWith('d.md')) writeFileSync(path, 'somebody else\n')
        return real.replace(path, bytes, options)
      },
    }
    const keel = await world.open({ files })
    const result = await keel.boundary({ onBusy: 'refuse', who: agent, byAgent: true })
    expect(result).toMatchObject({ stamped: [], written: [], skipped: [{ child: 'd.md', why: 'it changed meanwhile' }] })
    expect(world.read('d.md')).toBe('somebody else\n')
    expect(keel.assessment().degraded).toContain('stamp skipped: d.md')
  })

  it('K8: read-only files, hard links and merge markers are refused by name', async () => {
    const markers =
      '---\nsources:\n<<<<<<< a\n  - a.md @111111111111\n=======\n  - a.md @222222222222\n>>>>>>> b\n  - b.md\n---\n'
    const world = keelWorld({ 'a.md': 'a\n', 'b.md': 'b\n', 'r.md': child('a.md'), 'h.md': child('a.md'), 'm.md': markers })
    chmodSync(join(world.root, 'r.md'), 0o444)
    linkSync(join(world.root, 'h.md'), join(world.root, 'h2.txt'))
    const { skipped, written } = await world.stamp()
    expect(written).toEqual([])
    expect(skipped).toEqual(
      expect.arrayContaining([
        { child: 'r.md', why: 'read-only' },
        { child: 'h.md', why: 'it has more than one hard link' },
        { child: 'm.md', why: 'merge markers inside' },
      ]),
    )
    expect(world.read('m.md')).toBe(markers)
    expect((await world.states()).filter(line => line.startsWith('m.md'))).toEqual([
      'm.md <- a.md: conflict',
      'm.md <- b.md: pending-stamp',
    ])
  })

  it('writes through a link and leaves the link', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'park/real.md': child('a.md') })
    symlinkSync('park/real.md', join(world.root, 'd.md'))
    await world.stamp()
    expect(lstatSync(join(world.root, 'd.md')).isSymbolicLink()).toBe(true)
    expect(world.read('park/real.md')).toContain('a.md @4a58007052a6')
  })

  it.each([
    ['ENOSPC', 'it cannot be written: ENOSPC'],
    ['EACCES', 'it cannot be written: EACCES'],
  ])('K8: %s while a document is written leaves it whole and the others stamped', async (code, why) => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': child('a.md'), 'e.md': child('a.md') })
    const real = nodeFiles()
    const files: Files = {
      ...real,
      async replace(path, bytes, options) {
        if (path.endsWith('d.md')) throw new OutriggerError('FILES_UNWRITABLE', 'no', { subject: code })
        return real.replace(path, bytes, options)
      },
    }
    const keel = await world.open({ files })
    const result = await keel.boundary({ onBusy: 'refuse', who: agent, byAgent: true })
    expect(result).toMatchObject({ written: ['e.md'], skipped: [{ child: 'd.md', why }] })
    expect(world.read('d.md')).toBe(child('a.md'))
    expect((await world.journal()).map(record => record.child)).toEqual(['e.md'])
  })

  it('a short write of the journal leaves the stamps and says so; the next record stands on its own line', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': child('a.md') })
    const real = nodeFiles()
    const files: Files = {
      ...real,
      async append(path, bytes) {
        await real.append(path, bytes.subarray(0, 20))
        throw new OutriggerError('FILES_SHORT_WRITE', 'no')
      },
    }
    const keel = await world.open({ files })
    const result = await keel.boundary({ onBusy: 'refuse', who: agent, byAgent: true })
    expect(result.written).toEqual(['d.md'])
    expect(keel.assessment().degraded).toContain('journal not written')
    world.write('e.md', child('a.md'))
    await world.stamp()
    const reading = (await world.open()).journal()
    expect(reading.records.map(record => record.child)).toEqual(['e.md'])
    expect(reading.unreadable).toBe(1)
    expect((await world.check()).degraded).toContain('journal: 1 lines unreadable')
  })

  it('goes on without a cache, a baseline and a status file that can be written', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': child('a.md') })
    const real = nodeFiles()
    const files: Files = {
      ...real,
      async replace(path, bytes, options) {
        if (path.includes('/baseline/') || path.endsWith('status.md'))
          throw new OutriggerError('FILES_UNWRITABLE', 'no', { subject: 'ENOSPC' })
        return real.replace(path, bytes, options)
      },
    }
    const keel = await world.open({ files, cache: { load: () => undefined, save: async () => false } })
    await keel.refresh({ kind: 'full' })
    await keel.boundary({ onBusy: 'refuse', who: agent, byAgent: true })
    await keel.writeStatus()
    expect(world.read('d.md')).toContain('@4a58007052a6')
    expect(keel.assessment().degraded).toEqual(expect.arrayContaining(['cache not written']))
    expect((await keel.refresh({ kind: 'known' })).degraded).toEqual(
      expect.arrayContaining(['cache not written', 'status not written']),
    )
  })

  it('K18: a document stamped by its raw bytes is carried along when keel rewrites it', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'b.md': child('a.md'), 'c.md': child('PLACE') })
    // Another tool stamped c for the bytes of b as they are, which a stamp in b changes.
    const raw = execFileSync('git', ['hash-object', '--no-filters', 'b.md'], { cwd: world.root, encoding: 'utf8' }).slice(0, 12)
    world.write('b.md', child('a.md '))
    const spaced = execFileSync('git', ['hash-object', '--no-filters', 'b.md'], { cwd: world.root, encoding: 'utf8' }).slice(
      0,
      12,
    )
    expect(spaced).not.toBe(raw)
    world.edit('c.md', 'PLACE', `b.md @${spaced}`)
    expect(await world.states()).toEqual(['b.md <- a.md: pending-stamp', 'c.md <- b.md: clean'])
    const { stamped } = await world.stamp()
    expect(stamped.map(one => [one.child, one.kind])).toEqual([
      ['b.md', 'stamp'],
      ['c.md', 'carry'],
    ])
    expect(await world.states()).toEqual(['b.md <- a.md: clean', 'c.md <- b.md: clean'])
  })

  it('K18: cycles and documents that are their own source settle in one pass', async () => {
    const world = keelWorld({ 'a.md': child('b.md', 'a.md'), 'b.md': child('a.md', '"[[a]]"') })
    await world.stamp()
    expect((await world.states()).every(line => line.endsWith(': clean'))).toBe(true)
    expect(await world.stamp()).toMatchObject({ stamped: [], written: [] })
    expect((await world.check()).cycles).toEqual([['a.md', 'b.md']])
  })

  it('K18: where every byte counts, sources are written before what derives from them, and cycles not at all', async () => {
    const world = keelWorld({
      '.outrigger/config.yml': 'keel:\n  compare: exact\n',
      'z.md': 'zeta\n',
      'm.md': child('z.md'),
      'a.md': child('m.md'),
      'self.md': child('self.md'),
    })
    const { skipped } = await world.stamp()
    expect(skipped).toEqual([{ child: 'self.md', why: 'in a cycle that compare: exact cannot settle' }])
    expect(await world.states()).toEqual(['a.md <- m.md: clean', 'm.md <- z.md: clean', 'self.md <- self.md: pending-stamp'])
  })

  it('makes nothing when there is nothing to write', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n' })
    await world.stamp()
    await (await world.open()).writeStatus()
    expect(world.has('.outrigger')).toBe(false)
  })

  it('makes its folder with what version control needs, once', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': child('a.md') })
    await world.stamp()
    expect(world.read('.outrigger/keel/.gitattributes')).toBe('journal.jsonl merge=union\nstamps.tsv merge=union\n')
    expect(world.read('.outrigger/keel/.gitignore')).toBe('status.md\n')
    expect(world.read('.outrigger/state/.gitignore')).toBe('*\n')
    world.write('.outrigger/keel/.gitignore', 'mine\n')
    world.edit('a.md', 'alpha', 'beta')
    world.edit('d.md', '@4a58007052a6', '@ok')
    await world.stamp()
    expect(world.read('.outrigger/keel/.gitignore')).toBe('mine\n')
  })

  it('a stamp typed by hand is recorded once and left alone', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': child('a.md') })
    await world.stamp()
    world.write('a.md', 'beta\n')
    const { edges } = await world.check()
    world.edit('d.md', '4a58007052a6', edges[0]!.current!)
    expect(await world.stamp()).toMatchObject({ stamped: [], written: [] })
    await world.stamp()
    expect((await world.journal()).map(record => [record.kind, record.old, record.new, record.who.kind])).toEqual([
      ['stamp', null, '4a58007052a6', 'code'],
      ['manual', '4a58007052a6', edges[0]!.current, 'hand'],
    ])
  })
})
