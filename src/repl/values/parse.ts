/**
 * `OVG1` bytes to a graph, every tag, length and number checked: what is accepted is exactly what the encoder writes for some value. Damage is
 * `REPL_BAD_VALUE`; random bytes can neither crash it nor make it allocate more than the input warrants. Iterative.
 */
import { OutriggerError } from '../../errors.ts'
import {
  type Accessor,
  type Derived,
  type Graph,
  type GraphObject,
  type GraphSymbol,
  type Hole,
  isGraphObject,
  type Key,
  noProperties,
  type Properties,
} from './graph.ts'
import { decimalDigits, valueLimits } from './limits.ts'
import { type Checks, createChecks } from './parse-checks.ts'
import { Reader } from './reader.ts'
import {
  attribute,
  errorNames,
  flag,
  header,
  internedUnits,
  ordinary,
  previewHeader,
  referenceKinds,
  tag,
  temporalNames,
  viewNames,
  viewSizes,
} from './tags.ts'

/** @throws OutriggerError `REPL_BAD_VALUE` for any damage. */
export function parseGraph(bytes: Uint8Array): Graph {
  return new Parsing(bytes).parse()
}

/** Made by `OVP1`: parts of the value were left out. */
export const isBoundedCopy = (bytes: Uint8Array): boolean => startsWith(bytes, previewHeader)

const startsWith = (bytes: Uint8Array, prefix: Uint8Array): boolean => prefix.every((byte, index) => bytes[index] === byte)

/** Reads on until a child has parts of its own (true) or its own are complete (false). */
type Step = () => boolean

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
type Of<K extends GraphObject['kind']> = Mutable<Extract<GraphObject, { kind: K }>>

class Parsing {
  readonly #in: Reader
  readonly #preview: boolean
  readonly #checks: Checks
  readonly #objects: GraphObject[] = []
  readonly #texts: string[] = []
  readonly #known = new Set<string>()
  readonly #shapes: (readonly string[])[] = []
  readonly #shapeNames = new Set<string>()
  readonly #symbolNames = new Set<string>()
  readonly #stack: Step[] = []
  #derived: Derived | undefined

  constructor(bytes: Uint8Array) {
    const whole = startsWith(bytes, header)
    if (!whole && !startsWith(bytes, previewHeader)) {
      throw new OutriggerError('REPL_BAD_VALUE', 'these bytes are no stored value', {
        subject: 'header',
        hint: 'run the cell again that made the value',
      })
    }
    this.#preview = !whole
    this.#in = new Reader(bytes, header.length)
    this.#checks = createChecks(this.#in)
  }

