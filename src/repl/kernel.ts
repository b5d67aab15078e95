/**
 * Cells in a worker, one at a time: starts it, runs, watches the budgets, breaks off, kills and replaces. Knows nothing of journals and documents.
 *
 * Budgets: what the main thread computes is told by the worker when it is asked, and time in which it does not answer counts as computing. A cell that
 * is over its budget is given up if the worker still listens, then interrupted, then killed.
 */

import type { Json } from '../ports/json.ts'
import type { WorkerEnd, WorkerProcess, Workers } from '../ports/worker.ts'
import type { Rejection } from './compile/program.ts'
import { LogBuffer } from './logs.ts'
import { RawOutput } from './raw-output.ts'
import type { CallSummary, Echo, LateEntry, LogEntry } from './types.ts'
import {
  type BootMessage,
  type CheckMessage,
  type ComponentMessage,
  type DoneMessage,
  encodeFrame,
  FrameReader,
  type FromWorker,
  nonceBytes,
  type Problem,
  type RestoreMessage,
  type RunMessage,
  type SeenBinding,
  type ToWorker,
} from './worker/protocol.ts'
import type { LateTape, Meanwhile, Stamp, TranscribedCall } from './worker/tape.ts'

export interface KernelOptions {
  readonly workers: Workers
  randomHex(digits: number): string
  /** Asked when a worker is started. */
  start(): {
    readonly cwd: string
    readonly env: Readonly<Record<string, string>>
    readonly heapMb: number
    readonly decorators: 'standard' | 'legacy'
    readonly jsx: 'off' | 'react-jsx'
    readonly recording?: Pick<BootMessage, 'record' | 'fixedNow' | 'fixedSeed' | 'secrets'>
  }
  /** Asked at every cell. `rssMb` 0: not watched. */
  limits(): { readonly rssMb: number; readonly outputBytes: number }
  onReady?(worker: Extract<FromWorker, { t: 'ready' }>): void
  /** The worker is gone, not by `end`. */
  onLost?(why: WorkerLoss): void
  /** A cell did something after its end. */
  onLate?(cell: number, tape: LateTape, during: number | undefined): void
}

export interface WorkerLoss {
  readonly cause: 'exit' | 'memory' | 'malformed' | 'timeout' | 'restart'
  readonly end: WorkerEnd
  /** `rss`, `heap`. */
  readonly detail?: string
}

export type CallAnswer =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly message: string; readonly code?: string }

export interface KernelCall {
  readonly call: number
  readonly namespace: string
  readonly member: string
  readonly arguments: readonly Json[]
  readonly signal: AbortSignal
}

export interface CellRequest {
  readonly cell: number
  readonly source: string
  readonly echo: Echo
  readonly computeMs: number
  readonly wallMs: number
  readonly namespaces: Readonly<Record<string, readonly string[]>>
  call(call: KernelCall): Promise<CallAnswer>
  readonly signal: AbortSignal | undefined
  /** Run it as it ran before: nothing is called and nothing printed. */
  readonly replay?: RunMessage['replay']
}

export interface CellReport {
  /** `undefined`: the worker ended before it could say. */
  readonly done: DoneMessage | undefined
  readonly value: Uint8Array | undefined
  readonly stopped: 'compute' | 'wall' | 'cancel' | undefined
  /** Why the worker was replaced while the cell ran. */
  readonly loss: WorkerLoss | undefined
  readonly logs: readonly LogEntry[]
  readonly logsOmittedBytes: number
  readonly problems: readonly Problem[]
  readonly late: readonly LateEntry[]
  readonly calls: readonly (CallSummary & { readonly value?: Json; readonly message?: string })[]
  /** Every call as it went, the engine's own included. */
  readonly transcript: readonly TranscribedCall[]
  /** Kinds of effects that were seen, the only word of a cell whose worker died. */
  readonly effects: readonly { readonly kind: string; readonly subject?: string }[]
  /** The worker ended before it took the cell up: nothing of it ran. */
  readonly neverBegan: boolean
  readonly computeMs: number
  readonly wallMs: number
}

/** What became of each name that was asked for. */
export type Restored = Extract<FromWorker, { readonly t: 'restored' }>['names']

export interface CheckedComponent extends ComponentMessage {
  /** Absent when they are the ones that were stored before, or there is nothing to store. */
  readonly content: Uint8Array | undefined
}

export interface Checked {
  readonly components: readonly CheckedComponent[]
  /** Indices of components that were not begun. */
  readonly skipped: readonly number[]
  readonly ms: number
}

