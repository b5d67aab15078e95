/** How large a value may be before it is shown as a bounded copy instead. */
export interface ValueLimits {
  /** Values visited, primitives included. */
  readonly nodes: number
  /** Properties, elements and entries. */
  readonly edges: number
  readonly bytes: number
  /** Decimal digits, estimated from the hexadecimal ones. */
  readonly bigintDigits: number
}

export const valueLimits: ValueLimits = { nodes: 2_000_000, edges: 8_000_000, bytes: 64 * 1024 * 1024, bigintDigits: 1_000_000 }

/** A copy for people: so deep, so many entries a level, texts cut to so many units. */
export interface Bounds {
  readonly depth: number
  readonly entries: number
  readonly units: number
}

export const previewBounds: Bounds = { depth: 6, entries: 100, units: 10_000 }

/** Trees deeper than this are no JSON value: readers of JSON text give up on them. */
export const jsonDepth = 1_000

export type LimitName = 'nodes' | 'edges' | 'bytes' | 'bigint digits'

/** A hex digit holds 1.204 decimal ones. */
export const decimalDigits = (hexDigits: number): number => Math.floor(hexDigits * 1.204)
