/** The one route of the web part: a page asks what to show of a session, and is answered when there is something new. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Context } from '@deepseek-ai/cordis'
import type { Display } from './display.ts'
import { isOwnPage } from './own-page.ts'
import { webRoutePath } from './shown.ts'

const maxChars = 200

/** The host's web server, as far as it is used here; only the web profile has one. */
interface WebServer {
  register(route: {
    readonly kind: 'exact'
    readonly path: string
    readonly handler: (request: IncomingMessage, response: ServerResponse) => Promise<void>
  }): () => void
}

/** Serve the display for as long as the host has a web server. */
export function serveDisplay(ctx: Context, display: Display): void {
  ctx.inject(['webServer'], scope => {
    const server = scope.get('webServer') as WebServer
    scope.effect(() => {
      const close = display.open()
      const unregister = server.register({ kind: 'exact', path: webRoutePath, handler: createHandler(display) })
      return () => {
        unregister()
        close()
      }
    })
  })
}

export function createHandler(display: Display): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    if (!isOwnPage(request.headers))
      return send(response, 403, { error: 'NOT_OUR_PAGE', message: 'only a page of this host may read this' })
    if (request.method !== 'GET') return send(response, 405, { error: 'GET_ONLY', message: 'use GET' }, { allow: 'GET' })
    const { searchParams } = new URL(request.url ?? '/', 'http://host')
    const session = searchParams.get('session') ?? ''
    const after = searchParams.get('after') ?? undefined
    if (session === '' || session.length > maxChars || (after?.length ?? 0) > maxChars)
      return send(response, 400, { error: 'BAD_QUERY', message: `session is needed, at most ${maxChars} characters` })

    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const shown = await display.read(session, after, gone.signal)
    if (!gone.signal.aborted) send(response, 200, shown)
  }
}

function send(response: ServerResponse, code: number, body: object, more: Readonly<Record<string, string>> = {}): void {
  response.writeHead(code, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    ...more,
  })
  response.end(JSON.stringify(body))
}