export interface Look {
  readonly bindings: readonly SeenBinding[]
  readonly timers: number
  readonly handles: number
  readonly cwd: string
}

const firstPingMs = 5
const pingMs = 100
const interruptAfterMs = 5
const killAfterMs = 250
/** A worker that is not ready by then never will be. */
const startMs = 30_000
const guardAfterMs = 50
const fenceMs = 200
const maxLate = 32
const maxLateBytes = 4 * 1024
const maxProblems = 8
const encoder = new TextEncoder()
const decoder = new TextDecoder()

interface Running {
  readonly request: CellRequest
  readonly began: number
  readonly logs: LogBuffer
  readonly problems: Problem[]
  readonly calls: Map<number, RunningCall>
  readonly effects: { readonly kind: string; readonly subject?: string }[]
  /** When the worker took it up. */
  startedAt: number | undefined
  activeMs: number
  done: DoneMessage | undefined
  value: Uint8Array | undefined
  stopped: CellReport['stopped']
  readonly fences: Set<'stdout' | 'stderr'>
  readonly timers: Set<ReturnType<typeof setTimeout>>
  finish(report: CellReport): void
}

interface RunningCall {
  readonly namespace: string
  readonly member: string
  readonly arguments: readonly Json[]
  readonly abort: AbortController
  answer: CallAnswer | undefined
}

/** A question that waits for the worker's answer; `undefined`: it ended, or took too long. */
interface Question {
  readonly components: CheckedComponent[]
  answer(message: FromWorker | undefined): void
}

/** One worker and what is known of it. */
interface Link {
  readonly process: WorkerProcess
  readonly cwd: string
  readonly nonce: Uint8Array
  readonly reader: FrameReader
  readonly raw: { readonly stdout: RawOutput; readonly stderr: RawOutput }
  pendingBytes: Uint8Array | undefined
  namespaces: string
  pings: { n: number; sentAt: number }[]
  stderrTail: string
  isGone: boolean
  /** When it said that it is ready. */
  readyAt: number | undefined
  cause: WorkerLoss['cause'] | undefined
  detail: string | undefined
  watch: ReturnType<typeof setInterval> | undefined
}

export class Kernel {
  readonly #options: KernelOptions
  #link: Link | undefined
  #running: Running | undefined
  #late: LateEntry[] = []
  #lateProblems: Problem[] = []
  #lastCell = 0
  #counter = 0
  readonly #questions = new Map<number, Question>()

  constructor(options: KernelOptions) {
    this.#options = options
  }

