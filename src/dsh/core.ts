/**
 * The row that listens in DSH for all engines and owns their runtime. Engine rows switch their engine on
 * through the service `outrigger` that this one provides. Decides nothing.
 *
 * Named exports only: with a default export the loader drops `inject`.
 */
import type { Context } from '@deepseek-ai/cordis'
import type {} from '@deepseek-ai/dsh-commands'
import { registerDoctorCommand } from './commands.ts'
import { listen } from './listeners.ts'
import { barCheck } from './next/bar-check.ts'
import { opener } from './open.ts'
import { createDisplay, displayService } from './web/display.ts'
import { serveDisplay } from './web/route.ts'

export const name = 'outrigger'
export const inject: string[] = ['agents', 'sessions', 'tools', 'commands']

export function apply(ctx: Context): void {
  const display = createDisplay()
  ctx.provide(displayService as never, display as never)
  listen(ctx, opener, display)
  serveDisplay(ctx, display)
  registerDoctorCommand(ctx, () => (ctx.outrigger.isOn('next') ? [barCheck(display)] : []))
}
