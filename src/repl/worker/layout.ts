/**
 * What V8 knows of how an object is laid out, as hints for the codec: looking at every element by its descriptor costs a fifth of a microsecond each, asking
 * whether two objects have the same hidden class almost nothing. An engine that does not answer makes the codec slower and nothing else.
 */
import type { LayoutHints } from '../values/encode.ts'

export interface LayoutTools {
  /** `v8.setFlagsFromString`. */
  setFlags(flags: string): void
  /** A `Function` constructor of the realm that the codec runs in. */
  readonly makeFunction: (...source: string[]) => unknown
  /** `Array` of the realm of cells, before a program changed it. */
  readonly makeArray: new (
    length?: number,
  ) => unknown[]
}

type Same = (a: unknown, b: unknown) => boolean
type Fast = (object: unknown) => boolean

/** @returns `undefined` when the engine does not say. */
export function createLayoutHints(tools: LayoutTools): LayoutHints | undefined {
  let same: Same
  let fast: Fast
  try {
    tools.setFlags('--allow-natives-syntax')
    try {
      same = tools.makeFunction('a', 'b', 'return %HaveSameMap(a, b)') as Same
      fast = tools.makeFunction('a', 'return %HasFastProperties(a)') as Fast
      // Compiled at the first call; the syntax is gone after it.
      if (!same({}, {}) || same({}, []) || !fast({ a: 1 })) return undefined
    } finally {
      tools.setFlags('--no-allow-natives-syntax')
    }
  } catch {
    return undefined // another engine, or another version that names them otherwise
  }
  const packed = [[], [1.5], [{}]].map(elements => append(new tools.makeArray(), elements))
  const holey = [[], [1.5], [{}]].map(elements => append(new tools.makeArray(1), elements))
  let last = packed[0]!
  let lastKind: 'packed' | 'holey' = 'packed'
  let works = true
  /** Functions that lay unused may be thrown away and compiled again, which then fails; from there on the slow way is taken. */
  const askSame = (a: unknown, b: unknown): boolean => {
    if (!works) return false
    try {
      return same(a, b)
    } catch {
      works = false
      return false
    }
  }
  const askFast = (object: unknown): boolean => {
    if (!works) return false
    try {
      return fast(object)
    } catch {
      works = false
      return false
    }
  }
  const samples = [...packed.map(sample => [sample, 'packed'] as const), ...holey.map(sample => [sample, 'holey'] as const)]
  return {
    arrayKind: array => {
      if (askSame(array, last)) return lastKind
      for (const [sample, kind] of samples) {
        if (!askSame(array, sample)) continue
        last = sample
        lastKind = kind
        return kind
      }
      return 'other'
    },
    // Objects of one class are all fast or all slow; one is asked about itself before it serves as a sample.
    same: (object, other) => askSame(object, other) && (object !== other || askFast(object)),
  }
}

const push = Array.prototype.push

function append(array: unknown[], elements: readonly unknown[]): unknown[] {
  for (const element of elements) push.call(array, element)
  return array
}
