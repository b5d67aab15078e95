/**
 * The row that switches next-step on in DSH, with its settings and the command `/next`. The row `core` owns the runtime and the
 * listeners; turns that the loop starts go through its fence.
 *
 * Named exports only: with a default export the loader drops `inject`.
 */
import type { Context } from '@deepseek-ai/cordis'
import { nextEngineOf } from '../runtime/next.ts'
import { registerCommand } from './commands.ts'
import { serveDraft } from './next/draft-route.ts'
import { NextRowConfig, nextSettings } from './next/settings.ts'
import type {} from './runtime.ts'

export const name = 'outrigger-next'
export const inject: string[] = ['outrigger', 'agents', 'commands']

export type Config = NextRowConfig
export const Config: typeof NextRowConfig = NextRowConfig

export function apply(ctx: Context, config: NextRowConfig = {}): void {
  const settings = nextSettings(ctx, config, () => void ctx.outrigger.changed('next'))
  ctx.effect(() => ctx.outrigger.engine({ name: 'next', settings, create: project => nextEngineOf(project), readsLate: true }))
  serveDraft(ctx)
  registerCommand(
    ctx,
    {
      name: 'next',
      description: 'The next step, and the loop that goes on by itself',
      hint: '[state | suggest | run | dismiss | arm [--rounds N] [--until "CMD"] | disarm | off | on | model | log]',
    },
    (agent, args) => ctx.outrigger.command(agent, 'next', args),
  )
}
