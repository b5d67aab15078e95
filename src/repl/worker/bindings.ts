/** What is known of the names of the session besides their values: where imports come from, which are gone, and what binds each again. */
import type { NameKind, Program } from '../compile/program.ts'
import type { SessionNames } from '../compile/runtime.ts'
import type { EncodeHost } from '../values/encode.ts'
import { encode } from '../values/encode.ts'
import { functionName } from '../values/inspect.ts'
import { valueLimits } from '../values/limits.ts'
import type { Realm } from '../values/realm.ts'
import type { Captured } from './captured.ts'
import type { ModuleExports } from './module-exports.ts'
import type { SourceLiterals } from './source-literals.ts'
import type { FixedEntry, LostReason } from './tape.ts'

declare const captured: Captured

/** Primitives of more bytes are stored like objects. */
const maxPrimitiveBytes = 64 * 1024

export interface ImportOrigin {
  readonly url: string
  readonly export: string
}

export interface LostName {
  readonly reason: LostReason
  readonly cell: number
  /** The first cell after it was gone. */
  before: number | undefined
}

export interface Bindings {
  readonly imports: Map<string, ImportOrigin>
  readonly lost: Map<string, LostName>
  /** For a `ReferenceError` of a name that is gone. */
  whyLost(name: string): string | undefined
  entryOf(name: string, kind: NameKind): FixedEntry | undefined
  /**
   * Names that had an entry and may be something else by now: functions and classes with state of their own, and what code of the cell may assign to
   * whenever it runs. @param touched - `undefined`: any.
   */
  unfixed(touched: readonly string[] | undefined): readonly string[]
  /** It was bound from its entry. */
  restored(name: string): void
}

export interface BindingsParts {
  readonly names: () => SessionNames
  readonly literals: SourceLiterals
  readonly modules: ModuleExports
  readonly realm: Realm
  readonly host: EncodeHost
  readonly secrets: () => readonly string[]
}

export function createBindings({ names, literals, modules, realm, host, secrets }: BindingsParts): Bindings {
  const imports = new Map<string, ImportOrigin>()
  const lost = new Map<string, LostName>()
  const fixed = new Set<string>()
  let secretBytes: { readonly of: readonly string[]; readonly bytes: readonly Uint8Array[] } = { of: [], bytes: [] }

  const holdsSecret = (bytes: Uint8Array): boolean => {
    const of = secrets()
    if (secretBytes.of !== of) {
      const encoder = new TextEncoder()
      secretBytes = { of, bytes: of.flatMap(secret => [encoder.encode(secret), wide(secret)]) }
    }
    return secretBytes.bytes.some(secret => indexOf(bytes, secret) >= 0)
  }
  const primitive = (value: unknown): FixedEntry | undefined => {
    // A symbol of its own may be held by others, too.
    if (typeof value === 'symbol' && Symbol.keyFor(value) === undefined && !realm.wellKnownSymbols.has(value)) return undefined
    if (typeof value === 'string' && value.length > maxPrimitiveBytes) return undefined
    const encoded = encode(value, { realm, host, limits: valueLimits })
    if (encoded.kind === 'over' || encoded.bytes.length > maxPrimitiveBytes || holdsSecret(encoded.bytes)) return undefined
    return { of: 'primitive', value: captured.toBase64(encoded.bytes) }
  }
  return {
    imports,
    lost,
    whyLost: name => {
      const gone = lost.get(name)
      if (gone === undefined) return undefined
      const { cell, before } = gone
      const reason = gone.reason.replaceAll('-', ' ')
      const when = before === undefined ? '' : ` before cell ${before}`
      return `${name} was lost at the restart${when} (${reason}, made in cell ${cell}). Make it again or run cell ${cell} again.`
    },
    entryOf: (name, kind) => {
      if (kind === 'import') {
        const origin = imports.get(name)
        if (origin === undefined) return undefined
        const { url } = origin
        const effect = modules.hadEffects(url)
        return {
          of: 'import',
          url,
          export: origin.export,
          builtin: url.startsWith('node:'),
          ...(effect && { effect: true as const }),
        }
      }
      if (!names().isLoaded(name)) return undefined
      fixed.delete(name)
      if (names().mayBeAssigned(name)) return undefined
      const value = names().read(name)?.value
      if (typeof value === 'function') {
        const found = literals.find(value)
        if (found === undefined || !literals.isStateless(value)) return undefined
        fixed.add(name)
        const own = functionName(value)
        return { of: 'source', ...found.place, free: found.free, ...(own !== name && { as: own }) }
      }
      if (typeof value === 'object' && value !== null) return undefined
      const entry = primitive(value)
      if (entry !== undefined) fixed.add(name)
      return entry
    },
    unfixed: touched => {
      const changed: string[] = []
      for (const name of touched ?? [...fixed]) {
        if (!fixed.has(name)) continue
        const value = names().read(name)?.value
        if (!names().mayBeAssigned(name) && (typeof value !== 'function' || literals.isStateless(value))) continue
        fixed.delete(name)
        changed.push(name)
      }
      return changed.sort()
    },
    restored: name => void fixed.add(name),
  }
}

/** Note what a program's declarations made. */
export function noteDeclared(program: Program, names: SessionNames, literals: SourceLiterals): void {
  for (const { name, start, end } of program.declared) {
    const value = names.isLoaded(name) ? names.read(name)?.value : undefined
    if (typeof value === 'function') literals.declared(value, { cell: program.cell, start, end })
  }
}

function wide(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 2)
  for (let i = 0; i < text.length; i++) {
    bytes[i * 2] = text.charCodeAt(i) & 0xff
    bytes[i * 2 + 1] = text.charCodeAt(i) >> 8
  }
  return bytes
}

function indexOf(bytes: Uint8Array, part: Uint8Array): number {
  const [first] = part
  if (first === undefined) return -1
  for (let at = bytes.indexOf(first); at >= 0; at = bytes.indexOf(first, at + 1)) {
    let i = 1
    while (i < part.length && bytes[at + i] === part[i]) i++
    if (i === part.length) return at
  }
  return -1
}
