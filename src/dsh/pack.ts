/**
 * The row that switches pack on in DSH, with its settings, the commands `/pack` and `/unpack`, and the section
 * that teaches an agent to leave checkpoints. The row `core` owns the runtime and the listeners.
 *
 * Named exports only: with a default export the loader drops `inject`.
 */
import type { Context } from '@deepseek-ai/cordis'
import type {} from '@deepseek-ai/dsh-system-prompt'
import z from '@deepseek-ai/schemastery'
import { createPackEngine } from '../pack/engine.ts'
import { teaching } from '../pack/messages.ts'
import type { Json } from '../ports/json.ts'
import { registerCommand } from './commands.ts'
import type {} from './runtime.ts'

export const name = 'outrigger-pack'
export const inject: string[] = ['outrigger', 'agents', 'commands', 'systemPrompt']

/** What the host's row may set; what it leaves out comes from the project's and the person's files. */
export interface Config {
  enabled?: boolean
  teach?: boolean
  afterCompaction?: boolean
  maxChars?: number
  maxTokens?: number
  designate?: 'session' | 'aside' | 'off'
  reinject?: 'context' | 'message'
  fresh?: 'new-session' | 'compact' | 'handover'
}

function oneOf<const T extends string>(about: string, ...values: readonly T[]): z<T> {
  return z.union(values.map(value => z.const(value))).description(about) as z<T>
}

export const Config: z<Config> = z.object({
  enabled: z.boolean().description('Capture checkpoints and keep work streams.'),
  teach: z.boolean().description('Tell the agent how to leave checkpoints.'),
  afterCompaction: z.boolean().description('Give the notes again after the host compacted.'),
  maxChars: z.natural().description('Characters of a state.'),
  maxTokens: z.natural().description('Estimated tokens of a state.'),
  designate: oneOf(
    'Whether a model is asked what to add to a save, with the conversation or without.',
    'session',
    'aside',
    'off',
  ),
  reinject: oneOf('How a fresh session gets the notes.', 'context', 'message'),
  fresh: oneOf('How a fresh start is made.', 'new-session', 'compact', 'handover'),
})

const sectionName = 'outrigger:pack'

export function apply(ctx: Context, config: Config = {}): void {
  ctx.effect(() =>
    ctx.outrigger.engine({
      name: 'pack',
      settings: () => settingsOf(config),
      create: project => createPackEngine(project.pack(), project.packDeps()),
    }),
  )

  ctx.systemPrompt.section({ name: sectionName, order: 96, text: teaching })
  ctx.on('system-prompt/assemble', async (_assembly, context, next) => {
    const assembly = await next()
    const agent = ctx.agents.list().find(each => each === context.scope)
    if (agent !== undefined && (await teaches(ctx, agent))) return assembly
    return { ...assembly, sections: assembly.sections.filter(section => section.name !== sectionName) }
  })

  registerCommand(
    ctx,
    {
      name: 'pack',
      description: 'Save the work stream and go on in a fresh session',
      hint: '[stream] [--review] [--plain] | save | for "goal" | cancel | continue | auto | show | diff | list | status',
    },
    (agent, args) => ctx.outrigger.command(agent, 'pack', args),
  )
  registerCommand(
    ctx,
    { name: 'unpack', description: 'Load the notes of a work stream into this session', hint: '<stream> [--trust]' },
    (agent, args) => ctx.outrigger.command(agent, 'unpack', args),
  )
}

/** A project that cannot be opened teaches nothing; why is told elsewhere. */
async function teaches(ctx: Context, agent: Parameters<Context['outrigger']['live']>[0]): Promise<boolean> {
  try {
    const { project } = await ctx.outrigger.live(agent)
    const { enabled, teach } = project.packDeps().config
    return enabled && teach
  } catch {
    return false
  }
}

function settingsOf({ fresh, ...rest }: Config): Readonly<Record<string, Json>> {
  const settings: Record<string, Json> = {}
  for (const [key, value] of Object.entries({ ...rest, 'dsh.fresh': fresh }))
    if (value !== undefined && value !== null) settings[key] = value
  return settings
}
