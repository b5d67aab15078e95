/** Cells that misbehave: the session goes on, and the process that asked does not suffer. */
import { spawn } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isAlive, sleep, startSession } from '../support/repl/session.ts'
import { temporaryFolder } from '../support/temporary.ts'

describe('a cell that does not stop', () => {
  it.each([
    ['in a loop that catches and finishes', 'try { for (;;); } catch {} finally { for (;;); }'],
    ['in a regular expression', '/(a+)+$/.test("a".repeat(40) + "b")'],
    ['in a function of an older cell', 'spin()'],
  ])('%s is broken off, and the names stay', async (_, code) => {
    const { run } = await startSession()
    await run('const keep = 7; function spin() { for (;;); }')
    const result = await run(code, { computeMs: 200 })
    expect(result).toMatchObject({ outcome: 'timeout', error: { code: 'OUT-T001', worker: 'kept', state: 'partial' } })
    expect(await run('return keep')).toMatchObject({ value: 7 })
  })

  it.each([
    ['after an await', 'await null; for (;;);'],
    ['in a storm of microtasks', 'const again = () => Promise.resolve().then(again); await again()'],
    ['in a timer', 'await new Promise(() => setTimeout(() => { for (;;); }, 1))'],
    ['waiting inside the engine', 'await null; Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)'],
    ['in a command that it waits for', 'await null; process.getBuiltinModule("child_process").execSync("sleep 60")'],
  ])('%s costs the worker, and the names are back', async (_, code) => {
    const { run, session } = await startSession()
    await run('const keep = 7')
    const pid = (await session.state()).worker!.pid
    const result = await run(code, { computeMs: 200 })
    expect(result).toMatchObject({ outcome: 'timeout', error: { code: 'OUT-T001', worker: 'replaced', state: 'rolled-back' } })
    expect(result.recovery).toMatchObject({
      reason: 'timeout',
      counts: { lost: 0 },
      bindings: [{ name: 'keep', status: 'snapshot', cell: 1 }],
    })
    expect(isAlive(pid)).toBe(false)
    const next = await run('return keep')
    expect(next).toMatchObject({ value: 7 })
    expect('recovery' in next).toBe(false)
  })

  it.each([
    ['a listener for the signal that stays', 'process.on("SIGINT", () => {})'],
    ['a listener that came and went', 'const f = () => {}; process.once("SIGINT", f); process.off("SIGINT", f)'],
    ['all listeners gone', 'process.removeAllListeners()'],
  ])('is broken off with %s', async (_, before) => {
    const { run } = await startSession()
    await run(`const keep = 7; ${before}`)
    const result = await run('for (;;);', { computeMs: 200 })
    expect(result).toMatchObject({ outcome: 'timeout', error: { code: 'OUT-T001', worker: 'kept' } })
    expect(await run('for (;;);', { computeMs: 200 })).toMatchObject({ outcome: 'timeout', error: { worker: 'kept' } })
    expect(await run('return keep')).toMatchObject({ value: 7 })
  })

  it('can be cancelled', async () => {
    const { run } = await startSession()
    const abort = new AbortController()
    const running = run('const before = 1; await new Promise(() => {})', { signal: abort.signal })
    await sleep(150)
    abort.abort()
    expect(await running).toMatchObject({
      outcome: 'aborted',
      error: { code: 'OUT-A001', worker: 'kept' },
      bindings: { added: ['before'] },
    })
    expect(await run('return before')).toMatchObject({ value: 1 })
  })

  it('that waits does not use its computing time', async () => {
    const { run } = await startSession()
    const result = await run('await new Promise(done => setTimeout(done, 600)); return 1', { computeMs: 300 })
    expect(result).toMatchObject({ outcome: 'ok', value: 1 })
    expect(result.timing.computeMs).toBeLessThan(300)
  })

  it('in a timer that it left behind costs the next cell nothing', async () => {
    const { run } = await startSession()
    await run('const keep = 1; setTimeout(() => { for (;;); }, 20); return 0')
    await sleep(150)
    const next = await run('return [keep, 5]', { computeMs: 400 })
    expect(next).toMatchObject({ outcome: 'ok', value: [1, 5], recovery: { reason: 'timeout', counts: { lost: 0 } } })
  })
})

