/**
 * The MCP server of one client: lists and calls tools. The project is the client's first root, else the
 * folder it was started in; it is opened when the first request needs it, so that `initialize` waits for nothing.
 */
import { fileURLToPath } from 'node:url'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type RequestId,
  RootsListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { Project } from '../runtime/project.ts'
import type { EngineName } from '../session/actions.ts'
import { decodeInput } from '../session/decode.ts'
import type { AnyOperation, Caller } from '../session/operation.ts'
import type { Beside } from './beside.ts'
import { isReplTool, type ReplTools } from './repl.ts'
import { createReplBeside } from './repl-beside.ts'
import { answerOf, refusalOf, toolOf, toolOperations, toolSchema } from './tools.ts'

export interface McpOptions {
  readonly version: string
  /** Only the tools of these; empty: all. */
  readonly engines: readonly string[]
  /** Named by the person who set the server up; the client's roots then do not count. */
  readonly project?: string
  /** @param root - a folder of the client; the project is the one it lies in. Left out: the server's own folder, or `project`. */
  open(root: string | undefined): Promise<Project>
  operations(project: Project): Promise<readonly AnyOperation[]>
  /** The REPL's tools, which are no operations: cells of a session wait for each other and for nothing else. */
  repl?(project: Project): ReplTools
  /** The engine process of the project; left out: everything is done here. */
  beside?(project: Project): Beside
}

export interface McpServer {
  readonly server: Server
  /** The answer to this request was written to the client. */
  written(id: RequestId): void
  /** No request is being answered any more, or `timeoutMs` are over. */
  settled(timeoutMs: number): Promise<void>
  /** Waits for what is running and closes the project. */
  close(): Promise<void>
}

interface Opened {
  readonly root: string | undefined
  readonly project: Project
  readonly table: readonly AnyOperation[]
  readonly repl: ReplTools | undefined
  readonly beside: Beside | undefined
}

const rootsTimeoutMs = 2_000
const lookAfterMs = 100

const instructions =
  'Outrigger keeps documents true to their sources. A document declares its sources with stamps of the content it was last ' +
  'reviewed against; keel_check lists what moved since, keel_why explains one file, keel_ok records that a document was read and still holds. ' +
  'run_code runs TypeScript in a session whose names stay from call to call; edit_run_code changes a cell that was sent and runs it again.'

