/** The one route of the web part: a page asks what to show of a session, and is answered when there is something new. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Context } from '@deepseek-ai/cordis'
import type { Display } from './display.ts'
import { isOwnPage } from './own-page.ts'
import { webRoutePath } from './shown.ts'

const maxChars = 200

/** The host's web server, as far as it is used here; only the web profile has one. */
export interface WebServer {
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
    const query = ownPageQuery(request, response)
    if (query === undefined) return
    const { session, after } = query
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const shown = await display.read(session, after, gone.signal)
    if (!gone.signal.aborted) sendJson(response, 200, shown)
  }
}

export interface PageQuery {
  readonly session: string
  readonly after: string | undefined
}

/** What a page of ours asks; anything else is answered here, and `undefined`. */
export function ownPageQuery(request: IncomingMessage, response: ServerResponse): PageQuery | undefined {
  const refuse = (code: number, error: string, message: string, more = {}): undefined => {
    sendJson(response, code, { error, message }, more)
    return undefined
  }
  if (!isOwnPage(request.headers)) return refuse(403, 'NOT_OUR_PAGE', 'only a page of this host may read this')
  if (request.method !== 'GET') return refuse(405, 'GET_ONLY', 'use GET', { allow: 'GET' })
  const { searchParams } = new URL(request.url ?? '/', 'http://host')
  const session = searchParams.get('session') ?? ''
  const after = searchParams.get('after') ?? undefined
  if (session === '' || session.length > maxChars || (after?.length ?? 0) > maxChars)
    return refuse(400, 'BAD_QUERY', `session is needed, at most ${maxChars} characters`)
  return { session, after }
}

export function sendJson(
  response: ServerResponse,
  code: number,
  body: object,
  more: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(code, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    ...more,
  })
  response.end(JSON.stringify(body))
}
