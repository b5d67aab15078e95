/** Values of cells on their way out: whole when they fit the limits, else a bounded copy. */
import { type Encoded, type EncodeHost, encode } from '../values/encode.ts'
import { type Bounds, previewBounds, valueLimits } from '../values/limits.ts'
import { printGraph, typeOfGraph } from '../values/notation.ts'
import { parseGraph } from '../values/parse.ts'
import { captureRealm, type Realm } from '../values/realm.ts'
import type { Captured } from './captured.ts'
import { createLayoutHints } from './layout.ts'
import type { DoneMessage } from './protocol.ts'
import type { References } from './references.ts'

declare const captured: Captured

export interface SentValue {
  readonly about: NonNullable<DoneMessage['value']>
  readonly bytes: Uint8Array
}

type Outcome = NonNullable<ReturnType<EncodeHost['settled']>>

export interface Values {
  /** Learn how the promises inside a value have settled, as far as they have; then `done`, at once when there are none. */
  settle(value: unknown, done: () => void): void
  send(value: unknown, echoed: boolean): SentValue
  /** Bounded, never fails. */
  preview(value: unknown): string
  look(value: unknown): { readonly type: string; readonly preview: string }
  /** How a promise ended. */
  know(promise: object, outcome: Outcome): void
  readonly realm: Realm
  readonly host: EncodeHost
}

/** For one line of a list. */
const glance: Bounds = { depth: 2, entries: 8, units: 80 }
/** For what was thrown and is no error. */
const brief: Bounds = { depth: 3, entries: 20, units: 1_000 }

/** Promises of one value that are asked for their outcome; the others count as pending. */
const maxPromises = 100

export function createValues(references: Pick<References, 'find'>): Values {
  const realm = captureRealm(captured.global)
  const layout = createLayoutHints({
    setFlags: captured.setFlags,
    // This file runs in the engine's realm.
    makeFunction: Function as never,
    makeArray: realm.global['Array'] as never,
  })
  const outcomes = new WeakMap<object, Outcome>()
  /** Collects, while `settle` looks, the promises whose outcome is not known. */
  let unknown: Set<object> | undefined
  /** What `settle` made of a value without promises. */
  let ready: { readonly value: unknown; readonly encoded: Encoded } | undefined
  const host: EncodeHost = {
    refer: (value: object) => references.find(value),
    settled: promise => {
      if (unknown !== undefined && unknown.size < maxPromises && !outcomes.has(promise)) unknown.add(promise)
      return outcomes.get(promise)
    },
    hasPrivateState: (made: object) => /#[\p{ID_Start}$_]/u.test(captured.realm.functionText(made)),
    ...(layout !== undefined && { layout }),
  }
  const bounded = (value: unknown, bounds: Bounds): Encoded => encode(value, { realm, host, limits: valueLimits, bounds })
  const print = (value: unknown, bounds: Bounds, maxChars: number): { readonly type: string; readonly preview: string } => {
    try {
      const encoded = bounded(value, bounds)
      if (encoded.kind === 'over') return { type: typeof value, preview: `[too large to show: ${encoded.limit}]` }
      const graph = parseGraph(encoded.bytes)
      return { type: typeOfGraph(graph), preview: printGraph(graph, maxChars) }
    } catch {
      // Deeper than the stack allows, or revoked while it was read.
      return { type: typeof value, preview: '[cannot be shown]' }
    }
  }
  /** Waiting for it runs no code of a cell: it reads `constructor`, and that is the realm's own. */
  const isPlainPromise = (promise: object): boolean =>
    Reflect.getPrototypeOf(promise) === realm.promisePrototype &&
    Reflect.getOwnPropertyDescriptor(promise, 'constructor') === undefined &&
    Reflect.getOwnPropertyDescriptor(realm.promisePrototype, 'constructor')?.value === realm.global['Promise']
  const settle = (value: unknown, left: number, done: () => void): void => {
    const met = new Set<object>()
    unknown = met
    ready = undefined
    try {
      ready = { value, encoded: encode(value, { realm, host, limits: valueLimits }) }
    } catch {
      // `send` meets it again, and tells.
    }
    unknown = undefined
    const asked = [...met].filter(isPlainPromise).slice(0, left)
    if (asked.length === 0) {
      done()
      return
    }
    ready = undefined
    for (const promise of asked) {
      captured.realm.execute(
        () => promise,
        undefined,
        result => outcomes.set(promise, { as: 'fulfilled', value: result }),
        reason => outcomes.set(promise, { as: 'rejected', value: reason }),
      )
    }
    // Comes after the outcomes of those that have settled, and before anything else does.
    const next = (): void => (asked.some(promise => outcomes.has(promise)) ? settle(value, left - asked.length, done) : done())
    captured.realm.execute(() => undefined, undefined, next, next)
  }
  return {
    settle: (value, done) => settle(value, maxPromises, done),
    send: (value, echoed) => {
      // What was opaque may be a class or function of this cell, which is known by now.
      const isReady =
        ready !== undefined && ready.value === value && ready.encoded.kind === 'encoded' && ready.encoded.valueKind !== 'opaque'
      const encoded = isReady ? ready!.encoded : encode(value, { realm, host, limits: valueLimits })
      ready = undefined
      if (encoded.kind === 'encoded') return { about: { kind: encoded.valueKind, echoed }, bytes: encoded.bytes }
      const copy = bounded(value, previewBounds)
      if (copy.kind === 'over') throw new Error(`a bounded copy is over a limit (${copy.limit})`)
      return { about: { kind: 'opaque', echoed, over: encoded.limit }, bytes: copy.bytes }
    },
    preview: value => print(value, brief, 1_000).preview,
    look: value => print(value, glance, 120),
    know: (promise, outcome) => void outcomes.set(promise, outcome),
    realm,
    host,
  }
}
