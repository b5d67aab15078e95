/**
 * The doors that are processes: the engine process from its start to its first answer and the round trip of one event over its socket; a hook call with it and
 * without; the MCP server's first answer. `npm run bench -- doors`; needs `npm run build`.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ask, healthOf } from '../src/serve/client.ts'
import type { Running } from '../src/serve/protocol.ts'
import { measure, printTable } from './table.ts'

const starts = 5
const trips = 200
const hooks = 15
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
    const node = { name: 'node alone', medianMs: bare.medianMs }
    printTable('doors', [
      { what: 'start to first answer', medianMs: times[Math.floor(times.length / 2)]!, worstMs: times.at(-1)!, targetMs: 300 },
      { what: 'one event, all engines', ...trip, targetMs: 5 },
      { what: 'the round trip alone (/health)', ...health },
      { what: 'a hook call, answered by the engine process', ...joined, peer: node },
      { what: 'a hook call that does the work itself', ...alone, peer: node },
      { what: 'MCP server, start to its answer to `initialize`', ...mcp, peer: node },
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