describe('a cell that ends its process', () => {
  it.each([
    'process.exit()',
    'process.abort()',
    'process.reallyExit(1)',
    'process.kill(process.pid, "SIGTERM")',
    'process.kill(0, "SIGKILL")',
    'import { exit } from "node:process"; exit(3)',
  ])('by %s is refused', async code => {
    const { run } = await startSession()
    await run('const keep = 1')
    expect(await run(code)).toMatchObject({ outcome: 'threw', error: { code: 'OUT-X002' } })
    expect(await run('return keep')).toMatchObject({ value: 1 })
  })

  it('and catches the refusal goes on with a warning', async () => {
    const { run } = await startSession()
    expect(await run('try { process.exit(1) } catch {} return 3')).toMatchObject({
      outcome: 'ok',
      value: 3,
      warnings: [{ code: 'OUT-X002', cell: 1 }],
    })
  })

  it('may ask whether it is alive', async () => {
    const { run } = await startSession()
    expect(await run('return process.kill(process.pid, 0)')).toMatchObject({ value: true })
  })

  it('by a crash of the engine costs the worker only', async () => {
    const { run } = await startSession()
    await run('const keep = 1')
    const result = await run(
      'process.getBuiltinModule("child_process").execSync(`kill -SEGV ${process.pid}`); await new Promise(() => {})',
    )
    expect(result).toMatchObject({
      outcome: 'exited',
      error: { code: 'OUT-K001', message: 'The worker ended (SIGSEGV).', worker: 'replaced' },
      recovery: { reason: 'worker-exit' },
    })
    expect(await run('return 1')).toMatchObject({ value: 1 })
  })

  it('between two cells is told by the next', async () => {
    const { run, session } = await startSession()
    await run('const list = [1, 2]')
    expect(session.kill9()).toEqual(expect.any(Number))
    expect(await run('return list')).toMatchObject({
      value: [1, 2],
      recovery: { reason: 'worker-exit', counts: { lost: 0 }, bindings: [{ name: 'list', cell: 1 }] },
    })
    expect('recovery' in (await run('return 1'))).toBe(false)
  })
})

describe('a cell that takes too much', () => {
  it('of the heap ends the worker', async () => {
    const { run } = await startSession({ config: { heapMb: 64 } })
    const result = await run('const all = []; for (;;) all.push({ a: [1, 2, 3] })', { computeMs: 25_000 })
    expect(result).toMatchObject({
      outcome: 'exited',
      error: { code: 'OUT-K002', detail: 'heap', message: 'The worker ran out of memory (64 MB heap).' },
    })
    expect(await run('return 1')).toMatchObject({ value: 1 })
  })

  it('of the memory beside the heap ends the worker', async () => {
    const { run } = await startSession({ config: { rssMb: 256 } })
    const result = await run(
      'const all = []; for (;;) { all.push(Buffer.alloc(16 * 1024 * 1024, 1)); await new Promise(setImmediate) }',
    )
    expect(result).toMatchObject({ outcome: 'exited', error: { code: 'OUT-K002', detail: 'rss' } })
    expect(await run('return 1')).toMatchObject({ value: 1 })
  })

  it('prints a line of 100 MB and keeps its beginning and its end', async () => {
    const { run } = await startSession({ config: { outputBytes: 64 * 1024 } })
    const before = process.memoryUsage().rss
    const result = await run('console.log("a" + "x".repeat(100_000_000) + "z"); console.log("last"); return 1')
    expect(result).toMatchObject({ outcome: 'ok', value: 1, warnings: [{ code: 'OUT-O002' }] })
    const text = result.logs.map(entry => entry.text).join('')
    expect(text.startsWith('axx')).toBe(true)
    expect(text.endsWith('zlast')).toBe(true)
    expect(text.length + result.logsOmittedBytes!).toBeGreaterThan(99_999_990)
    expect(text.length).toBeLessThan(140_000)
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000)
  })

  it('writes 100 MB to the descriptor', async () => {
    const { run } = await startSession({ config: { outputBytes: 64 * 1024 } })
    const result = await run(
      'import { writeSync } from "node:fs"; const part = "y".repeat(1_000_000); for (let i = 0; i < 100; i++) { let at = 0; while (at < part.length) at += writeSync(1, part.slice(at)) } return 2',
    )
    expect(result).toMatchObject({ outcome: 'ok', value: 2 })
    const length = result.logs.reduce((sum, entry) => sum + entry.text.length, 0)
    expect(length).toBeLessThan(140_000)
    expect(length + result.logsOmittedBytes!).toBeGreaterThan(99_990_000)
  })

  it('prints a million empty lines', async () => {
    const { run } = await startSession({ config: { outputBytes: 64 * 1024 } })
    const result = await run('for (let i = 0; i < 200_000; i++) process.stdout.write("\\n"); return 3')
    expect(result).toMatchObject({ outcome: 'ok', value: 3 })
    expect(result.logs.length).toBeLessThan(140_000)
  })
})

