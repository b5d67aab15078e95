/** One session: a queue of cells, a kernel, a journal. What a caller asks is refused with a `REPL_…` error or answered; what a program does wrong is an answer. */
import { randomBytes } from 'node:crypto'
import { OutriggerError } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Json } from '../ports/json.ts'
import type { Store } from '../ports/store.ts'
import type { Workers } from '../ports/worker.ts'
import type { Namespaces } from './capabilities.ts'
import { beginRecord, endRecord, languageVersion, type RecordParts } from './cell-records.ts'
import { type Checkpoints, createCheckpoints } from './checkpoints.ts'
import type { FindMatches } from './edit/index.ts'
import { editCell } from './edit-cell.ts'
import { workerEnvironment } from './environment.ts'
import { type ForkTarget, forkSession } from './fork.ts'
import { createHandles, type Handles } from './handles.ts'
import { historyOf } from './history.ts'
import { type Journal, openJournal, sha256 } from './journal.ts'
import { type CallAnswer, type CellReport, Kernel, type KernelOptions, type WorkerLoss } from './kernel.ts'
import { createOwnCalls, membersOf, type OwnCalls } from './own-calls.ts'
import { createPaths, type Paths } from './path.ts'
import { pruneSession, replacedCopies } from './prune.ts'
import { sourceOf } from './recovery.ts'
import { type FailureStreak, nextStreak, noStreak, resultOf } from './result.ts'
import { Revival } from './revival.ts'
import { createSecrets, type Secrets } from './secrets.ts'
import { checkStateName, knownState, namesAtRisk, type StateAction, stateAction, stateOf } from './states.ts'
import { tipCellOf, tipCellsOf } from './tip-cells.ts'
import { tipAfter } from './tips.ts'
import type {
  EditInput,
  EditResult,
  History,
  HistoryQuery,
  LogEntry,
  LogsPage,
  OpenRecord,
  Page,
  PageQuery,
  Pruned,
  Recovery,
  RecoveryReason,
  ReplConfig,
  ReplSession,
  RestoredState,
  RunOptions,
  RunResult,
  SavedState,
  SessionState,
  Warning,
} from './types.ts'
import type { SeenBinding } from './worker/protocol.ts'
import type { LateTape } from './worker/tape.ts'

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
  /** Where clocks of cells start, ms since 1970, and what their random numbers derive from. */
  readonly fixed?: { readonly now?: number; readonly seed?: string }
  /** Default: every folder is there. */
  isFolder?(path: string): boolean
  /** The store of another session. */
  openFork?(to: string): Promise<ForkTarget>
  /** How deep this session is inside `code.run`. Default 0. */
  readonly depth?: number
}

const maxUnits = 1_048_576
const maxQueue = 32
/** How long a worker that runs no cell may take to say what it holds. */
const lookMs = 1_000
/** A copy that takes longer than a next cell may wait is made after so long without one. */
const slowCheckMs = 250
/** So long after a cell, and for so many bytes, it is worth the while to remove copies. */
const calmMs = 3_000
const tidyBytes = 8 * 1024 * 1024
/** Workers that may die of something older before they take a cell up. */
const maxAttempts = 3

interface Task {
  /** `undefined`: it is no cell. */
  readonly cancel: AbortController | undefined
  work(): Promise<void>
}

/** Throws `REPL_HELD` (exit 4) while another process has the session. */
export async function openSession(options: SessionOptions): Promise<ReplSession> {
  const secrets = createSecrets(options.env, options.mask)
  // The session's configuration can change; the journal asks at every record.
  const durability = { fsync: options.config.fsync }
  const journal = await openJournal({
    fsync: () => durability.fsync,
    store: options.store,
    clock: options.clock,
    session: options.name,
    owner: options.owner,
    mask: secrets.mask,
  })
  return new Session(options, journal, secrets, durability)
}