export function createMcpServer(options: McpOptions): McpServer {
  const server = new Server({ name: 'outrigger', version: options.version }, { capabilities: { tools: {} }, instructions })
  const isReplOffered = options.repl !== undefined && (options.engines.length === 0 || options.engines.includes('repl'))
  let opened: Promise<Opened> | undefined
  let root: string | undefined
  let areRootsKnown = options.project !== undefined
  // One project's operations do not overlap: they share a snapshot.
  let last: Promise<unknown> = Promise.resolve()

  const openAt = async (root: string | undefined): Promise<Opened> => {
    const project = await options.open(root)
    const beside = options.beside?.(project)
    // A client waits for its tools, and their list does not need it: behind the list's answer.
    if (beside !== undefined) setTimeout(() => void beside.look(), lookAfterMs).unref()
    const here = isReplOffered ? options.repl?.(project) : undefined
    const repl = here === undefined || beside === undefined ? here : createReplBeside(here, beside)
    return { root, project, table: toolOperations(await options.operations(project), options.engines), repl, beside }
  }

  const ensureOpen = (root: string | undefined): Promise<Opened> => {
    opened ??= openAt(root)
    const asked = opened
    asked.catch(() => {
      // A project that could not be opened is tried again with the next request, which reports it.
      if (opened === asked) opened = undefined
    })
    return asked
  }

  const ensureProject = async (): Promise<Opened> => {
    if (areRootsKnown) return ensureOpen(root)
    areRootsKnown = true
    root = await firstRoot(server)
    const before = await opened?.catch(() => undefined)
    if (before !== undefined && before.root !== root) {
      opened = undefined
      await before.repl?.close()
      await before.project.close()
    }
    return ensureOpen(root)
  }

  /** Cells wait for the project to be open, and then for cells of their session only. */
  const callRepl = async (
    name: string,
    given: unknown,
    { signal, requestId }: { readonly signal: AbortSignal; readonly requestId: RequestId },
    tell: (message: string, progress: number) => void,
  ): Promise<CallToolResult> => {
    let opened: Opened
    try {
      opened = await (areRootsKnown ? ensureProject() : inTurn(ensureProject))
    } catch (error) {
      return refusalOf(error)
    }
    const repl = opened.repl!
    const answer = await repl.call(name, given, signal, seconds => tell(`running for ${seconds} s`, seconds))
    // What was called off is not answered.
    if (!signal.aborted) unwritten.set(requestId, () => repl.heard(answer))
    return answer
  }

  const unwritten = new Map<RequestId, () => Promise<void>>()
  const confirming = new Set<Promise<void>>()

  const running = new Set<Promise<unknown>>()
  const counted = <T>(run: () => Promise<T>): Promise<T> => {
    const mine = run()
    running.add(mine)
    const done = (): void => void running.delete(mine)
    mine.then(done, done)
    return mine
  }

  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const mine = last.then(run, run)
    last = mine.catch(() => undefined)
    return counted(() => mine)
  }

  server.setRequestHandler(ListToolsRequestSchema, () =>
    counted(async () => {
      const { table, repl } = await ensureOpen(root)
      return { tools: [...table.map(toolOf), ...(repl?.list() ?? [])] }
    }),
  )

  server.setRequestHandler(CallToolRequestSchema, (request, extra) => {
    const { name, arguments: given, _meta: meta } = request.params
    const token = meta?.progressToken
    const tell = (message: string, progress: number, total?: number): void => {
      if (token === undefined) return
      const params = { progressToken: token, progress, ...(total !== undefined && { total }), message }
      // The client may be gone; the call's own answer then fails in the same way.
      extra.sendNotification({ method: 'notifications/progress', params }).catch(() => undefined)
    }
    if (isReplOffered && isReplTool(name)) return counted(() => callRepl(name, given, extra, tell))
    return inTurn(async () => {
      extra.signal.throwIfAborted()
      let opened: Opened
      try {
        opened = await ensureProject()
      } catch (error) {
        return refusalOf(error)
      }
      const { table } = opened
      const operation = table.find(entry => entry.tool === name)
      if (operation === undefined) {
        throw new McpError(ErrorCode.InvalidParams, `no tool "${name}"; tools: ${table.map(entry => entry.tool).join(', ')}`)
      }
      return callTool(operation, given, opened, server, extra.signal, tell)
    })
  })

  server.setNotificationHandler(RootsListChangedNotificationSchema, () => {
    if (options.project === undefined) areRootsKnown = false
  })

  return {
    server,
    written(id) {
      const confirm = unwritten.get(id)
      if (!unwritten.delete(id)) return
      const mine = confirm!().finally(() => confirming.delete(mine))
      confirming.add(mine)
    },
    async settled(timeoutMs) {
      const timer = new AbortController()
      const late = new Promise<void>(resolve => {
        const timeout = setTimeout(resolve, timeoutMs)
        timer.signal.addEventListener('abort', () => clearTimeout(timeout))
      })
      await Promise.race([Promise.allSettled([...running]), late])
      timer.abort()
      // The answers are written in the turns after their handlers.
      await new Promise(resolve => setImmediate(resolve))
    },
    async close() {
      await last
      await Promise.all([...confirming])
      const known = await opened?.catch(() => undefined)
      opened = undefined
      await known?.repl?.close()
      await known?.project.close()
    },
  }
}

async function callTool(
  operation: AnyOperation,
  given: unknown,
  { project, beside }: Opened,
  server: Server,
  signal: AbortSignal,
  progress: Caller['progress'],
): Promise<CallToolResult> {
  try {
    const { fields, session } = withoutSession(operation, given)
    // Refuses what only a command line offers, as any unknown field. What is missing the operation says in its own words.
    const { required: _, ...offered } = toolSchema(operation)
    decodeInput(offered, fields)
    const input: unknown = operation.decode(fields)
    project.config.refresh()
    project.config.check(operation.name.split('.')[0] as EngineName)
    const actor = project.actor()
    const client = server.getClientVersion()?.name
    const caller: Caller = {
      door: 'mcp',
      actor: actor.name === undefined && client !== undefined ? { ...actor, name: client } : actor,
      ...(session !== undefined && { session }),
      signal,
      progress,
    }
    const { name } = caller.actor
    const asked = {
      op: operation.name,
      input: fields,
      ...(session !== undefined && { session }),
      ...(name !== undefined && { name }),
    }
    const done = await beside?.ask(asked, caller)
    return answerOf(operation, done === undefined ? await operation.run(input, caller) : done.output, input)
  } catch (error) {
    return refusalOf(error)
  }
}

/** Hosts may add the session's id to a call without its being in the schema. */
function withoutSession(operation: AnyOperation, given: unknown): { fields: unknown; session?: string } {
  const isField = operation.input.properties['session'] !== undefined
  if (isField || typeof given !== 'object' || given === null || !('session' in given)) return { fields: given }
  const { session, ...fields } = given
  return typeof session === 'string' ? { fields, session } : { fields: given }
}

async function firstRoot(server: Server): Promise<string | undefined> {
  if (server.getClientCapabilities()?.roots === undefined) return undefined
  try {
    const { roots } = await server.listRoots({}, { timeout: rootsTimeoutMs })
    const file = roots.find(root => root.uri.startsWith('file:'))
    return file === undefined ? undefined : fileURLToPath(file.uri)
  } catch {
    // A client that announced roots and does not answer, or a URI that is no path here: the folder we were started in.
    return undefined
  }
}
