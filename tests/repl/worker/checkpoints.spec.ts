/** Names leave a worker as bytes and come back in another one. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { NameKind } from '../../../src/repl/compile/program.ts'
import type { RestoreMessage } from '../../../src/repl/worker/protocol.ts'
import type { FixedEntry } from '../../../src/repl/worker/tape.ts'
import { type RawWorker, sharedWorker, startRawWorker } from '../../support/repl/raw-worker.ts'
import { temporaryFolder } from '../../support/temporary.ts'

interface Known {
  kind: NameKind
  cell: number
  entry?: FixedEntry | undefined
}

/** Runs cells, stores each name that has no entry (all in one component), and gives everything to a new worker. */
async function moved(sources: readonly string[], options: { together?: boolean; cwd?: string } = {}) {
  const first = await startRawWorker(options.cwd === undefined ? {} : { cwd: options.cwd })
  const known = new Map<string, Known>()
  for (const [index, source] of sources.entries()) {
    const { done } = await first.run(source)
    expect(done.failure).toBeUndefined()
    for (const { name, kind, entry } of [...done.names.added, ...done.names.changed])
      known.set(name, { kind, cell: index + 1, entry })
    for (const name of done.names.removed) known.delete(name)
  }
  const isFixed = ({ entry }: Known) => entry !== undefined && !(entry.of === 'import' && !entry.builtin)
  const members = [...known].filter(([, each]) => !isFixed(each)).map(([name]) => name)
  const stored = await first.check(...(options.together === false ? members.map(name => [name]) : [members]))
  const second = await startRawWorker({ cwd: first.cwd })
  for (const { component, bytes } of stored) if (bytes !== undefined) second.give(component.hash!, bytes)
  const message: Partial<RestoreMessage> = {
    sources: sources.map((source, index) => ({ cell: index + 1, source })),
    fixed: [...known].flatMap(([name, { kind, cell, entry }]) =>
      isFixed({ kind, cell, entry }) ? [{ name, kind, cell, entry: entry! }] : [],
    ),
    components: stored.flatMap(({ component }) =>
      component.hash === undefined
        ? []
        : [
            {
              hash: component.hash,
              names: component.names.map(name => ({ name, kind: known.get(name)!.kind, cell: known.get(name)!.cell })),
            },
          ],
    ),
  }
  const { names } = await second.restore(message)
  const status = Object.fromEntries(names.map(({ name, status: how, reason }) => [name, reason ?? how]))
  const opaque = Object.fromEntries(
    stored.flatMap(({ component }) => component.opaque.map(each => [each.name, `${each.reason} ${each.path}`])),
  )
  return { first, second, status, opaque, known, stored }
}

async function value(worker: RawWorker, code: string): Promise<unknown> {
  const { done, value: found } = await worker.run(`return ${code}`, { cell: 90 })
  expect(done.failure).toBeUndefined()
  return found
}

