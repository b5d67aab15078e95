import { execFileSync } from 'node:child_process'
import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OutriggerError } from '../../src/errors.ts'
import type { KeelDeps } from '../../src/keel/deps.ts'
import type { Ack, Edge } from '../../src/keel/types.ts'
import { nodeFiles } from '../../src/node/files.ts'
import type { Files } from '../../src/ports/files.ts'
import type { Git } from '../../src/ports/git.ts'
import { runModule, sourceUrl } from '../support/child-process.ts'
import { keelWorld, stateLine } from '../support/keel-world.ts'

const child = (...sources: readonly string[]) => `---\nsources:\n${sources.map(source => `  - ${source}\n`).join('')}---\ntext\n`
const person = { kind: 'person', name: 'Ada' } as const
const agent = { kind: 'agent', name: 'a' } as const

const ackOf = (edge: Edge, who: Ack['who'] = person): Ack => ({
  edge: edge.id,
  content: edge.current!,
  kind: 'ok',
  reason: 'checked',
  who,
  evidence: null,
})

/** Counts what was asked of git. */
function counting(git: Git): { readonly git: Git; readonly calls: string[] } {
  const calls: string[] = []
  const handler: ProxyHandler<Git> = {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        calls.push(String(name))
        return (value as (...given: unknown[]) => unknown).apply(target, args)
      }
    },
  }
  return { git: new Proxy(git, handler), calls }
}

async function realDeps(world: ReturnType<typeof keelWorld>): Promise<KeelDeps> {
  const { openProject } = await import('../../src/node/open.ts')
  const project = await openProject({
    cwd: world.root,
    project: world.root,
    env: { PATH: process.env['PATH'], HOME: join(world.root, '../home') },
    door: 'cli',
  })
  return project.keelDeps()
}

