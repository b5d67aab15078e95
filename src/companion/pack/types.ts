/** What a pack may say: intents, conventions, claims, a signature. Never prose. */
import type { Intent, Layer } from '../types.ts'

export interface Convention {
  readonly from: string
  readonly to: readonly string[]
  /** The parts of a path that `from` leaves open; `null`: it does not fit. */
  match(path: string): { readonly dir: string; readonly stem: string; readonly ext: string } | null
}

export type Measure =
  | { readonly kind: 'files'; readonly files: string }
  | { readonly kind: 'lines'; readonly files: string; readonly text: string }
  | { readonly kind: 'json'; readonly file: string; readonly pointer: string }
  | { readonly kind: 'tests'; readonly of: 'passed' | 'total' }

export interface Claim {
  readonly id: string
  readonly files: readonly string[]
  readonly text: string
  readonly measure: Measure
  readonly required: boolean
}

export interface Pack {
  readonly signature: readonly string[] | null
  /** Drops every layer that is farther. */
  readonly only: boolean
  readonly intents: readonly Intent[]
  readonly conventions: readonly Convention[]
  readonly claims: readonly Claim[]
}

export type PackCode =
  | 'PACK_FILE'
  | 'PACK_TOO_BIG'
  | 'PACK_NOT_TEXT'
  | 'PACK_YAML'
  | 'PACK_VERSION'
  | 'PACK_SHAPE'
  | 'PACK_LIMIT'
  | 'PACK_WEIGHT'
  | 'PACK_THRESHOLD'
  | 'PACK_TARGET'
  | 'PACK_PATTERN'

export interface PackFault {
  readonly code: PackCode
  readonly message: string
}

export interface LoadedLayer {
  readonly layer: Layer
  /** Absolute; `null` for what is built in. */
  readonly file: string | null
  readonly status: 'used' | 'absent' | 'ignored'
  readonly faults: readonly PackFault[]
  readonly warnings: readonly string[]
  readonly pack: Pack | null
  /** Of the file's version. */
  readonly stamp: string
}

/** All layers as one. */
export interface Compiled {
  readonly layers: readonly LoadedLayer[]
  readonly signature: readonly string[] | null
  /** By priority, then id. */
  readonly intents: readonly (Intent & { readonly from: Layer })[]
  readonly conventions: readonly Convention[]
  readonly claims: readonly Claim[]
}
