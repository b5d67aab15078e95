/** The REPL's tools as a client of the built program sees them. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { call, mcpClients, run } from '../../support/cli/mcp.ts'
import { buildProgram, type Program } from '../../support/cli/program.ts'

vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 })

let program: Program
const clients = mcpClients(() => program, ['--engine', 'repl'])
const { connect } = clients
beforeAll(async () => {
  program = await buildProgram()
})
afterEach(clients.close)
afterAll(() => program?.remove())

/** Where the cells run; what a client sees is the same. */
const places = [
  { place: 'in the server', args: ['--engine', 'repl'] },
  { place: 'in the engine process', args: ['--engine', 'repl', '--serve'] },
]

it('offers exactly four tools, with these schemas and annotations', async () => {
  const { tools } = await (await connect(program.folder())).listTools()
  expect(tools.map(({ name, annotations }) => [name, annotations])).toEqual([
    ['run_code', { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }],
    ['edit_run_code', { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }],
    ['repl_state', { readOnlyHint: false, openWorldHint: false }],
    ['repl_history', { readOnlyHint: true, openWorldHint: false }],
  ])
  for (const { inputSchema, description } of tools) {
    expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
    expect(description!.length).toBeLessThanOrEqual(400)
    expect(inputSchema.properties).toHaveProperty('session.pattern', '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$')
  }
  const [runCode, edit, state, history] = tools.map(({ inputSchema }) => inputSchema)
  expect(runCode).toMatchObject({
    required: ['code'],
    properties: {
      code: { type: 'string', maxLength: 1_048_576 },
      description: { maxLength: 200 },
      session: { default: 'default' },
      compute_ms: { minimum: 100, maximum: 600_000 },
      wall_ms: { minimum: 100, maximum: 3_600_000 },
      echo: { enum: ['return', 'last'] },
    },
  })
  expect(Object.keys(edit!.properties!)).toEqual([
    ...['edits', 'regex_edits', 'inserts', 'prepend', 'append', 'target', 'expected_target', 'dry_run'],
    ...['description', 'session', 'compute_ms', 'wall_ms'],
  ])
  expect(edit!.properties).toMatchObject({
    edits: {
      minItems: 1,
      maxItems: 16,
      items: { required: ['old_string', 'new_string'], additionalProperties: false },
    },
    regex_edits: { items: { required: ['pattern', 'flags', 'replacement', 'expected_matches'] } },
    inserts: { items: { properties: { position: { enum: ['before', 'after'] } } } },
    target: { minimum: 1 },
  })
  expect(state!.properties).toMatchObject({
    action: { enum: ['list', 'sessions', 'save', 'restore', 'delete', 'reset', 'page', 'logs'], default: 'list' },
    handle: { pattern: '^v[0-9]+$' },
    limit: { minimum: 1, maximum: 100_000 },
  })
  expect(history!.properties).toMatchObject({ limit: { default: 100, maximum: 1_000 }, source: { default: false } })
})

it('has the tools of every engine when none is named', async () => {
  const { tools } = await (await connect(program.folder(), [])).listTools()
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['keel_check', 'run_code', 'repl_history']))
})

it.each(places)(
  'keeps names from cell to cell, and answers with the document of a run and its text ($place)',
  async ({ args }) => {
    const client = await connect(program.folder(), args)
    expect((await run(client, 'const a = 1')).structuredContent).toMatchObject({
      schema: 'outrigger.repl.run/1',
      ok: true,
      cell: 1,
      bindings: { added: ['a'] },
    })
    const { content, structuredContent, isError } = await run(client, 'console.log("seen"); return new Map([[a, [a]]])')
    expect(content).toEqual([{ type: 'text', text: 'seen\nMap(1) { 1 => [1] }' }])
    expect(structuredContent).toMatchObject({ valueKind: 'graph', handle: 'v2', logs: [{ stream: 'stdout', text: 'seen' }] })
    expect(isError).toBeUndefined()
    expect((await run(client, 'return typeof a', { session: 'other' })).structuredContent).toMatchObject({ value: 'undefined' })
  },
)