describe('a sweep', () => {
  it('K3: what there is no time for keeps its record, and the next sweep begins with it', async () => {
    const sources = ['a.txt', 'b.txt', 'c.txt']
    const world = keelWorld({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n', 'd.md': child(...sources) })
    await world.stamp()
    for (const source of sources) world.write(source, 'moved\n')
    const controller = new AbortController()
    const real = nodeFiles()
    const files: Files = {
      ...real,
      read(path, maxBytes) {
        if (path.endsWith('.txt')) controller.abort()
        return real.read(path, maxBytes)
      },
    }
    const keel = await world.open({ files })
    const first = await keel.refresh({ kind: 'full' }, { signal: controller.signal })
    expect(first.edges.map(stateLine)).toEqual(['d.md <- a.txt: changed', 'd.md <- b.txt: clean', 'd.md <- c.txt: clean'])
    expect(first.edges.map(edge => edge.stale)).toEqual([undefined, true, true])
    expect(first.degraded).toContain('sweep incomplete: 2 of 4 files not looked at')
    const opened: string[] = []
    const watching: Files = {
      ...real,
      read(path, maxBytes) {
        opened.push(path)
        return real.read(path, maxBytes)
      },
    }
    const next = await (await world.open({ files: watching })).refresh({ kind: 'full' })
    expect(next.edges.every(edge => edge.reason === 'changed' && edge.stale === undefined)).toBe(true)
    expect(opened.find(path => path.endsWith('.txt'))).toBe(join(world.root, 'b.txt'))
    expect(next.degraded).toEqual([])
  })

  it('K3: nothing known and no time is unknown, never missing', async () => {
    const world = keelWorld({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'd.md': child('a.txt', 'b.txt#L1') })
    const controller = new AbortController()
    const real = nodeFiles()
    const files: Files = {
      ...real,
      read(path, maxBytes) {
        if (path.endsWith('a.txt')) controller.abort()
        return real.read(path, maxBytes)
      },
    }
    const { edges } = await (await world.open({ files })).refresh({ kind: 'full' }, { signal: controller.signal })
    expect(edges.map(edge => [edge.state, edge.class])).toEqual([
      ['pending-stamp', null],
      ['unknown', 'unverified'],
    ])
  })

  it('K21: what cannot be read is unreadable, and says why', async () => {
    const world = keelWorld({
      '.outrigger/config.yml': 'keel:\n  maxSourceMiB: 1\n',
      'large.bin': '',
      'secret.txt': 's\n',
      'bytes.txt': Buffer.from([0xff, 0xfe, 0x0a]),
      'd.md': child('large.bin', 'secret.txt', 'bytes.txt#L1'),
    })
    truncateSync(join(world.root, 'large.bin'), 1024 * 1024 + 1)
    const real = nodeFiles()
    const refuse = (path: string) => {
      if (path.endsWith('secret.txt')) throw new OutriggerError('FILES_UNREADABLE', 'no', { exit: 3 })
    }
    const files: Files = {
      ...real,
      read(path, maxBytes) {
        refuse(path)
        return real.read(path, maxBytes)
      },
    }
    const { edges } = await (await world.open({ files })).refresh({ kind: 'full' })
    expect(edges.map(edge => [edge.ref, edge.state, edge.class, edge.detail])).toEqual([
      ['large.bin', 'unreadable', 'unverified', 'over 1 MiB'],
      ['secret.txt', 'unreadable', 'unverified', 'no permission to read it'],
      ['bytes.txt', 'unreadable', 'unverified', 'not UTF-8'],
    ])
  })

  it('K21: a child that cannot be read keeps its edges and is named', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': child('a.md') })
    await world.stamp()
    const real = nodeFiles()
    let isClosed = false
    const files: Files = {
      ...real,
      read(path, maxBytes) {
        if (isClosed && path.endsWith('d.md')) throw new OutriggerError('FILES_UNREADABLE', 'no', { exit: 3 })
        return real.read(path, maxBytes)
      },
    }
    const keel = await world.open({ files })
    await keel.refresh({ kind: 'full' })
    isClosed = true
    world.write('d.md', child('b.md'))
    const { edges, degraded } = await keel.refresh({ kind: 'full' })
    expect(edges.map(edge => [stateLine(edge), edge.stale])).toEqual([['d.md <- a.md: clean', true]])
    expect(degraded).toEqual(['unreadable child: d.md'])
  })

  it('K21: documents of a folder that cannot be looked into stay as they are known', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'sub/d.md': child('a.md'), 'e.md': child('a.md') })
    await world.stamp()
    const real = nodeFiles()
    let isClosed = false
    const refuse = (path: string) => {
      if (isClosed && path.includes('/sub')) throw new OutriggerError('FILES_UNREADABLE', 'no', { exit: 3 })
    }
    const files: Files = {
      ...real,
      list(folder) {
        refuse(folder)
        return real.list(folder)
      },
      lstat(path) {
        refuse(path)
        return real.lstat(path)
      },
    }
    const keel = await world.open({ files })
    await keel.refresh({ kind: 'full' })
    isClosed = true
    for (const scope of [{ kind: 'full' }, { kind: 'files', paths: ['e.md'] }, { kind: 'known' }] as const) {
      const { edges, degraded } = await keel.refresh(scope)
      expect(edges.map(edge => [stateLine(edge), edge.stale])).toEqual([
        ['e.md <- a.md: clean', undefined],
        ['sub/d.md <- a.md: clean', true],
      ])
      expect(degraded[0]).toMatch(/^unreadable child: sub\//)
    }
  })

  it('K22: without git, and in a repository of SHA-256, the same answers and diffs', async () => {
    for (const kind of ['none', 'sha256']) {
      const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': child('a.md') }, { git: false })
      if (kind === 'sha256') execFileSync('git', ['init', '-q', '--object-format=sha256'], { cwd: world.root })
      await world.stamp()
      if (kind === 'sha256') world.commit()
      world.write('a.md', 'beta\n')
      const keel = await world.open()
      const [edge] = (await keel.refresh({ kind: 'full' })).edges
      expect(stateLine(edge!)).toBe('d.md <- a.md: changed')
      expect(await keel.diff(edge!)).toMatchObject({ status: 'ok', basis: 'baseline' })
    }
  })

  it('K22: without copies the old content comes from git, by its id or from the history', async () => {
    const world = keelWorld({ 'a.md': '# One\nalpha\n', 'd.md': child('a.md', '"a.md#One"') })
    await world.stamp()
    world.commit()
    world.write('a.md', '# One\nbeta\n')
    world.remove('.outrigger/state')
    const keel = await world.open()
    const { edges } = await keel.refresh({ kind: 'full' })
    expect(edges.map(stateLine)).toEqual(['d.md <- a.md: changed', 'd.md <- a.md#One: changed'])
    for (const edge of edges) {
      expect(await keel.diff(edge)).toMatchObject({
        status: 'ok',
        basis: 'git',
        text: '@@ -1,2 +1,2 @@\n # One\n-alpha\n+beta\n',
      })
    }
    world.commit()
    expect(await keel.blame(edges[1]!)).toMatchObject({ author: 'Ada', subject: 'change' })
    world.write('a.md', '# One\ngamma\n')
    expect(await keel.diff(edges[0]!)).toMatchObject({ status: 'unavailable', why: 'moved-again' })
  })

  it('K28: starts nothing for a write event and for a look at what is known', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'n.txt': 'one\ntwo\n', 'd.md': child('a.md', 'n.txt#L1') })
    await world.stamp()
    const { git, calls } = counting((await realDeps(world)).git)
    const keel = await world.open({ git })
    await keel.refresh({ kind: 'full' })
    calls.length = 0
    world.write('a.md', 'beta\n')
    world.write('n.txt', 'zero\none\ntwo\n')
    world.write('e.md', child('a.md'))
    await keel.refresh({ kind: 'files', paths: ['a.md', 'e.md'] })
    const { edges } = await keel.refresh({ kind: 'known' })
    expect(edges.map(stateLine)).toEqual([
      'd.md <- a.md: changed',
      'd.md <- n.txt#L1: anchor-moved',
      'e.md <- a.md: pending-stamp',
    ])
    expect(calls).toEqual([])
  })

  it('asks git for the index only for what would be suspect, and takes its word for files it reports unmodified', async () => {
    const world = keelWorld({ '.gitattributes': '*.txt ident\n', 'a.txt': '$Id$\n', 'd.md': child('PLACE') })
    world.commit()
    world.remove('a.txt')
    world.git('checkout', 'a.txt')
    const id = world.git('rev-parse', 'HEAD:a.txt').slice(0, 12)
    world.edit('d.md', 'PLACE', `a.txt @${id}`)
    expect(world.read('a.txt')).not.toBe('$Id$\n')
    const keel = await world.open()
    const [edge] = (await keel.refresh({ kind: 'full' })).edges
    expect(edge).toMatchObject({ state: 'clean', form: 'index' })
    world.write('a.txt', 'other\n')
    expect((await keel.refresh({ kind: 'known' })).edges.map(stateLine)).toEqual(['d.md <- a.txt: changed'])
  })

  it('stays as it is when only the cache is gone, after any edits', async () => {
    const texts = ['alpha\n', 'beta\n', '# One\nalpha\n', 'alpha', '# One\n']
    const world = keelWorld({
      'a.md': 'alpha\n',
      'b.md': '# One\nx\n',
      'd.md': child('a.md', '"b.md#One"', '[[a]]'),
      'e.md': child('d.md'),
    })
    await world.stamp()
    const step = fc.record({
      file: fc.constantFrom('a.md', 'b.md', 'c.md'),
      text: fc.option(fc.constantFrom(...texts)),
      look: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async steps => {
        const keel = await world.open()
        for (const { file, text, look } of steps) {
          if (text === null) {
            if (world.has(file)) world.remove(file)
          } else world.write(file, text)
          if (look) await keel.refresh({ kind: 'known' })
        }
        const known = (await keel.refresh({ kind: 'known' })).edges
        const warm = (await keel.refresh({ kind: 'full' })).edges
        world.forgetCache()
        const cold = (await world.check()).edges
        expect(cold).toEqual(warm)
        // Moves are looked for, and new documents listed, in full sweeps only.
        const comparable = (edges: readonly Edge[]) =>
          edges.filter(edge => edge.kind === 'path').map(edge => stateLine(edge).replace('source-moved', 'source-missing'))
        expect(comparable(known)).toEqual(comparable(warm))
      }),
      { numRuns: 12 },
    )
  })

  it('says when a damaged cache was rebuilt', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': child('a.md') })
    await world.stamp()
    world.write('.outrigger/state/keel/cache.bin', 'damage')
    const { edges, degraded } = await world.check()
    expect(degraded).toEqual(['cache rebuilt'])
    expect(edges.map(stateLine)).toEqual(['d.md <- a.md: clean'])
    expect((await world.check()).degraded).toEqual([])
  })
})