describe('a cell that changes the platform', () => {
  it.each([
    [
      'Array.prototype',
      'for (const name of ["push", "map", "slice", "filter", "join", "indexOf", Symbol.iterator]) Array.prototype[name] = () => { throw new Error("patched") }',
    ],
    ['JSON', 'JSON.stringify = JSON.parse = () => { throw new Error("patched") }'],
    ['Promise', 'Promise.prototype.then = () => { throw new Error("patched") }; Promise.resolve = Promise.all = undefined'],
    [
      'String, Object, Map, Reflect',
      'for (const each of [String, Object, Map, Set, RegExp, Number]) for (const name of Object.getOwnPropertyNames(each.prototype)) try { if (typeof each.prototype[name] === "function" && name !== "constructor" && name !== "hasOwnProperty") each.prototype[name] = () => { throw new Error("patched") } } catch {}',
    ],
    [
      'Buffer, typed arrays and encoders',
      'for (const each of [Buffer, Uint8Array, Object.getPrototypeOf(Uint8Array), TextEncoder, TextDecoder, DataView]) for (const name of Object.getOwnPropertyNames(each.prototype)) try { if (name !== "constructor") Object.defineProperty(each.prototype, name, { value: () => { throw new Error("patched") } }) } catch {}',
    ],
    [
      'events and streams',
      'import EventEmitter from "node:events"; import { Readable, Writable } from "node:stream"; for (const each of [EventEmitter, Readable, Writable]) for (const name of Object.getOwnPropertyNames(each.prototype)) try { if (typeof each.prototype[name] === "function" && name !== "constructor") each.prototype[name] = () => { throw new Error("patched") } } catch {}',
    ],
    [
      'timers, performance and process',
      'globalThis.setImmediate = globalThis.setTimeout = globalThis.queueMicrotask = () => { throw new Error("patched") }; performance.now = process.cwd = process.nextTick = process.emit = () => { throw new Error("patched") }',
    ],
    [
      'util.types and vm',
      'import util from "node:util"; import vm from "node:vm"; util.types.isProxy = util.inspect = () => { throw new Error("patched") }; vm.Script.prototype.runInThisContext = vm.Script.prototype.runInContext = () => { throw new Error("patched") }',
    ],
    [
      'Error',
      'Error.prepareStackTrace = () => { throw new Error("patched") }; Error.stackTraceLimit = 0; Object.defineProperty(Object.prototype, "t", { get() { throw new Error("patched") } })',
    ],
  ])('(%s) gets what it did, and the engine goes on', async (_, code) => {
    const { run } = await startSession()
    await run('const keep = 1; const m = new Map([[1, { b: 2 }]])')
    expect(await run(code)).toMatchObject({ outcome: 'ok' })
    expect(await run('return { a: [keep, "two"], m }')).toMatchObject({
      outcome: 'ok',
      preview: '{ a: [1, "two"], m: Map(1) { 1 => { b: 2 } } }',
    })
    expect(await run('throw new TypeError("mine")')).toMatchObject({
      outcome: 'threw',
      error: { name: 'TypeError', message: 'mine' },
    })
    const called = await run('return await tools.echo({ x: 1 })', {
      tools: [{ name: 'echo' }],
      call: async ({ arguments: args }) => ({ ok: true, value: args }),
    })
    expect(called.calls).toEqual([{ call: 1, name: 'tools.echo', outcome: 'ok' }])
  })
})

