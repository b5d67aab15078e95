/** The rows of the acceptance table that end a worker or a session, on real workers. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { RunOptions } from '../../src/repl/types.ts'
import { memoryStore } from '../support/memory-store.ts'
import { sleep, startSession, type TestSession } from '../support/repl/session.ts'
import { temporaryFolder } from '../support/temporary.ts'

async function killed({ session }: TestSession): Promise<void> {
  expect(session.kill9()).toBeGreaterThan(0)
  await sleep(30)
}

describe('a worker that was killed', () => {
  it('is replaced by one that has the names', async () => {
    const test = await startSession()
    await test.run('const list = [1, 2]')
    await killed(test)
    expect(await test.run('return list')).toMatchObject({
      value: [1, 2],
      recovery: { reason: 'worker-exit', counts: { lost: 0 } },
    })
    expect((await test.run('return list')).recovery).toBeUndefined()
  })

  it('is replaced without doing again what a cell did outside', async () => {
    const test = await startSession()
    const first = await test.run(
      'import fs from "node:fs"; fs.appendFileSync("log.txt", "x"); const size = fs.statSync("log.txt").size',
    )
    expect(first.durability.class).toBe('effect')
    await killed(test)
    const after = await test.run('return [size, fs.readFileSync("log.txt", "utf8")]')
    expect(after.value).toEqual([1, 'x'])
    expect(after.recovery?.bindings).toContainEqual({ name: 'size', status: 'snapshot', cell: 1 })
    expect(readFileSync(join(test.cwd, 'log.txt'), 'utf8')).toBe('x')
  })

  it('gives time and random numbers as they were', async () => {
    const test = await startSession()
    await test.run('const stamp = Date.now(); const pick = Math.random()')
    const before = (await test.run('return [stamp, pick]')).value
    await killed(test)
    expect((await test.run('return [stamp, pick]')).value).toEqual(before)
  })

  it('has closures over local state as they were', async () => {
    const test = await startSession()
    await test.run('const counter = (() => { let c = 0; return { up: () => ++c } })(); counter.up(); counter.up()')
    await killed(test)
    const after = await test.run('return counter.up()')
    expect(after.value).toBe(3)
    expect(after.recovery?.bindings).toContainEqual({ name: 'counter', status: 'replayed', cell: 1 })
  })

  it('lacks what cannot be had again, and says so by name', async () => {
    const test = await startSession()
    const first = await test.run('import net from "node:net"; const srv = net.createServer().listen(0)')
    expect(first.durability.atRisk).toEqual([{ name: 'srv', reason: 'open-handle' }])
    await killed(test)
    const after = await test.run('return typeof srv')
    expect(after.value).toBe('undefined')
    expect(after.recovery?.bindings).toContainEqual({ name: 'srv', status: 'lost', reason: 'open-handle', cell: 1 })
    const read = await test.run('return srv')
    expect(read).toMatchObject({ outcome: 'threw', error: { code: 'OUT-R003' } })
    expect(read.recovery).toBeUndefined()
    expect(await test.run('const srv = 1; return srv')).toMatchObject({ value: 1 })
  })

  it('has the answers of tools without asking again', async () => {
    const test = await startSession()
    let asked = 0
    const options: RunOptions = {
      tools: [{ name: 'next' }],
      call: async () => ({ ok: true, value: ++asked }),
    }
    const before = await test.run('const t = await tools.next({}); return t', options)
    await killed(test)
    expect((await test.run('return t', options)).value).toBe(before.value)
    expect(asked).toBe(1)
  })
})

describe('another head', () => {
  it('is a state that was saved', async () => {
    const test = await startSession()
    await test.run('const v = 1')
    await test.session.save('base')
    await test.run('const v = 2')
    expect(await test.session.restore({ name: 'base' })).toMatchObject({ head: 1, recovery: { reason: 'restore' } })
    expect((await test.run('return v')).value).toBe(1)
  })

  it('is a cell; what comes after has it as its parent', async () => {
    const test = await startSession()
    await test.cells('const w = 1', 'const w = 2')
    await test.session.restore({ cell: 1 })
    expect(await test.run('return w')).toMatchObject({ value: 1, cell: 3 })
    expect((await test.session.history()).cells.at(-1)).toMatchObject({ cell: 3, parent: 1 })
  })
})

describe('a session that was closed', () => {
  it('goes on in another process', async () => {
    const store = memoryStore()
    const cwd = temporaryFolder()
    const first = await startSession({ store, cwd })
    await first.run('const p = 1')
    await first.session.close()
    const second = await startSession({ store, cwd })
    expect(await second.run('return p')).toMatchObject({ value: 1, recovery: { reason: 'host-restart' } })
    expect((await second.run('return p')).recovery).toBeUndefined()
  })
})