describe('zones and links', () => {
  it('a folder with its own zones is the base of its references', async () => {
    const world = keelWorld({
      'sub/.stoa-keel.yml': 'ignore: [old]\nfrozen: [raw]\n',
      'sub/a.md': 'alpha\n',
      'sub/old/x.md': child('a.md'),
      'sub/raw/y.md': child('a.md'),
      'sub/park/z.md': child('a.md'),
      'park/p.md': child('a.md'),
    })
    expect(await world.states()).toEqual(['sub/park/z.md <- a.md: pending-stamp'])
  })

  it('settings of the project go before those of a folder', async () => {
    const world = keelWorld({
      '.outrigger/config.yml': 'keel:\n  ignore: [gone]\n',
      '.stoa-keel.yml': 'ignore: [old]\n',
      'a.md': 'alpha\n',
      'old/x.md': child('a.md'),
      'gone/y.md': child('a.md'),
    })
    expect(await world.states()).toEqual(['old/x.md <- a.md: pending-stamp'])
  })

  it('of two namesakes the one that accepts the stamp is meant; a stamped name never goes unchecked', async () => {
    const world = keelWorld({ 'one/a.md': 'alpha\n', 'd.md': child('[[a]]') })
    await world.stamp()
    world.write('two/a.md', 'other\n')
    const [edge] = (await world.check()).edges
    expect(edge).toMatchObject({ state: 'clean', match: 'by-stamp', target: 'one/a.md' })
    world.write('one/a.md', 'moved\n')
    expect(await world.states()).toEqual(['d.md <- a: ambiguous'])
    world.remove('one/a.md')
    world.remove('two/a.md')
    expect(await world.states()).toEqual(['d.md <- a: source-missing'])
  })

  it('finds files by path and by name', async () => {
    const world = keelWorld({
      'x/a.md': 'alpha\n',
      'y/b.md': 'b\n',
      'z/b.md': 'b\n',
      'n.txt': 'n\n',
      'd.md': child('n.txt', 'lost.md'),
    })
    const keel = await world.open()
    await keel.refresh({ kind: 'full' })
    expect(['[[a]]', '[[b]]', 'n.txt', 'lost.md', 'other.txt', 'x/a.md'].map(name => keel.findFile(name))).toEqual([
      'x/a.md',
      null,
      'n.txt',
      'lost.md',
      null,
      'x/a.md',
    ])
    expect(keel.watchable()).toEqual(['n.txt', 'd.md'])
  })
})