describe('names come back', () => {
  it('with their values, and with what they share', async () => {
    const { second, status } = await moved([
      'const list = [1, { a: 2 }, new Map([["k", new Set([1])]])]; const same = list[1]; let n = 5; var text = "x"; const big = 12n',
      'const d = new Date(5); const r = /a/gi; const e = new TypeError("m", { cause: list }); const b = Buffer.from("abc"); const u = new URL("http://a/b")',
    ])
    expect(status).toMatchObject({
      list: 'snapshot',
      same: 'snapshot',
      n: 'snapshot',
      text: 'snapshot',
      big: 'snapshot',
      e: 'snapshot',
    })
    expect(
      await value(
        second,
        '[list[1] === same, n, text, String(big), d.getTime(), String(r), e.message, e instanceof TypeError, e.cause === list, b.toString(), u.href, list[2].get("k").has(1)]',
      ),
    ).toEqual([true, 5, 'x', '12', 5, '/a/gi', 'm', true, true, 'abc', 'http://a/b', true])
    expect((await second.run('list = 1', { cell: 91 })).done.failure).toMatchObject({ name: 'TypeError' })
    expect(await value(second, '(n = 7, n)')).toBe(7)
  })

  it('as functions and classes made again from their source, at their places', async () => {
    const { second, status, known } = await moved([
      'const base = 10\nfunction add(x: number): number { return x + base }\nconst twice = (x: number) => add(x) * 2\nconst fail = () => {\n  throw new Error("here")\n}',
      'class A { n = 1; get double() { return this.n * 2 } static make() { return new A() } }\nclass B extends A { m() { return super.double + base } }',
      'const o = new B(); o.n = 4; const fs = [add, twice, o]; const self = { make: function named() { return named.name } }',
    ])
    expect(known.get('add')?.entry).toMatchObject({ of: 'source', cell: 1, free: ['base'] })
    expect(known.get('A')?.entry).toMatchObject({ of: 'source', cell: 2 })
    expect(status).toMatchObject({
      add: 'exact',
      twice: 'exact',
      A: 'exact',
      B: 'exact',
      o: 'snapshot',
      fs: 'snapshot',
      self: 'snapshot',
    })
    expect(
      await value(
        second,
        '[add(1), twice(1), o.m(), o instanceof B, o instanceof A, fs[0] === add, fs[1] === twice, fs[2] === o, A.make() instanceof A, twice.name, self.make()]',
      ),
    ).toEqual([11, 22, 18, true, true, true, true, true, true, 'twice', 'named'])
    expect((await second.run('fail()', { cell: 92 })).done.failure).toMatchObject({
      message: 'here',
      frames: [{ cell: 1, line: 5, column: 9 }, { cell: 92 }],
    })
    expect(await value(second, 'add.toString()')).toBe('function add(x        )         { return x + base }')
    // Functions see what names are now.
    expect(await value(second, '(globalThis.z = 1, add.length)')).toBe(1)
    await second.run('const base = 100', { cell: 93 })
    expect(await value(second, 'add(1)')).toBe(101)
  })

  it('as imports, loaded again, with their live values', async () => {
    const cwd = temporaryFolder()
    writeFileSync(
      join(cwd, 'm.mjs'),
      'export let n = 1; export const up = () => ++n; export class K { v = 1 }; export default { a: 1 }\n',
    )
    writeFileSync(join(cwd, 'c.cjs'), 'module.exports = { f() { return 7 }, x: 1 }\n')
    writeFileSync(join(cwd, 'd.json'), '{"j": 1}\n')
    mkdirSync(join(cwd, 'node_modules/p'), { recursive: true })
    writeFileSync(join(cwd, 'node_modules/p/package.json'), '{"name":"p","exports":"./i.mjs"}')
    writeFileSync(join(cwd, 'node_modules/p/i.mjs'), 'export const p = () => "p"\n')
    const { second, status } = await moved(
      [
        'import { n, up, K } from "./m.mjs"; import * as all from "./m.mjs"; import fs, { readFileSync } from "node:fs"; import d from "./d.json"; import { p } from "p"',
        'const k = new K(); const again = up; const read = [readFileSync, fs, Math.max]; const ns = await import("./m.mjs"); const c = require("./c.cjs"); const f = c.f',
      ],
      { cwd },
    )
    expect(status).toEqual({
      n: 'replayed',
      up: 'replayed',
      K: 'replayed',
      all: 'replayed',
      d: 'replayed',
      p: 'replayed',
      fs: 'exact',
      readFileSync: 'exact',
      k: 'snapshot',
      again: 'snapshot',
      read: 'snapshot',
      ns: 'snapshot',
      c: 'snapshot',
      f: 'snapshot',
    })
    expect(
      await value(
        second,
        '[up(), n, k instanceof K, again === up, all.up === up, read[0] === readFileSync, read[1] === fs, read[2] === Math.max, ns === all, f(), c.x, d.j, p()]',
      ),
    ).toEqual([2, 2, true, true, true, true, true, true, true, 7, 1, 1, 'p'])
  })

  it('as what the platform makes when it is first asked for', async () => {
    const { second } = await moved(['const made = [Headers, Blob, atob, crypto, performance, WebSocket, fetch]'])
    expect(
      (
        await second.run(
          'return made.map((each, at) => each === [Headers, Blob, atob, crypto, performance, WebSocket, fetch][at])',
          { cell: 8 },
        )
      ).value,
    ).toEqual(Array(7).fill(true))
  })

  it('as a class of the platform that is watched there, though no cell names it', async () => {
    const { second } = await moved(['const sockets = [WebSocket]'])
    const { done } = await second.run('try { new sockets[0]("ws://127.0.0.1:1/") } catch {}', { cell: 9 })
    expect(done.effects).toMatchObject([{ kind: 'socket' }])
  })

  it('as functions of the platform that are watched there, too', async () => {
    const { second } = await moved(['const save = [require("fs").writeFileSync]'])
    expect((await second.run('save[0]("made", "x")', { cell: 9 })).done.effects).toMatchObject([{ kind: 'file' }])
  })

  it('as settled promises with their outcome', async () => {
    const { second, status, opaque } = await moved([
      'const ok = Promise.resolve({ a: 1 }); const bad = Promise.reject(new Error("no")); bad.catch(() => {}); const open = new Promise(() => {})',
    ])
    expect(opaque).toEqual({ open: 'pending-promise open' })
    expect(status).toMatchObject({ ok: 'snapshot', bad: 'snapshot' })
    expect(await value(second, '[(await ok).a, await bad.catch(e => e.message)]')).toEqual([1, 'no'])
  })

  it('when they are first read, if they are large', async () => {
    const { second, first, status, stored } = await moved([
      'const rows = Array.from({ length: 100_000 }, (_, i) => ({ id: i, t: "row" + i })); const alias = rows',
    ])
    expect(stored[0]!.bytes!.length).toBeGreaterThan(1024 * 1024)
    expect(status).toEqual({ rows: 'snapshot', alias: 'snapshot' })
    // Nobody has read it: it is still the one of before.
    const [kept] = await second.check(['rows', 'alias'])
    expect(kept!.component).toMatchObject({ hash: stored[0]!.component.hash, sent: false })
    expect(await value(second, '[rows.length, rows[99_999].t, alias === rows]')).toEqual([100_000, 'row99999', true])
    const [again] = await second.check(['rows', 'alias'])
    expect(again!.component).toMatchObject({ hash: stored[0]!.component.hash, sent: true })
    expect((await second.run('rows = 1', { cell: 95 })).done.failure).toMatchObject({ name: 'TypeError' })
    void first
  })
})

