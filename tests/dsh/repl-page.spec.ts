/** What the host's page gets of the REPL: the chip, the names, the keys of the card. */
import http from 'node:http'
import type { Context } from '@deepseek-ai/cordis'
import { afterEach, describe, expect, it } from 'vitest'
import { fields, valueAt, writesOf } from '../../src/dsh/client/fields.ts'
import { chipText, recoverText } from '../../src/dsh/client/repl-chip.ts'
import { replFields } from '../../src/dsh/client/repl-fields.ts'
import { listOf, serveNames } from '../../src/dsh/repl/page.ts'
import { ReplRowConfig } from '../../src/dsh/repl/settings.ts'
import { createDisplay } from '../../src/dsh/web/display.ts'
import { pageHeader } from '../../src/dsh/web/shown.ts'
import type { SessionState } from '../../src/repl/types.ts'

const state = (names: number): SessionState => ({
  mode: 'volatile',
  head: 1,
  cwd: '/',
  bindings: Array.from({ length: names }, (_, i) => ({
    name: `n${i}`,
    kind: 'const',
    type: 'number',
    preview: `${i}\n  of many`,
    cell: 1,
    recover: 'lost',
    reason: 'open-handle',
  })),
  lost: [],
  named: [],
  atRisk: [],
  pending: { timers: 0, handles: 0 },
  worker: null,
})

describe('the chip', () => {
  it.each([
    [{ names: 12, mode: 'durable' }, 'REPL 12 names · durable'],
    [{ names: 1, mode: 'volatile' }, 'REPL 1 name · volatile'],
    [{ names: 0, mode: 'durable' }, undefined],
    [{ names: 0, mode: 'durable', degraded: 'no code seam' }, 'REPL degraded'],
  ] as const)('of %j says %j', (chip, text) => {
    expect(chipText(chip)).toBe(text)
  })

  it('says what a restart would make of a name', () => {
    expect(recoverText({ recover: 'lost', reason: 'open-handle' })).toBe('lost at a restart: open handle')
    expect(recoverText({ recover: 'lost' })).toBe('lost at a restart')
    expect(recoverText({ recover: 'snapshot' })).toBe('kept, as a copy')
  })
})

it('lists at most 200 names, each preview on one line', () => {
  const list = listOf(state(201))
  expect([list.names.length, list.omitted]).toEqual([200, 1])
  expect(list.names[0]).toEqual({
    name: 'n0',
    kind: 'const',
    type: 'number',
    preview: '0 of many',
    recover: 'lost',
    reason: 'open-handle',
  })
})

it('has parts that wake who waits, and that end with the session', async () => {
  const stays = new AbortController().signal
  const display = createDisplay(() => () => {})
  display.open()
  const first = await display.read('s', undefined, stays)
  expect(first).not.toHaveProperty('parts')
  const waiting = display.read('s', first.cursor, stays)
  display.part('s', 'repl', { names: 1 })
  const second = await waiting
  expect(second.parts).toEqual({ repl: { names: 1 } })
  display.part('s', 'repl', { names: 1 })
  expect((await display.read('s', undefined, stays)).cursor).toBe(second.cursor)
  display.part('s', 'repl', null)
  expect(await display.read('s', second.cursor, stays)).not.toHaveProperty('parts')
  display.part('s', 'repl', { names: 2 })
  display.end('s')
  expect(await display.read('s', undefined, stays)).not.toHaveProperty('parts')
})

describe('the route of the names', () => {
  let server: http.Server | undefined
  afterEach(() => {
    server?.close()
  })
  async function ask(look: (session: string) => Promise<SessionState | undefined>, query: string, headers = {}) {
    let handler: http.RequestListener = () => {}
    const scope = {
      get: () => ({
        register: (route: { handler: http.RequestListener }) => {
          handler = route.handler
          return () => {}
        },
      }),
      effect: (run: () => unknown) => run(),
    }
    serveNames({ inject: (_: unknown, use: (ctx: unknown) => void) => use(scope) } as unknown as Context, look)
    server = http.createServer((request, response) => handler(request, response))
    await new Promise<void>(done => server!.listen(0, '127.0.0.1', done))
    const { port } = server.address() as { port: number }
    const answer = await fetch(`http://127.0.0.1:${port}/outrigger/repl${query}`, { headers: { [pageHeader]: '1', ...headers } })
    return { status: answer.status, body: await answer.json() }
  }

  it('answers a page of the host', async () => {
    expect(await ask(async () => state(1), '?session=s')).toMatchObject({
      status: 200,
      body: { mode: 'volatile', omitted: 0, names: [{ name: 'n0' }] },
    })
  })
  it.each([
    ['another site', '?session=s', { 'sec-fetch-site': 'cross-site' }, 403],
    ['no session', '', {}, 400],
  ])('refuses %s', async (_, query, headers, status) => {
    expect((await ask(async () => state(1), query, headers)).status).toBe(status)
  })
  it('says when there is no REPL, and when asking fails', async () => {
    expect((await ask(async () => undefined, '?session=s')).status).toBe(404)
    server!.close()
    expect((await ask(async () => Promise.reject(new Error('no')), '?session=s')).status).toBe(404)
  })
})

describe('the card', () => {
  it('knows keys that the row takes, each with values the row takes, and says when they apply', () => {
    expect(replFields.length).toBeGreaterThan(15)
    for (const { path, choices, about, isFine } of [...replFields, ...fields]) {
      expect(about).toMatch(/Default: (?!undefined).+\./)
      for (const { value } of choices) expect([path, isFine(value)]).toEqual([path, true])
    }
    for (const { path, choices, isFine } of replFields) {
      const value = choices[0]?.value ?? 300
      const section = Object.fromEntries(writesOf({}, new Map([[path, value]])))
      expect(valueAt(ReplRowConfig(section), path)).toBe(value)
      if (choices.length === 0) expect([path, isFine('300'), isFine(-1), isFine(1.5)]).toEqual([path, false, false, false])
    }
    expect(replFields.find(field => field.path === 'heapMb')?.about).toContain('Applies from the next worker on.')
  })
})
