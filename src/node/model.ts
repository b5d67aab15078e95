/**
 * Models over HTTP, through the makers' own libraries. A library is loaded when its kind of endpoint is
 * asked for the first time: a command that asks nobody does not pay for it.
 */
import type { ModelQuestion, ModelReply, Models } from '../ports/model.ts'
import type { ModelProvider, ModelsConfig } from '../runtime/config-models.ts'
import type { Environment } from '../runtime/project.ts'

interface Call {
  readonly provider: ModelProvider
  readonly key: string
  readonly model: string
  readonly question: ModelQuestion
  readonly signal: AbortSignal
}

type Answered = Extract<ModelReply, { kind: 'answered' }>

const failed = (reason: Extract<ModelReply, { kind: 'failed' }>['reason'], message: string): ModelReply => ({
  kind: 'failed',
  reason,
  message,
})

/** @param config - read at each question: the person may have named a model meanwhile. */
export function nodeModels(config: () => ModelsConfig, env: Environment): Models {
  return {
    async ask(question, signal) {
      const call = routeOf(config(), env, question)
      if ('kind' in call) return call
      const limit = AbortSignal.timeout(question.timeoutMs)
      const both = signal === undefined ? limit : AbortSignal.any([signal, limit])
      const ask = call.provider.api === 'anthropic' ? askAnthropic : askOpenAi
      try {
        return await ask({ ...call, question, signal: both })
      } catch (error) {
        // Whatever the endpoint answered, or that nothing answers there.
        if (signal?.aborted === true) return failed('canceled', 'the question was taken back')
        if (limit.aborted) return failed('timeout', `no answer within ${question.timeoutMs / 1_000} s`)
        return failed('error', error instanceof Error ? error.message : String(error))
      }
    },
  }
}

function routeOf(
  { default: chosen, providers }: ModelsConfig,
  env: Environment,
  { model: wanted }: ModelQuestion,
): Pick<Call, 'provider' | 'key' | 'model'> | ModelReply {
  const name = wanted ?? chosen
  if (name === null) return failed('no-model', 'no model is named; set models.default in your own configuration')
  const at = name.indexOf('/')
  const provider = providers[name.slice(0, Math.max(at, 0))]
  if (provider === undefined) return failed('no-model', `models.providers has no provider for "${name}"`)
  const { apiKeyEnv } = provider
  const key = apiKeyEnv === null ? '' : (env[apiKeyEnv] ?? '')
  if (apiKeyEnv !== null && key === '') return failed('no-model', `the variable ${apiKeyEnv} is not set`)
  return { provider, key, model: name.slice(at + 1) }
}

/** The libraries insist on a key; an endpoint that wants none is not sent one. */
const credentials = (key: string) =>
  key === '' ? { apiKey: 'none', defaultHeaders: { authorization: null, 'x-api-key': null } } : { apiKey: key }

async function askOpenAi({ provider, key, model, question, signal }: Call): Promise<Answered> {
  const { OpenAI } = await import('openai')
  const client = new OpenAI({
    baseURL: provider.baseUrl,
    ...credentials(key),
    organization: null,
    project: null,
    maxRetries: 0,
    logLevel: 'off',
  })
  const answer = await client.chat.completions.create(
    {
      model,
      max_tokens: question.maxTokens,
      messages: [
        ...(question.system === undefined ? [] : [{ role: 'system' as const, content: question.system }]),
        { role: 'user' as const, content: question.prompt },
      ],
    },
    { signal },
  )
  const { usage } = answer
  return {
    kind: 'answered',
    text: answer.choices[0]?.message.content ?? '',
    ...(usage !== undefined && { usage: { input: usage.prompt_tokens, output: usage.completion_tokens } }),
  }
}

async function askAnthropic({ provider, key, model, question, signal }: Call): Promise<Answered> {
  const { Anthropic } = await import('@anthropic-ai/sdk')
  const client = new Anthropic({
    baseURL: provider.baseUrl,
    ...credentials(key),
    authToken: null,
    maxRetries: 0,
    logLevel: 'off',
  })
  const { content, usage } = await client.messages.create(
    {
      model,
      max_tokens: question.maxTokens,
      ...(question.system !== undefined && { system: question.system }),
      messages: [{ role: 'user', content: question.prompt }],
    },
    { signal },
  )
  return {
    kind: 'answered',
    text: content.map(block => (block.type === 'text' ? block.text : '')).join(''),
    usage: { input: usage.input_tokens, output: usage.output_tokens },
  }
}
