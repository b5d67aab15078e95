/** One session: a queue of cells, a kernel, a journal. What a caller asks is refused with a `REPL_…` error or answered; what a program does wrong is an answer. */
import { randomBytes } from 'node:crypto'
import { OutriggerError } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Json } from '../ports/json.ts'
import type { Store } from '../ports/store.ts'
import type { Workers } from '../ports/worker.ts'
import { find, inspect, type Namespaces, tree } from './capabilities.ts'
import type { FindMatches } from './edit/index.ts'
import { editCell } from './edit-cell.ts'
import { workerEnvironment } from './environment.ts'
import { createHandles, type Handles } from './handles.ts'
import { isBlob, type Journal, type JournalName, openJournal, sha256 } from './journal.ts'
import { type CallAnswer, type CellReport, Kernel, type KernelCall, type KernelOptions, type WorkerLoss } from './kernel.ts'
import { runNested } from './nested.ts'
import { type FailureStreak, isOwnCall, nextStreak, noStreak, resultOf } from './result.ts'
import { secretMask, secretValues } from './secrets.ts'
import { jsonTextFrom, type TipCell, tipAfter } from './tips.ts'
import { acceptsNothing, faultOfArguments } from './tool-arguments.ts'
import type {
  DeclaredName,
  EditInput,
  EditResult,
  EndRecord,
  History,
  HistoryQuery,
  LogEntry,
  LogsPage,
  OpenRecord,
  Page,
  PageQuery,
  Recovery,
  RecoveryReason,
  ReplConfig,
  ReplSession,
  RunOptions,
  RunResult,
  SessionState,
} from './types.ts'
import type { NameReport, SeenBinding } from './worker/protocol.ts'

export interface SessionOptions {
  readonly name: string
  /** Absolute, as the session spells it. */
  readonly cwd: string
  readonly store: Store
  readonly workers: Workers
  readonly clock: Clock
  /** `<pid>:<boot id>:<process start>`. */
  readonly owner: string
  readonly config: ReplConfig
  /** The host's environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** What the worker's platform is, for the journal. */
  readonly platform: OpenRecord['env']
  /** Whether the project's TypeScript configuration asks for legacy decorators. */
  readonly legacyDecorators: boolean
  readonly findMatches: FindMatches
  /** Masks what looks like a secret. */
  mask(text: string): string
  /** Times and process ids in answers are 0, so that two runs answer the same. */
  readonly isTimeFixed: boolean
  /** How deep this session is inside `code.run`. Default 0. */
  readonly depth?: number
}

const maxUnits = 1_048_576
const maxQueue = 32
const languageVersion = 1
/** How long a worker that runs no cell may take to say what it holds. */
const lookMs = 1_000

interface Queued {
  readonly code: string
  readonly options: RunOptions
  readonly queuedAt: number
  readonly cancel: AbortController
  resolve(result: RunResult): void
  reject(error: unknown): void
}

/** Throws `REPL_HELD` (exit 4) while another process has the session. */
export async function openSession(options: SessionOptions): Promise<ReplSession> {
  const mask = secretMask(options.env, options.mask)
  // The session's configuration can change; the journal asks at every record.
  const now = { fsync: options.config.fsync }
  const journal = await openJournal({
    fsync: () => now.fsync,
    store: options.store,
    clock: options.clock,
    session: options.name,
    owner: options.owner,
    mask,
  })
  return new Session(options, journal, mask, now)
}

class Session implements ReplSession {
  readonly #options: SessionOptions
  readonly #journal: Journal
  readonly #mask: (text: string) => string
  readonly #kernel: Kernel
  readonly #handles: Handles
  readonly #secrets: readonly Buffer[]
  readonly #durability: { fsync: boolean }
  readonly #sources = new Map<number, string>()
  #config: ReplConfig
  #cwd: string
  #cell: number
  #queue: Queued[] = []
  #current: Queued | undefined
  #isOpened = false
  #isClosed = false
  #streak: FailureStreak = noStreak
  /** What the next answer tells of a replaced worker. */
  #recovery: Recovery | undefined
  #lastLook: readonly SeenBinding[] = []
  #idle: ReturnType<typeof setTimeout> | undefined

