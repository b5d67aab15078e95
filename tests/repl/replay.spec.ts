/** What comes back of whole sessions when their worker is killed: recorded, stamped and stored parts together. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startSession, type TestSession } from '../support/repl/session.ts'

async function killed({ session }: TestSession): Promise<void> {
  session.kill9()
  while ((await session.state()).worker !== null) await new Promise(resolve => setTimeout(resolve, 5))
}

const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

describe('a worker that was killed', () => {
  it('comes back with all that callbacks did after their cell', async () => {
    const own = await startSession()
    await own.run('let n = 0; const times = []; const every = setInterval(() => { n++; times.push(Date.now()) }, 5)')
    await pause(60)
    const before = await own.run('clearInterval(every); return [n, times, Math.random()]')
    expect((before.value as number[])[0]).toBeGreaterThan(3)
    await killed(own)
    const after = await own.run('return [n, times]')
    expect(after).toMatchObject({ outcome: 'ok', recovery: { counts: { lost: 0 } } })
    expect(after.value).toEqual((before.value as unknown[]).slice(0, 2))
  })

  it('comes back with what callbacks of one cell did while another one waited, in the same order', async () => {
    const own = await startSession({ config: { checkpoint: 'off' } })
    await own.run('const seen = []; const every = setInterval(() => { seen.push("tick", performance.now()) }, 7)')
    await own.run(
      'for (let i = 0; i < 5; i++) { await new Promise(done => setTimeout(done, 10)); seen.push("cell") } const count = seen.length',
    )
    const before = await own.run('clearInterval(every); return [count, seen]')
    expect((before.value as unknown[][])[1]!.filter(each => each === 'tick').length).toBeGreaterThan(3)
    await killed(own)
    const after = await own.run('return [count, seen]')
    expect(after).toMatchObject({ outcome: 'ok', value: before.value, recovery: { counts: { lost: 0 } } })
    await killed(own)
    expect((await own.run('return [count, seen]')).value).toEqual(before.value)
  })

  it('comes back with what callbacks of several cells did between others, in one order', async () => {
    const own = await startSession({ config: { checkpoint: 'off' } })
    await own.run('let a = 0; const first = setInterval(() => a++, 4)')
    await own.run('let b = 0; const second = setInterval(() => { b = (b * 3 + a) % 1_000_003 }, 6)')
    await pause(60)
    await own.run('await new Promise(done => setTimeout(done, 30)); const c = [a, b]')
    await pause(30)
    const before = await own.run('clearInterval(first); clearInterval(second); return [a, b, c]')
    await killed(own)
    const after = await own.run('return [a, b, c]')
    expect(after).toMatchObject({ outcome: 'ok', value: before.value, recovery: { counts: { lost: 0 } } })
  })

  it('calls exact what was run again and is the same as its copy', async () => {
    const own = await startSession()
    await own.run(
      'const total = { n: 1 }; const counter = (() => { let c = 0; return () => { total.n = ++c; return c } })(); counter(); counter()',
    )
    await own.session.save('copied')
    await killed(own)
    const { value, recovery } = await own.run('return [total.n, counter()]')
    expect(value).toEqual([2, 3])
    expect(recovery?.bindings).toMatchObject([
      { name: 'counter', status: 'replayed' },
      { name: 'total', status: 'exact' },
    ])
    expect(recovery?.counts).toEqual({ exact: 1, replayed: 1, snapshot: 0, lost: 0 })
  })

  it('has one class of each, whether its instances came from copies or from a cell that was run again', async () => {
    const own = await startSession()
    await own.run(
      `class A { v = 1 } function twice(n) { return n * 2 } const half = n => n / 2
       const box = (() => { let c = 0; const a = new A(); return { up: () => ++c, a, make: () => new A(), twice, half } })()`,
    )
    await own.run('const a = new A(); const kept = [twice, half]; require("fs").writeFileSync("effect", "")')
    await killed(own)
    const { value, recovery } = await own.run(
      'return [a instanceof A, box.a instanceof A, box.make() instanceof A, kept[0] === twice, box.twice === twice, kept[1] === half, box.half === half]',
    )
    expect(value).toEqual(Array(7).fill(true))
    expect(recovery?.counts).toEqual({ exact: 3, replayed: 1, snapshot: 2, lost: 0 })
  })

  it('hands out no copy of a time before a callback, and repeats none that touched the outside', async () => {
    const own = await startSession()
    await own.run('const log = []; setTimeout(() => { log.push("late"); require("fs").appendFileSync("out", "x") }, 30)')
    await pause(80)
    await own.run('return 1')
    await killed(own)
    const after = await own.run('return typeof log === "undefined" ? "gone" : log')
    expect(['gone', ['late']]).toContainEqual(after.value)
    expect(after.recovery?.counts.lost).toBe(after.value === 'gone' ? 1 : 0)
    expect(readFileSync(join(own.cwd, 'out'), 'utf8')).toBe('x')
  })

  it('runs a closure over a file again while the file is the same, and loses it when it is another', async () => {
    const own = await startSession()
    writeFileSync(join(own.cwd, 'in.txt'), '7')
    const made = await own.run(
      'const box = (() => { const text = require("fs").readFileSync("in.txt", "utf8"); return { get: () => text } })()',
    )
    expect(made.durability).toMatchObject({ class: 'stamped', effects: [] })
    await killed(own)
    expect(await own.run('return box.get()')).toMatchObject({ value: '7', recovery: { counts: { lost: 0 } } })
    await own.session.save('copied')
    writeFileSync(join(own.cwd, 'in.txt'), '8')
    await killed(own)
    expect(await own.run('return typeof box')).toMatchObject({
      value: 'undefined',
      recovery: { counts: { lost: 1 }, bindings: [{ name: 'box', status: 'lost', reason: 'file-changed' }] },
    })
    expect(await own.run('return box')).toMatchObject({ outcome: 'threw', error: { code: 'OUT-R003', name: 'ReferenceError' } })
  })

  it('keeps what objects share, their classes, and what functions see', async () => {
    const own = await startSession()
    await own.run(
      'class Point { x = 1; move() { this.x++; return this } } const p = new Point().move(); const step = 2; function far() { return p.x * step }',
    )
    await own.run('const kept = { p, far, seen: new Map([[p, "p"]]) }; require("fs").writeFileSync("effect", "")')
    await killed(own)
    expect(
      (await own.run('p.move(); return [kept.p === p, kept.far === far, far(), kept.seen.get(p), p instanceof Point, kept.p.x]'))
        .value,
    ).toEqual([true, true, 6, 'p', true, 3])
  })

  it('does nothing outside again: files, processes, tools', async () => {
    const own = await startSession()
    const calls: unknown[] = []
    const options = {
      tools: [{ name: 'next' }],
      call: async ({ arguments: args }: { readonly arguments: unknown }) => {
        calls.push(args)
        return { ok: true as const, value: calls.length }
      },
    }
    await own.run(
      'import fs from "node:fs"; import { execSync } from "node:child_process"; fs.appendFileSync("log", "a"); execSync("echo b >> log"); const first = await tools.next({ n: 1 })',
      options,
    )
    const counter =
      'const counter = (() => { let c = 0; return { up: () => ++c } })(); counter.up(); const second = await tools.next({ n: 2 }); const at = Date.now(); return [second, at]'
    const ran = await own.run(counter, options)
    await killed(own)
    const again = await own.run('return [first, second, at, counter.up()]', options)
    expect(again.value).toEqual([1, ...(ran.value as number[]), 2])
    expect(calls).toHaveLength(2)
    expect(readFileSync(join(own.cwd, 'log'), 'utf8')).toBe('ab\n')
  })

  it('is where the session was, and has its environment', async () => {
    const own = await startSession()
    await own.run('require("fs").mkdirSync("inner"); process.chdir("inner")')
    await killed(own)
    expect((await own.run('return process.cwd()')).value).toBe(join(own.cwd, 'inner'))
  })

  it('comes back after being killed again and again, with the same values', async () => {
    const own = await startSession()
    await own.run(
      'const id = crypto.randomUUID(); const r = Math.random(); let total = 0; const add = n => { total += n; return total }; const list = []',
    )
    const before = (await own.run('return [id, r]')).value
    for (let round = 1; round <= 3; round++) {
      await killed(own)
      expect((await own.run('list.push(add(2)); return [id, r, total, list.length]')).value).toEqual([
        ...(before as unknown[]),
        round * 2,
        round,
      ])
    }
  })
})
