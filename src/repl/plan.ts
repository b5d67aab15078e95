/**
 * What a restart would make of every name: which come back from their entries, which from stored copies, which cells run again, what is lost and why. Pure:
 * recovery carries it out, `state` prints it, names at risk are those it calls lost.
 *
 * Each component comes back at its newest base: a cell after which everything it holds has a copy that no later cell touched. What ran after the base is
 * run again; where that cannot be, what is current is restored and the rest is lost. A copy that is not current is never handed out.
 */
import { type Dependencies, dependenciesOf, type LostName, type PathCell } from './dependencies.ts'
import type { SecretPlace } from './secret-bytes.ts'
import type { BindingStatus, NameKind } from './types.ts'
import type { FixedEntry, LostReason } from './worker/tape.ts'

/** Copies that were taken after a cell. */
export interface Checkpoint {
  /** Number of the cell, and a fraction for what happened between it and the next one. */
  readonly cell: number
  readonly components: readonly {
    readonly names: readonly string[]
    readonly hash: string
    readonly cells?: readonly number[]
    readonly secrets?: readonly SecretPlace[]
  }[]
  readonly opaque: readonly { readonly name: string; readonly reason: LostReason }[]
}

/** What a cell of the path did after its end. */
export interface LateActivity {
  /** Between the number of the cell after which it was and the next one's. */
  readonly time: number
  readonly cell: number
  /** Why it cannot be repeated. */
  readonly refused?: LostReason
}

export interface PlanInput {
  /** Oldest first. */
  readonly path: readonly PathCell[]
  /** Oldest first. */
  readonly late?: readonly LateActivity[]
  /** By recoveries since the last cell. */
  readonly lost: readonly LostName[]
  /** Of cells of the path, in order; a later one of the same cell adds to it. */
  readonly checkpoints: readonly Checkpoint[]
  /** Cells that cannot be run again as things are now, and copies that cannot be read. */
  readonly refusedCells: ReadonlyMap<number, LostReason>
  readonly refusedCopies: ReadonlyMap<string, LostReason>
  /** Language versions that can be run. */
  readonly languages: ReadonlySet<number>
  /** What cells that run again may have computed, per recovery. */
  readonly recoverMs: number
}

export interface PlannedName {
  readonly status: BindingStatus
  readonly reason?: LostReason
  readonly kind: NameKind
  readonly cell: number
}

export interface PlannedEntry {
  readonly name: string
  readonly kind: NameKind
  readonly cell: number
  readonly entry: FixedEntry
}

export interface PlannedCopy {
  readonly hash: string
  /** Cells whose source is needed to read it. */
  readonly cells: readonly number[]
  readonly secrets: readonly SecretPlace[]
  readonly names: readonly { readonly name: string; readonly kind: NameKind; readonly cell: number }[]
}

export interface Plan {
  /** Every name that is bound at the head. */
  readonly names: ReadonlyMap<string, PlannedName>
  /** Oldest first. */
  readonly entries: readonly PlannedEntry[]
  readonly copies: readonly PlannedCopy[]
  /** Cells to run again, oldest first. */
  readonly replays: readonly number[]
  /** Times of late activity to repeat; each of a cell that runs again. */
  readonly lates: readonly number[]
}

/** How a name can be had as it was after a cell. */
type Source =
  | { readonly from: 'copy'; readonly hash: string; readonly cells: readonly number[]; readonly secrets: readonly SecretPlace[] }
  | { readonly from: 'entry'; readonly entry: FixedEntry }
  | { readonly from: 'nowhere'; readonly reason: LostReason }

/** Something that a component went through: a cell, or what a cell did later. */
interface Step {
  readonly time: number
  readonly cell: number
  readonly late: LateActivity | undefined
}

interface Base {
  readonly cell: number
  readonly sources: ReadonlyMap<string, Source>
}

export function plan(input: PlanInput, dependencies: Dependencies = dependenciesOf(input.path, input.lost)): Plan {
  return new Planning(input, dependencies).result()
}

class Planning {
  readonly #input: PlanInput
  readonly #dependencies: Dependencies
  readonly #cells: ReadonlyMap<number, PathCell>
  readonly #stored: ReadonlyMap<string, readonly { readonly cell: number; readonly source: Source }[]>
  readonly #names = new Map<string, PlannedName>()
  readonly #entries: PlannedEntry[] = []
  readonly #copies = new Map<string, Pick<PlannedCopy, 'cells' | 'secrets'> & { names: PlannedCopy['names'][number][] }>()
  readonly #replays: number[] = []
  readonly #lates: number[] = []
  #computeMs = 0

