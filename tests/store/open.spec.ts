import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/ports/store.ts'
import type { StoreFile } from '../../src/store/location.ts'
import { openStore } from '../../src/store/open.ts'
import { temporaryFolder } from '../support/temporary.ts'

const isRoot = process.getuid?.() === 0

interface Opened {
  readonly store: Store
  readonly root: string
  readonly state: string
  readonly userState: string
  readonly places: StoreFile[]
}

function opened(prepare: (root: string) => void = () => {}): Opened {
  const folder = temporaryFolder()
  const root = join(folder, 'project')
  mkdirSync(root)
  prepare(root)
  const state = join(root, '.outrigger/state')
  const userState = join(folder, 'home/.local/state/outrigger/0123456789abcdef')
  const places: StoreFile[] = []
  const store = openStore({ state, userState }, { isDead: () => false }, place => places.push(place))
  return { store, root, state, userState, places }
}

describe('a store that is not there', () => {
  it('answers nothing and makes nothing when it is read', async () => {
    const { store, root, userState } = opened()
    expect(await store.get('k')).toBeUndefined()
    expect(await store.list('')).toEqual([])
    expect(await store.leases()).toEqual([])
    expect(await store.remove('k')).toBe(false)
    for await (const _record of store.read('log', 0)) throw new Error('nothing can be there')
    store.close()
    expect(readdirSync(root)).toEqual([])
    expect(existsSync(userState)).toBe(false)
  })

  it('is made by the first write, in a folder that git ignores and only the user can enter', async () => {
    const { store, state, root, places } = opened()
    expect(await store.append('log', 1)).toBe(1)
    expect(await store.get('k')).toBeUndefined()
    expect(readFileSync(join(state, '.gitignore'), 'utf8')).toBe('*\n')
    expect(statSync(state).mode & 0o777).toBe(0o700)
    expect(statSync(join(state, 'store.db')).mode & 0o777).toBe(0o600)
    expect(statSync(join(root, '.outrigger')).mode & 0o077).not.toBe(0)
    expect(existsSync(join(root, '.outrigger/.gitignore'))).toBe(false)
    expect(places).toEqual([{ file: join(state, 'store.db') }])
    store.close()
  })

  it('is seen as soon as another handle made it', async () => {
    const { store, state, userState } = opened()
    expect(await store.get('k')).toBeUndefined()
    const other = openStore({ state, userState }, { isDead: () => false })
    await other.put('k', 1, 0)
    expect((await store.get('k'))?.value).toBe(1)
    other.close()
    store.close()
  })

  it('is opened once by many first calls', async () => {
    const { store, places } = opened()
    expect((await Promise.all([1, 2, 3, 4].map(n => store.append('log', n)))).sort()).toEqual([1, 2, 3, 4])
    expect(places).toHaveLength(1)
    store.close()
  })

  it('keeps an ignore file that a person wrote', async () => {
    const { store, state } = opened(root => {
      mkdirSync(join(root, '.outrigger/state'), { recursive: true })
      writeFileSync(join(root, '.outrigger/state/.gitignore'), 'mine\n')
    })
    await store.append('log', 1)
    expect(readFileSync(join(state, '.gitignore'), 'utf8')).toBe('mine\n')
    store.close()
  })
})

describe('a project that cannot be written', () => {
  // A file in the folder's place refuses everyone, also a user whom permissions do not bind.
  const blocked = (root: string): void => writeFileSync(join(root, '.outrigger'), '')

  it("has its store in the user's state folder", async () => {
    const { store, root, userState, places } = opened(blocked)
    await store.append('log', 1)
    expect(existsSync(join(userState, 'store.db'))).toBe(true)
    expect(places).toEqual([{ file: join(userState, 'store.db'), notInProject: expect.stringMatching(/^E(NOTDIR|EXIST)$/) }])
    expect(readdirSync(root)).toEqual(['.outrigger'])
    store.close()
  })

  it('finds that store again', async () => {
    const { store, state, userState } = opened(blocked)
    await store.append('log', 1)
    store.close()
    const again = openStore({ state, userState }, { isDead: () => false })
    expect(await again.append('log', 2)).toBe(2)
    again.close()
  })

  it('says so when there is no other place', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, '.outrigger'), '')
    const store = openStore({ state: join(folder, '.outrigger/state'), userState: null }, { isDead: () => false })
    await expect(store.append('log', 1)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', exit: 3 })
    // The next call looks again, and finds the cause gone.
    const other = temporaryFolder()
    const later = openStore({ state: join(other, 'x/state'), userState: null }, { isDead: () => false })
    writeFileSync(join(other, 'x'), '')
    await expect(later.append('log', 1)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    rmSync(join(other, 'x'))
    expect(await later.append('log', 1)).toBe(1)
    later.close()
  })

  it.skipIf(isRoot)('is one whose folder is closed', async () => {
    const { store, userState } = opened(root => chmodSync(root, 0o500))
    await store.append('log', 1)
    expect(existsSync(join(userState, 'store.db'))).toBe(true)
    store.close()
  })
})

describe('a store that is removed while it is open', () => {
  it('is made anew by the next write, and counts that it was', async () => {
    const { store, state } = opened()
    await store.put('k', 1, 0)
    await store.append('log', 1)
    expect(store.generation?.()).toBe(0)
    rmSync(state, { recursive: true })
    expect(store.generation?.()).toBe(1)
    expect(await store.get('k')).toBeUndefined()
    expect(existsSync(state)).toBe(false)
    await expect(store.put('k', 2, 1)).rejects.toMatchObject({ code: 'STORE_VERSION_MOVED' })
    expect(await store.append('log', 2)).toBe(1)
    store.close()
    const other = openStore({ state, userState: null }, { isDead: () => false })
    for await (const { record } of other.read('log', 0)) expect(record).toBe(2)
    other.close()
  })

  it('is the one that another process put in its place', async () => {
    const { store, state, userState } = opened()
    await store.put('k', 'old', 0)
    rmSync(state, { recursive: true })
    const other = openStore({ state, userState }, { isDead: () => false })
    await other.put('k', 'new', 0)
    expect((await store.get('k'))?.value).toBe('new')
    await store.append('log', 1)
    expect(await other.append('log', 2)).toBe(2)
    store.close()
    // What the first one closes must not take anything of this one along.
    expect(await other.append('log', 3)).toBe(3)
    other.close()
  })

  it('is not made again where its project went away', async () => {
    const { store: _, root, state, userState } = opened()
    const store = openStore({ root, state, userState: null }, { isDead: () => false })
    await store.put('k', 1, 0)
    renameSync(root, `${root}-moved`)
    await expect(store.append('log', 1)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect([existsSync(root), existsSync(userState)]).toEqual([false, false])
    store.close()
  })
})
