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
  readonly entry?: FixedEntry
}

export interface Dependencies {
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
  const history = historyOf(path, lost)
  const fixed = fixedNames(path, history)
  const reach = reachOf(fixed)
  const components = new Components()
  const touched = new Map<number, readonly string[]>()
  for (const cell of path) {
    const names = touchedBy(cell, fixed, reach)
    if (mayTouchAll(cell, names, components)) {
      for (const [name, changes] of history.bound) if (!fixed.has(name) && changes[0]!.at <= cell.cell) names.add(name)
      names.add(anything)
    }
    touched.set(cell.cell, [...names])
    components.touch(names, cell.cell)
  }
  return {
    components,
    bound: history.now,
    lost: history.lost,
    fixed: name => fixed.get(name),
    entriesOf: name => history.entries.get(name) ?? [],
    touchOf: cell => touched.get(cell) ?? [],
    isBoundAt: (name, cell) => history.bound.get(name)?.findLast(change => change.at <= cell)?.isBound ?? false,
    lossesOf: name => history.losses.get(name) ?? [],
  }
}

interface History {
  readonly now: Map<string, BoundName>
  readonly lost: Map<string, LostName>
  readonly bound: Map<string, { readonly at: number; readonly isBound: boolean }[]>
  readonly losses: Map<string, number[]>
  readonly entries: Map<string, { readonly cell: number; readonly entry: FixedEntry }[]>
}

function historyOf(path: readonly PathCell[], lostNow: readonly LostName[]): History {
  const history: History = { now: new Map(), lost: new Map(), bound: new Map(), losses: new Map(), entries: new Map() }
  const note = (name: string, at: number, isBound: boolean): void => {
    const changes = history.bound.get(name)
    if (changes === undefined) history.bound.set(name, [{ at, isBound }])
    else changes.push({ at, isBound })
  }
  const lose = (lost: readonly LostName[], after: number): void => {
    for (const each of lost) {
      if (!history.now.delete(each.name)) continue
      history.lost.set(each.name, each)
      note(each.name, after, false)
      const losses = history.losses.get(each.name)
      if (losses === undefined) history.losses.set(each.name, [after])
      else losses.push(after)
    }
  }
  let before = 0
  for (const { cell, written, removed, lostBefore } of path) {
    lose(lostBefore, before)
    for (const { name, kind, entry } of written) {
      history.now.set(name, { kind, cell, ...(entry !== undefined && { entry }) })
      history.lost.delete(name)
      note(name, cell, true)
      if (entry === undefined) continue
      const entries = history.entries.get(name)
      if (entries === undefined) history.entries.set(name, [{ cell, entry }])
      else entries.push({ cell, entry })
    }
    for (const name of removed) {
      history.now.delete(name)
      note(name, cell, false)
    }
    before = cell
  }
  lose(lostNow, before)
  return history
}

function fixedNames(path: readonly PathCell[], history: History): ReadonlyMap<string, FixedEntry> {
  const fixed = new Map<string, FixedEntry>()
  const seen = new Set<string>()
  for (const { written, removed, touch } of path) {
    for (const { name, entry } of written) {
      if (!seen.has(name) && entry !== undefined && isLasting(entry)) fixed.set(name, entry)
      else fixed.delete(name)
    }
    for (const name of removed) fixed.delete(name)
    for (const name of touch) seen.add(name)
    for (const { name } of written) seen.add(name)
  }
  for (const name of history.losses.keys()) fixed.delete(name)
  return fixed
}

const isLasting = (entry: FixedEntry): boolean => entry.of !== 'import' || (entry.builtin && entry.effect !== true)

/** What a fixed name makes its users touch, itself left out. */
function reachOf(fixed: ReadonlyMap<string, FixedEntry>): (name: string) => readonly string[] {
  const known = new Map<string, readonly string[]>()
  return name => {
    const before = known.get(name)
    if (before !== undefined) return before
    const found = new Set<string>()
    const seen = new Set([name])
    for (const each of seen) {
      const entry = fixed.get(each)
      if (entry === undefined) found.add(each)
      else if (entry.of === 'source') for (const used of entry.free) seen.add(used)
    }
    const reached = [...found]
    known.set(name, reached)
    return reached
  }
}

function touchedBy(
  { touch, written, removed, world: isWorld }: PathCell,
  fixed: ReadonlyMap<string, FixedEntry>,
  reach: (name: string) => readonly string[],
): Set<string> {
  const names = new Set<string>()
  const add = (name: string): void => {
    if (!fixed.has(name)) names.add(name)
    else for (const reached of reach(name)) names.add(reached)
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

/** A cell that touches what dynamic code may have made can reach any name through it. */
function mayTouchAll(cell: PathCell, names: ReadonlySet<string>, components: Components): boolean {
  if (cell.dynamic) return true
  const dynamic = components.componentOf(anything)
  if (dynamic === undefined) return false
  for (const name of names) if (components.componentOf(name) === dynamic) return true
  return false
}
