/** ArrayBuffers and the views of them. */
import { types } from 'node:util'
import { ownProperties } from './encode-plain.ts'
import { type Encoding, type PoolRange, Regroup } from './encoding.ts'
import { classNameOf, isIndex, readBuffer, readView } from './inspect.ts'
import { flag, tag, viewNames, viewSizes } from './tags.ts'

const { getPrototypeOf, isExtensible, ownKeys } = Reflect
const nothing = () => false

export function encodeBuffer(encoding: Encoding, buffer: object, shared: boolean): boolean {
  const { depth, out } = encoding
  const read = readBuffer(buffer)
  if (read === undefined) {
    encoding.cannotHold('ArrayBuffer', 'open-handle', 'ArrayBuffer(0) <>')
    return false
  }
  if (read.bytes.length === encoding.realm.poolBytes) {
    const range = poolRange(encoding, buffer, 0, read.bytes.length)
    encoding.objects.set(range, encoding.objects.get(buffer)!)
  }
  const { keys, descriptors } = ownProperties(encoding, buffer, nothing)
  const resizable = read.maxByteLength !== undefined
  encoding.json = false
  out.byte(shared ? tag.sharedBuffer : tag.buffer)
  out.byte(
    (isExtensible(buffer) ? 0 : flag.nonExtensible) | (keys.length > 0 ? flag.properties : 0) | (resizable ? flag.special : 0),
  )
  out.count(read.bytes.length)
  if (read.maxByteLength !== undefined) out.count(read.maxByteLength)
  bytes(encoding, read.bytes)
  return keys.length > 0 && encoding.enter(encoding.properties(depth, keys, descriptors, encoding.room(depth)))
}

function bytes(encoding: Encoding, whole: Uint8Array): void {
  if (encoding.options.bounds === undefined) {
    encoding.out.raw(whole)
    return
  }
  const shown = whole.subarray(0, encoding.options.bounds.entries)
  encoding.out.count(shown.length)
  encoding.out.raw(shown)
}

export function encodeView(encoding: Encoding, view: ArrayBufferView, index: number): boolean {
  const { depth, out, realm } = encoding
  encoding.json = false
  const read = readView(view)
  const memory = read && readBuffer(read.buffer)
  if (read === undefined || memory === undefined) {
    encoding.cannotHold(classNameOf(getPrototypeOf(view)), 'open-handle', `${viewNames[index]}(0) []`)
    return false
  }
  const keys = namedKeys(encoding, view, index, read.length)
  const descriptors = keys.map(key => encoding.descriptors.own(view, key)!)
  encoding.edge(keys.length)
  const flags = (isExtensible(view) ? 0 : flag.nonExtensible) | (keys.length > 0 ? flag.properties : 0)
  const size = viewSizes[index]!
  const end = read.offset + read.length * size
  const room = encoding.room(depth)
  const rest = keys.length > 0 ? [encoding.properties(depth, keys, descriptors, room)] : []
  const head = (kind: number, offset: number, special: number) => {
    out.byte(kind)
    out.byte(flags | special)
    out.byte(index)
    out.count(offset)
    out.count(read.length)
  }
  if (encoding.options.bounds !== undefined) {
    head(tag.shownView, read.offset, 0)
    return encoding.queue(
      encoding.siblings(depth, () => firstElements(encoding, view, read.length)),
      ...rest,
    )
  }
  // A view that reaches the end of a resizable buffer is taken for one that follows it: no program can tell them apart without resizing.
  const follows = memory.maxByteLength !== undefined && memory.bytes.length - end < size
  if (viewNames[index] !== 'Buffer' || memory.bytes.length !== realm.poolBytes) {
    head(tag.view, read.offset, follows ? flag.special : 0)
    return encoding.queue(
      encoding.values(depth, [read.buffer], () => 'buffer'),
      ...rest,
    )
  }
  const range = poolRange(encoding, read.buffer, read.offset, end)
  if (range.end - range.start === memory.bytes.length) {
    head(tag.view, read.offset, 0)
    return encoding.queue(
      encoding.values(depth, [read.buffer], () => 'buffer'),
      ...rest,
    )
  }
  head(tag.view, read.offset - range.start, 0)
  const seen = encoding.objects.get(range)
  if (seen !== undefined) {
    out.byte(tag.objectRef)
    out.count(seen)
  } else {
    encoding.objects.set(range, encoding.objects.size)
    out.byte(tag.buffer)
    out.byte(0)
    out.count(range.end - range.start)
    out.raw(memory.bytes.subarray(range.start, range.end))
  }
  return rest.length > 0 && encoding.enter(rest[0]!)
}

/** Listing the keys of a view lists its elements; of longer ones only symbols are listed, unless the engine says that there is nothing to list. */
const listedLength = 1 << 20

function namedKeys(encoding: Encoding, view: object, index: number, length: number): readonly (string | symbol)[] {
  if (types.isDataView(view)) return ownKeys(view)
  const { layout } = encoding.options.host
  const sample = encoding.realm.viewSamples[index]
  if (layout !== undefined && sample !== undefined && layout.same(sample, sample) && layout.same(view, sample)) return []
  return length > listedLength ? Object.getOwnPropertySymbols(view) : ownKeys(view).filter(key => !isIndex(key))
}

/**
 * Node cuts small Buffers out of one pool. What is stored of it is what this value's views show, in one piece where they overlap.
 */
function poolRange(encoding: Encoding, buffer: object, start: number, end: number): PoolRange {
  const ranges = encoding.pool.get(buffer) ?? []
  const around = ranges.find(range => range.start <= start && end <= range.end)
  if (around !== undefined) return around
  const touching = ranges.filter(range => range.start < end && start < range.end)
  const range = {
    start: Math.min(start, ...touching.map(each => each.start)),
    end: Math.max(end, ...touching.map(each => each.end)),
  }
  encoding.pool.set(buffer, [...ranges.filter(each => !touching.includes(each)), range])
  if (touching.length > 0) throw new Regroup()
  return range
}

/** For people: the first elements or bytes as an array. */
function firstElements(encoding: Encoding, view: ArrayBufferView, length: number): boolean {
  const shown = Math.min(length, encoding.options.bounds?.entries ?? length)
  const source = types.isDataView(view)
    ? readBuffer(readView(view)!.buffer)!.bytes.subarray(readView(view)!.offset)
    : (view as Uint8Array)
  // Numbered like an object that nothing else refers to.
  encoding.objects.set({}, encoding.objects.size)
  encoding.out.byte(tag.arrayGeneral)
  encoding.out.byte(0)
  encoding.out.count(shown)
  for (let i = 0; i < shown; i++) encoding.value(source[i])
  return false
}
