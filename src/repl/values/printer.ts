/** One pass over a graph, within a budget of characters, that makes the pieces `layout.ts` puts on lines. */
import { elementsOf } from './elements.ts'
import {
  type Accessor,
  type Graph,
  type GraphObject,
  type GraphSymbol,
  type Hole,
  isGraphObject,
  type Properties,
} from './graph.ts'
import type { Piece } from './layout.ts'
import { previewBounds } from './limits.ts'
import { boxName, bufferName } from './names.ts'
import { flag } from './tags.ts'

export interface PrintOptions {
  /** Longest text, in UTF-16 units. */
  readonly maxChars: number
  /** Entries of the root; levels below it show at most 100. Default 100. */
  readonly entries?: number
  /** Levels. Default 6. */
  readonly depth?: number
}

export const count = (value: number): string => value.toLocaleString('en-US')
const more = (left: number): string => `… ${count(left)} more`

/** A piece whose mark is set when its object turns out to be met again. */
type Marked = Exclude<Piece, string>

export class Printer {
  readonly #entries: number
  readonly #depth: number
  #budget: number
  /** Where an object was first shown, and the number it got when it was met again. */
  readonly #shown = new Map<GraphObject, Marked>()
  readonly #again: { readonly first: Marked; readonly here: Marked }[] = []
  readonly #order: Marked[] = []
  cut = false

  constructor(options: PrintOptions, budget: number) {
    this.#entries = options.entries ?? previewBounds.entries
    this.#depth = options.depth ?? previewBounds.depth
    this.#budget = budget
  }

  print(graph: Graph): Piece {
    const piece = this.#value(graph, 0)
    const repeated = new Set(this.#again.map(each => each.first))
    const numbers = new Map(this.#order.filter(each => repeated.has(each)).map((each, index) => [each, index + 1]))
    for (const [each, number] of numbers) each.open = `&${number} ${each.open}`
    for (const { first, here } of this.#again) here.open = `*${numbers.get(first)}`
    return piece
  }

  #value(value: Graph | Hole, depth: number): Piece {
    if (!isGraphObject(value))
      return this.#spend(typeof value === 'object' && value !== null ? holesText(value.count) : this.#primitive(value))
    if (value.kind === 'symbol') return this.#spend(this.#symbol(value))
    if (value.kind === 'opaque') return this.#spend(value.shown)
    const first = this.#shown.get(value)
    if (first !== undefined) {
      const here: Marked = { open: '*', items: [], close: '', spaced: false }
      this.#budget -= 4
      this.#again.push({ first, here })
      return here
    }
    const piece: Marked = { open: '', items: [], close: '', spaced: false }
    this.#shown.set(value, piece)
    this.#order.push(piece)
    this.#object(value, depth, piece)
    return piece
  }

  #spend(text: string): string {
    this.#budget -= text.length + 2
    return text
  }

  #primitive(value: null | undefined | boolean | number | bigint | string): string {
    if (typeof value === 'string') return this.#quoted(value)
    if (typeof value === 'bigint') return `${value}n`
    return Object.is(value, -0) ? '-0' : String(value)
  }

  /** JSON's escapes; lone surrogates are written as escapes by `JSON.stringify` itself. */
  #quoted(text: string): string {
    const room = Math.max(16, this.#budget)
    if (text.length <= room) return JSON.stringify(text)
    this.cut = true
    const end = /[\ud800-\udbff]/.test(text.charAt(room - 1)) ? room - 1 : room
    return `${JSON.stringify(text.slice(0, end))}… ${count(text.length - end)} more characters`
  }

