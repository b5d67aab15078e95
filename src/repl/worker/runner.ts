/** Runs one cell at a time: compile, link, run, and say how it ended. */
import { compile } from '../compile/compile.ts'
import { rejectSyntaxError } from '../compile/diagnose.ts'
import { mapStack } from '../compile/frames.ts'
import { linkSource } from '../compile/link.ts'
import { platformNamesOf } from '../compile/names.ts'
import type { CompileRequest, Program, Rejection } from '../compile/program.ts'
import type { SessionNames } from '../compile/runtime.ts'
import { createSessionNames } from '../compile/session-names.ts'
import { type Bindings, noteDeclared } from './bindings.ts'
import type { Calls } from './calls.ts'
import type { Captured } from './captured.ts'
import type { Channel } from './channel.ts'
import type { CellContext } from './context.ts'
import { describeFailure, type FailureReader } from './failure.ts'
import type { ModuleExports } from './module-exports.ts'
import { isOfProject, type Linked, type Modules } from './modules.ts'
import {
  type BootMessage,
  type DoneMessage,
  type Failure,
  fenceText,
  type NameReport,
  type RunMessage,
  type SeenBinding,
} from './protocol.ts'
import type { Recorder } from './recording/recorder.ts'
import type { SourceLiterals } from './source-literals.ts'
import type { SentValue, Values } from './values.ts'

declare const captured: Captured

/** Programs whose positions are kept: a frame of an older cell is not shown. */
const keptPrograms = 500

export interface Runner {
  run(message: RunMessage): void
  abandon(cell: number): void
  look(): readonly SeenBinding[]
  /** Why the source would be rejected; nothing runs. */
  parse(source: string): Promise<DoneMessage['rejection']>
  /** Describes what was thrown; `position` is the place in that cell. */
  describe(thrown: unknown, cell: number): Failure
  isRunning(): boolean
  /** ms that the running cell has computed; 0 when none runs. */
  activeMs(): number
  /** The cell that runs now, or ran last. */
  latest(): CellContext | undefined
  running(): CellContext | undefined
  /** The replay of that cell has gone another way: it is over. */
  diverged(cell: number): void
  readonly names: SessionNames
  /** Imports of a cell are being loaded. */
  isLinking(): boolean
  /** The program of an older cell; nothing of it runs. */
  compile(request: Pick<CompileRequest, 'cell' | 'source' | 'known'>): Promise<Program | undefined>
}

interface Active {
  readonly context: CellContext
  readonly began: number
  compileMs: number
  program: Program | undefined
  phase: DoneMessage['phase']
  isOver: boolean
}

interface Ending {
  readonly outcome: DoneMessage['outcome']
  readonly failure?: Failure
  readonly rejection?: DoneMessage['rejection']
  readonly value?: { readonly of: unknown; readonly echoed: boolean }
}

export interface RunnerParts {
  readonly channel: Channel
  readonly calls: Calls
  readonly modules: Modules
  readonly recorder: Recorder
  readonly values: Values
  readonly bindings: Bindings
  readonly literals: SourceLiterals
  readonly exports: ModuleExports
  /** Functions and classes that were made again, by the cell that declared them and by name. */
  readonly made: ReadonlyMap<number, ReadonlyMap<string, object>>
  readonly boot: () => BootMessage
  /** The engine's own global object; a script in this context calls `startCell`. */
  readonly context: object
  readonly pending: () => DoneMessage['pending']
}

