/**
 * The state of one encoding: bytes so far, what is numbered, and a stack of objects whose parts are still to be written. What is common to all kinds is
 * here; the kinds themselves are in `encode-*.ts`.
 */
import { Descriptors, isObjectLike } from './inspect.ts'
import { type Bounds, decimalDigits, jsonDepth, type ValueLimits } from './limits.ts'
import type { Realm } from './realm.ts'
import { attribute, header, internedUnits, previewHeader, type ReferenceKind, tag } from './tags.ts'
import { OverLimit, Writer } from './writer.ts'

/** How a function, class or module can be made again. */
export interface Reference {
  readonly of: ReferenceKind
  /** As it is printed: `[function f]`. */
  readonly shown: string
  /** JSON text that says where its source is. */
  readonly payload: string
}

/** What only the process that runs the program can say. None of it may run a program's code. */
export interface EncodeHost {
  /** How to make this function, class, module namespace or platform object again; `undefined` when it cannot be. */
  refer(value: object): Reference | undefined
  /** Outcome of a promise that is known to be settled. */
  settled(promise: object): { readonly as: 'fulfilled' | 'rejected'; readonly value: unknown } | undefined
  /** Classes with `#private` fields, whose instances cannot be stored. */
  hasPrivateState(made: object): boolean
  /** The engine's own view of how objects are laid out; without it every property is looked at by its descriptor. */
  readonly layout?: LayoutHints
}

export interface LayoutHints {
  /** `packed`, `holey`: an extensible array of the realm with ordinary elements, the realm's `Array.prototype` and no other properties. */
  arrayKind(array: object): 'packed' | 'holey' | 'other'
  /** Both share one layout that says all about prototype, slots, extensibility, names and attributes, except of index keys. */
  same(object: object, other: object): boolean
}

export const noHost: EncodeHost = { refer: () => undefined, settled: () => undefined, hasPrivateState: () => false }

export type PathStep = string | number

/** A part that the codec cannot hold, and why. */
export interface OpaquePart {
  readonly path: readonly PathStep[]
  readonly type: string
  readonly reason: string
}

export interface EncodeOptions {
  readonly realm: Realm
  readonly host: EncodeHost
  readonly limits: ValueLimits
  /** Make a bounded copy for people instead of a whole one. */
  readonly bounds?: Bounds
}

/** One object, or a part of one, that is being written. `advance` writes on until a child has parts of its own (true) or all is done (false). */
export interface Frame {
  readonly depth: number
  /** Path step of the part that is being written. */
  step: PathStep | readonly PathStep[] | undefined
  advance(): boolean
}

/** Parts of Buffers' shared pool that are stored as buffers of their own. */
export interface PoolRange {
  readonly start: number
  readonly end: number
}

/** Two views of the pool turned out to overlap: encode again with their union. */
export class Regroup extends Error {}

/** What stands in the bytes for an object's prototype. */
export interface ClassPart {
  readonly className: string
  /** `value` is the prototype itself, not its class. */
  readonly direct: boolean
  readonly value: unknown
  /** Why objects of it cannot be stored. */
  readonly reason: string | undefined
}

export interface Sample {
  readonly object: object
  readonly keys: readonly string[]
  readonly shape: number
}

interface ShapeNode {
  id: number
  readonly next: Map<string, ShapeNode>
}

/** Calls are nested this deep at most before the stack of frames takes over. */
const inlineDepth = 12

const symbolDescription = Object.getOwnPropertyDescriptor(Symbol.prototype, 'description')!.get!

export class Encoding {
  readonly options: EncodeOptions
  readonly realm: Realm
  readonly out: Writer
  readonly descriptors: Descriptors
  readonly objects: Map<object | symbol, number> = new Map()
  readonly pool: Map<object, PoolRange[]>
  readonly opaque: OpaquePart[] = []
  readonly classes: Map<object, ClassPart> = new Map()
  /** Shaped objects that were met lately, as samples of their layouts. */
  readonly samples: Sample[] = []
  /** Whether JSON could hold all that was written so far. */
  json = true
  opaqueParts = 0
  readonly #dispatch: (encoding: Encoding, object: object) => boolean
  readonly #texts = new Map<string, number>()
  readonly #shapes: ShapeNode = { id: -1, next: new Map() }
  #shapeCount = 0
  readonly #stack: Frame[] = []
  #inline = 0
  #nodes = 0
  #edges = 0

  constructor(options: EncodeOptions, pool: Map<object, PoolRange[]>, dispatch: (encoding: Encoding, object: object) => boolean) {
    this.options = options
    this.realm = options.realm
    this.out = new Writer(options.limits.bytes)
    this.descriptors = new Descriptors(options.realm)
    this.pool = pool
    this.#dispatch = dispatch
  }

