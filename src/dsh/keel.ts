/**
 * The row that switches keel on in DSH, with its settings, tools and slash command. The row `core` owns the
 * runtime and the listeners.
 *
 * Named exports only: with a default export the loader drops `inject`.
 */
import type { Context } from '@deepseek-ai/cordis'
import { OutriggerError } from '../errors.ts'
import { runKeelCommand } from '../keel/command.ts'
import { createKeelEngine } from '../keel/engine.ts'
import { keelOperations } from '../keel/verbs/index.ts'
import { registerCommand } from './commands.ts'
import type {} from './runtime.ts'
import { KeelRowConfig, keelSettings } from './settings.ts'
import { registerTools } from './tools.ts'

export const name = 'outrigger-keel'
export const inject: string[] = ['outrigger', 'tools', 'commands']

export type Config = KeelRowConfig
export const Config: typeof KeelRowConfig = KeelRowConfig

export function apply(ctx: Context, config: KeelRowConfig = {}): void {
  const settings = keelSettings(ctx, config, () => void ctx.outrigger.changed())
  ctx.effect(() =>
    ctx.outrigger.engine({
      name: 'keel',
      settings,
      create: project => createKeelEngine(project.keel(), project.keelDeps(), { hasAckTool: true }),
    }),
  )

  // The table describes the tools before there is a project; a call runs on the session's own.
  registerTools(ctx, keelOperations(noProject, noProject))

  registerCommand(
    ctx,
    { name: 'keel', description: 'Documents behind their sources', hint: '[scan | why <file> | watch | off | on]' },
    async (agent, args) => {
      const { project } = await ctx.outrigger.live(agent)
      return runKeelCommand(args, { keel: project.keel(), deps: project.keelDeps(), watchMode: 'native' })
    },
  )
}

function noProject(): never {
  throw new OutriggerError('DSH_NO_SESSION', 'no session is open', { hint: 'call it in a session' })
}
