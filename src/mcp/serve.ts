/** `outrigger mcp`: the server on this process's stdin and stdout, until the client closes them. */
import type { Readable, Writable } from 'node:stream'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { Io } from '../cli/io.ts'
import type { Parts } from '../cli/run.ts'
import { engineOf } from '../cli/words.ts'
import { openRepl } from '../node/repl.ts'
import { createBeside } from './beside.ts'
import { createReplTools } from './repl.ts'
import { watchSent } from './sent.ts'
import { createMcpServer } from './server.ts'
import { longestLine, wholeLines } from './whole-lines.ts'

export interface Streams {
  readonly input: Readable
  readonly output: Writable
}

const settleMs = 2_000

/** @returns the exit code, when stdin closed or the process was told to end. Throws `CLI_USAGE` for an unknown engine. */
export async function serveMcp(
  io: Io,
  options: { readonly project?: string; readonly engines: readonly string[]; readonly serve?: boolean },
  parts: Pick<Parts, 'version' | 'open' | 'operations'>,
  streams: Streams = { input: process.stdin, output: process.stdout },
): Promise<number> {
  const warn = (error: unknown): void =>
    void io.stderr.write(`outrigger mcp: ${error instanceof Error ? error.message : String(error)}\n`)
  const mcp = createMcpServer({
    version: parts.version,
    engines: options.engines.map(engineOf),
    ...(options.project !== undefined && { project: options.project }),
    open: root =>
      parts.open({
        cwd: root ?? io.cwd,
        ...(options.project !== undefined && { project: options.project }),
        env: io.env,
        door: 'mcp',
      }),
    operations: parts.operations,
    repl: project => createReplTools(project, session => openRepl(project, { session })),
    beside: project => createBeside(project, { version: parts.version, starts: options.serve === true, warn }),
  })
  mcp.server.onerror = warn
  const lines = wholeLines(id => {
    const error = { code: -32_600, message: `a line of more than ${longestLine} bytes was not read` }
    streams.output.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`)
  })
  const ended = new Promise<void>(resolve => {
    const end = (): void => resolve()
    lines.once('end', end).once('close', end)
    streams.input.once('close', () => lines.end()).once('error', end)
    io.signal.addEventListener('abort', end, { once: true })
    mcp.server.onclose = end
  })
  await mcp.server.connect(watchSent(new StdioServerTransport(streams.input.pipe(lines), streams.output), mcp.written))
  await ended
  // A client that wrote its requests and closed the pipe still reads the answers.
  if (!io.signal.aborted) await mcp.settled(settleMs)
  await mcp.server.close()
  await mcp.close()
  return 0
}