describe('fixes', () => {
  it('K27: a moved source is found by its content, and the reference put right in its own form', async () => {
    const world = keelWorld({
      'docs/a.md': '# A\nalpha\n',
      'src/x.ts': 'export const x = 1\n',
      'docs/d.md': child('./a.md', '"[[a|shown]]"', 'src/x.ts#x'),
    })
    await world.stamp()
    world.git('add', '-A')
    world.write('other/moved.md', world.read('docs/a.md'))
    world.remove('docs/a.md')
    world.write('lib/x.ts', world.read('src/x.ts'))
    world.remove('src/x.ts')
    const keel = await world.open()
    const { edges } = await keel.refresh({ kind: 'full' })
    expect(edges.map(edge => [edge.reason, edge.suggest?.ref])).toEqual([
      ['source-moved', '../other/moved.md'],
      ['source-moved', 'moved'],
      ['source-moved', 'lib/x.ts'],
    ])
    const proposals = await keel.fixes()
    expect(proposals.map(one => [one.from, one.to, one.basis])).toEqual([
      ['./a.md', '../other/moved.md', 'content'],
      ['[[a|shown]]', '[[moved|shown]]', 'content'],
      ['src/x.ts#x', 'lib/x.ts#x', 'content'],
    ])
    await keel.applyFixes(proposals, { who: person, onBusy: 'refuse' })
    expect((await world.states()).map(line => line.split(': ')[1])).toEqual(['clean', 'clean', 'clean'])
  })

  it('K27: of several copies the one with the old name is meant, else nobody knows', async () => {
    const world = keelWorld({ 'a.txt': 'alpha\n', 'd.md': child('a.txt') })
    await world.stamp()
    world.remove('a.txt')
    world.write('x/a.txt', 'alpha\n')
    world.write('x/b.txt', 'alpha\n')
    expect((await world.check()).edges[0]).toMatchObject({ reason: 'source-moved', suggest: { ref: 'x/a.txt' } })
    world.write('y/a.txt', 'alpha\n')
    expect((await world.check()).edges[0]).toMatchObject({ reason: 'source-missing', suggest: null })
  })

  it('K27: a rename that git knows is proposed when the content moved too', async () => {
    const world = keelWorld({ 'a.txt': 'one\ntwo\nthree\nfour\nfive\nsix\n', 'd.md': child('a.txt') })
    await world.stamp()
    world.commit()
    world.git('mv', 'a.txt', 'b.txt')
    world.edit('b.txt', 'six', 'SIX')
    world.commit()
    const keel = await world.open()
    const [edge] = (await keel.refresh({ kind: 'full' })).edges
    expect(edge).toMatchObject({ reason: 'source-missing', suggest: { ref: 'b.txt', basis: 'git' } })
    await keel.applyFixes(await keel.fixes({ only: 'git' }), { who: person, onBusy: 'refuse' })
    expect(await world.states()).toEqual(['d.md <- b.txt: changed'])
  })

  it('K27: a renamed heading is found by its body, a changed one by likeness', async () => {
    const body = 'the quick brown fox jumps over the lazy dog and runs away from all of them tonight\n'
    const world = keelWorld({ 'a.md': `# Old\n${body}\n# Other\nnothing alike here at all\n`, 'd.md': child('"a.md#Old"') })
    await world.stamp()
    world.edit('a.md', '# Old', '# New')
    expect((await world.check()).edges[0]).toMatchObject({
      reason: 'anchor-missing',
      suggest: { anchor: 'New', basis: 'content', score: 1 },
    })
    world.edit('a.md', 'tonight', 'today')
    const keel = await world.open()
    expect((await keel.refresh({ kind: 'full' })).edges[0]).toMatchObject({
      reason: 'anchor-missing',
      suggest: { anchor: 'New', basis: 'similar' },
    })
    await keel.applyFixes(await keel.fixes(), { who: person, onBusy: 'refuse' })
    expect(await world.states()).toEqual(['d.md <- a.md#New: changed'])
  })
})

