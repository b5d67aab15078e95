/**
 * A scripted model on loopback: an OpenAI-compatible `/chat/completions` that the real host talks to,
 * so that a whole session runs without a key or a network.
 *
 * A script is a list of turns. A turn with `match` answers the first request whose body matches;
 * the others are used in order. The host asks for a session title beside the first step; that request
 * is answered apart, so that it never takes a turn.
 */
import { appendFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ScriptedCall {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

export interface ScriptedTurn {
  readonly text?: string
  readonly calls?: readonly ScriptedCall[]
  /** A regular expression over the request's JSON body. */
  readonly match?: string
  /** Answer any number of requests. */
  readonly repeat?: boolean
  readonly delayMs?: number
  /** Tokens of the request as they are reported; by default one for four bytes. */
  readonly promptTokens?: number
  /** An HTTP status instead of an answer. */
  readonly status?: number
}

/** A fixed turn, or one made from the request that it answers. */
export type Script = readonly (ScriptedTurn | ((request: ModelRequest) => ScriptedTurn))[]

export interface WireMessage {
  readonly role: string
  readonly content: string | readonly { readonly type: string; readonly text?: string }[] | null
  readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments: string } }[]
}

export interface ModelRequest {
  /** From 0, in order of arrival. */
  readonly n: number
  /** ms since the epoch. */
  readonly at: number
  readonly body: {
    readonly model?: string
    readonly stream?: boolean
    readonly messages: readonly WireMessage[]
    readonly tools?: readonly { readonly function: { readonly name: string; readonly description?: string } }[]
  }
}

export interface ScriptedModel {
  readonly url: string
  /** Requests of the conversation; the ones for a title are left out. */
  readonly requests: readonly ModelRequest[]
  /** Requests that no turn was left for; they are answered with a plain text. */
  readonly unscripted: readonly ModelRequest[]
  readonly remaining: readonly (ScriptedTurn | ((request: ModelRequest) => ScriptedTurn))[]
  close(): Promise<void>
}

export interface ScriptedModelOptions {
  readonly turns: Script
  /** Every request as one JSON line. */
  readonly logFile?: string
  onRequest?(request: ModelRequest): void
}

const titleRequest = /Create a concise title/

/** Start the model on a free port of loopback. */
export async function startScriptedModel(options: ScriptedModelOptions): Promise<ScriptedModel> {
  const requests: ModelRequest[] = []
  const unscripted: ModelRequest[] = []
  const remaining = [...options.turns]

  const take = (request: ModelRequest): ScriptedTurn => {
    const body = JSON.stringify(request.body)
    const matching = remaining.findIndex(
      turn => typeof turn === 'object' && turn.match !== undefined && new RegExp(turn.match).test(body),
    )
    const index = matching >= 0 ? matching : remaining.findIndex(turn => typeof turn === 'function' || turn.match === undefined)
    const turn = remaining[index]
    if (turn === undefined) {
      unscripted.push(request)
      return { text: 'the script has no turn for this request' }
    }
    if (typeof turn === 'function' || turn.repeat !== true) remaining.splice(index, 1)
    return typeof turn === 'function' ? turn(request) : turn
  }

  const server = http.createServer((incoming, answer) => {
    const parts: Buffer[] = []
    incoming.on('data', (part: Buffer) => parts.push(part))
    incoming.on('end', () => {
      const raw = Buffer.concat(parts)
      if (incoming.url?.endsWith('/chat/completions') !== true) return sendJson(answer, 404, { error: { message: 'not found' } })
      const request: ModelRequest = { n: requests.length, at: Date.now(), body: JSON.parse(raw.toString()) }
      if (options.logFile !== undefined) appendFileSync(options.logFile, `${JSON.stringify(request)}\n`)
      if ((request.body.tools ?? []).length === 0 && titleRequest.test(JSON.stringify(request.body.messages)))
        return send(answer, request, { text: 'A title' }, raw.length)
      requests.push(request)
      options.onRequest?.(request)
      const turn = take(request)
      setTimeout(() => send(answer, request, turn, raw.length), turn.delayMs ?? 0).unref()
    })
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    unscripted,
    remaining,
    close: () =>
      new Promise(done => {
        server.closeAllConnections()
        server.close(() => done())
      }),
  }
}

function send(answer: http.ServerResponse, request: ModelRequest, turn: ScriptedTurn, sizeBytes: number): void {
  if (turn.status !== undefined) {
    sendJson(answer, turn.status, { error: { message: 'scripted error' } })
    return
  }
  const head = { id: `answer-${request.n}`, created: Math.floor(request.at / 1000), model: request.body.model }
  const calls = (turn.calls ?? []).map((call, index) => ({
    index,
    id: `call_${request.n}_${index}`,
    type: 'function',
    function: { name: call.name, arguments: JSON.stringify(call.args) },
  }))
  const finish = calls.length > 0 ? 'tool_calls' : 'stop'
  // Four bytes count as one token.
  const promptTokens = turn.promptTokens ?? Math.ceil(sizeBytes / 4)
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: 20,
    total_tokens: promptTokens + 20,
    prompt_cache_hit_tokens: 0,
    prompt_cache_miss_tokens: promptTokens,
  }
  if (request.body.stream !== true) {
    const message = { role: 'assistant', content: turn.text ?? '', ...(calls.length > 0 && { tool_calls: calls }) }
    const choices = [{ index: 0, finish_reason: finish, message }]
    sendJson(answer, 200, { ...head, object: 'chat.completion', choices, usage })
    return
  }
  // Server-sent events as the host expects them: deltas, a finish with usage, then `[DONE]`.
  answer.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  const write = (delta: object, finishReason: string | null = null, more: object = {}): void => {
    const choices = [{ index: 0, delta, finish_reason: finishReason }]
    answer.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...more })}\n\n`)
  }
  write({ role: 'assistant', content: '' })
  if (turn.text !== undefined) write({ content: turn.text })
  for (const call of calls) {
    write({ tool_calls: [{ ...call, function: { name: call.function.name, arguments: '' } }] })
    write({ tool_calls: [{ index: call.index, function: { arguments: call.function.arguments } }] })
  }
  write({}, finish, { usage })
  answer.end('data: [DONE]\n\n')
}

function sendJson(answer: http.ServerResponse, status: number, value: unknown): void {
  answer.writeHead(status, { 'content-type': 'application/json' })
  answer.end(JSON.stringify(value))
}

/** The text of one message as the model sees it. */
function textOf(message: WireMessage): string {
  if (typeof message.content === 'string') return message.content
  return (message.content ?? []).map(block => block.text ?? '').join('')
}

/** The messages of a request with a role, as text. */
export function textsOf(request: ModelRequest | undefined, role: string): readonly string[] {
  return (request?.body.messages ?? []).filter(message => message.role === role).map(textOf)
}