  constructor(input: PlanInput, dependencies: Dependencies) {
    this.#input = input
    this.#dependencies = dependencies
    this.#cells = new Map(input.path.map(cell => [cell.cell, cell]))
    this.#stored = this.#sourcesByName()
  }

  result(): Plan {
    const { bound } = this.#dependencies
    const fixed = (name: string): FixedEntry | undefined => this.#dependencies.fixed(name)
    for (const [name, { kind, cell }] of bound) {
      const entry = fixed(name)
      if (entry === undefined) continue
      this.#entries.push({ name, kind, cell, entry })
      this.#names.set(name, { status: statusOf(entry), kind, cell })
    }
    const stepsOf = this.#stepsByComponent()
    for (const group of this.#dependencies.components.groups()) {
      if (group.some(name => bound.has(name) && fixed(name) === undefined))
        this.#planGroup(group, stepsOf.get(this.#dependencies.components.componentOf(group[0]!)!) ?? [])
    }
    return {
      names: new Map([...this.#names].sort(([a], [b]) => (a < b ? -1 : 1))),
      entries: this.#entries.sort((a, b) => a.cell - b.cell),
      copies: [...this.#copies].map(([hash, copy]) => ({ hash, ...copy })),
      replays: this.#replays.sort((a, b) => a - b),
      lates: this.#lates.sort((a, b) => a - b),
    }
  }

  #planGroup(group: readonly string[], steps: readonly Step[]): void {
    // What was found lost since a base is not to come back by running the cells before.
    const losses = group.flatMap(name => this.#dependencies.lossesOf(name))
    const barrier = Math.max(0, ...losses)
    const bases = [...new Set([...this.#basesOf(group, steps), 0])].filter(cell => cell >= barrier).sort((a, b) => b - a)
    let blocked: LostReason | undefined
    for (let left = bases; left.length > 0; ) {
      const full = this.#newestBase(group, left, source => source.from !== 'nowhere')
      if (full === undefined) break
      const again = steps.filter(step => step.time > full.cell)
      const computeMs = again.reduce((sum, step) => sum + this.#computeMsOf(step), 0)
      const isPossible =
        again.every(step => this.#refusal(step) === undefined) && this.#computeMs + computeMs <= this.#input.recoverMs
      // What a cell did later can be repeated only after the cell itself: then an older base may do.
      const isWhole = again.every(({ late, cell }) => late === undefined || again.some(step => step.time === cell))
      if (isPossible && isWhole) {
        this.#computeMs += computeMs
        this.#restore(full)
        this.#runAgain(again)
        this.#settle(group, full, again, new Map())
        return
      }
      if (!isPossible) {
        blocked = this.#blockOf(again)
        break
      }
      left = left.slice(left.indexOf(full.cell) + 1)
    }
    this.#planPart(
      group,
      steps,
      this.#newestBase(group, bases, () => true),
      barrier,
      blocked,
    )
  }

  /** What only as things are now forbids to run all of them again; `undefined` when something else forbids it, too. */
  #blockOf(steps: readonly Step[]): LostReason | undefined {
    const reasons = new Set(steps.map(step => this.#refusal(step)))
    reasons.delete(undefined)
    if (reasons.has('closure-effect') || reasons.has('interrupted')) return undefined
    return reasons.size === 0 ? 'budget' : [...reasons][0]
  }

  #runAgain(steps: readonly Step[]): void {
    for (const { time, late } of steps) (late === undefined ? this.#replays : this.#lates).push(time)
  }

  #computeMsOf({ cell, late }: Step): number {
    return late === undefined ? (this.#cells.get(cell)?.computeMs ?? 0) : 0
  }

  /**
   * What has a copy comes back; what ran since is run again where it needs nothing that is lost.
   * @param blocked - why what has no copy cannot be had by running all of it again.
   */
  #planPart(
    group: readonly string[],
    steps: readonly Step[],
    base: Base | undefined,
    barrier: number,
    blocked: LostReason | undefined,
  ): void {
    const lost = new Map<string, LostReason>()
    const from = base?.cell ?? barrier
    // A copy made since would have spared running the cell: that it cannot be had is why.
    const told = (reason: LostReason, since: number): LostReason =>
      reason === 'closure-effect' ? (this.#copyRefused(group, since) ?? reason) : reason
    for (const name of group) {
      if (!this.#dependencies.isBoundAt(name, from)) continue
      const source = base?.sources.get(name)
      if (source === undefined || source.from === 'nowhere')
        lost.set(name, told(blocked ?? source?.reason ?? 'closure-effect', from))
    }
    const again: Step[] = []
    for (const step of steps) {
      if (step.time <= from) continue
      const reason = this.#reasonToSkip(step, again, lost)
      if (reason === undefined) {
        again.push(step)
        this.#computeMs += this.#computeMsOf(step)
        continue
      }
      for (const name of this.#changedBy(group, step)) if (!lost.has(name)) lost.set(name, told(reason, step.time))
      // What it took away is not to come back with a copy from before.
      for (const name of step.late === undefined ? (this.#cells.get(step.cell)?.removed ?? []) : [])
        if (!this.#dependencies.bound.has(name) && !lost.has(name)) lost.set(name, told(reason, step.time))
    }
    // Run again, they would bind names as they were before what lost them.
    const useful = again.filter(({ cell }) => !this.#dependencies.touchOf(cell).some(name => lost.has(name)))
    if (base !== undefined) this.#restore(base, lost)
    this.#runAgain(useful)
    this.#settle(group, base, useful, lost)
  }

  /** Why a copy of these names cannot be had that was made then or later. */
  #copyRefused(group: readonly string[], since: number): LostReason | undefined {
    for (const name of group) {
      for (const { cell, source } of this.#stored.get(name) ?? []) {
        const refused = source.from === 'copy' && cell >= since ? this.#input.refusedCopies.get(source.hash) : undefined
        if (refused !== undefined) return refused
      }
    }
    return undefined
  }

  #reasonToSkip(step: Step, again: readonly Step[], lost: ReadonlyMap<string, LostReason>): LostReason | undefined {
    const refused = this.#refusal(step)
    if (refused !== undefined) return refused
    const needed = this.#dependencies.touchOf(step.cell).find(name => lost.has(name))
    if (needed !== undefined) return lost.get(needed)
    if (step.late !== undefined && !again.some(({ time }) => time === step.cell)) return 'closure-effect'
    return this.#computeMs + this.#computeMsOf(step) > this.#input.recoverMs ? 'budget' : undefined
  }

  /** All that could share an object with what the step touched, as components were then. */
  #changedBy(group: readonly string[], { cell, time }: Step): readonly string[] {
    const { components } = this.#dependencies
    const touched = new Set(this.#dependencies.touchOf(cell).map(name => components.componentOf(name, time)))
    return group.filter(name => touched.has(components.componentOf(name, time)) && this.#dependencies.isBoundAt(name, time))
  }

  #refusal({ cell, late }: Step): LostReason | undefined {
    if (late !== undefined) return late.refused
    const known = this.#cells.get(cell)
    if (known === undefined) return 'interrupted'
    if (!this.#input.languages.has(known.language)) return 'diverged'
    return known.refused ?? this.#input.refusedCells.get(cell)
  }

  #restore(base: Base, lost: ReadonlyMap<string, LostReason> = new Map()): void {
    for (const [name, source] of base.sources) {
      if (lost.has(name) || source.from === 'nowhere') continue
      const { kind, cell } = this.#writer(name, base.cell)
      if (source.from === 'entry') {
        this.#entries.push({ name, kind, cell, entry: source.entry })
        continue
      }
      const copy = this.#copies.get(source.hash)
      if (copy === undefined)
        this.#copies.set(source.hash, { cells: source.cells, secrets: source.secrets, names: [{ name, kind, cell }] })
      else copy.names.push({ name, kind, cell })
    }
  }

  #settle(group: readonly string[], base: Base | undefined, again: readonly Step[], lost: ReadonlyMap<string, LostReason>): void {
    const touched = new Set(again.flatMap(({ cell }) => this.#dependencies.touchOf(cell)))
    for (const name of group) {
      const bound = this.#dependencies.bound.get(name)
      if (bound === undefined || this.#dependencies.fixed(name) !== undefined) continue
      const reason = lost.get(name)
      const source = base?.sources.get(name)
      const status =
        reason !== undefined
          ? 'lost'
          : touched.has(name) || source === undefined
            ? 'replayed'
            : source.from === 'entry'
              ? statusOf(source.entry)
              : 'snapshot'
      this.#names.set(name, { status, ...(reason !== undefined && { reason }), kind: bound.kind, cell: bound.cell })
    }
  }

  /** The newest at which every name that was bound has a source that is good enough. */
  #newestBase(group: readonly string[], cells: readonly number[], isGood: (source: Source) => boolean): Base | undefined {
    search: for (const cell of cells) {
      const sources = new Map<string, Source>()
      for (const name of group) {
        if (!this.#dependencies.isBoundAt(name, cell)) continue
        const source = this.#sourceAt(name, cell)
        if (source === undefined || !isGood(source)) continue search
        sources.set(name, source)
      }
      return { cell, sources }
    }
    return undefined
  }

  /** Only after these can there be a source for everything. */
  #basesOf(group: readonly string[], steps: readonly Step[]): readonly number[] {
    const found = new Set<number>()
    for (const name of group) {
      for (const { cell } of this.#stored.get(name) ?? []) found.add(cell)
      for (const { cell } of this.#dependencies.entriesOf(name)) found.add(cell)
    }
    const last = steps.at(-1)
    if (last !== undefined) found.add(last.time)
    return [...found]
  }

  #sourceAt(name: string, cell: number): Source | undefined {
    const since = this.#dependencies.components.lastTouch(name, cell)
    const entry = this.#dependencies.entriesOf(name).findLast(each => each.cell <= cell)
    const isNewest = entry !== undefined && entry.cell === this.#writer(name, cell).cell
    // An import is bound to its module again, whatever it was used for.
    if (isNewest && (entry.entry.of === 'import' || entry.cell >= since)) {
      if (entry.entry.of === 'import' && entry.entry.effect === true) return { from: 'nowhere', reason: 'module-effect' }
      return { from: 'entry', entry: entry.entry }
    }
    const stored = this.#stored.get(name)?.findLast(each => each.cell <= cell)
    if (stored === undefined || stored.cell < since) return undefined
    const { source } = stored
    const refused = source.from === 'copy' ? this.#input.refusedCopies.get(source.hash) : undefined
    return refused === undefined ? source : { from: 'nowhere', reason: refused }
  }

  #writer(name: string, until: number): { readonly kind: NameKind; readonly cell: number } {
    return this.#dependencies.writerOf(name, until) ?? { kind: 'const', cell: 0 }
  }

  #sourcesByName(): Map<string, { readonly cell: number; readonly source: Source }[]> {
    const found = new Map<string, { readonly cell: number; readonly source: Source }[]>()
    const add = (name: string, cell: number, source: Source): void => {
      const known = found.get(name)
      if (known === undefined) found.set(name, [{ cell, source }])
      else known.push({ cell, source })
    }
    for (const { cell, components, opaque } of this.#input.checkpoints) {
      for (const { names, hash, cells = [], secrets = [] } of components)
        for (const name of names) add(name, cell, { from: 'copy', hash, cells, secrets })
      for (const { name, reason } of opaque) add(name, cell, { from: 'nowhere', reason })
    }
    return found
  }

  #stepsByComponent(): ReadonlyMap<object, Step[]> {
    const { components } = this.#dependencies
    const { path, late = [] } = this.#input
    const steps: readonly Step[] = [
      ...path.map(({ cell }) => ({ time: cell, cell, late: undefined })),
      ...late.map(each => ({ time: each.time, cell: each.cell, late: each })),
    ].sort((a, b) => a.time - b.time)
    const found = new Map<object, Step[]>()
    for (const step of steps) {
      const [first] = this.#dependencies.touchOf(step.cell)
      const component = first === undefined ? undefined : components.componentOf(first)
      if (component === undefined) continue
      const known = found.get(component)
      if (known === undefined) found.set(component, [step])
      else known.push(step)
    }
    return found
  }
}

/** A module of the project begins anew; what is of the platform or of a cell's own text is the same. */
function statusOf(entry: FixedEntry): BindingStatus {
  if (entry.of === 'primitive') return 'snapshot'
  return entry.of === 'import' && !entry.builtin ? 'replayed' : 'exact'
}
