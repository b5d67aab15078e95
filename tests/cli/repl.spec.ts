/** `outrigger repl` as it ships: built, in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { buildProgram, type Program } from '../support/cli/program.ts'

type Line = Record<string, any>

let program: Program
beforeAll(async () => {
  program = await buildProgram()
})
afterAll(() => program.remove())

interface Served {
  readonly child: ChildProcess
  readonly lines: Line[]
  send(request: Line): void
  /** The next line that fits. */
  until(fits: (line: Line) => boolean): Promise<Line>
  ask(request: Line): Promise<Line>
  exit: Promise<number | null>
}

function serve(cwd: string, session: string, env: Record<string, string> = {}): Served {
  const child = spawn(process.execPath, [program.main, 'repl', 'serve', '--session', session, '--json-lines'], {
    cwd,
    env: { ...program.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: Line[] = []
  const seen = new Set<Line>()
  let text = ''
  let wake = (): void => {}
  child.stdout!.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      lines.push(JSON.parse(text.slice(0, end)))
      text = text.slice(end + 1)
    }
    wake()
  })
  const until = async (fits: (line: Line) => boolean): Promise<Line> => {
    for (;;) {
      const found = lines.find(line => !seen.has(line) && fits(line))
      if (found !== undefined) {
        seen.add(found)
        return found
      }
      await new Promise<void>(resolve => {
        wake = resolve
      })
    }
  }
  const send = (request: Line): void => void child.stdin!.write(`${JSON.stringify(request)}\n`)
  return {
    child,
    lines,
    send,
    until,
    ask: request => {
      send(request)
      return until(line => line['id'] === request['id'] && line['event'] === undefined)
    },
    exit: new Promise(resolve => child.once('exit', resolve)),
  }
}

