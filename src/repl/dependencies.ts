/**
 * What the cells of a path touched: which names never need a copy, and which of the others may share objects. Pure.
 *
 * A name is fixed when one cell of the path wrote it, no earlier cell named it, and what it holds can be had again without a copy: a primitive, a function
 * or class that uses nothing but names and has no state, an import of a builtin module. Who touches a fixed function touches what it uses.
 */
import { Components } from './components.ts'
import type { NameKind } from './types.ts'
import type { FixedEntry, LostReason } from './worker/tape.ts'

/** A cell of a path, as planning sees it. */
export interface PathCell {
  readonly cell: number
  /** Names that occur free or are declared; bound or not. */
  readonly touch: readonly string[]
  /** May touch any name. */
  readonly dynamic: boolean
  /** Wrote to what every cell sees without a name. */
  readonly world: boolean
  /** Added, or holding another value since. */
  readonly written: readonly WrittenName[]
  readonly removed: readonly string[]
  /** Functions and classes that it gave state of their own. */
  readonly unfixed: readonly string[]
  /** Why it cannot be run again, as far as its record says. */
  readonly refused: LostReason | undefined
  readonly language: number
  readonly computeMs: number
  /** Names that recoveries between the cell before and this one could not bring back. */
  readonly lostBefore: readonly LostName[]
}

export interface WrittenName {
  readonly name: string
  readonly kind: NameKind
  readonly entry?: FixedEntry
}

export interface LostName {
  readonly name: string
  readonly reason: LostReason
  /** That bound it last. */
  readonly cell: number
}

export interface BoundName {
  readonly kind: NameKind
  /** That wrote it last. */
  readonly cell: number
}

/** Grows cell by cell; see `createDependencies`. */
export interface Dependencies {
  /** Add the next cell of the path, with the names that were lost before it. */
  add(cell: PathCell): void
  /** A cell of the path did something after its end. @param time - a little after the number of the last cell. */
  addLate(cell: number, time: number): void
  /** A recovery after the last cell could not bring these back. */
  lose(names: readonly LostName[]): void
  readonly components: Components
  /** Bound at the end of the path. */
  readonly bound: ReadonlyMap<string, BoundName>
  /** Gone at the end of the path and not declared again. */
  readonly lost: ReadonlyMap<string, LostName>
  /** The entry of a fixed name. */
  fixed(name: string): FixedEntry | undefined
  /** Every write of a name that is not fixed and has an entry, ascending. */
  entriesOf(name: string): readonly { readonly cell: number; readonly entry: FixedEntry }[]
  /** Names without fixed ones, and what they reach; pseudo-names begin with `#`. Empty for a cell that touches fixed names only. */
  touchOf(cell: number): readonly string[]
  /** The newest write of the name until that cell. */
  writerOf(name: string, until: number): BoundName | undefined
  /** Whether the name was bound after that cell. */
  isBoundAt(name: string, cell: number): boolean
  /** Cells after which a name of the path was found lost, by name, ascending. */
  lossesOf(name: string): readonly number[]
}

/** What every cell sees without a name, and what code made at run time may name. */
const world = '#world'
const anything = '#dynamic'

/** @param lost - by recoveries since the last cell. */
export function dependenciesOf(path: readonly PathCell[], lost: readonly LostName[] = []): Dependencies {
  const dependencies = new Tracker()
  for (const cell of path) dependencies.add(cell)
  dependencies.lose(lost)
  return dependencies
}

class Tracker implements Dependencies {
  readonly #events: (PathCell | { readonly late: number; readonly time: number })[] = []
  readonly bound = new Map<string, BoundName>()
  readonly lost = new Map<string, LostName>()
  /** `write` is absent where the name went. */
  readonly #changes = new Map<string, { readonly at: number; readonly write: BoundName | undefined }[]>()
  readonly #losses = new Map<string, number[]>()
  readonly #entries = new Map<string, { readonly cell: number; readonly entry: FixedEntry }[]>()
  /** Named by a cell so far. */
  readonly #seen = new Set<string>()
  readonly #fixed = new Map<string, FixedEntry>()
  readonly #reach = new Map<string, readonly string[]>()
  components: Components = new Components()
  #touched = new Map<number, readonly string[]>()
  #latest = 0

