/**
 * Makers of what cells see, in the cells' realm. Everything is taken when this file is loaded, before a cell runs; nothing here calls a method that a
 * cell could have replaced.
 */
import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { types } from 'node:util'
import type { MainRealm } from './captured.ts'

const { apply, getOwnPropertyDescriptor, defineProperty, deleteProperty, construct } = Reflect
const { freeze, create } = Object
const { parse } = JSON
const MainPromise = Promise
const MainError = Error
const MainTypeError = TypeError
const functionToString = Function.prototype.toString
const { getPrototypeOf } = Object
const { isProxy } = types

class ToolCallError extends Error {}
class CodeExecutionError extends Error {}
for (const own of [ToolCallError, CodeExecutionError]) {
  // As the platform's own errors have it; an own property would be printed with every error.
  defineProperty(own.prototype, 'name', { value: own.name, configurable: true, writable: true, enumerable: false })
}

const errorClasses = { Error: MainError, TypeError: MainTypeError, ToolCallError, CodeExecutionError }

const stackGetter = getOwnPropertyDescriptor(new MainError(), 'stack')?.get

/** A data property of an error or its prototypes; `undefined` when there is none, `null` when something else would have to be asked. */
function textOf(error: object, name: 'name' | 'message'): string | undefined | null {
  for (let at: object | null = error, depth = 0; at !== null && depth < 100; at = getPrototypeOf(at), depth++) {
    if (isProxy(at)) return null
    const own = getOwnPropertyDescriptor(at, name)
    if (own === undefined) continue
    if (typeof own.value === 'string') return own.value
    return 'value' in own && own.value === undefined ? undefined : null
  }
  return undefined
}

/** As `Error.prototype.toString`, without running anything of a cell; `undefined` where that would. */
function headerOf(error: object): string | undefined {
  const name = textOf(error, 'name')
  const message = textOf(error, 'message')
  if (name === null || message === null) return undefined
  if (name === '') return message ?? ''
  return message === undefined || message === '' ? (name ?? 'Error') : `${name ?? 'Error'}: ${message}`
}

/** The standard form of a stack; frames print themselves. */
function standardStack(error: unknown, frames: readonly object[]): string {
  let text = headerOf(error as object) ?? 'Error'
  for (let i = 0; i < frames.length; i++) {
    try {
      text += `\n    at ${frames[i] as unknown as string}`
    } catch {
      // A frame that cannot print itself says nothing.
    }
  }
  return text
}

function readStack(error: object): unknown {
  const before = getOwnPropertyDescriptor(MainError, 'prepareStackTrace')
  // Without a function of a cell, the platform's own form is the standard one; it calls methods and getters of the error for its first line.
  if (before === undefined && headerOf(error) !== undefined) return readOwnStack(error)
  try {
    if (
      !defineProperty(MainError, 'prepareStackTrace', {
        value: standardStack,
        configurable: true,
        writable: true,
        enumerable: false,
      })
    )
      return undefined
    return readOwnStack(error)
  } finally {
    if (before === undefined) deleteProperty(MainError, 'prepareStackTrace')
    else defineProperty(MainError, 'prepareStackTrace', before)
  }
}

function readOwnStack(error: object): unknown {
  const own = getOwnPropertyDescriptor(error, 'stack')
  if (own === undefined) return undefined
  if (own.get === undefined) return own.value
  return own.get === stackGetter ? apply(own.get, error, []) : undefined
}

async function run(
  program: (helpers: unknown) => unknown,
  helpers: unknown,
  ok: (value: unknown) => void,
  fail: (reason: unknown) => void,
): Promise<void> {
  let value: unknown
  try {
    value = await program(helpers)
  } catch (error) {
    fail(error)
    return
  }
  ok(value)
}

async function load(
  specifier: string,
  ok: (namespace: Readonly<Record<string, unknown>>) => void,
  fail: (reason: unknown) => void,
): Promise<void> {
  let namespace: Readonly<Record<string, unknown>>
  try {
    namespace = (await import(specifier)) as Readonly<Record<string, unknown>>
  } catch (error) {
    fail(error)
    return
  }
  ok(namespace)
}