describe('serve', () => {
  it('says hello, runs cells in order, and closes', async () => {
    const cwd = program.folder()
    const { ask, until, exit, send } = serve(cwd, './s')
    expect(await until(line => line['schema'] === 'outrigger.repl.hello/1')).toMatchObject({
      protocol: 1,
      session: './s',
      cells: 0,
      pid: expect.any(Number),
      node: process.version,
    })
    expect(await ask({ id: 1, op: 'run', code: 'const a = 1' })).toMatchObject({
      schema: 'outrigger.repl.run/1',
      ok: true,
      cell: 1,
      bindings: { added: ['a'] },
    })
    send({ id: 'slow', op: 'run', code: 'await new Promise(done => setTimeout(done, 300)); return "slow"' })
    send({ id: 'next', op: 'run', code: 'return "next"' })
    expect(await ask({ id: 2, op: 'state' })).toMatchObject({
      schema: 'outrigger.repl.state/1',
      ok: true,
      bindings: [{ name: 'a' }],
    })
    expect((await until(line => line['op'] === undefined && line['schema'] === 'outrigger.repl.run/1'))['id']).toBe('slow')
    expect((await until(line => line['schema'] === 'outrigger.repl.run/1'))['id']).toBe('next')
    expect(await ask({ id: 3, op: 'history', source: true })).toMatchObject({
      head: 3,
      cells: [{ cell: 1, parent: 0, source: 'const a = 1' }, { cell: 2, parent: 1 }, { cell: 3 }],
    })
    expect(await ask({ id: 4, op: 'close' })).toMatchObject({ ok: true })
    expect(await exit).toBe(0)
    expect(existsSync(join(cwd, 's', 'store.db'))).toBe(true)
  })

  it('passes calls of tools through, and what came of them', async () => {
    const { ask, send, until } = serve(program.folder(), './s')
    send({
      id: 1,
      op: 'run',
      code: 'const t = await tools.next({ n: 1 }); return t',
      tools: [{ name: 'next', parameters: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } }],
    })
    const call = await until(line => line['event'] === 'call')
    expect(call).toMatchObject({
      schema: 'outrigger.repl.call/1',
      id: 1,
      cell: 1,
      namespace: 'tools',
      name: 'next',
      arguments: { n: 1 },
    })
    send({ op: 'call-result', cell: 1, call: call['call'], ok: true, value: { deep: [1] } })
    expect(await until(line => line['id'] === 1 && line['event'] === undefined)).toMatchObject({
      ok: true,
      value: { deep: [1] },
      calls: [{ name: 'tools.next', outcome: 'ok' }],
      durability: { class: 'recorded' },
    })
    const tools = [{ name: 'next', parameters: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } }]
    expect(await ask({ id: 2, op: 'run', code: 'await tools.next({})', tools })).toMatchObject({
      ok: false,
      error: { code: 'OUT-P001', message: 'tools.next: arguments.n is required (integer)' },
    })
    expect(await ask({ id: 3, op: 'run', code: 'await tools.next({ n: undefined })', tools })).toMatchObject({
      error: { code: 'OUT-P001', message: expect.stringContaining('arguments.n is undefined') },
    })
    send({ id: 4, op: 'run', code: 'await tools.next({ n: 4 })', tools })
    const failing = await until(line => line['event'] === 'call')
    send({ op: 'call-result', cell: 4, call: failing['call'], ok: false, error: { message: 'no such thing' } })
    expect(await until(line => line['id'] === 4 && line['event'] === undefined)).toMatchObject({
      error: { name: 'ToolCallError', message: 'no such thing', tool: { name: 'tools.next' } },
    })
    send({ id: 5, op: 'run', code: 'tools.next({ n: 5 }); return 1', tools })
    await until(line => line['event'] === 'call')
    expect(await until(line => line['event'] === 'call-cancelled')).toMatchObject({ id: 5, cell: 5 })
    expect(await until(line => line['id'] === 5 && line['event'] === undefined)).toMatchObject({
      ok: true,
      warnings: [{ code: 'OUT-W103' }],
    })
  })

  it('cancels, restarts, kills, and says so', async () => {
    const { ask, send, until } = serve(program.folder(), './s')
    await ask({ id: 1, op: 'run', code: 'const keep = 1' })
    send({ id: 'long', op: 'run', code: 'await new Promise(() => {})' })
    expect(await ask({ id: 2, op: 'cancel', target: 'long' })).toMatchObject({ cancelled: true })
    expect(await until(line => line['id'] === 'long')).toMatchObject({ outcome: 'aborted', error: { code: 'OUT-A001' } })
    expect(await ask({ id: 3, op: 'cancel', target: 'nobody' })).toMatchObject({ ok: true, cancelled: false })
    expect(await ask({ id: 4, op: 'kill9' })).toMatchObject({ ok: true, pid: expect.any(Number) })
    expect(await ask({ id: 5, op: 'run', code: 'return keep' })).toMatchObject({
      value: 1,
      recovery: { reason: 'worker-exit', counts: { lost: 0 } },
    })
    expect(await ask({ id: 6, op: 'restart' })).toMatchObject({ ok: true, recovery: { reason: 'restart', counts: { lost: 0 } } })
  })

  it('answers what it cannot do and goes on', async () => {
    const { ask, child, until } = serve(program.folder(), './s')
    child.stdin!.write('nonsense\n[]\n{"op":"run"}\n')
    for (let i = 0; i < 3; i++)
      expect(await until(line => line['schema'] === 'outrigger.error/1')).toMatchObject({
        id: null,
        ok: false,
        error: { code: 'REPL_BAD_REQUEST' },
      })
    expect(await ask({ id: 1, op: 'dance' })).toMatchObject({ schema: 'outrigger.error/1', error: { code: 'REPL_BAD_REQUEST' } })
    expect(await ask({ id: 2, op: 'run', code: 'x'.repeat(1_048_577) })).toMatchObject({
      schema: 'outrigger.repl.run/1',
      ok: false,
      error: { code: 'REPL_TOO_LARGE' },
    })
    expect(await ask({ id: 3, op: 'state', action: 'page', handle: 'v9' })).toMatchObject({
      schema: 'outrigger.repl.state/1',
      ok: false,
      error: { code: 'REPL_UNKNOWN_HANDLE' },
    })
    expect(await ask({ id: 4, op: 'state', action: 'logs', cell: 9 })).toMatchObject({ error: { code: 'REPL_UNKNOWN_CELL' } })
    expect(await ask({ id: 5, op: 'run', code: 'return new Map([[1, 2]])' })).toMatchObject({ cell: 1, handle: 'v1' })
    expect(await ask({ id: 6, op: 'state', action: 'page', handle: 'v1' })).toMatchObject({ ok: true, total: 1, type: 'Map(1)' })
    expect(await ask({ id: 7, op: 'edit', edits: [{ old_string: '2', new_string: '3' }] })).toMatchObject({
      schema: 'outrigger.repl.edit/1',
      edited: true,
      target: 1,
      cell: 2,
    })
  })

  it('holds its session alone', async () => {
    const cwd = program.folder()
    const first = serve(cwd, './s')
    await first.ask({ id: 1, op: 'run', code: 'return 1' })
    const second = serve(cwd, './s')
    expect(await second.exit).toBe(4)
    expect(second.lines).toEqual([{ schema: 'outrigger.error/1', error: expect.objectContaining({ code: 'REPL_HELD' }) }])
    first.child.kill('SIGKILL')
    await first.exit
    const third = serve(cwd, './s')
    expect(await third.until(line => line['schema'] === 'outrigger.repl.hello/1')).toMatchObject({ cells: 1 })
  })

  it('goes on in a folder that was moved, and hides from git only what is its own there', async () => {
    const cwd = program.folder()
    const first = serve(cwd, './old')
    await first.ask({ id: 1, op: 'run', code: 'const kept = 1' })
    await first.ask({ id: 2, op: 'close' })
    await first.exit
    expect(readFileSync(join(cwd, 'old/.gitignore'), 'utf8')).toBe('/.gitignore\n/store.db*\n')
    renameSync(join(cwd, 'old'), join(cwd, 'new'))
    const second = serve(cwd, './new')
    expect(await second.ask({ id: 1, op: 'run', code: 'return kept' })).toMatchObject({ cell: 2, value: 1 })
  })

  it('loses no name while its folder is gone', async () => {
    const cwd = join(program.folder(), 'work')
    mkdirSync(cwd)
    const { ask } = serve(cwd, join(program.folder(), 's'))
    await ask({ id: 1, op: 'run', code: 'const kept = 1' })
    await ask({ id: 2, op: 'kill9' })
    rmSync(cwd, { recursive: true })
    expect(await ask({ id: 3, op: 'run', code: 'return kept' })).toMatchObject({
      ok: false,
      error: { code: 'OUT-K001', hint: 'make the folder again and run the cell again' },
    })
    mkdirSync(cwd)
    expect(await ask({ id: 4, op: 'run', code: 'return kept' })).toMatchObject({ value: 1, recovery: { counts: { lost: 0 } } })
  })

  it('says that a copy is missing where names are lost for it, and not what the copy was for', async () => {
    const cwd = program.folder()
    const first = serve(cwd, './s')
    await first.ask({ id: 1, op: 'run', code: 'const rows = Array.from({ length: 3000 }, (_, i) => `row ${i}`)' })
    await first.ask({ id: 2, op: 'run', code: "(await import('node:fs')).writeFileSync('out', '1'); rows.push('x')" })
    await first.ask({ id: 3, op: 'run', code: 'const next = (() => { let n = rows.length; return () => n++ })()' })
    await first.ask({ id: 4, op: 'close' })
    await first.exit
    const store = new DatabaseSync(join(cwd, 's/store.db'))
    store.exec("UPDATE documents SET value = replace(value, '64\":\"T', '64\":\"U') WHERE key LIKE 'repl/blob/%'")
    store.close()
    const { recovery } = await serve(cwd, './s').ask({ id: 1, op: 'run', code: 'return 1' })
    expect(recovery.bindings).toEqual([
      expect.objectContaining({ name: 'next', status: 'lost', reason: 'blob-missing' }),
      expect.objectContaining({ name: 'rows', status: 'lost', reason: 'blob-missing' }),
    ])
  })

  it('remembers cells, handles and output after a restart, and has its names again', async () => {
    const cwd = program.folder()
    const first = serve(cwd, './s')
    await first.ask({ id: 1, op: 'run', code: 'const m = new Map([["k", 1]]); console.log("printed"); return m' })
    await first.ask({ id: 2, op: 'close' })
    await first.exit
    const again = serve(cwd, './s')
    expect(await again.ask({ id: 1, op: 'state', action: 'page', handle: 'v1' })).toMatchObject({ ok: true, type: 'Map(1)' })
    expect(await again.ask({ id: 2, op: 'state', action: 'logs', cell: 1 })).toMatchObject({ text: 'printed', total: 7 })
    expect(await again.ask({ id: 3, op: 'run', code: 'return m.get("k")' })).toMatchObject({
      cell: 2,
      value: 1,
      recovery: { reason: 'host-restart', counts: { lost: 0 } },
    })
    expect('recovery' in (await again.ask({ id: 4, op: 'run', code: 'return 1' }))).toBe(false)
  })

  it('keeps secrets of the environment off the disk', async () => {
    const cwd = program.folder()
    const secret = 'hunter2-hunter2-hunter2'
    const served = serve(cwd, './s', { MY_API_TOKEN: secret })
    expect(
      await served.ask({
        id: 1,
        op: 'run',
        code: `console.log(process.env.MY_API_TOKEN); const copy = "${secret}"; return new Map([[copy, 1]])`,
      }),
    ).toMatchObject({ logs: [{ text: secret }], preview: expect.stringContaining(secret) })
    await served.ask({ id: 2, op: 'close' })
    await served.exit
    for (const name of ['store.db', 'store.db-wal'])
      if (existsSync(join(cwd, 's', name))) expect(readFileSync(join(cwd, 's', name)).includes(secret)).toBe(false)
  })

  it('prints the same bytes twice with a fixed clock', async () => {
    const run = async () => {
      const cwd = program.folder()
      const served = serve(cwd, './s', { OUTRIGGER_NOW: '2026-01-02T03:04:05Z', OUTRIGGER_SEED: '1' })
      await served.ask({ id: 1, op: 'run', code: 'const a = [1, 2]; return a' })
      await served.ask({ id: 2, op: 'state' })
      await served.ask({ id: 3, op: 'close' })
      return JSON.stringify(served.lines).replaceAll(cwd, '<cwd>')
    }
    expect(await run()).toBe(await run())
  })
})

