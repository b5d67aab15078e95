/**
 * A decoded value as data: what `parse.ts` makes of bytes, `notation.ts` prints, `page.ts` walks and `materialize.ts` turns into a live value.
 * Primitives stand for themselves.
 */
import type { ReferenceKind } from './tags.ts'

export type Graph = null | undefined | boolean | number | bigint | string | GraphObject

/** A getter and a setter; each a function or undefined. */
export interface Accessor {
  readonly kind: 'accessor'
  get: Graph
  set: Graph
}

/** A run of missing elements. */
export interface Hole {
  readonly kind: 'holes'
  readonly count: number
}

export type Key = string | GraphSymbol

/** Own properties in their order: key, value and attributes stand at the same index. */
export interface Properties {
  readonly keys: readonly Key[]
  readonly values: readonly (Graph | Accessor)[]
  /** Bits of `attribute`; absent when all are ordinary. */
  readonly attributes?: readonly number[]
  /** On bounded copies: how many were left out. */
  readonly more?: number
}

interface Numbered {
  /** Number of the first visit; no two objects of one graph share it. */
  readonly id: number
}

interface Ordinary extends Numbered {
  /** Bits of `flag`. */
  readonly flags: number
  readonly properties: Properties
  /** For objects with slots whose class is not the realm's own. */
  readonly derived?: Derived
}

export interface Derived {
  readonly className: string
  /** `class` is the prototype itself. */
  readonly direct: boolean
  readonly class: Graph
}

export interface GraphSymbol extends Numbered {
  readonly kind: 'symbol'
  readonly of: 'unique' | 'registered' | 'well-known'
  readonly text: string | undefined
}

/** `more` counts what a bounded copy left out. */
export type GraphObject =
  | (Ordinary & { readonly kind: 'object' })
  | (Ordinary & {
      readonly kind: 'array'
      readonly length: number
      readonly elements: readonly (Graph | Hole)[]
      readonly more: number
    })
  /** `parts` alternate key and value. */
  | (Ordinary & { readonly kind: 'map'; readonly size: number; readonly parts: readonly Graph[] })
  | (Ordinary & { readonly kind: 'set'; readonly size: number; readonly parts: readonly Graph[] })
  | (Ordinary & { readonly kind: 'date'; readonly time: number })
  | (Ordinary & { readonly kind: 'regexp'; readonly source: string; readonly regexpFlags: string; readonly lastIndex: Graph })
  | (Ordinary & { readonly kind: 'error'; readonly name: string })
  | (Ordinary & {
      readonly kind: 'buffer'
      readonly shared: boolean
      readonly bytes: Uint8Array
      readonly byteLength: number
      /** Resizable up to so many bytes. */
      readonly maxByteLength: number | undefined
    })
  /** `buffer` is an array of the first elements on bounded copies. */
  | (Ordinary & {
      readonly kind: 'view'
      readonly name: string
      readonly offset: number
      readonly length: number
      readonly buffer: Graph
    })
  | (Ordinary & { readonly kind: 'url'; readonly text: string })
  | (Ordinary & { readonly kind: 'params'; readonly text: string })
  | (Ordinary & { readonly kind: 'temporal'; readonly name: string; readonly text: string })
  | (Ordinary & { readonly kind: 'boxed'; readonly value: Graph })
  | (Ordinary & { readonly kind: 'promise'; readonly settled: 'fulfilled' | 'rejected'; readonly value: Graph })
  | (Ordinary & { readonly kind: 'reference'; readonly of: ReferenceKind; readonly shown: string; readonly payload: string })
  | (Ordinary & { readonly kind: 'instance'; readonly className: string; readonly class: Graph })
  | (Numbered & { readonly kind: 'opaque'; readonly type: string; readonly reason: string; readonly shown: string })
  | GraphSymbol

export const noProperties: Properties = { keys: [], values: [] }

export const isGraphObject = (value: Graph | Hole | Accessor): value is GraphObject =>
  typeof value === 'object' && value !== null && value.kind !== 'holes' && value.kind !== 'accessor'