async function* ticks(
  start: (tick: () => void) => () => unknown,
  value: unknown,
  signal: AbortSignal | undefined,
  refuse: () => Promise<unknown>,
): AsyncGenerator<unknown, void> {
  let waiting = 0
  let wake: (() => void) | undefined
  const stop = start(() => {
    waiting++
    wake?.()
  })
  const onAbort = (): void => wake?.()
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    for (;;) {
      if (signal?.aborted) await refuse()
      if (waiting === 0)
        await new MainPromise<void>(resolve => {
          wake = resolve
        })
      for (; waiting > 0; waiting--) yield value
    }
  } finally {
    stop()
    signal?.removeEventListener('abort', onAbort)
  }
}

export const mainRealm: MainRealm = {
  makeTicks: ticks,
  makeFunction: (name, call) =>
    ({
      [name](...given: unknown[]) {
        return call(given, this)
      },
    })[name]!,
  makePromise: take => new MainPromise(take),
  makeError: (kind, message, fields) => {
    const error = construct(errorClasses[kind], [message]) as Error
    if (fields !== undefined)
      for (const name in fields)
        defineProperty(error, name, { value: fields[name], configurable: true, writable: true, enumerable: true })
    return error
  },
  // Made by the platform when it is first read, and only in this realm.
  makeTimeoutError: () => new DOMException('The operation was aborted due to timeout', 'TimeoutError') as unknown as Error,
  makeNamespace: members => {
    const object = create(null) as object
    for (let i = 0; i < members.length; i++) {
      const member = members[i]!
      defineProperty(object, member[0], { value: member[1], enumerable: true, configurable: false, writable: false })
    }
    return freeze(object)
  },
  parseJson: text => parse(text),
  execute: (program, helpers, ok, fail) => void run(program, helpers, ok, fail),
  importModule: (specifier, ok, fail) => void load(specifier, ok, fail),
  installConsole: write => {
    const sink = (stream: 'stdout' | 'stderr') => {
      const nothing = (): void => {}
      return {
        write: (text: string) => write(stream, text),
        on: nothing,
        once: nothing,
        removeListener: nothing,
        listenerCount: () => 0,
      } as unknown as NodeJS.WritableStream
    }
    const own = new Console({
      stdout: sink('stdout'),
      stderr: sink('stderr'),
      ignoreErrors: true,
      colorMode: false,
      inspectOptions: { depth: 4, maxArrayLength: 100, maxStringLength: null },
    }) as unknown as Record<string, unknown>
    const platform = console as unknown as Record<string, unknown>
    for (const name of Object.keys(own))
      if (typeof own[name] === 'function' && typeof platform[name] === 'function') platform[name] = own[name]
  },
  installStreams: write => {
    const streams = new Map<string, Writable>()
    const make = (name: 'stdout' | 'stderr', fd: number): Writable => {
      const stream = new Writable({
        write: (chunk: Buffer, _encoding, done) => {
          write(name, chunk)
          done()
        },
      })
      // Nobody can close it for the cells behind.
      Object.assign(stream, { fd, _type: 'pipe', destroy: () => stream })
      stream.end = (chunk?: unknown, ...rest: unknown[]) => {
        if (chunk !== undefined && chunk !== null && typeof chunk !== 'function')
          stream.write(chunk as string, typeof rest[0] === 'string' ? (rest[0] as BufferEncoding) : 'utf8')
        const done = [chunk, ...rest].find(each => typeof each === 'function')
        if (done !== undefined) (done as () => void)()
        return stream
      }
      return stream
    }
    for (const [name, fd] of [
      ['stdout', 1],
      ['stderr', 2],
    ] as const) {
      Object.defineProperty(process, name, {
        configurable: true,
        enumerable: true,
        get: () => {
          let stream = streams.get(name)
          if (stream === undefined) streams.set(name, (stream = make(name, fd)))
          return stream
        },
      })
    }
  },
  stackGetter,
  readStack,
  isInterruption: error =>
    typeof error === 'object' &&
    error !== null &&
    getOwnPropertyDescriptor(error, 'code')?.value === 'ERR_SCRIPT_EXECUTION_INTERRUPTED',
  classes: { ToolCallError, CodeExecutionError },
  functionText: of => apply(functionToString, of, []) as string,
}
