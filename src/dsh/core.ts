/**
 * The row that listens in DSH for all engines and owns their runtime. Engine rows switch their engine on
 * through the service `outrigger` that this one provides. Registers each host event once; decides nothing.
 *
 * Named exports only: with a default export the loader drops `inject`.
 */
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type {} from '@deepseek-ai/dsh-commands'
import type {} from '@deepseek-ai/dsh-session'
import type {} from '@deepseek-ai/dsh-tools'
import { registerDoctorCommand } from './commands.ts'
import { createDoor, type DoorHost } from './door.ts'
import { openLive } from './open.ts'
import { createDshRuntime, type OpenLive } from './runtime.ts'

export const name = 'outrigger'
export const inject: string[] = ['agents', 'sessions', 'tools', 'commands']

/** Mount the listeners; Cordis removes them with the plugin's context. */
export function apply(ctx: Context): void {
  mount(ctx, openLive)
}

/** @param open - opens a session's project; a test hands in another. */
export function mount(ctx: Context, open: OpenLive): void {
  const runtime = createDshRuntime(open)
  const door = createDoor(runtime, hostOf(ctx))
  ctx.provide('outrigger', { ...runtime, live: door.live })
  ctx.effect(() => () => runtime.close())

  ctx.on('agent/session-start', ({ agent, source }) => door.sessionStarted(agent, source))

  ctx.on('agent/pre-step', async ({ agent, turn }, next) => {
    const decision = await next()
    if (decision.kind !== 'enter') return decision
    const added = await door.entering(agent, decision.messages, turn)
    return added.length === 0 ? decision : { kind: 'enter', messages: [...decision.messages, ...added] }
  })

  ctx.on('tools/post-execute', async (exec, result, next) => {
    const decision = await next()
    const added = await door.called(exec, result)
    return added.length === 0 ? decision : { ...decision, additionalContexts: [...added, ...(decision.additionalContexts ?? [])] }
  })

  ctx.on('agent/turn-stopping', ({ agent, turn }) => door.stopping(agent, turn))
  ctx.on('session/event', (session, event) => door.recorded(session, event))
  ctx.on('agent/status', ({ agent }) => door.statusChanged(agent))
  ctx.on('agent/disposed', ({ agent }) => door.disposed(agent))

  registerDoctorCommand(ctx)
}

/** What the door asks of the host; optional services are looked up late, since rows mount concurrently. */
function hostOf(ctx: Context): DoorHost {
  const log = ctx.logger('outrigger')
  return {
    find: session => ctx.agents.list().find(agent => agent.id === session),
    agents: () => ctx.agents.list(),
    jobs: agent => {
      const jobs = ctx.get('jobs') as { list(caller: Agent): readonly { readonly status: string }[] } | undefined
      return jobs?.list(agent).filter(job => job.status === 'running' || job.status === 'stopping').length ?? 0
    },
    window: agent => agent.session.requestContext()?.contextWindow ?? 0,
    warn: text => log.warn(text),
  }
}
