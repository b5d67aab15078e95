/**
 * The intrinsics of the realm that cells run in, captured before any cell. The codec compares prototypes with these and makes values of these; internal
 * slots are read with methods captured here or of the codec's own realm, so that nothing a cell patches is ever called.
 */
import { errorNames, temporalNames, viewNames } from './tags.ts'

export type Constructor = new (...args: never[]) => object

export interface Realm {
  /** The realm's global object; only its own `Error` is looked at later, without running anything. */
  readonly globalObject: object
  readonly objectPrototype: object
  readonly arrayPrototype: object
  readonly functionPrototype: object
  readonly mapPrototype: object
  readonly setPrototype: object
  readonly datePrototype: object
  readonly regexpPrototype: object
  readonly promisePrototype: object
  readonly bufferPrototype: object
  readonly sharedBufferPrototype: object
  readonly urlPrototype: object
  readonly paramsPrototype: object
  /** Prototype of an error, view or Temporal class → its index in the tag table. */
  readonly errorClasses: ReadonlyMap<object, number>
  readonly viewClasses: ReadonlyMap<object, number>
  readonly temporalClasses: ReadonlyMap<object, number>
  readonly boxedPrototypes: ReadonlySet<object>
  /** Of the iterators that the language itself makes. */
  readonly iteratorPrototypes: ReadonlySet<object>
  /** Every prototype above: where a chain of user classes ends. */
  readonly basePrototypes: ReadonlySet<object>
  readonly global: Readonly<Record<string, Constructor>>
  readonly urlText: ((this: unknown) => string) | undefined
  readonly paramsText: ((this: unknown) => string) | undefined
  /** By index of `temporalNames`. */
  readonly temporal: readonly (
    | {
        readonly print: (this: unknown) => string
        readonly parse: (this: unknown, text: string) => object
        readonly owner: object
      }
    | undefined
  )[]
  readonly promiseThen: (this: unknown, fulfilled: unknown, rejected: unknown) => unknown
  /** An empty view of each class, by index of `viewNames`: samples of a layout without other properties. */
  readonly viewSamples: readonly (object | undefined)[]
  /** The getter that the engine gives every error's `stack`; absent where `stack` is a data property that the engine fills when it is looked at. */
  readonly stackGetter: ((this: unknown) => unknown) | undefined
  /** Small Buffers are parts of an ArrayBuffer of so many bytes. */
  readonly poolBytes: number
  /** Symbol → the name of the well-known one, and back. */
  readonly wellKnownSymbols: ReadonlyMap<symbol, string>
  readonly symbolNames: ReadonlyMap<string, symbol>
}

const plainNames = [
  'Object',
  'Array',
  'Function',
  'Map',
  'Set',
  'Date',
  'RegExp',
  'Promise',
  'ArrayBuffer',
  'SharedArrayBuffer',
  'URL',
  'URLSearchParams',
]
const boxNames = ['Number', 'String', 'Boolean', 'Symbol', 'BigInt']

