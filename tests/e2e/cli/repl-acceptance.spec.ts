/**
 * The acceptance table of the REPL on the built program, through `repl serve`: a row is what a client sends and what the last answers say. Every row has
 * a process, a session and a folder of its own.
 */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { buildProgram, type Program } from '../../support/cli/program.ts'
import { type Line, type Served, type ServeOptions, serveSession } from '../../support/repl/served.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000, maxConcurrency: 3 })

let program: Program
beforeAll(async () => {
  program = await buildProgram()
})
afterAll(() => program?.remove())

interface Row extends Served {
  readonly folder: string
  /** One cell after the other; all answers. */
  cells(...codes: readonly string[]): Promise<readonly Line[]>
  /** Another process on the same session. */
  another(options?: ServeOptions): Served
}

const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

function row(id: string, what: string, check: (row: Row) => Promise<void>): void {
  it.concurrent(`${id}: ${what}`, async ({ onTestFinished }) => {
    const folder = program.folder()
    const start = (options?: ServeOptions): Served => {
      const served = serveSession(program, folder, options)
      onTestFinished(() => void served.child.kill('SIGKILL'))
      return served
    }
    const served = start()
    const cells = async (...codes: readonly string[]): Promise<readonly Line[]> => {
      const answers: Line[] = []
      for (const code of codes) answers.push(await served.run(code))
      return answers
    }
    await check({ ...served, folder, cells, another: start })
  })
}

row('A01', 'a constant is declared again', async ({ cells }) => {
  const [first, second] = await cells('const a = 1', 'const a = 2; return a')
  expect(first).toMatchObject({ ok: true, bindings: { added: ['a'] } })
  expect(second).toMatchObject({ value: 2, bindings: { added: [], changed: ['a'] } })
})

row('A02', 'a closure sees the new value', async ({ cells }) => {
  const answers = await cells('let n = 1; const read = () => n', 'let n = 5', 'return read()')
  expect(answers[2]).toMatchObject({ value: 5 })
})

row('A03', 'an object keeps its class', async ({ cells }) => {
  const answers = await cells(
    'class A { v() { return "old" } } const o = new A()',
    'class A { v() { return "new" } }',
    'return [o.v(), new A().v()]',
  )
  expect(answers[2]).toMatchObject({ value: ['old', 'new'] })
})

row('A04', 'a name whose initialiser failed does not exist', async ({ cells }) => {
  const [failed, type, again] = await cells(
    'let y = await Promise.reject(new Error("no"))',
    'return typeof y',
    'let y = 3; return y',
  )
  expect(failed).toMatchObject({ outcome: 'threw' })
  expect(type).toMatchObject({ value: 'undefined' })
  expect(again).toMatchObject({ value: 3 })
})

row('A05', 'what was declared before a failure stays', async ({ cells }) => {
  const [failed, after] = await cells(
    'const a1 = 1; const b1 = JSON.parse("{"); const c1 = 2',
    'return [a1, typeof b1, typeof c1]',
  )
  expect(failed).toMatchObject({ error: { state: 'partial' } })
  expect(after).toMatchObject({ value: [1, 'undefined', 'undefined'] })
})

row('A06', 'a constant cannot be assigned to', async ({ cells }) => {
  const [, failed, after] = await cells('const k = 1', 'k = 2', 'return k')
  expect(failed).toMatchObject({ outcome: 'threw', error: { code: 'OUT-X001', name: 'TypeError' } })
  expect(after).toMatchObject({ value: 1 })
})

row('A07', 'twice in one cell is an early error', async ({ run }) => {
  expect(await run('const s = 1; const s = 2')).toMatchObject({
    outcome: 'rejected',
    error: { code: 'OUT-N002', position: { line: 1, column: 20 }, state: 'unchanged' },
  })
})

row('A08', 'a reserved name cannot be declared', async ({ run }) => {
  expect(await run('const tools = 1')).toMatchObject({ outcome: 'rejected', error: { code: 'OUT-N001' } })
})