  constructor(options: SessionOptions, journal: Journal, mask: (text: string) => string, durability: { fsync: boolean }) {
    this.#durability = durability
    this.#options = options
    this.#journal = journal
    this.#mask = mask
    this.#config = options.config
    this.#cwd = options.cwd
    this.#cell = journal.latest
    this.#handles = createHandles(journal)
    this.#secrets = secretValues(options.env).map(value => Buffer.from(value))
    this.#kernel = new Kernel(this.#kernelOptions(true))
    const interrupted = [...journal.cells.values()].filter(({ end }) => end === undefined).at(-1)?.begin.cell
    if (journal.names.size > 0 || interrupted !== undefined) this.#lose('host-restart', 0, interrupted)
  }

  get name(): string {
    return this.#options.name
  }

  get cwd(): string {
    return this.#cwd
  }

  get cells(): number {
    return this.#journal.cells.size
  }

  get head(): number {
    return this.#journal.head
  }

  latest(): number {
    return this.#cell
  }

  run(code: string, options: RunOptions = {}): Promise<RunResult> {
    try {
      this.#accept(code)
    } catch (error) {
      return Promise.reject(error)
    }
    return new Promise((resolve, reject) => {
      const cancel = new AbortController()
      const queued: Queued = { code, options, queuedAt: performance.now(), cancel, resolve, reject }
      if (options.signal?.aborted) cancel.abort()
      else options.signal?.addEventListener('abort', () => cancel.abort(), { once: true })
      this.#queue.push(queued)
      this.#next()
    })
  }

  #accept(code: string): void {
    if (this.#isClosed)
      throw new OutriggerError('REPL_CLOSED', 'the session is closed', { subject: this.name, hint: 'open it again' })
    if (!this.#config.enabled) {
      throw new OutriggerError('REPL_DISABLED', 'the REPL is turned off', {
        subject: 'repl.enabled',
        hint: 'set `enabled: true` below `repl` in the configuration',
        exit: 3,
      })
    }
    if (code.length > maxUnits) {
      throw new OutriggerError('REPL_TOO_LARGE', `the cell has ${code.length} units; at most ${maxUnits} are taken`, {
        subject: 'code',
        hint: 'put data into a file and read it',
      })
    }
    if (this.#queue.length >= maxQueue) {
      throw new OutriggerError('REPL_BUSY', `${maxQueue} cells are waiting already`, {
        subject: this.name,
        hint: 'wait for an answer, or cancel one',
        exit: 4,
      })
    }
  }

