/**
 * Functions and classes that the source of their cell makes again. A value is told by its text: when every literal of that text is open, whichever of them
 * made it is the same.
 */
import type { Literal, Program } from '../compile/program.ts'
import { hasOwnPrototypeState } from '../values/encode-class.ts'
import type { Reference } from '../values/encoding.ts'
import { functionName, isClass } from '../values/inspect.ts'
import type { Captured } from './captured.ts'

declare const captured: Captured

const { apply, defineProperty, getOwnPropertyDescriptor, ownKeys } = Reflect

export interface SourcePlace {
  readonly cell: number
  readonly start: number
  readonly end: number
}

interface Found extends SourcePlace {
  readonly literal: Literal
}

/** Where a value is from. `isOnly`: the one that its literal made. */
interface Known extends Found {
  readonly isOnly: boolean
}

/** What a reference's payload says. */
interface Payload extends SourcePlace {
  readonly name: string
  /** Evaluated once: the one of that cell is always the same. */
  readonly once?: true
}

export interface SourceLiterals {
  learn(program: Program): void
  /** A declaration at that range made this value; tells which of several literals of the same text it is. */
  declared(value: unknown, place: SourcePlace): void
  find(
    value: object,
  ): { readonly reference: Reference; readonly place: SourcePlace; readonly free: readonly string[] } | undefined
  /** Whether it has nothing of its own beside what its text gives it. */
  isStateless(value: object): boolean
  /** Make it again. Throws what evaluating the text throws; `undefined`: there is no such literal. */
  make(payload: string): object | undefined
  makeAt(place: SourcePlace): object | undefined
}

const standard: ReadonlySet<string | symbol> = new Set(['length', 'name', 'prototype', 'arguments', 'caller'])

/** @param helpersOf - what generated code of the program calls. */
export function createSourceLiterals(helpersOf: (program: Program) => object): SourceLiterals {
  const objectPrototype = (captured.global as { Object: { prototype: object } }).Object.prototype
  const programs = new Map<number, Program>()
  const pending: Program[] = []
  const byText = new Map<string, Found[]>()
  /** Told by where they were declared. */
  const places = new WeakMap<object, Known>()
  /** What evaluated once and was met, by place. */
  const made = new Map<string, object>()
  /** Keys of a class's prototype when it was met first. */
  const prototypes = new WeakMap<object, readonly (readonly [key: string | symbol, value: unknown])[]>()

  const index = (): void => {
    for (const program of pending.splice(0)) {
      for (const literal of program.literals) {
        const text = textOf(program, literal)
        if (text === undefined) continue
        const found: Found = { cell: program.cell, start: literal.start, end: literal.end, literal }
        const others = byText.get(text)
        if (others === undefined) byText.set(text, [found])
        else others.push(found)
      }
    }
  }
  const candidates = (value: object): readonly Found[] => {
    index()
    return byText.get(captured.realm.functionText(value)) ?? []
  }
  const placeOf = (value: object): Known | undefined => {
    const known = places.get(value)
    if (known !== undefined) return known
    const all = candidates(value)
    const [first] = all
    if (first === undefined || !all.every(each => each.literal.isOpen)) return undefined
    return { ...first, isOnly: first.literal.once && all.length === 1 }
  }
  const keyOf = ({ cell, start }: SourcePlace): string => `${cell}:${start}`
  const watch = (value: object): void => {
    if (prototypes.has(value) || !isClass(value)) return
    const keys = prototypeKeys(value)
    if (keys !== undefined) prototypes.set(value, keys)
  }
  const isPristine = (value: object): boolean => {
    if (!isClass(value)) return !hasOwnPrototypeState(value, objectPrototype)
    const before = prototypes.get(value)
    const now = prototypeKeys(value)
    if (before === undefined || now === undefined) return false
    return before.length === now.length && before.every(([key, held], at) => now[at]![0] === key && Object.is(now[at]![1], held))
  }

  const makeAt = (place: SourcePlace): object | undefined => {
    const program = programs.get(place.cell)
    const literal = program?.literals.find(each => each.start === place.start && each.end === place.end)
    if (program === undefined || literal === undefined) return undefined
    if (literal.once) {
      const known = made.get(keyOf(place))
      if (known !== undefined) return known
    }
    const value = evaluate(program, literal, helpersOf(program)) as object
    if (literal.once) made.set(keyOf(place), value)
    places.set(value, { ...place, literal, isOnly: literal.once })
    watch(value)
    return value
  }

  return {
    learn: program => {
      programs.set(program.cell, program)
      if (program.literals.length > 0) pending.push(program)
    },
    declared: (value, { cell, start, end }) => {
      if (typeof value !== 'function' || captured.modules.util.types.isProxy(value)) return
      watch(value)
      const inside = candidates(value).filter(each => each.cell === cell && each.start >= start && each.end <= end)
      if (inside.length !== 1 || !inside[0]!.literal.isOpen) return
      places.set(value, { ...inside[0]!, isOnly: inside[0]!.literal.once })
      if (inside[0]!.literal.once) made.set(keyOf(inside[0]!), value)
    },
    find: value => {
      if (typeof value !== 'function' || captured.modules.util.types.isProxy(value)) return undefined
      const found = placeOf(value)
      if (found === undefined) return undefined
      watch(value)
      if (!isPristine(value)) return undefined
      const { cell, start, end, literal, isOnly } = found
      const name = functionName(value)
      const payload: Payload = { cell, start, end, name, ...(isOnly && { once: true as const }) }
      const shown = `[${literal.kind}${name === '' ? '' : ` ${name}`}]`
      return {
        reference: { of: 'source', shown, payload: JSON.stringify(payload) },
        place: { cell, start, end },
        free: literal.free,
      }
    },
    isStateless: value => {
      for (const key of ownKeys(value)) {
        if (standard.has(key)) continue
        // Static methods come with the text.
        if (isClass(value) && getOwnPropertyDescriptor(value, key)!.enumerable !== true) continue
        return false
      }
      return isPristine(value)
    },
    make: payload => {
      const { name, once, ...place } = JSON.parse(payload) as Payload
      const known = once ? made.get(keyOf(place)) : undefined
      if (known !== undefined) return known
      const program = programs.get(place.cell)
      const literal = program?.literals.find(each => each.start === place.start && each.end === place.end)
      if (program === undefined || literal === undefined) return undefined
      const value = once ? makeAt(place) : (evaluate(program, literal, helpersOf(program)) as object)
      if (value === undefined) return undefined
      places.set(value, { ...place, literal, isOnly: once === true })
      watch(value)
      if (functionName(value) !== name)
        defineProperty(value, 'name', { value: name, writable: false, enumerable: false, configurable: true })
      return value
    },
    makeAt,
  }
}