export function createRunner(parts: RunnerParts): Runner {
  const { channel, calls, modules, recorder, values, bindings, literals, exports, boot, context: engineGlobal, pending } = parts
  const { realm, Script } = captured
  const platformNames = platformNamesOf(captured.global)
  for (const name of captured.pristineNames) platformNames.add(name)
  const names = createSessionNames({ global: captured.global, platformNames, meta, whyLost: bindings.whyLost })
  const programs = new Map<number, Program>()
  const { runInContext, runInThisContext } = Script.prototype
  // Only what runs inside a script that was started this way can be broken off by a signal.
  const starter = new Script('startCell()', { filename: 'outrigger:start' })
  const interruptible = { breakOnSigint: true, displayErrors: false }
  let active: Active | undefined
  let latest: CellContext | undefined
  let metaOf: { readonly folder: string; readonly made: object } | undefined

  const readerFor = (cell: number): FailureReader => ({
    mapStack: stack => mapStack(stack, number => programs.get(number), cell),
    preview: values.preview,
  })
  const describe = (thrown: unknown, cell: number): Failure => {
    const failure = describeFailure(thrown, readerFor(cell))
    if (failure.name !== 'ReferenceError' || failure.code !== undefined || bindings.lost.size === 0) return failure
    // Read by code that was compiled before it was gone.
    const name = /^(\S+) is not defined$/.exec(failure.message)?.[1]
    const message = name === undefined ? undefined : bindings.whyLost(name)
    return message === undefined ? failure : { ...failure, code: 'OUT-R003', message }
  }

  async function run(message: RunMessage): Promise<void> {
    const { cell, replay } = message
    for (const late of recorder.late()) channel.send({ t: 'late', ...late })
    const recording = replay === undefined ? recorder.begin(cell) : recorder.again(cell, replay)
    const context: CellContext = { cell, printedUnits: 0, ended: false, refusedExit: undefined, recording }
    const now: Active = { context, began: captured.activeMs(), compileMs: 0, program: undefined, phase: 'parse', isOver: false }
    active = now
    latest = context
    if (replay === undefined) for (const gone of bindings.lost.values()) gone.before ??= cell
    channel.send({ t: 'started', cell: message.cell })
    calls.offer(message.namespaces)
    try {
      const began = captured.now()
      const compiled = compile(requestOf(message))
      const result = 'then' in compiled ? await compiled : compiled
      if (result.kind === 'rejected') return finish(now, { outcome: 'rejected', rejection: result })
      const program = result
      now.program = program
      keep(program)
      literals.learn(program)
      recorder.compiled(program.dynamic ? undefined : program.occurrences)
      names.prepare(program, replay === undefined ? undefined : parts.made.get(cell))
      now.phase = 'link'
      if (program.imports.length > 0 && !(await link(program, now))) return
      if (now.isOver) return
      const script = scriptOf(program)
      if ('rejection' in script) return finish(now, { outcome: 'rejected', rejection: script.rejection })
      const body = Reflect.apply(runInThisContext, script, [{ displayErrors: false }]) as (helpers: unknown) => unknown
      now.compileMs = captured.now() - began
      now.phase = 'run'
      start(now, body, names.helpers(program))
    } catch (error) {
      finish(now, { outcome: now.phase === 'run' ? 'threw' : 'rejected', failure: describe(error, message.cell) })
    }
  }

  /** V8 refuses some that the parser accepts, such as a regular expression. */
  function scriptOf(program: Program): InstanceType<typeof Script> | { readonly rejection: Rejection } {
    try {
      return new Script(program.code, {
        filename: program.fileName,
        columnOffset: program.columnOffset,
        importModuleDynamically: captured.mainLoader as never,
      })
    } catch (error) {
      const { name, message } = describe(error, program.cell)
      if (name === 'RangeError') return { rejection: rejectSyntaxError(program, { message: 'The code is nested too deeply.' }) }
      if (name !== 'SyntaxError') throw error
      // The platform puts the place before the stack.
      const stack = realm.readStack(error as object)
      return { rejection: rejectSyntaxError(program, { message, ...(typeof stack === 'string' && { stack }) }) }
    }
  }

  function requestOf({ cell, source, echo }: RunMessage): CompileRequest {
    const { decorators, jsx } = boot()
    const lost = bindings.lost.size === 0 ? undefined : new Set(bindings.lost.keys())
    return {
      cell,
      source,
      known: names.kinds,
      namespaces: calls.reserved,
      platformNames,
      echo,
      decorators,
      jsx,
      ...(lost !== undefined && { lost }),
    }
  }

  function keep(program: Program): void {
    programs.set(program.cell, program)
    const oldest = programs.keys().next()
    if (programs.size > keptPrograms && !oldest.done) programs.delete(oldest.value)
  }

  async function link(program: Program, now: Active): Promise<boolean> {
    const loaded: [Program['imports'][number], Linked][] = []
    for (const wanted of program.imports) {
      try {
        const missing = new Set<number>()
        for (;;) {
          try {
            const linked = await captured.runWith(now.context, () => modules.link(linkSource(wanted, wanted.specifier, missing)))
            loaded.push([wanted, linked])
            break
          } catch (error) {
            if (!leaveOut(wanted, error, missing)) throw error
          }
        }
      } catch (error) {
        const { position: _, ...failure } = describe(error, program.cell)
        finish(now, {
          outcome: 'rejected',
          failure: { ...failure, code: failure.code ?? 'OUT-C004', position: program.positions.locate(wanted.start) },
        })
        return false
      }
      if (now.isOver) return false
    }
    exports.settle(recorder.effects)
    for (const [wanted, { namespace, url }] of loaded) {
      if (isOfProject(url)) recorder.loaded(captured.filePathOf(url))
      for (const [index, binding] of wanted.bindings.entries()) {
        const key = `b${index}`
        if (!(key in namespace)) continue
        names.bindImport(binding, () => namespace[key])
        bindings.imports.set(binding.local, { url, export: binding.imported })
      }
    }
    return true
  }

  /** A name that is used in types only and that the module lacks is left out. */
  function leaveOut(wanted: Program['imports'][number], error: unknown, missing: Set<number>): boolean {
    const index = wanted.bindings.findIndex(
      ({ imported, optional }, at) => optional && !missing.has(at) && isMissing(describe(error, 0).message, imported),
    )
    if (index < 0) return false
    missing.add(index)
    return true
  }

  function start(now: Active, body: (helpers: unknown) => unknown, helpers: unknown): void {
    const { context } = now
    const end = (ending: () => Ending): void => {
      // Rejections that nobody handles are known when the queue of microtasks has drained.
      captured.setImmediate(() => {
        const how = ending()
        const close = (): void => {
          if (how.value === undefined) finish(now, how)
          else values.settle(how.value.of, () => finish(now, how))
        }
        if (context.recording.isReplay) context.recording.whenDelivered(close)
        else close()
      })
    }
    const ok = (value: unknown): void => end(() => ({ outcome: 'ok', ...valueFor(value) }))
    const fail = (thrown: unknown): void => end(() => ({ outcome: 'threw', failure: describe(thrown, context.cell) }))
    let hasBegun = false
    const begin = (): void => {
      hasBegun = true
      captured.runWith(context, () => realm.execute(body, helpers, ok, fail))
    }
    ;(engineGlobal as { startCell?: () => void }).startCell = begin
    try {
      Reflect.apply(runInContext, starter, [engineGlobal, interruptible])
    } catch (error) {
      if (captured.realm.isInterruption(error)) finish(now, { outcome: 'interrupted' })
      // The platform takes off and puts back the listeners of the signal; a cell may have broken that. Such a cell can only be killed.
      else if (!hasBegun) begin()
    }
  }

  function valueFor(value: unknown): Pick<Ending, 'value'> {
    const echo = names.takeEcho()
    if (value !== undefined) return { value: { of: value, echoed: false } }
    return echo === undefined || echo.value === undefined ? {} : { value: { of: echo.value, echoed: true } }
  }

  function finish(now: Active, ending: Ending): void {
    if (now.isOver) return
    now.isOver = true
    active = undefined
    const { context, program } = now
    const { recording } = context
    if ((ending.outcome === 'interrupted' || ending.outcome === 'abandoned') && !recording.isReplay)
      recording.effect('interrupted')
    calls.endLease(context)
    if (context.refusedExit !== undefined && ending.failure?.code !== 'OUT-X002' && !recording.isReplay) {
      channel.send({ t: 'problem', code: 'OUT-X002', cell: context.cell, failure: context.refusedExit })
    }
    const changes = program === undefined ? { added: [], changed: [], removed: [] } : names.finish()
    if (program !== undefined) noteDeclared(program, names, literals)
    for (const name of changes.added) bindings.lost.delete(name)
    const report = (changed: readonly string[]): NameReport[] => changed.map(name => reportOf(name, program))
    const reports = { added: report(changes.added), changed: report(changes.changed), removed: changes.removed }
    const { value, failure } = valueSent(ending, context.cell)
    const { tape, stamps, effects } = recording.take()
    const { divergence } = recording
    for (const late of recorder.late()) channel.send({ t: 'late', ...late, during: context.cell })
    const fences = { stdout: fence(1, context.cell), stderr: fence(2, context.cell) }
    channel.send(
      {
        t: 'done',
        cell: context.cell,
        outcome: ending.outcome,
        phase: now.phase,
        ...(ending.rejection !== undefined && { rejection: ending.rejection }),
        ...(failure !== undefined && { failure }),
        ...(value !== undefined && { value: value.about }),
        names: reports,
        touch: program?.touch ?? [],
        dynamic: program?.dynamic ?? false,
        world: program?.world ?? false,
        unfixed: program === undefined ? [] : bindings.unfixed(program.dynamic ? undefined : program.touch),
        ...(tape !== undefined && { tape }),
        stamps,
        effects,
        ...(divergence !== undefined && { divergence }),
        pending: pending(),
        rewrites: program?.rewrites ?? [],
        fences,
        cwd: directory(),
        compileMs: now.compileMs,
        computeMs: captured.activeMs() - now.began,
      },
      value?.bytes,
    )
  }

  function valueSent(ending: Ending, cell: number): { readonly value?: SentValue; readonly failure?: Failure } {
    if (ending.value === undefined) return ending.failure === undefined ? {} : { failure: ending.failure }
    try {
      return { value: values.send(ending.value.of, ending.value.echoed) }
    } catch (error) {
      // The cell did its work; only what it returned cannot be shown.
      return { value: values.send(`[cannot be shown: ${describe(error, cell).message}]`, ending.value.echoed) }
    }
  }

  function reportOf(name: string, program: Program | undefined): NameReport {
    const kind = names.kinds.get(name) ?? 'implicit'
    const declared = program?.declared.findLast(each => each.name === name)
    const entry = bindings.entryOf(name, kind)
    const { start, end } = declared ?? {}
    return {
      name,
      kind,
      ...(start !== undefined && { start }),
      ...(end !== undefined && { end }),
      ...(entry !== undefined && { entry }),
    }
  }

  function fence(descriptor: 1 | 2, cell: number): boolean {
    try {
      captured.writeAll(descriptor, new TextEncoder().encode(fenceText(channel.nonce(), cell)))
      return true
    } catch {
      // A cell closed the descriptor.
      return false
    }
  }

  /** `import.meta` of cells, made again when the directory is another. */
  function meta(): object {
    const folder = directory()
    if (metaOf?.folder === folder) return metaOf.made
    const made = realm.makeNamespace([
      ['dirname', folder],
      ['filename', captured.joinPath(folder, 'cell.ts')],
      ['url', captured.folderUrl(folder)],
      ['resolve', realm.makeFunction('resolve', given => captured.resolveFrom(folder, given[0] as string))],
    ])
    metaOf = { folder, made }
    return made
  }

  return {
    names,
    isLinking: () => active?.phase === 'link',
    compile: async ({ cell, source, known }) => {
      const { decorators, jsx } = boot()
      const request: CompileRequest = {
        cell,
        source,
        known,
        namespaces: new Set(),
        platformNames,
        echo: 'return',
        decorators,
        jsx,
      }
      const compiled = await compile(request)
      if (compiled.kind === 'rejected') return undefined
      keep(compiled)
      return compiled
    },
    diverged: cell => {
      if (active?.context.cell === cell) finish(active, { outcome: 'abandoned' })
    },
    run: message => void run(message),
    abandon: cell => {
      if (active?.context.cell === cell) finish(active, { outcome: 'abandoned' })
    },
    look: () => [...names.kinds].map(([name, kind]) => ({ name, kind, ...values.look(names.read(name)?.value) })),
    parse: async source => {
      const compiled = await compile(requestOf({ t: 'run', cell: 0, source, echo: 'return' }))
      return compiled.kind === 'rejected' ? compiled : undefined
    },
    describe,
    isRunning: () => active !== undefined,
    activeMs: () => (active === undefined ? 0 : captured.activeMs() - active.began),
    latest: () => latest,
    running: () => active?.context,
  }
}

function directory(): string {
  try {
    return captured.cwd()
  } catch {
    // Removed under us.
    return ''
  }
}

function isMissing(message: string, name: string): boolean {
  return message.includes('does not provide an export named') && message.includes(`'${name}'`)
}