  #next(): void {
    if (this.#current !== undefined) return
    const queued = this.#queue.shift()
    if (queued === undefined) return
    clearTimeout(this.#idle)
    this.#current = queued
    this.#runCell(queued)
      .then(queued.resolve, queued.reject)
      .finally(() => {
        this.#current = undefined
        this.#waitIdle()
        this.#next()
      })
  }

  async #runCell(queued: Queued): Promise<RunResult> {
    const { code, options } = queued
    const cell = ++this.#cell
    const config = this.#config
    const limits = { computeMs: options.computeMs ?? config.computeMs, wallMs: options.wallMs ?? config.wallMs }
    const echo = options.echo ?? 'return'
    const offered: Namespaces = { tools: options.tools ?? [], ...options.namespaces }
    const queuedMs = performance.now() - queued.queuedAt
    // The process starts while the record is written.
    this.#kernel.prepare()
    await this.#begin(cell, code, options)
    this.#sources.set(cell, code)
    const members = Object.fromEntries(Object.entries(offered).map(([name, list]) => [name, list.map(each => each.name)]))
    const report = await this.#kernel.run({
      cell,
      source: code,
      echo,
      ...limits,
      namespaces: members,
      call: call => this.#call(call, cell, offered, options),
      signal: queued.cancel.signal,
    })
    if (report.done?.cwd) this.#cwd = report.done.cwd
    const recovery = this.#recovery
    this.#recovery = undefined
    const result = resultOf(report, {
      cell,
      source: code,
      config,
      names: this.#journal.names,
      namespaces: new Set([...Object.keys(offered), 'capabilities', 'code', 'repl', 'outrigger']),
      recovery,
      queuedMs,
      streak: this.#streak,
      isTimeFixed: this.#options.isTimeFixed,
      limits,
    })
    this.#streak = nextStreak(this.#streak, result.error)
    const tip = result.error === undefined ? undefined : tipAfter([...this.#tipCells(), tipCellOf(report, result, code)], config)
    if (tip !== undefined) Object.assign(result, { tip })
    await this.#end(report, result)
    if (recovery !== undefined) await this.#recordRecovery(recovery)
    return result
  }

  /** Earlier cells on the way to the head, as far as hints look at them. */
  #tipCells(): readonly TipCell[] {
    const path: TipCell[] = []
    let at = this.#journal.head
    for (let known = this.#journal.cells.get(at); known !== undefined; known = this.#journal.cells.get(at)) {
      const { begin, end } = known
      const error = end?.error !== undefined && !isBlob(end.error) ? end.error : undefined
      const units = isBlob(begin.source) ? begin.source.bytes : begin.source.length
      path.push({ cell: begin.cell, units, error, tip: end?.tip })
      if (begin.parent === at) break
      at = begin.parent
    }
    return path.reverse()
  }

  async #begin(cell: number, code: string, options: RunOptions): Promise<void> {
    if (!this.#isOpened) {
      this.#isOpened = true
      await this.#journal.write({
        k: 'open',
        cwd: this.#cwd,
        env: this.#options.platform,
        language: languageVersion,
        prelude: [],
      })
    }
    await this.#journal.write({
      k: 'begin',
      cell,
      parent: this.#journal.head,
      source: await this.#journal.part(this.#mask(code)),
      ...(options.description !== undefined && { description: options.description }),
      echo: options.echo ?? 'return',
      language: languageVersion,
      origin: options.origin ?? 'run',
      ...(options.edit !== undefined && { edit: options.edit }),
    })
  }

  async #end(report: CellReport, result: RunResult): Promise<void> {
    const { done, value } = report
    const masked = <T>(part: T): T => JSON.parse(this.#mask(JSON.stringify(part))) as T
    const names = report.loss !== undefined || done === undefined ? { added: [], changed: [], removed: [] } : done.names
    const stored =
      value !== undefined && result.handle !== undefined && !this.#secrets.some(secret => Buffer.from(value).includes(secret))
        ? value
        : undefined
    if (value !== undefined && result.handle !== undefined) this.#handles.keep(result.handle, value)
    const calls = report.calls.filter(call => !isOwnCall(call.name))
    const record: Omit<EndRecord, 'v' | 'at' | 'epoch'> = {
      k: 'end',
      cell: result.cell,
      outcome: result.outcome,
      ...(result.error !== undefined && { error: masked(result.error) }),
      completion: {
        kind: result.valueKind,
        ...(value !== undefined && { hash: sha256(value) }),
        ...(result.preview !== undefined && { preview: masked(result.preview.slice(0, 1_000)) }),
      },
      ...(stored !== undefined && (await this.#handles.store(stored))),
      names: { added: names.added.map(declared), changed: names.changed.map(declared), removed: names.removed },
      touch: done?.touch ?? [],
      dynamic: done?.dynamic ?? true,
      class: result.durability.class,
      effects: result.durability.effects,
      calls: calls.length === 0 ? [] : ((await this.#journal.part(masked(calls) as unknown as Json)) as never),
      warnings: masked(result.warnings),
      rewrites: result.rewrites ?? [],
      logs: result.logs.length === 0 ? [] : ((await this.#journal.part(masked(result.logs) as unknown as Json)) as never),
      ...(result.logsOmittedBytes !== undefined && { logsOmittedBytes: result.logsOmittedBytes }),
      timing: result.timing,
      ...(result.tip !== undefined && { tip: result.tip.trigger }),
    }
    await this.#journal.write(record)
  }

  /** Carry out a call of a program; never throws. */
  async #call(call: KernelCall, cell: number, offered: Namespaces, options: RunOptions): Promise<CallAnswer> {
    const { namespace, member } = call
    if (!Object.hasOwn(offered, namespace)) return this.#ownCall(call, offered, options, cell)
    const name = `${namespace}.${member}`
    const declaration = offered[namespace]!.find(each => each.name === member)
    let args = call.arguments[0]
    if (args === undefined) {
      if (!acceptsNothing(declaration?.parameters)) {
        const fault = faultOfArguments(declaration?.parameters, {})
        return { ok: false, code: 'OUT-P001', message: `${name}: ${fault ?? 'arguments are required'}` }
      }
      args = {}
    }
    const fault = faultOfArguments(declaration?.parameters, args)
    if (fault !== undefined) return { ok: false, code: 'OUT-P001', message: `${name}: ${fault}` }
    const carry = options.call
    if (carry === undefined) return { ok: false, message: `${name} cannot be called here: nobody carries out calls` }
    await this.#journal.write({
      k: 'call',
      cell,
      call: call.call,
      namespace,
      member,
      arguments: await this.#journal.part(JSON.parse(this.#mask(JSON.stringify(args))) as Json),
    })
    if (call.signal.aborted) return { ok: false, message: 'cancelled' }
    return carry({ cell, call: call.call, namespace, name: member, arguments: args, signal: call.signal })
  }

  async #ownCall(
    { namespace, member, arguments: args, signal }: KernelCall,
    offered: Namespaces,
    options: RunOptions,
    cell: number,
  ): Promise<CallAnswer> {
    const given = isRecord(args[0]) ? args[0] : {}
    try {
      switch (`${namespace}.${member}`) {
        case 'capabilities.tree':
          return { ok: true, value: tree(offered) }
        case 'capabilities.find':
          return { ok: true, value: find(offered, typeof args[0] === 'string' ? args[0] : String(given['query'] ?? '')) }
        case 'capabilities.inspect':
          return this.#inspect(offered, args[0])
        case 'code.run':
          return await this.#nested(given, offered, options, signal, cell)
        case 'repl.history':
          return {
            ok: true,
            value: (await this.history({
              ...(typeof given['limit'] === 'number' && { limit: given['limit'] }),
            })) as unknown as Json,
          }
        case 'repl.page': {
          const handle = typeof args[0] === 'string' ? args[0] : String(given['handle'] ?? '')
          const more = isRecord(args[1]) ? args[1] : given
          return { ok: true, value: (await this.page({ ...more, handle } as PageQuery)) as unknown as Json }
        }
        case 'repl.state':
          return this.#programState(given)
        default:
          return { ok: false, message: `there is no ${namespace}.${member}` }
      }
    } catch (error) {
      if (error instanceof OutriggerError) return { ok: false, message: `${error.code}: ${error.message}` }
      throw error
    }
  }

  #inspect(offered: Namespaces, given: Json | undefined): CallAnswer {
    const asked = isRecord(given) ? given['symbols'] : given
    const symbols = (Array.isArray(asked) ? asked : [asked]).filter((each): each is string => typeof each === 'string')
    if (symbols.length === 0)
      return { ok: false, code: 'OUT-P001', message: 'capabilities.inspect: arguments.symbols is required (array)' }
    const budget = isRecord(given) && typeof given['budget'] === 'number' ? Math.max(1, Math.min(200, given['budget'])) : 50
    return { ok: true, value: inspect(offered, symbols, budget) }
  }

  #programState(given: { readonly [key: string]: Json }): CallAnswer {
    const action = given['action'] ?? 'list'
    if (action !== 'list') {
      return {
        ok: false,
        message: `REPL_BAD_REQUEST: repl.state({ action: ${JSON.stringify(action)} }) is not in this version; there is "list"`,
      }
    }
    const names = [...this.#journal.names.keys()].sort()
    return { ok: true, value: { names, mode: names.length === 0 ? 'durable' : 'volatile', atRisk: names } }
  }

  async #nested(
    given: { readonly [key: string]: Json },
    offered: Namespaces,
    options: RunOptions,
    signal: AbortSignal,
    cell: number,
  ): Promise<CallAnswer> {
    const depth = (this.#options.depth ?? 0) + 1
    const { code } = given
    if (typeof code !== 'string') return { ok: false, code: 'OUT-P001', message: 'code.run: arguments.code is required (string)' }
    return this.#runNested(code, depth, offered, options, signal, cell)
  }

  #runNested(
    code: string,
    depth: number,
    offered: Namespaces,
    options: RunOptions,
    signal: AbortSignal,
    cell: number,
  ): Promise<CallAnswer> {
    if (depth > this.#config.maxNestedRuns) {
      return Promise.resolve({ ok: false, message: `programs may run programs ${this.#config.maxNestedRuns} deep` })
    }
    return runNested({
      code,
      kernel: this.#kernelOptions(false),
      config: this.#config,
      namespaces: Object.fromEntries(Object.entries(offered).map(([name, list]) => [name, list.map(each => each.name)])),
      signal,
      call: inner => {
        if (inner.namespace === 'code' && inner.member === 'run') {
          const asked = inner.arguments[0]
          return this.#runNested(
            isRecord(asked) ? String(asked['code'] ?? '') : '',
            depth + 1,
            offered,
            options,
            inner.signal,
            cell,
          )
        }
        if (inner.namespace === 'repl')
          return Promise.resolve({ ok: false, message: 'a nested program has no session of its own' })
        return this.#call(inner, cell, offered, options)
      },
    })
  }

  async edit(input: EditInput, options: RunOptions = {}): Promise<EditResult> {
    const { findMatches } = this.#options
    return editCell(input, {
      newest: this.#cell === 0 ? undefined : this.#cell,
      exists: cell => this.#journal.cells.has(cell),
      source: cell => this.source(cell),
      findMatches,
      parse: source => this.#kernel.parse(source),
      run: (code, edit) => this.run(code, { ...options, origin: 'edit', edit }),
    })
  }

  async source(cell: number): Promise<string | undefined> {
    const own = this.#sources.get(cell)
    if (own !== undefined) return own
    const begin = this.#journal.cells.get(cell)?.begin
    return begin === undefined ? undefined : this.#journal.load(begin.source)
  }

  async history(query: HistoryQuery = {}): Promise<History> {
    const { from = 1, to = Number.POSITIVE_INFINITY, limit = 100 } = query
    const cells = [...this.#journal.cells.values()].filter(({ begin }) => begin.cell >= from && begin.cell <= to).slice(-limit)
    const rows = await Promise.all(
      cells.map(async ({ begin, end }) => {
        const source = (await this.source(begin.cell)) ?? ''
        const names =
          end === undefined
            ? []
            : [...new Set([...end.names.added, ...end.names.changed].map(each => each.name).concat(end.names.removed))].sort()
        return {
          cell: begin.cell,
          parent: begin.parent,
          at: new Date(begin.at).toISOString(),
          outcome:
            end?.outcome ??
            (begin.cell === this.#cell && this.#current !== undefined ? ('running' as const) : ('exited' as const)),
          class: end?.class ?? ('effect' as const),
          lines: source.split(/\r\n|[\n\r\u2028\u2029]/).length,
          names,
          ...(begin.description !== undefined && { description: begin.description }),
          ...(begin.edit !== undefined && { edit: { target: begin.edit.target } }),
          ...(query.source && { source }),
        }
      }),
    )
    return { cells: rows, head: this.#journal.head }
  }

  async state(): Promise<SessionState> {
    const look = this.#kernel.isRunning ? undefined : await this.#kernel.look(lookMs)
    if (look !== undefined) this.#lastLook = look.bindings
    const seen = new Map(this.#lastLook.map(binding => [binding.name, binding]))
    const names = [...this.#journal.names]
      .filter(([name]) => !this.#recovery?.bindings.some(each => each.name === name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
    const worker = this.#kernel.worker
    return {
      mode: names.length === 0 ? 'durable' : 'volatile',
      head: this.#journal.head,
      cwd: look?.cwd ?? this.#cwd,
      bindings: names.map(([name, { kind, cell }]) => {
        const binding = seen.get(name)
        return {
          name,
          kind: binding?.kind ?? kind,
          type: binding?.type ?? '',
          preview: binding?.preview ?? '',
          cell,
          recover: 'lost' as const,
          reason: notKept,
        }
      }),
      lost: (this.#recovery?.bindings ?? [])
        .filter(each => each.status === 'lost')
        .map(({ name, cell, reason }) => ({ name, cell, reason: reason ?? notKept })),
      named: [],
      atRisk: names.map(([name]) => name),
      pending: { timers: look?.timers ?? 0, handles: look?.handles ?? 0 },
      worker: worker === null || !this.#options.isTimeFixed ? worker : { pid: 0, rssMb: 0 },
    }
  }

  page(query: PageQuery): Promise<Page> {
    return this.#handles.page(query)
  }

  async logs({
    cell,
    offset = 0,
    limit = 16_000,
  }: {
    readonly cell: number
    readonly offset?: number
    readonly limit?: number
  }): Promise<LogsPage> {
    const end = this.#journal.cells.get(cell)?.end
    if (end === undefined) throw unknownCell(cell)
    const logs = (await this.#journal.load(end.logs as never)) as readonly LogEntry[] | undefined
    const text = (logs ?? []).map(entry => entry.text).join('\n')
    return { text: text.slice(offset, offset + limit), total: text.length, omittedBytes: end.logsOmittedBytes ?? 0 }
  }

  async restart(): Promise<Recovery> {
    const began = performance.now()
    if (this.#kernel.worker === null) this.#recovery ??= this.#recoveryOf('restart', [], undefined, 0)
    await this.#kernel.restart()
    this.#kernel.prepare()
    const recovery = this.#recovery ?? this.#recoveryOf('restart', [], undefined, performance.now() - began)
    // A cell that ran tells it in its own answer.
    if (this.#current === undefined) {
      this.#recovery = undefined
      await this.#recordRecovery(recovery)
    }
    return recovery
  }

  kill9(): number | null {
    const pid = this.#kernel.kill9()
    return pid !== null && this.#options.isTimeFixed ? 0 : pid
  }

  configure(config: ReplConfig): void {
    this.#config = config
    this.#durability.fsync = config.fsync
    if (config.enabled) return
    this.#cancelAll()
    void this.#kernel.end()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#idle)
    this.#cancelAll()
    await this.#kernel.end()
    while (this.#current !== undefined) await new Promise(resolve => setTimeout(resolve, 5))
    await this.#journal.close()
  }

  #cancelAll(): void {
    for (const queued of [this.#current, ...this.#queue]) queued?.cancel.abort()
  }

  #kernelOptions(isOwn: boolean): KernelOptions {
    const { workers, clock, env, legacyDecorators } = this.#options
    return {
      workers,
      randomHex: digits =>
        randomBytes(Math.ceil(digits / 2))
          .toString('hex')
          .slice(0, digits),
      start: () => ({
        cwd: this.#cwd,
        env: workerEnvironment(env, this.#config),
        heapMb: this.#config.heapMb,
        decorators: this.#config.decorators === 'auto' ? (legacyDecorators ? 'legacy' : 'standard') : this.#config.decorators,
        jsx: this.#config.jsx,
      }),
      limits: () => ({ rssMb: this.#config.rssMb, outputBytes: this.#config.outputBytes }),
      ...(isOwn && { onLost: (why: WorkerLoss) => this.#lost(why, clock) }),
    }
  }

  #lost(why: WorkerLoss, _clock: Clock): void {
    if (this.#isClosed) return
    const reason: Readonly<Record<WorkerLoss['cause'], RecoveryReason>> = {
      exit: 'worker-exit',
      malformed: 'worker-exit',
      memory: 'memory',
      timeout: 'timeout',
      restart: 'restart',
    }
    this.#lose(reason[why.cause], 0, undefined)
    this.#lastLook = []
  }

  /** In this version a new worker has none of the names. */
  #lose(reason: RecoveryReason, ms: number, interrupted: number | undefined): void {
    const before = this.#recovery
    const gone: readonly (readonly [string, JournalName])[] = [...this.#journal.names]
    if (gone.length === 0 && interrupted === undefined && before === undefined && reason !== 'restart') return
    this.#recovery = this.#recoveryOf(before?.reason ?? reason, gone, interrupted ?? before?.interrupted?.cell, ms)
  }

  #recoveryOf(
    reason: RecoveryReason,
    gone: readonly (readonly [string, JournalName])[],
    interrupted: number | undefined,
    ms: number,
  ): Recovery {
    const bindings = gone
      .map(([name, { cell }]) => ({ name, status: 'lost' as const, reason: notKept, cell }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    return {
      reason,
      counts: { exact: 0, replayed: 0, snapshot: 0, lost: bindings.length },
      bindings,
      ...(interrupted !== undefined && { interrupted: { cell: interrupted, calls: [] } }),
      timersDropped: 0,
      ms: this.#options.isTimeFixed ? 0 : Math.round(ms),
    }
  }

  async #recordRecovery({ reason, counts, bindings }: Recovery): Promise<void> {
    // Names that a later cell declared again live on.
    const cell = this.#journal.head
    const still = bindings.filter(each => this.#journal.names.get(each.name)?.cell === each.cell)
    await this.#journal.write({ k: 'recover', head: cell, reason, counts, statuses: still })
  }

  #waitIdle(): void {
    const { idleMs } = this.#config
    if (idleMs === 0 || this.#isClosed) return
    this.#idle = setTimeout(() => {
      // A worker with names is not given up: they would be gone.
      if (this.#journal.names.size === 0 && this.#current === undefined) void this.#kernel.end()
    }, idleMs)
    this.#idle.unref?.()
  }
}

/** Why a name would not survive the worker. */
const notKept = 'not-kept'

const declared = ({ name, kind, start, end }: NameReport): DeclaredName => ({
  name,
  kind,
  ...(start !== undefined && { start }),
  ...(end !== undefined && { end }),
})

const tipCellOf = (report: CellReport, { cell, error }: RunResult, code: string): TipCell => ({
  cell,
  units: code.length,
  error,
  jsonFrom: jsonTextFrom(report.calls),
})

const isRecord = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function unknownCell(cell: number): OutriggerError {
  return new OutriggerError('REPL_UNKNOWN_CELL', `there is no cell ${cell} that has ended`, {
    subject: String(cell),
    hint: 'history lists the cells',
  })
}