  /** `null`: no worker now. */
  get worker(): { readonly pid: number; readonly rssMb: number } | null {
    const link = this.#link
    return link === undefined ? null : { pid: link.process.pid, rssMb: Math.round(link.process.residentMb() ?? 0) }
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** Start the worker if there is none, so that the next cell finds it ready. */
  prepare(): void {
    this.#link ??= this.#start()
  }

  /** Never two at once. Rejects only for a fault of ours. */
  run(request: CellRequest): Promise<CellReport> {
    if (this.#running !== undefined) throw new Error('a cell is running')
    return new Promise(resolve => {
      const running: Running = {
        request,
        began: performance.now(),
        logs: new LogBuffer(this.#options.limits().outputBytes),
        problems: [],
        calls: new Map(),
        effects: [],
        startedAt: undefined,
        activeMs: 0,
        done: undefined,
        value: undefined,
        stopped: undefined,
        fences: new Set(),
        timers: new Set(),
        finish: resolve,
      }
      this.#running = running
      this.#lastCell = request.cell
      this.prepare()
      this.#sendRun(running)
      this.#after(running, firstPingMs, () => this.#tick(running))
      this.#after(running, guardAfterMs, () => this.#link?.process.guard())
      this.#after(running, request.wallMs, () => this.#stop(running, 'wall'))
      const { signal } = request
      if (signal?.aborted) this.#stop(running, 'cancel')
      else signal?.addEventListener('abort', () => this.#stop(running, 'cancel'), { once: true })
    })
  }

  /** The names as the worker sees them; `undefined` when it does not answer in time. */
  async look(withinMs: number): Promise<Look | undefined> {
    if (this.#link === undefined) return undefined
    const { message } = await this.#ask('look', n => ({ t: 'look', n }), withinMs)
    return message
  }

  /** Why this source would be rejected; `lost` when the worker ended over it. Waits for a running cell's computing. */
  async parse(source: string): Promise<Rejection | 'lost' | undefined> {
    this.prepare()
    const { message } = await this.#ask('parsed', n => ({ t: 'parse', n, source }))
    return message === undefined ? 'lost' : message.rejection
  }

  /** Copies of components; never while a cell runs. `undefined`: the worker ended, or did not answer within `withinMs`. */
  async check(wanted: Omit<CheckMessage, 't' | 'n'>, withinMs: number): Promise<Checked | undefined> {
    if (this.#link === undefined) return undefined
    const { message, components } = await this.#ask('checked', n => ({ t: 'check', n, ...wanted }), withinMs)
    return message === undefined ? undefined : { components, skipped: message.skipped, ms: message.ms }
  }

  /** Whoever waits for the end of `check` waits no longer than for the component at hand. */
  hurry(): void {
    if (this.#link !== undefined) this.#send(this.#link, { t: 'hurry' })
  }

  /** The bytes of a stored component, for the next `restore`. */
  give(hash: string, bytes: Uint8Array): void {
    this.prepare()
    const link = this.#link!
    link.process.send(encodeFrame(1, link.nonce, bytes))
    this.#send(link, { t: 'blob', hash })
  }

  /** Bind names again. `undefined`: the worker ended, or took too long. */
  async restore(wanted: Omit<RestoreMessage, 't' | 'n'>, withinMs: number): Promise<Restored | undefined> {
    this.prepare()
    return (await this.#ask('restored', n => ({ t: 'restore', n, ...wanted }), withinMs)).message?.names
  }

  /** Deliveries of cells after their end: which of the cells went another way. `undefined`: the worker ended, or took too long. */
  async replayLate(late: readonly Meanwhile[], withinMs: number): Promise<readonly number[] | undefined> {
    return (await this.#ask('lateReplayed', n => ({ t: 'replayLate', n, late }), withinMs)).message?.diverged
  }

  /** Which stamps do not hold any more, as indices; `undefined`: the worker ended, or took too long. */
  async verify(stamps: readonly Stamp[], withinMs: number): Promise<readonly number[] | undefined> {
    this.prepare()
    return (await this.#ask('verified', n => ({ t: 'verify', n, stamps }), withinMs)).message?.changed
  }

  /** Go to a directory; false when that is not possible. */
  async move(cwd: string, withinMs: number): Promise<boolean> {
    this.prepare()
    return (await this.#ask('moved', n => ({ t: 'move', n, cwd }), withinMs)).message?.ok ?? false
  }

  /** Replay is over. How many timers of replayed cells were dropped, and which of the cells went another way after they had ended. */
  async recovered(withinMs: number): Promise<{ readonly timersDropped: number; readonly diverged: readonly number[] }> {
    const nothing = { timersDropped: 0, diverged: [] }
    if (this.#link === undefined) return nothing
    return (await this.#ask('settled', n => ({ t: 'recovered', n }), withinMs)).message ?? nothing
  }

  /** @param withinMs - left out: as long as it takes, or the worker lives. */
  #ask<T extends FromWorker['t']>(
    answered: T,
    make: (n: number) => ToWorker,
    withinMs?: number,
  ): Promise<{
    readonly message: Extract<FromWorker, { readonly t: T }> | undefined
    readonly components: readonly CheckedComponent[]
  }> {
    const n = ++this.#counter
    const components: CheckedComponent[] = []
    return new Promise(resolve => {
      const timer = withinMs === undefined ? undefined : setTimeout(() => answer(undefined), withinMs)
      const answer = (message: FromWorker | undefined): void => {
        clearTimeout(timer)
        this.#questions.delete(n)
        const isExpected = message?.t === answered
        resolve({ message: isExpected ? (message as Extract<FromWorker, { readonly t: T }>) : undefined, components })
      }
      this.#questions.set(n, { components, answer })
      this.#send(this.#link!, make(n))
    })
  }

  /** SIGKILL to the worker and nothing else. */
  kill9(): number | null {
    const link = this.#link
    if (link === undefined) return null
    link.process.killAlone()
    return link.process.pid
  }

  /** End the worker now; a running cell ends with it. Resolves when it is gone. */
  async restart(): Promise<void> {
    const link = this.#link
    if (link === undefined) return
    link.cause ??= 'restart'
    await this.#end(link)
  }

  /** End the worker and what it started, for good. */
  async end(): Promise<void> {
    const link = this.#link
    if (link !== undefined) await this.#end(link)
  }

  #end(link: Link): Promise<void> {
    return new Promise(resolve => {
      this.#gone.push(resolve)
      link.process.kill()
    })
  }

  readonly #gone: (() => void)[] = []
  #startFailure: { readonly code: string; readonly cwd: string } | undefined

  /** Why the system did not start the last process; `undefined` when it did. */
  get startFailure(): { readonly code: string; readonly cwd: string } | undefined {
    return this.#startFailure
  }

  #start(): Link {
    const { cwd, env, heapMb, decorators, jsx, recording } = this.#options.start()
    const hex = this.#options.randomHex(nonceBytes * 2)
    const nonce = Uint8Array.from({ length: nonceBytes }, (_, i) => Number.parseInt(hex.slice(i * 2, i * 2 + 2), 16))
    const raw = (stream: 'stdout' | 'stderr') =>
      new RawOutput(
        hex,
        text => this.#printed(this.#running?.request.cell ?? this.#lastCell, stream, text),
        cell => this.#fenced(stream, cell),
      )
    let link: Link
    this.#startFailure = undefined
    const process = this.#options.workers.start(
      { cwd, env, heapMb },
      {
        onBytes: bytes => this.#receive(link, bytes),
        onOutput: (stream, bytes) => {
          if (stream === 'stderr') link.stderrTail = (link.stderrTail + Buffer.from(bytes).toString('latin1')).slice(-4096)
          link.raw[stream].push(bytes)
        },
        onEnd: end => this.#ended(link, end),
      },
    )
    link = {
      process,
      cwd,
      nonce,
      reader: new FrameReader(nonce),
      raw: { stdout: raw('stdout'), stderr: raw('stderr') },
      pendingBytes: undefined,
      namespaces: '',
      pings: [],
      stderrTail: '',
      isGone: false,
      readyAt: undefined,
      cause: undefined,
      detail: undefined,
      watch: undefined,
    }
    link.watch = setInterval(() => this.#watchMemory(link), pingMs)
    link.watch.unref()
    this.#send(link, { t: 'boot', outputBytes: this.#options.limits().outputBytes, decorators, jsx, ...recording })
    return link
  }

  #send(link: Link, message: ToWorker): void {
    link.process.send(encodeFrame(0, link.nonce, encoder.encode(JSON.stringify(message))))
  }

  #sendRun(running: Running): void {
    const link = this.#link!
    const { cell, source, echo, namespaces, replay } = running.request
    const named = JSON.stringify(namespaces)
    this.#send(link, {
      t: 'run',
      cell,
      source,
      echo,
      ...(named !== link.namespaces && { namespaces }),
      ...(replay !== undefined && { replay }),
    })
    link.namespaces = named
  }

  #after(running: Running, ms: number, run: () => void): void {
    const timer = setTimeout(
      () => {
        running.timers.delete(timer)
        run()
      },
      Math.min(ms, 2_147_483_647),
    )
    running.timers.add(timer)
  }

  /** Ask whether the worker answers, and add up what it computed. */
  #tick(running: Running): void {
    const link = this.#link
    if (running !== this.#running || link === undefined || running.done !== undefined) return
    const used = this.#computed(running, link)
    const left = running.request.computeMs - used
    if (left <= 0) {
      this.#stop(running, 'compute')
      return
    }
    if (link.pings.length === 0) {
      const n = ++this.#counter
      link.pings.push({ n, sentAt: performance.now() })
      this.#send(link, { t: 'ping', n })
    }
    this.#after(running, Math.max(1, Math.min(pingMs, left)), () => this.#tick(running))
  }

  #computed(running: Running, link: Link): number {
    const { startedAt, activeMs, began } = running
    // A worker that is ready and does not take the cell up is busy with something older. One that starts does not compute yet.
    if (startedAt === undefined) return link.readyAt === undefined ? 0 : performance.now() - Math.max(began, link.readyAt)
    const [oldest] = link.pings
    if (oldest === undefined) return activeMs
    // Never answered since the start: busy since then.
    return activeMs + performance.now() - (activeMs === 0 ? startedAt : Math.max(startedAt, oldest.sentAt))
  }

  #stop(running: Running, why: NonNullable<CellReport['stopped']>): void {
    const link = this.#link
    if (running !== this.#running || link === undefined || running.stopped !== undefined || running.done !== undefined) return
    running.stopped = why
    this.#send(link, { t: 'abandon', cell: running.request.cell })
    // A worker that starts takes the cell up first, and then gives it up.
    if (running.startedAt !== undefined) this.#breakOff(running, link)
    else
      this.#after(
        running,
        link.readyAt === undefined ? startMs : killAfterMs,
        () => running.startedAt === undefined && this.#kill(link),
      )
  }

  #breakOff(running: Running, link: Link): void {
    this.#after(running, interruptAfterMs, () => link.process.interrupt())
    this.#after(running, killAfterMs, () => this.#kill(link))
  }

  #kill(link: Link): void {
    link.cause ??= 'timeout'
    link.process.kill()
  }

  #watchMemory(link: Link): void {
    const { rssMb } = this.#options.limits()
    if (rssMb === 0 || link.isGone) return
    const resident = link.process.residentMb()
    if (resident === undefined || resident <= rssMb || link.cause !== undefined) return
    link.cause = 'memory'
    link.detail = 'rss'
    link.process.kill()
  }

