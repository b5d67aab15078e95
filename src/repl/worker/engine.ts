/**
 * The engine's half of the worker, in a context of its own: what cells patch is not what runs here. Values of cells are foreign objects; they are looked
 * at, never called, except where calling is what the cell asked for.
 */
import { compile } from '../compile/compile.ts'
import { createBindings } from './bindings.ts'
import { createCalls } from './calls.ts'
import type { Captured } from './captured.ts'
import { openChannel } from './channel.ts'
import { createCheckpoints } from './checkpoints.ts'
import type { CellContext } from './context.ts'
import { createModuleExports } from './module-exports.ts'
import { createModules, isOfProject } from './modules.ts'
import { captureOutput } from './output.ts'
import { createPlatform } from './platform.ts'
import { type BootMessage, encodeFrame, FrameReader, type ToWorker } from './protocol.ts'
import { createRecorder } from './recording/recorder.ts'
import { createReferences } from './references.ts'
import { createRestoring } from './restoring.ts'
import { createRunner, type Runner } from './runner.ts'
import { createSourceLiterals } from './source-literals.ts'
import { createValues } from './values.ts'

declare const captured: Captured

/** Resources that the worker itself holds. */
const ownResources = new Set(['PipeWrap', 'TTYWrap'])
const timers = new Set(['Timeout', 'Immediate'])

export function start(context: object): void {
  let boot: BootMessage = { t: 'boot', outputBytes: 1024 * 1024, decorators: 'standard', jsx: 'off' }
  let runner: Runner | undefined
  const end = (): never => {
    if (boot.temporaryFolder !== undefined) captured.removeFolder(boot.temporaryFolder)
    return captured.endGroup()
  }
  const channel = openChannel(take, end)
  /** The cell whose code runs now, as the platform follows it through timers and promises. */
  const current = (): CellContext | undefined => captured.context() as CellContext | undefined
  const owner = (): CellContext | undefined => current() ?? runner?.latest()

  const recorder = createRecorder({
    boot: () => boot,
    owner,
    running: () => runner?.running(),
    onEffect: (cell, kind, subject) => channel.send({ t: 'effect', cell, kind, ...(subject !== undefined && { subject }) }),
    onDivergence: cell => runner?.diverged(cell),
  })
  captureOutput(channel, () => boot.outputBytes, owner)
  const platform = createPlatform([[recorder.variables, ['process', 'env']]], recorder.prepare, name =>
    recorder.compiled(new Map([[name, undefined]])),
  )
  const modules = createModules({
    asked: specifier => {
      recorder.prepare(specifier)
      platform.asked(specifier)
    },
    loaded: url => {
      recorder.compiled(undefined)
      if (url.startsWith('file:')) moduleLoads(url)
      if (isOfProject(url)) recorder.loaded(captured.filePathOf(url))
    },
  })
  const exports = createModuleExports()
  /** Loaded while a cell runs, and evaluated by the next turn of the event loop. */
  function moduleLoads(url: string): void {
    exports.loading(url, recorder.effects)
    captured.setImmediate(() => {
      if (!runner!.isLinking()) exports.settle(recorder.effects)
    })
  }
  const literals = createSourceLiterals(program => runner!.names.helpers(program))
  const references = createReferences(literals, exports, platform)
  const unattended = recorder.guard()
  const calls = createCalls(channel, owner, unattended)
  const values = createValues(references)
  const { realm, host } = values
  const noSecrets: readonly string[] = []
  const bindings = createBindings({
    names: () => runner!.names,
    literals,
    modules: exports,
    realm,
    host,
    secrets: () => boot.secrets ?? noSecrets,
  })
  const made = new Map<number, Map<string, object>>()
  runner = createRunner({
    channel,
    calls,
    modules,
    recorder,
    values,
    bindings,
    literals,
    exports,
    made,
    boot: () => boot,
    context,
    pending,
  })
  const { names } = runner
  const unread: Parameters<typeof createRestoring>[0]['unread'] = new Map()
  const checkpoints = createCheckpoints({
    channel,
    names,
    bindings,
    references,
    realm,
    host,
    unread,
    isRunning: runner.isRunning,
    isAlone: () => {
      const { timers, handles } = pending()
      return timers === 0 && handles === 0
    },
    settle: values.settle,
    prepare: () => exports.learn(modules),
  })
  const outside: CellContext = { cell: 0, printedUnits: 0, ended: true, refusedExit: undefined, recording: unattended }
  const restoring = createRestoring({
    names,
    bindings,
    literals,
    exports,
    platform,
    modules,
    realm,
    made,
    unread,
    compile: runner.compile,
    guarded: run => captured.runWith(outside, run),
    settled: (promise, as, value) => values.know(promise, { as, value }),
  })
  defineForCells(modules.require)
  guard()

  function take(message: ToWorker, bytes?: Uint8Array): void {
    switch (message.t) {
      case 'boot': {
        boot = message
        const { node, v8, icu } = captured.versions
        channel.send({ t: 'ready', pid: captured.pid, node, v8, icu })
        return
      }
      case 'run':
        checkpoints.stop()
        runner!.run(message)
        return
      case 'settle':
        calls.settle(message)
        return
      case 'abandon':
        runner!.abandon(message.cell)
        return
      case 'ping':
        channel.send({ t: 'pong', n: message.n, activeMs: runner!.activeMs(), residentMb: captured.residentMb() })
        return
      case 'look': {
        channel.send({
          t: 'look',
          n: message.n,
          bindings: runner!.look(),
          ...pending(),
          cwd: captured.cwd(),
        })
        return
      }
      case 'parse':
        runner!.parse(message.source).then(
          rejection => channel.send({ t: 'parsed', n: message.n, ...(rejection !== undefined && { rejection }) }),
          // A fault of ours; the parent must not wait for an answer.
          end,
        )
        return
      case 'end':
        end()
        return
      case 'check':
        tellLate()
        checkpoints.check(message).catch(end)
        return
      case 'hurry':
        checkpoints.stop()
        return
      case 'blob':
        if (bytes !== undefined) restoring.give(message.hash, bytes)
        return
      case 'restore':
        restoring.restore(message).then(names => channel.send({ t: 'restored', n: message.n, names }), end)
        return
      case 'replayLate':
        recorder.replayLate(message.late, diverged => channel.send({ t: 'lateReplayed', n: message.n, diverged }))
        return
      case 'recovered':
        channel.send({ t: 'settled', n: message.n, ...recorder.live() })
        return
      case 'verify': {
        const changed = message.stamps.flatMap((stamp, index) => (recorder.holds(stamp) ? [] : [index]))
        channel.send({ t: 'verified', n: message.n, changed })
        return
      }
      case 'move':
        channel.send({ t: 'moved', n: message.n, ok: move(message.cwd) })
        return
      default:
        message satisfies never
    }
  }

  function tellLate(): void {
    for (const late of recorder.late()) channel.send({ t: 'late', ...late })
  }

  /** `process.exit` and the like throw; what fails outside of a cell's flow is told and harms nobody. */
  function guard(): void {
    captured.guardProcess(what => {
      const error = captured.realm.makeError(
        'Error',
        `${what} is refused: it would end the REPL and all its names. Use return to leave the cell.`,
        { code: 'OUT-X002' },
      )
      const context = owner()
      if (context !== undefined && !context.ended) context.refusedExit ??= runner!.describe(error, context.cell)
      throw error
    })
    const tell = (code: 'OUT-W101' | 'OUT-W102', thrown: unknown): void => {
      const context = owner()
      if (context?.recording.isReplay) return
      const cell = context?.cell ?? 0
      channel.send({ t: 'problem', code, cell, failure: runner!.describe(thrown, cell) })
    }
    captured.onProblem(
      error => tell('OUT-W101', error),
      reason => {
        if (!calls.isExpiry(reason)) tell('OUT-W102', reason)
      },
    )
  }
}

