/**
 * `outrigger repl serve --json-lines`: one request a line on stdin, one answer a line on stdout. Runs are answered in order; what only looks, cancels or
 * ends does not wait for them.
 */
import { errorDocument, OutriggerError } from '../../errors.ts'
import type { Json } from '../../ports/json.ts'
import type { HistoryQuery, ReplSession, RunOptions, ToolCall, ToolDeclaration, ToolOutcome } from '../../repl/types.ts'
import type { Io } from '../io.ts'
import { linesOf, tooLong } from './lines.ts'

export interface ServeOptions {
  readonly session: ReplSession
  readonly name: string
  readonly run: RunOptions
  readonly pid: number
  readonly node: string
}

type Request = { readonly [key: string]: Json }
type Id = string | number

type Op = 'state' | 'history' | 'restart' | 'fork' | 'prune'

const maxLineBytes = 8 * 1024 * 1024
const deaf: ToolOutcome = { ok: false, message: 'the client closed its input' }

/** @returns the exit code, when stdin has ended and everything is answered, or a `close` was. */
export async function serve(io: Io, { session, name, run: defaults, pid, node }: ServeOptions): Promise<number> {
  const write = (document: object): void => io.stdout.write(`${JSON.stringify(document)}\n`)
  const running = new Map<Id, AbortController>()
  const calls = new Map<string, (outcome: ToolOutcome) => void>()
  const pending = new Set<Promise<void>>()
  let isClosing = false
  let isDeaf = false
  write({ schema: 'outrigger.repl.hello/1', protocol: 1, session: name, cwd: session.cwd, pid, node, cells: session.cells })

  const track = (work: Promise<void>): void => {
    pending.add(work)
    work.finally(() => pending.delete(work)).catch(() => {})
  }
  /** The op's own document with what refused it; a fault of ours is told the same way and never ends the process. */
  const refused = (schema: string, id: Id, error: unknown): void =>
    write({ schema, id, ok: false, error: errorDocument(error).error })

  for await (const line of linesOf(io.stdin(), maxLineBytes, io.signal)) {
    if (line === tooLong) {
      badRequest(null, 'the line is over 8 MiB', 'put data into a file and read it')
      continue
    }
    if (line.trim() === '') continue
    handle(line)
    if (isClosing) break
  }
  // Nobody is left who could answer a call.
  isDeaf = true
  for (const settle of [...calls.values()]) settle(deaf)
  await Promise.allSettled([...pending])
  await session.close()
  return 0

  function handle(line: string): void {
    let request: Request
    try {
      const parsed = JSON.parse(line) as Json
      if (!isRecord(parsed)) throw new SyntaxError('not an object')
      request = parsed
    } catch {
      badRequest(null, 'the line is no JSON object', 'send one object a line')
      return
    }
    const id = request['id']
    if (request['op'] === 'call-result') {
      settleCall(request)
      return
    }
    if (typeof id !== 'string' && typeof id !== 'number') {
      badRequest(null, 'the request has no id', 'give `id` as a string or a number')
      return
    }
    const op = request['op']
    switch (op) {
      case 'run':
      case 'edit':
        track(runOrEdit(id, op, request))
        return
      case 'state':
      case 'history':
      case 'restart':
      case 'fork':
      case 'prune':
        track(answer(id, op, request))
        return
      case 'cancel': {
        const found = idOf(request['target']) === undefined ? undefined : running.get(idOf(request['target'])!)
        found?.abort()
        write({ schema: 'outrigger.repl.cancel/1', id, ok: true, cancelled: found !== undefined })
        return
      }
      case 'kill9':
        write({ schema: 'outrigger.repl.kill9/1', id, ok: true, pid: session.kill9() })
        return
      case 'close':
        isClosing = true
        track(closed(id))
        return
      default:
        badRequest(
          id,
          `there is no op ${JSON.stringify(op ?? null)}`,
          'ops: run edit state history fork prune cancel restart kill9 close call-result',
        )
    }
  }

  function badRequest(id: Id | null, message: string, hint: string): void {
    write({ schema: 'outrigger.error/1', id, ok: false, error: { code: 'REPL_BAD_REQUEST', message, hint } })
  }

  async function closed(id: Id): Promise<void> {
    // After what was asked before it.
    await Promise.allSettled([...pending].filter(each => each !== undefined).slice(0, -1))
    write({ schema: 'outrigger.repl.close/1', id, ok: true })
  }

  async function runOrEdit(id: Id, op: 'run' | 'edit', request: Request): Promise<void> {
    const schema = `outrigger.repl.${op}/1`
    const abort = new AbortController()
    try {
      if (running.has(id))
        throw bad(`a run with the id ${JSON.stringify(id)} is still going`, 'id', 'give every run an id of its own')
      running.set(id, abort)
      const options: RunOptions = { ...defaults, ...runOptions(request), signal: abort.signal, call: call => carryOut(id, call) }
      if (op === 'run') {
        const code = request['code']
        if (typeof code !== 'string') throw bad('`code` is missing', 'code', 'give the cell as a string')
        const result = await session.run(code, options)
        write({ schema, id, ...result })
        await heard(io, session, result.cell)
      } else {
        const result = await session.edit(request, options)
        write({ schema, id, ...result })
        if ('cell' in result) await heard(io, session, result.cell)
      }
    } catch (error) {
      refused(schema, id, error)
    } finally {
      running.delete(id)
    }
  }

  async function answer(id: Id, op: Op, request: Request): Promise<void> {
    const schema = `outrigger.repl.${op}/1`
    try {
      write({ schema, id, ok: true, ...(await answerOf(session, op, request)) })
    } catch (error) {
      refused(schema, id, error)
    }
  }

  function carryOut(id: Id, { cell, call, namespace, name: member, arguments: args, signal }: ToolCall): Promise<ToolOutcome> {
    const key = `${cell}:${call}`
    if (isDeaf) return Promise.resolve(deaf)
    return new Promise(resolve => {
      const settle = (outcome: ToolOutcome): void => {
        calls.delete(key)
        resolve(outcome)
      }
      calls.set(key, settle)
      signal.addEventListener(
        'abort',
        () => {
          if (!calls.has(key)) return
          write({ schema: 'outrigger.repl.call/1', event: 'call-cancelled', id, cell, call, namespace, name: member })
          settle({ ok: false, message: 'cancelled' })
        },
        { once: true },
      )
      write({ schema: 'outrigger.repl.call/1', event: 'call', id, cell, call, namespace, name: member, arguments: args })
    })
  }

  /** A call that is over is no fault of the client's: it may have been cancelled meanwhile. */
  function settleCall(request: Request): void {
    const { cell, call, ok, value, error } = request
    const message = isRecord(error) && typeof error['message'] === 'string' ? error['message'] : undefined
    if (typeof cell !== 'number' || typeof call !== 'number' || (ok !== true && message === undefined)) {
      badRequest(
        idOf(request['id']) ?? null,
        'call-result needs `cell`, `call`, and `value` with `ok: true` or `error: { message }` with `ok: false`',
        'repeat what the call event said',
      )
      return
    }
    calls.get(`${cell}:${call}`)?.(ok === true ? { ok: true, value: value ?? null } : { ok: false, message: message ?? '' })
  }
}

