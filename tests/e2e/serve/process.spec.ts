import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, healthOf } from '../../../src/serve/client.ts'
import type { EventAnswer, Health, Running } from '../../../src/serve/protocol.ts'
import { buildProgram, type Program } from '../../support/cli/program.ts'

let program: Program
beforeAll(async () => {
  program = await buildProgram()
})
afterAll(() => program?.remove())

const files = {
  '.git/HEAD': 'ref: refs/heads/main\n',
  'guide.md': '---\nsources:\n  - api.md\n---\n# Guide\n\nCall open.\n',
  'api.md': '# API\n\nopen(path)\n',
}

/** A project whose engine process ends with the test. */
async function withProject(check: (root: string) => Promise<void>, given: Readonly<Record<string, string>> = files) {
  const root = program.folder(given)
  try {
    await check(root)
  } finally {
    await program.run(root, ['serve', '--stop'])
  }
}

async function detach(root: string, env: Readonly<Record<string, string>> = {}): Promise<Running> {
  const { code, out, err } = await program.run(root, ['serve', '--detach'], { env })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out) as Running
}

const limit = { timeoutMs: 5_000 }
const door = (connection = 'c') => `claude-code/2.1.332 ${connection}`
const tell = ({ socket }: Running, root: string, session: string, kind: string, more: object = {}) =>
  ask(
    { socket, door: door() },
    'POST',
    '/event',
    { kind, session, project: root, at: Date.now(), ...more },
    limit,
  ) as Promise<EventAnswer>

