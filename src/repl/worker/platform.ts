/** Functions and objects of the platform, by their path: from the global object, or from a module of the platform (`node:fs`). */
import type { Reference } from '../values/encoding.ts'
import { functionName } from '../values/inspect.ts'
import type { Captured } from './captured.ts'

declare const captured: Captured

const { apply, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect

/** Besides what the language has. Other globals are made when they are first read, some of them only in the main context. */
const globals =
  'process console Buffer URL URLSearchParams TextEncoder TextDecoder AbortController AbortSignal Event EventTarget performance setTimeout setInterval ' +
  'setImmediate clearTimeout clearInterval clearImmediate queueMicrotask structuredClone fetch require'

/** Classes of which there is one, by its getter. */
const onlyOnes: ReadonlyMap<string, string> = new Map([
  ['Crypto', 'crypto'],
  ['Navigator', 'navigator'],
  ['Performance', 'performance'],
])

export interface Platform {
  find(value: object): Reference | undefined
  /** A cell asked for that module: what it exports may be met from now on. */
  asked(specifier: string): void
  /** What stands at that path; `undefined` when nothing does. */
  at(path: readonly string[]): unknown
}

const isObject = (value: unknown): value is object => (typeof value === 'object' && value !== null) || typeof value === 'function'

/**
 * @param more - objects that stand where a getter or a proxy is.
 * @param prepare - a module of the platform is about to be had by a cell.
 * @param named - so is what the platform has under that name.
 */
export function createPlatform(
  more: readonly (readonly [value: object, path: readonly string[]])[],
  prepare: (specifier: string) => void,
  named: (name: string) => void,
): Platform {
  const known = new WeakMap<object, Reference>()
  // What handles have in common.
  const waiting = new Set(['events'])
  const walked = new Set<string>()
  /** Globals that are made when they are first read; reading one without need costs its module. */
  const lazy = new Set(captured.pristineNames)
  // Made by the platform itself, and not in this context.
  lazy.delete('DOMException')
  const getters = new Map(
    ['process', 'Buffer', ...onlyOnes.values()].map(name => [name, getOwnPropertyDescriptor(captured.global, name)?.get]),
  )
  const note = (value: unknown, path: readonly string[], depth: number): void => {
    if (!isObject(value) || known.has(value) || captured.modules.util.types.isProxy(value)) return
    known.set(value, referenceTo(value, path))
    if (depth > 0) walk(value, path, depth - 1)
  }
  const walk = (object: object, path: readonly string[], depth: number): void => {
    for (const name of ownKeys(object))
      if (typeof name === 'string') note(getOwnPropertyDescriptor(object, name)?.value, [...path, name], depth)
  }
  known.set(captured.global, { of: 'path', shown: '[object globalThis]', payload: '[]' })
  for (const [value, path] of more) known.set(value, referenceTo(value, path))
  for (const name of [...Object.getOwnPropertyNames(globalThis), ...globals.split(' ')])
    if (name !== 'DOMException') note(getOwnPropertyDescriptor(captured.global, name)?.value, [name], 2)
  // Their classes have no names of their own.
  const timers = captured.timerClasses()
  for (const [name, made] of Object.entries(timers)) note(made, ['node:timers', name], 0)
  const modules = (): void => {
    for (const specifier of waiting) {
      const name = specifier.startsWith('node:') ? specifier : `node:${specifier}`
      if (walked.has(name)) continue
      walked.add(name)
      note(captured.builtin(name), [name], 2)
    }
    waiting.clear()
  }
  const globalOf = (name: string): unknown => {
    const own = getOwnPropertyDescriptor(captured.global, name)
    if (own?.get === undefined || own.get !== getters.get(name)) return own?.value
    try {
      return apply(own.get, captured.global, [])
    } catch {
      return undefined
    }
  }
  /** One that has been made since is told by its name. */
  const made = (value: object): Reference | undefined => {
    const name = typeof value === 'function' ? functionName(value) : nameOfOnly(value)
    if (!lazy.has(name) || globalOf(name) !== value) return undefined
    note(value, [name], 2)
    return known.get(value)
  }
  return {
    find: value => {
      if (waiting.size > 0) modules()
      return known.get(value) ?? made(value)
    },
    asked: specifier => {
      if (captured.isBuiltin(specifier)) waiting.add(specifier)
    },
    at: path => {
      const special = specialAt(more, path)
      if (special !== undefined) return special
      let at: unknown = captured.global
      let rest = path
      const [first] = path
      if (first?.startsWith('node:')) {
        if (!captured.isBuiltin(first)) return undefined
        prepare(first)
        waiting.add(first)
        at = captured.builtin(first)
        rest = path.slice(1)
      } else if (first !== undefined) {
        named(first)
        at = globalOf(first)
        rest = path.slice(1)
      }
      for (const name of rest) {
        if (!isObject(at)) return undefined
        at = getOwnPropertyDescriptor(at, name)?.value
      }
      return at
    },
  }
}

/** The global of which there is one, by its class: `crypto` of `Crypto`. */
function nameOfOnly(value: object): string {
  if (captured.modules.util.types.isProxy(value)) return ''
  const prototype = getPrototypeOf(value)
  const made = prototype === null ? undefined : getOwnPropertyDescriptor(prototype, 'constructor')?.value
  if (typeof made !== 'function' || captured.modules.util.types.isProxy(made)) return ''
  return onlyOnes.get(functionName(made)) ?? ''
}

const specialAt = (more: readonly (readonly [value: object, path: readonly string[]])[], path: readonly string[]): unknown =>
  more.find(([, each]) => each.join('.') === path.join('.'))?.[0]

function referenceTo(value: object, path: readonly string[]): Reference {
  const name = path.at(-1)!
  const kind = typeof value === 'function' ? 'function' : path.length === 1 && name.startsWith('node:') ? 'module' : 'object'
  return { of: 'path', shown: `[${kind} ${name}]`, payload: JSON.stringify(path) }
}
