/** Functions and classes that can be made again from the cell that declared them. */
import type { Reference } from '../values/encoding.ts'

export interface References {
  /** `value` is what the declaration at this range of that cell's source made. */
  note(
    value: unknown,
    declared: {
      readonly name: string
      readonly kind: 'function' | 'class'
      readonly cell: number
      readonly start: number
      readonly end: number
    },
  ): void
  find(value: object): Reference | undefined
}

export function createReferences(): References {
  const known = new WeakMap<object, Reference>()
  return {
    note: (value, { name, kind, cell, start, end }) => {
      if (typeof value !== 'function') return
      known.set(value, { of: 'source', shown: `[${kind} ${name}]`, payload: JSON.stringify({ cell, start, end, name }) })
    },
    find: value => known.get(value),
  }
}