function prototypeKeys(made: object): readonly (readonly [string | symbol, unknown])[] | undefined {
  const prototype = getOwnPropertyDescriptor(made, 'prototype')?.value as object | undefined
  if (typeof prototype !== 'object' || prototype === null || captured.modules.util.types.isProxy(prototype)) return undefined
  return ownKeys(prototype).map(key => {
    const own = getOwnPropertyDescriptor(prototype, key)!
    return [key, own.value ?? own.get]
  })
}

/** Text that V8 gives for it; `undefined` when it is not in the generated code as a whole. */
function textOf(program: Program, literal: Literal): string | undefined {
  const place = generatedRange(program, literal)
  return place === undefined ? undefined : place.text.slice(place.start, place.end).trim()
}

interface GeneratedRange {
  readonly text: string
  readonly start: number
  readonly end: number
  /** Stands in the text that creates the cell's functions. */
  readonly isTwin: boolean
}

function generatedRange(program: Program, { start, end }: Literal): GeneratedRange | undefined {
  for (const isTwin of [true, false]) {
    const positions = isTwin ? program.functionPositions : program.positions
    const text = isTwin ? program.functions : program.code
    const first = positions.toGenerated(start)
    const last = positions.toGenerated(end - 1)
    if (first !== undefined && last !== undefined && last >= first) return { text, start: first, end: last + 1, isTwin }
  }
  return undefined
}

const notLineEnd = /[^\n\r\u2028\u2029]/g
const blank = (text: string): string => text.replace(notLineEnd, ' ')

/** At its place in the text, so that positions are true. */
function evaluate(program: Program, literal: Literal, helpers: object): unknown {
  const range = generatedRange(program, literal)
  if (range === undefined) return undefined
  const { text, start, end, isTwin } = range
  const inside = text.slice(start, end)
  const run = (code: string, filename: string, columnOffset: number): unknown => {
    const script = new captured.Script(code, { filename, columnOffset, importModuleDynamically: captured.mainLoader as never })
    return apply(captured.Script.prototype.runInThisContext, script, [{ displayErrors: false }])
  }
  if (isTwin) {
    // A declaration refers to itself by the session's name, which an expression of that name would hide.
    const name = functionNameOf(inside)
    const global = captured.global as Record<string, unknown>
    const before = getOwnPropertyDescriptor(global, name)
    if (before !== undefined && !before.configurable) return undefined
    delete global[name]
    try {
      apply((helpers as { eval: (code: string) => unknown }).eval, undefined, [
        `${blank(text.slice(0, start))}${inside}\n//# sourceURL=cell-${program.cell}.functions.ts`,
      ])
      return getOwnPropertyDescriptor(global, name)?.value
    } finally {
      delete global[name]
      if (before !== undefined) defineProperty(global, name, before)
    }
  }
  const opening = `(${helperName(program)}=>{${program.strict ? '"use strict";' : ''}return(`
  const ahead = blank(text.slice(0, start))
  // The opening takes the place of blanks where there is room on the first line, else the columns of that line move with the offset.
  const firstLine = ahead.search(/[\n\r\u2028\u2029]/)
  const room = firstLine < 0 ? ahead.length : firstLine
  const fits = room >= opening.length
  const head = fits ? opening + ahead.slice(opening.length) : opening + ahead.slice(room)
  const shift = fits ? 0 : room - opening.length
  const make = run(`${head}${inside}\n)})`, program.fileName, program.columnOffset + shift) as (helpers: object) => unknown
  return make(helpers)
}

const helperName = (program: Program): string => /^\(async\(([^)]*)\)/.exec(program.code)?.[1] ?? '_'

const functionNameOf = (text: string): string => /^(?:async\s+)?function\s*\*?\s*([^\s(]+)/.exec(text)?.[1] ?? ''
