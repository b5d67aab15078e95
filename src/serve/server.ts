/**
 * Answers protocol 1 for one project. Decides nothing: events go to the runtime, operations are the ones of
 * every door. A request that cannot be read is refused with a code; none of them ends the process.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { errorDocument, OutriggerError } from '../errors.ts'
import type { Action } from '../session/actions.ts'
import { decodeEvent } from '../session/decode-event.ts'
import type { EventOf, SessionEvent } from '../session/events.ts'
import type { AnyOperation, Caller as OperationCaller } from '../session/operation.ts'
import { type Caller, callerOf } from './doors.ts'
import type { Engines } from './engines.ts'
import { createServer } from './http.ts'
import { aliveMs, doorHeader, type Health, maxBodyBytes, protocolHeader, protocolVersion, waitMs } from './protocol.ts'

export interface ServerOptions {
  readonly engines: Engines
  readonly version: string
  /** `questions`: health and operations only; the engines hear their events from elsewhere, and the process is not to be stopped. */
  readonly accepts?: 'questions'
  /** Told once when a door asks the process to end. */
  onStop(): void
  log(text: string): void
}

export interface EngineServer {
  readonly http: Server
  health(): Health
  /** ms since the last request, by a clock that never stands still; 0 while one is answered. */
  idleMs(): number
  /** Answers what waits, refuses what comes. */
  close(): Promise<void>
}