describe('what cannot be stored', () => {
  const shared = sharedWorker()
  it.each([
    ['import net from "node:net"; const it = net.createServer().listen(0); const ok = 1', 'open-handle'],
    ['const it = { deep: [setInterval(() => {}, 1e6)] }', 'open-handle'],
    ['import { spawn } from "node:child_process"; const it = spawn("true")', 'open-handle'],
    ['import fs from "node:fs/promises"; const it = await fs.open("/dev/null")', 'open-handle'],
    ['const it = (() => { let c = 0; return { up: () => ++c } })()', 'closure-effect'],
    ['const it = Math.max.bind(null, 1)', 'closure-effect'],
    ['const it = (function* () { yield 1 })()', 'generator'],
    ['const it = [1][Symbol.iterator]()', 'generator'],
    ['const it = new Proxy({}, {})', 'proxy'],
    ['const it = new WeakMap()', 'weak'],
    ['const it = [new WeakRef({})]', 'weak'],
    ['class P { #s = 1; s() { return this.#s } } const it = new P()', 'private-state'],
    ['const it = new Promise(() => {})', 'pending-promise'],
    ['class Q { static list = [] } Q.prototype.added = () => 1; const it = Q', 'closure-effect'],
    ['const it = fetch("data:,x"); await it; const r = await it', 'private-state'],
  ])('%s', async (source, reason) => {
    const worker = await shared()
    const { done } = await worker.run(source.replace('const it', 'var it'))
    expect(done.failure).toBeUndefined()
    const [stored] = await worker.check(['it'])
    expect(stored!.component.opaque[0]).toMatchObject({ name: 'it', reason })
    expect(stored!.component.names).toEqual([])
  })

  it('leaves the other names of its component', async () => {
    const worker = await startRawWorker()
    await worker.run('const a = { x: 1 }; const bad = { inner: { list: [new WeakMap()] }, a }; const c = [a]')
    const [stored] = await worker.check(['c', 'bad', 'a'])
    expect(stored!.component).toMatchObject({
      names: ['a', 'c'],
      sent: true,
      opaque: [{ name: 'bad', path: 'bad.inner.list[0]', reason: 'weak' }],
    })
  })

  it('is a module that touched the outside when it was loaded', async () => {
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'w.mjs'), 'import fs from "node:fs"; fs.writeFileSync("made.txt", "x"); export const w = 1\n')
    const worker = await startRawWorker({ cwd })
    const { done } = await worker.run('import { w } from "./w.mjs"; return w')
    expect(done.effects).toMatchObject([{ kind: 'file' }])
    expect(done.names.added).toMatchObject([{ name: 'w', entry: { of: 'import', export: 'w', builtin: false, effect: true } }])
  })

  it('is a secret as an entry', async () => {
    const worker = await startRawWorker({ boot: { secrets: ['s3cret-value-1'] } })
    const { done } = await worker.run('const b = "s3cret-value-1"; const c = "other"')
    expect(done.names.added.find(each => each.name === 'b')).not.toHaveProperty('entry')
    expect(done.names.added.find(each => each.name === 'c')).toHaveProperty('entry')
  })

  it('is too large', async () => {
    const worker = await startRawWorker()
    await worker.run('const small = [1]; const large = "x".repeat(100_000)')
    const answer = worker.ask(
      { t: 'check', n: 2, components: [{ names: ['small', 'large'] }], budgetMs: 1_000, maxComponentBytes: 10_000 },
      'component',
    )
    expect(await answer).toMatchObject({ names: ['small'], opaque: [{ name: 'large', reason: 'too-large' }] })
  })
})

