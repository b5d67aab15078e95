/**
 * The short way from bytes to a JSON value, and to what a printer shows of it: no graph of the whole value is made. For what it does not know (kinds that
 * are no JSON, objects with flags, damage) it has no answer, and `parse.ts` says what it is.
 */
import { type Graph, noProperties } from './graph.ts'
import type { Json } from './json.ts'
import { jsonDepth, previewBounds } from './limits.ts'
import { header, internedUnits, tag } from './tags.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const floatBytes = new Uint8Array(8)
const floatView = new DataView(floatBytes.buffer)

/** @returns `undefined` for everything but a whole value of the plainest form. */
export function readJson(bytes: Uint8Array): { readonly value: Json } | undefined {
  for (let i = 0; i < header.length; i++) if (bytes[i] !== header[i]) return undefined
  try {
    const reading = new Reading(bytes, header.length)
    const value = reading.value(0)
    return reading.isAtEnd ? { value } : undefined
  } catch (error) {
    if (error === otherwise) return undefined
    throw error
  }
}

const otherwise = new Error('no plain JSON')

class Reading {
  readonly #bytes: Uint8Array
  #at: number
  readonly #texts: string[] = []
  readonly #shapes: string[][] = []

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  value(depth: number): Json {
    const kind = this.#byte()
    switch (kind) {
      case tag.null:
        return null
      case tag.false:
        return false
      case tag.true:
        return true
      case tag.integer:
        return this.#integer()
      case tag.float:
        return this.#float()
      case tag.text:
      case tag.textRef:
        return this.#text(kind)
      case tag.array:
        return this.#array(depth)
      case tag.shape:
      case tag.shapeRef:
        return this.#object(kind, depth)
      default:
        throw otherwise
    }
  }

  #array(depth: number): Json {
    const length = this.#count()
    if (depth >= jsonDepth || length > this.#bytes.length - this.#at) throw otherwise
    const list: Json[] = []
    for (let i = 0; i < length; i++) list.push(this.value(depth + 1))
    return list
  }

  #object(kind: number, depth: number): Json {
    if (depth >= jsonDepth) throw otherwise
    const keys = kind === tag.shape ? this.#shape() : this.#shapes[this.#count()]
    if (keys === undefined) throw otherwise
    const object: Record<string, Json> = {}
    for (let i = 0; i < keys.length; i++) object[keys[i]!] = this.value(depth + 1)
    return object
  }

  #shape(): string[] {
    const length = this.#count()
    if (length > this.#bytes.length - this.#at) throw otherwise
    const keys: string[] = []
    for (let i = 0; i < length; i++) {
      const key = this.#text(this.#byte())
      // Assigning it would set the prototype.
      if (key === '__proto__') throw otherwise
      keys.push(key)
    }
    if (new Set(keys).size < length) throw otherwise
    this.#shapes.push(keys)
    return keys
  }

  #text(kind: number): string {
    if (kind === tag.textRef) {
      const known = this.#texts[this.#count()]
      if (known === undefined) throw otherwise
      return known
    }
    if (kind !== tag.text) throw otherwise
    const length = this.#count()
    const end = this.#at + length
    if (end > this.#bytes.length) throw otherwise
    const text = (length <= 24 ? this.#ascii(end) : undefined) ?? this.#utf8(end)
    this.#at = end
    if (text.length <= internedUnits) this.#texts.push(text)
    return text
  }

  /** Without the decoder's overhead. */
  #ascii(end: number): string | undefined {
    let text = ''
    for (let at = this.#at; at < end; at++) {
      const byte = this.#bytes[at]!
      if (byte > 0x7f) return undefined
      text += String.fromCharCode(byte)
    }
    return text
  }

  #utf8(end: number): string {
    try {
      return utf8.decode(this.#bytes.subarray(this.#at, end))
    } catch {
      throw otherwise
    }
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw otherwise
    return byte
  }

  /** Up to 49 bits; longer forms than needed are for the other reader to refuse. */
  #count(): number {
    let byte = this.#byte()
    if (byte < 0x80) return byte
    let value = byte & 0x7f
    for (let i = 1, factor = 0x80; i < 7; i++, factor *= 0x80) {
      byte = this.#byte()
      value += (byte & 0x7f) * factor
      if (byte === 0) break
      if (byte < 0x80) return value
    }
    throw otherwise
  }

  #integer(): number {
    const zigzag = this.#count()
    return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
  }

  #float(): number {
    if (this.#at + 8 > this.#bytes.length) throw otherwise
    floatBytes.set(this.#bytes.subarray(this.#at, this.#at + 8))
    this.#at += 8
    const value = floatView.getFloat64(0, true)
    if (!Number.isFinite(value) || Object.is(value, -0) || Number.isSafeInteger(value)) throw otherwise
    return value
  }
}

/** As much of the graph of a JSON value as `printBounded` looks at by default: lists have their true length, and their first entries. */
export function shownGraph(value: Json): Graph {
  let objects = 0
  const graphOf = (of: Json, depth: number): Graph => {
    if (typeof of !== 'object' || of === null) return of
    const id = objects++
    const keys = Array.isArray(of) ? undefined : Object.keys(of)
    const length = keys === undefined ? (of as readonly Json[]).length : keys.length
    const shown = depth >= previewBounds.depth ? 0 : Math.min(length, previewBounds.entries)
    const parts = new Array<Graph>(length)
    for (let i = 0; i < shown; i++) {
      parts[i] = graphOf((of as { readonly [key: string | number]: Json })[keys === undefined ? i : keys[i]!]!, depth + 1)
    }
    return keys === undefined
      ? { kind: 'array', id, flags: 0, properties: noProperties, length, elements: parts, more: 0 }
      : { kind: 'object', id, flags: 0, properties: { keys, values: parts } }
  }
  return graphOf(value, 0)
}
