/** Each event of the host that an engine hears of, registered once. Cordis removes the listeners with the row's context. */
import type { Context } from '@deepseek-ai/cordis'
import type {} from '@deepseek-ai/dsh-agent'
import type {} from '@deepseek-ai/dsh-session'
import type {} from '@deepseek-ai/dsh-tools'
import { createDoors } from './carries.ts'
import { createDoor } from './door.ts'
import { hostOf } from './host.ts'
import { besides } from './messages.ts'
import { createDshRuntime, type Opener } from './runtime.ts'
import type { Display } from './web/display.ts'

/**
 * @param opener - opens a session's project.
 * @param display - what the browser shows, where there is one.
 */
export function listen(ctx: Context, opener: Opener, display: Display): void {
  const host = hostOf(ctx)
  const doors = createDoors(display)
  const runtime = createDshRuntime(opener, doors.outer)
  const door = createDoor(runtime, host, doors, display)
  ctx.provide('outrigger', { ...runtime, live: door.live, command: door.command, typing: door.typing })
  ctx.effect(() => async () => {
    await runtime.close()
    await door.close()
  })

  ctx.on('agent/session-start', ({ agent, source }) => door.sessionStarted(agent, source))

  ctx.on('agent/pre-step', async ({ agent, messages, turn }, next) => {
    const fence = await door.fence(agent, messages, turn)
    if (fence.kind === 'reject') return { kind: 'reject' }
    const decision = await next()
    if (decision.kind !== 'enter') return decision
    const entering = fence.kind === 'without' ? decision.messages.filter(({ id }) => !fence.ids.has(id)) : decision.messages
    const added = await door.entering(agent, entering, turn)
    return added.length === 0 && entering === decision.messages ? decision : { kind: 'enter', messages: [...entering, ...added] }
  })

  ctx.on('tools/post-execute', async (exec, result, next) => {
    const decision = await next()
    const added = besides(await door.called(exec, result), decision.additionalContexts ?? [])
    return added.length === 0 ? decision : { ...decision, additionalContexts: [...added, ...(decision.additionalContexts ?? [])] }
  })

  ctx.on('agent/turn-stopping', ({ agent, turn }) => door.stopping(agent, turn))
  ctx.on('session/event', (session, event) => door.recorded(session, event))
  ctx.on('agent/status', ({ agent }) => door.statusChanged(agent))
  ctx.on('agent/inbox/inserted', ({ agent }) => door.workChanged(agent))
  ctx.on('agent/inbox/discarded', ({ agent }) => door.workChanged(agent))
  host.onJobs(owner => {
    for (const agent of owner === undefined ? host.agents() : [owner]) door.workChanged(agent)
  })
  ctx.on('agent/disposed', ({ agent }) => door.disposed(agent))
}
