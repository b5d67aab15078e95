/**
 * What comes back after `kill -9`, over twenty sessions as agents have them: `npm run bench -- repl-recovery`. Each plays its cells, loses its worker, and
 * asks for every name. Printed is the share of names by status and, for those that are lost, why. Sockets, servers and children that run cannot come back
 * and are part of the sessions on purpose.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openProject } from '../src/node/open.ts'
import { openRepl } from '../src/node/repl.ts'
import type { BindingStatus } from '../src/repl/types.ts'

interface Played {
  readonly what: string
  readonly cells: readonly string[]
}

const sessions = (url: string): readonly Played[] => [
  {
    what: 'read and parse a file',
    cells: [
      'import { readFileSync } from "node:fs"; const text = readFileSync("data.csv", "utf8")',
      'const rows = text.trim().split("\\n").map(line => line.split(","))',
      'const [head, ...body] = rows; const total = body.reduce((sum, row) => sum + Number(row[1]), 0)',
    ],
  },
  {
    what: 'JSON of a project',
    cells: [
      'import { readFile } from "node:fs/promises"; const pack = JSON.parse(await readFile("package.json", "utf8"))',
      'const names = Object.keys(pack.dependencies ?? {}); let count = names.length',
      'function byName(a: string, b: string) { return a < b ? -1 : 1 } names.sort(byName)',
    ],
  },
  {
    what: 'ask git',
    cells: [
      'import { execFileSync } from "node:child_process"; const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" }).trim()',
      'const head = git("rev-parse", "HEAD"); const log = git("log", "--format=%s").split("\\n")',
      'const summary = { head: head.slice(0, 7), subjects: log.length }',
    ],
  },
  {
    what: 'fetch from a server',
    cells: [
      `const answer = await fetch("${url}/items"); const status = answer.status; const items = await answer.json()`,
      'const byId = new Map(items.map((item: any) => [item.id, item]))',
      'const ids = [...byId.keys()]; const largest = Math.max(...ids)',
    ],
  },
  {
    what: 'a table of numbers',
    cells: [
      'const table = Array.from({ length: 2_000 }, (_, i) => ({ id: i, square: i * i, even: i % 2 === 0 }))',
      'const even = table.filter(row => row.even); const sum = even.reduce((all, row) => all + row.square, 0)',
      'const index = new Map(table.map(row => [row.id, row])); const big = new Float64Array(table.map(row => row.square))',
    ],
  },
  {
    what: 'classes and instances',
    cells: [
      'class Account { balance = 0; constructor(readonly owner: string) {} add(n: number) { this.balance += n; return this } }',
      'const ann = new Account("Ann").add(5); const bob = new Account("Bob"); const all = [ann, bob]',
      'ann.add(10); const rich = all.filter(each => each.balance > 3)',
    ],
  },
  {
    what: 'private fields',
    cells: [
      'class Counter { #n = 0; next() { return ++this.#n } }',
      'const counter = new Counter(); counter.next(); counter.next()',
      'const seen = counter.next()',
    ],
  },
  {
    what: 'closures over local state',
    cells: [
      'const makeId = (() => { let last = 0; return () => `id-${++last}` })()',
      'const first = makeId(); const second = makeId()',
      'const memo = (() => { const known = new Map<number, number>(); return (n: number): number => known.get(n) ?? (known.set(n, n * n), n * n) })(); memo(4)',
    ],
  },
  {
    what: 'time and random numbers',
    cells: [
      'const began = Date.now(); const day = new Date().toISOString().slice(0, 10)',
      'const sample = Array.from({ length: 50 }, () => Math.random()); const id = crypto.randomUUID()',
      'const mean = sample.reduce((a, b) => a + b, 0) / sample.length',
    ],
  },
  {
    what: 'timers that are awaited',
    cells: [
      'const sleep = (ms: number) => new Promise(done => setTimeout(done, ms)); const order: string[] = []',
      'await Promise.all([sleep(20).then(() => order.push("slow")), sleep(5).then(() => order.push("fast"))])',
      'const done = order.join()',
    ],
  },
  {
    what: 'an interval that goes on',
    cells: ['let ticks = 0; const timer = setInterval(() => { ticks++ }, 5_000)', 'const note = "still here"; const limit = 10'],
  },
  {
    what: 'a server that listens',
    cells: [
      'import { createServer } from "node:http"; const hits: string[] = []; const server = createServer((q, r) => { hits.push(q.url!); r.end("ok") })',
      'await new Promise<void>(done => server.listen(0, "127.0.0.1", done)); const port = (server.address() as any).port',
      'const settings = { retries: 3 }; const label = `port ${port}`',
    ],
  },
  {
    what: 'write files',
    cells: [
      'import { mkdirSync, writeFileSync, readdirSync } from "node:fs"; mkdirSync("out", { recursive: true })',
      'for (let i = 0; i < 3; i++) writeFileSync(`out/${i}.txt`, `file ${i}`); const files = readdirSync("out")',
      'const report = files.map(file => ({ file, length: file.length }))',
    ],
  },
  {
    what: 'walk a folder',
    cells: [
      'import { readdirSync, statSync } from "node:fs"; import { join } from "node:path"; const walk = (dir: string): string[] => readdirSync(dir, { withFileTypes: true }).flatMap(e => e.isDirectory() ? walk(join(dir, e.name)) : [join(dir, e.name)])',
      'const found = walk("src"); const sizes = found.map(path => [path, statSync(path).size] as const)',
      'const largest = sizes.toSorted((a, b) => b[1] - a[1])[0]',
    ],
  },
  {
    what: 'patterns and dates',
    cells: [
      'const word = /\\b(\\w+)\\b/g; const said = "one two three"; const words = [...said.matchAll(word)].map(m => m[1])',
      'const when = new Date(0); const link = new URL("http://localhost/a?b=1"); const big = 12n ** 20n',
      'const set = new Set(words); const tagged = new Map([[when, link]])',
    ],
  },
  {
    what: 'enums and namespaces',
    cells: [
      'enum Level { Low = 1, High = 10 } namespace Scale { export const factor = 3; export function of(level: Level) { return level * factor } }',
      'const high = Scale.of(Level.High); let level = Level.Low',
      'level = Level.High; const isHigh = level === Level.High',
    ],
  },
  {
    what: 'errors that were kept',
    cells: [
      'const failures: Error[] = []; try { JSON.parse("{") } catch (error) { failures.push(error as Error) }',
      'const messages = failures.map(each => each.message); const wrapped = new Error("outer", { cause: failures[0] })',
    ],
  },
  {
    what: 'modules of the project',
    cells: [
      'import { slug, version } from "./lib.mjs"; const made = slug("Hello World")',
      'const all = ["A b", "C d"].map(slug); const stamp = `${version}-${all.length}`',
    ],
  },
  {
    what: 'generators and promises',
    cells: [
      'function* numbers() { let n = 0; while (true) yield n++ } const taken = numbers().take(5).toArray()',
      'const settled = Promise.resolve(7); const value = await settled; const cursor = numbers(); cursor.next()',
    ],
  },
  {
    what: 'tools of the host',
    cells: [
      'const page = await tools.lookup({ id: 1 }); const title = page.title',
      'const pages = await Promise.all([2, 3, 4].map(id => tools.lookup({ id }))); const titles = pages.map(p => p.title)',
    ],
  },
]

export async function run(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'outrigger-repl-recovery-'))
  mkdirSync(join(root, '.outrigger', 'state'), { recursive: true })
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'application/json').end('[{"id":1},{"id":2},{"id":9}]'),
  ).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  fill(root)
  const project = await openProject({ cwd: root, env: process.env, door: 'cli', isTerminal: false })
  const counts: Record<BindingStatus, number> = { exact: 0, replayed: 0, snapshot: 0, lost: 0 }
  try {
    for (const [index, { what, cells }] of sessions(`http://127.0.0.1:${(server.address() as AddressInfo).port}`).entries()) {
      const session = await openRepl(project, { session: `played-${index}`, cwd: root })
      const options = {
        tools: [{ name: 'lookup' }],
        call: async ({ arguments: args }: { readonly arguments: unknown }) => ({
          ok: true as const,
          value: { title: `page ${(args as { readonly id: number }).id}` },
        }),
      }
      for (const code of cells) {
        const result = await session.run(code, options)
        if (!result.ok) throw new Error(`${what}: ${result.error?.message}`)
      }
      session.kill9()
      await new Promise(resolve => setTimeout(resolve, 50))
      const { recovery } = await session.run('return 1')
      const lost = recovery?.bindings.filter(each => each.status === 'lost') ?? []
      for (const status of Object.keys(counts) as BindingStatus[]) counts[status] += recovery?.counts[status] ?? 0
      const told = lost.map(({ name, reason }) => `${name} (${reason})`).join(', ')
      const { exact = 0, replayed = 0, snapshot = 0 } = recovery?.counts ?? {}
      console.log(
        `${what.padEnd(28)} ${String(exact).padStart(3)} exact ${String(replayed).padStart(3)} replayed ${String(snapshot).padStart(3)} snapshot  ${String(recovery?.ms ?? 0).padStart(5)} ms${told === '' ? '' : `  lost: ${told}`}`,
      )
      await session.close()
    }
  } finally {
    await project.close()
    server.close()
    server.closeAllConnections()
    rmSync(root, { recursive: true, force: true, maxRetries: 3 })
  }
  const all = counts.exact + counts.replayed + counts.snapshot + counts.lost
  const share = (count: number): string => `${((100 * count) / all).toFixed(1)} %`
  console.log(
    `${all} names: ${share(counts.exact)} exact, ${share(counts.replayed)} replayed, ${share(counts.snapshot)} snapshot, ${share(counts.lost)} lost; goal: at most 5 % lost`,
  )
}

/** A small project with a history. */
function fill(root: string): void {
  mkdirSync(join(root, 'src'))
  writeFileSync(join(root, 'data.csv'), `name,amount\n${Array.from({ length: 50 }, (_, i) => `row${i},${i}`).join('\n')}\n`)
  writeFileSync(join(root, 'package.json'), '{"name":"played","dependencies":{"b":"1","a":"1"}}\n')
  writeFileSync(
    join(root, 'lib.mjs'),
    'export const version = 3\nexport const slug = text => text.toLowerCase().replaceAll(" ", "-")\n',
  )
  for (const name of ['one', 'two']) writeFileSync(join(root, 'src', `${name}.ts`), `export const ${name} = 1\n`)
  const git = (...args: readonly string[]): void =>
    void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: root, stdio: 'ignore' })
  git('init')
  git('add', '.')
  git('commit', '-m', 'Begin')
}