describe('a component', () => {
  it('has equal bytes for equal content, whichever way it came about, and in the next worker', async () => {
    const { first, second, stored } = await moved([
      'const o = { a: 1, list: [1, 2] }; const f = () => o; class C { v = 1 } const c = [new C(), f, C]',
    ])
    await first.run('o.a = 2; o.list.push(3); o.list.pop(); o.a = 1', { cell: 2 })
    const members = stored[0]!.component.names
    const [again] = await first.check(members)
    expect(again!.component.hash).toBe(stored[0]!.component.hash)
    const [there] = await second.check(members)
    expect(there!.component.hash).toBe(stored[0]!.component.hash)
    expect(there!.component.cells).toEqual([1])
  })

  it('is skipped when the time is over, and when a cell begins', async () => {
    const worker = await startRawWorker()
    await worker.run('const a = [1]')
    expect(
      await worker.ask({ t: 'check', n: 3, components: [{ names: ['a'] }], budgetMs: -1, maxComponentBytes: 1e6 }, 'checked'),
    ).toMatchObject({ skipped: [0] })
  })
})

describe('a fixed name', () => {
  it('loses its entry when it gets state of its own', async () => {
    const worker = await startRawWorker()
    const { done } = await worker.run('function f() { return 1 } class A { m() {} } const g = () => f')
    expect(done.names.added.every(each => each.entry?.of === 'source')).toBe(true)
    expect((await worker.run('return [f(), new A()].length')).done.unfixed).toEqual([])
    expect((await worker.run('f.cache = new Map(); A.prototype.more = () => 2')).done.unfixed).toEqual(['A', 'f'])
  })

  it('is none when code that has not run yet may assign to it', async () => {
    const worker = await startRawWorker()
    const { done } = await worker.run('let n = 0; const c = 1; setInterval(() => n++, 1e6); let m = 2')
    expect(done.names.added.filter(each => each.entry !== undefined).map(each => each.name)).toEqual(['c', 'm'])
    expect((await worker.run('setTimeout(() => { m = 3 }, 1e6)')).done.unfixed).toEqual(['m'])
    expect(
      (await worker.run('let late = 1; const fixed = 2; eval("1")')).done.names.added
        .filter(each => each.entry !== undefined)
        .map(each => each.name),
    ).toEqual(['fixed'])
  })

  it('is none when it uses what only its surroundings have', async () => {
    const worker = await startRawWorker()
    const { done } = await worker.run(
      'const f = (() => { let n = 0; return () => n++ })(); for (const i of [1]) { var g = () => i } class S { static made = Date.now() } const t = function () { return () => this }.call(1); const open = () => { let n = 0; return () => n++ }',
    )
    const entries = Object.fromEntries(done.names.added.map(({ name, entry }) => [name, entry?.of]))
    expect(entries).toEqual({ f: undefined, g: undefined, S: undefined, t: undefined, open: 'source' })
  })
})