/** @param global - the global object of the realm, not yet touched by a program. */
export function captureRealm(global: object): Realm {
  const of = (name: string): Constructor | undefined => (global as Record<string, Constructor | undefined>)[name]
  const prototypeOf = (name: string): object => (of(name)?.prototype as object | undefined) ?? {}
  const classes = (names: readonly string[]) =>
    new Map(names.flatMap((name, index): [object, number][] => (of(name) === undefined ? [] : [[prototypeOf(name), index]])))
  const captured: Record<string, Constructor> = Object.create(null)
  for (const name of [...plainNames, ...boxNames, ...errorNames, ...viewNames]) {
    const made = of(name)
    if (made !== undefined) captured[name] = made
  }
  const temporal = captureTemporal(global)
  const errorClasses = classes(errorNames)
  const viewClasses = classes(viewNames)
  const symbols = Object.getOwnPropertyNames(Symbol).flatMap((name): [symbol, string][] => {
    const value: unknown = Reflect.get(Symbol, name)
    return typeof value === 'symbol' ? [[value, name]] : []
  })
  const realm = {
    globalObject: global,
    objectPrototype: prototypeOf('Object'),
    arrayPrototype: prototypeOf('Array'),
    functionPrototype: prototypeOf('Function'),
    mapPrototype: prototypeOf('Map'),
    setPrototype: prototypeOf('Set'),
    datePrototype: prototypeOf('Date'),
    regexpPrototype: prototypeOf('RegExp'),
    promisePrototype: prototypeOf('Promise'),
    bufferPrototype: prototypeOf('ArrayBuffer'),
    sharedBufferPrototype: prototypeOf('SharedArrayBuffer'),
    urlPrototype: prototypeOf('URL'),
    paramsPrototype: prototypeOf('URLSearchParams'),
    errorClasses,
    viewClasses,
    temporalClasses: new Map(
      temporal.flatMap((each, index): [object, number][] => (each === undefined ? [] : [[each.prototype, index]])),
    ),
    boxedPrototypes: new Set(boxNames.map(prototypeOf)),
    global: captured,
    iteratorPrototypes: new Set(iteratorPrototypes(global)),
    urlText: Object.getOwnPropertyDescriptor(prototypeOf('URL'), 'href')?.get as ((this: unknown) => string) | undefined,
    paramsText: Object.getOwnPropertyDescriptor(prototypeOf('URLSearchParams'), 'toString')?.value as
      | ((this: unknown) => string)
      | undefined,
    temporal,
    promiseThen: Object.getOwnPropertyDescriptor(prototypeOf('Promise'), 'then')?.value as Realm['promiseThen'],
    viewSamples: viewNames.map(name => sampleView(name, of(name))),
    stackGetter: of('Error') === undefined ? undefined : stackGetterOf(Reflect.construct(of('Error')!, [])),
    poolBytes: ((of('Buffer') as { poolSize?: number } | undefined)?.poolSize ?? 0) | 0,
    wellKnownSymbols: new Map(symbols),
    symbolNames: new Map(symbols.map(([symbol, name]) => [name, symbol])),
  }
  const single = [...plainNames.map(prototypeOf), ...realm.boxedPrototypes]
  return {
    ...realm,
    basePrototypes: new Set([...single, ...errorClasses.keys(), ...viewClasses.keys(), ...realm.temporalClasses.keys()]),
  }
}

/** Found through what makes them; nothing of a program has run. */
function iteratorPrototypes(global: object): object[] {
  const realm = global as Record<string, { prototype: Record<string | symbol, unknown> } | undefined>
  const made = (owner: string, method: string | symbol, receiver: unknown, ...given: unknown[]): object[] => {
    const make = realm[owner]?.prototype[method]
    if (typeof make !== 'function') return []
    return [Reflect.getPrototypeOf(Reflect.apply(make, receiver, given) as object)!]
  }
  const list = Reflect.construct(realm['Array'] as never, []) as object
  const pattern = Reflect.construct(realm['RegExp'] as never, ['a', 'g']) as object
  const iterator = Reflect.apply(realm['Array']!.prototype[Symbol.iterator] as () => unknown, list, [])
  return [
    ...made('Array', Symbol.iterator, list),
    ...made('String', Symbol.iterator, ''),
    ...made('RegExp', Symbol.matchAll, pattern, 'a'),
    ...made('Iterator', 'take', iterator, 1),
  ]
}

const stackGetterOf = (error: object) =>
  Object.getOwnPropertyDescriptor(error, 'stack')?.get as ((this: unknown) => unknown) | undefined

function sampleView(name: string, made: Constructor | undefined): object | undefined {
  if (made === undefined || name === 'DataView') return undefined
  return name === 'Buffer' ? (made as unknown as { alloc(size: number): object }).alloc(0) : Reflect.construct(made, [0])
}

function captureTemporal(global: object) {
  const temporal = (
    global as Record<
      string,
      Record<string, { prototype: object; from: (this: unknown, text: string) => object } | undefined> | undefined
    >
  )['Temporal']
  return temporalNames.map(name => {
    const owner = temporal?.[name]
    const print =
      owner === undefined
        ? undefined
        : (Object.getOwnPropertyDescriptor(owner.prototype, 'toString')?.value as ((this: unknown) => string) | undefined)
    return owner === undefined || print === undefined
      ? undefined
      : { owner, prototype: owner.prototype, print, parse: owner.from }
  })
}
