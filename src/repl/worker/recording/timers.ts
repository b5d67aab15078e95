/**
 * Timers: recorded is which of them fired, in which order. In a replay none is started; they fire when their turn comes, and the rest is dropped.
 */
import type { Captured } from '../captured.ts'
import type { Ambient, Callable } from './ambient.ts'
import type { StillClock } from './clocks.ts'
import type { Recording } from './recording.ts'

declare const captured: Captured

const { apply, construct, defineProperty, get, getOwnPropertyDescriptor } = Reflect
type Properties = Record<string, unknown>

const longest = 2 ** 31 - 1

export interface Timers {
  /** `timers/promises`, when it is first asked for. */
  installPromises(promises: Properties): void
}

export function installTimers(
  ambient: Ambient,
  timers: Properties,
  still: () => StillClock | undefined,
  promises: () => Properties,
): Timers {
  const global = captured.global as Properties
  const numbers = new WeakMap<object, { readonly recording: Recording; readonly number: number }>()
  const byId = new Map<number, object>()

  const start = (name: 'setTimeout' | 'setInterval' | 'setImmediate'): void => {
    const repeats = name === 'setInterval'
    const real = global[name] as Callable
    const clear = global[`clear${name.slice(3)}`] as Callable
    const handle = ({
      given,
      recording,
      proceed,
    }: {
      given: readonly unknown[]
      recording: Recording
      proceed(given?: readonly unknown[]): unknown
    }): unknown => {
      const callback = given[0]
      if (typeof callback !== 'function') return proceed()
      const number = recording.newTimer()
      const wait = name === 'setImmediate' ? 0 : Math.max(1, Number(given[1]) || 1)
      let due = (still()?.now ?? 0) + wait
      const tick = (): void => {
        const clock = still()
        if (clock === undefined) return
        clock.now = Math.max(clock.now, due)
        due += wait
      }
      const args = given.slice(name === 'setImmediate' ? 1 : 2)
      if (recording.isReplay) {
        const timer = (name === 'setImmediate' ? proceed([nothing]) : proceed([nothing, longest])) as NodeJS.Timeout
        if (name === 'setImmediate') apply(clear, undefined, [timer])
        else timer.unref()
        const run = captured.snapshot()
        numbers.set(timer, { recording, number })
        if (name !== 'setImmediate') byId.set(Number(timer), timer)
        recording.hold('t', number, () => {
          if (!repeats) forget(timer)
          tick()
          run(() => void apply(callback, timer, args))
        })
        return timer
      }
      const fired = function (this: unknown, ...also: unknown[]): unknown {
        recording.delivered('t', number)
        tick()
        return apply(callback, this, also)
      }
      return proceed([fired, ...given.slice(1)])
    }
    const replaced = ambient.replacementOf(real, handle, false)
    for (const owner of [global, timers]) {
      const own = getOwnPropertyDescriptor(owner, name)
      if (own?.value === real) defineProperty(owner, name, { ...own, value: replaced })
    }
    const custom = Symbol.for('nodejs.util.promisify.custom')
    if (getOwnPropertyDescriptor(replaced, custom) !== undefined)
      defineProperty(replaced, custom, {
        get: captured.realm.makeFunction('get', () => promises()[name]) as () => unknown,
        enumerable: true,
        configurable: true,
      })
  }
  const forget = (timer: object): void => {
    const known = numbers.get(timer)
    if (known === undefined) return
    numbers.delete(timer)
    byId.delete(Number(timer))
    known.recording.letGo('t', known.number)
  }
  for (const name of ['setTimeout', 'setInterval', 'setImmediate'] as const) start(name)
  for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) {
    const real = global[name] as Callable
    const replaced = ambient.replacementOf(
      real,
      ({ given, proceed }) => {
        const [timer] = given
        const known = typeof timer === 'object' && timer !== null ? timer : byId.get(Number(timer))
        if (known !== undefined) forget(known)
        return proceed()
      },
      false,
    )
    for (const owner of [global, timers]) {
      const own = getOwnPropertyDescriptor(owner, name)
      if (own?.value === real) defineProperty(owner, name, { ...own, value: replaced })
    }
  }
  const Controller = global['AbortController'] as new () => AbortController
  ambient.replace(
    global['AbortSignal'] as object,
    'timeout',
    ({ given, proceed }) => {
      const wait = given[0]
      if (!Number.isSafeInteger(wait) || (wait as number) < 0) return proceed()
      const controller = construct(Controller, []) as AbortController
      const abort = (): void => controller.abort(captured.realm.makeTimeoutError())
      ;(apply(global['setTimeout'] as Callable, global, [abort, Math.min(wait as number, longest)]) as NodeJS.Timeout).unref()
      return controller.signal
    },
    false,
  )

  return { installPromises: module => installPromises(ambient, module) }
}

