/** Everything that is stored as a reference: literals of cells, exports of modules, the platform, and names that are imports. */
import type { Reference } from '../values/encoding.ts'
import type { ModuleExports } from './module-exports.ts'
import type { Platform } from './platform.ts'
import type { SourceLiterals } from './source-literals.ts'

export interface References {
  find(value: object): Reference | undefined
  /** An object that stands for a name which is an import. */
  standFor(reference: Reference): object
  /** Cells whose source was referred to since it was asked last; sorted. */
  takeCells(): readonly number[]
}

export function createReferences(literals: SourceLiterals, modules: ModuleExports, platform: Platform): References {
  const stands = new WeakMap<object, Reference>()
  let cells = new Set<number>()
  return {
    find: value => {
      const known = platform.find(value) ?? modules.find(value) ?? stands.get(value)
      if (known !== undefined) return known
      const found = literals.find(value)
      if (found !== undefined) cells.add(found.place.cell)
      return found?.reference
    },
    standFor: reference => {
      const object = Object.create(null) as object
      stands.set(object, reference)
      return object
    },
    takeCells: () => {
      const taken = [...cells].sort((a, b) => a - b)
      cells = new Set()
      return taken
    },
  }
}