describe('who may review', () => {
  const policy = '.outrigger/config.yml'

  it('an @ok needs a reason where the project says so', async () => {
    const world = keelWorld({ [policy]: 'keel:\n  ack:\n    reason: required\n', 'a.md': 'alpha\n', 'd.md': child('a.md @ok') })
    expect(await world.states()).toEqual(['d.md <- a.md: needs-reason'])
    expect((await world.stamp()).stamped).toEqual([])
    world.edit('d.md', '@ok', '@ok(read it)')
    expect((await world.stamp()).stamped).toMatchObject([{ kind: 'ok' }])
  })

  it('an agent reviews nothing that is a person’s', async () => {
    const world = keelWorld({
      [policy]: 'keel:\n  ack:\n    personOnly: ["docs/**"]\n',
      'a.md': 'alpha\n',
      'docs/d.md': child('a.md'),
    })
    await world.stamp()
    world.write('a.md', 'beta\n')
    const keel = await world.open()
    const [edge] = (await keel.refresh({ kind: 'full' })).edges
    const byAgent = { acks: [ackOf(edge!, agent)], onBusy: 'refuse', who: agent, byAgent: true } as const
    expect((await keel.boundary(byAgent)).stamped).toEqual([])
    world.edit('docs/d.md', '@4a58007052a6', '@ok')
    expect((await keel.boundary({ onBusy: 'refuse', who: agent, byAgent: true })).stamped).toEqual([])
    expect(keel.assessment().edges.map(stateLine)).toEqual(['docs/d.md <- a.md: needs-person'])
    expect((await world.stamp()).stamped).toMatchObject([{ kind: 'ok' }])
    expect(await world.states()).toEqual(['docs/d.md <- a.md: clean'])
    expect((await world.journal()).at(-1)?.who.kind).toBe('person')
  })

  it('a stamp that an agent gave before it became a person’s needs a person', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': child('a.md') })
    await world.stamp()
    world.write('a.md', 'beta\n')
    const keel = await world.open()
    const [edge] = (await keel.refresh({ kind: 'full' })).edges
    await keel.boundary({ acks: [ackOf(edge!, agent)], onlyAcks: true, onBusy: 'refuse', who: agent, byAgent: true })
    expect(await world.states()).toEqual(['d.md <- a.md: clean'])
    world.write(policy, 'keel:\n  ack:\n    personOnly: ["*.md"]\n')
    expect(await world.states()).toEqual(['d.md <- a.md: needs-person'])
  })

  it('new edges wait for a person where stamps are given by hand', async () => {
    const world = keelWorld({ [policy]: 'keel:\n  stampNew: manual\n', 'a.md': 'alpha\n', 'd.md': child('a.md') })
    expect((await world.stamp()).stamped).toEqual([])
    const keel = await world.open()
    const [edge] = (await keel.refresh({ kind: 'full' })).edges
    expect(
      (await keel.boundary({ acks: [ackOf(edge!)], onlyAcks: true, onBusy: 'refuse', who: person, byAgent: false })).stamped,
    ).toHaveLength(1)
  })
})

