import { request } from 'node:http'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openProject } from '../../src/node/open.ts'
import { ask, healthOf } from '../../src/serve/client.ts'
import { createEngines, type Engines } from '../../src/serve/engines.ts'
import { type EventAnswer, type OpAnswer, protocolHeader, type WaitAnswer } from '../../src/serve/protocol.ts'
import { createRemote } from '../../src/serve/remote.ts'
import { createEngineServer, type EngineServer } from '../../src/serve/server.ts'
import { repository } from '../support/repository.ts'
import { temporaryFolder } from '../support/temporary.ts'

interface Served {
  readonly root: string
  readonly socket: string
  readonly engines: Engines
  readonly server: EngineServer
  readonly stops: string[]
  write(path: string, content: string): void
}

async function served(): Promise<Served> {
  const { root, env, write } = repository()
  write('api.md', '# API\n')
  write('guide.md', '---\nsources:\n  - api.md\n---\n# Guide\n')
  const project = await openProject({ cwd: root, env, door: 'serve', isTerminal: false })
  const socket = join(temporaryFolder(), 'a.sock')
  const stops: string[] = []
  const engines = createEngines(project, { socket, log: () => undefined })
  const server = createEngineServer({ engines, version: '9.9.9', onStop: () => stops.push('stop'), log: () => undefined })
  await new Promise<void>(resolve => server.http.listen(socket, resolve))
  onTestFinished(async () => {
    await server.close()
    await engines.close()
    await project.close()
  })
  return { root, socket, engines, server, stops, write }
}

const mod = ({ socket }: Served, connection = 'c1') => ({ socket, door: `claude-code/2.1.332 ${connection}` })
const limit = { timeoutMs: 5_000 }
const post = (at: Served, path: string, body: unknown, connection?: string) => ask(mod(at, connection), 'POST', path, body, limit)
const event = (at: Served, kind: string, more: Record<string, unknown> = {}) =>
  post(at, '/event', { kind, session: 's', project: at.root, at: Date.now(), ...more }) as Promise<EventAnswer>

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** What a program that knows nothing of the protocol gets to see. */
function raw(socket: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const connection = createConnection(socket)
    let text = ''
    connection.setEncoding('utf8').on('data', chunk => (text += chunk))
    connection
      .on('end', () => resolve(text))
      .on('close', () => resolve(text))
      .on('error', reject)
    connection.write(bytes)
    setTimeout(() => connection.end(), 300)
  })
}

