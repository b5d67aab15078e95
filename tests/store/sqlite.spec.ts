import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isOfThisBoot, isOwnerAlive, ownerId } from '../../src/node/boot.ts'
import type { Store } from '../../src/ports/store.ts'
import { openSqliteStore, type SqliteOptions } from '../../src/store/sqlite.ts'
import { openDatabase } from '../../src/store/sqlite-module.ts'
import { runModule, sourceUrl } from '../support/child-process.ts'
import { temporaryFolder } from '../support/temporary.ts'

const isDead = (owner: string): boolean => isOfThisBoot(owner) && !isOwnerAlive(owner)
const open = (file: string, options: Partial<SqliteOptions> = {}): Promise<Store> => openSqliteStore(file, { isDead, ...options })

const prelude = `
  import { openSqliteStore } from ${JSON.stringify(sourceUrl('store/sqlite.ts'))}
  import { isOfThisBoot, isOwnerAlive, ownerId } from ${JSON.stringify(sourceUrl('node/boot.ts'))}
  const [file, ...args] = process.argv.slice(1)
  const store = await openSqliteStore(file, { isDead: owner => isOfThisBoot(owner) && !isOwnerAlive(owner) })
`

async function records(store: Store, stream: string): Promise<{ seq: number; record: unknown }[]> {
  const found = []
  for await (const record of store.read(stream, 0)) found.push(record)
  return found
}

describe('several processes', () => {
  it('that open a new store at once and append lose nothing and leave no gap', { timeout: 120_000 }, async () => {
    const file = join(temporaryFolder(), 'store.db')
    const program = `${prelude}
      for (let at = 0; at < 60; at += 1) console.log(await store.append('shared', args[0] + ' ' + at))
      store.close()
    `
    const children = Array.from({ length: 8 }, (_, at) => runModule(program, [file, `p${at}`]))
    const ends = await Promise.all(children.map(child => child.ended))
    expect(children.map(child => child.errors()).join('')).toBe('')
    expect(ends).toEqual(Array(8).fill(0))
    const store = await open(file)
    const found = await records(store, 'shared')
    store.close()
    expect(found.map(({ seq }) => seq)).toEqual(Array.from({ length: 480 }, (_, at) => at + 1))
    expect(new Set(found.map(({ record }) => record)).size).toBe(480)
    // Each process was told the numbers under which its own records stand.
    for (const [at, child] of children.entries()) {
      const told = child.output().trim().split('\n').map(Number)
      expect(told.map(seq => found[seq - 1]?.record)).toEqual(Array.from({ length: 60 }, (_, n) => `p${at} ${n}`))
    }
  })

  it('that count one document up by compare-and-set count every step', { timeout: 120_000 }, async () => {
    const file = join(temporaryFolder(), 'store.db')
    const program = `${prelude}
      for (let done = 0; done < 25; ) {
        const now = await store.get('count')
        try { await store.put('count', (now?.value ?? 0) + 1, now?.version ?? 0); done += 1 }
        catch (error) { if (error.code !== 'STORE_VERSION_MOVED') throw error }
      }
      store.close()
    `
    const children = Array.from({ length: 4 }, () => runModule(program, [file]))
    expect(await Promise.all(children.map(child => child.ended))).toEqual([0, 0, 0, 0])
    const store = await open(file)
    expect(await store.get('count')).toEqual({ value: 100, version: 100 })
    store.close()
  })

  it('give a lease to one of them, and to the next at once when the holder is killed', async () => {
    const file = join(temporaryFolder(), 'store.db')
    const holder = runModule(
      `${prelude}
      const lease = await store.lease('k', ownerId(), 600_000)
      console.log(lease.held)
      setInterval(() => {}, 1000)
    `,
      [file],
    )
    await new Promise(resolve => holder.process.stdout.once('data', resolve))
    const store = await open(file)
    const refused = await store.lease('k', ownerId(), 1_000)
    expect(refused).toMatchObject({ held: false, holder: expect.stringMatching(new RegExp(`^${holder.process.pid}:`)) })
    expect((await store.leases()).map(lease => lease.key)).toEqual(['k'])
    holder.process.kill('SIGKILL')
    await holder.ended
    expect(await store.lease('k', ownerId(), 1_000)).toMatchObject({ held: true, owner: ownerId() })
    store.close()
  })
})