describe('several at once', () => {
  it('leaves a document alone that another session is writing, until its turn is over', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': child('a.md @ok'), 'e.md': child('a.md') })
    const mine = await world.open()
    await mine.claim('one', 'd.md')
    const theirs = await world.open()
    const options = (session: string) => ({ onBusy: 'leave', who: { ...agent, session }, byAgent: true, session }) as const
    const first = await theirs.boundary(options('two'))
    expect(first).toMatchObject({ written: ['e.md'], skipped: [{ child: 'd.md', why: 'another session is writing it' }] })
    expect((await mine.boundary(options('one'))).stamped).toMatchObject([{ child: 'd.md', kind: 'ok' }])
    expect((await world.journal()).find(record => record.kind === 'ok')?.who).toMatchObject({ kind: 'agent', session: 'one' })
    await mine.unclaim('one')
    world.edit('a.md', 'alpha', 'beta')
    world.edit('d.md', '@4a58007052a6', '@ok')
    expect((await theirs.boundary(options('two'))).written).toEqual(['d.md'])
  })

  it('refuses, or leaves for later, while another process holds the lease', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': child('a.md') })
    const withLease = async () => ({ held: false, holder: 'somebody' }) as const
    const keel = await world.open({ withLease })
    await expect(keel.boundary({ onBusy: 'refuse', who: person, byAgent: false })).rejects.toMatchObject({
      code: 'KEEL_BUSY',
      exit: 4,
    })
    expect(await keel.boundary({ onBusy: 'leave', who: person, byAgent: false })).toEqual({
      stamped: [],
      written: [],
      skipped: [],
      busy: true,
    })
    expect(world.read('d.md')).toBe(child('a.md'))
  })

  it('two processes that stamp one project write each stamp once', async () => {
    const names = Array.from({ length: 12 }, (_, at) => `d${String(at).padStart(2, '0')}.md`)
    const world = keelWorld({ 'a.md': 'alpha\n', ...Object.fromEntries(names.map(name => [name, child('a.md')])) })
    const program = `
      import { openProject } from ${JSON.stringify(sourceUrl('node/open.ts'))}
      const project = await openProject({ cwd: process.argv[1], project: process.argv[1], env: process.env, door: 'cli' })
      const result = await project.keel().boundary({ onBusy: 'leave', who: { kind: 'person' }, byAgent: false })
      console.log(result.stamped.length)
      await project.close()`
    const env = { PATH: process.env['PATH'], HOME: join(world.root, '../home') }
    const both = [runModule(program, [world.root], env), runModule(program, [world.root], env)]
    for (const one of both) expect([await one.ended, one.errors()]).toEqual([0, ''])
    expect(both.reduce((sum, one) => sum + Number(one.output()), 0)).toBe(12)
    const records = await world.journal()
    expect(records.map(record => record.child).sort()).toEqual(names)
    expect((await world.states()).every(line => line.endsWith(': clean'))).toBe(true)
  })
})