describe('the engine process', () => {
  it('answers an event with the actions of the engines, and a stop with a hold', async () => {
    const at = await served()
    await event(at, 'session-started', { source: 'startup' })
    await event(at, 'person-spoke', { text: 'go' })
    expect((await post(at, '/op', { id: 'o1', op: 'keel.stamp', input: {}, by: 'person' })) as OpAnswer).toMatchObject({
      id: 'o1',
    })
    at.write('api.md', '# API\n\nmore\n')
    const call = { turn: 1, call: 'k1', tool: 'write', input: { file_path: 'api.md' }, ok: true, output: '', written: ['api.md'] }
    const told = await event(at, 'tool-finished', call)
    expect(told.actions.find(action => action.kind === 'add-context')).toMatchObject({ engine: 'keel' })
    const stop = await event(at, 'turn-ending', { turn: 1, answer: 'done', again: false })
    expect(stop.actions.find(action => action.kind === 'hold-stop')).toMatchObject({
      text: expect.stringContaining('guide.md') as string,
    })
    const again = await event(at, 'turn-ending', { turn: 1, answer: 'done', again: true })
    expect(again.actions.filter(action => action.kind === 'hold-stop')).toEqual([])
  })

  it('answers a command that a person typed', async () => {
    const at = await served()
    await event(at, 'session-started', { source: 'startup' })
    const { actions } = await event(at, 'command-run', { name: 'keel', args: '', by: 'person' })
    expect(actions.find(action => action.kind === 'reply')).toMatchObject({ ok: true })
    const doctor = await event(at, 'command-run', { name: 'outrigger', args: '', by: 'person' })
    expect(doctor.actions).toMatchObject([{ kind: 'reply', text: expect.stringContaining(at.root) as string }])
  })

  it('shows its sessions in its health and registers where they live', async () => {
    const at = await served()
    await event(at, 'session-started', { source: 'startup' })
    expect(await healthOf(at.socket, 1_000)).toMatchObject({
      protocol: 1,
      version: '9.9.9',
      pid: process.pid,
      sessions: ['s'],
      project: at.root,
    })
    const store = await at.engines.project.sessionStore()
    expect((await store.get('live/s'))?.value).toMatchObject({ socket: at.socket, pid: process.pid, door: 'claude-code' })
    await event(at, 'session-ended', { reason: 'other' })
    expect(await store.get('live/s')).toBeUndefined()
    expect(await healthOf(at.socket, 1_000)).toMatchObject({ sessions: [] })
  })

  it('gives what it asks of its own accord to who waits', async () => {
    const at = await served()
    const waiting = ask(mod(at), 'GET', '/wait?session=s&after=0', undefined, limit) as Promise<WaitAnswer>
    at.engines.outbox.put('s', [{ kind: 'status', id: 'a', engine: 'keel', text: 'keel 1 behind' }])
    expect((await waiting).actions).toMatchObject([{ seq: 1, action: { id: 'a' } }])
  })

  it('is busy while a cell runs, and ends its sessions with itself', async () => {
    const at = await served()
    const cell = (id: string, code: string) => post(at, '/op', { id, op: 'run_code', input: { code }, by: 'agent' })
    const slow = cell('c1', 'await new Promise(done => setTimeout(done, 500)); return process.pid')
    await expect.poll(() => at.server.health().busy).toBe(true)
    expect(at.server.idleMs()).toBe(0)
    const { output } = (await slow) as OpAnswer & { readonly output: { readonly structuredContent: { readonly value: number } } }
    expect(at.server.health().busy).toBe(false)
    const worker = output.structuredContent.value
    expect(process.kill(worker, 0)).toBe(true)
    await at.engines.close()
    await expect.poll(() => isAlive(worker), { timeout: 5_000 }).toBe(false)
  })

  it('lets a poll of a cleared session go when the next one begins', async () => {
    const at = await served()
    await event(at, 'session-started', { source: 'startup' })
    await event(at, 'session-ended', { reason: 'clear' })
    const waiting = ask(mod(at), 'GET', '/wait?session=s&after=0', undefined, limit)
    await event(at, 'session-started', { source: 'clear', session: 't' })
    expect(await waiting).toEqual({ actions: [] })
    expect(await healthOf(at.socket, 1_000)).toMatchObject({ sessions: ['t'] })
  })

  it('keeps progress lines apart from the answer', async () => {
    const at = await served()
    const lines: unknown[] = []
    const options = { ...limit, onLine: (line: unknown) => lines.push(line) }
    const body = { id: 'o', op: 'keel.check', input: {}, by: 'agent' }
    expect(await ask(mod(at), 'POST', '/op', body, options)).toMatchObject({ id: 'o', output: { summary: { children: 1 } } })
    for (const line of lines) expect(line).toMatchObject({ progress: { what: expect.any(String) as string } })
  })

  it.each([
    ['/op', { id: 'x', op: 'keel.nothing', by: 'agent' }, 'SERVE_UNKNOWN_OP'],
    ['/op', { id: 'x', op: 'keel.check', by: 'nobody' }, 'BAD_INPUT'],
    ['/op', { op: 'keel.check', by: 'agent' }, 'BAD_INPUT'],
    ['/op', { id: 'x', op: 'keel.check', input: { depth: 'deep' }, by: 'agent' }, 'BAD_INPUT'],
    ['/op', [1], 'BAD_INPUT'],
    ['/event', { kind: 'tool-finished', session: 's' }, 'BAD_INPUT'],
    ['/event', { kind: 'person-spoke', text: 'x' }, 'BAD_INPUT'],
    ['/nowhere', {}, 'SERVE_UNKNOWN_PATH'],
  ])('refuses POST %s %j as %s', async (path, body, code) => {
    await expect(post(await served(), path, body)).rejects.toMatchObject({ code })
  })

  it('hears nothing in a kind of event that it does not know', async () => {
    expect(await event(await served(), 'stars-aligned')).toEqual({ actions: [] })
  })

  it('takes no event for another project', async () => {
    const at = await served()
    await post(at, '/event', { kind: 'session-started', session: 's', project: '/elsewhere', at: 1, source: 'startup' })
    expect(at.engines.outrigger.facts('s')?.project).toBe(at.root)
  })

  it('refuses a body above 4 MiB', async () => {
    const at = await served()
    const status = await new Promise(resolve => {
      const headers = { [protocolHeader]: '1' }
      const asked = request({ socketPath: at.socket, method: 'POST', path: '/op', headers }, answer => resolve(answer.statusCode))
      // Who still writes when the rest is refused may see the connection end before the answer.
      asked.on('error', () => resolve('ended')).end('x'.repeat(5_000_000))
    })
    expect([413, 'ended']).toContain(status)
    expect(await healthOf(at.socket, 1_000)).toBeDefined()
  })

  it.each([
    ['no protocol', 'GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', /409[\s\S]*SERVE_PROTOCOL/],
    [
      'a later protocol',
      'GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\noutrigger-protocol: 2\r\n\r\n',
      /409[\s\S]*SERVE_PROTOCOL/,
    ],
    [
      'no JSON',
      'POST /event HTTP/1.1\r\nhost: x\r\nconnection: close\r\noutrigger-protocol: 1\r\ncontent-length: 3\r\n\r\n{a}',
      /400[\s\S]*BAD_INPUT/,
    ],
    ['no HTTP', '\u0000\u0001\u0002 nonsense\r\n\r\n', /400/],
    ['half a request', 'POST /event HTTP/1.1\r\noutrigger-protocol: 1\r\ncontent-length: 300\r\n\r\n{', /^/],
  ])('answers %s and goes on', async (_name, bytes, expected) => {
    const at = await served()
    expect(await raw(at.socket, bytes)).toMatch(expected)
    expect(await healthOf(at.socket, 1_000)).toBeDefined()
  })

  it('runs the condition of a loop itself, in the project, and tells how it ended when it did', async () => {
    const at = await served()
    await event(at, 'session-started', { source: 'startup' })
    await event(at, 'turn-started', { turn: 1, by: 'person' })
    await event(at, 'turn-ended', { turn: 1, reason: 'completed', answer: '## Next steps\n\n1. Write the parser\n' })
    const typed = { name: 'next', by: 'person', args: 'arm --until "test -f api.md && test -f guide.md"' }
    const armed = await event(at, 'command-run', typed)
    expect(armed.actions.filter(({ kind }) => kind === 'run-check' || kind === 'submit')).toEqual([])
    const { actions } = (await ask(mod(at), 'GET', '/wait?session=s&after=0', undefined, limit)) as WaitAnswer
    expect(actions.map(({ action }) => action)).toContainEqual(
      expect.objectContaining({ kind: 'notify', text: 'Autorun stopped after 0 of 8 rounds: the condition holds.' }),
    )
  })

  it('cancels an operation by its id, and is told to stop', async () => {
    const at = await served()
    expect(await post(at, '/cancel', { id: 'none' })).toEqual({ cancelled: false })
    expect(await post(at, '/stop', {})).toEqual({ stopping: true })
    expect(at.stops).toEqual(['stop'])
  })

  it('is idle only while nothing is asked', async () => {
    const at = await served()
    const waiting = ask(mod(at), 'GET', '/wait?session=s&after=0', undefined, { timeoutMs: 60_000 }).catch(() => undefined)
    await new Promise(resolve => setTimeout(resolve, 60))
    // A poll that waits keeps nobody alive.
    expect(at.server.idleMs()).toBeGreaterThan(0)
    at.engines.outbox.close()
    await waiting
  })
})

describe('the runtime as another process sees it', () => {
  it('holds, lets go, and hears of failures', async () => {
    const at = await served()
    const remote = createRemote({ socket: at.socket, door: 'hook/0 s' })
    const base = { session: 's', project: at.root, at: Date.now() }
    await remote.handle({ ...base, kind: 'session-started', source: 'startup' })
    const stop = await remote.mayStop({ ...base, kind: 'turn-ending', turn: 1, answer: '', again: false })
    expect(stop.hold).toBeNull()
    await remote.failed('unknown', 'no-carrier')
  })

  it('is gone when nobody listens', async () => {
    const remote = createRemote({ socket: join(temporaryFolder(), 'none.sock'), door: 'hook/0 s' })
    const told = remote.handle({ kind: 'compacted', session: 's', project: '/p', at: 0 })
    await expect(told).rejects.toMatchObject({ code: 'SERVE_GONE' })
  })
})
