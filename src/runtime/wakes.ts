/** The only timer queue of the engines: who wants to be woken when. Wakes are memory only; engines ask anew after a start. */
import type { Clock } from '../ports/clock.ts'
import type { EngineName } from '../session/actions.ts'

/** Timers that a test or a replay can hold still. */
export interface Timers {
  /** Run `run` once, `ms` from now. The answer takes it back. */
  after(ms: number, run: () => void): () => void
}

export interface Wake {
  readonly session: string
  readonly engine: EngineName
  readonly key: string
  /** ms since the epoch. */
  readonly due: number
}

export interface Wakes {
  /** One of a kind by session, engine and key: the newest time counts. */
  set(wake: Wake): void
  cancel(wake: Omit<Wake, 'due'>): void
  /** Drop those of a session. */
  drop(session: string): void
  close(): void
}

/** Longest time that timers take in one piece. */
const maxMs = 2_000_000_000

export function createWakes(clock: Pick<Clock, 'now'>, timers: Timers, fire: (wake: Wake) => void): Wakes {
  const pending = new Map<string, { readonly wake: Wake; readonly stop: () => void }>()
  const keyOf = ({ session, engine, key }: Omit<Wake, 'due'>) => JSON.stringify([session, engine, key])
  const remove = (id: string) => {
    pending.get(id)?.stop()
    pending.delete(id)
  }
  const arm = (wake: Wake) => {
    const id = keyOf(wake)
    remove(id)
    const left = Math.max(wake.due - clock.now(), 0)
    const stop = timers.after(Math.min(left, maxMs), () => {
      pending.delete(id)
      if (wake.due > clock.now() && left > maxMs) arm(wake)
      else fire(wake)
    })
    pending.set(id, { wake, stop })
  }
  return {
    set: arm,
    cancel: wake => remove(keyOf(wake)),
    drop: session => {
      for (const [id, { wake }] of [...pending]) if (wake.session === session) remove(id)
    },
    close: () => {
      for (const id of [...pending.keys()]) remove(id)
    },
  }
}
