/** Everything ambient that cells can reach, replaced; and the recording of each cell. Modules are seen to when a cell first asks for them. */
import type { Captured } from '../captured.ts'
import type { CellContext } from '../context.ts'
import type { BootMessage, RunMessage } from '../protocol.ts'
import type { LateTape, Meanwhile, Stamp } from '../tape.ts'
import { Ambient } from './ambient.ts'
import { installClocks, installFacts, installProcessFacts, type StillClock } from './clocks.ts'
import { Deliveries } from './deliveries.ts'
import { effectModules, installEffects, installLateGlobals, lateGlobals } from './effects.ts'
import { installFiles } from './files.ts'
import { installCrypto, installRandomNumbers } from './randomness.ts'
import { Recording, type RecordingHost } from './recording.ts'
import { holds, takeStamp } from './stamps.ts'
import { installTimers } from './timers.ts'
import { installVariables } from './variables.ts'

declare const captured: Captured

type Properties = Record<string, unknown>

export interface Recorder {
  begin(cell: number): Recording
  /** Run it as it ran before. */
  again(cell: number, replay: NonNullable<RunMessage['replay']>): Recording
  /** For what is loaded without a cell: nothing is kept, and what touches the outside throws. */
  guard(): Recording
  recordingOf(cell: number): Recording | undefined
  /** A cell asks for a module of the platform. */
  prepare(specifier: string): void
  /** Code was compiled that has these free names; `undefined`: code that may have any. */
  compiled(names: ReadonlyMap<string, unknown> | undefined): void
  /** A file of the project was loaded, or is named by an import. */
  loaded(path: string): void
  /** What ended cells did since it was asked last. */
  late(): readonly { readonly cell: number; readonly tape: LateTape }[]
  /** What ended cells did between two others, in one order. `done` is told which of them went another way. */
  replayLate(late: readonly Meanwhile[], done: (diverged: readonly number[]) => void): void
  /** Replay is over. */
  live(): { readonly timersDropped: number; readonly diverged: readonly number[] }
  holds(stamp: Stamp): boolean
  /** The object that cells have as `process.env`. */
  readonly variables: object
  /** What lasts of a module's effects: how many there were so far, of whatever cell. */
  readonly effects: number
}

export interface RecorderOptions {
  readonly boot: () => BootMessage
  /** The cell whose code runs. */
  readonly owner: () => CellContext | undefined
  /** The cell that has not ended. */
  readonly running: () => CellContext | undefined
  onEffect(cell: number, kind: string, subject: string | undefined): void
  onDivergence(cell: number): void
}

/** Recordings of ended cells that are kept: what an older one still does is of no cell. */
const kept = 1_000