/** An answer was written and somebody reads: what it told counts as told. That it could not be noted costs one repetition, and no answer. */
export async function heard(io: Pick<Io, 'stdout' | 'signal'>, session: ReplSession, cell: number): Promise<void> {
  await io.stdout.ready?.()
  if (io.signal.reason === 'EPIPE') return
  await session.confirm(cell, 'confirmed').catch(() => undefined)
}

/** What these ops answer, beside schema, id and ok. */
export async function answerOf(session: ReplSession, op: Op, request: Request): Promise<object> {
  if (op === 'restart') return { recovery: await session.restart() }
  if (op === 'prune') return session.prune()
  if (op === 'fork') {
    const cell = integerOf(request, 'cell', 1)
    const to = textOf(request, 'to')
    await session.fork(cell, to)
    return { to, cell }
  }
  if (op === 'history') {
    const query: { -readonly [K in keyof HistoryQuery]: HistoryQuery[K] } = {}
    for (const name of ['from', 'to', 'limit'] as const)
      if (request[name] !== undefined) query[name] = integerOf(request, name, 1)
    if (request['source'] !== undefined) query.source = request['source'] === true
    return session.history(query)
  }
  const action = request['action'] ?? 'list'
  switch (action) {
    case 'list':
      return session.state()
    case 'page':
      return session.page({
        handle: textOf(request, 'handle'),
        ...(Array.isArray(request['path']) && {
          path: request['path'].filter((step): step is string | number => typeof step === 'string' || typeof step === 'number'),
        }),
        ...(request['offset'] !== undefined && { offset: integerOf(request, 'offset', 0) }),
        ...(request['limit'] !== undefined && { limit: integerOf(request, 'limit', 1) }),
      })
    case 'logs':
      return session.logs({
        cell: integerOf(request, 'cell', 1),
        ...(request['offset'] !== undefined && { offset: integerOf(request, 'offset', 0) }),
        ...(request['limit'] !== undefined && { limit: integerOf(request, 'limit', 1) }),
      })
    case 'save': {
      const { name, atRisk } = await session.save(textOf(request, 'name'))
      return { name, ...(atRisk.length > 0 && { atRisk }) }
    }
    case 'delete': {
      const name = textOf(request, 'name')
      await session.forget(name)
      return { name }
    }
    case 'restore':
      return session.restore(
        request['cell'] === undefined ? { name: textOf(request, 'name') } : { cell: integerOf(request, 'cell', 0) },
      )
    case 'reset':
      return session.reset()
    default:
      throw bad(`there is no action ${JSON.stringify(action)}`, 'action', 'actions: list save restore delete reset page logs')
  }
}

