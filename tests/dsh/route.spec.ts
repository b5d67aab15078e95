/** The route over real HTTP: who may read it, and what a bad request gets. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createDisplay, type Display } from '../../src/dsh/web/display.ts'
import { isOwnPage } from '../../src/dsh/web/own-page.ts'
import { createHandler } from '../../src/dsh/web/route.ts'

const page = { 'outrigger-page': '1' }

describe('a request is from our own page', () => {
  it.each([
    ['under the loopback address', { ...page, host: '127.0.0.1:8080' }, true],
    ['under localhost, with what a browser adds', { ...page, host: 'localhost:1', origin: 'http://localhost:1' }, true],
    ['of the same origin', { ...page, host: '127.0.0.1:1', 'sec-fetch-site': 'same-origin' }, true],
    ['under an address of the local network', { ...page, host: '192.168.1.7:8080' }, true],
    ['under an IPv6 address', { ...page, host: '[::1]:8080', origin: 'http://[::1]:8080' }, true],
    ['without our header', { host: '127.0.0.1:8080' }, false],
    ['without a host', page, false],
    ['under a name, which another site may have pointed here', { ...page, host: 'rebound.example:8080' }, false],
    ['under a name that looks like an address', { ...page, host: '127.0.0.1.example' }, false],
    ['with a user in its host', { ...page, host: 'evil@127.0.0.1' }, false],
    ['of a foreign origin', { ...page, host: '127.0.0.1:1', origin: 'https://evil.example' }, false],
    ['of another port', { ...page, host: '127.0.0.1:1', origin: 'http://127.0.0.1:2' }, false],
    ['of an opaque origin', { ...page, host: '127.0.0.1:1', origin: 'null' }, false],
    ['of another site', { ...page, host: '127.0.0.1:1', 'sec-fetch-site': 'cross-site' }, false],
    ['of another port of this site', { ...page, host: '127.0.0.1:1', 'sec-fetch-site': 'same-site' }, false],
    ['typed into the address bar', { ...page, host: '127.0.0.1:1', 'sec-fetch-site': 'none' }, false],
  ])('%s', (_what, headers, expected) => {
    expect(isOwnPage(headers)).toBe(expected)
  })
})

let server: http.Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

async function serve(): Promise<{ display: Display; url: string }> {
  const display = createDisplay()
  display.open()
  server = http.createServer(createHandler(display))
  await new Promise<void>(done => server?.listen(0, '127.0.0.1', done))
  return { display, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/outrigger/session` }
}

describe('the route', () => {
  it('gives what a session shows, never to be kept', async () => {
    const { display, url } = await serve()
    display.status('s 1', 'keel 1 behind')
    const answer = await fetch(`${url}?session=s%201`, { headers: page })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    expect(await answer.json()).toMatchObject({ status: 'keel 1 behind', notices: [] })
  })

  it.each([
    ['a foreign origin', '?session=s', { headers: { ...page, origin: 'https://evil.example' } }, 403, 'NOT_OUR_PAGE'],
    ['what a browser asks first across origins', '?session=s', { method: 'OPTIONS' }, 403, 'NOT_OUR_PAGE'],
    ['another method', '?session=s', { method: 'POST', headers: page }, 405, 'GET_ONLY'],
    ['no session', '', { headers: page }, 400, 'BAD_QUERY'],
    ['a session of any length', `?session=${'s'.repeat(201)}`, { headers: page }, 400, 'BAD_QUERY'],
    ['a cursor of any length', `?session=s&after=${'1'.repeat(201)}`, { headers: page }, 400, 'BAD_QUERY'],
  ])('refuses %s', async (_what, query, init, code, error) => {
    const { url } = await serve()
    const answer = await fetch(url + query, init)
    expect({ code: answer.status, body: await answer.json() }).toMatchObject({ code, body: { error } })
  })

  it('lets a reader go that closed its connection', async () => {
    const { display, url } = await serve()
    display.status('s', 'keel 1 behind')
    const { cursor } = (await (await fetch(`${url}?session=s`, { headers: page })).json()) as { cursor: string }
    const gone = new AbortController()
    const read = fetch(`${url}?session=s&after=${cursor}`, { headers: page, signal: gone.signal })
    await new Promise(done => setTimeout(done, 30))
    gone.abort()
    await expect(read).rejects.toThrow()
    await new Promise(done => setTimeout(done, 30))
    display.notify('s', { kind: 'notify', id: 'n1', engine: 'keel', level: 'info', text: 'one' })
    expect(display.end('s')).toEqual(['n1'])
  })
})
