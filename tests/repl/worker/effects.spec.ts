/** What touches the outside is noticed when it happens, whoever does it; what is read leaves a stamp. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type RawWorker, sharedWorker, startRawWorker } from '../../support/repl/raw-worker.ts'
import { temporaryFolder } from '../../support/temporary.ts'

const shown = (
  effects: readonly { readonly kind: string; readonly subject?: string; readonly count: number }[],
  cwd: string,
): string[] =>
  effects.map(({ kind, subject, count }) =>
    [kind, subject?.replaceAll(`${cwd}/`, ''), ...(count > 1 ? [count] : [])].filter(each => each !== undefined).join(' '),
  )

async function effectsOf(source: string, worker?: RawWorker): Promise<readonly string[]> {
  const own = worker ?? (await startRawWorker())
  const { done } = await own.run(source)
  if (done.failure !== undefined) throw new Error(`${done.failure.name}: ${done.failure.message}`)
  return shown(done.effects, own.cwd)
}

describe('an effect', () => {
  const shared = sharedWorker()
  it.each([
    ['import fs from "node:fs"; fs.appendFileSync("log.txt", "x"); fs.appendFileSync("log.txt", "y")', ['file log.txt 2']],
    [
      'import { writeFile, mkdir, rename, rm } from "node:fs/promises"; await writeFile("a", "1"); await mkdir("d"); await rename("a", "b"); await rm("b")',
      ['file a 2', 'file d', 'file b'],
    ],
    [
      'const fs = require("fs"); await new Promise(done => fs.writeFile("a", "x", done)); fs.copyFileSync("a", "b")',
      ['file a', 'file b'],
    ],
    [
      'import fs from "node:fs"; const s = fs.createWriteStream("s.txt"); await new Promise(done => s.end("x", done))',
      ['file s.txt 2'],
    ],
    [
      'import { open } from "node:fs/promises"; const h = await open("h", "w+"); await h.writeFile("x"); await h.close()',
      ['file h 2'],
    ],
    ['const fs = require("fs"); const d = fs.openSync("o", "w"); fs.writeSync(d, "x"); fs.closeSync(d)', ['file o 2']],
    ['import { execSync } from "node:child_process"; execSync("true")', ['process true']],
    [
      'import { exec } from "node:child_process"; import { promisify } from "node:util"; await promisify(exec)("true")',
      ['process true'],
    ],
    [
      'import { spawn } from "node:child_process"; await new Promise(done => spawn("true", ["a"]).on("exit", done))',
      ['process true'],
    ],
    [
      'import { execFile } from "node:child_process"; import { promisify } from "node:util"; await promisify(execFile)("true")',
      ['process true'],
    ],
    [
      'import net from "node:net"; const s = net.createServer(); await new Promise(done => s.listen(0, "127.0.0.1", done)); s.close()',
      ['socket listen 127.0.0.1:0'],
    ],
    ['import dns from "node:dns/promises"; await dns.lookup("localhost")', ['dns localhost']],
    [
      'import { Worker } from "node:worker_threads"; const w = new Worker("1", { eval: true }); await new Promise(done => w.on("exit", done)); if (!(w instanceof Worker)) throw 0',
      ['worker 1'],
    ],
    ['const c = require("child_process").spawnSync("sleep", ["0"]); process.kill(process.ppid, 0)', ['process sleep']],
    ['import { generateKeyPairSync } from "node:crypto"; generateKeyPairSync("ed25519")', ['entropy generateKeyPairSync']],
    ['await crypto.subtle.generateKey({ name: "AES-GCM", length: 128 }, true, ["encrypt"])', ['entropy generateKey']],
    ['return new WeakRef({}).deref()', ['gc WeakRef']],
    ['require("vm").runInNewContext("1")', ['realm']],
    ['import { DatabaseSync } from "node:sqlite"; new DatabaseSync("d.db").close()', ['database d.db']],
    ['import { watch } from "node:fs"; watch(".").close()', ['watch .']],
    [
      'process.stdout.write("x"); console.log("y"); require("fs").writeSync(1, "z"); process.chdir("/"); new Date(0); require("zlib").gzipSync("x"); structuredClone({})',
      [],
    ],
  ])('%s', async (source, expected) => {
    const worker = await shared()
    await worker.run(
      `process.chdir(${JSON.stringify(worker.cwd)}); for (const name of require('fs').readdirSync('.')) require('fs').rmSync(name, { recursive: true })`,
    )
    expect(await effectsOf(source, worker)).toEqual(
      expected.map(each => (each === 'watch .' ? expect.stringMatching(/^watch /) : each)),
    )
  })

  it('is a request, told once however much it does inside', async () => {
    const server = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise(resolve => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    expect(await effectsOf(`const r = await fetch("http://127.0.0.1:${port}/path?secret=1"); return await r.text()`)).toEqual([
      `fetch http://127.0.0.1:${port}`,
    ])
    const get = `import http from "node:http"; const body = await new Promise((done, fail) => http.get("http://localhost:${port}/", r => { r.resume(); r.on("end", () => done(r.statusCode)) }).on("error", fail)); return body`
    expect(await effectsOf(get)).toEqual([`socket localhost:${port}`])
  })

  it('is seen in modules of the project and in packages', async () => {
    const cwd = temporaryFolder()
    writeFileSync(
      join(cwd, 'm.mjs'),
      'import { writeFileSync as write } from "node:fs"; export const save = () => write("from-module", "x")\n',
    )
    mkdirSync(join(cwd, 'node_modules/p'), { recursive: true })
    writeFileSync(join(cwd, 'node_modules/p/package.json'), '{"name":"p","main":"i.js"}')
    writeFileSync(
      join(cwd, 'node_modules/p/i.js'),
      'const { writeFileSync } = require("fs"); exports.save = () => writeFileSync("from-package", "x")\n',
    )
    const worker = await startRawWorker({ cwd })
    expect(await effectsOf('import { save } from "./m.mjs"; import p from "p"; return 1', worker)).toEqual([])
    expect(await effectsOf('save(); p.save()', worker)).toEqual(['file from-module', 'file from-package'])
  })

  it('is told at once, the first of its kind, and again with the cell that made it', async () => {
    const worker = await startRawWorker()
    await effectsOf('const fs = require("fs"); fs.writeFileSync("a", ""); fs.writeFileSync("b", "")', worker)
    expect(worker.said.filter(message => message.t === 'effect')).toEqual([
      { t: 'effect', cell: 1, kind: 'file', subject: join(worker.cwd, 'a') },
    ])
  })

  it('of a callback after its end belongs to its cell', async () => {
    const worker = await startRawWorker()
    expect(await effectsOf('setTimeout(() => require("fs").writeFileSync("late", ""), 10)', worker)).toEqual([])
    await new Promise(resolve => setTimeout(resolve, 50))
    await worker.run('return 1')
    const late = worker.said.filter(message => message.t === 'late')
    expect(late).toMatchObject([{ cell: 1, tape: { effects: [{ kind: 'file', subject: join(worker.cwd, 'late') }] } }])
  })

  it('is what a cell was broken off in', async () => {
    const worker = await startRawWorker()
    const running = worker.run('await new Promise(() => {})')
    await new Promise(resolve => setTimeout(resolve, 20))
    worker.send({ t: 'abandon', cell: 1 })
    expect((await running).done.effects).toEqual([{ kind: 'interrupted', count: 1 }])
  })
})

describe('a stamp', () => {
  async function stamps(source: string, prepare: (cwd: string) => void = () => {}) {
    const cwd = temporaryFolder()
    prepare(cwd)
    const worker = await startRawWorker({ cwd, env: { OWN: 'value' } })
    const { done } = await worker.run(source)
    expect(done.failure).toBeUndefined()
    expect(done.effects).toEqual([])
    const changed = async (): Promise<readonly string[]> => {
      const answer = await worker.ask({ t: 'verify', n: 1, stamps: done.stamps }, 'verified')
      return answer.changed.map(index => done.stamps[index]!.of)
    }
    return {
      cwd,
      stamps: done.stamps.map(({ of, path }) => `${of} ${path.replace(`${cwd}/`, '').replace(cwd, '.')}`),
      changed,
      worker,
    }
  }

  it.each([
    ['import fs from "node:fs"; fs.readFileSync("f.txt", "utf8"); fs.readFileSync("f.txt")', ['file f.txt']],
    [
      'import { readFile, stat, readdir, access } from "node:fs/promises"; await readFile("f.txt"); await stat("f.txt"); await readdir("."); await access("f.txt")',
      ['file f.txt', 'stat f.txt', 'directory .', 'exists f.txt'],
    ],
    [
      'const fs = require("fs"); await new Promise((done, fail) => fs.readFile("f.txt", (e, d) => e ? fail(e) : done(d))); fs.existsSync("none"); fs.realpathSync("f.txt"); fs.realpathSync.native("f.txt")',
      ['file f.txt', 'exists none', 'link f.txt'],
    ],
    [
      'const fs = require("fs"); let t = ""; for await (const c of fs.createReadStream("f.txt")) t += c; return t',
      ['file f.txt'],
    ],
    [
      'const fs = require("fs"); const d = fs.openSync("f.txt"); fs.readSync(d, Buffer.alloc(2)); fs.closeSync(d)',
      ['file f.txt'],
    ],
    ['const h = await require("fs/promises").open("f.txt"); await h.readFile(); await h.close()', ['file f.txt']],
    ['return [process.env.OWN, process.env.NONE, "HOME" in process.env]', ['env OWN', 'env NONE', 'env HOME']],
    ['process.env.OWN = "1"; return process.env.OWN', []],
    ['import "./m.mjs"; require("./d.json")', ['file m.mjs', 'file d.json']],
    ['return (await import("./m.mjs")).m', ['file m.mjs']],
  ])('%s', async (source, expected) => {
    const { stamps: found } = await stamps(source, cwd => {
      writeFileSync(join(cwd, 'f.txt'), 'text')
      writeFileSync(join(cwd, 'm.mjs'), 'export const m = 1')
      writeFileSync(join(cwd, 'd.json'), '{}')
    })
    expect(found).toEqual(expected)
  })

  it('holds until the file is another', async () => {
    const { cwd, changed } = await stamps(
      'const fs = require("fs"); fs.readFileSync("f.txt"); fs.statSync("f.txt"); fs.readdirSync("."); fs.existsSync("later"); return process.env.OWN',
      cwd => writeFileSync(join(cwd, 'f.txt'), 'text'),
    )
    expect(await changed()).toEqual([])
    utimesSync(join(cwd, 'f.txt'), 1, 1)
    expect(await changed()).toEqual(['stat'])
    writeFileSync(join(cwd, 'f.txt'), 'other')
    expect(await changed()).toEqual(['file', 'stat'])
    writeFileSync(join(cwd, 'later'), '')
    expect(await changed()).toEqual(['file', 'stat', 'directory', 'exists'])
  })

  it('is not taken of files that the platform reads for itself', async () => {
    const { stamps: found } = await stamps('return require("p").v', cwd => {
      mkdirSync(join(cwd, 'node_modules/p'), { recursive: true })
      writeFileSync(join(cwd, 'node_modules/p/package.json'), '{"name":"p","main":"i.js"}')
      writeFileSync(join(cwd, 'node_modules/p/i.js'), 'exports.v = 1\n')
    })
    expect(found).toEqual([])
  })
})

describe('a replaced function', () => {
  const shared = sharedWorker()
  it.each([
    'fs',
    'fs/promises',
    'child_process',
    'dns',
    'crypto',
    'timers',
    'timers/promises',
    'os',
    'net',
    'vm',
    'v8',
    'worker_threads',
    'dgram',
  ])('of %s keeps name, length and all own properties', async name => {
    const worker = await shared()
    // A process without an engine says how they are.
    const describeAll = `(module => Object.entries(Object.getOwnPropertyDescriptors(module)).flatMap(([key, { value }]) => typeof value !== 'function' ? [] : [[key, value.name, value.length, Reflect.ownKeys(value).map(String).join(), typeof value.prototype]]))`
    const plain = JSON.parse(
      (await import('node:child_process')).execFileSync(
        process.execPath,
        ['-p', `JSON.stringify(${describeAll}(require(${JSON.stringify(name)})))`],
        { encoding: 'utf8' },
      ),
    ) as unknown
    expect((await worker.run(`return ${describeAll}(require(${JSON.stringify(name)}))`)).value).toEqual(plain)
  })

  it('is what modules export, too', async () => {
    const source =
      'import * as all from "node:fs"; import fs, { readFileSync } from "node:fs"; import { setTimeout as wait } from "node:timers"; return [all.readFileSync === fs.readFileSync, readFileSync === require("fs").readFileSync, wait === setTimeout, fs.promises === require("fs/promises"), typeof require("util").promisify(fs.exists)]'
    const worker = await shared()
    expect((await worker.run(source)).value).toEqual([true, true, true, true, 'function'])
  })

  it('fails as the original does', async () => {
    const source =
      'const said = []; for (const f of [() => setTimeout(1), () => require("fs").readFileSync(), () => require("crypto").randomBytes(-1), () => crypto.getRandomValues(new Float32Array(1)), () => require("fs").writeFileSync({}, "")]) { try { f() } catch (e) { said.push(e.code ?? e.name) } } return said'
    const worker = await shared()
    expect((await worker.run(source)).value).toEqual([
      'ERR_INVALID_ARG_TYPE',
      'ERR_INVALID_ARG_TYPE',
      'ERR_OUT_OF_RANGE',
      17,
      'ERR_INVALID_ARG_TYPE',
    ])
  })

  it('is not fooled by a cell that changes what the language has', async () => {
    const own = await startRawWorker()
    const source =
      'const fs = require("fs"); const bad = () => { throw new TypeError("mine") }; for (const k of ["slice", "map", "filter", "join", "concat", "flatMap", "includes", "entries", "find"]) Array.prototype[k] = bad; for (const k of ["slice", "replace", "startsWith", "split", "padStart"]) String.prototype[k] = bad; for (const k of ["get", "set", "has"]) Map.prototype[k] = bad; globalThis.JSON = undefined; globalThis.Reflect = undefined; globalThis.Error = undefined; fs.writeFileSync("a", ""); Date.now(); Math.random(); return 1'
    const { done } = await own.run(source)
    expect(done).toMatchObject({ outcome: 'ok', effects: [{ kind: 'file' }] })
    expect(done.tape?.seed).toMatch(/^[\da-f]{32}$/)
    expect((await own.run('const it = [1]')).done.outcome).toBe('ok')
    expect((await own.check(['it']))[0]!.component).toMatchObject({ names: ['it'], sent: true })
  })

  it('adds at most two microseconds', async () => {
    const source = `const fs = require("fs"); const { performance: p } = require("perf_hooks")
      const time = (f, n) => { for (let i = 0; i < 2_000; i++) f(); let best = Infinity; for (let r = 0; r < 5; r++) { const at = process.hrtime.bigint(); for (let i = 0; i < n; i++) f(); best = Math.min(best, Number(process.hrtime.bigint() - at) / n / 1000) } return best }
      const d = fs.openSync("/dev/null", "r+"); const b = Buffer.alloc(1)
      const plain = time(() => fs.fstatSync(d), 3_000)
      return [time(() => Date.now(), 3_000), time(() => Math.random(), 3_000), time(() => fs.writeSync(d, b), 3_000) - plain]`
    const worker = await shared()
    const times = (await worker.run(source)).value as number[]
    // A machine that others use: twice the bound.
    for (const each of times) expect(each).toBeLessThan(4)
  })
})
