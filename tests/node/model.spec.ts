import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { nodeModels } from '../../src/node/model.ts'
import type { ModelsConfig } from '../../src/runtime/config-models.ts'

let server: Server | undefined
afterEach(async () => {
  server?.closeAllConnections()
  await new Promise(resolve => (server === undefined ? resolve(null) : server.close(resolve)))
  server = undefined
})

interface Seen {
  readonly path: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Readonly<Record<string, unknown>>
}

async function endpoint(answer: object | 'hang', status = 200): Promise<{ readonly url: string; readonly seen: Seen[] }> {
  const seen: Seen[] = []
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    seen.push({ path: request.url ?? '', headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) })
    if (answer === 'hang') return
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  await new Promise<void>(resolve => server!.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

const config = (api: 'openai' | 'anthropic', baseUrl: string, apiKeyEnv: string | null = 'MADE_UP_KEY'): ModelsConfig => ({
  default: 'mine/some/model-1',
  providers: { mine: { api, baseUrl, apiKeyEnv } },
})
const question = { prompt: 'what?', system: 'be short', maxTokens: 50, timeoutMs: 3_000 }
const env = { MADE_UP_KEY: 'made-up' }

const completion = {
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'GATE: ok' } }],
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
}
const message = {
  type: 'message',
  role: 'assistant',
  content: [
    { type: 'text', text: 'GATE: ' },
    { type: 'text', text: 'ok' },
  ],
  usage: { input_tokens: 7, output_tokens: 3 },
}

describe('a model behind an endpoint', () => {
  it('of the one kind is asked once, with the key of the named variable', async () => {
    const { url, seen } = await endpoint(completion)
    const reply = await nodeModels(() => config('openai', url), env).ask(question)
    expect(reply).toEqual({ kind: 'answered', text: 'GATE: ok', usage: { input: 7, output: 3 } })
    expect(seen).toMatchObject([
      {
        path: '/chat/completions',
        headers: { authorization: 'Bearer made-up' },
        body: {
          model: 'some/model-1',
          max_tokens: 50,
          messages: [
            { role: 'system', content: 'be short' },
            { role: 'user', content: 'what?' },
          ],
        },
      },
    ])
  })

  it('of the other kind is asked in its own words', async () => {
    const { url, seen } = await endpoint(message)
    const reply = await nodeModels(() => config('anthropic', url), env).ask(question)
    expect(reply).toEqual({ kind: 'answered', text: 'GATE: ok', usage: { input: 7, output: 3 } })
    expect(seen).toMatchObject([
      {
        path: '/v1/messages',
        headers: { authorization: 'Bearer made-up' },
        body: { model: 'some/model-1', system: 'be short', max_tokens: 50 },
      },
    ])
  })

  it.each(['openai', 'anthropic'] as const)('%s that refuses is not asked again, and its words are the reason', async api => {
    const { url, seen } = await endpoint({ error: { message: 'too many requests', type: 'rate' } }, 429)
    const reply = await nodeModels(() => config(api, url), env).ask(question)
    expect(reply).toMatchObject({ kind: 'failed', reason: 'error' })
    expect(reply.kind === 'failed' && reply.message).toContain('too many requests')
    expect(seen).toHaveLength(1)
  })

  it.each(['openai', 'anthropic'] as const)('%s that hangs is left after the time for it', async api => {
    const { url } = await endpoint('hang')
    const reply = await nodeModels(() => config(api, url), env).ask({ ...question, timeoutMs: 150 })
    expect(reply).toMatchObject({ kind: 'failed', reason: 'timeout' })
  })

  it('is taken back with the signal', async () => {
    const { url } = await endpoint('hang')
    const gone = new AbortController()
    const asked = nodeModels(() => config('openai', url), env).ask(question, gone.signal)
    setTimeout(() => gone.abort(), 50)
    expect(await asked).toMatchObject({ kind: 'failed', reason: 'canceled' })
  })

  it('without a key is asked without one', async () => {
    const { url, seen } = await endpoint(message)
    expect(await nodeModels(() => config('anthropic', url, null), {}).ask(question)).toMatchObject({ kind: 'answered' })
    expect(Object.keys(seen[0]!.headers)).not.toContain('authorization')
  })

  it.each<[string, ModelsConfig, Readonly<Record<string, string>>]>([
    ['nobody is named', { default: null, providers: {} }, env],
    ['the provider is not known', { default: 'other/model', providers: {} }, env],
    ['the key is not there', config('openai', 'http://127.0.0.1:9'), {}],
  ])('is none when %s', async (_, models, variables) => {
    expect(await nodeModels(() => models, variables).ask(question)).toMatchObject({ kind: 'failed', reason: 'no-model' })
  })
})