function runOptions(request: Request): RunOptions {
  const options: { -readonly [K in keyof RunOptions]: RunOptions[K] } = {}
  if (request['description'] !== undefined) options.description = textOf(request, 'description')
  if (request['computeMs'] !== undefined) options.computeMs = integerOf(request, 'computeMs', 1)
  if (request['wallMs'] !== undefined) options.wallMs = integerOf(request, 'wallMs', 1)
  if (request['echo'] !== undefined) {
    const { echo } = request
    if (echo !== 'return' && echo !== 'last') throw bad('`echo` is "return" or "last"', 'echo', 'leave it out for "return"')
    options.echo = echo
  }
  if (request['tools'] !== undefined) options.tools = toolsOf(request['tools'])
  return options
}

function toolsOf(tools: Json): readonly ToolDeclaration[] {
  if (!Array.isArray(tools)) throw bad('`tools` is a list', 'tools', 'give [{ name, description?, parameters? }]')
  return tools.map((tool, index) => {
    if (!isRecord(tool) || typeof tool['name'] !== 'string' || tool['name'] === '')
      throw bad(`tools[${index}] has no name`, 'tools', 'give [{ name, description?, parameters? }]')
    const { name, description, parameters, result } = tool
    return {
      name,
      ...(typeof description === 'string' && { description }),
      ...(parameters !== undefined && { parameters }),
      ...(result !== undefined && { result }),
    }
  })
}

export function bad(message: string, subject: string, hint: string): OutriggerError {
  return new OutriggerError('REPL_BAD_REQUEST', message, { subject, hint })
}

const isRecord = (value: Json | undefined): value is Request =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const idOf = (value: Json | undefined): Id | undefined =>
  typeof value === 'string' || typeof value === 'number' ? value : undefined

function textOf(request: Request, name: string): string {
  const value = request[name]
  if (typeof value !== 'string') throw bad(`\`${name}\` is a string`, name, `give ${name}`)
  return value
}

function integerOf(request: Request, name: string, min: number): number {
  const value = request[name]
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min)
    throw bad(`\`${name}\` is an integer from ${min}`, name, `give ${name}`)
  return value
}
