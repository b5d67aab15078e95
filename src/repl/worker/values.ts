/** Values of cells on their way out: whole when they fit the limits, else a bounded copy. */
import { type Encoded, type EncodeHost, encode } from '../values/encode.ts'
import { type Bounds, previewBounds, valueLimits } from '../values/limits.ts'
import { printGraph, typeOfGraph } from '../values/notation.ts'
import { parseGraph } from '../values/parse.ts'
import { captureRealm } from '../values/realm.ts'
import type { Captured } from './captured.ts'
import { createLayoutHints } from './layout.ts'
import type { DoneMessage } from './protocol.ts'
import type { References } from './references.ts'

declare const captured: Captured

export interface SentValue {
  readonly about: NonNullable<DoneMessage['value']>
  readonly bytes: Uint8Array
}

export interface Values {
  send(value: unknown, echoed: boolean): SentValue
  /** Bounded, never fails. */
  preview(value: unknown): string
  look(value: unknown): { readonly type: string; readonly preview: string }
}

/** For one line of a list. */
const glance: Bounds = { depth: 2, entries: 8, units: 80 }
/** For what was thrown and is no error. */
const brief: Bounds = { depth: 3, entries: 20, units: 1_000 }

export function createValues(references: References): Values {
  const realm = captureRealm(captured.global)
  const layout = createLayoutHints({
    setFlags: captured.setFlags,
    // This file runs in the engine's realm.
    makeFunction: Function as never,
    makeArray: realm.global['Array'] as never,
  })
  const host: EncodeHost = {
    refer: (value: object) => references.find(value),
    settled: () => undefined,
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
  return {
    send: (value, echoed) => {
      const encoded = encode(value, { realm, host, limits: valueLimits })
      if (encoded.kind === 'encoded') return { about: { kind: encoded.valueKind, echoed }, bytes: encoded.bytes }
      const copy = bounded(value, previewBounds)
      if (copy.kind === 'over') throw new Error(`a bounded copy is over a limit (${copy.limit})`)
      return { about: { kind: 'opaque', echoed, over: encoded.limit }, bytes: copy.bytes }
    },
    preview: value => print(value, brief, 1_000).preview,
    look: value => print(value, glance, 120),
  }
}