function move(path: string): boolean {
  try {
    captured.changeDirectory(path)
    return true
  } catch {
    return false
  }
}

/** What is left alive beside what the worker itself holds. */
function pending(): { readonly timers: number; readonly handles: number } {
  let timed = 0
  let handles = 0
  // An array of the cells' realm, which may not be iterable any more.
  const resources = captured.activeResources()
  for (let i = 0; i < resources.length; i++) {
    const each = resources[i]!
    if (timers.has(each)) timed++
    else if (!ownResources.has(each)) handles++
  }
  return { timers: timed, handles }
}

/** Runs what the first cell will need, so that its compiled form can be kept. */
export function warm(): void {
  const request = {
    cell: 1,
    known: new Map(),
    namespaces: new Set<string>(),
    platformNames: new Set<string>(),
    echo: 'return',
    decorators: 'standard',
    jsx: 'off',
  } as const
  const sources = [
    'const a: number = await b(1); return { a, x: [1, 2].map(y => y + 1) }',
    'import { c } from "node:path"; function f() { return c } class D extends E { v = 1 } let { g, h } = f()',
  ]
  for (const source of sources) void compile({ ...request, source })
  const encoded = createValues({ find: () => undefined }).send({ a: [1, 'two', new Map()] }, false)
  new FrameReader().push(encodeFrame(1, new Uint8Array(16), encoded.bytes)).next()
}

/** What a script of the platform has; not enumerable, so that no cell has made it. */
function defineForCells(require: unknown): void {
  const { realm } = captured
  const define = (name: string, descriptor: PropertyDescriptor): void => {
    Object.defineProperty(captured.global, name, { configurable: true, enumerable: false, ...descriptor })
  }
  define('require', { value: require, writable: true })
  define('__dirname', { get: realm.makeFunction('__dirname', () => captured.cwd()) as () => unknown })
  define('__filename', {
    get: realm.makeFunction('__filename', () => captured.joinPath(captured.cwd(), 'cell.ts')) as () => unknown,
  })
}