/** One call of a host's hook. */
async function hook(root: string, event: string, more: object = {}) {
  const payload = { session_id: 's1', cwd: root, hook_event_name: event, ...more }
  const ran = await program.run(program.folder(), ['hook', event], { stdin: JSON.stringify(payload) })
  return { code: ran.code, err: ran.err, json: JSON.parse(ran.out) as Record<string, unknown> }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A killed child of init is gone soon; a zombie counts as gone where /proc says so.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

async function dies(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL')
  for (let tries = 0; tries < 200; tries++) {
    if (!isAlive(pid)) return
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  throw new Error(`${pid} does not die`)
}

describe('starting the engine process', () => {
  it('leaves one process when twenty start it at once, and all of them find it', { timeout: 60_000 }, () =>
    withProject(async root => {
      const found = await Promise.all(Array.from({ length: 20 }, () => detach(root)))
      expect(new Set(found.map(({ pid }) => pid)).size).toBe(1)
      expect(new Set(found.map(({ socket }) => socket)).size).toBe(1)
      const { socket, pid } = found[0]!
      expect(statSync(socket).mode & 0o777).toBe(0o600)
      expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700)
      expect(await healthOf(socket, 1_000)).toMatchObject({ protocol: 1, pid, project: root, sessions: [] })
    }),
  )

  it('finds the one of a starter with another environment', () =>
    withProject(async root => {
      const first = await detach(root)
      const elsewhere = program.folder()
      chmodSync(elsewhere, 0o700)
      const second = await detach(root, { XDG_RUNTIME_DIR: elsewhere })
      expect(second).toEqual(first)
      expect(existsSync(join(elsewhere, 'outrigger'))).toBe(false)
    }))

  it('refuses a second one in the foreground by name', () =>
    withProject(async root => {
      const { pid } = await detach(root)
      const { code, err } = await program.run(root, ['serve'])
      expect(code).toBe(4)
      expect(err).toContain(String(pid))
    }))

  it('keeps secrets of the host that started it out of its environment', () =>
    withProject(async root => {
      const { pid } = await detach(root, {
        CLAUDE_CODE_MESSAGING_TOKEN: 'made-up',
        AI_AGENT: 'claude-code_2-1-332_harness',
        KEPT: 'yes',
      })
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
      expect(environment).toContain('KEPT=yes')
      expect(environment).not.toContain('made-up')
      expect(environment).not.toContain('AI_AGENT')
    }))
})

describe('doctor', () => {
  it('shows the process that runs, and one that was killed as none', () =>
    withProject(async root => {
      const row = async () => {
        const { out } = await program.run(root, ['doctor', '--json'])
        const { checks } = JSON.parse(out) as { checks: { id: string; status: string; text: string }[] }
        return checks.find(check => check.id === 'serve')
      }
      expect(await row()).toMatchObject({ status: 'ok', text: expect.stringContaining('no engine process runs') as string })
      const { pid, socket, version } = await detach(root)
      expect((await row())?.text).toMatch(`engine process ${pid}, version ${version}, on ${socket}, since 2`)
      await dies(pid)
      expect((await row())?.text).toContain(`the last one was process ${pid}`)
    }))
})

describe('when something goes wrong', () => {
  it('is found again where its socket was removed, or something else lies there, with what it heard', () =>
    withProject(async root => {
      const running = await detach(root)
      await tell(running, root, 's', 'session-started', { source: 'startup' })
      const spoil = [
        () => rmSync(running.socket),
        () => rmSync(dirname(running.socket), { recursive: true }),
        () => {
          rmSync(running.socket)
          writeFileSync(running.socket, 'not a socket')
        },
      ]
      for (const spoilt of spoil) {
        spoilt()
        expect(await detach(root)).toEqual(running)
        expect((await healthOf(running.socket, 5_000))?.sessions).toEqual(['s'])
      }
      chmodSync(dirname(running.socket), 0o777)
      chmodSync(running.socket, 0o666)
      await expect.poll(() => statSync(running.socket).mode & 0o777, { timeout: 5_000 }).toBe(0o600)
      expect(statSync(dirname(running.socket)).mode & 0o777).toBe(0o700)
    }))

  it('goes on in a new store where its folder was removed, and is found there with its sessions', () =>
    withProject(async root => {
      const running = await detach(root)
      await tell(running, root, 's', 'session-started', { source: 'startup' })
      rmSync(join(root, '.outrigger/state'), { recursive: true, maxRetries: 5 })
      const spoken = await tell(running, root, 's', 'person-spoke', { text: 'go on' })
      expect(spoken.actions).toEqual(expect.any(Array))
      const found = async () => (await program.run(root, ['next', 'state', '--json'])).out
      await expect.poll(found, { timeout: 8_000 }).toContain('"session":"s"')
      expect(await detach(root)).toEqual(running)
      expect((await program.run(root, ['doctor'])).out).toContain(`engine process ${running.pid}`)
    }))

  it('answers, and stays, while another process has the store locked', () =>
    withProject(async root => {
      await program.run(root, ['keel', 'stamp'])
      const running = await detach(root)
      await tell(running, root, 's', 'session-started', { source: 'startup' })
      const database = new DatabaseSync(join(root, '.outrigger/state/store.db'))
      database.exec('BEGIN IMMEDIATE')
      try {
        writeFileSync(join(root, 'api.md'), '# API\n\nopen(path, mode)\n')
        const since = performance.now()
        await tell(running, root, 's', 'person-spoke', { text: 'go on' })
        const call = { tool: 'Edit', input: { file_path: join(root, 'api.md') }, ok: true, output: '' }
        const heard = []
        for (const id of ['c1', 'c2'])
          heard.push(...(await tell(running, root, 's', 'tool-finished', { ...call, call: id })).actions)
        expect(performance.now() - since).toBeLessThan(5_000)
        expect(heard.filter(({ kind, engine }) => kind === 'add-context' && engine === 'keel')).toHaveLength(1)
        // Longer than it goes without renewing its lease.
        await new Promise(resolve => setTimeout(resolve, 4_500))
        expect((await healthOf(running.socket, 1_000))?.pid).toBe(running.pid)
      } finally {
        database.exec('ROLLBACK')
        database.close()
      }
      expect(await detach(root)).toEqual(running)
    }))

  it('leaves a place that it cannot have back, so that its project is free', () =>
    withProject(async root => {
      const { socket, pid } = await detach(root)
      rmSync(socket)
      mkdirSync(socket)
      await expect.poll(() => isAlive(pid), { timeout: 8_000 }).toBe(false)
      rmSync(socket, { recursive: true })
      expect((await detach(root)).pid).not.toBe(pid)
    }))

  it('a process killed in the middle of a turn is started again and knows what it heard', () =>
    withProject(async root => {
      expect((await program.run(root, ['keel', 'stamp'])).code).toBe(0)
      const first = await detach(root)
      await tell(first, root, 's1', 'session-started', { source: 'startup' })
      await tell(first, root, 's1', 'person-spoke', { text: 'go' })
      await tell(first, root, 's1', 'turn-started', { turn: 0, by: 'person' })
      writeFileSync(join(root, 'api.md'), '# API\n\nopen(path, mode)\n')
      const call = { call: 'k1', tool: 'Write', input: { file_path: 'api.md' }, written: ['api.md'] }
      const told = await tell(first, root, 's1', 'tool-finished', call)
      expect(told.actions.some(action => action.kind === 'add-context')).toBe(true)

      await dies(first.pid)
      expect(existsSync(first.socket)).toBe(true)
      const second = await detach(root)
      expect(second.pid).not.toBe(first.pid)
      expect(second.socket).toBe(first.socket)
      const again = await tell(second, root, 's1', 'tool-finished', { ...call, call: 'k2' })
      expect(again.actions.filter(action => action.kind === 'add-context')).toEqual([])
      const stop = await tell(second, root, 's1', 'turn-ending', { turn: 0, answer: 'done', again: false })
      expect(stop.actions.map(({ kind }) => kind)).toContain('hold-stop')
    }))

  it('a hook answers by itself where the socket is one that a dead process left', () =>
    withProject(async root => {
      expect((await program.run(root, ['keel', 'stamp'])).code).toBe(0)
      await hook(root, 'SessionStart', { source: 'startup' })
      const { pid } = await detach(root)
      await dies(pid)
      writeFileSync(join(root, 'api.md'), '# API\n\nopen(path, mode)\n')
      const more = { tool_name: 'Write', tool_use_id: 'k1', tool_input: { file_path: join(root, 'api.md') }, tool_response: {} }
      const { code, json } = await hook(root, 'PostToolUse', more)
      expect(code).toBe(0)
      expect(JSON.stringify(json)).toContain('guide.md')
    }))

  it('two sessions of one project are told apart, each thing once', () =>
    withProject(async root => {
      expect((await program.run(root, ['keel', 'stamp'])).code).toBe(0)
      const running = await detach(root)
      for (const session of ['a', 'b']) {
        await tell(running, root, session, 'session-started', { source: 'startup' })
        await tell(running, root, session, 'person-spoke', { text: 'go' })
      }
      writeFileSync(join(root, 'api.md'), '# API\n\nopen(path, mode)\n')
      const call = { tool: 'Write', input: { file_path: 'api.md' }, written: ['api.md'] }
      const notices = async (session: string, id: string) =>
        (await tell(running, root, session, 'tool-finished', { ...call, call: id })).actions.filter(
          ({ kind }) => kind === 'add-context',
        )
      expect(await notices('a', 'k1')).toHaveLength(1)
      expect(await notices('a', 'k2')).toHaveLength(0)
      expect(await notices('b', 'k3')).toHaveLength(1)
      expect((await healthOf(running.socket, 1_000))?.sessions).toEqual(['a', 'b'])
    }))

  it('a project that was moved gets a process of its own, and the old one is not taken for it', () =>
    withProject(async root => {
      const old = await detach(root)
      const moved = `${root}-moved`
      renameSync(root, moved)
      try {
        const running = await detach(moved)
        expect(running.socket).not.toBe(old.socket)
        expect((await healthOf(running.socket, 1_000))?.project).toBe(moved)
        expect((await healthOf(old.socket, 1_000))?.project ?? root).toBe(root)
      } finally {
        await program.run(moved, ['serve', '--stop'])
        renameSync(moved, root)
        await ask({ socket: old.socket, door: door() }, 'POST', '/stop', {}, limit).catch(() => undefined)
      }
    }))

  it('works without git', () =>
    withProject(
      async root => {
        const running = await detach(root)
        await tell(running, root, 's', 'session-started', { source: 'startup' })
        expect(
          ((await ask({ socket: running.socket, door: door() }, 'GET', '/health', undefined, limit)) as Health).sessions,
        ).toEqual(['s'])
      },
      { 'a.md': '# A\n' },
    ))

  it('serves a project that cannot be written', async () => {
    const root = program.folder(files)
    chmodSync(root, 0o555)
    try {
      const running = await detach(root)
      await tell(running, root, 's', 'session-started', { source: 'startup' })
      expect((await healthOf(running.socket, 1_000))?.sessions).toEqual(['s'])
    } finally {
      await program.run(root, ['serve', '--stop'])
      chmodSync(root, 0o755)
    }
  })

  it('names a process that speaks another protocol, and a hook does without it', () =>
    withProject(async root => {
      const { socket } = await detach(root)
      await program.run(root, ['serve', '--stop'])
      const other = createServer((_request, response) => {
        response.writeHead(409, { 'content-type': 'application/json', 'outrigger-protocol': '2' })
        response.end('{}')
      })
      mkdirSync(dirname(socket), { recursive: true, mode: 0o700 })
      await new Promise<void>(resolve => other.listen(socket, resolve))
      try {
        const { code, err } = await program.run(root, ['serve', '--detach'])
        expect(code).toBe(4)
        expect(err).toContain('protocol 2')
        expect(await hook(root, 'SessionStart', { source: 'startup' })).toMatchObject({ code: 0 })
      } finally {
        await new Promise(resolve => other.close(resolve))
      }
    }))
})
