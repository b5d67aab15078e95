/** Arrays: dense, holed, sparse, with properties of their own, with elements of odd attributes. */
import { writeDerived } from './encode-class.ts'
import { attributesOf, type ClassPart, type Encoding } from './encoding.ts'
import { isIndex } from './inspect.ts'
import { attribute, flag, ordinary, tag } from './tags.ts'

const { getOwnPropertyDescriptor, isExtensible, ownKeys } = Reflect
const { hasOwn } = Object

/** Longer arrays are stored by their keys, whatever their length is. */
const denseLength = 1 << 26
/** Bounded copies of longer arrays show no other properties than elements. */
const namedLength = 10_000

/** @param derived - the class, when the array's prototype is not the realm's own. */
export function encodeArray(encoding: Encoding, array: readonly unknown[], derived: ClassPart | undefined): boolean {
  const length = getOwnPropertyDescriptor(array, 'length')!.value as number
  const head = () => {
    if (encoding.options.bounds !== undefined) return boundedArray(encoding, array, length)
    const kind = derived === undefined ? (encoding.options.host.layout?.arrayKind(array) ?? 'other') : 'other'
    return kind === 'other' ? generalArray(encoding, array, length) : ordinaryArray(encoding, array, length, kind)
  }
  return derived === undefined ? head() : writeDerived(encoding, derived, head)
}

function ordinaryArray(encoding: Encoding, array: readonly unknown[], length: number, kind: 'packed' | 'holey'): boolean {
  encoding.out.byte(tag.array)
  encoding.out.count(length)
  if (kind === 'holey') return encoding.enter(elements(encoding, array, presentOf(encoding, array, length), length))
  encoding.edge(length)
  return encoding.enter(encoding.values(encoding.depth, array, index => index))
}

/** Indices that are there; over the limit when there are more than may be stored. */
function presentOf(encoding: Encoding, array: readonly unknown[], length: number): number[] {
  const present: number[] = []
  const most = encoding.edgesLeft
  for (let i = 0; i < length; i++) {
    if (!hasOwn(array, i)) continue
    present.push(i)
    if (present.length > most) encoding.edge(present.length)
  }
  encoding.edge(present.length)
  return present
}

function generalArray(encoding: Encoding, array: readonly unknown[], length: number): boolean {
  if (length > encoding.edgesLeft && length <= denseLength) encoding.check(countPresent(array, length, encoding.edgesLeft))
  const keys = ownKeys(array)
  encoding.edge(keys.length - 1)
  const present: number[] = []
  const descriptors: PropertyDescriptor[] = []
  let at = 0
  for (; at < keys.length && isIndex(keys[at]!); at++) {
    present.push(Number(keys[at]))
    descriptors.push(getOwnPropertyDescriptor(array, keys[at]!)!)
  }
  const named = keys.slice(at).filter(key => key !== 'length')
  const usual = usualAttributes(descriptors)
  const plain: number[] = []
  const values: unknown[] = []
  const own: (string | symbol)[] = []
  const ownDescriptors: PropertyDescriptor[] = []
  for (let i = 0; i < present.length; i++) {
    const descriptor = descriptors[i]!
    if (attributesOf(descriptor) === usual) {
      plain.push(present[i]!)
      values.push(descriptor.value)
    } else {
      own.push(String(present[i]))
      ownDescriptors.push(descriptor)
    }
  }
  for (const key of named) {
    own.push(key)
    ownDescriptors.push(encoding.descriptors.own(array, key)!)
  }
  const { depth } = encoding
  const fixed = getOwnPropertyDescriptor(array, 'length')!.writable !== true
  const flags =
    (isExtensible(array) ? 0 : flag.nonExtensible) |
    (own.length > 0 ? flag.properties : 0) |
    (fixed ? flag.special : 0) |
    (usual === sealed ? flag.sealedElements : usual === frozen ? flag.frozenElements : 0)
  encoding.out.byte(flags === 0 ? tag.array : tag.arrayGeneral)
  if (flags !== 0) encoding.out.byte(flags)
  encoding.out.count(length)
  const items = elements(encoding, values, plain, length)
  if (own.length === 0) return encoding.enter(items)
  encoding.json = false
  return encoding.queue(items, encoding.properties(depth, own, ownDescriptors, Number.POSITIVE_INFINITY))
}

const sealed = attribute.writable | attribute.enumerable
const frozen = attribute.enumerable

/** What all elements have in common when the array was sealed or frozen; else ordinary, and others stand out. */
function usualAttributes(descriptors: readonly PropertyDescriptor[]): number {
  const first = descriptors[0]
  const attributes = first === undefined ? ordinary : attributesOf(first)
  if (attributes !== sealed && attributes !== frozen) return ordinary
  return descriptors.every(each => attributesOf(each) === attributes) ? attributes : ordinary
}

/** How many elements there are, as far as one more than `most`. */
function countPresent(array: readonly unknown[], length: number, most: number): number {
  let count = 0
  for (let i = 0; i < length && count <= most; i++) if (hasOwn(array, i)) count++
  return count
}

/** Elements at these indices, ascending, with runs of holes between. `source` is indexed by index when it is the array itself, else by position. */
function elements(
  encoding: Encoding,
  source: readonly unknown[],
  present: readonly number[],
  length: number,
  end: number = length,
) {
  const byPosition = source.length === present.length
  let at = 0
  let index = 0
  const frame = {
    depth: encoding.depth,
    step: undefined as number | undefined,
    advance: () => {
      while (at < present.length) {
        const next = present[at]!
        holes(encoding, next - index)
        index = next + 1
        frame.step = next
        const value = byPosition ? source[at] : source[next]
        at++
        if (encoding.value(value)) return true
      }
      holes(encoding, end - index)
      index = end
      if (end < length) {
        encoding.out.byte(tag.more)
        encoding.out.count(length - end)
        end = length
        index = length
      }
      return false
    },
  }
  return frame
}

function holes(encoding: Encoding, count: number): void {
  if (count <= 0) return
  encoding.json = false
  encoding.out.byte(tag.holes)
  encoding.out.count(count)
}

/** The first entries, as far as they can be found at little cost. */
function boundedArray(encoding: Encoding, array: readonly unknown[], length: number): boolean {
  const { depth } = encoding
  const room = encoding.room(depth)
  const present: number[] = []
  const scan = Math.min(length, room * 4 + 1_000)
  let end = 0
  for (; end < scan && present.length < room; end++) if (hasOwn(array, end)) present.push(end)
  if (present.length < room && end < length) {
    const more = ownKeys(array).filter(isIndex).slice(present.length, room).map(Number)
    present.push(...more)
    end = present.length < room ? length : present.at(-1)! + 1
  }
  const own = length > namedLength ? [] : ownKeys(array).filter(key => key !== 'length' && !isIndex(key))
  const descriptors = present.map(index => getOwnPropertyDescriptor(array, index)!)
  const odd = present.filter((_, i) => descriptors[i]!.writable === undefined)
  encoding.json = false
  encoding.out.byte(tag.arrayGeneral)
  const keys = [...odd.map(String), ...own]
  encoding.out.byte(keys.length > 0 ? flag.properties : 0)
  encoding.out.count(length)
  const plain = present.filter((_, i) => descriptors[i]!.writable !== undefined)
  const values = plain.map(index => getOwnPropertyDescriptor(array, index)!.value as unknown)
  const items = elements(encoding, values, plain, length, end)
  if (keys.length === 0) return encoding.enter(items)
  return encoding.queue(
    items,
    encoding.properties(
      depth,
      keys,
      keys.map(key => encoding.descriptors.own(array, key)!),
      room,
    ),
  )
}
