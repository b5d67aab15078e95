/** The rows of the acceptance table that end a worker or a session, on real workers. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/ports/store.ts'
import type { RunOptions, RunResult } from '../../src/repl/types.ts'
import { memoryStore } from '../support/memory-store.ts'
import { sleep, startSession, type TestSession } from '../support/repl/session.ts'
import { temporaryFolder } from '../support/temporary.ts'

async function killed({ session }: TestSession): Promise<void> {
  expect(session.kill9()).toBeGreaterThan(0)
  await sleep(30)
}

/** As after kill -9: another process has what was written so far. */
async function asLeft(store: Store): Promise<Store> {
  const copy = memoryStore()
  for await (const { record } of store.read('repl/test/journal', 0)) await copy.append('repl/test/journal', record)
  return copy
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

describe('what a cell asks of states', () => {
  it('takes effect after it, also when it throws', async () => {
    const test = await startSession()
    const asked = await test.run('const kept = 1; return await repl.state({ action: "save", name: "s" })')
    expect(asked.value).toEqual({ accepted: true })
    expect((await test.session.state()).named).toMatchObject([{ name: 's', cell: 1 }])
    const failed = await test.run('const late = 2; await repl.state({ action: "reset" }); throw new Error("no")')
    expect(failed.outcome).toBe('threw')
    expect((await test.run('return [typeof kept, typeof late]')).value).toEqual(['undefined', 'undefined'])
    expect((await test.run('await repl.state({ action: "restore", name: "none" })')).error?.message).toContain(
      'REPL_UNKNOWN_STATE',
    )
  })
})

describe('secrets', () => {
  it('are in no record and no blob, and come back from the environment', async () => {
    const store = memoryStore()
    const cwd = temporaryFolder()
    const env = { API_TOKEN: 'very-secret-value-1' }
    const first = await startSession({ store, cwd, env })
    await first.run('const config = { token: "very-secret-value-1" }; const plain = 1; console.log(config.token)')
    await sleep(50)
    await first.session.close()
    for (const key of await store.list('')) {
      for await (const { record } of store.read(key, 0)) expect(JSON.stringify(record)).not.toContain('very-secret')
      const blob = ((await store.get(key))?.value ?? {}) as { readonly text?: string; readonly base64?: string }
      expect(blob.text ?? '').not.toContain('very-secret')
      expect(Buffer.from(blob.base64 ?? '', 'base64').includes('very-secret')).toBe(false)
    }
    const second = await startSession({ store, cwd, env })
    expect((await second.run('return [config.token, plain]')).value).toEqual(['very-secret-value-1', 1])
    await second.session.close()
    const third = await startSession({ store, cwd })
    const after = await third.run('return [typeof config, plain]')
    expect(after.value).toEqual(['undefined', 1])
    expect(after.recovery?.bindings).toContainEqual({ name: 'config', status: 'lost', reason: 'secret', cell: 1 })
  })
})

describe('a fork', () => {
  it('has the names of its cell and leaves the old session as it is', async () => {
    const store = memoryStore()
    const test = await startSession({
      store,
      more: { openFork: async to => ({ store, name: to, close: () => undefined }) },
    })
    await test.cells('const n = { v: 1 }', 'n.v = 2')
    await sleep(50)
    await test.session.fork(1, 'other')
    const other = await startSession({ store, more: { name: 'other' } })
    expect((await other.run('return n.v')).value).toBe(1)
    expect((await test.run('return n.v')).value).toBe(2)
    await expect(test.session.fork(1, 'other')).rejects.toMatchObject({ code: 'REPL_BAD_REQUEST' })
  })
})

describe('a cell that was interrupted with its process', () => {
  it('is told once, with its calls, and its state is the one before it', async () => {
    const store = memoryStore()
    const cwd = temporaryFolder()
    const first = await startSession({ store, cwd, owner: '1:boot:0' })
    await first.run('let n = 1')
    let called = (): void => {}
    const asked = new Promise<void>(resolve => (called = resolve))
    const options: RunOptions = {
      tools: [{ name: 'slow' }],
      call: () => {
        called()
        return new Promise(() => {})
      },
    }
    const running = first.run('n = 2; await tools.slow({})', options)
    running.catch(() => undefined)
    await asked
    const second = await startSession({ store: await asLeft(store), cwd })
    const after = await second.run('return n')
    expect(after).toMatchObject({ value: 1, recovery: { interrupted: { cell: 2, calls: ['tools.slow'] } } })
    expect((await second.run('return n')).recovery).toBeUndefined()
  })
})

describe('an answer that tells what was lost', () => {
  const lost = (result: RunResult) => result.recovery?.bindings.filter(each => each.status === 'lost').map(each => each.name)

  it('is given again by the next process, unless a cell after it shows that it arrived', async () => {
    const cwd = temporaryFolder()
    const first = await startSession({ cwd })
    await first.cells('import net from "node:net"; const srv = net.createServer().listen(0)', 'const n = 1')
    const second = await startSession({ store: await asLeft(first.store), cwd })
    expect(lost(await second.run('return n'))).toEqual(['srv'])
    const third = await startSession({ store: await asLeft(second.store), cwd })
    expect(lost(await third.run('return n'))).toEqual(['srv'])
    await third.run('return n')
    const fourth = await startSession({ store: await asLeft(third.store), cwd })
    expect(lost(await fourth.run('return n'))).toEqual([])
  })

  it('says nothing again of a name that was declared anew', async () => {
    const cwd = temporaryFolder()
    const first = await startSession({ cwd })
    await first.run('import net from "node:net"; let srv = net.createServer().listen(0)')
    const second = await startSession({ store: await asLeft(first.store), cwd })
    expect(lost(await second.run('let srv = 1'))).toEqual(['srv'])
    const third = await startSession({ store: await asLeft(second.store), cwd })
    const after = await third.run('return srv')
    expect(after.value).toBe(1)
    expect(lost(after)).toEqual([])
  })

  it('is given again for a cell that was interrupted, too', async () => {
    const cwd = temporaryFolder()
    const first = await startSession({ cwd })
    await first.run('const n = 1')
    void first.run('await new Promise(() => {})').catch(() => undefined)
    await sleep(100)
    const second = await startSession({ store: await asLeft(first.store), cwd })
    expect((await second.run('return n')).recovery?.interrupted?.cell).toBe(2)
    const third = await startSession({ store: await asLeft(second.store), cwd })
    expect((await third.run('return n')).recovery?.interrupted?.cell).toBe(2)
    await third.run('return n')
    const fourth = await startSession({ store: await asLeft(third.store), cwd })
    expect((await fourth.run('return n')).recovery?.interrupted).toBeUndefined()
  })

  it('is given once, also when the worker died as the cell was sent to it', async () => {
    const test = await startSession()
    await test.cells('import net from "node:net"; const srv = net.createServer().listen(0)', 'const n = 1')
    // Nobody has seen yet that it is gone.
    test.session.kill9()
    expect(lost(await test.run('return n'))).toEqual(['srv'])
    await killed(test)
    expect(lost(await test.run('return n'))).toEqual([])
    expect((await test.session.state()).lost).toMatchObject([{ name: 'srv', reason: 'open-handle', cell: 1 }])
  })

  it('is given once by a process that loses its worker again', async () => {
    const test = await startSession()
    await test.cells('import net from "node:net"; const srv = net.createServer().listen(0)', 'const n = 1')
    await killed(test)
    expect(lost(await test.run('return n'))).toEqual(['srv'])
    await killed(test)
    expect(lost(await test.run('return n'))).toEqual([])
  })
})