  run(root: unknown): void {
    this.out.raw(this.options.bounds === undefined ? header : previewHeader)
    this.value(root)
    for (let frame = this.#stack.at(-1); frame !== undefined; frame = this.#stack.at(-1)) if (!frame.advance()) this.#stack.pop()
  }

  /** Depth of the object that is written next; the root's is 0. */
  get depth(): number {
    const top = this.#stack.at(-1)
    return top === undefined ? 0 : top.depth + 1
  }

  /** How many entries an object of this depth shows. */
  room(depth: number): number {
    const bounds = this.options.bounds
    return bounds === undefined ? Number.POSITIVE_INFINITY : depth >= bounds.depth ? 0 : bounds.entries
  }

  /** How many parts an object may have for the whole to stay within the limits. */
  get edgesLeft(): number {
    const { edges, nodes } = this.options.limits
    return Math.min(edges - this.#edges, nodes - this.#nodes)
  }

  edge(count: number): void {
    if (this.options.bounds !== undefined) return
    this.check(count)
    this.#edges += count
  }

  /** So many parts would be too many. Every part will be a node. */
  check(count: number): void {
    if (this.#edges + count > this.options.limits.edges) throw new OverLimit('edges')
    if (this.#nodes + count > this.options.limits.nodes) throw new OverLimit('nodes')
  }

  /** Write a frame's parts now, as far as it goes without nesting calls too deep. True: it stays on the stack. */
  enter(frame: Frame): boolean {
    this.#stack.push(frame)
    if (frame.depth >= jsonDepth) this.json = false
    if (this.#inline >= inlineDepth) return true
    this.#inline++
    const waits = frame.advance()
    this.#inline--
    if (!waits) this.#stack.pop()
    return waits
  }

  /** Frames that are written one after another, all of them later. */
  queue(...frames: readonly Frame[]): boolean {
    for (let i = frames.length - 1; i >= 0; i--) this.#stack.push(frames[i]!)
    return true
  }

  /** One value, primitive or object. True: parts of it are left on the stack. */
  value(value: unknown): boolean {
    if (++this.#nodes > this.options.limits.nodes) throw new OverLimit('nodes')
    switch (typeof value) {
      case 'string':
        this.text(value)
        return false
      case 'number':
        this.#number(value)
        return false
      case 'boolean':
        this.out.byte(value ? tag.true : tag.false)
        return false
      case 'undefined':
        this.json = false
        this.out.byte(tag.undefined)
        return false
      case 'bigint':
        this.#bigint(value)
        return false
      case 'symbol':
        this.symbol(value)
        return false
      default:
        if (value !== null) return this.#object(value as object)
        this.out.byte(tag.null)
        return false
    }
  }

  #object(object: object): boolean {
    const seen = this.objects.get(object)
    if (seen === undefined) {
      this.objects.set(object, this.objects.size)
      return this.#dispatch(this, object)
    }
    this.json = false
    this.out.byte(tag.objectRef)
    this.out.count(seen)
    return false
  }

  #number(value: number): void {
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) {
      this.out.byte(tag.integer)
      this.out.integer(value)
      return
    }
    if (!Number.isFinite(value) || value === 0) this.json = false
    this.out.byte(tag.float)
    this.out.float(value)
  }

  #bigint(value: bigint): void {
    this.json = false
    const digits = (value < 0n ? -value : value).toString(16)
    if (decimalDigits(digits.length) > this.options.limits.bigintDigits) throw new OverLimit('bigint digits')
    this.out.byte(value < 0n ? tag.bigintNegative : tag.bigintPositive)
    this.out.utf8(digits)
  }

  /** A text as a value or as a name inside an object; the reader knows which from where it stands. */
  text(value: string): void {
    const units = this.options.bounds?.units
    const text = units !== undefined && value.length > units ? value.slice(0, units) : value
    if (text.length <= internedUnits) {
      const known = this.#texts.get(text)
      if (known !== undefined) {
        this.out.byte(tag.textRef)
        this.out.count(known)
        return
      }
      this.#texts.set(text, this.#texts.size)
    }
    if (text.isWellFormed()) {
      this.out.byte(tag.text)
      this.out.utf8(text)
    } else {
      this.out.byte(tag.wideText)
      this.out.utf16(text)
    }
  }

  symbol(value: symbol): void {
    this.json = false
    const seen = this.objects.get(value)
    if (seen !== undefined) {
      this.out.byte(tag.objectRef)
      this.out.count(seen)
      return
    }
    this.objects.set(value, this.objects.size)
    const wellKnown = this.realm.wellKnownSymbols.get(value)
    const registered = Symbol.keyFor(value)
    if (wellKnown !== undefined) {
      this.out.byte(tag.wellKnownSymbol)
      this.text(wellKnown)
    } else if (registered !== undefined) {
      this.out.byte(tag.registeredSymbol)
      this.text(registered)
    } else {
      const description = symbolDescription.call(value) as string | undefined
      this.out.byte(tag.symbol)
      if (description === undefined) this.out.byte(tag.undefined)
      else this.text(description)
    }
  }

  /** Head of a shaped object: its key list, or the number of one that was met before. Returns the number. */
  shape(keys: readonly string[]): number {
    let node = this.#shapes
    for (const key of keys) {
      let next = node.next.get(key)
      if (next === undefined) {
        next = { id: -1, next: new Map() }
        node.next.set(key, next)
      }
      node = next
    }
    if (node.id >= 0) {
      this.shapeRef(node.id)
      return node.id
    }
    node.id = this.#shapeCount++
    this.out.byte(tag.shape)
    this.out.count(keys.length)
    for (const key of keys) this.text(key)
    return node.id
  }

  shapeRef(id: number): void {
    this.out.byte(tag.shapeRef)
    this.out.count(id)
  }

  /** Values in a row, each with its path step. `write` writes what stands before a value. */
  values(
    depth: number,
    values: ArrayLike<unknown>,
    stepOf: (index: number) => PathStep | readonly PathStep[],
    end?: () => void,
  ): Frame {
    let at = 0
    const frame: Frame = {
      depth,
      step: undefined,
      advance: () => {
        while (at < values.length) {
          const value = values[at]
          if (isObjectLike(value)) frame.step = stepOf(at)
          at++
          if (this.value(value)) return true
        }
        end?.()
        end = undefined
        return false
      },
    }
    return frame
  }

  /** More of the same object, written when what is queued before it is; its frames count as those of the object itself. */
  siblings(depth: number, write: () => boolean): Frame {
    let done = false
    return {
      // What it writes is one level below this frame.
      depth: depth - 1,
      step: undefined,
      advance: () => {
        if (done) return false
        done = true
        return write()
      },
    }
  }

  /** A properties block. Descriptors stand at the index of their key; those beyond `room` may be missing. */
  properties(depth: number, keys: readonly (string | symbol)[], descriptors: readonly PropertyDescriptor[], room: number): Frame {
    const shown = Math.min(keys.length, room)
    let at = 0
    let setter: { readonly value: unknown } | undefined
    const frame: Frame = {
      depth,
      step: undefined,
      advance: () => {
        if (at === 0 && setter === undefined) this.out.count(shown)
        for (;;) {
          if (setter !== undefined) {
            const { value } = setter
            setter = undefined
            if (this.value(value)) return true
          }
          if (at >= shown) break
          const key = keys[at]!
          const descriptor = descriptors[at]!
          at++
          this.#key(key)
          frame.step = typeof key === 'string' ? key : `[${String(key)}]`
          const accessor = descriptor.writable === undefined
          this.out.byte(attributesOf(descriptor))
          if (accessor) setter = { value: descriptor.set }
          if (this.value(accessor ? descriptor.get : descriptor.value)) return true
        }
        if (at === shown) {
          at++
          if (this.options.bounds !== undefined) this.out.count(keys.length - shown)
        }
        return false
      },
    }
    return frame
  }

  #key(key: string | symbol): void {
    if (typeof key === 'symbol') this.symbol(key)
    else this.text(key)
  }

  /** An object that cannot be held. */
  cannotHold(type: string, reason: string, shown: string): void {
    this.note(type, reason)
    this.out.byte(tag.opaque)
    this.text(type)
    this.text(reason)
    this.text(shown)
  }

  /** Name a part that the codec cannot hold as it is. */
  note(type: string, reason: string): void {
    this.json = false
    this.opaqueParts++
    if (this.opaque.length >= 16) return
    const path = this.#stack.flatMap(each => each.step ?? [])
    this.opaque.push({ path, type, reason })
  }
}

export const attributesOf = (descriptor: PropertyDescriptor): number =>
  (descriptor.writable === true ? attribute.writable : 0) |
  (descriptor.enumerable === true ? attribute.enumerable : 0) |
  (descriptor.configurable === true ? attribute.configurable : 0) |
  (descriptor.writable === undefined ? attribute.accessor : 0)

export const isOrdinary = (descriptor: PropertyDescriptor): boolean =>
  descriptor.writable === true && descriptor.enumerable === true && descriptor.configurable === true