row('A09', 'an enum runs', async ({ run }) => {
  expect(await run('enum Color { Red = 1, Blue = Red << 2 } return Color.Blue')).toMatchObject({ value: 4 })
})

row('A10', 'a namespace runs', async ({ run }) => {
  const code = 'namespace N { export let hits = 0; export function hit() { return ++hits } } N.hit(); return N.hits'
  expect(await run(code)).toMatchObject({ value: 1 })
})

row('A11', 'parameter properties run', async ({ run }) => {
  const answer = await run('class P { constructor(public x: number, readonly y = 2) {} } return new P(1)')
  expect(answer).toMatchObject({ valueKind: 'graph', preview: 'P { x: 1, y: 2 }' })
  expect(answer).not.toHaveProperty('value')
})

row('A12', 'decorators run', async ({ run }) => {
  const code =
    'function twice(m: any, _: unknown) { return function (this: any) { return 2 * m.call(this) } } class D { @twice n() { return 21 } } return new D().n()'
  expect(await run(code)).toMatchObject({ value: 42 })
})

row('A13', 'an import stays', async ({ cells }) => {
  const [first, second] = await cells('import { join } from "node:path"; return join("a", "b")', 'return join("c")')
  expect(first).toMatchObject({ value: 'a/b' })
  expect(second).toMatchObject({ value: 'c', durability: { class: 'pure' } })
})

row('A14', 'an import that the module lacks is rejected before anything runs', async ({ run }) => {
  expect(await run('import { nope } from "node:path"; console.log("ran")')).toMatchObject({
    outcome: 'rejected',
    error: { code: 'OUT-C004' },
    logs: [],
  })
})

row('A15', 'a Map is readable', async ({ run }) => {
  expect(await run('return new Map([["k", { a: 1 }]])')).toMatchObject({
    valueKind: 'graph',
    preview: 'Map(1) { "k" => { a: 1 } }',
    handle: 'v1',
  })
})

row('A16', 'a cycle is readable', async ({ run }) => {
  expect(await run('const o: any = {}; o.self = o; return o')).toMatchObject({ preview: '&1 { self: *1 }' })
})

row('A17', 'what JSON has no word for is readable', async ({ run }) => {
  expect(await run('return [1, , NaN, -0, 10n]')).toMatchObject({ preview: '[1, <1 hole>, NaN, -0, 10n]' })
})

row('A18', 'output has its stream and its order', async ({ run }) => {
  expect(await run('console.log("a"); console.error("b"); process.stdout.write("c\\n")')).toMatchObject({
    logs: [
      { text: 'a', stream: 'stdout' },
      { text: 'b', stream: 'stderr' },
      { text: 'c', stream: 'stdout' },
    ],
    valueKind: 'none',
  })
})

row('A19', 'a callback that fails later is a warning of the next answer', async ({ run }) => {
  await run('setTimeout(() => { throw new Error("late") }, 5); return 0')
  await sleep(150)
  const next = await run('return 1')
  expect(next).toMatchObject({ outcome: 'ok', value: 1 })
  expect(next['warnings']).toMatchObject([{ code: 'OUT-W101', cell: 1 }])
})

row('A20', 'a thrown 0 is a failure', async ({ run }) => {
  expect(await run('throw 0')).toMatchObject({ ok: false, outcome: 'threw', error: { name: 'Thrown', message: '0' } })
})

row('A21', 'a stack that overflows costs nothing', async ({ cells }) => {
  const [failed, after] = await cells('function so(): any { return so() } so()', 'return 2')
  expect(failed).toMatchObject({ outcome: 'threw', error: { name: 'RangeError' } })
  expect(after).toMatchObject({ value: 2 })
})

row('A22', 'a loop is stopped and the names stay', async ({ run }) => {
  await run('const keep = [1]')
  expect(await run('while (true) {}', { computeMs: 300 })).toMatchObject({ outcome: 'timeout', error: { code: 'OUT-T001' } })
  expect(await run('return keep')).toMatchObject({ value: [1] })
})

