/** A worker spoken to in its own words, without kernel, session and journal. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'
import { nodeWorkers } from '../../../src/node/worker-process.ts'
import { jsonOf } from '../../../src/repl/values/json.ts'
import { parseGraph } from '../../../src/repl/values/parse.ts'
import {
  type BootMessage,
  type ComponentMessage,
  type DoneMessage,
  encodeFrame,
  FrameReader,
  type FromWorker,
  type RestoreMessage,
  type RunMessage,
  type ToWorker,
} from '../../../src/repl/worker/protocol.ts'
import type { Tape, TranscribedCall } from '../../../src/repl/worker/tape.ts'
import { temporaryFolder } from '../temporary.ts'

export interface Ran {
  readonly done: DoneMessage
  /** As JSON; `undefined` when there is none. */
  readonly value: unknown
  readonly bytes: Uint8Array | undefined
  readonly calls: readonly TranscribedCall[]
  readonly printed: string
}

export interface Stored {
  readonly component: ComponentMessage
  readonly bytes: Uint8Array | undefined
}

export type Answer<T extends FromWorker['t']> = Extract<FromWorker, { t: T }>

export interface RawWorker {
  readonly cwd: string
  /** Everything it said, in order. */
  readonly said: FromWorker[]
  run(source: string, options?: Partial<RunMessage> & { call?: (name: string, args: unknown) => unknown }): Promise<Ran>
  /** Run a cell as it ran in another worker. */
  again(ran: Ran, source: string, options?: Partial<RunMessage>): Promise<Ran>
  check(...components: readonly (readonly string[])[]): Promise<readonly Stored[]>
  give(hash: string, bytes: Uint8Array): void
  restore(message: Partial<RestoreMessage>): Promise<Answer<'restored'>>
  ask<T extends FromWorker['t']>(message: ToWorker, answer: T): Promise<Answer<T>>
  send(message: ToWorker, bytes?: Uint8Array): void
  end(): Promise<void>
}

const emptyTape: Tape = { v: 1 }

export interface RawWorkerOptions {
  readonly cwd?: string
  readonly boot?: Partial<BootMessage>
  readonly env?: Record<string, string>
}

/** One worker for all tests of a file whose cells leave nothing behind. Call it where tests are described. */
export function sharedWorker(): () => Promise<RawWorker> {
  let worker: Promise<RawWorker> | undefined
  let folder: string | undefined
  afterAll(async () => {
    await (await worker)?.end()
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })
  return () => {
    folder ??= realpathSync(mkdtempSync(join(tmpdir(), 'outrigger-test-')))
    worker ??= start({ cwd: folder })
    return worker
  }
}

export async function startRawWorker(options: RawWorkerOptions = {}): Promise<RawWorker> {
  const worker = await start({ ...options, cwd: options.cwd ?? temporaryFolder() })
  onTestFinished(() => worker.end())
  return worker
}