describe('a killed writer', () => {
  it('loses nothing that was acknowledged, and the next opens what it left', { timeout: 120_000 }, async () => {
    const file = join(temporaryFolder(), 'store.db')
    const program = `${prelude}
      import { writeSync } from 'node:fs'
      for (let at = 0; ; at += 1) {
        const seq = await store.append('log', { round: args[0], at, pad: 'x'.repeat(at % 7 * 900) })
        const { version } = await store.put('head', { seq }, (await store.get('head'))?.version ?? 0)
        writeSync(1, seq + ' ' + version + '\\n')
      }
    `
    let acknowledged = 0
    let version = 0
    for (let round = 0; round < 10; round += 1) {
      const child = runModule(program, [file, String(round)])
      await new Promise(resolve => child.process.stdout.once('data', resolve))
      await new Promise(resolve => setTimeout(resolve, round * 9))
      child.process.kill('SIGKILL')
      expect(await child.ended).toBe('SIGKILL')
      const lines = child
        .output()
        .split('\n')
        .filter(line => /^\d+ \d+$/.test(line))
      const last = lines.at(-1)!.split(' ').map(Number)
      acknowledged = last[0]!
      version = last[1]!
      const store = await open(file)
      const found = await records(store, 'log')
      const head = await store.get('head')
      store.close()
      expect(found.length).toBeGreaterThanOrEqual(acknowledged)
      expect(found.map(({ seq }) => seq)).toEqual(found.map((_, at) => at + 1))
      expect(head!.version).toBeGreaterThanOrEqual(version)
    }
    expect(acknowledged).toBeGreaterThan(10)
  })
})

describe('a file that is no store', () => {
  it.each([
    ['text', 'this is no database, however long it may be\n'.repeat(50)],
    ['zeroes in the header', `SQLite format 3\u0000${'\u0000'.repeat(4_000)}`],
  ])('of %s is refused as damaged, and left as it is', async (_what, content) => {
    const file = join(temporaryFolder(), 'store.db')
    writeFileSync(file, content)
    await expect(open(file)).rejects.toMatchObject({
      code: 'STORE_DAMAGED',
      exit: 3,
      subject: file,
      hint: expect.stringContaining(file),
    })
    expect(readFileSync(file, 'utf8')).toBe(content)
  })

  it('of another program is refused', async () => {
    const file = join(temporaryFolder(), 'store.db')
    const database = openDatabase(file)
    database.exec('CREATE TABLE theirs (x)')
    database.close()
    await expect(open(file)).rejects.toMatchObject({ code: 'STORE_DAMAGED', message: expect.stringContaining('another program') })
  })

  it('but of a later version is refused with the way out', async () => {
    const file = join(temporaryFolder(), 'store.db')
    ;(await open(file)).close()
    const database = openDatabase(file)
    database.exec('PRAGMA user_version = 99')
    database.close()
    await expect(open(file)).rejects.toMatchObject({
      code: 'STORE_TOO_NEW',
      exit: 3,
      hint: expect.stringContaining('update Outrigger'),
    })
  })

  it('whose pages were cut off is a coded error, not a crash', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'store.db')
    const store = await open(file)
    for (let at = 0; at < 200; at += 1) await store.append('log', 'x'.repeat(2_000))
    store.close()
    const cut = join(folder, 'cut.db')
    copyFileSync(file, cut)
    truncateSync(cut, 4096 * 3)
    const use = async (): Promise<void> => {
      const broken = await open(cut)
      try {
        await records(broken, 'log')
      } finally {
        broken.close()
      }
    }
    await expect(use()).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  })

  it('in a folder that is not there is unavailable', async () => {
    await expect(open(join(temporaryFolder(), 'none', 'store.db'))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', exit: 3 })
  })
})

it('waits for another writer and then says that it is busy', async () => {
  const file = join(temporaryFolder(), 'store.db')
  const store = await open(file, { waitMs: 300 })
  const other = openDatabase(file)
  other.exec('BEGIN IMMEDIATE')
  await expect(store.append('log', 1)).rejects.toMatchObject({ code: 'STORE_BUSY', exit: 4 })
  const waiting = store.append('log', 2)
  other.exec('COMMIT')
  expect(await waiting).toBe(1)
  other.close()
  store.close()
})

it('says that it is closed', async () => {
  const store = await open(join(temporaryFolder(), 'store.db'))
  store.close()
  store.close()
  await expect(store.get('k')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
})

it('opens without the notice that the module is experimental, and lets other warnings through', async () => {
  const file = join(temporaryFolder(), 'store.db')
  const child = runModule(
    `${prelude}
    process.emitWarning('mine', 'ExperimentalWarning')
    process.emitWarning('SQLite is slow', 'DeprecationWarning')
    store.close()
  `,
    [file],
    { ...process.env, NODE_OPTIONS: '', NODE_NO_WARNINGS: '' },
  )
  expect(await child.ended).toBe(0)
  expect(child.errors()).toContain('ExperimentalWarning: mine')
  expect(child.errors()).toContain('DeprecationWarning: SQLite is slow')
  expect(child.errors()).not.toMatch(/ExperimentalWarning: SQLite/)
})

it('keeps the mode of a file that only the user can read', async () => {
  const file = join(temporaryFolder(), 'store.db')
  writeFileSync(file, '', { mode: 0o600 })
  const store = await open(file)
  await store.append('log', 1)
  expect(statSync(`${file}-wal`).mode & 0o777).toBe(0o600)
  store.close()
})