const nothing = (): void => {}

/** The promised forms on top of the called ones; what is refused and how an abort looks is the original's business. */
function installPromises(ambient: Ambient, promises: Properties): void {
  const global = captured.global as Properties
  const call = (name: string, given: readonly unknown[]): NodeJS.Timeout =>
    apply(global[name] as Callable, global, given) as NodeJS.Timeout
  const isPlain = (options: unknown): options is Properties | undefined =>
    options === undefined || (typeof options === 'object' && options !== null)
  const promised = (set: 'setTimeout' | 'setImmediate', clear: string) => {
    const withWait = set === 'setTimeout'
    ambient.replace(
      promises,
      set,
      ({ given, proceed }) => {
        const [wait, value, options] = withWait ? given : [undefined, given[0], given[1]]
        if (!isPlain(options) || (wait !== undefined && typeof wait !== 'number')) return proceed()
        const signal = options?.['signal'] as AbortSignal | undefined
        const ref = options?.['ref']
        if (
          (signal !== undefined && !(typeof signal === 'object' && signal !== null && 'aborted' in signal)) ||
          (ref !== undefined && typeof ref !== 'boolean')
        )
          return proceed()
        if (signal?.aborted) return proceed()
        return captured.realm.makePromise((resolve, reject) => {
          const onAbort = (): void => {
            apply(global[clear] as Callable, global, [timer])
            // Rejects as the original does.
            const refused = proceed() as Promise<unknown>
            void refused.then(nothing, reject)
          }
          const timer: NodeJS.Timeout = call(set, [
            () => {
              signal?.removeEventListener('abort', onAbort)
              resolve(value)
            },
            ...(withWait ? [wait] : []),
          ])
          if (ref === false) timer.unref()
          signal?.addEventListener('abort', onAbort, { once: true })
        })
      },
      false,
    )
  }
  promised('setTimeout', 'clearTimeout')
  promised('setImmediate', 'clearImmediate')
  ambient.replace(
    promises,
    'setInterval',
    ({ given, proceed }) => {
      const [wait, value, options] = given
      const signal = (options as Properties | undefined)?.['signal'] as AbortSignal | undefined
      if (!isPlain(options) || signal?.aborted) return proceed()
      return captured.realm.makeTicks(
        tick => {
          const timer = call('setInterval', [tick, wait])
          if (options?.['ref'] === false) timer.unref()
          return () => apply(global['clearInterval'] as Callable, global, [timer])
        },
        value,
        signal,
        () => {
          const refused = proceed() as object
          return apply(get(refused, 'next') as Callable, refused, []) as Promise<unknown>
        },
      )
    },
    false,
  )
  const scheduler = promises['scheduler'] as object | undefined
  if (scheduler === undefined) return
  const prototype = Reflect.getPrototypeOf(scheduler) as object
  ambient.replace(
    prototype,
    'wait',
    ({ given, proceed }) => {
      const [wait, options] = given
      if (typeof wait !== 'number' || !isPlain(options)) return proceed()
      return apply(promises['setTimeout'] as Callable, promises, [wait, undefined, options])
    },
    false,
  )
  ambient.replace(prototype, 'yield', () => apply(promises['setImmediate'] as Callable, promises, []), false)
}