describe('a name that is gone', () => {
  it('says so when it is read, is undefined for typeof, and can be declared again', async () => {
    const worker = await startRawWorker()
    await worker.restore({
      lost: [{ name: 'srv', cell: 4, reason: 'open-handle' }],
      sources: [{ cell: 5, source: 'const use = () => srv' }],
      fixed: [{ name: 'use', kind: 'const', cell: 5, entry: { of: 'source', cell: 5, start: 12, end: 21, free: ['srv'] } }],
    })
    const { done } = await worker.run('return srv', { cell: 9 })
    const message = 'srv was lost at the restart before cell 9 (open handle, made in cell 4). Make it again or run cell 4 again.'
    expect(done).toMatchObject({
      outcome: 'threw',
      failure: { code: 'OUT-R003', name: 'ReferenceError', message, position: { line: 1, column: 8 } },
    })
    expect((await worker.run('return typeof srv', { cell: 10 })).value).toBe('undefined')
    expect(
      (await worker.run('try { srv } catch (e) { return [e.code, e instanceof ReferenceError] }', { cell: 11 })).value,
    ).toEqual(['OUT-R003', true])
    expect((await worker.run('use()', { cell: 12 })).done.failure).toMatchObject({ code: 'OUT-R003', message })
    expect((await worker.run('srv = 5; return srv', { cell: 13 })).value).toBe(5)
    expect((await worker.run('const srv = 6; return [srv, use()]', { cell: 14 })).value).toEqual([6, 6])
  })
})

describe('a copy that is asked for while a cell runs', () => {
  it('is not made: it would be of a time in the middle of the cell', async () => {
    const worker = await startRawWorker()
    await worker.run('const list = [1]')
    const running = worker.run('list.push(2); await new Promise(done => setTimeout(done, 150))')
    await new Promise(done => setTimeout(done, 50))
    expect(await worker.check(['list'])).toEqual([])
    await running
    expect(await worker.check(['list'])).toHaveLength(1)
    await worker.end()
  })
})

describe('a cell that waits', () => {
  it('waits for the component at hand only', async () => {
    const worker = await startRawWorker()
    const names = Array.from({ length: 24 }, (_, at) => `a${at}`)
    await worker.run(names.map(name => `const ${name} = Array.from({ length: 20_000 }, (_, i) => ({ i }))`).join('\n'))
    const wanted = { components: names.map(name => ({ names: [name] })), budgetMs: 60_000, maxComponentBytes: 1e9 }
    const whole = await worker.ask({ t: 'check', n: 100, ...wanted }, 'checked')
    expect(whole.skipped).toEqual([])
    const before = worker.said.length
    const answer = worker.ask({ t: 'check', n: 101, ...wanted }, 'checked')
    while (worker.said.length === before) await new Promise(resolve => setImmediate(resolve))
    worker.send({ t: 'hurry' })
    const { skipped } = await answer
    expect(skipped.length).toBeGreaterThan(0)
    expect(skipped.at(-1)).toBe(23)
  })
})
