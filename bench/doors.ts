/**
 * The doors that are processes: the engine process from its start to its first answer and the round trip of one event over its socket; a hook call with it and
 * without; the MCP server's first answers, and a
 * tool call that it does itself and one that the engine process does. `npm run bench -- doors`; needs `npm run build`.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ask, healthOf } from '../src/serve/client.ts'
import type { Running } from '../src/serve/protocol.ts'
import { measure, printTable } from './table.ts'

const starts = 5
const trips = 200
const hooks = 15
const calls = 100
const main = join(import.meta.dirname, '..', 'dist', 'cli', 'main.js')

export async function run(): Promise<void> {
  const base = mkdtempSync(join(tmpdir(), 'outrigger-bench-doors-'))
  const root = join(base, 'project')
  mkdirSync(join(root, '.git'), { recursive: true })
  writeFileSync(join(root, '.git/HEAD'), 'ref: refs/heads/main\n')
  writeFileSync(join(root, 'api.md'), '# API\n')
  writeFileSync(join(root, 'guide.md'), '---\nsources:\n  - api.md\n---\n# Guide\n')
  const env = { PATH: process.env['PATH'] ?? '', HOME: base }
  const outrigger = (...args: readonly string[]): string =>
    execFileSync(process.execPath, [main, ...args], { cwd: root, env, encoding: 'utf8' })
  try {
    outrigger('serve', '--detach')
    const { socket } = JSON.parse(outrigger('serve', '--detach')) as Running
    const times: number[] = []
    for (let i = 0; i < starts; i++) {
      outrigger('serve', '--stop')
      const began = performance.now()
      spawn(process.execPath, [main, 'serve'], { cwd: root, env, stdio: 'ignore', detached: true }).unref()
      while ((await healthOf(socket, 500)) === undefined) await new Promise(resolve => setTimeout(resolve, 5))
      times.push(performance.now() - began)
    }
    const door = 'claude-code/bench b'
    const tell = (kind: string, more: object = {}) =>
      ask(
        { socket, door },
        'POST',
        '/event',
        { kind, session: 's', project: root, at: Date.now(), ...more },
        { timeoutMs: 5_000 },
      )
    await tell('session-started', { source: 'startup' })
    let call = 0
    const trip = await measure(
      trips,
      () => tell('tool-finished', { call: `k${++call}`, tool: 'Read', input: { file_path: 'api.md' } }),
      20,
    )
    const health = await measure(trips, () => healthOf(socket, 500), 20)
    times.sort((a, b) => a - b)
    const payload = {
      session_id: 'h',
      cwd: root,
      tool_name: 'Read',
      tool_input: { file_path: join(root, 'api.md') },
      tool_response: {},
    }
    const hook = (): void => {
      const input = JSON.stringify({ ...payload, hook_event_name: 'PostToolUse' })
      const { status } = spawnSync(process.execPath, [main, 'hook', 'PostToolUse'], { cwd: root, env, input })
      if (status !== 0) throw new Error(`the hook ended with ${status}`)
    }
    const joined = await measure(hooks, hook)
    outrigger('serve', '--stop')
    const alone = await measure(hooks, hook)
    const bare = await measure(hooks, () => spawnSync(process.execPath, ['-e', '0'], { env }))
    const mcp = await measure(hooks, () => firstAnswer(root, env))
    const own = await toolCalls(root, env, [])
    const served = await toolCalls(root, env, ['--serve'])
    const node = { name: 'node alone', medianMs: bare.medianMs }
    printTable('doors', [
      { what: 'start to first answer', medianMs: times[Math.floor(times.length / 2)]!, worstMs: times.at(-1)!, targetMs: 300 },
      { what: 'one event, all engines', ...trip, targetMs: 5 },
      { what: 'the round trip alone (/health)', ...health },
      { what: 'a hook call, answered by the engine process', ...joined, peer: node },
      { what: 'a hook call that does the work itself', ...alone, peer: node },
      { what: 'MCP server, start to its answer to `initialize`', ...mcp, peer: node },
      { what: 'MCP, start to the list of its tools', ...own.list, peer: node },
      { what: 'MCP with `--serve`, start to the list of its tools', ...served.list, peer: node },
      { what: 'MCP, a cell in the server', ...own.cell },
      { what: 'MCP, a cell in the engine process', ...served.cell, peer: { name: 'in the server', medianMs: own.cell.medianMs } },
      { what: 'MCP, keel_check in the server', ...own.check },
      {
        what: 'MCP, keel_check in the engine process',
        ...served.check,
        peer: { name: 'in the server', medianMs: own.check.medianMs },
      },
    ])
  } finally {
    outrigger('serve', '--stop')
    rmSync(base, { recursive: true, force: true })
  }
}

/** Starts the MCP server and waits for its first answer. */
function firstAnswer(cwd: string, env: Readonly<Record<string, string>>): Promise<void> {
  const child = spawn(process.execPath, [main, 'mcp'], { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] })
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '0' } }
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.stdout.once('data', () => {
      child.kill()
      resolve()
    })
  })
}

type Measured = Awaited<ReturnType<typeof measure>>

async function toolCalls(
  cwd: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<{ readonly list: Measured; readonly cell: Measured; readonly check: Measured }> {
  const connect = async (): Promise<Client> => {
    const client = new Client({ name: 'bench', version: '0' })
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [main, 'mcp', ...args], cwd, env, stderr: 'ignore' }),
    )
    return client
  }
  const list = await measure(5, async () => {
    const client = await connect()
    await client.listTools()
    void client.close()
  })
  const client = await connect()
  const tool = async (name: string, given: Record<string, unknown>): Promise<void> => {
    const { isError } = await client.callTool({ name, arguments: given })
    if (isError === true) throw new Error(`${name} was refused`)
  }
  const cell = await measure(calls, () => tool('run_code', { code: 'return 1', session: `bench${args.length}` }), 10)
  const check = await measure(calls, () => tool('keel_check', {}), 5)
  await client.close()
  return { list, cell, check }
}
