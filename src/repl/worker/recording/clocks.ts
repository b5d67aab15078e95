/** Clocks: what they say is rounded to a microsecond, so that the first run and a replay see the same. */
import type { Captured } from '../captured.ts'
import type { Ambient, Callable } from './ambient.ts'
import type { Recording } from './recording.ts'

declare const captured: Captured

const { apply, construct, defineProperty, get, getOwnPropertyDescriptor } = Reflect
type Properties = Record<string, unknown>

/** A clock that stands still but for timers that fire; `undefined`: the real one. */
export interface StillClock {
  /** ms since 1970. */
  now: number
  readonly start: number
}

export function installClocks(ambient: Ambient, still: () => StillClock | undefined): void {
  const global = captured.global as Properties
  const date = (recording: Recording): number => recording.clock('date', () => still()?.now ?? captured.dateNow())
  const elapsed = (): number => {
    const clock = still()
    return clock === undefined ? Math.round(captured.now() * 1_000) : Math.round((clock.now - clock.start) * 1_000)
  }
  const micros = (recording: Recording, name: string): number => recording.clock(name, elapsed)

  const RealDate = global['Date'] as Callable & { prototype: object }
  const print = get(RealDate.prototype, 'toString') as Callable
  ambient.replaceClass(global, 'Date', ({ given, target, recording, proceed }) => {
    if (target === undefined) return apply(print, construct(RealDate, [date(recording)]), [])
    return given.length === 0 ? proceed([date(recording)]) : proceed()
  })
  ambient.replace(global['Date'] as object, 'now', ({ recording }) => date(recording))
  installFormats(ambient, global, date)
  installTemporal(ambient, global, still)

  const performance = global['performance'] as object
  const prototype = Reflect.getPrototypeOf(performance)!
  ambient.replace(prototype, 'now', ({ recording }) => micros(recording, 'performance') / 1_000)
  ambient.replaceGetter(
    prototype,
    'timeOrigin',
    ({ recording, proceed }) =>
      recording.clock('origin', () =>
        still() === undefined ? Math.round((proceed() as number) * 1_000) : still()!.start * 1_000,
      ) / 1_000,
  )
  ambient.replace(prototype, 'mark', ({ given, recording, proceed }) => {
    const options = given[1] as Properties | undefined
    if (options !== undefined && options['startTime'] !== undefined) return proceed()
    return proceed([given[0], { ...options, startTime: micros(recording, 'performance') / 1_000 }])
  })
  ambient.replace(prototype, 'measure', ({ given, recording, proceed }) => {
    const [name, from, to] = given as readonly [unknown, string | Properties | undefined, string | undefined]
    const now = (): number => micros(recording, 'performance') / 1_000
    if (typeof from === 'object' && from !== null) {
      const isWhole = from['end'] !== undefined || (from['start'] !== undefined && from['duration'] !== undefined)
      return isWhole ? proceed() : proceed([name, { ...from, end: now() }])
    }
    return to !== undefined ? proceed() : proceed([name, { ...(from !== undefined && { start: from }), end: now() }])
  })

  const process = global['process'] as Properties
  const zero = (recording: Recording): number =>
    recording.clock('hrtime', () => (still() === undefined ? captured.hrtime() : elapsed()))
  ambient.replace(process, 'hrtime', ({ given, recording, proceed }) => {
    const earlier = given[0] as readonly number[] | undefined
    // The original refuses what is no pair.
    if (earlier !== undefined && !(Array.isArray(earlier) && earlier.length === 2)) return proceed()
    const now = zero(recording)
    const total = now - (earlier === undefined ? 0 : earlier[0]! * 1_000_000 + Math.floor(earlier[1]! / 1_000))
    const seconds = Math.floor(total / 1_000_000)
    return captured.realm.parseJson(`[${seconds},${(total - seconds * 1_000_000) * 1_000}]`)
  })
  ambient.replace(process['hrtime'] as object, 'bigint', ({ recording }) => BigInt(zero(recording)) * 1_000n)
  ambient.replace(
    process,
    'uptime',
    ({ recording, proceed }) =>
      recording.clock('uptime', () => (still() === undefined ? Math.round((proceed() as number) * 1_000_000) : elapsed())) /
      1_000_000,
  )
}