async function start(options: RawWorkerOptions & { readonly cwd: string }): Promise<RawWorker> {
  const { cwd } = options
  const nonce = new Uint8Array(16).fill(7)
  const reader = new FrameReader(nonce)
  const said: FromWorker[] = []
  const waiting: { readonly t: string; take(message: never): void }[] = []
  const stored: Stored[] = []
  let pending: Uint8Array | undefined
  let answerCall: ((name: string, args: unknown) => unknown) | undefined
  let calls: TranscribedCall[] = []
  let printed = ''
  let valueBytes: Uint8Array | undefined
  let isGone = false
  let gone = (): void => {}
  const ended = new Promise<void>(resolve => {
    gone = resolve
  })
  const send = (message: ToWorker, bytes?: Uint8Array): void => {
    if (bytes !== undefined) worker.send(encodeFrame(1, nonce, bytes))
    worker.send(encodeFrame(0, nonce, new TextEncoder().encode(JSON.stringify(message))))
  }
  const take = (message: FromWorker): void => {
    said.push(message)
    if (message.t === 'out') printed += message.text
    if (message.t === 'component') stored.push({ component: message, bytes: message.sent ? pending : undefined })
    if (message.t === 'done') valueBytes = message.value === undefined ? undefined : pending
    if (message.t === 'done' || message.t === 'component') pending = undefined
    if (message.t === 'call') {
      const at = calls.length
      const asked = { namespace: message.namespace, member: message.member, arguments: message.arguments as never }
      calls.push(asked)
      void (async () => {
        try {
          const value = (await answerCall?.(`${message.namespace}.${message.member}`, message.arguments[0])) ?? null
          calls[at] = { ...asked, outcome: { ok: true, value: value as never } }
          send({ t: 'settle', call: message.call, ok: true, value })
        } catch (error) {
          calls[at] = { ...asked, outcome: { ok: false, message: (error as Error).message } }
          send({ t: 'settle', call: message.call, ok: false, message: (error as Error).message })
        }
      })()
    }
    const index = waiting.findIndex(each => each.t === message.t)
    if (index >= 0) waiting.splice(index, 1)[0]!.take(message as never)
  }
  const worker = nodeWorkers().start(
    { cwd, env: { PATH: process.env['PATH'] ?? '', ...options.env }, heapMb: 256 },
    {
      onBytes: bytes => {
        for (const { type, payload } of reader.push(bytes)) {
          if (type === 1) pending = payload.slice()
          else take(JSON.parse(new TextDecoder().decode(payload)) as FromWorker)
        }
      },
      onOutput: (stream, bytes) => {
        if (stream === 'stderr' && !Buffer.from(bytes).includes('outrigger ')) process.stderr.write(bytes)
      },
      onEnd: () => {
        isGone = true
        gone()
      },
    },
  )
  const wait = <T extends FromWorker['t']>(t: T): Promise<Answer<T>> =>
    new Promise((resolve, reject) => {
      if (isGone) reject(new Error('the worker is gone'))
      void ended.then(() => reject(new Error(`the worker ended; wanted ${t}`)))
      waiting.push({ t, take: resolve as never })
    })
  const ready = wait('ready')
  send({ t: 'boot', outputBytes: 1024 * 1024, decorators: 'standard', jsx: 'off', ...options.boot })
  await ready
  let cell = 0
  const run: RawWorker['run'] = async (source, { call, ...more } = {}) => {
    answerCall = call
    calls = []
    printed = ''
    const done = wait('done')
    cell = more.cell ?? cell + 1
    send({ t: 'run', source, echo: 'return', namespaces: { tools: ['echo', 'next'] }, ...more, cell })
    const message = await done
    return {
      done: message,
      bytes: valueBytes,
      value:
        message.value?.kind === 'json'
          ? jsonOf(valueBytes!)?.value
          : valueBytes === undefined
            ? undefined
            : parseGraph(valueBytes),
      calls: [...calls],
      printed,
    }
  }
  return {
    cwd,
    said,
    run,
    again: (ran, source, more) =>
      run(source, { cell: ran.done.cell, replay: { tape: ran.done.tape ?? emptyTape, calls: ran.calls }, ...more }),
    async check(...components) {
      stored.length = 0
      const checked = wait('checked')
      send({
        t: 'check',
        n: 1,
        components: components.map(names => ({ names })),
        budgetMs: 10_000,
        maxComponentBytes: 64 * 1024 * 1024,
      })
      await checked
      return [...stored]
    },
    give: (hash, bytes) => send({ t: 'blob', hash }, bytes),
    async restore(message) {
      const answer = wait('restored')
      send({ t: 'restore', n: 1, sources: [], fixed: [], components: [], lost: [], ...message })
      return answer
    },
    async ask(message, answer) {
      const waiting = wait(answer)
      send(message)
      return waiting
    },
    send,
    async end() {
      worker.kill()
      await ended
    },
  }
}