describe('a cell that leaves things behind', () => {
  it('(a server, an interval, a child) does not disturb the next, and all end with the worker', async () => {
    const { run, session } = await startSession()
    const left = await run(
      'import net from "node:net"; import { spawn } from "node:child_process"; net.createServer().listen(0); setInterval(() => {}, 10); const child = spawn("sleep", ["300"]); return child.pid',
    )
    expect(left).toMatchObject({ outcome: 'ok', value: expect.any(Number) })
    expect(await run('return 1')).toMatchObject({ value: 1, warnings: [] })
    const state = await session.state()
    expect(state.pending.timers).toBeGreaterThan(0)
    expect(state.pending.handles).toBeGreaterThan(0)
    await session.restart()
    await sleep(100)
    expect(isAlive(left.value as number)).toBe(false)
  })

  it('(output) is told with the next result, by cell', async () => {
    const { run } = await startSession()
    await run('setTimeout(() => console.log("from the first"), 20)')
    await sleep(80)
    expect((await run('console.log("own")')).late).toEqual([{ cell: 1, stream: 'stdout', text: 'from the first' }])
  })

  it('(files in the temporary folder) is cleaned up', async () => {
    const { run, session } = await startSession()
    const { value } = await run(
      'import os from "node:os"; import fs from "node:fs"; fs.writeFileSync(os.tmpdir() + "/x", "1"); return os.tmpdir()',
    )
    expect(String(value).startsWith(join(tmpdir(), 'outrigger-repl-'))).toBe(true)
    await session.close()
    expect(readdirSync(tmpdir())).not.toContain(String(value).split('/').at(-1))
  })

  it('(a child that prints) has its output before the end of the cell', async () => {
    const { run } = await startSession()
    expect(
      (
        await run(
          'import { execSync } from "node:child_process"; execSync("echo from the child; echo and errors >&2", { stdio: "inherit" })',
        )
      ).logs,
    ).toEqual(
      expect.arrayContaining([
        { stream: 'stdout', text: 'from the child' },
        { stream: 'stderr', text: 'and errors' },
      ]),
    )
  })
})

describe('a hostile value', () => {
  it.each([
    ['undefined', 'undefined'],
    ['null', 'null'],
    ['Symbol("s")', 'Symbol("s")'],
    ['{ get message() { throw 1 } }', '{ message: [getter] }'],
    ['new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 }, ownKeys() { throw 3 } })', '[proxy]'],
    ['(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy })()', '[proxy]'],
  ])('%s can be thrown', async (code, message) => {
    const { run } = await startSession()
    expect(await run(`throw ${code}`)).toMatchObject({ outcome: 'threw', error: { code: 'OUT-X001', name: 'Thrown', message } })
  })

  it('with getters, traps and toJSON is returned without running them', async () => {
    const { run } = await startSession()
    await run('let ran = 0')
    const result = await run(
      'return { get a() { ran++; return 1 }, toJSON() { ran++ }, p: new Proxy({}, { ownKeys() { ran++; return [] } }), [Symbol.toStringTag]: "x" }',
    )
    expect(result).toMatchObject({ outcome: 'ok' })
    expect(await run('return ran')).toMatchObject({ value: 0 })
  })

  it('too large to hold is shown in part', async () => {
    const { run } = await startSession()
    const result = await run('const big = Array.from({ length: 2_100_000 }, (_, i) => ({ i })); return big')
    expect(result).toMatchObject({ outcome: 'ok', handle: 'v1', warnings: [{ code: 'OUT-O001' }] })
    expect(result.preview!.length).toBeLessThanOrEqual(4_000)
    expect(await run('return big.length')).toMatchObject({ value: 2_100_000 })
  })
})

