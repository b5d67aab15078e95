/** What ambient sources gave a cell, it gets again. */
import { describe, expect, it } from 'vitest'
import { sharedWorker, startRawWorker } from '../../support/repl/raw-worker.ts'

/** Run it, run it again in another worker, and compare. */
async function twice(source: string, options: { call?: (name: string, args: unknown) => unknown } = {}) {
  const first = await startRawWorker()
  const ran = await first.run(source, options)
  const second = await startRawWorker({ cwd: first.cwd })
  const again = await second.again(ran, source)
  return { ran, again, second }
}

const sources: readonly (readonly [what: string, source: string])[] = [
  ['Date.now', 'return [Date.now(), Date.now()]'],
  ['new Date', 'return [new Date().toISOString(), Date(), new (class extends Date {})().getTime()]'],
  [
    'performance',
    'return [performance.now(), performance.timeOrigin, performance.mark("a").startTime, performance.measure("m").duration]',
  ],
  [
    'process.hrtime',
    'return [process.hrtime(), String(process.hrtime.bigint()), process.uptime(), process.hrtime(process.hrtime())]',
  ],
  [
    'Intl',
    'return [new Intl.DateTimeFormat("en", { second: "numeric", fractionalSecondDigits: 3 }).format(), new Intl.DateTimeFormat().formatToParts().length]',
  ],
  ['Math.random', 'return Array.from({ length: 50 }, Math.random)'],
  [
    'crypto',
    'return [crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(8))], require("crypto").randomBytes(4).toString("hex"), require("node:crypto").randomInt(1e9), require("crypto").randomFillSync(Buffer.alloc(6), 2).toString("hex")]',
  ],
  ['imported crypto', 'import { randomUUID, randomInt } from "node:crypto"; return [randomUUID(), randomInt(5, 500)]'],
  [
    'crypto callbacks',
    'import { randomBytes } from "node:crypto"; import { promisify } from "node:util"; return (await promisify(randomBytes)(5)).toString("hex")',
  ],
  [
    'os and process',
    'import os from "node:os"; return [os.freemem(), os.hostname(), process.memoryUsage().rss, process.memoryUsage.rss(), process.pid, process.cpuUsage()]',
  ],
  [
    'timers in their order',
    'const order = []; await Promise.all([30, 10, 20].map(ms => new Promise(done => setTimeout(() => { order.push(ms, Date.now()); done() }, ms)))); return order',
  ],
  [
    'an interval',
    'let n = 0; const at = []; await new Promise(done => { const i = setInterval(() => { at.push(performance.now()); if (++n === 4) { clearInterval(i); done() } }, 3) }); return at',
  ],
  [
    'immediates',
    'const order = []; setTimeout(() => order.push("t"), 0); await new Promise(done => setImmediate(() => { order.push("i"); done() })); await new Promise(done => setTimeout(done, 5)); return order',
  ],
  [
    'timers/promises',
    'import { setTimeout as wait, setImmediate as soon, setInterval as every, scheduler } from "node:timers/promises"; const seen = [await wait(5, "a"), await soon("b")]; for await (const x of every(2, "c")) { seen.push(x); if (seen.length > 4) break } await scheduler.wait(3); await scheduler.yield(); return seen',
  ],
  ['promisified timers', 'import { promisify } from "node:util"; return await promisify(setTimeout)(4, "v")'],
  [
    'AbortSignal.timeout',
    'const s = AbortSignal.timeout(5); await new Promise(done => s.addEventListener("abort", done)); return [s.reason.name, s.reason instanceof DOMException]',
  ],
  [
    'which of two is first',
    'const a = new Promise(r => setTimeout(r, 1 + Math.random() * 4, "a")); const b = new Promise(r => setTimeout(r, 1 + Math.random() * 4, "b")); return await Promise.race([a, b])',
  ],
]

describe('a cell that is run again', () => {
  const [one, two] = [sharedWorker(), sharedWorker()]
  it.each(sources)(
    'gets what it got from %s',
    async (_, source) => {
      const ran = await (await one()).run(source)
      const again = await (await two()).again(ran, source)
      expect(ran.done.failure).toBeUndefined()
      expect(ran.done).toMatchObject({ outcome: 'ok', effects: [], stamps: [] })
      expect(again.done.divergence).toBeUndefined()
      expect(again.value).toEqual(ran.value)
      expect(ran.done.tape).toBeDefined()
    },
    20_000,
  )

  it('gets the answers of its calls, in the order in which they came, and calls nobody', async () => {
    const source =
      'const seen = []; const one = n => tools.echo({ n }).then(v => seen.push(v.n), e => seen.push(e.name, e.message)); await Promise.all([one(1), one(2), one(3)]); return seen'
    const call = async (_: string, args: unknown): Promise<unknown> => {
      const { n } = args as { n: number }
      await new Promise(resolve => setTimeout(resolve, (4 - n) * 15))
      if (n === 2) throw new Error('no two')
      return args
    }
    const { ran, again, second } = await twice(source, { call })
    expect(ran.value).toEqual([3, 'ToolCallError', 'no two', 1])
    expect(again.value).toEqual(ran.value)
    expect(second.said.some(message => message.t === 'call')).toBe(false)
  })

  it('prints nothing', async () => {
    const { ran, again } = await twice('console.log("seen"); process.stdout.write("also"); return Date.now()')
    expect(ran.printed).toBe('seen\nalso')
    expect(again.printed).toBe('')
  })
})

