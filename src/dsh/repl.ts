/**
 * The row of the REPL in DSH: its settings, what agents are offered, the tool `edit_run_code`. The row `repl-runtime` hands it the programs.
 *
 * Named exports only: with a default export the loader drops `inject`.
 */
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { StreamChunk } from '@deepseek-ai/dsh-llm'
import type {} from '@deepseek-ai/dsh-system-prompt'
import type {} from '@deepseek-ai/dsh-tools'
import type { Json } from '../ports/json.ts'
import { aliveText } from '../repl/alive.ts'
import { nestedEditRefused, promptSection } from '../repl/prompt.ts'
import type { ToolDeclaration } from '../repl/types.ts'
import { hostOf } from './host.ts'
import { notice, tipMessage } from './messages.ts'
import { canonicalStream } from './repl/canonical-stream.ts'
import { editToolOf } from './repl/edit-tool.ts'
import { chipOf, isWatched, serveNames, showChip } from './repl/page.ts'
import { createPresentation, offered, sectionName } from './repl/presentation.ts'
import { seamOf } from './repl/seam.ts'
import { createReplService, type DshRepl } from './repl/service.ts'
import { ReplRowConfig, replSettings } from './repl/settings.ts'

export const name = 'outrigger-repl'
export const inject: string[] = ['agents', 'sessions', 'tools', 'systemPrompt']

export type Config = ReplRowConfig
export const Config: typeof ReplRowConfig = ReplRowConfig

export function apply(ctx: Context, config: ReplRowConfig = {}): void {
  const { warn } = hostOf(ctx)
  const settings = replSettings(ctx, config, () => void repl.changed())
  const repl = createReplService({
    context: ctx,
    settings,
    warn,
    isServed: agent => presentation.isServed(agent),
    show: (agent, state) => {
      if (!isWatched(ctx)) return
      state()
        .then(known => showChip(ctx, agent.id, known === undefined ? null : chipOf(known)))
        .catch(() => undefined)
    },
    showDegraded: (agent, degraded) => showChip(ctx, agent.id, { names: 0, mode: 'durable', degraded }),
    describe: agent => describe(ctx, agent),
  })
  const edit = editToolOf(ctx, repl)
  const presentation = createPresentation(ctx, () => edit, repl.degraded)
  ctx.provide('outriggerRepl', repl)
  ctx.effect(() => () => repl.close())

  serveNames(ctx, repl.look)

  ctx.on('tools/execute', (exec, next) => repl.during(exec, next))

  ctx.on('tools/post-execute', async (exec, _result, next) => {
    const decision = await next()
    const tip = repl.takeTip(exec.callId)
    if (tip === undefined) return decision
    return { ...decision, additionalContexts: [...(decision.additionalContexts ?? []), tipMessage(tip)] }
  })

  // The text of an agent that programs; which of its forms, the listener below knows.
  const hasPrograms = (scope: object | undefined): boolean =>
    scope !== undefined && ctx.tools.get('run_code', scope) !== undefined
  ctx.systemPrompt.section({
    name: sectionName,
    order: 98,
    text: ({ scope }) => (hasPrograms(scope) ? promptSection(true) : ''),
  })

  ctx.on('system-prompt/assemble', async (_assembly, context, next) => {
    const agent = ctx.agents.list().find(each => each === context.scope)
    if (agent === undefined) return withoutSection(await next())
    if (await repl.isOn(agent)) {
      const seam = seamOf(ctx)
      await repl.found(agent, seam)
      if (seam.degraded.length === 0) return presentation.transform(agent, await next())
    }
    // The prompt was put together before this; after a withdrawal it is put together again, without us.
    return presentation.withdraw(agent) ? ctx.systemPrompt.assemble(context) : withoutSection(await next())
  })

  // The request is only read: a call that the model should have made in a program becomes one.
  ctx.on('llm/stream', (request, next) => {
    const agent = ctx.agents.list().find(each => each.session.id === request.sessionId)
    if (agent === undefined || request.purpose !== undefined || !presentation.isCodeOnly(agent)) return next()
    return canonicalized(ctx, agent, repl, next())
  })

  // A conversation that was shortened has forgotten what it declared; the names are still there.
  ctx.on('session/event', (session, event) => {
    const { type, data } = event as { readonly type: string; readonly data: { readonly error?: unknown } }
    void repl.logged(type, data)
    if (type !== 'compaction/end' || data.error !== undefined) return
    const agent = ctx.agents.list().find(each => each.session === session)
    if (agent === undefined || !presentation.isServed(agent)) return
    repl
      .look(agent.id)
      .then(state => {
        const text = state === undefined ? undefined : aliveText(state)
        if (text !== undefined) agent.inject(notice('repl', text, 'REPL names still alive'))
      })
      .catch(error => warn(`outrigger: the names of the REPL could not be told after a compaction: ${String(error)}`))
  })

  ctx.on('agent/disposed', ({ agent }) => {
    presentation.forget(agent)
    repl.disposed(agent).catch(error => warn(`outrigger: a session of the REPL could not be closed: ${String(error)}`))
  })
}

async function* canonicalized(
  ctx: Context,
  agent: Agent,
  repl: DshRepl,
  chunks: AsyncIterable<StreamChunk>,
): AsyncGenerator<StreamChunk> {
  const { canonicalizeCalls } = await repl.config(agent)
  if (!canonicalizeCalls) return yield* chunks
  yield* canonicalStream(chunks, tool => !offered.has(tool) && ctx.tools.get(tool, agent) !== undefined)
}

function withoutSection<A extends { sections: readonly { readonly name: string }[] }>(assembly: A): A {
  return { ...assembly, sections: assembly.sections.filter(section => section.name !== sectionName) }
}

/** The host's tools as programs of the agent see them. */
function describe(ctx: Context, agent: Agent): ReadonlyMap<string, ToolDeclaration> {
  return new Map(
    ctx.tools.schemas(agent).map(({ name: tool, description, parameters }) => [
      tool,
      {
        name: tool,
        description: tool === 'edit_run_code' ? nestedEditRefused : description,
        ...(tool !== 'edit_run_code' && { parameters: parameters as Json }),
        result: ctx.tools.get(tool, agent)?.output.schema as unknown as Json,
      },
    ]),
  )
}
