import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { companionWorld, openCompanionWorld } from '../support/companion-world.ts'
import { repository } from '../support/repository.ts'

const files = { 'package.json': '{"name":"demo"}', 'src/parse.ts': '', 'tests/parse.test.ts': '' }
const statusOf = async (world: Awaited<ReturnType<typeof companionWorld>>, id: string, path = 'src/parse.ts') =>
  (await world.verb('explain', { path })).sources.find((each: { id: string }) => each.id === id)
const namesFor = async (world: Awaited<ReturnType<typeof companionWorld>>, path: string) =>
  (await world.verb('for', { paths: [path] })).paths[0].companions.map((each: { path: string }) => each.path)

describe('a project', () => {
  it('without git is walked, and its history is silent by name', async () => {
    const world = await companionWorld(
      { ...files, 'node_modules/x/parse.test.ts': '', 'build/parse.test.ts': '' },
      { git: false },
    )
    expect(await namesFor(world, 'src/parse.ts')).toEqual(['tests/parse.test.ts'])
    expect(await statusOf(world, 'index')).toMatchObject({ status: 'ready', why: 'no-git', facts: { paths: 3 } })
    expect(await statusOf(world, 'cochange')).toMatchObject({ status: 'silent', why: 'no-git' })
  })

  it('without a commit has no history', async () => {
    const repo = repository()
    for (const [path, text] of Object.entries(files)) repo.write(path, text)
    const world = await openCompanionWorld(repo)
    expect(await namesFor(world, 'src/parse.ts')).toEqual(['tests/parse.test.ts'])
    expect(await statusOf(world, 'cochange')).toMatchObject({ status: 'silent', why: 'no-commits' })
  })

  it('that is a shallow clone keeps its boundary commit out', async () => {
    const world = await companionWorld(files, {
      commits: Array.from({ length: 15 }, () => ['src/parse.ts', 'tests/parse.test.ts']),
    })
    const clone = join(world.root, '../shallow')
    execFileSync('git', ['clone', '-q', '--depth', '12', `file://${world.root}`, clone], { env: world.env })
    const shallow = await openCompanionWorld({ ...repository(), root: clone, env: world.env })
    expect(await statusOf(shallow, 'cochange')).toMatchObject({ status: 'ready', facts: { commits: 11, read: 12, skipped: 1 } })
  })

  it('with more files than are kept answers by convention, and names the mode', async () => {
    const repo = repository()
    const blob = 'blob\nmark :1\ndata 0\n\n'
    const rows = Array.from({ length: 100_001 }, (_, n) => `M 100644 :1 d${n % 300}/f${n}.txt`)
    const more = ['src/parse.ts', 'tests/parse.test.ts', 'package.json'].map(path => `M 100644 :1 ${path}`)
    const commit = `${blob}commit refs/heads/main\ncommitter a <a@example.org> 1 +0000\ndata 0\n${[...rows, ...more].join('\n')}\n`
    expect(spawnSync('git', ['fast-import', '--quiet'], { cwd: repo.root, input: commit }).status).toBe(0)
    // The index alone says what is there; the work tree has what matters.
    repo.git('read-tree', 'main')
    repo.write('src/parse.ts', '')
    repo.write('tests/parse.test.ts', '')
    const started = performance.now()
    const world = await openCompanionWorld(repo)
    expect(await namesFor(world, 'src/parse.ts')).toEqual(['tests/parse.test.ts'])
    expect(world.edit('src/parse.ts').note).toMatchObject({ intent: 'Tests', summary: 'Tests 0.79' })
    expect(performance.now() - started).toBeLessThan(10_000)
    for (const id of ['index', 'imports', 'cochange', 'mentions'])
      expect(await statusOf(world, id)).toMatchObject({ why: 'index-capped' })
  })

  it('whose history is long is read up to its limits', async () => {
    const repo = repository()
    const parts = ['blob\nmark :1\ndata 0\n\n']
    for (let n = 1; n <= 5_000; n++) {
      parts.push(
        `commit refs/heads/main\ncommitter a <a@example.org> ${1_790_000_000 + n} +0000\ndata 0\nM 100644 inline a${n % 7}.ts\ndata ${String(n).length}\n${n}\n`,
      )
    }
    expect(spawnSync('git', ['fast-import', '--quiet'], { cwd: repo.root, input: parts.join('') }).status).toBe(0)
    repo.git('reset', '-q', '--hard', 'main')
    const started = performance.now()
    const world = await openCompanionWorld(repo)
    expect(await statusOf(world, 'cochange', 'a1.ts')).toMatchObject({ facts: { read: 2_000 } })
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  it('keeps up with files that are renamed, made and removed', async () => {
    const world = await companionWorld(files, { config: { cooldownCalls: 0 } })
    renameSync(join(world.root, 'tests/parse.test.ts'), join(world.root, 'tests/parse.spec.ts'))
    world.hear({ kind: 'file-changed', path: 'tests/parse.test.ts', by: 'outside' })
    world.hear({ kind: 'file-changed', path: 'tests/parse.spec.ts', by: 'outside' })
    expect(world.edit('src/parse.ts').note!.candidates.map(({ path }) => path)).toEqual(['tests/parse.spec.ts'])
    world.remove('tests/parse.spec.ts')
    world.hear({ kind: 'person-spoke', text: 'again' })
    expect(world.lines(world.edit('src/parse.ts'))).toEqual(['abstained no-companions Tests 0.79'])
  })

  it('gives nothing away through links', async () => {
    const world = await companionWorld(files)
    mkdirSync(join(world.root, '../outside'))
    writeFileSync(join(world.root, '../outside/secret.ts'), '')
    symlinkSync('../outside', join(world.root, 'linked'))
    symlinkSync('src/parse.ts', join(world.root, 'alias.ts'))
    await expect(world.verb('for', { paths: ['linked/secret.ts'] })).rejects.toMatchObject({ code: 'COMPANION_OUTSIDE' })
    await expect(world.verb('for', { paths: ['../outside/secret.ts'] })).rejects.toMatchObject({ code: 'COMPANION_OUTSIDE' })
    await expect(world.verb('for', { paths: ['src/none.ts'] })).rejects.toMatchObject({ code: 'COMPANION_NO_SUCH_PATH' })
    // What a link in the project stands for is what changed.
    expect((await world.verb('for', { paths: ['alias.ts'] })).paths[0]).toMatchObject({ path: 'src/parse.ts', companions: [{}] })
    expect(world.edit('linked/secret.ts', { written: ['linked/secret.ts'] })).toMatchObject({ judged: false, ledger: [] })
  })

  it('tells names apart that differ in case only', async () => {
    const world = await companionWorld({ 'package.json': '{"name":"demo"}', 'src/Parse.ts': '', 'tests/parse.test.ts': '' })
    expect(await namesFor(world, 'src/Parse.ts')).toEqual([])
  })

  it('takes paths of Windows', async () => {
    const world = await companionWorld(files)
    expect(world.edit('src\\parse.ts').note).toMatchObject({ intent: 'Tests' })
  })

  it('passes over submodules, generated, excluded and binary files', async () => {
    const inner = repository()
    inner.write('parse.test.ts', '')
    inner.commit('inner')
    const world = await companionWorld({
      ...files,
      'src/__generated__/api.ts': '',
      'tests/api.test.ts': '',
      'dist/parse.test.ts': "import '../src/parse.ts'\n",
      'redist/parse.test.ts': "import '../src/parse.ts'\n",
      'src/binary.ts': "\0import './parse.ts'\n",
    })
    execFileSync('git', ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.root, 'tests/sub'], {
      cwd: world.root,
      env: world.env,
    })
    const fresh = await openCompanionWorld(world)
    expect(await namesFor(fresh, 'src/__generated__/api.ts')).toEqual([])
    expect((await namesFor(fresh, 'src/parse.ts')).sort()).toEqual(['redist/parse.test.ts', 'tests/parse.test.ts'])
    expect(await namesFor(fresh, 'src/binary.ts')).toEqual([])
  })

  it('never names what cannot be printed', async () => {
    const repo = repository()
    repo.write('package.json', '{"name":"demo"}')
    repo.write('src/parse.ts', '')
    repo.write('src/__tests__/parse\u202e.test.ts', "import '../parse.ts'\n")
    repo.write('src/\u0007bell.ts', '')
    repo.write('src/\u0007bell.test.ts', '')
    const raw = Buffer.concat([Buffer.from(join(repo.root, 'src/')), Buffer.from([0xff, 0xfe]), Buffer.from('.test.ts')])
    writeFileSync(raw, "import './parse.ts'\n")
    const world = await openCompanionWorld(repo)
    expect(world.lines(world.edit('src/parse.ts'))).toEqual(['abstained no-companions Tests 0.83'])
    expect(world.edit('src/\u0007bell.ts').note).toBeNull()
    const { intents } = await world.verb('explain', { path: 'src/parse.ts' })
    expect(intents[0].verdict).toBe('unprintable')
  })

  it('may have a cache that is damaged or cannot be written', async () => {
    const world = await companionWorld(files)
    const cache = join(world.root, '.outrigger/state/cache')
    rmSync(join(world.root, '.outrigger'), { recursive: true, force: true })
    world.write('.outrigger/state/cache/companion/scan.bin', 'damaged')
    world.write('.outrigger/state/cache/companion/history.bin', 'damaged')
    expect(await namesFor(await openCompanionWorld(world), 'src/parse.ts')).toEqual(['tests/parse.test.ts'])
    rmSync(cache, { recursive: true, force: true })
    world.write('.outrigger/state/cache', 'no folder')
    expect(await namesFor(await openCompanionWorld(world), 'src/parse.ts')).toEqual(['tests/parse.test.ts'])
  })

  it('is read anew from its cache, and further from the commit that it knows', async () => {
    const commits = Array.from({ length: 12 }, () => ['src/parse.ts', 'tests/parse.test.ts'])
    const world = await companionWorld(files, { commits })
    world.write('src/more.ts', "import './parse.ts'\n")
    world.commit('more')
    const again = await openCompanionWorld(world)
    expect(await statusOf(again, 'cochange')).toMatchObject({ facts: { commits: 13, read: 14, skipped: 1 } })
    // The index has the new file, what it says is read, and nothing else was.
    expect(await statusOf(again, 'imports')).toMatchObject({ facts: { files: 3 } })
  })
})