  #symbol(symbol: GraphSymbol): string {
    if (symbol.of === 'well-known') return `Symbol.${symbol.text}`
    if (symbol.of === 'registered') return `Symbol.for(${this.#quoted(symbol.text ?? '')})`
    return symbol.text === undefined ? 'Symbol()' : `Symbol(${this.#quoted(symbol.text)})`
  }

  /** Items one by one, as many as there is room for; the others are counted. */
  #list(depth: number, total: number, leftOut: number, item: (index: number) => Piece): Piece[] {
    const items: Piece[] = []
    const room = depth >= this.#depth ? 0 : depth === 0 ? this.#entries : Math.min(this.#entries, previewBounds.entries)
    while (items.length < total && items.length < room && this.#budget > 0) items.push(item(items.length))
    const left = total - items.length + leftOut
    if (left > 0) {
      this.cut = true
      items.push(this.#spend(more(left)))
    }
    return items
  }

  #object(value: Exclude<GraphObject, { kind: 'symbol' | 'opaque' }>, depth: number, into: Marked): void {
    const name = 'derived' in value && value.derived !== undefined ? value.derived.className : ''
    switch (value.kind) {
      case 'object':
        this.#braces(
          into,
          (value.flags & flag.prototype) === 0 ? '' : '[null prototype] ',
          this.#properties(value.properties, depth),
        )
        return
      case 'instance':
        this.#braces(
          into,
          value.className === '' ? (value.class === null ? '[null prototype] ' : '') : `${value.className} `,
          this.#properties(value.properties, depth),
        )
        return
      case 'array':
        this.#budget -= 4
        into.open = name === '' ? '[' : `${name}(${value.length}) [`
        into.items = [...this.#elements(value, depth), ...this.#properties(value.properties, depth)]
        into.close = ']'
        return
      case 'map': {
        const shown = value.parts.length / 2
        const items = this.#list(depth, shown, value.size - shown, index =>
          this.#join(this.#value(value.parts[index * 2], depth + 1), ' => ', this.#value(value.parts[index * 2 + 1], depth + 1)),
        )
        this.#braces(into, `${name || 'Map'}(${value.size}) `, [...items, ...this.#properties(value.properties, depth)])
        return
      }
      case 'set': {
        const items = this.#list(depth, value.parts.length, value.size - value.parts.length, index =>
          this.#value(value.parts[index], depth + 1),
        )
        this.#braces(into, `${name || 'Set'}(${value.size}) `, [...items, ...this.#properties(value.properties, depth)])
        return
      }
      case 'date':
        this.#text(
          into,
          `${name || 'Date'}(${Number.isNaN(value.time) ? 'invalid' : new Date(value.time).toISOString()})`,
          value.properties,
          depth,
        )
        return
      case 'regexp':
        this.#text(into, `/${value.source}/${value.regexpFlags}`, value.properties, depth)
        return
      case 'error':
        this.#error(value, depth, into)
        return
      case 'buffer':
        this.#text(into, this.#bytes(name || bufferName(value), value.bytes, value.byteLength, depth), value.properties, depth)
        return
      case 'view':
        this.#text(into, this.#view(value, name, depth), value.properties, depth)
        return
      case 'url':
        this.#text(into, `${name || 'URL'}(${value.text})`, value.properties, depth)
        return
      case 'params':
        this.#text(into, `${name || 'URLSearchParams'}(${value.text})`, value.properties, depth)
        return
      case 'temporal':
        this.#text(into, `${name || value.name}(${value.text})`, value.properties, depth)
        return
      case 'boxed': {
        const inner = isGraphObject(value.value)
          ? value.value.kind === 'symbol'
            ? this.#symbol(value.value)
            : ''
          : this.#primitive(value.value)
        this.#text(into, `[${name || boxName(value.value)}: ${inner}]`, value.properties, depth)
        return
      }
      case 'promise': {
        const items = this.#list(depth, 1, 0, () => {
          const inner = this.#value(value.value, depth + 1)
          return value.settled === 'fulfilled' ? inner : this.#join('<rejected> ', '', inner)
        })
        this.#braces(into, `${name || 'Promise'} `, [...items, ...this.#properties(value.properties, depth)])
        return
      }
      case 'reference':
        this.#text(into, value.shown, value.properties, depth)
        return
      default:
        value satisfies never
    }
  }

  #braces(into: Marked, name: string, items: readonly Piece[]): void {
    this.#budget -= name.length + 4
    into.open = `${name}{`
    into.items = items
    into.close = '}'
    into.spaced = true
  }

  /** Text of its own, and braces behind it when there are properties. */
  #text(into: Marked, text: string, properties: Properties, depth: number): void {
    this.#spend(text)
    if (properties.keys.length === 0) {
      into.open = text
      return
    }
    this.#braces(into, `${text} `, this.#properties(properties, depth))
  }

  #properties(properties: Properties, depth: number, leaveOut?: (key: string) => boolean): Piece[] {
    const shown =
      leaveOut === undefined
        ? undefined
        : properties.keys.flatMap((key, index) => (typeof key === 'string' && leaveOut(key) ? [] : [index]))
    return this.#list(depth, shown?.length ?? properties.keys.length, properties.more ?? 0, at => {
      const index = shown?.[at] ?? at
      return this.#join(this.#spend(this.#key(properties.keys[index]!)), ': ', this.#property(properties.values[index], depth))
    })
  }

  #key(key: string | GraphSymbol): string {
    if (typeof key !== 'string') return `[${this.#symbol(key)}]`
    return /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u.test(key) || /^(?:0|[1-9]\d{0,14})$/.test(key)
      ? key
      : this.#quoted(key)
  }

  #property(value: Graph | Accessor, depth: number): Piece {
    if (typeof value !== 'object' || value === null || value.kind !== 'accessor') return this.#value(value, depth + 1)
    if (value.get === undefined) return '[setter]'
    return value.set === undefined ? '[getter]' : '[getter/setter]'
  }

  #elements(value: Extract<GraphObject, { kind: 'array' }>, depth: number): Piece[] {
    let seen = 0
    const items = this.#list(depth, value.elements.length, 0, index => {
      const each = value.elements[index]
      seen += typeof each === 'object' && each !== null && each.kind === 'holes' ? each.count : 1
      return this.#value(each, depth + 1)
    })
    const left = value.length - seen
    if (left <= 0) return items
    this.cut = true
    // The list counted runs; readers want elements.
    const whole = items.length > 0 && seen < value.length - value.more ? items.slice(0, -1) : items
    return [...whole, more(left)]
  }

  /** The stack is for people who ask for it (`error.stack` in a cell), not for every look at an error. */
  #error(value: Extract<GraphObject, { kind: 'error' }>, depth: number, into: Marked): void {
    const text = (key: string) => {
      const found = value.properties.values[value.properties.keys.indexOf(key)]
      return typeof found === 'string' ? found : undefined
    }
    const name = text('name') ?? value.derived?.className ?? ''
    const message = text('message') ?? ''
    const heading = `${name === '' ? value.name : name}(${message === '' ? '' : this.#quoted(message)})`
    const rest = value.properties.keys.some(key => typeof key !== 'string' || !told.has(key))
    this.#spend(heading)
    if (rest)
      this.#braces(
        into,
        `${heading} `,
        this.#properties(value.properties, depth, key => told.has(key)),
      )
    else into.open = heading
  }

  #bytes(name: string, bytes: Uint8Array, total: number, depth: number): string {
    const room = depth >= this.#depth ? 0 : Math.max(1, Math.min(previewBounds.entries, Math.floor(this.#budget / 3)))
    const shown = [...bytes.subarray(0, room)].map(byte => byte.toString(16).padStart(2, '0'))
    const left = total - shown.length
    if (left > 0) this.cut = true
    return `${name}(${total}) <${[...shown, ...(left > 0 ? [more(left)] : [])].join(' ')}>`
  }

  #view(value: Extract<GraphObject, { kind: 'view' }>, className: string, depth: number): string {
    const name = className || value.name
    const elements = elementsOf(value, 0, previewBounds.entries)
    if (value.name === 'Buffer') return this.#bytes(name, Uint8Array.from(elements, Number), value.length, depth)
    const room = depth >= this.#depth ? 0 : previewBounds.entries
    const shown: string[] = []
    for (const each of elements) {
      if (shown.length >= room || this.#budget - shown.length * 4 <= 0) break
      shown.push(this.#primitive(each))
    }
    const left = value.length - shown.length
    if (left > 0) this.cut = true
    return `${name}(${value.length}) [${[...shown, ...(left > 0 ? [more(left)] : [])].join(', ')}]`
  }

  #join(left: Piece, middle: string, right: Piece): Piece {
    if (typeof left === 'string' && typeof right === 'string') return left + middle + right
    return { open: '', items: [left, middle, right], close: '', spaced: false, joined: true }
  }
}

const told: ReadonlySet<string> = new Set(['stack', 'message', 'name'])

const holesText = (holes: number): string => (holes === 1 ? '<1 hole>' : `<${holes} holes>`)