row('A23', 'waiting for ever is stopped and the names stay', async ({ run }) => {
  await run('const keep = 1')
  const stopped = await run('await new Promise(() => {})', { wallMs: 300 })
  expect(stopped).toMatchObject({ outcome: 'timeout', error: { code: 'OUT-T002' } })
  expect(await run('return keep')).toMatchObject({ value: 1 })
})

row('A24', 'a cell cannot end the process', async ({ run, ask }) => {
  await run('const keep = 1')
  const { worker } = await ask({ op: 'state' })
  expect(await run('process.exit(2)')).toMatchObject({ outcome: 'threw', error: { code: 'OUT-X002' } })
  expect(await run('return keep')).toMatchObject({ value: 1 })
  expect((await ask({ op: 'state' }))['worker'].pid).toBe(worker.pid)
})

row('A33', 'an edit runs as a new cell', async ({ run, edit }) => {
  await run('return 1 + 1')
  expect(await edit({ edits: [{ old_string: '+ 1', new_string: '+ 41' }] })).toMatchObject({
    edited: true,
    target: 1,
    cell: 2,
    value: 42,
  })
})

row('A34', 'an edit that misses its count makes no cell', async ({ run, edit, ask }) => {
  await run('const q = [1, 1]')
  const request = { regex_edits: [{ pattern: '1', flags: '', replacement: '2', expected_matches: 3 }] }
  expect(await edit(request)).toMatchObject({ edited: false, error: { code: 'OUT-E004' } })
  expect(await ask({ op: 'history' })).toMatchObject({ head: 1, cells: [{ cell: 1 }] })
})

row('A35', 'an edit that expects another cell is refused', async ({ cells, edit }) => {
  await cells('return 1', 'return 2')
  expect(await edit({ edits: [{ old_string: '2', new_string: '3' }], expected_target: 1 })).toMatchObject({
    edited: false,
    error: { code: 'OUT-E007' },
  })
})

row('A36', 'the edit that a failure offers works as it stands', async ({ run, edit }) => {
  const broken = await run('const f = () => { return [1, 2')
  expect(broken).toMatchObject({ outcome: 'rejected', error: { code: 'OUT-C001', edit: { append: ']}' } } })
  expect(await edit(broken['error'].edit)).toMatchObject({ edited: true, ok: true })
})

row('A39', 'columns count UTF-16 units', async ({ run }) => {
  expect(await run('const s = "😀"; null.x')).toMatchObject({ error: { position: { line: 1, column: 22 } } })
})

row('A40', 'a rejection that nobody handles is a warning', async ({ run }) => {
  const answer = await run('Promise.reject(new Error("quiet")); return 1')
  expect(answer).toMatchObject({ outcome: 'ok', value: 1 })
  expect(answer['warnings']).toMatchObject([{ code: 'OUT-W102' }])
})

row('A41', 'a name of the platform is hidden from cells only', async ({ cells }) => {
  const answers = await cells('const fetch = 1', 'return [fetch, typeof globalThis.fetch]')
  expect(answers[1]).toMatchObject({ value: [1, 'function'] })
})

row('A42', 'the last expression is shown when asked for', async ({ run }) => {
  const shown = await run('1 + 1', { echo: 'last' })
  expect(shown).toMatchObject({ preview: '2' })
  expect(shown).not.toHaveProperty('value')
  const silent = await run('1 + 1')
  expect(silent).toMatchObject({ valueKind: 'none' })
  expect(silent).not.toHaveProperty('preview')
})

row('A25', 'a killed worker costs no name', async ({ run, ask }) => {
  await run('const list = [1, 2]')
  await ask({ op: 'kill9' })
  expect(await run('return list')).toMatchObject({ value: [1, 2], recovery: { reason: 'worker-exit', counts: { lost: 0 } } })
})

