/** What the records of a journal add up to. */
import type { LostName } from './dependencies.ts'
import type { BeginRecord, CallRecord, CheckRecord, EndRecord, JournalRecord, LateRecord, OpenRecord } from './types.ts'
import type { LostReason } from './worker/tape.ts'

/** A cell as the journal knows it. */
export interface JournalCell {
  readonly begin: BeginRecord
  /** Absent: it runs, or its process died. */
  end: EndRecord | undefined
  /** Names that recoveries since its parent's end, and before it ran, could not bring back. */
  lostBefore: readonly LostName[]
  /** Calls that were sent. */
  readonly calls: CallRecord[]
  /** Copies of what was bound after it; `time` counts late activity before them. */
  readonly checks: { readonly time: number; readonly record: CheckRecord }[]
  /** What ended cells did while this one was the head, and when: a little after its number. `order`: of the record in the journal. */
  readonly active: { readonly time: number; readonly order: number; readonly record: LateRecord }[]
  /** Of its `end` in the journal. */
  ended: number
  /** Somebody has heard that it was interrupted. */
  isTold: boolean
  /** The host gave the model another result. */
  altered: string | undefined
}

export interface NamedState {
  readonly cell: number
  /** ms since the epoch. */
  readonly at: number
}

/** What recoveries of one writer had to tell, while it is not certain that anybody heard it. */
export interface Owed {
  readonly epoch: number
  readonly lost: readonly LostName[]
  readonly interrupted: number | undefined
  /** The cell whose answer carried it. */
  readonly carrier: number | undefined
}

export interface JournalState {
  readonly cells: Map<number, JournalCell>
  readonly named: Map<string, NamedState>
  /** Names that recoveries since the head's end could not bring back. */
  lost: LostName[]
  owed: Owed | undefined
  /** The newest cell; 0: none. */
  latest: number
  /** 0: the empty start. */
  head: number
  epoch: number
  /** How many count. */
  records: number
  /** The newest. */
  opened: OpenRecord | undefined
  /** The first record that cannot be used, and why; what stood before it counts. */
  damage: { readonly seq: number; readonly why: string } | undefined
}

export function emptyState(): JournalState {
  return {
    cells: new Map(),
    named: new Map(),
    lost: [],
    owed: undefined,
    latest: 0,
    head: 0,
    epoch: 0,
    records: 0,
    opened: undefined,
    damage: undefined,
  }
}

/** Records of an epoch that a newer one has overtaken are left out. */
export function fold(state: JournalState, record: JournalRecord): void {
  // A writer that lost its lease may have written on for a moment.
  if (record.epoch < state.epoch) return
  state.epoch = record.epoch
  state.records++
  const cell = 'cell' in record ? state.cells.get(record.cell) : undefined
  const head = state.cells.get(state.head)
  switch (record.k) {
    case 'open':
      state.opened = record
      return
    case 'begin':
      // Who sends the next cell has the answer to the one before.
      if (state.owed?.carrier !== undefined && state.owed.epoch === record.epoch) heard(state)
      state.cells.set(record.cell, {
        begin: record,
        end: undefined,
        lostBefore: state.lost,
        calls: [],
        checks: [],
        active: [],
        ended: 0,
        isTold: false,
        altered: undefined,
      })
      state.latest = Math.max(state.latest, record.cell)
      return
    case 'call':
      cell?.calls.push(record)
      return
    case 'end':
      if (cell === undefined) return
      cell.end = record
      // A worker may have died before it took the cell up: what was lost with it was gone when the cell ran.
      cell.lostBefore = state.lost
      cell.ended = state.records
      state.head = record.cell
      state.lost = []
      if (state.owed?.epoch === record.epoch) state.owed = { ...state.owed, carrier: state.owed.carrier ?? record.cell }
      return
    case 'late':
      head?.active.push({ time: timeAfter(state.head, head.active.length + 1), order: state.records, record })
      return
    case 'check': {
      const { time } = (record.cell === state.head ? head?.active.at(-1) : undefined) ?? { time: record.cell }
      cell?.checks.push({ time, record })
      return
    }
    case 'confirm':
      if (state.owed?.carrier === record.cell) heard(state)
      if (cell !== undefined && record.how === 'altered') cell.altered = record.note ?? ''
      return
    case 'state':
      if (record.action === 'save') state.named.set(record.name ?? '', { cell: record.cell, at: record.at })
      else if (record.action === 'delete') state.named.delete(record.name ?? '')
      else {
        state.head = record.cell
        state.lost = []
      }
      return
    case 'recover': {
      const lost = record.statuses
        .filter(({ status }) => status === 'lost')
        .map(({ name, reason, cell: writer }) => ({ name, reason: (reason ?? 'closure-effect') as LostReason, cell: writer }))
      state.lost = [...state.lost, ...lost]
      const before = state.owed?.epoch === record.epoch ? state.owed : undefined
      state.owed = {
        epoch: record.epoch,
        lost: [...(before?.lost ?? []), ...lost],
        interrupted: record.interrupted ?? before?.interrupted,
        carrier: undefined,
      }
      return
    }
    default:
      // A record of a later build.
      record satisfies never
  }
}

/** Between the number of a cell and the next one, the later the closer to that. */
function timeAfter(cell: number, count: number): number {
  return cell + count / (count + 1_024)
}

function heard(state: JournalState): void {
  const interrupted = state.cells.get(state.owed?.interrupted ?? 0)
  if (interrupted !== undefined) interrupted.isTold = true
  state.owed = undefined
}

/** Numbers of the cells from the start to `head`, in order. */
export function pathTo(state: Pick<JournalState, 'cells'>, head: number): readonly number[] {
  const path: number[] = []
  const seen = new Set<number>()
  for (let cell = head; cell !== 0 && !seen.has(cell); cell = state.cells.get(cell)!.begin.parent) {
    if (!state.cells.has(cell)) break
    seen.add(cell)
    path.push(cell)
  }
  return path.reverse()
}

/** The newest cell of an earlier writer that began and did not end, and of which nobody has heard for certain. */
export function interruptedCell(state: JournalState, epoch: number): JournalCell | undefined {
  return [...state.cells.values()].findLast(({ begin, end, isTold }) => end === undefined && !isTold && begin.epoch < epoch)
}
