/** A page tells whether its composer is empty: a loop does not begin a turn while a person writes. */
import type { Context } from '@deepseek-ai/cordis'
import type {} from '../runtime.ts'
import { draftRoutePath } from '../web/next-shown.ts'
import { ownPageQuery, sendJson, type WebServer } from '../web/route.ts'

export function serveDraft(ctx: Context): void {
  ctx.inject(['webServer', 'outrigger'], scope => {
    const server = scope.get('webServer') as WebServer
    scope.effect(() =>
      server.register({
        kind: 'exact',
        path: draftRoutePath,
        handler: async (request, response) => {
          const query = ownPageQuery(request, response)
          if (query === undefined) return
          const { searchParams } = new URL(request.url ?? '/', 'http://host')
          scope.outrigger.typing(query.session, searchParams.get('empty') !== '0')
          sendJson(response, 200, { ok: true })
        },
      }),
    )
  })
}
