/** The engine process: from its start to its first answer, and the round trip of one event over its socket. Needs `npm run build`. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ask, healthOf } from '../src/serve/client.ts'
import type { Running } from '../src/serve/protocol.ts'
import { measure, printTable } from './table.ts'

const starts = 5
const trips = 200
const main = join(import.meta.dirname, '..', 'dist', 'cli', 'main.js')

export async function run(): Promise<void> {
  const base = mkdtempSync(join(tmpdir(), 'outrigger-bench-serve-'))
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
    printTable('engine process', [
      { what: 'start to first answer', medianMs: times[Math.floor(times.length / 2)]!, worstMs: times.at(-1)!, targetMs: 300 },
      { what: 'one event, all engines', ...trip, targetMs: 5 },
      { what: 'the round trip alone (/health)', ...health },
    ])
  } finally {
    outrigger('serve', '--stop')
    rmSync(base, { recursive: true, force: true })
  }
}
