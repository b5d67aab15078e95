/**
 * Functions of the platform are replaced by ones that ask the recording of the cell that calls. A replacement keeps name, length and all own properties; one
 * original has one replacement, wherever it stands. What a replaced function does inside is its own business: while it runs, others let through.
 */
import type { Captured } from '../captured.ts'
import type { Recording } from './recording.ts'

declare const captured: Captured

const { apply, construct, defineProperty, getOwnPropertyDescriptor } = Reflect

export interface Call {
  readonly given: readonly unknown[]
  readonly receiver: unknown
  /** `new.target`; `undefined` for a plain call. */
  readonly target: object | undefined
  /** Of the cell that calls. */
  readonly recording: Recording
  /** As the original; other arguments may be given. */
  proceed(given?: readonly unknown[]): unknown
}

export type Handle = (call: Call) => unknown
export type Callable = (...given: never[]) => unknown

export class Ambient {
  readonly #current: () => Recording | undefined
  readonly #replacements = new WeakMap<object, Callable>()
  #depth = 0

  /** @param current - `undefined`: nobody's code runs, and the original is called. */
  constructor(current: () => Recording | undefined) {
    this.#current = current
  }

  current(): Recording | undefined {
    return this.#current()
  }

  /** @param opaque - while it runs, replaced functions that it uses let through. */
  replacementOf(original: Callable, handle: Handle, opaque = true): Callable {
    const known = this.#replacements.get(original)
    if (known !== undefined) return known
    const made = captured.wrapFunction(original, (foreign, receiver, target) => {
      // Methods of the cells' arrays are the cells'.
      const given: unknown[] = []
      for (let i = 0; i < foreign.length; i++) given[i] = foreign[i]
      const recording = this.#depth > 0 ? undefined : this.#current()
      const proceed = (changed: readonly unknown[] = given): unknown => {
        if (!opaque)
          return target === undefined ? apply(original, receiver, changed) : construct(original, changed, target as never)
        this.#depth++
        try {
          return target === undefined ? apply(original, receiver, changed) : construct(original, changed, target as never)
        } finally {
          this.#depth--
        }
      }
      return recording === undefined ? proceed() : handle({ given, receiver, target, recording, proceed })
    }) as Callable
    this.#replacements.set(original, made)
    this.#replacements.set(made, made)
    return made
  }

  /** Replace a method or a function; a property that is no function of its own is left alone. */
  replace(owner: object | undefined, name: string, handle: Handle, opaque = true): void {
    if (owner === undefined || owner === null) return
    const own = getOwnPropertyDescriptor(owner, name)
    if (own === undefined || typeof own.value !== 'function') return
    const value = this.replacementOf(own.value as Callable, handle, opaque)
    if (value !== own.value) defineProperty(owner, name, { ...own, value })
  }

  /** Replace a class, so that `new` of it is seen; its prototype stays. */
  replaceClass(owner: object | undefined, name: string, handle: Handle): void {
    if (owner === undefined) return
    const own = getOwnPropertyDescriptor(owner, name)
    const original = (own === undefined || own.value !== undefined ? own?.value : undefined) as
      | (Callable & { prototype: object })
      | undefined
    if (own === undefined || typeof original !== 'function') return
    const made = this.replacementOf(original, handle)
    if (made === original) return
    defineProperty(owner, name, { ...own, value: made })
    const back = getOwnPropertyDescriptor(original.prototype, 'constructor')
    if (back !== undefined) defineProperty(original.prototype, 'constructor', { ...back, value: made })
  }

  /** Replace a getter. */
  replaceGetter(owner: object | undefined, name: string, handle: Handle): void {
    if (owner === undefined || owner === null) return
    const own = getOwnPropertyDescriptor(owner, name)
    if (own?.get === undefined) return
    defineProperty(owner, name, { ...own, get: this.replacementOf(own.get as Callable, handle) as () => unknown })
  }

  /** Run without being seen. */
  unseen<T>(run: () => T): T {
    this.#depth++
    try {
      return run()
    } finally {
      this.#depth--
    }
  }
}

/** Frames of whoever called a replaced function, topmost first. */
function callers(count: number): readonly string[] {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = count
  const frames = (new Error().stack ?? '').split('\n').slice(1)
  Error.stackTraceLimit = before
  return frames.filter(frame => !frame.includes('outrigger:worker-') && !frame.includes(captured.ownFile))
}

/** The platform uses its own functions: loading a module reads a file. */
export const isCalledByPlatform = (): boolean => /\(?node:/.test(callers(10)[0] ?? '')

/** Functions of `fs` are made of others; what a stream writes is no such part. */
export const isPartOfFiles = (): boolean => /\(?node:(?:fs:|internal\/fs\/(?!streams))/.test(callers(10)[0] ?? '')

export const isCalledByFetch = (): boolean => callers(16).some(frame => frame.includes('node:internal/deps/undici'))