describe('run', () => {
  it('prints the result and exits with how it went', async () => {
    const cwd = program.folder({ 'cell.ts': 'const n: number = 6\nreturn n * 7\n' })
    expect(await program.run(cwd, ['repl', 'run', 'cell.ts', '--session', 'work'])).toMatchObject({
      code: 0,
      out: '42\n',
      err: '',
    })
    const failed = await program.run(cwd, ['repl', 'run', '-', '--session', 'work'], { stdin: 'const e: any = {}\nreturn e.b.c' })
    expect(failed).toMatchObject({ code: 1 })
    expect(failed.out).toContain(
      "OUT-X001 TypeError: Cannot read properties of undefined (reading 'c')\n  cell 2, 2:12 |   return e.b.c\n               |              ^".slice(
        0,
        80,
      ),
    )
    const json = await program.run(cwd, ['repl', 'run', '-', '--session', 'work', '--json'], { stdin: 'return 1' })
    expect(JSON.parse(json.out)).toMatchObject({ schema: 'outrigger.repl.run/1', cell: 3, value: 1 })
    expect((await program.run(cwd, ['repl', 'list'])).out).toContain('work  3 cells')
    expect((await program.run(cwd, ['repl', 'history', '--session', 'work'])).out).toContain('   2  threw')
    const mistyped = await program.run(cwd, ['repl', 'state', '--session', 'wrok'])
    expect(mistyped).toMatchObject({ code: 2, out: '', err: expect.stringContaining('REPL_NO_SESSION') as string })
    expect(mistyped.err).toContain('did you mean work?')
    expect((await program.run(program.folder(), ['repl', 'history', '--session', 'x'])).err).toContain(
      'repl --session x` begins it',
    )
  })

  it.each([
    [['repl', 'run', '-'], 2, 'CLI_USAGE'],
    [['repl', 'frobnicate'], 2, 'CLI_USAGE'],
    [['repl', 'run', 'missing.ts', '--session', 'x'], 2, 'BAD_INPUT'],
    [['repl', 'run', '-', '--session', 'a b'], 2, 'REPL_BAD_NAME'],
    [['repl', 'run', '-', '--session', 'x', '--compute-ms', 'soon'], 2, 'CLI_USAGE'],
  ])('refuses %j', async (args, code, name) => {
    const result = await program.run(program.folder(), args, { stdin: 'return 1' })
    expect(result.code).toBe(code)
    expect(result.err).toContain(name)
  })

  it.each(['run', 'serve'])('tells a loss once to whom %s answers', async by => {
    const cwd = program.folder()
    const lost = async (code: string): Promise<string[]> => {
      let result: Line
      if (by === 'run')
        result = JSON.parse((await program.run(cwd, ['repl', 'run', '-', '--session', 's', '--json'], { stdin: code })).out)
      else {
        const { ask, exit } = serve(cwd, 's')
        result = await ask({ id: 1, op: 'run', code })
        await ask({ id: 2, op: 'close' })
        await exit
      }
      return (result['recovery']?.bindings ?? []).flatMap(({ name, status }: Line) => (status === 'lost' ? [name] : []))
    }
    const cell = `import { writeFileSync } from 'node:fs'
      const steps = (function* () { yield 1; yield 2 })()
      steps.next(); writeFileSync('done', '1')`
    expect(await lost(cell)).toEqual([])
    expect(await lost('return 1')).toContain('steps')
    expect(await lost('return 2')).toEqual([])
  })

  it('is turned off by the configuration', async () => {
    const cwd = program.folder()
    writeFileSync(join(program.folder(), 'x'), '')
    const off = program.folder({ '.outrigger/config.yml': 'repl:\n  enabled: false\n' })
    expect(await program.run(off, ['repl', 'run', '-', '--session', 'x'], { stdin: 'return 1' })).toMatchObject({ code: 3 })
    expect(await program.run(cwd, ['repl', 'run', '-', '--session', 'x'], { stdin: 'return 1' })).toMatchObject({ code: 0 })
  })
})

describe('the prompt', () => {
  it('takes cells over several lines from a pipe', async () => {
    const result = await program.run(program.folder(), ['repl'], {
      stdin: 'const a = {\nb: 1 }\na.b + 1\n.state\n.edit + 1 => + 2\n.exit\n',
    })
    expect(result).toMatchObject({ code: 0, err: '' })
    expect(result.out).toMatch(/^2\n/)
    expect(result.out).toContain('a  const object  { b: 1 }  (cell 1')
  })
})