export function createRecorder(options: RecorderOptions): Recorder {
  const { boot } = options
  const recordings = new Map<number, Recording>()
  const guards: Recording[] = []
  let hasLateGlobals = false
  const late = new Set<Recording>()
  let effects = 0
  const startedAt = captured.now()
  let moment = 0
  let stillClock: StillClock | undefined
  const still = (): StillClock | undefined => {
    const { fixedNow } = boot()
    if (fixedNow === undefined) return undefined
    return (stillClock ??= { now: fixedNow, start: fixedNow })
  }
  const host: RecordingHost = {
    get records() {
      return boot().record !== false
    },
    later: captured.setImmediate,
    now: captured.now,
    randomSeed: cell => {
      const { fixedSeed } = boot()
      return fixedSeed === undefined ? captured.randomHex(32) : captured.sha256(`${fixedSeed} ${cell}`).slice(0, 32)
    },
    onEffect: (cell, kind, subject) => {
      effects++
      options.onEffect(cell, kind, subject)
    },
    onDivergence: options.onDivergence,
    onLate: recording => late.add(recording),
    moment: () => {
      moment = Math.max(moment + 1, Math.round((captured.now() - startedAt) * 1_000))
      return moment
    },
    onDelivery: recording => {
      const running = options.running()?.recording
      if (running !== undefined && running !== recording && recording.cell !== 0) running.delivered('l', recording.cell)
    },
    makeError: message => captured.realm.makeError('Error', message, { code: 'OUT-R005' }),
  }
  const ambient = new Ambient(() => options.owner()?.recording)
  let draws = 0
  /** Bytes of the real source, or of the seed. */
  const draw = (count: number): Uint8Array => {
    const { fixedSeed } = boot()
    if (fixedSeed === undefined) return captured.randomBytes(count)
    let hex = ''
    while (hex.length < count * 2) hex += captured.sha256(`${fixedSeed} bytes ${draws++}`)
    return Uint8Array.from({ length: count }, (_, i) => Number.parseInt(hex.slice(i * 2, i * 2 + 2), 16))
  }

  const global = captured.global as Properties
  const install: Record<string, (module: Properties) => void> = {
    fs: module => installFiles(ambient, module),
    'fs/promises': () => prepare('fs'),
    'dns/promises': () => prepare('dns'),
    crypto: module => installCrypto(ambient, module, draw),
    'timers/promises': module => timers.installPromises(module),
    http: () => prepare('net'),
    https: () => prepare('net'),
    http2: () => prepare('net'),
    tls: () => prepare('net'),
  }
  const facts: Readonly<Record<string, string>> = {
    os: 'availableParallelism cpus freemem getPriority homedir hostname loadavg networkInterfaces totalmem tmpdir uptime userInfo version release machine',
    v8: 'getHeapStatistics getHeapSpaceStatistics getHeapCodeStatistics',
  }
  const prepared = new Set<string>()
  const prepare = (specifier: string): void => {
    const name = specifier.startsWith('node:') ? specifier.slice(5) : specifier
    if (prepared.has(name)) return
    const isKnown = Object.hasOwn(install, name) || Object.hasOwn(effectModules, name) || Object.hasOwn(facts, name)
    if (!isKnown || !captured.isBuiltin(specifier)) return
    prepared.add(name)
    const module = captured.builtin(`node:${name}`) as Properties
    install[name]?.(module)
    effectModules[name]?.(ambient, module)
    if (Object.hasOwn(facts, name)) installFacts(ambient, module, name, facts[name]!.split(' '))
    captured.syncBuiltinExports()
  }

  installClocks(ambient, still)
  installProcessFacts(ambient, () => boot().fixedNow !== undefined)
  installRandomNumbers(ambient)
  const timers = installTimers(ambient, captured.builtin('timers') as Properties, still, () => {
    prepare('timers/promises')
    return captured.builtin('timers/promises') as Properties
  })
  installEffects(ambient)
  const variables = installVariables(ambient)
  // Loads `crypto` when it is first read.
  const crypto = Object.getOwnPropertyDescriptor(global, 'crypto')
  if (crypto?.get !== undefined) {
    const real = crypto.get
    Object.defineProperty(global, 'crypto', {
      ...crypto,
      get: captured.wrapFunction(real, (_, receiver) => {
        prepare('crypto')
        return Reflect.apply(real, receiver, [])
      }) as () => unknown,
    })
  }
  captured.syncBuiltinExports()

  const keep = (recording: Recording): Recording => {
    recordings.set(recording.cell, recording)
    const oldest = recordings.keys().next()
    if (recordings.size > kept && !oldest.done) recordings.delete(oldest.value)
    return recording
  }
  const giveMeanwhile = (cell: number, tape: Meanwhile['tape'], other: Recording): void => {
    const ended = recordings.get(cell)
    if (ended?.isReplay) ended.giveMeanwhile(tape, other.deliveries)
    else other.diverge('order', `cell ${cell} was not run again`)
  }
  return {
    begin: cell => keep(new Recording(cell, host)),
    again: (cell, { tape, calls, meanwhile = [] }) => {
      const recording = Recording.replay(cell, host, tape, calls)
      for (const { cell: ended, tape: late } of meanwhile) giveMeanwhile(ended, late, recording)
      return keep(recording)
    },
    guard: () => {
      const recording = new Recording(0, host, 'guard')
      guards.push(recording)
      return recording
    },
    recordingOf: cell => recordings.get(cell),
    prepare,
    compiled: names => {
      if (hasLateGlobals) return
      let isNamed = names === undefined
      if (names !== undefined) for (const name of lateGlobals) isNamed ||= names.has(name)
      if (!isNamed) return
      hasLateGlobals = true
      installLateGlobals(ambient)
    },
    loaded: path => {
      const recording = ambient.current()
      if (recording === undefined || !recording.needsStamp('file', path)) return
      prepare('fs')
      ambient.unseen(() => {
        const { stamp, hashed } = takeStamp('file', path, () => undefined)
        recording.stamp(stamp, hashed)
      })
    },
    late: () => {
      if (late.size === 0) return []
      const all = [...late].flatMap(recording => {
        const tape = recording.takeLate()
        return tape === undefined || recording.cell === 0 ? [] : [{ cell: recording.cell, tape }]
      })
      late.clear()
      return all
    },
    replayLate: (late, done) => {
      const cells = late.map(({ cell }) => cell)
      const unknown = cells.filter(cell => recordings.get(cell)?.isReplay !== true)
      if (unknown.length > 0) return done(unknown)
      let isStuck = false
      const together = new Deliveries(host, () => {
        isStuck = true
        together.stop()
      })
      for (const { cell, tape } of late) recordings.get(cell)!.giveMeanwhile(tape, together)
      const all = late.flatMap(({ cell, tape }) => (tape.deliveries ?? []).map(([, , at]) => ['l', cell, at] as const))
      together.expect(all.sort((a, b) => a[2] - b[2]))
      together.whenDone(() => done(cells.filter(cell => isStuck || recordings.get(cell)!.divergence !== undefined)))
    },
    live: () => {
      const all = [...recordings.values(), ...guards]
      const diverged = all.flatMap(({ cell, divergence }) => (divergence === undefined || cell === 0 ? [] : [cell]))
      let timersDropped = 0
      for (const recording of all) timersDropped += recording.live()
      guards.length = 0
      return { timersDropped, diverged }
    },
    holds: stamp => holds(stamp, name => variables.real[name]),
    variables: variables.seen,
    get effects() {
      return effects
    },
  }
}