it('marks failed cells and refused edits as errors, and runs a good edit as a new cell', async () => {
  const client = await connect(program.folder())
  await run(client, 'return 1')
  const refused = await call(client, 'edit_run_code', { edits: [{ old_string: 'zzz', new_string: 'y' }] })
  expect(refused).toMatchObject({
    isError: true,
    structuredContent: { schema: 'outrigger.repl.edit/1', edited: false, error: { code: 'OUT-E002' } },
  })
  expect(refused.content[0]!.text).toMatch(/^OUT-E002 /)
  const edited = await call(client, 'edit_run_code', { edits: [{ old_string: '1', new_string: '6 * 7' }], expected_target: 1 })
  expect(edited).toMatchObject({
    content: [{ text: '42' }],
    structuredContent: { edited: true, target: 1, cell: 2, value: 42 },
  })
  const failed = await run(client, 'const e = {}\nreturn e.b.c')
  expect(failed.isError).toBe(true)
  expect(failed.content[0]!.text).toContain('OUT-X001 TypeError: Cannot read properties of undefined')
  expect(failed.content[0]!.text).toContain('cell 3, 2:')
  const dry = await call(client, 'edit_run_code', { append: '}', dry_run: true })
  expect(dry).toMatchObject({
    structuredContent: { edited: false, parses: false },
    content: [{ text: expect.stringContaining('Nothing ran') }],
  })
})

it('A43: finds its names again after client and server were restarted, and says nothing when nothing was lost', async () => {
  const folder = program.folder()
  const first = await connect(folder)
  await run(first, 'const a = 1')
  await first.close()
  const second = await connect(folder)
  const again = await run(second, 'return a')
  expect(again).toMatchObject({ content: [{ text: '1' }], structuredContent: { cell: 2, value: 1 } })
  const { structuredContent, content } = await call(second, 'repl_history', { source: true })
  expect(structuredContent).toMatchObject({
    schema: 'outrigger.repl.history/1',
    head: 2,
    cells: [{ cell: 1, source: 'const a = 1' }, {}],
  })
  expect(content[0]!.text).toContain('const a = 1')
})

it('says once, by name, what a restart lost', async () => {
  const folder = program.folder()
  const first = await connect(folder)
  await run(first, 'import net from "node:net"; const srv = net.createServer().listen(0)')
  await first.close()
  const second = await connect(folder)
  const again = await run(second, 'return typeof srv')
  expect(again.structuredContent).toMatchObject({
    value: 'undefined',
    recovery: { reason: 'host-restart', counts: { lost: 1 } },
  })
  expect(again.content[0]!.text).toMatch(/\[outrigger\] REPL restarted[\s\S]*Not back: srv \(open handle, cell 1\)/)
  expect((await run(second, 'return 3')).content[0]!.text).toBe('3')
})

