/**
 * Every write of a session in order. A turn, a window, a grant and a round are marks into this list, not
 * sets that somebody must reset at the right moment.
 */
import type { SessionEvent } from './events.ts'
import type { Write } from './facts.ts'

export interface Writes {
  /** Newest, oldest first. */
  readonly list: readonly Write[]
  /** How many older ones fell off. */
  readonly dropped: number
}

export const noWrites: Writes = { list: [], dropped: 0 }

const maxWrites = 10_000

/** Now; `writesSince` gives what comes after it. */
export const markWrites = (writes: Writes): number => writes.dropped + writes.list.length

/** Writes after a mark, in order. Those that fell off are missing. */
export const writesSince = (writes: Writes, mark: number): readonly Write[] =>
  writes.list.slice(Math.max(mark - writes.dropped, 0))

/** @param turn - number of the turn that is open. */
export function foldWrites(writes: Writes, event: SessionEvent, turn: number | null): Writes {
  if (event.kind === 'tool-finished' && event.written !== undefined) {
    const { at, call, agent = null } = event
    return add(
      writes,
      event.written.map(path => ({ path, at, turn: event.turn ?? turn, call, agent })),
    )
  }
  return writes
}

function add(writes: Writes, added: readonly Write[]): Writes {
  if (added.length === 0) return writes
  const list = [...writes.list, ...added]
  const over = Math.max(list.length - maxWrites, 0)
  return { list: over === 0 ? list : list.slice(over), dropped: writes.dropped + over }
}
