/** MCP servers of the built program beside an engine process: what lives there outlives them. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { call, mcpClients, run } from '../../support/cli/mcp.ts'
import { buildProgram, type Program } from '../../support/cli/program.ts'

vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 })

let program: Program
const clients = mcpClients(() => program, ['--serve'])
const { connect } = clients
const folders: string[] = []
beforeAll(async () => {
  program = await buildProgram()
})
afterEach(async () => {
  await clients.close()
  for (const folder of folders.splice(0)) await program.run(folder, ['serve', '--stop'])
})
afterAll(() => program?.remove())

function project(files: Readonly<Record<string, string>> = {}): string {
  const folder = program.folder(files)
  folders.push(folder)
  return folder
}

const pidOf = async (folder: string): Promise<number> =>
  (JSON.parse((await program.run(folder, ['serve', '--detach'])).out) as { pid: number }).pid

it('a cell finds what a server before it left open: nothing was restarted, and nothing is told as lost', async () => {
  const folder = project()
  const first = await connect(folder)
  await run(first, 'import net from "node:net"; const srv = net.createServer().listen(0)')
  await first.close()
  const second = await connect(folder)
  const { structuredContent } = await run(second, 'return srv.listening')
  expect(structuredContent).toMatchObject({ cell: 2, value: true })
  expect(structuredContent.recovery).toBeUndefined()
})

it('two servers have one session, one cell after the other', async () => {
  const folder = project()
  const [one, two] = [await connect(folder), await connect(folder)]
  await run(one, 'let n = 0')
  await Promise.all([one, two, one, two].map(client => run(client, 'n += 1')))
  expect((await run(two, 'return n')).structuredContent).toMatchObject({ value: 4, cell: 6 })
})

it('a server that was started without one uses it from then on; a session that it has open stays with it', async () => {
  const folder = project()
  const alone = await connect(folder, [])
  await run(alone, 'const here = process.ppid; const kept = new (class { #n = 7; read() { return this.#n } })()')
  const pid = await pidOf(folder)
  expect((await run(alone, 'return [kept.read(), process.ppid === here]')).structuredContent).toMatchObject({ value: [7, true] })
  expect((await run(alone, 'return process.ppid', { session: 'new' })).structuredContent).toMatchObject({ value: pid })
})

it('a process that is killed in a cell: the call says so and is not repeated, the next one goes on', async () => {
  const folder = project()
  const client = await connect(folder)
  await run(client, 'const kept = 7')
  const pid = await pidOf(folder)
  const cell = 'import { appendFileSync } from "node:fs"; appendFileSync("did", "x"); await new Promise(() => {})'
  const cut = run(client, cell)
  await vi.waitFor(() => expect(existsSync(join(folder, 'did'))).toBe(true), { timeout: 10_000 })
  process.kill(pid, 'SIGKILL')
  expect(await cut).toMatchObject({
    isError: true,
    structuredContent: { error: { code: 'SERVE_BROKE_OFF', hint: expect.stringMatching(/before you ask/) as string } },
  })
  const next = await run(client, 'return kept')
  expect(next.structuredContent).toMatchObject({ value: 7, recovery: { reason: 'host-restart' } })
  expect(await pidOf(folder)).not.toBe(pid)
  expect(readFileSync(join(folder, 'did'), 'utf8')).toBe('x')
})

it('cells have the environment of the client that began the session, not of who started the process', async () => {
  const folder = project()
  await program.run(folder, ['serve', '--detach'], { env: { WHO: 'starter' } })
  const client = await connect(folder, [], { WHO: 'client', CLAUDE_CODE_SESSION_ID: 'x' })
  const { structuredContent } = await run(client, 'return [process.env.WHO, process.env.CLAUDE_CODE_SESSION_ID ?? null]')
  expect(structuredContent.value).toEqual(['client', null])
})

it('an operation is the one of the command line, and the record has the name of the client', async () => {
  const folder = project({
    'api.md': '# API\n',
    'guide.md': '---\nsources:\n  - api.md\n---\n# Guide\n',
  })
  await program.run(folder, ['keel', 'stamp'])
  writeFileSync(join(folder, 'api.md'), '# API\n\nopen()\n')
  const [beside, alone] = [await connect(folder), await connect(folder, [])]
  const pid = await pidOf(folder)
  const answer = await call(beside, 'keel_check')
  expect(answer).toEqual(await call(alone, 'keel_check'))
  expect(answer.structuredContent).toMatchObject({ schema: 'outrigger.keel.check/1', summary: { suspect: 1 } })
  const wrong = { child: 'nope.md', reason: 'seen' }
  expect(await call(beside, 'keel_ok', wrong)).toMatchObject({ isError: true })
  const ok = await call(beside, 'keel_ok', { child: 'guide.md', reason: 'wording only' })
  expect(ok.isError, ok.content[0]?.text).toBeUndefined()
  expect(readFileSync(join(folder, '.outrigger/keel/journal.jsonl'), 'utf8')).toContain('"tester"')
  expect(await pidOf(folder)).toBe(pid)
})

it.each([
  ['in the engine process', ['--serve']],
  ['in the server', []],
])('says that the history was removed under a session, once, and begins anew (%s)', async (_, args) => {
  const folder = project()
  const client = await connect(folder, args)
  await run(client, 'const a = 1')
  rmSync(join(folder, '.outrigger/state'), { recursive: true, maxRetries: 5 })
  expect(await run(client, 'return a')).toMatchObject({ isError: true, structuredContent: { error: { code: 'REPL_GONE' } } })
  expect((await run(client, 'return typeof a')).structuredContent).toMatchObject({ cell: 1, value: 'undefined' })
})

it('does the work itself while none can be started', async () => {
  const folder = project()
  writeFileSync(join(folder, 'file'), '')
  // Where a socket would lie there is a file.
  const client = await connect(folder, ['--serve'], { XDG_RUNTIME_DIR: join(folder, 'file') })
  expect((await run(client, 'return 6 * 7')).structuredContent).toMatchObject({ value: 42 })
})