  #receive(link: Link, bytes: Uint8Array): void {
    if (link.isGone || link.cause === 'malformed') return
    try {
      for (const { type, payload } of link.reader.push(bytes)) {
        if (type === 1) link.pendingBytes = payload.slice()
        else this.#take(link, JSON.parse(decoder.decode(payload)) as FromWorker)
      }
    } catch (error) {
      // Whatever it was, this worker cannot be trusted with another word.
      link.cause ??= 'malformed'
      link.detail ??= `malformed frame: ${error instanceof Error ? error.message : String(error)}`
      link.process.kill()
    }
  }

  #take(link: Link, message: FromWorker): void {
    const running = this.#running
    switch (message.t) {
      case 'ready':
        link.readyAt = performance.now()
        this.#options.onReady?.(message)
        return
      case 'started':
        if (running?.request.cell !== message.cell) return
        running.startedAt = performance.now()
        if (running.stopped !== undefined) this.#breakOff(running, link)
        return
      case 'pong':
        link.pings = link.pings.filter(ping => ping.n > message.n)
        if (running !== undefined) running.activeMs = Math.max(running.activeMs, message.activeMs)
        return
      case 'out':
        this.#printed(message.cell, message.stream, message.text, message.omitted, message.tail)
        return
      case 'problem': {
        const problems = running !== undefined && message.cell === running.request.cell ? running.problems : this.#lateProblems
        if (problems.length < maxProblems) problems.push({ code: message.code, cell: message.cell, failure: message.failure })
        return
      }
      case 'call':
        this.#call(link, message)
        return
      case 'done':
        if (running === undefined || running.request.cell !== message.cell || running.done !== undefined) return
        running.done = message
        running.value = message.value === undefined ? undefined : link.pendingBytes
        link.pendingBytes = undefined
        this.#after(running, fenceMs, () => this.#settle(running))
        this.#settleWhenFenced(running)
        return
      case 'effect':
        if (running?.request.cell === message.cell)
          running.effects.push({ kind: message.kind, ...(message.subject !== undefined && { subject: message.subject }) })
        return
      case 'late':
        this.#options.onLate?.(message.cell, message.tape, message.during)
        return
      case 'component': {
        const content = message.sent ? link.pendingBytes : undefined
        if (message.sent) link.pendingBytes = undefined
        this.#questions.get(message.n)?.components.push({ ...message, content })
        return
      }
      case 'look':
      case 'parsed':
      case 'checked':
      case 'restored':
      case 'lateReplayed':
      case 'settled':
      case 'verified':
      case 'moved':
        this.#questions.get(message.n)?.answer(message)
        return
      default:
        // A worker of another version.
        message satisfies never
    }
  }

  #call(link: Link, message: Extract<FromWorker, { t: 'call' }>): void {
    const running = this.#running
    if (running === undefined || running.request.cell !== message.cell || running.done !== undefined) return
    const { call, namespace, member } = message
    const abort = new AbortController()
    const given = message.arguments as readonly Json[]
    const entry: RunningCall = { namespace, member, arguments: given, abort, answer: undefined }
    running.calls.set(call, entry)
    const settle = (answer: CallAnswer): void => {
      if (abort.signal.aborted || this.#running !== running || running.done !== undefined) return
      entry.answer = answer
      this.#send(
        link,
        answer.ok
          ? { t: 'settle', call, ok: true, value: answer.value }
          : { t: 'settle', call, ok: false, message: answer.message, ...(answer.code !== undefined && { code: answer.code }) },
      )
    }
    running.request
      .call({ call, namespace, member, arguments: given, signal: abort.signal })
      .then(settle, (error: unknown) => settle({ ok: false, message: error instanceof Error ? error.message : String(error) }))
  }

  #printed(cell: number, stream: LogEntry['stream'], text: string, omitted = 0, tail?: string): void {
    const running = this.#running
    if (running !== undefined && (cell === running.request.cell || cell === 0)) {
      running.logs.add(stream, text, omitted, tail)
      return
    }
    if (this.#late.length >= maxLate) return
    const shown = text.endsWith('\n') ? text.slice(0, -1) : text
    const cut =
      Buffer.byteLength(shown) > maxLateBytes
        ? `${Buffer.from(shown)
            .subarray(0, maxLateBytes)
            .toString('utf8')
            .replace(/\ufffd$/, '')}…`
        : shown
    this.#late.push({ cell, stream, text: cut })
  }

  #fenced(stream: 'stdout' | 'stderr', cell: number): void {
    const running = this.#running
    if (running === undefined || running.request.cell !== cell) return
    running.fences.add(stream)
    this.#settleWhenFenced(running)
  }

  #settleWhenFenced(running: Running): void {
    const { done, fences } = running
    if (done === undefined) return
    if ((!done.fences.stdout || fences.has('stdout')) && (!done.fences.stderr || fences.has('stderr'))) this.#settle(running)
  }

  #settle(running: Running, loss?: WorkerLoss, neverBegan = false): void {
    if (running !== this.#running) return
    this.#running = undefined
    for (const timer of running.timers) clearTimeout(timer)
    for (const { abort, answer } of running.calls.values()) if (answer === undefined) abort.abort()
    const { done } = running
    const stopped =
      done === undefined || done.outcome === 'interrupted' || done.outcome === 'abandoned' ? running.stopped : undefined
    const late = this.#late
    const problems = [...this.#lateProblems, ...running.problems].slice(0, maxProblems)
    this.#late = []
    this.#lateProblems = []
    const link = this.#link
    running.finish({
      done,
      value: running.value,
      stopped,
      loss,
      logs: running.logs.entries(),
      logsOmittedBytes: running.logs.omittedBytes,
      problems,
      late,
      calls: [...running.calls].map(([call, made]) => summaryOf(call, made)),
      transcript: [...running.calls.values()].map(({ namespace, member, arguments: given, answer }) => ({
        namespace,
        member,
        arguments: given,
        ...(answer !== undefined && { outcome: answer }),
      })),
      effects: running.effects,
      neverBegan: loss !== undefined && neverBegan,
      computeMs:
        done?.computeMs ??
        (link === undefined
          ? Math.max(running.activeMs, loss?.cause === 'timeout' && stopped === 'compute' ? running.request.computeMs : 0)
          : this.#computed(running, link)),
      wallMs: performance.now() - running.began,
    })
  }

  #ended(link: Link, end: WorkerEnd): void {
    this.#startFailure = end.failed === undefined ? undefined : { code: end.failed, cwd: link.cwd }
    link.isGone = true
    clearInterval(link.watch)
    for (const stream of ['stdout', 'stderr'] as const) link.raw[stream].end()
    if (this.#link === link) this.#link = undefined
    for (const { answer } of [...this.#questions.values()]) answer(undefined)
    const loss = lossOf(link, end)
    const running = this.#running
    this.#options.onLost?.(loss)
    if (running !== undefined && this.#link === undefined) this.#settle(running, loss, this.#neverBegan(running, link))
    for (const resolve of this.#gone.splice(0)) resolve()
  }

  /** Nothing of the cell ran: the worker hung in something older, or was already dying when it was asked. */
  #neverBegan({ startedAt, stopped }: Running, { readyAt }: Link): boolean {
    return startedAt === undefined && readyAt !== undefined && (stopped === undefined || stopped === 'compute')
  }
}

function summaryOf(call: number, { namespace, member, answer }: RunningCall): CellReport['calls'][number] {
  const name = `${namespace}.${member}`
  if (answer === undefined) return { call, name, outcome: 'unsettled' }
  return answer.ok
    ? { call, name, outcome: 'ok', value: answer.value }
    : { call, name, outcome: 'error', message: answer.message }
}

function lossOf(link: Link, end: WorkerEnd): WorkerLoss {
  if (
    link.cause === undefined &&
    /heap out of memory|Reached heap limit|invalid array length Allocation failed/.test(link.stderrTail)
  ) {
    return { cause: 'memory', end, detail: 'heap' }
  }
  return { cause: link.cause ?? 'exit', end, ...(link.detail !== undefined && { detail: link.detail }) }
}