row('A26', 'what a cell did outside is not done again', async ({ run, ask }) => {
  const first = await run('import fs from "node:fs"; fs.appendFileSync("log.txt", "x"); const size = fs.statSync("log.txt").size')
  expect(first['durability'].class).toBe('effect')
  await ask({ op: 'kill9' })
  const after = await run('return [size, fs.readFileSync("log.txt", "utf8")]')
  expect(after['value']).toEqual([1, 'x'])
  expect(after['recovery'].bindings).toContainEqual({ name: 'size', status: 'snapshot', cell: 1 })
})

row('A27', 'time and random numbers are as they were', async ({ cells, ask, run }) => {
  const [, before] = await cells('const stamp = Date.now(); const pick = Math.random()', 'return [stamp, pick]')
  await ask({ op: 'kill9' })
  expect((await run('return [stamp, pick]'))['value']).toEqual(before!['value'])
})

row('A28', 'a closure over local state is as it was', async ({ run, ask }) => {
  await run('const counter = (() => { let c = 0; return { up: () => ++c } })(); counter.up(); counter.up()')
  await ask({ op: 'kill9' })
  const after = await run('return counter.up()')
  expect(after['value']).toBe(3)
  expect(after['recovery'].bindings).toContainEqual({ name: 'counter', status: 'replayed', cell: 1 })
})

row('A29', 'an open handle is lost, by name', async ({ run, ask }) => {
  await run('import net from "node:net"; const srv = net.createServer().listen(0)')
  await ask({ op: 'kill9' })
  const after = await run('return typeof srv')
  expect(after['value']).toBe('undefined')
  expect(after['recovery'].bindings).toContainEqual({ name: 'srv', status: 'lost', reason: 'open-handle', cell: 1 })
  expect(await run('return srv')).toMatchObject({ outcome: 'threw', error: { code: 'OUT-R003' } })
})

row('A30', 'a tool is asked once', async ({ run, ask, send, until, lines }) => {
  const tools = [{ name: 'next' }]
  const first = run('const t = await tools.next({}); return t', { tools })
  const call = await until(line => line['event'] === 'call')
  send({ op: 'call-result', cell: call['cell'], call: call['call'], ok: true, value: 42 })
  expect((await first)['value']).toBe(42)
  await ask({ op: 'kill9' })
  expect((await run('return t', { tools }))['value']).toBe(42)
  expect(lines.filter(line => line['event'] === 'call')).toHaveLength(1)
})

row('A31', 'a named state is restored', async ({ run, ask }) => {
  await run('const v = 1')
  expect(await ask({ op: 'state', action: 'save', name: 'base' })).toMatchObject({ ok: true, name: 'base' })
  await run('const v = 2')
  expect(await ask({ op: 'state', action: 'restore', name: 'base' })).toMatchObject({ ok: true, head: 1 })
  expect((await run('return v'))['value']).toBe(1)
})

row('A32', 'a cell is made the head', async ({ cells, run, ask }) => {
  await cells('const w = 1', 'const w = 2')
  await ask({ op: 'state', action: 'restore', cell: 1 })
  expect(await run('return w')).toMatchObject({ value: 1, cell: 3 })
  expect((await ask({ op: 'history' }))['cells'].at(-1)).toMatchObject({ cell: 3, parent: 1 })
})

row('A37', 'a session that was closed goes on', async ({ run, close, another }) => {
  await run('const p = 1')
  await close()
  const next = another()
  expect(await next.run('return p')).toMatchObject({ value: 1, recovery: { reason: 'host-restart' } })
  expect((await next.run('return p'))['recovery']).toBeUndefined()
})

row('A38', 'a second process is refused', async ({ run, another }) => {
  await run('const q = 1')
  const second = another()
  expect(await second.until(() => true)).toMatchObject({ error: { code: 'REPL_HELD' } })
  expect(await second.exit).toBe(4)
})
