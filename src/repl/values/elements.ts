/** What the views of stored memory hold. */
import { type GraphObject, isGraphObject } from './graph.ts'
import { viewNames, viewSizes } from './tags.ts'

/** Elements of a typed array, or bytes of a DataView, from the memory that was stored. */
export function elementsOf(value: Extract<GraphObject, { kind: 'view' }>, offset: number, limit: number): (number | bigint)[] {
  if (!isGraphObject(value.buffer)) return []
  if (value.buffer.kind === 'array') {
    return value.buffer.elements
      .slice(offset, offset + limit)
      .filter((each): each is number | bigint => typeof each === 'number' || typeof each === 'bigint')
  }
  if (value.buffer.kind !== 'buffer') return []
  const size = viewSizes[viewNames.indexOf(value.name as (typeof viewNames)[number])] ?? 1
  const from = value.offset + offset * size
  const wanted = Math.max(0, Math.min(limit, value.length - offset))
  const part = value.buffer.bytes.slice(from, from + wanted * size)
  if (value.name === 'DataView' || value.name === 'Buffer') return [...part]
  const view = new DataView(part.buffer)
  return Array.from({ length: Math.floor(part.length / size) }, (_, i) => readElement[value.name]?.(view, i * size) ?? 0)
}

const readElement: Readonly<Record<string, (view: DataView, at: number) => number | bigint>> = {
  Int8Array: (view, at) => view.getInt8(at),
  Uint8Array: (view, at) => view.getUint8(at),
  Uint8ClampedArray: (view, at) => view.getUint8(at),
  Int16Array: (view, at) => view.getInt16(at, true),
  Uint16Array: (view, at) => view.getUint16(at, true),
  Int32Array: (view, at) => view.getInt32(at, true),
  Uint32Array: (view, at) => view.getUint32(at, true),
  Float16Array: (view, at) => half(view.getUint16(at, true)),
  Float32Array: (view, at) => view.getFloat32(at, true),
  Float64Array: (view, at) => view.getFloat64(at, true),
  BigInt64Array: (view, at) => view.getBigInt64(at, true),
  BigUint64Array: (view, at) => view.getBigUint64(at, true),
}

/** IEEE half precision; engines before it was standard cannot read it themselves. */
function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}