  parse(): Graph {
    const root = this.#read(this.#in.byte())
    for (let step = this.#stack.at(-1); step !== undefined; step = this.#stack.at(-1)) if (!step()) this.#stack.pop()
    if (this.#in.left > 0) throw this.#in.damaged('bytes behind the end')
    return root
  }

  /** A value; an object's parts are read by the step that it leaves on the stack. */
  #read(kind: number): Graph {
    switch (kind) {
      case tag.null:
        return null
      case tag.undefined:
        return undefined
      case tag.false:
        return false
      case tag.true:
        return true
      case tag.integer:
        return this.#in.integer()
      case tag.float:
        return this.#float()
      case tag.bigintPositive:
      case tag.bigintNegative:
        return this.#bigint(kind === tag.bigintNegative)
      case tag.text:
      case tag.wideText:
      case tag.textRef:
        return this.#text(kind)
      case tag.objectRef: {
        const known = this.#objects[this.#in.count()]
        if (known === undefined) throw this.#in.damaged('a reference to nothing')
        return known
      }
      case tag.symbol:
      case tag.registeredSymbol:
      case tag.wellKnownSymbol:
        return this.#symbol(kind)
      default:
        return this.#object(kind, this.#objects.length)
    }
  }

  #float(): number {
    const value = this.#in.float()
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) throw this.#in.damaged('an integer is written as a float')
    return value
  }

  #bigint(negative: boolean): bigint {
    const digits = this.#in.utf8()
    if (decimalDigits(digits.length) > valueLimits.bigintDigits) throw this.#in.damaged('a bigint is too long')
    if (!/^(?:0|[1-9a-f][0-9a-f]*)$/.test(digits) || (negative && digits === '0')) throw this.#in.damaged('a bigint is no number')
    const value = BigInt(`0x${digits}`)
    return negative ? -value : value
  }

  #text(kind: number): string {
    if (kind === tag.textRef) {
      const known = this.#texts[this.#in.count()]
      if (known === undefined) throw this.#in.damaged('a reference to no text')
      return known
    }
    if (kind !== tag.text && kind !== tag.wideText) throw this.#in.damaged('a text was expected')
    const value = kind === tag.text ? this.#in.utf8() : this.#in.utf16()
    if (kind === tag.wideText && value.isWellFormed()) throw this.#in.damaged('a well-formed text is written as UTF-16')
    if (value.length <= internedUnits) {
      if (this.#known.has(value)) throw this.#in.damaged('a text is written twice')
      this.#known.add(value)
      this.#texts.push(value)
    }
    return value
  }

  #name(): string {
    return this.#text(this.#in.byte())
  }

  #symbol(kind: number): GraphSymbol {
    // The number is taken before the description is read, as the writer does it.
    const symbol: Mutable<GraphSymbol> = { kind: 'symbol', id: this.#objects.length, of: 'unique', text: undefined }
    this.#objects.push(symbol)
    if (kind === tag.symbol) {
      const next = this.#in.byte()
      symbol.text = next === tag.undefined ? undefined : this.#text(next)
      return symbol
    }
    symbol.of = kind === tag.registeredSymbol ? 'registered' : 'well-known'
    symbol.text = this.#name()
    const identity = `${kind} ${symbol.text}`
    if (this.#symbolNames.has(identity)) throw this.#in.damaged('a symbol is written twice')
    this.#symbolNames.add(identity)
    return symbol
  }

  #key(): Key {
    const kind = this.#in.byte()
    if (kind === tag.symbol || kind === tag.registeredSymbol || kind === tag.wellKnownSymbol) return this.#symbol(kind)
    if (kind === tag.objectRef) {
      const known = this.#objects[this.#in.count()]
      if (known?.kind !== 'symbol') throw this.#in.damaged('a key is no symbol')
      return known
    }
    return this.#text(kind)
  }

  #flags(allowed: number): number {
    const value = this.#in.byte()
    if ((value & ~(allowed | flag.nonExtensible)) !== 0) throw this.#in.damaged('unknown flags')
    return value
  }

  /** Number an object and give it what every object has. */
  #keep<T extends GraphObject>(object: T): T {
    if (this.#derived !== undefined) {
      // The number was taken by the class part.
      const { id } = object
      const whole = Object.assign(object, { derived: this.#derived })
      this.#derived = undefined
      this.#objects[id] = whole
      return whole
    }
    this.#objects.push(object)
    return object
  }

  /** Steps are taken one after another. */
  #then(...steps: readonly Step[]): void {
    for (let i = steps.length - 1; i >= 0; i--) this.#stack.push(steps[i]!)
  }

  /** @param optional - the block is there by a flag and is never empty. */
  #properties(object: Mutable<{ properties: Properties }>, check: (properties: Properties) => void, optional: boolean): Step {
    let left = -1
    const keys: Key[] = []
    const values: (Graph | Accessor)[] = []
    let attributes: number[] | undefined
    let open: Accessor | undefined
    return () => {
      if (left < 0) {
        left = this.#in.countOf('properties')
        if (optional && left === 0 && !this.#preview) throw this.#in.damaged('an empty block of properties')
        object.properties = { keys, values }
      }
      for (;;) {
        if (open !== undefined) {
          const accessor = open
          open = undefined
          const before = this.#stack.length
          accessor.set = this.#read(this.#in.byte())
          if (this.#stack.length > before) return true
        }
        if (left === 0) break
        left--
        keys.push(this.#key())
        const bits = this.#in.byte()
        if (bits > 15 || ((bits & attribute.accessor) !== 0 && (bits & attribute.writable) !== 0))
          throw this.#in.damaged('unknown attributes')
        if (bits !== ordinary && attributes === undefined) {
          attributes = new Array(keys.length - 1).fill(ordinary)
          object.properties = { keys, values, attributes }
        }
        attributes?.push(bits)
        const before = this.#stack.length
        const value = this.#read(this.#in.byte())
        if ((bits & attribute.accessor) === 0) values.push(value)
        else {
          open = { kind: 'accessor', get: value, set: undefined }
          values.push(open)
        }
        if (this.#stack.length > before) return true
      }
      if (this.#preview) {
        const more = this.#in.count()
        if (more > 0) object.properties = { ...object.properties, more }
      } else check(object.properties)
      return false
    }
  }

  /** Kinds whose properties are optional and last. */
  #withProperties<T extends GraphObject & { properties: Properties; flags: number }>(
    object: T,
    own: (key: Key) => boolean,
    ...before: readonly Step[]
  ): T {
    const steps = [...before]
    if ((object.flags & flag.properties) !== 0) {
      steps.push(this.#properties(object as never, properties => this.#checks.own(properties, own), true))
    }
    this.#then(...steps)
    return object
  }

  #object(kind: number, id: number): GraphObject {
    const properties = noProperties
    switch (kind) {
      case tag.shape:
      case tag.shapeRef:
        return this.#shaped(id, kind)
      case tag.plain: {
        const object: Of<'object'> = this.#keep({ kind: 'object', id, flags: this.#flags(flag.prototype), properties })
        this.#then(this.#properties(object, own => this.#checks.plain(own, object.flags), false))
        return object
      }
      case tag.array:
      case tag.arrayGeneral:
        return this.#array(id, kind)
      case tag.map:
      case tag.set:
        return this.#collection(id, kind)
      case tag.date: {
        const object: Of<'date'> = this.#keep({
          kind: 'date',
          id,
          flags: this.#flags(flag.properties),
          properties,
          time: this.#in.float(),
        })
        this.#checks.time(object.time)
        return this.#withProperties(object, anyKey)
      }
      case tag.regexp: {
        const object: Of<'regexp'> = this.#keep({
          kind: 'regexp',
          id,
          flags: this.#flags(flag.properties | flag.special),
          properties,
          source: '',
          regexpFlags: '',
          lastIndex: 0,
        })
        object.source = this.#name()
        object.regexpFlags = this.#name()
        this.#checks.regexp(object.source, object.regexpFlags)
        const last = this.#one(value => {
          object.lastIndex = value
        })
        return this.#withProperties(object, key => key !== 'lastIndex', last)
      }
      case tag.error: {
        const flags = this.#flags(flag.properties)
        const name = errorNames[this.#in.byte()]
        if (name === undefined) throw this.#in.damaged('unknown error class')
        return this.#withProperties(this.#keep({ kind: 'error', id, flags, properties, name }), anyKey)
      }
      case tag.buffer:
      case tag.sharedBuffer: {
        const flags = this.#flags(flag.properties | flag.special)
        const byteLength = this.#in.count()
        const maxByteLength = (flags & flag.special) === 0 ? undefined : this.#in.count()
        if (maxByteLength !== undefined && maxByteLength < byteLength) throw this.#in.damaged('a buffer is longer than it may be')
        const here = this.#preview ? this.#in.count() : byteLength
        const bytes = here === 0 ? noBytes : this.#in.raw(here)
        const shared = kind === tag.sharedBuffer
        return this.#withProperties(
          this.#keep({ kind: 'buffer', id, flags, properties, shared, bytes, byteLength, maxByteLength }),
          anyKey,
        )
      }
      case tag.view:
      case tag.shownView:
        return this.#view(id, kind)
      case tag.url:
      case tag.params: {
        const flags = this.#flags(flag.properties)
        const object: Of<'url' | 'params'> = this.#keep({
          kind: kind === tag.url ? 'url' : 'params',
          id,
          flags,
          properties,
          text: '',
        })
        object.text = this.#name()
        return this.#withProperties(object as GraphObject & typeof object, key => typeof key === 'string')
      }
      case tag.temporal: {
        const flags = this.#flags(flag.properties)
        const name = temporalNames[this.#in.byte()]
        if (name === undefined) throw this.#in.damaged('unknown Temporal class')
        const object: Of<'temporal'> = this.#keep({ kind: 'temporal', id, flags, properties, name, text: '' })
        object.text = this.#name()
        return this.#withProperties(object, anyKey)
      }
      case tag.boxed: {
        const object: Of<'boxed'> = this.#keep({
          kind: 'boxed',
          id,
          flags: this.#flags(flag.properties),
          properties,
          value: undefined,
        })
        const value = this.#one(each => {
          object.value = each
          this.#checks.boxed(each)
        })
        const free = (key: Key) =>
          typeof object.value !== 'string' ||
          !(key === 'length' || (typeof key === 'string' && /^\d+$/.test(key) && Number(key) < object.value.length))
        return this.#withProperties(object, free, value)
      }
      case tag.promise: {
        const flags = this.#flags(flag.properties)
        const settled = this.#in.byte()
        if (settled > 1) throw this.#in.damaged('unknown outcome')
        const object: Of<'promise'> = this.#keep({
          kind: 'promise',
          id,
          flags,
          properties,
          settled: settled === 0 ? 'fulfilled' : 'rejected',
          value: undefined,
        })
        const value = this.#one(each => {
          object.value = each
        })
        return this.#withProperties(object, anyKey, value)
      }
      case tag.reference: {
        const flags = this.#flags(flag.properties)
        const of = referenceKinds[this.#in.byte()]
        if (of === undefined) throw this.#in.damaged('unknown reference')
        const object: Of<'reference'> = this.#keep({ kind: 'reference', id, flags, properties, of, shown: '', payload: '' })
        object.shown = this.#name()
        object.payload = this.#name()
        return this.#withProperties(object, anyKey)
      }
      case tag.instance: {
        if (this.#derived !== undefined) throw this.#in.damaged('a class stands twice')
        const object: Of<'instance'> = this.#keep({
          kind: 'instance',
          id,
          flags: this.#flags(flag.prototype),
          properties,
          className: '',
          class: undefined,
        })
        object.className = this.#name()
        const made = this.#one(value => {
          object.class = value
        })
        this.#then(
          made,
          this.#properties(object, own => this.#checks.own(own, anyKey), false),
        )
        return object
      }
      case tag.derived:
        return this.#derivedObject(id)
      case tag.opaque: {
        if (this.#derived !== undefined) this.#derived = undefined
        else this.#objects.push(undefined as never)
        const object: Of<'opaque'> = { kind: 'opaque', id, type: '', reason: '', shown: '' }
        this.#objects[id] = object
        object.type = this.#name()
        object.reason = this.#name()
        object.shown = this.#name()
        return object
      }
      default:
        throw this.#in.damaged(`unknown tag ${kind}`)
    }
  }

  #one(take: (value: Graph) => void): Step {
    let done = false
    return () => {
      if (done) return false
      done = true
      const before = this.#stack.length
      take(this.#read(this.#in.byte()))
      return this.#stack.length > before
    }
  }

  /** The class is read first, but the object has the number before it: its place is held by a stand-in that becomes the object. */
  #derivedObject(id: number): GraphObject {
    if (this.#derived !== undefined) throw this.#in.damaged('a class stands twice')
    const place = { kind: 'opaque', id, type: '', reason: '', shown: '' } as GraphObject
    this.#objects.push(place)
    const className = this.#name()
    const direct = this.#in.byte()
    if (direct > 1) throw this.#in.damaged('unknown class part')
    const derived: Mutable<Derived> = { className, direct: direct === 1, class: undefined }
    const made = this.#one(value => {
      derived.class = value
    })
    const body = this.#once(() => {
      const kind = this.#in.byte()
      if (
        kind < tag.array ||
        kind > tag.temporal ||
        kind === tag.instance ||
        (kind >= tag.symbol && kind <= tag.wellKnownSymbol) ||
        kind === tag.reference
      ) {
        throw this.#in.damaged('no kind that has a class')
      }
      this.#derived = derived
      const before = this.#stack.length
      const object = this.#object(kind, id)
      // Whoever met the number already holds the stand-in.
      const parts = this.#stack.splice(before)
      for (const key of Object.keys(place)) delete (place as unknown as Record<string, unknown>)[key]
      Object.assign(place, object)
      this.#objects[id] = place
      return [object, place, parts]
    })
    this.#then(made, body)
    return place
  }

  /** Read the body of a derived object into its stand-in; parts that come later are moved over when they are complete. */
  #once(read: () => readonly [GraphObject, GraphObject, Step[]]): Step {
    let state: readonly [GraphObject, GraphObject, Step[]] | undefined
    return () => {
      if (state === undefined) {
        state = read()
        this.#stack.push(...state[2])
        return true
      }
      Object.assign(state[1], state[0])
      return false
    }
  }

  #shaped(id: number, kind: number): GraphObject {
    const object: Of<'object'> = this.#keep({ kind: 'object', id, flags: 0, properties: noProperties })
    let keys: readonly string[] | undefined
    if (kind === tag.shapeRef) keys = this.#shapes[this.#in.count()]
    else {
      const count = this.#in.countOf('keys')
      const names: string[] = []
      for (let i = 0; i < count; i++) names.push(this.#name())
      this.#checks.keys(names)
      const identity = names.map(name => `${name.length}:${name}`).join('')
      if (this.#shapeNames.has(identity)) throw this.#in.damaged('a key list is written twice')
      this.#shapeNames.add(identity)
      this.#shapes.push(names)
      keys = names
    }
    if (keys === undefined) throw this.#in.damaged('a reference to no shape')
    if (keys.length === 0) return object
    const { length } = keys
    const values: Graph[] = length <= exactLength ? new Array(length) : []
    let filled = 0
    object.properties = { keys, values }
    this.#stack.push(() => {
      while (filled < length) {
        const before = this.#stack.length
        values[filled++] = this.#read(this.#in.byte())
        if (this.#stack.length > before) return true
      }
      return false
    })
    return object
  }

  #array(id: number, kind: number): GraphObject {
    const allowed = flag.properties | flag.special | flag.sealedElements | flag.frozenElements
    const flags = kind === tag.arrayGeneral ? this.#flags(allowed) : 0
    if (kind === tag.arrayGeneral && flags === 0 && !this.#preview)
      throw this.#in.damaged('an ordinary array is written in the long form')
    if ((flags & flag.sealedElements) !== 0 && (flags & flag.frozenElements) !== 0) throw this.#in.damaged('unknown flags')
    const length = this.#in.count()
    if (length > 4294967295) throw this.#in.damaged('an array is too long')
    const list: (Graph | Hole)[] = length <= exactLength ? new Array(length) : []
    let filled = 0
    const object: Of<'array'> = this.#keep({
      kind: 'array',
      id,
      flags,
      properties: noProperties,
      length,
      elements: list,
      more: 0,
    })
    let at = 0
    let afterHole = false
    const elements: Step = () => {
      while (at < length) {
        const next = this.#in.byte()
        if (next === tag.holes || next === tag.more) {
          const count = this.#in.count()
          if (count === 0 || count > length - at || (next === tag.holes && afterHole))
            throw this.#in.damaged('a run does not fit its array')
          at += count
          afterHole = true
          if (next === tag.holes) list[filled++] = { kind: 'holes', count }
          else if (this.#preview && at === length) object.more = count
          else throw this.#in.damaged('a whole value is cut')
          continue
        }
        afterHole = false
        at++
        const before = this.#stack.length
        list[filled++] = this.#read(next)
        if (this.#stack.length > before) return true
      }
      list.length = filled
      if (!this.#preview) this.#checks.elements(object)
      return false
    }
    if ((flags & flag.properties) === 0) this.#then(elements)
    else
      this.#then(
        elements,
        this.#properties(object, () => this.#checks.array(object), true),
      )
    return object
  }

  #collection(id: number, kind: number): GraphObject {
    const flags = this.#flags(flag.properties)
    const size = this.#in.count()
    const perEntry = kind === tag.map ? 2 : 1
    if (!this.#preview && size * perEntry > this.#in.left) throw this.#in.damaged('more entries than bytes')
    const parts: Graph[] = []
    const base = { id, flags, properties: noProperties, size, parts }
    const object = this.#keep(kind === tag.map ? { kind: 'map' as const, ...base } : { kind: 'set' as const, ...base })
    const keys = new Set<Graph>()
    let left = size * perEntry
    const members: Step = () => {
      while (left > 0) {
        const next = this.#in.byte()
        if (next === tag.more) {
          if (!this.#preview || this.#in.count() * perEntry !== left) throw this.#in.damaged('a whole value is cut')
          left = 0
          return false
        }
        const before = this.#stack.length
        const value = this.#read(next)
        if (parts.length % perEntry === 0) {
          if (keys.has(value) || Object.is(value, -0)) throw this.#in.damaged('a key stands twice')
          keys.add(value)
        }
        parts.push(value)
        left--
        if (this.#stack.length > before) return true
      }
      return false
    }
    return this.#withProperties(object, anyKey, members)
  }

  #view(id: number, kind: number): GraphObject {
    const flags = this.#flags(flag.properties | flag.special)
    const index = this.#in.byte()
    const name = viewNames[index]
    if (name === undefined) throw this.#in.damaged('unknown view class')
    const offset = this.#in.count()
    const length = this.#in.count()
    if ((kind === tag.shownView) !== this.#preview) throw this.#in.damaged('a view of the other form')
    const object: Of<'view'> = this.#keep({
      kind: 'view',
      id,
      flags,
      properties: noProperties,
      name,
      offset,
      length,
      buffer: undefined,
    })
    const buffer = this.#one(value => {
      object.buffer = value
      if (!isGraphObject(value) || value.kind !== (this.#preview ? 'array' : 'buffer'))
        throw this.#in.damaged('a view of no buffer')
      if (value.kind === 'buffer') this.#checks.view(object, value, viewSizes[index]!)
    })
    const free = (key: Key) => name === 'DataView' || typeof key !== 'string' || !this.#checks.isIndex(key)
    return this.#withProperties(object, free, buffer)
  }
}

const noBytes = new Uint8Array(0)

/** Short lists are allocated as long as they are; growing ones start with room for many. */
const exactLength = 8

const anyKey = () => true
