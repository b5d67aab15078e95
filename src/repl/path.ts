/** The way from the empty start to a head, as planning needs it. Follows the journal cell by cell; another head is read anew. */
import type { Json } from '../ports/json.ts'
import { type Dependencies, dependenciesOf, type PathCell, type WrittenName } from './dependencies.ts'
import type { Journal } from './journal.ts'
import { type JournalCell, pathTo } from './journal-state.ts'
import type { Checkpoint, LateActivity } from './plan.ts'
import type { DeclaredName, EndRecord, LateRecord, MaybeBlob } from './types.ts'
import type { FixedEntry, LateTape, LostReason } from './worker/tape.ts'

export interface RecordedActivity extends LateActivity {
  readonly record: LateRecord
}

export interface Path {
  readonly head: number
  readonly cells: readonly PathCell[]
  readonly dependencies: Dependencies
  /** Oldest first. */
  readonly late: readonly RecordedActivity[]
  checkpoints(): readonly Checkpoint[]
}

export interface Paths {
  /** To the journal's head. */
  current(): Promise<Path>
  to(head: number): Promise<Path>
}

export function createPaths(journal: Pick<Journal, 'state' | 'load'>): Paths {
  const { state } = journal
  interface Known {
    head: number
    readonly cells: PathCell[]
    readonly dependencies: Dependencies
    readonly late: RecordedActivity[]
    lost: number
    /** How much of the head's activity is in it. */
    active: number
  }
  let known: Known | undefined

  const read = (cell: number): Promise<PathCell> => pathCell(state.cells.get(cell)!, journal)

  /** What happened after the head, as far as the journal says; until the record of that number. */
  async function follow(path: Known, until: number): Promise<void> {
    const active = state.cells.get(path.head)?.active.slice(path.active) ?? []
    for (const { time, order, record } of active) {
      if (order > until) break
      path.active++
      path.dependencies.addLate(record.cell, time)
      const refused = await refusalOfLate(record, journal)
      path.late.push({ time, cell: record.cell, record, ...(refused !== undefined && { refused }) })
    }
  }

  async function advance(path: Known, cell: number): Promise<void> {
    await follow(path, state.cells.get(cell)!.ended)
    const next = await read(cell)
    path.cells.push(next)
    path.dependencies.add(next)
    path.head = cell
    path.active = 0
    path.lost = 0
  }

  /** A cell's own later activity belongs to where it goes on. */
  async function build(head: number): Promise<Known> {
    const path: Known = { head: 0, cells: [], dependencies: dependenciesOf([]), late: [], lost: 0, active: 0 }
    for (const cell of pathTo(state, head)) await advance(path, cell)
    return path
  }

  const asPath = ({ head, cells, dependencies, late }: Known): Path => ({
    head,
    cells,
    dependencies,
    late,
    checkpoints: () => checkpointsOf(state.cells, cells),
  })

  async function toHead(): Promise<Path> {
    const { head, lost } = state
    if (known === undefined || known.head !== head || known.lost > lost.length) {
      const isNext = known !== undefined && known.head !== head && known.head === state.cells.get(head)?.begin.parent
      if (known !== undefined && isNext && known.lost === 0) await advance(known, head)
      else known = await build(head)
    }
    await follow(known, Number.POSITIVE_INFINITY)
    if (lost.length > known.lost) known.dependencies.lose(lost.slice(known.lost))
    known.lost = lost.length
    return asPath(known)
  }
  let reading: Promise<unknown> = Promise.resolve()

  return {
    current() {
      // One reader at a time: what was read goes on from where the last one ended.
      const current = reading.then(toHead)
      reading = current.catch(() => {})
      return current
    },
    async to(head) {
      return asPath(await build(head))
    },
  }
}

function checkpointsOf(cells: ReadonlyMap<number, JournalCell>, path: readonly PathCell[]): readonly Checkpoint[] {
  return path.flatMap(({ cell }) =>
    cells.get(cell)!.checks.map(({ time, record: { components, opaque } }) => ({ cell: time, components, opaque })),
  )
}

async function pathCell({ begin, end, lostBefore }: JournalCell, journal: Pick<Journal, 'load'>): Promise<PathCell> {
  const isNothing = end === undefined || end.rolledBack === true || end.outcome === 'rejected'
  if (isNothing) return { ...nothing, cell: begin.cell, language: begin.language, lostBefore }
  const names = [...end.names.added, ...end.names.changed]
  return {
    cell: begin.cell,
    touch: end.touch,
    dynamic: end.dynamic,
    world: end.world ?? false,
    written: await Promise.all(names.map(name => writtenName(name, journal))),
    removed: end.names.removed,
    unfixed: end.unfixed ?? [],
    refused: refusalOf(end),
    language: begin.language,
    computeMs: end.timing.computeMs,
    lostBefore,
  }
}

const nothing: Omit<PathCell, 'cell' | 'language' | 'lostBefore'> = {
  touch: [],
  dynamic: false,
  world: false,
  written: [],
  removed: [],
  unfixed: [],
  refused: undefined,
  computeMs: 0,
}

async function writtenName({ name, kind, entry }: DeclaredName, journal: Pick<Journal, 'load'>): Promise<WrittenName> {
  const loaded =
    entry === undefined ? undefined : ((await journal.load(entry as unknown as MaybeBlob<Json>)) as FixedEntry | undefined)
  return loaded === undefined ? { name, kind } : { name, kind, entry: loaded }
}

/** Why the cell is never run again, whatever the outside looks like. */
function refusalOf({ class: kind, effects }: EndRecord): LostReason | undefined {
  if (kind !== 'effect') return undefined
  return effects.some(effect => effect.kind === 'interrupted') ? 'interrupted' : 'closure-effect'
}

/** Why what a cell did after its end cannot be repeated. */
async function refusalOfLate({ tape }: LateRecord, journal: Pick<Journal, 'load'>): Promise<LostReason | undefined> {
  const loaded = (await journal.load(tape as unknown as MaybeBlob<Json>)) as LateTape | undefined
  return loaded === undefined || loaded.effects.length > 0 ? 'closure-effect' : undefined
}