  add(cell: PathCell): void {
    this.lose(cell.lostBefore)
    this.#events.push(cell)
    this.#latest = cell.cell
    const before = this.#fixed.size
    let isStable = true
    let added = 0
    for (const { name, kind, entry } of cell.written) {
      this.#bind(name, kind, cell.cell, entry)
      if (!this.#seen.has(name) && entry !== undefined && isLasting(entry)) {
        this.#fixed.set(name, entry)
        added++
      } else if (this.#fixed.delete(name)) isStable = false
    }
    for (const name of cell.removed) {
      this.bound.delete(name)
      this.#note(name, cell.cell, undefined)
      if (this.#fixed.delete(name)) isStable = false
    }
    for (const name of cell.unfixed) if (this.#fixed.delete(name)) isStable = false
    for (const name of cell.touch) this.#seen.add(name)
    for (const { name } of cell.written) this.#seen.add(name)
    if (isStable && this.#fixed.size === before + added) this.#touch(cell)
    else this.#touchAll()
  }

  addLate(cell: number, time: number): void {
    this.#events.push({ late: cell, time })
    this.components.touch(this.touchOf(cell), time)
  }

  lose(names: readonly LostName[]): void {
    let isStable = true
    for (const each of names) {
      if (!this.bound.delete(each.name)) continue
      this.lost.set(each.name, each)
      this.#note(each.name, this.#latest, undefined)
      push(this.#losses, each.name, this.#latest)
      if (this.#fixed.delete(each.name)) isStable = false
    }
    if (!isStable) this.#touchAll()
  }

  fixed(name: string): FixedEntry | undefined {
    return this.#fixed.get(name)
  }

  entriesOf(name: string): readonly { readonly cell: number; readonly entry: FixedEntry }[] {
    return this.#entries.get(name) ?? []
  }

  touchOf(cell: number): readonly string[] {
    return this.#touched.get(cell) ?? []
  }

  writerOf(name: string, until: number): BoundName | undefined {
    return this.#changes.get(name)?.findLast(change => change.at <= until && change.write !== undefined)?.write
  }

  isBoundAt(name: string, cell: number): boolean {
    return this.#changes.get(name)?.findLast(change => change.at <= cell)?.write !== undefined
  }

  lossesOf(name: string): readonly number[] {
    return this.#losses.get(name) ?? []
  }

  #bind(name: string, kind: NameKind, cell: number, entry: FixedEntry | undefined): void {
    const write: BoundName = { kind, cell }
    this.bound.set(name, write)
    this.lost.delete(name)
    this.#note(name, cell, write)
    if (entry !== undefined) push(this.#entries, name, { cell, entry })
  }

  #note(name: string, at: number, write: BoundName | undefined): void {
    push(this.#changes, name, { at, write })
  }

  /** What was fixed is not any more: older cells touched more than was known. */
  #touchAll(): void {
    this.#reach.clear()
    this.components = new Components()
    this.#touched = new Map()
    for (const event of this.#events) {
      if ('late' in event) this.components.touch(this.touchOf(event.late), event.time)
      else this.#touch(event)
    }
  }

  #touch(cell: PathCell): void {
    const names = this.#touchedBy(cell)
    if (this.#mayTouchAll(cell, names)) {
      for (const [name, changes] of this.#changes) {
        if (!this.#fixed.has(name) && changes[0]!.at <= cell.cell) names.add(name)
      }
      names.add(anything)
    }
    this.#touched.set(cell.cell, [...names])
    this.components.touch(names, cell.cell)
  }

  #touchedBy({ touch, written, removed, world: isWorld }: PathCell): Set<string> {
    const names = new Set<string>()
    const add = (name: string): void => {
      if (!this.#fixed.has(name)) names.add(name)
      else for (const reached of this.#reached(name)) names.add(reached)
    }
    for (const name of touch) add(name)
    for (const { name, entry } of written) {
      add(name)
      // Names of one module may share its objects.
      if (entry?.of === 'import' && !entry.builtin) names.add(`#module ${entry.url}`)
    }
    for (const name of removed) add(name)
    if (isWorld) names.add(world)
    return names
  }

  /** What a fixed name makes its users touch, itself left out. */
  #reached(name: string): readonly string[] {
    const known = this.#reach.get(name)
    if (known !== undefined) return known
    const found = new Set<string>()
    const seen = new Set([name])
    for (const each of seen) {
      const entry = this.#fixed.get(each)
      if (entry === undefined) found.add(each)
      else if (entry.of === 'source') for (const used of entry.free) seen.add(used)
    }
    const reached = [...found]
    this.#reach.set(name, reached)
    return reached
  }

  /** A cell that touches what dynamic code may have made can reach any name through it. */
  #mayTouchAll(cell: PathCell, names: ReadonlySet<string>): boolean {
    if (cell.dynamic) return true
    const dynamic = this.components.componentOf(anything)
    if (dynamic === undefined) return false
    for (const name of names) if (this.components.componentOf(name) === dynamic) return true
    return false
  }
}

const isLasting = (entry: FixedEntry): boolean => entry.of !== 'import' || (entry.builtin && entry.effect !== true)

function push<T>(map: Map<string, T[]>, name: string, value: T): void {
  const known = map.get(name)
  if (known === undefined) map.set(name, [value])
  else known.push(value)
}
