/** Asks the host's own model service for an engine, on the session's route. Nothing of it is in the session's log. */
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { BlockAssembler, createUserMessage, type GenerateOptions, type TokenUsage } from '@deepseek-ai/dsh-llm'
import type { ActionOf } from '../session/actions.ts'
import type { Usage } from '../session/events.ts'
import { textOf } from './translate.ts'

export type ModelReply =
  | { readonly kind: 'answered'; readonly text: string; readonly usage?: Usage }
  | { readonly kind: 'failed'; readonly reason: string; readonly message?: string }

type Ask = ActionOf<'ask-model'>

/** Never rejects: what the provider throws is a failed reply. */
export async function askModel(ctx: Context, agent: Agent, ask: Ask, signal: AbortSignal): Promise<ModelReply> {
  const request = requestOf(agent, ask)
  if (request === undefined) return { kind: 'failed', reason: 'no-model' }
  // A row of ours that has nothing to ask works without the service.
  const llm = ctx.get('llm')
  if (llm === undefined) return { kind: 'failed', reason: 'no-model' }
  const limit = AbortSignal.timeout(ask.timeoutMs)
  const assembler = new BlockAssembler()
  try {
    for await (const chunk of llm.stream({ ...request, signal: AbortSignal.any([signal, limit]) })) assembler.push(chunk)
  } catch (error) {
    // Adapters report errors as a finish; routes that do not exist throw.
    const message = error instanceof Error ? error.message : String(error)
    return limit.aborted ? { kind: 'failed', reason: 'timeout' } : { kind: 'failed', reason: 'host:error', message }
  }
  const { finish, usage } = assembler
  if (limit.aborted) return { kind: 'failed', reason: 'timeout' }
  if (finish.kind === 'error' || finish.kind === 'aborted') {
    const { code, message } = finish.failure
    return { kind: 'failed', reason: `host:${code}`, message }
  }
  return { kind: 'answered', text: textOf(assembler.blocks()), ...(usage !== undefined && { usage: usageOf(usage) }) }
}

/** With `session` the conversation goes before the question unchanged, so that the provider's cache of it serves. */
function requestOf(agent: Agent, ask: Ask): GenerateOptions | undefined {
  const header = agent.session.requestHeader()
  const [provider, model] = routeOf(ask.model) ?? [
    header?.config.provider ?? agent.options.provider,
    header?.config.model ?? agent.options.model,
  ]
  if (provider === undefined || model === undefined) return undefined
  const question = createUserMessage({
    content: [{ type: 'text', text: ask.prompt }],
    source: { kind: 'plugin', plugin: `outrigger-${ask.engine}` },
  })
  const rest = { provider, model, maxTokens: ask.maxTokens, sessionId: agent.session.id }
  if (ask.mode === 'aside') {
    return { ...rest, messages: [question], ...(ask.system !== undefined && { system: ask.system }) }
  }
  return {
    ...rest,
    messages: [...agent.session.deriveMessages(), question],
    ...(header?.system !== undefined && { system: header.system }),
    ...(header?.tools !== undefined && { tools: header.tools }),
    ...(header?.config.reasoningEffort !== undefined && { reasoningEffort: header.config.reasoningEffort }),
  }
}

/** `provider/model`; the model's own name may hold more slashes. */
function routeOf(model: string | undefined): readonly [string, string] | undefined {
  const at = model?.indexOf('/') ?? -1
  return model === undefined || at <= 0 ? undefined : [model.slice(0, at), model.slice(at + 1)]
}

function usageOf(usage: TokenUsage): Usage {
  const { inputTokens, cacheWriteTokens = 0, outputTokens } = usage
  return { input: inputTokens + cacheWriteTokens, output: outputTokens }
}