class Session implements ReplSession {
  readonly #options: SessionOptions
  readonly #journal: Journal
  readonly #secrets: Secrets
  readonly #paths: Paths
  readonly #kernel: Kernel
  readonly #handles: Handles
  readonly #revival: Revival
  readonly #checkpoints: Checkpoints
  readonly #ownCalls: OwnCalls
  readonly #records: RecordParts
  readonly #durability: { fsync: boolean }
  readonly #sources = new Map<number, string>()
  #config: ReplConfig
  #cwd: string
  #cell: number
  readonly #queue: Task[] = []
  #current: Task | undefined
  #runningCell: number | undefined
  #isOpened = false
  #isClosed = false
  #streak: FailureStreak = noStreak
  #lastLook: readonly SeenBinding[] = []
  #lastPending: SessionState['pending'] = { timers: 0, handles: 0 }
  /** What cells did after their end, not yet in the journal. */
  #lates: { readonly cell: number; readonly tape: LateTape; readonly during: number | undefined }[] = []
  /** Asked for by the running cell; takes effect after it. */
  #actions: StateAction[] = []
  /** Names that were said to be at risk. */
  #risks = new Set<string>()
  #warnings: Warning[] = []
  #copying: Promise<unknown> | undefined
  #soon: ReturnType<typeof setTimeout> | undefined
  #calm: ReturnType<typeof setTimeout> | undefined
  /** Copies that are gone from the store. */
  readonly #pruned = new Set<string>()
  #idle: ReturnType<typeof setTimeout> | undefined

