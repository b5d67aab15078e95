/** Functions and classes that can be made again from the cell that declared them. */
import type { Reference } from '../values/encoding.ts'
import type { Captured } from './captured.ts'

declare const captured: Captured

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
  notePlatform(known)
  return {
    note: (value, { name, kind, cell, start, end }) => {
      if (typeof value !== 'function') return
      known.set(value, { of: 'source', shown: `[${kind} ${name}]`, payload: JSON.stringify({ cell, start, end, name }) })
    },
    find: value => known.get(value),
  }
}

/**
 * Functions and objects of the language, by their path from the global object: its properties, theirs, and those of prototypes. Nothing is called; what
 * the platform makes when it is first read is not among them.
 */
function notePlatform(known: WeakMap<object, Reference>): void {
  known.set(captured.global, { of: 'path', shown: '[object globalThis]', payload: '[]' })
  const note = (value: unknown, path: readonly string[]): void => {
    if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return
    if (known.has(value) || captured.modules.util.types.isProxy(value)) return
    const kind = typeof value === 'function' ? 'function' : 'object'
    known.set(value, { of: 'path', shown: `[${kind} ${path.at(-1)!}]`, payload: JSON.stringify(path) })
    if (path.length < 3) walk(value, path)
  }
  const walk = (object: object, path: readonly string[]): void => {
    for (const name of Reflect.ownKeys(object)) {
      if (typeof name === 'string') note(Reflect.getOwnPropertyDescriptor(object, name)?.value, [...path, name])
    }
  }
  // What every realm has; the others are made when they are read, some of them only in the main context.
  for (const name of Object.getOwnPropertyNames(globalThis))
    if (name !== 'DOMException') note(Reflect.getOwnPropertyDescriptor(captured.global, name)?.value, [name])
}
