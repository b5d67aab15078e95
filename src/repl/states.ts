/** Named states, and what a session looks like now: what every name holds and what a restart would make of it. */
import { OutriggerError } from '../errors.ts'
import type { Json } from '../ports/json.ts'
import { languageVersion } from './cell-records.ts'
import type { JournalState, NamedState } from './journal-state.ts'
import type { Path } from './path.ts'
import { type Plan, plan } from './plan.ts'
import type { SessionState } from './types.ts'
import type { SeenBinding } from './worker/protocol.ts'
import type { LostReason } from './worker/tape.ts'

/** What a program or a client asks to do with states. */
export type StateAction =
  | { readonly action: 'list' }
  | { readonly action: 'save'; readonly name: string }
  | { readonly action: 'delete'; readonly name: string }
  | { readonly action: 'restore'; readonly name: string }
  | { readonly action: 'restore'; readonly cell: number }
  | { readonly action: 'reset' }

const stateName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const maxStates = 64

/** What a program gave `repl.state`. Throws `REPL_BAD_REQUEST`, `REPL_BAD_NAME`, `REPL_LIMIT`, `REPL_UNKNOWN_STATE`, `REPL_UNKNOWN_CELL`. */
export function stateAction(given: { readonly [key: string]: Json }, state: JournalState): StateAction {
  const { action = 'list', name, cell } = given
  switch (action) {
    case 'list':
    case 'reset':
      return { action }
    case 'save':
      checkStateName(String(name ?? ''), state)
      return { action, name: String(name) }
    case 'delete':
      knownState(state, String(name ?? ''))
      return { action, name: String(name) }
    case 'restore':
      if (typeof cell === 'number') {
        if (state.cells.get(cell)?.end === undefined) {
          throw new OutriggerError('REPL_UNKNOWN_CELL', `there is no cell ${cell} that has ended`, {
            subject: String(cell),
            hint: 'history lists the cells',
          })
        }
        return { action, cell }
      }
      knownState(state, String(name ?? ''))
      return { action, name: String(name) }
    default:
      throw new OutriggerError('REPL_BAD_REQUEST', `there is no action ${JSON.stringify(action)}`, {
        subject: 'action',
        hint: 'actions: list save restore delete reset',
      })
  }
}

/** Throws `REPL_BAD_NAME`, and `REPL_LIMIT` for a name more than there may be. */
export function checkStateName(name: string, state: JournalState): void {
  if (!stateName.test(name)) {
    throw new OutriggerError('REPL_BAD_NAME', `${JSON.stringify(name)} is no name of a state`, {
      subject: name,
      hint: 'use letters, digits, dots, dashes and underscores (64 at most)',
    })
  }
  if (!state.named.has(name) && state.named.size >= maxStates) {
    throw new OutriggerError('REPL_LIMIT', `there are ${maxStates} named states already`, {
      subject: name,
      hint: 'delete one',
    })
  }
}

/** Throws `REPL_UNKNOWN_STATE`. */
export function knownState(state: JournalState, name: string): NamedState {
  const known = state.named.get(name)
  if (known !== undefined) return known
  const names = [...state.named.keys()].sort()
  throw new OutriggerError('REPL_UNKNOWN_STATE', `there is no state ${JSON.stringify(name)}`, {
    subject: name,
    hint: names.length === 0 ? 'no state was saved' : `states: ${names.slice(0, 20).join(', ')}`,
  })
}

/** What a restart would make of the names now, as far as can be told without looking at files. */
export function predict(path: Path, recoverMs: number): Plan {
  return plan(
    {
      path: path.cells,
      late: path.late,
      lost: [],
      checkpoints: path.checkpoints(),
      refusedCells: new Map(),
      refusedCopies: new Map(),
      languages: new Set([languageVersion]),
      recoverMs,
    },
    path.dependencies,
  )
}

/** Sorted by name. */
export function namesAtRisk(path: Path, recoverMs: number): readonly { readonly name: string; readonly reason: LostReason }[] {
  return [...predict(path, recoverMs).names].flatMap(([name, { status, reason }]) =>
    status === 'lost' ? [{ name, reason: reason ?? 'closure-effect' }] : [],
  )
}

export interface StateParts extends Pick<SessionState, 'cwd' | 'pending' | 'worker'> {
  readonly path: Path
  readonly state: JournalState
  readonly recoverMs: number
  /** What the worker last said that the names hold. */
  readonly seen: readonly SeenBinding[]
}

export function stateOf({ path, state, recoverMs, seen, cwd, pending, worker }: StateParts): SessionState {
  const { names } = predict(path, recoverMs)
  const bySight = new Map(seen.map(binding => [binding.name, binding]))
  const sizes = new Map<string, number>()
  for (const { components } of [...path.cells].flatMap(({ cell }) =>
    (state.cells.get(cell)?.checks ?? []).map(check => check.record),
  )) {
    for (const { names: held, bytes } of components) if (held.length === 1) sizes.set(held[0]!, bytes)
  }
  const bindings = [...names].map(([name, { kind, cell, status, reason }]) => {
    const binding = bySight.get(name)
    const bytes = sizes.get(name)
    return {
      name,
      kind: binding?.kind ?? kind,
      type: binding?.type ?? '',
      preview: binding?.preview ?? '',
      cell,
      ...(bytes !== undefined && { bytes }),
      recover: status,
      ...(reason !== undefined && { reason }),
    }
  })
  const atRisk = bindings.filter(each => each.recover === 'lost').map(({ name }) => name)
  return {
    mode: atRisk.length === 0 ? 'durable' : 'volatile',
    head: state.head,
    cwd,
    bindings,
    lost: [...path.dependencies.lost.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    named: [...state.named]
      .map(([name, { cell, at }]) => ({ name, cell, at: new Date(at).toISOString() }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    atRisk,
    pending,
    worker,
  }
}
