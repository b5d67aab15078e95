/**
 * A realm of its own for values, as cells have one, and a host that knows the functions and promises a test registers.
 */
import { setFlagsFromString } from 'node:v8'
import { createContext, runInContext } from 'node:vm'
import {
  type Encoded,
  type EncodeHost,
  encode,
  type LayoutHints,
  noHost,
  type Reference,
} from '../../../src/repl/values/encode.ts'
import { type ValueLimits, valueLimits } from '../../../src/repl/values/limits.ts'
import type { Materialized, MaterializeHost } from '../../../src/repl/values/materialize.ts'
import { materialize } from '../../../src/repl/values/materialize.ts'
import { parseGraph } from '../../../src/repl/values/parse.ts'
import { captureRealm, type Realm } from '../../../src/repl/values/realm.ts'
import { createLayoutHints } from '../../../src/repl/worker/layout.ts'

export interface TestRealm {
  readonly realm: Realm
  /** Run a text in the realm; its value. */
  run(source: string): unknown
  /** Functions and objects that the host can refer to, and what their payload is. */
  register(payload: string, shown: string, value: object): void
  readonly host: EncodeHost & MaterializeHost
  encode(value: unknown, options?: { readonly limits?: Partial<ValueLimits>; readonly layout?: LayoutHints }): Encoded
  bytes(value: unknown): Uint8Array
  back(bytes: Uint8Array): Materialized
}

export function createTestRealm(): TestRealm {
  const context = createContext({})
  const run = (source: string): unknown => runInContext(source, context)
  const global = run('globalThis') as Record<string, unknown>
  // What Node adds to a realm, made to look native to it.
  global['URL'] = URL
  global['URLSearchParams'] = URLSearchParams
  global['Buffer'] = Buffer
  const realm = captureRealm(global)
  const references = new Map<unknown, Reference>()
  const values = new Map<string, object>()
  const outcomes = new Map<object, { as: 'fulfilled' | 'rejected'; value: unknown }>()
  const host: EncodeHost & MaterializeHost & { settled: never } = {
    ...noHost,
    refer: (value: object) => references.get(value),
    resolve: (reference: Reference) => values.get(reference.payload),
    settled: ((promise: object, as?: 'fulfilled' | 'rejected', value?: unknown) => {
      if (as !== undefined) outcomes.set(promise, { as, value })
      return outcomes.get(promise)
    }) as never,
  }
  const platform = run('Object') as object
  references.set(platform, { of: 'path', shown: '[function Object]', payload: 'Object' })
  values.set('Object', platform)
  return {
    realm,
    run,
    host,
    register: (payload, shown, value) => {
      references.set(value, { of: 'source', shown, payload })
      values.set(payload, value)
    },
    encode: (value, options = {}) =>
      encode(value, {
        realm,
        host: options.layout === undefined ? host : { ...host, layout: options.layout },
        limits: { ...valueLimits, ...options.limits },
      }),
    bytes: value => {
      const encoded = encode(value, { realm, host, limits: valueLimits })
      if (encoded.kind !== 'encoded') throw new Error(`over ${encoded.limit}`)
      return encoded.bytes
    },
    back: bytes => materialize(parseGraph(bytes), realm, host),
  }
}

/** What V8 says of layouts, for values of this realm. */
export function layoutOf(test: TestRealm): LayoutHints {
  const hints = createLayoutHints({
    setFlags: setFlagsFromString,
    makeFunction: Function as never,
    makeArray: test.realm.global['Array'] as never,
  })
  if (hints === undefined) throw new Error('this engine has no layout hints')
  return hints
}
