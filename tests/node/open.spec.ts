import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openProject } from '../../src/node/open.ts'
import type { Project } from '../../src/runtime/project.ts'
import { testProject } from '../support/open-project.ts'
import { temporaryFolder } from '../support/temporary.ts'

/** All files below a folder, relative. */
const below = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => !entry.isDirectory())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()

/** Everything that only looks. */
async function look(project: Project): Promise<void> {
  project.config.check('keel')
  project.config.values()
  project.keelDeps()
  project.actor()
  await project.personName()
  await project.git.head(project.root)
  const store = await project.store()
  await store.get('k')
  await store.list('')
  for await (const _record of project.ledger.read()) throw new Error('nothing was written')
  project.hasStore()
  await project.close()
}

describe('a project', () => {
  it('is left as it was by looking', async () => {
    const { project, root, home } = await testProject()
    await look(project)
    expect(below(root)).toEqual([])
    expect(below(home)).toEqual([])
    expect(existsSync(join(root, '.outrigger'))).toBe(false)
  })

  it('is found from a folder in it, and named by --project', async () => {
    const { root, again } = await testProject(folder => mkdirSync(join(folder, 'a/b'), { recursive: true }))
    expect((await again({ cwd: join(root, 'a/b') })).root).toBe(root)
    expect((await again({ cwd: root, project: 'a' })).root).toBe(join(root, 'a'))
    expect((await again({ cwd: '/', project: join(root, 'a', '..', 'a/') })).root).toBe(join(root, 'a'))
  })

  it('has one name, also when it is reached through a link', async () => {
    const { project, root, home, again } = await testProject()
    symlinkSync(root, join(home, 'link'))
    const linked = await again({ cwd: join(home, 'link') })
    expect(linked.root).toBe(join(home, 'link'))
    expect(linked.places.id).toBe(project.places.id)
    await (await project.store()).put('k', 1, 0)
    expect((await (await linked.store()).get('k'))?.value).toBe(1)
  })

  it.each(['none', 'file'])('that is no folder is refused: %s', async name => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'file'), '')
    const opening = openProject({ cwd: folder, project: name, env: {}, door: 'cli' })
    await expect(opening).rejects.toMatchObject({ code: 'BAD_INPUT', subject: name })
  })

  it('is not made by opening it where nothing is', async () => {
    const folder = temporaryFolder()
    const env = { HOME: join(folder, 'home') }
    for (const cwd of ['none', 'none/deeper']) {
      const opening = openProject({ cwd: join(folder, cwd), env, door: 'hook' })
      await expect(opening).rejects.toMatchObject({ code: 'BAD_INPUT', subject: join(folder, cwd) })
    }
    expect(readdirSync(folder)).toEqual([])
  })

  it('is not made again by writing once its folder is gone', async () => {
    const { project, root, home } = await testProject()
    rmSync(root, { recursive: true })
    await expect((await project.store()).put('k', 1, 0)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', subject: root })
    await project.ledger.write([{ engine: 'keel', session: null, turn: null, what: 'told', text: 'one' }])
    expect(() => project.keelDeps().files.makeFolder(join(root, '.outrigger/keel'))).toThrow(/is gone/)
    await project.keelDeps().cache.save('h', new Uint8Array([1]))
    expect(existsSync(root)).toBe(false)
    expect(below(home)).toEqual([`.cache/outrigger/${project.places.id}/keel/cache.bin`])
  })

  it("shares its store with another process's handle, and its leases", async () => {
    const { project, again } = await testProject()
    const other = await again()
    await project.ledger.write([{ engine: 'keel', session: null, turn: null, what: 'told', text: 'one' }])
    const read = []
    for await (const record of other.ledger.read()) read.push(record.text)
    expect(read).toEqual(['one'])
    expect(project.hasStore() && other.hasStore()).toBe(true)
    const inside = await project.withLease('keel/stamp', { ttlMs: 1_000, waitMs: 0 }, async () =>
      (await (await other.store()).leases()).map(lease => lease.key),
    )
    expect(inside).toEqual({ held: true, value: ['keel/stamp'] })
  })

  it('keeps caches and baselines with the user until its own state folder is there', async () => {
    const { project, root, home } = await testProject()
    const deps = project.keelDeps()
    expect(await deps.cache.save('h', new Uint8Array([1]))).toBe(true)
    expect(deps.baselineFolder).toBe(join(project.places.userCache!, 'keel/baseline'))
    expect(below(root)).toEqual([])
    expect(below(home)).toEqual([`.cache/outrigger/${project.places.id}/keel/cache.bin`])
    await (await project.store()).put('k', 1, 0)
    expect(deps.baselineFolder).toBe(join(root, '.outrigger/state/keel/baseline'))
    expect(await deps.cache.save('h', new Uint8Array([2]))).toBe(true)
    expect(existsSync(join(root, '.outrigger/state/keel/cache.bin'))).toBe(true)
  })

  it("works with its state in the user's folder when it cannot be written, and says so by name", async () => {
    const { project, home } = await testProject(root => writeFileSync(join(root, '.outrigger'), ''))
    await (await project.store()).put('k', 1, 0)
    expect(existsSync(join(project.places.userState!, 'store.db'))).toBe(true)
    expect(project.places.userState!.startsWith(home)).toBe(true)
    expect(project.modes.list().map(mode => mode.name)).toEqual(['store: not in the project'])
  })

  it('has one keel, and another once its settings changed', async () => {
    const { project, root } = await testProject()
    const first = project.keel()
    expect(project.keel()).toBe(first)
    mkdirSync(join(root, '.outrigger'))
    writeFileSync(join(root, '.outrigger/config.yml'), 'keel: {vendored: [x]}\n')
    expect(project.keel()).toBe(first)
    expect(project.config.refresh()).toBe(true)
    expect(project.keel()).not.toBe(first)
    expect(project.keel().config.vendored).toEqual(['x'])
  })

  it('refuses keel while its section is wrong, and nothing else', async () => {
    const { project } = await testProject(root => {
      mkdirSync(join(root, '.outrigger'))
      writeFileSync(join(root, '.outrigger/config.yml'), 'keel: {hold: never}\n')
    })
    expect(() => project.keel()).toThrow(expect.objectContaining({ code: 'KEEL_BAD_CONFIG' }))
    expect(() => project.keelDeps()).toThrow(expect.objectContaining({ code: 'KEEL_BAD_CONFIG' }))
    expect(await (await project.store()).list('')).toEqual([])
  })

  it('prints the same ids for the same clock and seed', async () => {
    const { project, again } = await testProject()
    const other = await again()
    expect([project.clock.now(), project.clock.newId(), project.clock.randomHex(8)]).toEqual([
      other.clock.now(),
      other.clock.newId(),
      other.clock.randomHex(8),
    ])
  })
})
