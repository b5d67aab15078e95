/** Functions and objects of the platform, by their path: from the global object, or from a module of the platform (`node:fs`). */
import type { Reference } from '../values/encoding.ts'
import type { Captured } from './captured.ts'

declare const captured: Captured

const { getOwnPropertyDescriptor, ownKeys } = Reflect

/** Besides what the language has. Other globals are made when they are first read, some of them only in the main context. */
const globals =
  'process console Buffer URL URLSearchParams TextEncoder TextDecoder AbortController AbortSignal Event EventTarget performance setTimeout setInterval ' +
  'setImmediate clearTimeout clearInterval clearImmediate queueMicrotask structuredClone fetch require'

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
 */
export function createPlatform(
  more: readonly (readonly [value: object, path: readonly string[]])[],
  prepare: (specifier: string) => void,
): Platform {
  const known = new WeakMap<object, Reference>()
  // What handles have in common.
  const waiting = new Set(['events'])
  const walked = new Set<string>()
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
  return {
    find: value => {
      if (waiting.size > 0) modules()
      return known.get(value)
    },
    asked: specifier => {
      if (captured.isBuiltin(specifier)) waiting.add(specifier)
    },
    at: path => {
      let at: unknown = captured.global
      let rest = path
      const [first] = path
      if (first?.startsWith('node:')) {
        if (!captured.isBuiltin(first)) return undefined
        prepare(first)
        waiting.add(first)
        at = captured.builtin(first)
        rest = path.slice(1)
      }
      for (const name of rest) {
        if (!isObject(at)) return undefined
        at = getOwnPropertyDescriptor(at, name)?.value ?? specialAt(more, path)
      }
      return at
    },
  }
}

const specialAt = (more: readonly (readonly [value: object, path: readonly string[]])[], path: readonly string[]): unknown =>
  more.find(([, each]) => each.join('.') === path.join('.'))?.[0]

function referenceTo(value: object, path: readonly string[]): Reference {
  const name = path.at(-1)!
  const kind = typeof value === 'function' ? 'function' : path.length === 1 && name.startsWith('node:') ? 'module' : 'object'
  return { of: 'path', shown: `[${kind} ${name}]`, payload: JSON.stringify(path) }
}
