/**
 * Names of a session as configurable properties of the global object: `let` and the like writable, `const` not; a constant that some code of the session
 * writes is an accessor whose setter throws, because a write to a read-only property is silent in sloppy code. A name that the platform has too lives in
 * a store of its own that only rewritten references of cells read.
 */
import { createDisposables } from './disposables.ts'
import { applyLegacy, parameterDecorator } from './legacy-decorators.ts'
import type { ImportBinding, NameKind, Program } from './program.ts'
import type { Helpers, NameChanges, SessionNames, SessionNamesOptions } from './runtime.ts'

type Properties = Record<string, unknown>
interface Before {
  readonly kind: NameKind
  readonly value: unknown
}

const unreadable = Symbol('unreadable')

export function createSessionNames(options: SessionNamesOptions): SessionNames {
  const { platformNames } = options
  const global = options.global as Properties
  const realm = global as unknown as {
    readonly TypeError: ErrorConstructor
    readonly ReferenceError: ErrorConstructor
    readonly Object: ObjectConstructor
    readonly eval: (text: string) => unknown
  }
  const { TypeError: RealmTypeError, ReferenceError: RealmReferenceError, Object: RealmObject, eval: realmEval } = realm
  const initial = new Set(Object.getOwnPropertyNames(global))
  const kinds = new Map<string, NameKind>()
  /** Names that some code of the session assigns to. */
  const written = new Set<string>()
  /** Getters of ours → the value, without running anything else of the session. */
  const readers = new WeakMap<object, () => unknown>()
  /** Getters of names that are bound when they are first read. */
  const unloaded = new WeakMap<object, () => void>()
  const pending = new Map<string, () => void>()
  let anyWrites = false
  let mayAddGlobals = false
  let before = new Map<string, Before | undefined>()
  /** What the running program declares and has already. */
  let kept: ReadonlyMap<string, unknown> = new Map()
  let echoed: { readonly value: unknown } | undefined

  const missing = (name: PropertyKey): never => {
    const why = typeof name === 'string' ? options.whyLost?.(name) : undefined
    if (why !== undefined) throw Object.assign(new RealmReferenceError(why), { code: 'OUT-R003' })
    throw new RealmReferenceError(`${String(name)} is not defined`)
  }
  /** Bindings of platform names; what it lacks is the platform's. */
  const store: Properties = Object.create(
    new Proxy(Object.create(null), {
      get: (_, name) => (name in global ? global[name as string] : missing(name)),
      set: (_, name, value) => Reflect.set(global, name, value),
      has: (_, name) => name in global,
    }),
  )
  const quietStore: Properties = new Proxy(Object.create(null), {
    get: (_, name) => (Object.hasOwn(store, name) ? store[name as string] : global[name as string]),
  })

  const holderOf = (name: string): Properties => (platformNames.has(name) ? store : global)

  const define = (name: string, kind: NameKind, value: unknown): void => {
    pending.delete(name)
    const isConstant = kind === 'const' || kind === 'import'
    const holder = holderOf(name)
    if (isConstant && (holder === store || anyWrites || written.has(name))) defineAccessor(name, () => value)
    else Object.defineProperty(holder, name, { value, writable: !isConstant, enumerable: true, configurable: true })
  }
  const defineAccessor = (name: string, read: () => unknown): void => {
    const get = (): unknown => read()
    const set = (): never => {
      throw new RealmTypeError('Assignment to constant variable.')
    }
    readers.set(get, read)
    Object.defineProperty(holderOf(name), name, { get, set, enumerable: true, configurable: true })
  }
  const commit = (kind: NameKind, values: object): void => {
    for (const name of Object.keys(values)) {
      define(name, kind, kept.has(name) ? kept.get(name) : (values as Properties)[name])
      kinds.set(name, kind)
    }
  }
  const isBound = (name: string): boolean => Object.hasOwn(holderOf(name), name)

  const read = (name: string): { readonly value: unknown } | undefined => {
    const descriptor = Object.getOwnPropertyDescriptor(holderOf(name), name)
    if (descriptor === undefined) return undefined
    if (descriptor.get === undefined) return { value: descriptor.value }
    unloaded.get(descriptor.get)?.()
    const loaded = Object.getOwnPropertyDescriptor(holderOf(name), name)
    if (loaded !== undefined && loaded.get === undefined) return { value: loaded.value }
    const reader = readers.get((loaded ?? descriptor).get!)
    if (reader === undefined) return { value: undefined }
    try {
      return { value: reader() }
    } catch {
      // An export of a module that has not been evaluated yet.
      return { value: unreadable }
    }
  }
  /** A constant starts to throw when it is written. */
  const guard = (name: string): void => {
    const kind = kinds.get(name)
    if (kind !== 'const' && kind !== 'import') return
    const descriptor = Object.getOwnPropertyDescriptor(holderOf(name), name)
    if (descriptor !== undefined && descriptor.get === undefined) defineAccessor(name, () => descriptor.value)
  }
  /** What exists keeps its value and becomes writable. */
  const declareVar = (name: string, isFunction: boolean): void => {
    if (isFunction) return
    const known = read(name)
    if (known !== undefined && kinds.has(name)) define(name, 'var', known.value === unreadable ? undefined : known.value)
    else if (platformNames.has(name)) define(name, 'var', global[name])
    else if (known === undefined) define(name, 'var', undefined)
    kinds.set(name, 'var')
  }

  /** An object for the members of an enum, and the function that adds one. */
  const members = (base: object | undefined): readonly [object, (...given: readonly [string, unknown?]) => void] => {
    const object = (base ?? new RealmObject()) as Properties
    let next: unknown = 0
    const add = (...given: readonly [string, unknown?]): void => {
      const [name] = given
      const value = given.length > 1 ? given[1] : next
      next = typeof value === 'number' ? value + 1 : undefined
      object[name] = value
      if (typeof value !== 'string') object[String(value)] = name
    }
    return [object, add]
  }

  const shared = {
    eval: realmEval,
    const: (values: object): void => commit('const', values),
    let: (values: object): void => commit('let', values),
    var: (values: object): void => commit('var', values),
    function: (values: object): void => commit('function', values),
    class: (values: object): void => commit('class', values),
    enum: (values: object): void => commit('enum', values),
    namespace: (values: object): void => commit('namespace', values),
    import: (values: object): void => commit('import', values),
    default: (values: Properties): void => commit('const', { __default: values['default'] }),
    echo: (value: unknown): void => {
      echoed = { value }
    },
    f: (value: unknown): unknown => value,
    n: store,
    t: quietStore,
    members,
    decorate: applyLegacy,
    parameter: parameterDecorator,
    disposables: () => createDisposables(global),
  }

  return {
    kinds,
    read: name => {
      const found = read(name)
      return found?.value === unreadable ? { value: undefined } : found
    },
    prepare(program, has = new Map()) {
      echoed = undefined
      kept = has
      for (const name of program.writes) written.add(name)
      for (const name of program.hoisted.vars) written.add(name)
      if (program.dynamic && !anyWrites) {
        anyWrites = true
        for (const name of kinds.keys()) guard(name)
      }
      for (const name of program.writes) guard(name)
      if (program.dynamic || program.world) mayAddGlobals = true
      before = new Map()
      const note = (name: string): void => {
        const kind = kinds.get(name)
        before.set(name, kind === undefined ? undefined : { kind, value: read(name)?.value })
      }
      for (const { name } of program.declared) note(name)
      for (const name of anyWrites ? kinds.keys() : written) note(name)
    },
    helpers(program): Helpers {
      const functions = new Set(program.hoisted.functions)
      const keys: Properties = {}
      const finishPattern = (kind: NameKind, values: object, key: string | undefined): void => {
        commit(kind, values)
        if (key !== undefined) keys[key] = true
      }
      return Object.assign(Object.create(shared), {
        functions: program.functions,
        meta: options.meta(),
        keys,
        pattern: (kind: NameKind, take: (value: unknown) => object, value: unknown, key?: string): void =>
          finishPattern(kind, take(value), key),
        awaited: async (kind: NameKind, take: (value: unknown) => Promise<object>, value: unknown, key?: string): Promise<void> =>
          finishPattern(kind, await take(value), key),
        created: () => {
          for (const name of functions) {
            kinds.set(name, 'function')
            if (kept.has(name)) define(name, 'function', kept.get(name))
          }
        },
        vars: () => {
          for (const name of program.hoisted.vars) declareVar(name, isFunctionOf(program, name))
        },
      })
    },
    bindImport({ local }: ImportBinding, value) {
      defineAccessor(local, value)
      kinds.set(local, 'import')
    },
    finish(): NameChanges {
      kept = new Map()
      const candidates = mayAddGlobals ? [...Object.keys(global), ...written] : written
      for (const name of candidates) {
        if (!kinds.has(name) && !initial.has(name) && !platformNames.has(name) && Object.hasOwn(global, name))
          kinds.set(name, 'implicit')
      }
      const removed = [...(anyWrites ? kinds.keys() : [...written, ...before.keys()])].filter(
        name => kinds.has(name) && !isBound(name),
      )
      for (const name of removed) kinds.delete(name)
      const added: string[] = []
      const changed: string[] = []
      for (const name of new Set([...before.keys(), ...(anyWrites ? kinds.keys() : written)])) {
        const kind = kinds.get(name)
        if (kind === undefined) continue
        const earlier = before.get(name)
        if (earlier === undefined) added.push(name)
        else if (earlier.kind !== kind || !Object.is(earlier.value, read(name)?.value)) changed.push(name)
      }
      const gone = [...new Set(removed)].filter(name => before.get(name) !== undefined)
      return { added: added.sort(), changed: changed.sort(), removed: gone.sort() }
    },
    bind(name, kind, value) {
      commit(kind, { [name]: value })
    },
    bindLazily(bindings, load) {
      const bind = (): void => {
        const values = load()
        for (const { name, kind } of bindings) if (pending.get(name) === bind) define(name, kind, values.get(name))
      }
      for (const { name, kind } of bindings) {
        const get = (): unknown => {
          bind()
          return read(name)?.value
        }
        const set = (value: unknown): void => {
          if (kind === 'const' || kind === 'import') throw new RealmTypeError('Assignment to constant variable.')
          define(name, kind, value)
        }
        pending.set(name, bind)
        unloaded.set(get, bind)
        Object.defineProperty(holderOf(name), name, { get, set, enumerable: true, configurable: true })
        kinds.set(name, kind)
      }
    },
    mayBeAssigned: name => {
      const kind = kinds.get(name)
      return kind !== 'const' && kind !== 'import' && (anyWrites || written.has(name))
    },
    isLoaded: name => {
      const get = Object.getOwnPropertyDescriptor(holderOf(name), name)?.get
      return get === undefined || !unloaded.has(get)
    },
    remove(name) {
      Reflect.deleteProperty(holderOf(name), name)
      kinds.delete(name)
    },
    takeEcho() {
      const given = echoed
      echoed = undefined
      return given
    },
  }
}

/** A function of the cell is not touched by a `var` of its name. */
function isFunctionOf(program: Program, name: string): boolean {
  return program.declared.some(entry => entry.name === name && entry.kind === 'function')
}
