/** What a value of each kind must hold beyond its tags and lengths. A live object has these by nature; bytes have them by being checked. */
import type { Graph, GraphObject, Key, Properties } from './graph.ts'
import { isIndex } from './inspect.ts'
import type { Reader } from './reader.ts'
import { attribute, flag, ordinary } from './tags.ts'

export interface Checks {
  /** Keys are unique and in the order in which an object has them: indices ascending, then other texts, then symbols. */
  keys(keys: readonly Key[]): void
  own(properties: Properties, allowed: (key: Key) => boolean): void
  /** Not what a shape would say in fewer bytes. */
  plain(properties: Properties, flags: number): void
  time(time: number): void
  regexp(source: string, flags: string): void
  boxed(value: Graph): void
  elements(array: Extract<GraphObject, { kind: 'array' }>): void
  array(array: Extract<GraphObject, { kind: 'array' }>): void
  view(view: Extract<GraphObject, { kind: 'view' }>, buffer: Extract<GraphObject, { kind: 'buffer' }>, size: number): void
  isIndex(key: string): boolean
}

export function createChecks(bytes: Reader): Checks {
  const require = (holds: boolean, what: string): void => {
    if (!holds) throw bytes.damaged(what)
  }

  const keys = (list: readonly Key[]): void => {
    let last = -1
    let stage = 0
    for (const key of list) {
      const rank = typeof key !== 'string' ? 2 : isIndex(key) ? 0 : 1
      require(rank >= stage, 'keys are out of order')
      stage = rank
      if (rank !== 0) continue
      require(Number(key) > last, 'keys are out of order')
      last = Number(key)
    }
    require(list.length < 2 || new Set(list).size === list.length, 'a key stands twice')
  }

  const own = (properties: Properties, allowed: (key: Key) => boolean): void => {
    keys(properties.keys)
    require(properties.keys.every(allowed), 'a key that belongs to the kind')
  }

  return {
    keys,
    own,
    isIndex,
    plain: (properties, flags) => {
      keys(properties.keys)
      const shaped = flags === 0 && properties.attributes === undefined && properties.keys.every(key => typeof key === 'string')
      require(!shaped, 'an ordinary object is written in the long form')
    },
    time: time =>
      require(Number.isNaN(time) || (Number.isInteger(time) && Math.abs(time) <= 8.64e15 && !Object.is(time, -0)), 'no time'),
    regexp: (source, flags) => {
      let regexp: RegExp | undefined
      try {
        regexp = new RegExp(source, flags)
      } catch {
        throw bytes.damaged('no regular expression')
      }
      require(regexp.source === source && regexp.flags === flags, 'a regular expression is written another way')
    },
    boxed: value => {
      const boxable = typeof value === 'object' ? value?.kind === 'symbol' : value !== undefined
      require(boxable, 'no primitive is boxed')
    },
    elements: array => {
      const holds = array.elements.some(each => typeof each !== 'object' || each === null || each.kind !== 'holes')
      require(holds ||
        (array.flags & (flag.sealedElements | flag.frozenElements)) === 0, 'an array without elements has attributes of elements')
    },
    array: array => {
      own(array.properties, key => key !== 'length')
      const { odd, holed } = oddElements(array)
      if (odd.length === 0) return
      // Elements that are all sealed or frozen alike are said by a flag.
      const first = odd[0]!
      const alike =
        (first === attribute.enumerable || first === (attribute.enumerable | attribute.writable)) &&
        odd.every(each => each === first)
      const noneElse = array.elements.every(each => typeof each === 'object' && each !== null && each.kind === 'holes')
      const flagged = (array.flags & (flag.sealedElements | flag.frozenElements)) !== 0
      require(holed && !flagged && !(alike && noneElse) && !odd.includes(ordinary), 'elements are written another way')
    },
    view: (view, buffer, size) => {
      const end = view.offset + view.length * size
      require(end <= buffer.byteLength && view.offset % size === 0, 'a view reaches out of its buffer')
      const follows = buffer.maxByteLength !== undefined && buffer.byteLength - end < size
      require(follows === ((view.flags & flag.special) !== 0), 'a view follows its buffer')
    },
  }
}

/** Attributes of elements that stand among the properties, and whether each of them is a hole among the elements. One walk over both. */
function oddElements(array: Extract<GraphObject, { kind: 'array' }>): {
  readonly odd: readonly number[]
  readonly holed: boolean
} {
  const odd: number[] = []
  let run = 0
  let start = 0
  for (let i = 0; i < array.properties.keys.length; i++) {
    const key = array.properties.keys[i]!
    if (typeof key !== 'string' || !isIndex(key)) break
    odd.push(array.properties.attributes?.[i] ?? ordinary)
    const index = Number(key)
    for (; run < array.elements.length; run++) {
      const each = array.elements[run]!
      const count = typeof each === 'object' && each !== null && each.kind === 'holes' ? each.count : 1
      if (index < start + count) break
      start += count
    }
    const here = array.elements[run]
    if (typeof here !== 'object' || here === null || here.kind !== 'holes') return { odd, holed: false }
  }
  return { odd, holed: true }
}
