/** What the two rows put on the screen, with the real runtime and engine and a web server that stands in for the host's. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import { afterEach, describe, expect, it } from 'vitest'
import * as core from '../../src/dsh/core.ts'
import * as keel from '../../src/dsh/keel.ts'
import type { Shown } from '../../src/dsh/web/shown.ts'
import { bootLoop, type Harness, say, text } from '../support/dsh/in-process.ts'

interface Route {
  readonly kind: string
  readonly path: string
  handler(request: http.IncomingMessage, response: http.ServerResponse): unknown
}

let folder: string | undefined
let harness: Harness | undefined
let server: http.Server | undefined
afterEach(async () => {
  await harness?.stop()
  server?.closeAllConnections()
  server?.close()
  harness = server = undefined
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
})

/** A project with one document. @param routes - where the host's web server keeps them; without it there is none. */
async function boot(routes?: Set<Route>): Promise<{ readonly root: string; readonly loop: Harness }> {
  folder = mkdtempSync(join(tmpdir(), 'outrigger-shown-'))
  execFileSync('git', ['init', '-q', folder])
  writeFileSync(join(folder, 'a.md'), 'alpha\n')
  writeFileSync(join(folder, 'b.md'), '---\nsources:\n  - a.md\n---\n# B\n')
  const webServer = {
    name: 'web-server',
    apply: (ctx: Context) =>
      ctx.provide('webServer', {
        register: (route: Route) => {
          routes?.add(route)
          return () => routes?.delete(route)
        },
      }),
  }
  harness = await bootLoop({
    script: Array.from({ length: 6 }, () => text('ok')),
    cwd: folder,
    plugins: [[core, {}], [keel, keel.Config({ hold: 'off' })], ...(routes === undefined ? [] : [[webServer, {}] as const])],
  })
  return { root: folder, loop: harness }
}

/** What a page of the host reads of a session. */
async function read(routes: ReadonlySet<Route>, session: string): Promise<Shown> {
  server ??= http.createServer((request, response) => {
    for (const route of routes) if (request.url?.startsWith(route.path) === true) void route.handler(request, response)
  })
  if (!server.listening) await new Promise<void>(done => server?.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/outrigger/session?session=${session}`
  return (await (await fetch(url, { headers: { 'outrigger-page': '1' } })).json()) as Shown
}

const ledger = async (loop: Harness, agent: Awaited<ReturnType<Harness['create']>>, what: string) => {
  const { project, outrigger } = await loop.ctx.outrigger.live(agent)
  await outrigger.idle()
  const lines = []
  for await (const line of project.ledger.read({})) if (line.what === what) lines.push(line)
  return lines
}

describe('with a web server', () => {
  it('one route says what is behind, for each session its own, and takes it back', async () => {
    const routes = new Set<Route>()
    const { root, loop } = await boot(routes)
    expect([...routes].map(({ kind, path }) => `${kind} ${path}`)).toEqual(['exact /outrigger/session'])
    const agent = await loop.create()
    await say(agent, 'hello')
    expect((await read(routes, 's1')).status).toBeNull()
    writeFileSync(join(root, 'a.md'), 'beta\n')
    await say(agent, 'again')
    expect((await read(routes, 's1')).status).toBe('keel 1 behind')
    expect((await read(routes, 's2')).status).toBeNull()
    writeFileSync(join(root, 'a.md'), 'alpha\n')
    await say(agent, 'undone')
    expect((await read(routes, 's1')).status).toBeNull()
    expect(await ledger(loop, agent, 'not-carried-out')).toEqual([])
  })

  it('a line of a runtime that was made anew in between is taken back, too', async () => {
    const routes = new Set<Route>()
    const { root, loop } = await boot(routes)
    const agent = await loop.create()
    await say(agent, 'hello')
    writeFileSync(join(root, 'a.md'), 'beta\n')
    await say(agent, 'again')
    await loop.ctx.outrigger.changed()
    expect((await read(routes, 's1')).status).toBe('keel 1 behind')
    writeFileSync(join(root, 'a.md'), 'alpha\n')
    await say(agent, 'undone')
    expect((await read(routes, 's1')).status).toBeNull()
  })
})

describe('without a web server', () => {
  it('the status goes to the ledger', async () => {
    const { root, loop } = await boot()
    const agent = await loop.create()
    await say(agent, 'hello')
    writeFileSync(join(root, 'a.md'), 'beta\n')
    await say(agent, 'again')
    expect(await ledger(loop, agent, 'not-carried-out')).toMatchObject([{ reason: 'no-carrier', text: 'keel 1 behind' }])
  })
})
