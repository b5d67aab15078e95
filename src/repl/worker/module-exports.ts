/** Modules of project and packages: what they export can be had again by loading them, unless loading them touched the outside. */
import type { Reference } from '../values/encoding.ts'
import type { Captured } from './captured.ts'
import type { Modules } from './modules.ts'

declare const captured: Captured

const { getOwnPropertyDescriptor, ownKeys } = Reflect

/** What a reference's payload says. `path`: of properties, from the export on. */
interface Payload {
  readonly url: string
  readonly export: string
  readonly path?: readonly string[]
}

export interface ModuleExports {
  /** It begins to load; what it and others touch until `settle` is called is their effect. */
  loading(url: string, effects: number): void
  /** What began to load has been evaluated. */
  settle(effects: number): void
  hadEffects(url: string): boolean
  /** Learn what loaded modules export. */
  learn(modules: Modules): Promise<void>
  note(url: string, namespace: object): void
  find(value: object): Reference | undefined
  /** URL that a payload needs loaded. */
  urlOf(payload: string): string
  /** Of a module that was noted. */
  resolve(payload: string): unknown
}

const isObject = (value: unknown): value is object => (typeof value === 'object' && value !== null) || typeof value === 'function'

export function createModuleExports(): ModuleExports {
  const known = new WeakMap<object, Reference>()
  const namespaces = new Map<string, object>()
  const fresh = new Set<string>()
  const unsettled = new Map<string, number>()
  const withEffects = new Set<string>()
  const add = (value: unknown, payload: Payload): void => {
    // Plain data is stored as such.
    if (typeof value !== 'function' || known.has(value) || captured.modules.util.types.isProxy(value)) return
    const name = payload.path?.at(-1) ?? payload.export
    known.set(value, { of: 'import', shown: `[function ${name}]`, payload: JSON.stringify(payload) })
  }
  const note = (url: string, namespace: object): void => {
    if (namespaces.get(url) === namespace || withEffects.has(url)) return
    namespaces.set(url, namespace)
    const payload: Payload = { url, export: '*' }
    known.set(namespace, { of: 'module', shown: `[module ${nameOf(url)}]`, payload: JSON.stringify(payload) })
    for (const name of ownKeys(namespace)) {
      if (typeof name !== 'string') continue
      const value = exportOf(namespace, name)
      add(value, { url, export: name })
      // A CommonJS module exports one object.
      if (name !== 'default' || !isObject(value) || captured.modules.util.types.isProxy(value)) continue
      if (!url.startsWith('file:') || typeof value === 'function') continue
      for (const each of ownKeys(value))
        if (typeof each === 'string') add(getOwnPropertyDescriptor(value, each)?.value, { url, export: name, path: [each] })
    }
  }
  return {
    loading: (url, effects) => {
      fresh.add(url)
      unsettled.set(url, effects)
    },
    settle: effects => {
      for (const [url, before] of unsettled) if (effects > before) withEffects.add(url)
      unsettled.clear()
    },
    hadEffects: url => withEffects.has(url),
    learn: async modules => {
      const urls = [...fresh].filter(url => !unsettled.has(url))
      for (const url of urls) fresh.delete(url)
      for (const url of urls) {
        if (withEffects.has(url)) continue
        try {
          const loaded = await Promise.race([modules.load(url), soon()])
          if (loaded === undefined) fresh.add(url)
          else note(url, loaded.namespace)
        } catch {
          // One that fails to load, or is no module by itself.
        }
      }
    },
    note,
    find: value => known.get(value),
    urlOf: payload => (JSON.parse(payload) as Payload).url,
    resolve: payload => {
      const { url, export: name, path } = JSON.parse(payload) as Payload
      const namespace = namespaces.get(url)
      if (namespace === undefined) return undefined
      let at: unknown = name === '*' ? namespace : exportOf(namespace, name)
      for (const each of path ?? []) at = isObject(at) ? getOwnPropertyDescriptor(at, each)?.value : undefined
      return at
    },
  }
}

/** What has not been evaluated yet has no value. */
function exportOf(namespace: object, name: string): unknown {
  try {
    return getOwnPropertyDescriptor(namespace, name)?.value
  } catch {
    return undefined
  }
}

const nameOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1)

/** A module that waits for something is not waited for. */
function soon(): Promise<undefined> {
  return new Promise(resolve => captured.setImmediate(() => captured.setImmediate(() => resolve(undefined))))
}