describe('a replay ends as diverged', () => {
  it('when it asks for more than was recorded', async () => {
    const worker = await startRawWorker()
    const ran = await worker.run('return Date.now()')
    const again = await (await startRawWorker()).again(ran, 'return [Date.now(), Date.now(), Date.now() - 1]')
    expect(again.done).toMatchObject({ outcome: 'abandoned', divergence: { why: 'source', detail: 'date' } })
  })

  it('when a call has other arguments', async () => {
    const worker = await startRawWorker()
    const ran = await worker.run('return await tools.echo({ a: 1 })', { call: (_, args) => args })
    const again = await (await startRawWorker()).again(ran, 'return await tools.echo({ a: 2 })')
    expect(again.done).toMatchObject({ divergence: { why: 'call', detail: 'tools.echo with other arguments' } })
  })

  it('when it tries to touch the outside, which it does not', async () => {
    const worker = await startRawWorker()
    const ran = await worker.run('return 1')
    const second = await startRawWorker()
    const again = await second.again(ran, 'import fs from "node:fs"; try { fs.writeFileSync("out.txt", "x") } catch {} return 1')
    expect(again.done.divergence).toMatchObject({ why: 'effect' })
    expect((await second.run('return require("fs").existsSync("out.txt")')).value).toBe(false)
  })

  it('when a delivery never becomes possible', async () => {
    const worker = await startRawWorker()
    const ran = await worker.run('await new Promise(done => setTimeout(done, 1)); return 1')
    const again = await (await startRawWorker()).again(ran, 'await new Promise(() => {}); return 1')
    expect(again.done.divergence).toMatchObject({ why: 'order', detail: 'timer 0 was never there' })
  })
})

describe('what a cell does after its end', () => {
  it('is told before the next cell, and replayed', async () => {
    const source = 'let n = 0; const times = []; const tick = setInterval(() => { n++; times.push(Date.now()) }, 5); return 1'
    const first = await startRawWorker()
    const ran = await first.run(source)
    await new Promise(resolve => setTimeout(resolve, 60))
    const stop = await first.run('clearInterval(tick); return times')
    const late = first.said.filter(message => message.t === 'late')
    expect(late.length).toBeGreaterThan(0)
    const second = await startRawWorker()
    await second.again(ran, source)
    for (const { cell, tape } of late)
      expect(await second.ask({ t: 'replayLate', n: 1, late: [{ cell, tape }] }, 'lateReplayed')).toEqual({
        t: 'lateReplayed',
        n: 1,
        diverged: [],
      })
    const { timersDropped } = await second.ask({ t: 'recovered', n: 2 }, 'settled')
    expect(timersDropped).toBe(1)
    expect((await second.run('return times')).value).toEqual(stop.value)
  })
})

describe('recording', () => {
  it('is empty for a cell that uses none of it', async () => {
    const worker = await startRawWorker()
    const { done } = await worker.run(
      'import { join } from "node:path"; const d = new Date(0); return [join("a", "b"), d.toISOString(), new Intl.DateTimeFormat("en").format(d), Buffer.from("a").toString("hex")]',
    )
    expect(done.tape).toBeUndefined()
    expect(done).toMatchObject({ effects: [], stamps: [] })
  })

  it('stops at its limits, which is an effect', async () => {
    const worker = await startRawWorker()
    expect((await worker.run('require("crypto").randomBytes(70_000); return 1')).done.effects).toEqual([
      { kind: 'overflow', subject: 'random bytes', count: 1 },
    ])
    expect(
      (
        await worker.run(
          'for (let i = 0; i < 25_000; i++) performance.mark("m" + (i & 7), { startTime: i }), process.hrtime(); return 1',
        )
      ).done.effects,
    ).toMatchObject([{ kind: 'overflow', subject: 'clock' }])
  })

  it('can be turned off; then clocks, random numbers and timers are effects', async () => {
    const worker = await startRawWorker({ boot: { record: false } })
    const { done } = await worker.run('Date.now(); Math.random(); await new Promise(done => setTimeout(done, 1)); return 1')
    expect(done.effects.map(each => each.kind).sort()).toEqual(['clock', 'entropy', 'timer'])
    expect(done.tape).toBeUndefined()
  })

  it('starts at a fixed time and moves with timers only; random numbers come from the seed', async () => {
    const boot = { fixedNow: Date.UTC(2030, 0, 1), fixedSeed: '7' }
    const source =
      'const a = Date.now(); await new Promise(done => setTimeout(done, 30)); return [a, Date.now() - a, performance.now(), Math.random(), crypto.randomUUID(), process.pid]'
    const one = await (await startRawWorker({ boot })).run(source)
    const two = await (await startRawWorker({ boot })).run(source)
    expect((one.value as number[]).slice(0, 3)).toEqual([Date.UTC(2030, 0, 1), 30, 30])
    expect(one.value).toEqual(two.value)
  })
})
