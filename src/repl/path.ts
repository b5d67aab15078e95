/** The way from the empty start to a head, as planning needs it. Follows the journal cell by cell; another head is read anew. */
import type { Json } from '../ports/json.ts'
import { type Dependencies, dependenciesOf, type PathCell, type WrittenName } from './dependencies.ts'
import type { Journal } from './journal.ts'
import { type JournalCell, pathTo } from './journal-state.ts'
import type { Checkpoint } from './plan.ts'
import type { DeclaredName, EndRecord, MaybeBlob } from './types.ts'
import type { FixedEntry, LostReason } from './worker/tape.ts'

export interface Path {
  readonly head: number
  readonly cells: readonly PathCell[]
  readonly dependencies: Dependencies
  checkpoints(): readonly Checkpoint[]
}

export interface Paths {
  /** To the journal's head. */
  current(): Promise<Path>
  to(head: number): Promise<Path>
}

export function createPaths(journal: Pick<Journal, 'state' | 'load'>): Paths {
  const { state } = journal
  let known: { head: number; cells: PathCell[]; dependencies: Dependencies; lost: number; active: number } | undefined

  const read = (cell: number): Promise<PathCell> => pathCell(state.cells.get(cell)!, journal)
  const activity = (cell: number) => state.cells.get(cell)?.active ?? []

  async function build(head: number): Promise<NonNullable<typeof known>> {
    const cells = await Promise.all(pathTo(state, head).map(read))
    const dependencies = dependenciesOf([])
    for (const cell of cells) {
      dependencies.add(cell)
      // A cell's own later activity belongs to where it goes on.
      for (const { cell: active, time } of cell.cell === head ? [] : activity(cell.cell)) dependencies.addLate(active, time)
    }
    return { head, cells, dependencies, lost: 0, active: 0 }
  }

  const asPath = ({ head, cells, dependencies }: NonNullable<typeof known>): Path => ({
    head,
    cells,
    dependencies,
    checkpoints: () => checkpointsOf(state.cells, cells),
  })

  return {
    async current() {
      const { head, lost } = state
      if (known === undefined || known.head !== head || known.lost > lost.length) {
        if (
          known !== undefined &&
          known.lost === 0 &&
          known.head !== head &&
          known.head === state.cells.get(head)?.begin.parent
        ) {
          const cell = await read(head)
          known.cells.push(cell)
          known.dependencies.add(cell)
          known.head = head
          known.active = 0
        } else known = await build(head)
      }
      for (const { cell, time } of activity(head).slice(known.active)) known.dependencies.addLate(cell, time)
      known.active = activity(head).length
      if (lost.length > known.lost) known.dependencies.lose(lost.slice(known.lost))
      known.lost = lost.length
      return asPath(known)
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

async function pathCell({ begin, end, lostBefore, late }: JournalCell, journal: Pick<Journal, 'load'>): Promise<PathCell> {
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
    refused: refusalOf(end) ?? (late.length > 0 ? 'closure-effect' : undefined),
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
