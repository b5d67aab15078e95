#!/usr/bin/env node
/**
 * The program: its process's streams, signals and exit. Everything else is in `run.ts`, which is loaded
 * when it is needed: a host starts `outrigger hook` on every tool call, and that needs no command line.
 */
import './needs-node.ts'
import { packageVersion } from '../node/version.ts'
import { keepCompiled } from './compiled.ts'
import type { Interruption, Io, Sink } from './io.ts'
import type { Parts } from './run.ts'

keepCompiled(process.env)

const abort = new AbortController()

/** How long an operation may take to finish or undo its current write after a signal. */
const graceMs = 10_000

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // The second one means it; leases of a dead process are taken over.
    if (abort.signal.aborted) process.exit(exitOf(signal))
    abort.abort(signal satisfies Interruption)
    setTimeout(() => process.exit(exitOf(signal)), graceMs).unref()
  })
}

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // Nobody reads any more (`outrigger keel check | head -1`); not an error of ours, nothing to report it on.
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error
    if (!abort.signal.aborted) abort.abort('EPIPE' satisfies Interruption)
  })
}

const io: Io = {
  env: process.env,
  cwd: process.cwd(),
  stdin: () => process.stdin,
  isStdinTerminal: process.stdin.isTTY === true,
  stdout: sinkOf(process.stdout),
  stderr: sinkOf(process.stderr),
  signal: abort.signal,
}

const parts: Parts = {
  version: packageVersion(),
  open: async options => (await import('../node/open.ts')).openProject(options),
  operations: async project => (await import('../runtime/operations.ts')).operationsOf(project),
  mcp: async (runIo, options) => (await import('../mcp/serve.ts')).serveMcp(runIo, options, parts),
  hook: async (runIo, options) => (await import('../hook/main.ts')).answerHook(runIo, options, parts),
  serve: async (runIo, options) => (await import('../serve/main.ts')).serve(runIo, options, parts),
  repl: async (runIo, command) => (await import('./repl/main.ts')).runRepl(runIo, command, parts.open),
  demo: async (_runIo, options) => (await import('../demo/run.ts')).runDemo(options),
}

const argv = process.argv.slice(2)
const code =
  argv[0] === 'hook' && argv.length === 2 && !argv[1]!.startsWith('-')
    ? await parts.hook(io, { event: argv[1]! })
    : await (await import('./run.ts')).run(argv, io, parts)
await Promise.all([flushed(process.stdout), flushed(process.stderr)])
// Whatever still waits (a watcher, an open stdin) must not keep a finished command alive.
process.exit(code)

function exitOf(signal: 'SIGINT' | 'SIGTERM'): number {
  return signal === 'SIGINT' ? 130 : 143
}

function sinkOf(stream: NodeJS.WriteStream): Sink {
  return {
    write: text => {
      if (!stream.destroyed && text !== '') stream.write(text)
    },
    ready: () =>
      new Promise(resolve => {
        if (stream.destroyed || !stream.writableNeedDrain) return resolve()
        const done = (): void => {
          for (const event of ['drain', 'error', 'close']) stream.removeListener(event, done)
          resolve()
        }
        for (const event of ['drain', 'error', 'close']) stream.once(event, done)
      }),
    isTerminal: stream.isTTY === true,
  }
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.destroyed || stream.writableLength === 0) return Promise.resolve()
  return new Promise(done => {
    stream.once('error', () => done())
    stream.write('', () => done())
  })
}