it('lists names and sessions, pages values and logs, and keeps states', async () => {
  const client = await connect(program.folder())
  await run(
    client,
    'const rows = Array.from({ length: 500 }, (_, i) => ({ i })); console.log("made"); return new Map([["rows", rows]])',
  )
  const list = await call(client, 'repl_state')
  expect(list.structuredContent).toMatchObject({
    schema: 'outrigger.repl.state/1',
    mode: 'durable',
    bindings: [{ name: 'rows' }],
  })
  expect(list.content[0]!.text).toContain('rows')
  const page = await call(client, 'repl_state', { action: 'page', handle: 'v1', path: [], limit: 10 })
  expect(page.structuredContent).toMatchObject({ ok: true, total: 1 })
  expect((await call(client, 'repl_state', { action: 'logs', cell: 1 })).structuredContent).toMatchObject({
    text: 'made',
    total: 4,
  })
  expect((await call(client, 'repl_state', { action: 'sessions' })).structuredContent).toMatchObject({
    sessions: [{ name: 'default', cells: 1 }],
  })
  const saved = await call(client, 'repl_state', { action: 'save', name: 'base' })
  expect(saved).toMatchObject({
    structuredContent: { ok: true, name: 'base' },
    content: [{ text: expect.stringContaining('base') }],
  })
  await run(client, 'const rows = 2')
  const back = await call(client, 'repl_state', { action: 'restore', name: 'base' })
  expect(back).toMatchObject({ structuredContent: { ok: true, head: 1, recovery: { reason: 'restore', counts: { lost: 0 } } } })
  expect((await run(client, 'return rows.length')).structuredContent).toMatchObject({ value: 500 })
  expect(await call(client, 'repl_state', { action: 'reset' })).toMatchObject({ structuredContent: { ok: true, head: 0 } })
  expect((await run(client, 'return typeof rows')).structuredContent).toMatchObject({ value: 'undefined' })
  expect(await call(client, 'repl_state', { action: 'delete', name: 'base' })).toMatchObject({ structuredContent: { ok: true } })
  expect(await call(client, 'repl_state', { action: 'restore', name: 'base' })).toMatchObject({
    isError: true,
    structuredContent: { error: { code: 'REPL_UNKNOWN_STATE' } },
  })
  expect(await call(client, 'repl_state', { action: 'page', handle: 'v9' })).toMatchObject({
    isError: true,
    structuredContent: { error: { code: 'REPL_UNKNOWN_HANDLE' } },
  })
})

it.each([
  ['run_code', {}, 'code'],
  ['run_code', { code: 1 }, 'code'],
  ['run_code', { code: '', compute_ms: 99 }, 'compute_ms'],
  ['run_code', { code: '', session: '../up' }, 'session'],
  ['run_code', { code: '', echo: 'all' }, 'echo'],
  ['run_code', { code: '', cwd: '/' }, 'cwd'],
  ['repl_history', { limit: 0 }, 'limit'],
  ['repl_state', { path: [{}] }, 'path'],
])('refuses %s %j by the field', async (name, args, subject) => {
  const client = await connect(program.folder())
  expect(await call(client, name, args)).toMatchObject({
    isError: true,
    structuredContent: { schema: 'outrigger.error/1', error: { code: 'BAD_INPUT', subject } },
  })
})

it.each(places)('tells of its progress, and a client can cancel ($place)', async ({ args }) => {
  const client = await connect(program.folder(), args)
  await run(client, 'const kept = 7')
  const seen: number[] = []
  const cancel = new AbortController()
  const cell = client.callTool({ name: 'run_code', arguments: { code: 'await new Promise(() => {})' } }, undefined, {
    signal: cancel.signal,
    onprogress: ({ progress }) => {
      seen.push(progress)
      cancel.abort()
    },
  })
  await expect(cell).rejects.toThrow()
  expect(seen).toEqual([2])
  expect((await run(client, 'return kept')).structuredContent).toMatchObject({ cell: 3, value: 7 })
  const { structuredContent } = await call(client, 'repl_history')
  expect(structuredContent.cells[1]).toMatchObject({ outcome: 'aborted' })
})

it.each(places)('lets cells of other sessions, and what only looks, pass a running one ($place)', async ({ args }) => {
  const client = await connect(program.folder(), args)
  const slow = run(client, 'await new Promise(done => setTimeout(done, 1500)); return "slow"')
  const order: string[] = []
  await Promise.all([
    slow.then(() => order.push('slow')),
    run(client, 'return 1', { session: 'other' }).then(() => order.push('other')),
    call(client, 'repl_history').then(() => order.push('history')),
  ])
  expect(order.at(-1)).toBe('slow')
})

it('hides the tools while the configuration turns the REPL off, and refuses a call by name', async () => {
  const folder = program.folder({ '.outrigger/config.yml': 'repl:\n  enabled: false\n' })
  const client = await connect(folder, [])
  expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('run_code')
  expect(await run(client, 'return 1')).toMatchObject({ isError: true, structuredContent: { error: { code: 'REPL_DISABLED' } } })
})