describe('the channel', () => {
  it('ends a worker whose cell writes to it', async () => {
    const { run } = await startSession()
    const result = await run(
      'import { writeSync } from "node:fs"; writeSync(4, Buffer.alloc(64, 1)); await new Promise(done => setTimeout(done, 2_000)); return 1',
    )
    expect(result).toMatchObject({
      outcome: 'exited',
      error: { code: 'OUT-K001', detail: expect.stringContaining('malformed frame') },
    })
    expect(await run('return 1')).toMatchObject({ value: 1 })
  })

  it('has no process.send for cells', async () => {
    const { run } = await startSession()
    expect(
      await run('return [typeof process.send, typeof process.disconnect, typeof process.channel, process.connected]'),
    ).toMatchObject({ preview: expect.stringContaining('undefined') })
  })
})

describe('two cells at once', () => {
  it('run one after the other, each with its own output', async () => {
    const { run } = await startSession()
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, i) =>
        run(`await new Promise(done => setTimeout(done, ${20 - i * 4})); console.log(${i}); return ${i}`),
      ),
    )
    expect(answers.map(({ cell, value, logs }) => [cell, value, logs[0]?.text])).toEqual(
      [0, 1, 2, 3, 4].map(i => [i + 1, i, String(i)]),
    )
  })

  it('are at most 32 in the queue', async () => {
    const { run } = await startSession()
    const running = run('await new Promise(done => setTimeout(done, 200))')
    const waiting = Array.from({ length: 32 }, () => run('return 1'))
    await expect(run('return 2')).rejects.toMatchObject({ code: 'REPL_BUSY', exit: 4 })
    await Promise.all([running, ...waiting])
  })
})

describe('the worker', () => {
  it.each([
    ['idle', 'return process.pid', false],
    ['in a loop', 'console.log(process.pid); for (;;);', true],
  ])('that is %s ends when the process that started it dies', async (_, code, loops) => {
    const folder = temporaryFolder()
    const script = join(folder, 'parent.mjs')
    const support = new URL('../support/repl/parent.ts', import.meta.url).href
    writeFileSync(
      script,
      `import { start } from ${JSON.stringify(support)}\nstart(${JSON.stringify(folder)}, ${JSON.stringify(code)}, ${loops})\n`,
    )
    const parent = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const pid = await new Promise<number>(resolve => {
      let text = ''
      parent.stdout.on('data', (piece: Buffer) => {
        text += piece.toString()
        const match = /pid (\d+) ready/.exec(text)
        if (match) resolve(Number(match[1]))
      })
    })
    expect(isAlive(pid)).toBe(true)
    parent.kill('SIGKILL')
    const until = Date.now() + 3_000
    while (isAlive(pid) && Date.now() < until) await sleep(20)
    expect(isAlive(pid)).toBe(false)
  })

  it('has nothing of the host that could change it', async () => {
    const { run } = await startSession({
      env: { NODE_OPTIONS: '--no-warnings', NODE_V8_COVERAGE: '/tmp/none', KEPT: 'yes' },
      config: { envDeny: ['DENIED'] },
    })
    expect(
      (await run('return [process.env.NODE_OPTIONS ?? null, process.env.NODE_V8_COVERAGE ?? null, process.env.KEPT]')).value,
    ).toEqual([null, null, 'yes'])
  })
})
