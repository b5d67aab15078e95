/**
 * A scripted Messages API on loopback, enough for the real `claude` program. Answers, in this order: what the test's own
 * `answer` gives; a request that ends in a tool result with `DONE` and its beginning; `[[tool:NAME {json}]]` in the newest words with a call of that tool;
 * `[[say:…]]` with that text; everything else with `ECHO:` and the newest words.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Block {
  readonly type: string
  readonly text?: string
  readonly name?: string
  readonly input?: unknown
  readonly content?: unknown
}
interface Message {
  readonly role: string
  readonly content: string | readonly Block[]
}
export interface ApiRequest {
  readonly model: string
  readonly stream?: boolean
  readonly messages: readonly Message[]
  readonly tools?: readonly { readonly name: string }[]
}

/** What a test answers itself: a text, or a call of a tool; `undefined`: as always. */
export type Reply = string | { readonly tool: string; readonly input: unknown }

export interface FakeApi {
  readonly url: string
  /** Asked first from now on, for requests that know tools. */
  answer: ((request: ApiRequest) => Reply | undefined | Promise<Reply | undefined>) | undefined
  /** Tokens that a request is said to have had; `undefined`: by its length. */
  tokens: number | undefined
  /** What the model would have read, oldest first. */
  readonly requests: readonly ApiRequest[]
  close(): Promise<void>
}

export async function startFakeApi(): Promise<FakeApi> {
  const requests: ApiRequest[] = []
  let count = 0
  const nextId = (kind: string): string => `${kind}_${String(++count).padStart(4, '0')}`
  const server = createServer((request, response) => {
    void answer(request, response, { api, requests, nextId, contentOf: body => contentOf(api, body, nextId) })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const api: FakeApi = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer: undefined,
    tokens: undefined,
    close: () =>
      new Promise(resolve => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return api
}

interface Answering {
  readonly api: FakeApi
  readonly requests: ApiRequest[]
  readonly nextId: (kind: string) => string
  readonly contentOf: (request: ApiRequest) => Promise<readonly Block[]>
}

async function contentOf(api: FakeApi, request: ApiRequest, nextId: Answering['nextId']): Promise<readonly Block[]> {
  const reply = (request.tools ?? []).length > 0 ? await api.answer?.(request) : undefined
  if (reply === undefined) return contentFor(request, nextId)
  if (typeof reply === 'string') return [{ type: 'text', text: reply }]
  return [{ type: 'tool_use', ...{ id: nextId('toolu') }, name: reply.tool, input: reply.input }]
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { api, requests, nextId, contentOf }: Answering,
): Promise<void> {
  let raw = ''
  for await (const piece of request) raw += String(piece)
  const path = request.url?.split('?')[0]
  if (path === '/v1/messages/count_tokens') return send(response, 200, { input_tokens: Math.ceil(raw.length / 4) })
  if (request.method !== 'POST' || path !== '/v1/messages') {
    return send(response, 404, { type: 'error', error: { type: 'not_found_error', message: path } })
  }
  const body = JSON.parse(raw) as ApiRequest
  requests.push(body)
  const content = await contentOf(body)
  const stop = content.some(block => block.type === 'tool_use') ? 'tool_use' : 'end_turn'
  const usage = {
    input_tokens: api.tokens ?? Math.ceil(raw.length / 4),
    output_tokens: 12,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  }
  const head = { id: nextId('msg'), type: 'message', role: 'assistant', model: body.model, usage }
  if (body.stream !== true) return send(response, 200, { ...head, content, stop_reason: stop, stop_sequence: null })
  stream(response, head, content, stop)
}

function contentFor({ messages, tools = [] }: ApiRequest, nextId: (kind: string) => string): readonly Block[] {
  const blocks = blocksOf(messages.findLast(message => message.role === 'user')?.content)
  const result = blocks.find(block => block.type === 'tool_result')
  if (result !== undefined) return [{ type: 'text', text: `DONE ${textOf(blocksOf(result.content)).slice(0, 300)}` }]
  const newest = textOf(blocks)
    .replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '')
    .trim()
  const said = /\[\[say:([\s\S]*?)\]\]/.exec(newest)
  if (said !== null) return [{ type: 'text', text: said[1]! }]
  const [, name, input] = /\[\[tool:(\w+) (\{[\s\S]*?\})\]\]/.exec(newest) ?? []
  if (name === undefined || tools.length === 0) return [{ type: 'text', text: `ECHO: ${newest.slice(0, 2_000)}` }]
  if (!tools.some(tool => tool.name === name)) {
    return [{ type: 'text', text: `NO TOOL ${name} among ${tools.map(tool => tool.name).join(' ')}` }]
  }
  return [{ type: 'tool_use', ...{ id: nextId('toolu') }, name, input: JSON.parse(input!) as unknown }]
}

/** The sequence of events that every version of the program takes. */
function stream(response: ServerResponse, head: object, content: readonly Block[], stop: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  const event = (value: { readonly type: string }): void => {
    response.write(`event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`)
  }
  event({ type: 'message_start', ...{ message: { ...head, content: [], stop_reason: null, stop_sequence: null } } })
  for (const [index, block] of content.entries()) {
    const isText = block.type === 'text'
    const begun = isText ? { type: 'text', text: '' } : { ...block, input: {} }
    event({ type: 'content_block_start', ...{ index, content_block: begun } })
    const delta = isText
      ? { type: 'text_delta', text: block.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
    event({ type: 'content_block_delta', ...{ index, delta } })
    event({ type: 'content_block_stop', ...{ index } })
  }
  event({ type: 'message_delta', ...{ delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 12 } } })
  event({ type: 'message_stop' })
  response.end()
}

/** All texts of a message, those of the host's reminders too. */
export const wordsOf = (message: Message): string =>
  blocksOf(message.content)
    .map(block => block.text ?? textOf(blocksOf(block.content)))
    .join('\n')

function blocksOf(content: unknown): readonly Block[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? (content as Block[]) : []
}

const textOf = (blocks: readonly Block[]): string =>
  blocks.flatMap(block => (block.type === 'text' ? (block.text ?? '') : [])).join('\n')

function send(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}