it.each(places)('takes the kill switch while it runs ($place)', async ({ args }) => {
  const folder = program.folder({ '.outrigger/config.yml': 'repl:\n  enabled: true\n' })
  const client = await connect(folder, args)
  await run(client, 'const a = 1')
  await new Promise(done => setTimeout(done, 20))
  writeFileSync(join(folder, '.outrigger/config.yml'), 'repl:\n  enabled: false # off\n')
  expect(await run(client, 'return 1')).toMatchObject({ isError: true, structuredContent: { error: { code: 'REPL_DISABLED' } } })
  writeFileSync(join(folder, '.outrigger/config.yml'), 'repl:\n  enabled: true # on again\n')
  expect((await run(client, 'return 2')).structuredContent).toMatchObject({ ok: true, value: 2 })
})

it('refuses a session that another server has', async () => {
  const folder = program.folder()
  await run(await connect(folder), 'return 1')
  expect(await run(await connect(folder), 'return 1')).toMatchObject({
    isError: true,
    structuredContent: { error: { code: 'REPL_HELD' } },
  })
})

it('answers hostile lines with errors, and goes on', async () => {
  const server = spawn(process.execPath, [program.main, 'mcp', '--engine', 'repl'], {
    cwd: program.folder(),
    env: { ...program.env },
  })
  const answers = new Map<unknown, { result?: unknown; error?: { code: number; message: string } }>()
  createInterface(server.stdout).on('line', line => {
    const answer = JSON.parse(line) as { id: unknown; result?: unknown; error?: { code: number; message: string } }
    answers.set(answer.id, answer)
  })
  const send = (line: string | object): void =>
    void server.stdin.write(`${typeof line === 'string' ? line : JSON.stringify({ jsonrpc: '2.0', ...line })}\n`)
  try {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'tester', version: '1' } }
    send({ id: 1, method: 'initialize', params })
    send({ method: 'notifications/initialized' })
    send({ id: 2, method: 'tools/call', params: { name: 'run_code', arguments: null } })
    send({ id: 3, method: '__proto__' })
    send({ id: 4, method: 'tools/call', params: { name: '__proto__', arguments: {} } })
    for (const line of ['not json', '[]', 'null', '{"id":null}']) send(line)
    send({ id: 5, method: 'tools/call', params: { name: 'run_code', arguments: { code: `//${'x'.repeat(30_000_000)}` } } })
    send({ id: 6, method: 'tools/call', params: { name: 'run_code', arguments: { code: 'return 2' } } })
    await vi.waitFor(() => expect(answers.has(6)).toBe(true), { timeout: 20_000, interval: 50 })
    expect([2, 3, 4, 5].map(id => answers.get(id)?.error?.code)).toEqual([-32_602, -32_601, -32_602, -32_600])
    expect(answers.get(2)?.error?.message).toBe('params.arguments is not of the form that the protocol has')
    expect(answers.get(6)?.result).toMatchObject({ structuredContent: { ok: true, value: 2 } })
  } finally {
    server.kill()
  }
})

it('tells a loss to the client that hears of it, and not to the next one', async () => {
  const cwd = program.folder()
  const lost = async (code: string): Promise<string[]> => {
    const client = await connect(cwd)
    const { structuredContent } = await run(client, code)
    await client.close()
    return (structuredContent.recovery?.bindings ?? [])
      .filter(({ status }: { status: string }) => status === 'lost')
      .map(({ name }: { name: string }) => name)
  }
  const cell = `import { writeFileSync } from 'node:fs'
    const steps = (function* () { yield 1; yield 2 })()
    steps.next(); writeFileSync('done', '1')`
  expect(await lost(cell)).toEqual([])
  expect(await lost('return 1')).toContain('steps')
  expect(await lost('return 2')).toEqual([])
})