export function createEngineServer({ engines, version, accepts, onStop, log }: ServerOptions): EngineServer {
  const { project, outrigger, outbox, connections } = engines
  const startedAt = new Date(project.clock.now()).toISOString()
  const running = new Map<string, AbortController>()
  const closing = new AbortController()
  let open = 0
  let lastAt = performance.now()

  const health = (): Health => ({
    protocol: protocolVersion,
    version,
    pid: process.pid,
    project: project.root,
    startedAt,
    sessions: connections.sessions(),
    degraded: outrigger.modes(),
    busy: running.size > 0 || outrigger.isInFlow(),
  })

  async function event(body: unknown, caller: Caller): Promise<{ readonly actions: readonly Action[] }> {
    const decoded = decodeEvent({ ...asObject(body), project: project.root }, { at: project.clock.now() })
    // A door of a later version may know kinds that nobody here listens to.
    if (decoded.kind === 'unknown') return { actions: [] }
    if (decoded.kind === 'bad') throw badInput(`the event has no right \`${decoded.field || 'kind'}\``, decoded.field)
    await connections.hear(caller, decoded.event)
    return { actions: engines.carry(decoded.event.session, await hear(decoded.event, caller)) }
  }

  async function hear(given: SessionEvent, { door }: Caller): Promise<readonly Action[]> {
    switch (given.kind) {
      case 'turn-ending': {
        const { hold, parts, actions } = await outrigger.mayStop(given, door)
        if (hold === null) return actions
        const engine = parts?.[0]?.engine ?? 'keel'
        return [...actions, { kind: 'hold-stop', id: project.clock.newId(), engine, text: hold }]
      }
      case 'action-failed':
        await outrigger.failed(given.action, given.reason as Parameters<typeof outrigger.failed>[1])
        return []
      case 'command-run':
        return engines.command(given, door)
      default:
        return outrigger.handle(given, door)
    }
  }

  async function operate(body: unknown, { door }: Caller, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { id, op, input = {}, session, by, name, env } = asObject(body)
    if (typeof id !== 'string' || id === '') throw badInput('`id` must be a text', 'id')
    if (typeof op !== 'string') throw badInput('`op` must be a text', 'op')
    if (by !== 'person' && by !== 'agent') throw badInput('`by` must be person or agent', 'by')
    if (session !== undefined && typeof session !== 'string') throw badInput('`session` must be a text', 'session')
    if (name !== undefined && typeof name !== 'string') throw badInput('`name` must be a text', 'name')
    if (env !== undefined && !isEnvironment(env)) throw badInput('`env` must have texts', 'env')
    if (running.has(id))
      throw new OutriggerError('SERVE_HELD', `${id} is running`, { subject: id, hint: 'give another id', exit: 4 })
    const stop = new AbortController()
    running.set(id, stop)
    const lines = String(request.headers.accept ?? '').includes('application/x-ndjson')
    const tell = (line: object): void => {
      if (!lines || response.writableEnded) return
      if (!response.headersSent) begin(response, 200, 'application/x-ndjson')
      response.write(`${JSON.stringify(line)}\n`)
    }
    const alive = setInterval(() => tell({}), aliveMs)
    response.on('close', () => stop.abort())
    const signal = AbortSignal.any([stop.signal, closing.signal])
    const progress = (what: string, done: number, total: number): void => tell({ progress: { what, done, total } })
    try {
      if (engines.repl?.has(op) === true) {
        const how = { signal, progress: (seconds: number) => progress('cell', seconds, 0), ...(env !== undefined && { env }) }
        const output = await engines.repl.call(id, op, input, how)
        return finish(response, 200, { id, output, text: textOf(output) })
      }
      const operation = engines.operation(op)
      if (operation === undefined) throw new OutriggerError('SERVE_UNKNOWN_OP', `no operation "${op}"`, { subject: op })
      const actor = project.actor(by)
      const asker: OperationCaller = {
        door: door.name === 'mcp' ? 'mcp' : 'cli',
        actor: actor.name === undefined && name !== undefined ? { ...actor, name: name.slice(0, 100) } : actor,
        ...(session !== undefined && { session }),
        signal,
        progress,
      }
      finish(response, 200, { id, ...(await runOperation(operation, input, asker)) })
    } finally {
      clearInterval(alive)
      running.delete(id)
    }
  }

  async function runOperation(operation: AnyOperation, given: unknown, caller: OperationCaller) {
    const input: unknown = operation.decode(given)
    project.config.refresh()
    const run = async (): Promise<unknown> => operation.run(input, caller)
    const { session } = caller
    const output = session === undefined || operation.readOnly ? await run() : await outrigger.enqueue(session, run)
    return { output, text: operation.render(output, input, caller.actor.kind === 'agent' ? 'tool' : 'terminal') }
  }

  async function wait(url: URL, caller: Caller, response: ServerResponse): Promise<void> {
    const session = url.searchParams.get('session') ?? ''
    const after = Number(url.searchParams.get('after') ?? '0')
    if (session === '') throw badInput('`session` is missing', 'session')
    if (!Number.isSafeInteger(after) || after < 0) throw badInput('`after` must be a number from 0', 'after')
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const { moved, leave } = connections.wait(caller, session)
    try {
      // A poll that waits is no work: it must not keep the process alive.
      open--
      finish(response, 200, await outbox.wait(session, after, waitMs, AbortSignal.any([gone.signal, closing.signal, moved])))
    } finally {
      open++
      leave()
    }
  }

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://outrigger')
    const asked = `${request.method} ${url.pathname}`
    if (request.headers[protocolHeader] !== String(protocolVersion)) {
      throw new OutriggerError('SERVE_PROTOCOL', `this process speaks protocol ${protocolVersion}`, {
        subject: String(request.headers[protocolHeader] ?? 'none'),
        hint: 'update the older of the two, then run `outrigger serve --stop`',
        exit: 4,
      })
    }
    const caller = callerOf(request.headers[doorHeader])
    switch (accepts === 'questions' && !questions.has(asked) ? '' : asked) {
      case 'GET /health':
        return finish(response, 200, health())
      case 'GET /wait':
        return wait(url, caller, response)
      case 'POST /event':
        return finish(response, 200, await event(await bodyOf(request), caller))
      case 'POST /op':
        return operate(await bodyOf(request), caller, request, response)
      case 'POST /cancel': {
        const { id } = asObject(await bodyOf(request))
        const found = running.get(String(id))
        found?.abort()
        return finish(response, 200, { cancelled: found !== undefined })
      }
      case 'POST /stop':
        finish(response, 200, { stopping: true })
        return onStop()
      default:
        throw new OutriggerError('SERVE_UNKNOWN_PATH', `no ${asked}`, { subject: url.pathname })
    }
  }

  const http = createServer((request, response) => {
    open++
    route(request, response)
      .catch((error: unknown) => {
        if (!(error instanceof OutriggerError))
          log(`failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
        // A model that called a tool has no command line.
        const voice = callerOf(request.headers[doorHeader]).door.name === 'mcp' ? 'tool' : 'terminal'
        if (!response.headersSent) finish(response, statusOf(error), errorDocument(error, voice))
        else if (!response.writableEnded) response.end(`${JSON.stringify(errorDocument(error, voice))}\n`)
        // What is left of a body that was refused is nobody's request.
        if (!request.complete) request.destroy()
      })
      .finally(() => {
        open--
        lastAt = performance.now()
      })
  })
  http.keepAliveTimeout = 60_000
  http.requestTimeout = 60_000

  return {
    http,
    health,
    idleMs: () => (open > 0 || health().busy ? 0 : performance.now() - lastAt),
    async close() {
      closing.abort()
      outbox.close()
      http.close()
      http.closeIdleConnections()
      await new Promise(resolve => setImmediate(resolve))
      http.closeAllConnections()
    },
  }
}

const questions: ReadonlySet<string> = new Set(['GET /health', 'POST /op', 'POST /cancel'])

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBodyBytes) {
      throw new OutriggerError('SERVE_TOO_LARGE', `the request has more than ${maxBodyBytes} bytes`, {
        hint: 'send less at once',
      })
    }
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch (cause) {
    throw badInput('the body is not JSON', 'body', cause)
  }
}

function begin(response: ServerResponse, status: number, type: string): void {
  response.writeHead(status, { 'content-type': type, [protocolHeader]: String(protocolVersion), 'cache-control': 'no-store' })
}

function finish(response: ServerResponse, status: number, value: unknown): void {
  if (response.writableEnded || response.destroyed) return
  if (!response.headersSent) begin(response, status, 'application/json')
  response.end(`${JSON.stringify(value)}\n`)
}

function statusOf(error: unknown): number {
  if (!(error instanceof OutriggerError)) return 500
  if (error.code === 'SERVE_TOO_LARGE') return 413
  if (error.code === 'SERVE_UNKNOWN_PATH' || error.code === 'SERVE_UNKNOWN_OP') return 404
  return error.exit === 4 ? 409 : error.exit === 70 ? 500 : 400
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Readonly<Record<string, unknown>>
  throw badInput('the body is no JSON object', 'body')
}

const isEnvironment = (value: unknown): value is Readonly<Record<string, string>> =>
  typeof value === 'object' && value !== null && Object.values(value).every(text => typeof text === 'string')

const textOf = ({ content }: CallToolResult): string => content.map(part => (part.type === 'text' ? part.text : '')).join('\n')

function badInput(message: string, subject: string, cause?: unknown): OutriggerError {
  return new OutriggerError('BAD_INPUT', message, { subject, cause, hint: 'see the protocol in docs/architecture.md' })
}

export type Heard = EventOf<'command-run'>
