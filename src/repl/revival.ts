/** Gives a new worker the names of the session, and keeps what happened until it is told, once. */

import type { LostName } from './dependencies.ts'
import type { Journal } from './journal.ts'
import { interruptedCell } from './journal-state.ts'
import type { Kernel } from './kernel.ts'
import type { Paths } from './path.ts'
import type { PlannedName } from './plan.ts'
import { recover } from './recovery.ts'
import type { Secrets } from './secrets.ts'
import type { BindingStatus, Recovery, RecoveryReason } from './types.ts'

export interface RevivalParts {
  readonly kernel: Kernel
  readonly journal: Journal
  readonly paths: Paths
  readonly secrets: Secrets
  readonly languages: ReadonlySet<number>
  recoverMs(): number
  readonly isTimeFixed: boolean
}

export class Revival {
  readonly #parts: RevivalParts
  /** Why the worker that starts next is not the one that knew the names; `undefined` while one knows them. */
  #reason: RecoveryReason | undefined
  #running: Promise<void> | undefined
  #untold: Recovery | undefined
  /** Names that an earlier process lost, when it may have died before anybody heard of it. */
  #owed: readonly LostName[]
  /** Told by this process as interrupted. */
  #interrupted: number | undefined

  constructor(parts: RevivalParts) {
    this.#parts = parts
    const { state } = parts.journal
    this.#owed = state.owed?.lost ?? []
    if (state.cells.size > 0) this.#reason = 'host-restart'
  }

  /** The worker is gone. The first reason since it knew the names is the one that is told. */
  lost(reason: RecoveryReason): void {
    if (this.#running === undefined) this.#reason ??= reason
  }

  get isNeeded(): boolean {
    return this.#reason !== undefined
  }

  /** Resolves when a worker knows the names of the head. */
  ready(): Promise<void> {
    if (this.#running !== undefined) return this.#running
    if (this.#reason === undefined) return Promise.resolve()
    this.#running = this.#revive(this.#reason).finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /** What is to be told, and from now on is. */
  tell(): Recovery | undefined {
    const recovery = this.#untold
    this.#untold = undefined
    return recovery
  }

  async #revive(reason: RecoveryReason): Promise<void> {
    const { kernel, journal, paths, secrets, languages, recoverMs, isTimeFixed } = this.#parts
    const began = performance.now()
    const path = await paths.current()
    const found = interruptedCell(journal.state, journal.epoch)
    const interrupted = found?.begin.cell === this.#interrupted ? undefined : found
    this.#interrupted = found?.begin.cell
    const owed = this.#owed.filter(({ name }) => path.dependencies.lost.has(name))
    this.#owed = []
    const isEmpty = path.dependencies.bound.size === 0 && path.dependencies.lost.size === 0
    const { names: revived, timersDropped } = isEmpty
      ? { names: new Map<string, ToldName>(), timersDropped: 0 }
      : await recover(path, { kernel, journal, secrets, languages, recoverMs: recoverMs() })
    const names = new Map<string, ToldName>([
      ...owed.map(({ name, reason, cell }) => [name, { status: 'lost', reason, cell }] as const),
      ...revived,
    ])
    this.#reason = undefined
    const ms = isTimeFixed ? 0 : Math.round(performance.now() - began)
    const recovery: Recovery = {
      reason,
      counts: countsOf(names),
      bindings: [...names].map(([name, { status, reason: why, cell }]) => ({
        name,
        status,
        ...(why !== undefined && { reason: why }),
        cell,
      })),
      ...(interrupted !== undefined && {
        interrupted: {
          cell: interrupted.begin.cell,
          calls: interrupted.calls.map(({ namespace, member }) => `${namespace}.${member}`),
        },
      }),
      timersDropped,
      ms,
    }
    await journal.write({
      k: 'recover',
      head: path.head,
      reason,
      counts: recovery.counts,
      statuses: recovery.bindings.filter(each => each.status !== 'exact'),
      ...(interrupted !== undefined && { interrupted: interrupted.begin.cell }),
    })
    const isWorthTelling = !isEmpty || interrupted !== undefined || reason === 'restart' || reason === 'restore'
    if (isWorthTelling) this.#untold = merge(this.#untold, recovery)
  }
}

type ToldName = Pick<PlannedName, 'status' | 'reason' | 'cell'>

function countsOf(names: ReadonlyMap<string, ToldName>): Record<BindingStatus, number> {
  const counts = { exact: 0, replayed: 0, snapshot: 0, lost: 0 }
  for (const { status } of names.values()) counts[status]++
  return counts
}

/** Two recoveries before an answer are told as one: what the first one lost is still gone. */
function merge(before: Recovery | undefined, after: Recovery): Recovery {
  if (before === undefined) return after
  const here = new Set(after.bindings.map(each => each.name))
  const bindings = [...before.bindings.filter(each => each.status === 'lost' && !here.has(each.name)), ...after.bindings]
  bindings.sort((a, b) => (a.name < b.name ? -1 : 1))
  const interrupted = after.interrupted ?? before.interrupted
  return {
    ...after,
    counts: { ...after.counts, lost: bindings.filter(each => each.status === 'lost').length },
    bindings,
    ...(interrupted !== undefined && { interrupted }),
    timersDropped: before.timersDropped + after.timersDropped,
    ms: before.ms + after.ms,
  }
}