  constructor(options: SessionOptions, journal: Journal, secrets: Secrets, durability: { fsync: boolean }) {
    this.#durability = durability
    this.#options = options
    this.#journal = journal
    this.#secrets = secrets
    this.#config = options.config
    this.#cell = journal.state.latest
    this.#handles = createHandles(journal)
    this.#paths = createPaths(journal)
    this.#kernel = new Kernel(this.#kernelOptions(true))
    this.#records = { journal, secrets, handles: this.#handles }
    this.#revival = new Revival({
      kernel: this.#kernel,
      journal,
      paths: this.#paths,
      secrets,
      languages: new Set([languageVersion]),
      recoverMs: () => this.#config.recoverMs,
      isTimeFixed: options.isTimeFixed,
    })
    this.#checkpoints = createCheckpoints({
      kernel: this.#kernel,
      journal,
      secrets,
      config: () => this.#config,
      beforeWrite: () => this.#writeLates(),
    })
    this.#ownCalls = createOwnCalls({
      session: this,
      config: () => this.#config,
      nestedKernel: () => this.#kernelOptions(false),
      depth: options.depth ?? 0,
      sent: async (cell, { call, namespace, member }, args) =>
        journal.write({
          k: 'call',
          cell,
          call,
          namespace,
          member,
          arguments: await journal.part(JSON.parse(secrets.mask(JSON.stringify(args))) as Json),
        }),
      state: given => this.#programState(given),
    })
    this.#cwd = this.#startFolder()
    const { damage } = journal.state
    if (damage !== undefined) {
      const message = `Record ${damage.seq} of the journal ${damage.why}; the session goes on from the one before.`
      this.#warnings.push({ code: 'OUT-R006', message })
    }
  }

  get name(): string {
    return this.#options.name
  }

  get cwd(): string {
    return this.#cwd
  }

  get cells(): number {
    return this.#journal.state.cells.size
  }

  get head(): number {
    return this.#journal.state.head
  }

  latest(): number {
    return this.#cell
  }

  node(cell: number): { readonly node: string; readonly parent: number } | undefined {
    const begin = this.#journal.state.cells.get(cell)?.begin
    if (begin === undefined) return undefined
    const { parent, at, source } = begin
    return { node: sha256(JSON.stringify([cell, parent, at, source])).slice(0, 32), parent }
  }

  run(code: string, options: RunOptions = {}): Promise<RunResult> {
    try {
      this.#accept(code)
    } catch (error) {
      return Promise.reject(error)
    }
    const cancel = new AbortController()
    if (options.signal?.aborted) cancel.abort()
    else options.signal?.addEventListener('abort', () => cancel.abort(), { once: true })
    const queuedAt = performance.now()
    return this.#enqueue(cancel, () => this.#runCell(code, options, performance.now() - queuedAt, cancel.signal))
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

  /** After what was asked for before. */
  #enqueue<T>(cancel: AbortController | undefined, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ cancel, work: () => work().then(resolve, reject) })
      this.#next()
    })
  }

  #next(): void {
    if (this.#current !== undefined) return
    const task = this.#queue.shift()
    if (task === undefined) return
    clearTimeout(this.#idle)
    clearTimeout(this.#soon)
    clearTimeout(this.#calm)
    this.#current = task
    void task.work().finally(() => {
      this.#current = undefined
      if (this.#queue.length === 0) this.#rest()
      this.#next()
    })
  }

  async #runCell(code: string, options: RunOptions, queuedMs: number, signal: AbortSignal): Promise<RunResult> {
    const cell = ++this.#cell
    const config = this.#config
    const limits = { computeMs: options.computeMs ?? config.computeMs, wallMs: options.wallMs ?? config.wallMs }
    const offered: Namespaces = { tools: options.tools ?? [], ...options.namespaces }
    const namespaces = membersOf(offered)
    // The process starts while the record is written.
    this.#kernel.prepare()
    this.#checkpoints.stop()
    await this.#copying
    await this.#revival.ready()
    await this.#open()
    await this.#journal.write(await beginRecord(this.#records, cell, code, options))
    this.#sources.set(cell, code)
    this.#runningCell = cell
    const run = (): Promise<CellReport> =>
      this.#kernel.run({
        cell,
        source: code,
        echo: options.echo ?? 'return',
        ...limits,
        namespaces,
        call: call => this.#ownCalls.answer(call, { cell, offered, options }),
        signal,
      })
    let report = await run()
    for (let attempt = 1; report.neverBegan && attempt < maxAttempts; attempt++) {
      await this.#revival.ready()
      report = await run()
    }
    if (report.done?.cwd) this.#cwd = report.done.cwd
    if (report.done !== undefined) this.#lastPending = report.done.pending
    const made = resultOf(report, {
      cell,
      source: code,
      config,
      recovery: undefined,
      queuedMs,
      streak: this.#streak,
      isTimeFixed: this.#options.isTimeFixed,
      limits,
    })
    this.#streak = nextStreak(this.#streak, made.error)
    const tip =
      made.error === undefined ? undefined : tipAfter([...tipCellsOf(this.#journal.state), tipCellOf(report, made, code)], config)
    const result = {
      ...made,
      warnings: [...this.#warnings.splice(0), ...made.warnings],
      ...(tip !== undefined && { tip }),
    }
    await this.#writeLates()
    await this.#journal.write(await endRecord(this.#records, report, result, namespaces))
    this.#runningCell = undefined
    const atRisk = result.durability.class === 'effect' && report.loss === undefined ? await this.#secure() : []
    await this.#carryOutActions()
    // Names are back before the answer says that they are as they were.
    if (report.loss !== undefined && !this.#isClosed && this.#config.enabled) await this.#revival.ready()
    const recovery = this.#revival.tell()
    return {
      ...result,
      ...(atRisk.length > 0 && { durability: { ...result.durability, atRisk } }),
      ...(recovery !== undefined && { recovery }),
    }
  }

  async #open(): Promise<void> {
    if (this.#isOpened) return
    this.#isOpened = true
    const { platform } = this.#options
    await this.#journal.write({ k: 'open', cwd: this.#options.cwd, env: platform, language: languageVersion, prelude: [] })
  }

  /** Before a result with effects is given: what cannot be run again is copied. The names that a restart would lose and that were not named yet. */
  async #secure(): Promise<RunResult['durability']['atRisk']> {
    await this.#checkpoints.whole(await this.#paths.current())
    const risks = namesAtRisk(await this.#paths.current(), this.#config.recoverMs)
    const fresh = risks.filter(({ name }) => !this.#risks.has(name))
    this.#risks = new Set(risks.map(({ name }) => name))
    return fresh
  }

  /** Between cells: copies that make a restart independent of running cells again. */
  #rest(): void {
    if (this.#isClosed) return
    if (this.#kernel.worker !== null && !this.#revival.isNeeded) this.#copy()
    this.#calm = setTimeout(() => void this.#tidy(), calmMs)
    this.#calm.unref?.()
    const { idleMs } = this.#config
    if (idleMs === 0) return
    this.#idle = setTimeout(() => void this.rest(), idleMs)
    this.#idle.unref?.()
  }

  #copy(): void {
    const copying = this.#paths
      .current()
      .then(path => (this.#current === undefined ? this.#checkpoints.quick(path) : false))
      .then(isLeft => {
        if (!isLeft || this.#isClosed || this.#current !== undefined) return
        this.#soon = setTimeout(() => {
          if (this.#current === undefined) this.#copying = this.#copyAll()
        }, slowCheckMs)
        this.#soon.unref?.()
      })
      // What could not be copied is run again, or lost and told.
      .catch(() => {})
    this.#copying = copying
  }

  async #copyAll(): Promise<void> {
    try {
      const path = await this.#paths.current()
      // A cell that began meanwhile would be part of a copy that says it is of the time before.
      if (this.#current === undefined) await this.#checkpoints.slow(path)
    } catch {
      // As above.
    }
  }

  async rest(): Promise<boolean> {
    if (this.#current !== undefined) return false
    if (this.#kernel.worker === null) return true
    await this.#copying
    const look = await this.#kernel.look(lookMs)
    if (look === undefined || look.timers > 0 || look.handles > 0 || this.#current !== undefined) return false
    if (namesAtRisk(await this.#paths.current(), this.#config.recoverMs).length > 0) return false
    this.#revival.lost('idle')
    await this.#kernel.end()
    return true
  }

  async #writeLates(): Promise<void> {
    for (const { cell, tape, during } of this.#lates.splice(0)) {
      if (!this.#journal.state.cells.has(cell)) continue
      const { text, uses } = this.#secrets.hide(JSON.stringify(tape))
      await this.#journal.write({
        k: 'late',
        cell,
        tape: (await this.#journal.part(JSON.parse(text) as Json, { isMasked: true })) as unknown as LateTape,
        ...(during !== undefined && { during }),
        ...(uses.length > 0 && { secrets: uses }),
      })
    }
  }

  async #programState(given: { readonly [key: string]: Json }): Promise<CallAnswer> {
    const action = stateAction(given, this.#journal.state)
    if (action.action !== 'list') {
      this.#actions.push(action)
      return { ok: true, value: { accepted: true } }
    }
    const path = await this.#paths.current()
    const risks = namesAtRisk(path, this.#config.recoverMs).map(({ name }) => name)
    const names = [...path.dependencies.bound.keys()].sort()
    return { ok: true, value: { names, mode: risks.length === 0 ? 'durable' : 'volatile', atRisk: risks } }
  }

  async #carryOutActions(): Promise<void> {
    for (const action of this.#actions.splice(0)) {
      try {
        await this.#carryOut(action)
      } catch (error) {
        // An earlier one of the same cell may have removed its name.
        if (!(error instanceof OutriggerError)) throw error
        this.#warnings.push({ code: error.code, message: error.message })
      }
    }
  }

  async #carryOut(action: StateAction): Promise<void> {
    switch (action.action) {
      case 'save':
        await this.#save(action.name)
        return
      case 'delete':
        knownState(this.#journal.state, action.name)
        await this.#journal.write({ k: 'state', action: 'delete', name: action.name, cell: this.head })
        return
      case 'restore':
        await this.#goTo('name' in action ? knownState(this.#journal.state, action.name).cell : action.cell, 'restore')
        return
      case 'reset':
        await this.#goTo(0, 'reset')
        return
      case 'list':
        return
      default:
        action satisfies never
    }
  }

  async #save(name: string): Promise<SavedState> {
    checkStateName(name, this.#journal.state)
    await this.#open()
    if (this.#kernel.worker !== null && !this.#revival.isNeeded) await this.#checkpoints.whole(await this.#paths.current())
    const cell = this.head
    await this.#journal.write({ k: 'state', action: 'save', name, cell })
    return { name, cell, atRisk: namesAtRisk(await this.#paths.current(), this.#config.recoverMs).map(each => each.name) }
  }

  /** Another head; the next worker has its names. */
  async #goTo(cell: number, action: 'restore' | 'reset'): Promise<void> {
    await this.#open()
    await this.#journal.write({ k: 'state', action, cell })
    this.#revival.lost('restore')
    this.#risks.clear()
    this.#lastLook = []
    this.#cwd = this.#startFolder()
    await this.#kernel.restart()
  }

  save(name: string): Promise<SavedState> {
    return this.#enqueue(undefined, () => this.#save(name))
  }

  restore(target: { readonly name: string } | { readonly cell: number }): Promise<RestoredState> {
    return this.#enqueue(undefined, async () => {
      const { state } = this.#journal
      const cell = 'name' in target ? knownState(state, target.name).cell : target.cell
      if (cell !== 0 && state.cells.get(cell)?.end === undefined) throw unknownCell(cell)
      await this.#goTo(cell, 'restore')
      return this.#restored()
    })
  }

  forget(name: string): Promise<void> {
    return this.#enqueue(undefined, () => this.#carryOut({ action: 'delete', name }))
  }

  reset(): Promise<RestoredState> {
    return this.#enqueue(undefined, async () => {
      await this.#goTo(0, 'reset')
      return this.#restored()
    })
  }

  async #restored(): Promise<RestoredState> {
    await this.#revival.ready()
    return { head: this.head, recovery: this.#revival.tell() ?? nothingRecovered('restore') }
  }

  fork(cell: number, to: string): Promise<void> {
    return this.#enqueue(undefined, async () => {
      const { state } = this.#journal
      if (state.cells.get(cell)?.end === undefined) throw unknownCell(cell)
      const { openFork } = this.#options
      if (openFork === undefined)
        throw new OutriggerError('REPL_BAD_REQUEST', 'a fork cannot be made here', { subject: to, hint: 'use the command line' })
      const target = await openFork(to)
      try {
        await forkSession({ from: this.#options.store, session: this.name, state, cell, target })
      } finally {
        target.close()
      }
    })
  }

  prune(): Promise<Pruned> {
    return this.#enqueue(undefined, async () => {
      const { state } = this.#journal
      this.#journal.forget(replacedCopies({ state, ...this.#room() }).keys())
      return pruneSession({ store: this.#options.store, session: this.name, state, ...this.#room() })
    })
  }

  #room(): { readonly keep: number; readonly maxBytes: number } {
    const { keepCheckpoints, checkpointSessionMb } = this.#config
    return { keep: keepCheckpoints, maxBytes: checkpointSessionMb * 1024 * 1024 }
  }

  /** Removes copies that newer ones have replaced, when that is worth the while. */
  async #tidy(): Promise<void> {
    if (this.#isClosed || this.#current !== undefined) return
    const replaced = replacedCopies({ state: this.#journal.state, ...this.#room() })
    let bytes = 0
    for (const [hash, size] of replaced) if (!this.#pruned.has(hash)) bytes += size
    if (bytes < tidyBytes) return
    for (const hash of replaced.keys()) this.#pruned.add(hash)
    await this.prune().catch(() => undefined)
  }

  async confirm(cell: number, how: 'confirmed' | 'altered', note?: string): Promise<void> {
    const { cells, owed } = this.#journal.state
    if (!cells.has(cell)) throw unknownCell(cell)
    // A cell is committed without it: only what the answer told, or became, is worth a record.
    if (how === 'confirmed' && owed?.carrier !== cell) return
    await this.#journal.write({ k: 'confirm', cell, how, ...(note !== undefined && { note: this.#secrets.mask(note) }) })
  }

  async edit(input: EditInput, options: RunOptions = {}): Promise<EditResult> {
    const { findMatches } = this.#options
    return editCell(input, {
      newest: this.#cell === 0 ? undefined : this.#cell,
      exists: cell => this.#journal.state.cells.has(cell),
      source: cell => this.source(cell),
      findMatches,
      parse: source => this.#kernel.parse(source),
      run: (code, edit) => this.run(code, { ...options, origin: 'edit', edit }),
    })
  }

  async source(cell: number): Promise<string | undefined> {
    const own = this.#sources.get(cell)
    if (own !== undefined) return own
    const known = this.#journal.state.cells.get(cell)
    if (known === undefined) return undefined
    return (await sourceOf(known, this.#journal, this.#secrets)) ?? this.#journal.load(known.begin.source)
  }

  history(query: HistoryQuery = {}): Promise<History> {
    return historyOf(this.#journal.state, query, this.#runningCell, cell => this.source(cell))
  }

  async state(): Promise<SessionState> {
    // What a restart would do depends on the copies; where time stands still the same is said each time.
    if (this.#options.isTimeFixed) await this.#copying
    const look = this.#kernel.isRunning ? undefined : await this.#kernel.look(lookMs)
    if (look !== undefined && !this.#revival.isNeeded) {
      this.#lastLook = look.bindings
      this.#lastPending = { timers: look.timers, handles: look.handles }
    }
    const worker = this.#kernel.worker
    return stateOf({
      path: await this.#paths.current(),
      state: this.#journal.state,
      recoverMs: this.#config.recoverMs,
      seen: this.#lastLook,
      cwd: look?.cwd ?? this.#cwd,
      pending: worker === null ? { timers: 0, handles: 0 } : this.#lastPending,
      worker: worker === null || !this.#options.isTimeFixed ? worker : { pid: 0, rssMb: 0 },
    })
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
    const end = this.#journal.state.cells.get(cell)?.end
    if (end === undefined) throw unknownCell(cell)
    const logs = (await this.#journal.load(end.logs as never)) as readonly LogEntry[] | undefined
    const text = (logs ?? []).map(entry => entry.text).join('\n')
    return { text: text.slice(offset, offset + limit), total: text.length, omittedBytes: end.logsOmittedBytes ?? 0 }
  }

  async restart(): Promise<Recovery> {
    this.#revival.lost('restart')
    await this.#kernel.restart()
    // A cell that ran ends first; what is recovered is what was before it.
    while (this.#runningCell !== undefined) await new Promise(resolve => setTimeout(resolve, 5))
    return this.#enqueue(undefined, async () => {
      await this.#revival.ready()
      return this.#revival.tell() ?? nothingRecovered('restart')
    })
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
    this.#revival.lost('restart')
    void this.#kernel.end()
  }

  isGone(): boolean {
    return this.#journal.isGone()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#idle)
    clearTimeout(this.#soon)
    clearTimeout(this.#calm)
    this.#cancelAll()
    await this.#copying
    await this.#kernel.end()
    while (this.#current !== undefined) await new Promise(resolve => setTimeout(resolve, 5))
    await this.#journal.close()
  }

  #cancelAll(): void {
    for (const task of [this.#current, ...this.#queue]) task?.cancel?.abort()
  }

  #kernelOptions(isOwn: boolean): KernelOptions {
    const { workers, env, legacyDecorators, fixed } = this.#options
    return {
      workers,
      randomHex: digits =>
        randomBytes(Math.ceil(digits / 2))
          .toString('hex')
          .slice(0, digits),
      start: () => ({
        cwd: isOwn ? this.#folder() : this.#cwd,
        env: workerEnvironment(env, this.#config),
        heapMb: this.#config.heapMb,
        decorators: this.#config.decorators === 'auto' ? (legacyDecorators ? 'legacy' : 'standard') : this.#config.decorators,
        jsx: this.#config.jsx,
        recording: {
          record: this.#config.record,
          secrets: this.#secrets.values,
          ...(fixed?.now !== undefined && { fixedNow: fixed.now }),
          ...(fixed?.seed !== undefined && { fixedSeed: fixed.seed }),
        },
      }),
      limits: () => ({ rssMb: this.#config.rssMb, outputBytes: this.#config.outputBytes }),
      ...(isOwn && {
        onLost: (why: WorkerLoss) => this.#lost(why),
        onLate: (cell: number, tape: LateTape, during: number | undefined) => void this.#lates.push({ cell, tape, during }),
      }),
    }
  }

  /** Where the head left the process; the session's own folder at the start. */
  #startFolder(): string {
    const end = this.#journal.state.cells.get(this.#journal.state.head)?.end
    const left = end?.cwd
    if (left === undefined || this.#options.cwd !== this.#journal.state.opened?.cwd) return this.#options.cwd
    return left
  }

  /** For a new worker: the folder must be there. */
  #folder(): string {
    const { isFolder, cwd } = this.#options
    if (isFolder === undefined || this.#cwd === cwd || isFolder(this.#cwd)) return this.#cwd
    const message = `The directory ${this.#cwd} is gone; cells run in ${cwd}.`
    this.#warnings.push({ code: 'OUT-R007', message })
    this.#cwd = cwd
    return cwd
  }

  #lost(why: WorkerLoss): void {
    this.#lastLook = []
    this.#checkpoints.forget()
    if (this.#isClosed) return
    const reasons: Readonly<Record<WorkerLoss['cause'], RecoveryReason>> = {
      exit: 'worker-exit',
      malformed: 'worker-exit',
      memory: 'memory',
      timeout: 'timeout',
      restart: 'restart',
    }
    this.#revival.lost(reasons[why.cause])
  }
}

function nothingRecovered(reason: RecoveryReason): Recovery {
  return { reason, counts: { exact: 0, replayed: 0, snapshot: 0, lost: 0 }, bindings: [], timersDropped: 0, ms: 0 }
}

function unknownCell(cell: number): OutriggerError {
  return new OutriggerError('REPL_UNKNOWN_CELL', `there is no cell ${cell} that has ended`, {
    subject: String(cell),
    hint: 'history lists the cells',
  })
}