describe('what people see', () => {
  it('the status file is written when something but its time differs', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': child('a.md') })
    await world.stamp()
    const keel = await world.open()
    await keel.refresh({ kind: 'full' })
    await keel.writeStatus()
    expect(world.read('.outrigger/keel/status.md')).toMatch(/^---\ntype: keel-status\nswept: \S+\n---\nsuspects: none\n$/)
    const first = world.read('.outrigger/keel/status.md')
    await keel.refresh({ kind: 'known' })
    await keel.writeStatus()
    expect(world.read('.outrigger/keel/status.md')).toBe(first)
    world.write('a.md', 'beta\n')
    const [edge] = (await keel.refresh({ kind: 'known' })).edges
    await keel.writeStatus()
    expect(world.read('.outrigger/keel/status.md')).toContain(`suspects: 1\n- d.md <- a.md: changed since ${keel.since(edge!)}\n`)
    world.remove('d.md')
    await keel.refresh({ kind: 'known' })
    await keel.writeStatus()
    expect(world.read('.outrigger/keel/status.md')).toContain('suspects: none\n')
  })

  it('a suspect keeps the time it was first seen, over processes', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': child('a.md') })
    await world.stamp()
    world.write('a.md', 'beta\n')
    const first = await world.open()
    const [edge] = (await first.refresh({ kind: 'full' })).edges
    const then = first.since(edge!)
    await new Promise(done => setTimeout(done, 10))
    const second = await world.open()
    await second.refresh({ kind: 'full' })
    expect(second.since(edge!)).toBe(then)
  })

  it('is off while a file says so', async () => {
    const world = keelWorld({ '.stoa-keel-off': '' })
    const keel = await world.open()
    expect(keel.isOff()).toEqual({ off: true, file: '.stoa-keel-off' })
    expect(await keel.setOff(false)).toEqual({ on: true, file: '.stoa-keel-off', changed: true })
    expect(keel.isOff().off).toBe(false)
    expect(await keel.setOff(true)).toEqual({ on: false, file: '.outrigger/keel/off', changed: true })
    expect(await keel.setOff(true)).toMatchObject({ changed: false })
    expect(world.has('.outrigger/keel/off')).toBe(true)
  })

  it('nothing of a file outside of the project is shown', async () => {
    const world = keelWorld({ 'd.md': child('PLACE') })
    const outside = join(world.root, '../outside.txt')
    execFileSync('sh', ['-c', `echo secret > '${outside}'`])
    world.edit('d.md', 'PLACE', outside)
    await world.stamp()
    execFileSync('sh', ['-c', `echo other > '${outside}'`])
    const keel = await world.open()
    const [edge] = (await keel.refresh({ kind: 'full' })).edges
    expect(edge).toMatchObject({ reason: 'changed', target: outside })
    expect(await keel.diff(edge!)).toEqual({ status: 'unavailable', why: 'outside-project', text: null, basis: null })
  })

  it('stamps move out of the documents and back without a change of any state', async () => {
    const world = keelWorld({ 'a.md': 'alpha\n', 'd.md': child('a.md', '"a.md#L1"', '"[[a]]"') })
    await world.stamp()
    const inline = world.read('d.md')
    const keel = await world.open()
    await keel.refresh({ kind: 'full' })
    expect((await keel.moveStamps('file', { onBusy: 'refuse' })).written).toEqual(['d.md'])
    expect(world.read('d.md')).toBe(child('a.md', '"a.md#L1"', '"[[a]]"'))
    world.write('.outrigger/config.yml', 'keel:\n  stamps: file\n')
    expect((await world.states()).map(line => line.split(': ')[1])).toEqual(['clean', 'clean', 'clean'])
    const back = await world.open()
    await back.refresh({ kind: 'full' })
    await back.moveStamps('inline', { onBusy: 'refuse' })
    expect(world.read('d.md')).toBe(inline)
    expect(world.read('.outrigger/keel/stamps.tsv')).toBe('#outrigger-keel-stamps 1\n')
  })
})
