/** What the host's page gets of the REPL: a chip after each cell, the names when a person opens it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Context } from '@deepseek-ai/cordis'
import type { SessionState } from '../../repl/types.ts'
import { type Display, displayService } from '../web/display.ts'
import { type ReplChip, type ReplList, replPart, replRoutePath } from '../web/repl-shown.ts'
import { ownPageQuery, sendJson, type WebServer } from '../web/route.ts'

const maxNames = 200
const maxPreview = 160

/** Whether a page reads what is shown. */
export const isWatched = (ctx: Context): boolean => (ctx.get(displayService) as Display | undefined)?.isOpen === true

/** Shown above the composer; nothing where no page reads. `null` takes it away. */
export function showChip(ctx: Context, session: string, chip: ReplChip | null): void {
  const display = ctx.get(displayService) as Display | undefined
  if (display?.isOpen === true) display.part(session, replPart, chip === null ? null : { ...chip })
}

export const chipOf = ({ bindings, mode }: SessionState): ReplChip => ({ names: bindings.length, mode })

export function listOf({ bindings, mode }: SessionState): ReplList {
  return {
    mode,
    names: bindings.slice(0, maxNames).map(({ name, kind, type, preview, recover, reason }) => ({
      name,
      kind,
      type,
      preview: oneLine(preview),
      recover,
      ...(reason !== undefined && { reason }),
    })),
    omitted: Math.max(0, bindings.length - maxNames),
  }
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length <= maxPreview ? line : `${line.slice(0, maxPreview - 1)}…`
}

/**
 * Serve the names for as long as the host has a web server.
 *
 * @param look - the state of a session, known or asked for within a quarter of a second; `undefined`: it has no REPL open.
 */
export function serveNames(ctx: Context, look: (session: string) => Promise<SessionState | undefined>): void {
  ctx.inject(['webServer'], scope => {
    const server = scope.get('webServer') as WebServer
    scope.effect(() => server.register({ kind: 'exact', path: replRoutePath, handler: createHandler(look) }))
  })
}

function createHandler(look: (session: string) => Promise<SessionState | undefined>) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const query = ownPageQuery(request, response)
    if (query === undefined) return
    const state = await look(query.session).catch(() => undefined)
    if (response.destroyed) return
    if (state === undefined) sendJson(response, 404, { error: 'NO_REPL', message: 'this session has run no cell yet' })
    else sendJson(response, 200, listOf(state))
  }
}
