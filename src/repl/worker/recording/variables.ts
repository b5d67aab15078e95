/** Reads of environment variables, by name. */
import type { Captured } from '../captured.ts'
import { type Ambient, isCalledByPlatform } from './ambient.ts'
import { takeStamp } from './stamps.ts'

declare const captured: Captured

type Variables = Record<string, string | undefined>

/** @returns the real variables, for comparing later, and what cells have. */
export function installVariables(ambient: Ambient): { readonly real: Variables; readonly seen: object } {
  const process = (captured.global as { process: { env: Variables } }).process
  const real = process.env
  /** Set by a cell: what it reads again came from itself. */
  const own = new Set<string>()
  const note = (name: string | symbol): void => {
    if (typeof name !== 'string' || own.has(name)) return
    const recording = ambient.current()
    if (recording === undefined || !recording.needsStamp('env', name) || isCalledByPlatform()) return
    recording.stamp(takeStamp('env', name, () => Reflect.get(real, name) as string | undefined).stamp, 0)
  }
  const seen = new Proxy(real, {
    get: (target, name) => {
      // A method of every object.
      if (typeof name === 'string' && !Object.hasOwn(target, name) && name in target) return Reflect.get(target, name)
      note(name)
      return Reflect.get(target, name)
    },
    has: (target, name) => {
      note(name)
      return Reflect.has(target, name)
    },
    getOwnPropertyDescriptor: (target, name) => {
      note(name)
      return Reflect.getOwnPropertyDescriptor(target, name)
    },
    set: (target, name, value) => {
      if (typeof name === 'string') own.add(name)
      return Reflect.set(target, name, value)
    },
    deleteProperty: (target, name) => {
      if (typeof name === 'string') own.add(name)
      return Reflect.deleteProperty(target, name)
    },
    ownKeys: target => {
      const names = Reflect.ownKeys(target)
      for (const name of names) note(name)
      return names
    },
  })
  Object.defineProperty(process, 'env', { value: seen, configurable: true, enumerable: true, writable: true })
  return { real, seen }
}