/** Formatting without a date is formatting of now. */
function installFormats(ambient: Ambient, global: Properties, date: (recording: Recording) => number): void {
  const formats = (global['Intl'] as Properties)['DateTimeFormat'] as { prototype: object }
  ambient.replace(formats.prototype, 'formatToParts', ({ given, recording, proceed }) =>
    given[0] === undefined ? proceed([date(recording)]) : proceed(),
  )
  const bound = new WeakMap<object, unknown>()
  ambient.replaceGetter(formats.prototype, 'format', ({ proceed }) => {
    const format = proceed() as Callable
    let own = bound.get(format)
    if (own === undefined) {
      own = ambient.replacementOf(format, ({ given, recording, proceed: print }) =>
        given[0] === undefined ? print([date(recording)]) : print(),
      )
      bound.set(format, own)
    }
    return own
  })
}

interface Zoned {
  [method: string]: (this: unknown) => unknown
}

function installTemporal(ambient: Ambient, global: Properties, still: () => StillClock | undefined): void {
  const temporal = getOwnPropertyDescriptor(global, 'Temporal')?.value as Properties | undefined
  if (temporal === undefined) return
  const now = temporal['Now'] as Properties
  const fromEpoch = get(temporal['Instant'] as object, 'fromEpochNanoseconds') as (this: unknown, nanoseconds: bigint) => object
  const toZoned = get((temporal['Instant'] as { prototype: object }).prototype, 'toZonedDateTimeISO') as (
    this: unknown,
    zone: unknown,
  ) => Zoned
  const zone = now['timeZoneId'] as () => string
  const instant = (recording: Recording): object => {
    const us = recording.clock('temporal', () => (still()?.now ?? captured.dateNow()) * 1_000)
    return apply(fromEpoch, temporal['Instant'], [BigInt(us) * 1_000n]) as object
  }
  ambient.replace(now, 'instant', ({ recording }) => instant(recording))
  const shapes = {
    zonedDateTimeISO: undefined,
    plainDateTimeISO: 'toPlainDateTime',
    plainDateISO: 'toPlainDate',
    plainTimeISO: 'toPlainTime',
  } as const
  for (const [name, shape] of Object.entries(shapes))
    ambient.replace(now, name, ({ given, recording }) => {
      const zoned = apply(toZoned, instant(recording), [given[0] ?? apply(zone, now, [])]) as Zoned
      return shape === undefined ? zoned : apply(zoned[shape]!, zoned, [])
    })
}

/** Recorded results of functions that describe process and machine. */
export function installFacts(ambient: Ambient, owner: object, prefix: string, names: readonly string[]): void {
  for (const name of names)
    ambient.replace(owner, name, ({ recording, proceed }) => {
      const key = `${prefix}.${name}`
      const given = recording.givenFact(key)
      if (given !== undefined) return captured.realm.parseJson(JSON.stringify(given.value))
      const value = proceed()
      recording.fact(key, JSON.parse(JSON.stringify(value ?? null)))
      return value
    })
}

/** Properties of `process` that differ from one process to the next. */
export function installProcessFacts(ambient: Ambient, isFixed: () => boolean): void {
  const process = (captured.global as Properties)['process'] as Properties
  installFacts(ambient, process['memoryUsage'] as object, 'process.memoryUsage', ['rss'])
  installFacts(ambient, process, 'process', [
    'memoryUsage',
    'cpuUsage',
    'threadCpuUsage',
    'resourceUsage',
    'availableMemory',
    'constrainedMemory',
    'getActiveResourcesInfo',
  ])
  for (const name of ['pid', 'ppid']) {
    const value = process[name] as number
    const read = (): number => {
      const recording = ambient.current()
      if (recording === undefined) return value
      const given = recording.givenFact(`process.${name}`)
      if (given !== undefined) return given.value as number
      const now = isFixed() ? 0 : value
      recording.fact(`process.${name}`, now)
      return now
    }
    defineProperty(process, name, {
      get: captured.realm.makeFunction(name, read) as () => unknown,
      enumerable: true,
      configurable: true,
    })
  }
}
