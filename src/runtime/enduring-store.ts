/**
 * The store as a session uses it: one that cannot be used takes away what would be kept, not the session.
 * What is written goes to memory then, and the mode `no store` says so; the real one is tried again after
 * a while. Answers of compare-and-set stay honest when it is back: its versions are others, so whoever
 * wrote to memory reads again.
 *
 * Streams are not kept in memory: what is appended is a record, and a record that is gone with the process
 * is none.
 */
import { OutriggerError } from '../errors.ts'
import type { Store } from '../ports/store.ts'
import type { Modes } from './project.ts'
import { createScratchStore } from './scratch-store.ts'

export interface EnduringSource {
  /** Opens the real one. */
  open(): Promise<Store>
  readonly clock: { now(): number }
  readonly modes: Modes
  /** ms of a clock that never stands still. */
  readonly elapsed?: () => number
}

interface Loss {
  readonly error: unknown
  /** Another process has it: it will be there again soon. */
  readonly isBusy: boolean
  /** ms of `elapsed`. */
  readonly retryAt: number
}

const retryMs = 30_000
const retryBusyMs = 5_000

export function createEnduringStore(source: EnduringSource): Store {
  const { open, clock, modes, elapsed = () => performance.now() } = source
  const memory = createScratchStore(clock)
  let loss: Loss | undefined
  let real: Store | undefined

  function lose(error: unknown): Loss {
    const isBusy = codeOf(error) === 'STORE_BUSY'
    loss = { error, isBusy, retryAt: elapsed() + (isBusy ? retryBusyMs : retryMs) }
    modes.set('no store', whyOf(error))
    return loss
  }

  /** @param otherwise - what stands in for it while the store cannot be used. */
  async function use<T>(work: (store: Store) => Promise<T>, otherwise: (now: Loss) => Promise<T>): Promise<T> {
    if (loss !== undefined && elapsed() < loss.retryAt) return otherwise(loss)
    let result: T
    try {
      real = await open()
      result = await work(real)
    } catch (error) {
      if (codeOf(error) === 'STORE_VERSION_MOVED') throw error
      return otherwise(lose(error))
    }
    loss = undefined
    modes.set('no store', undefined)
    return result
  }

  const inEither = <T>(work: (store: Store) => Promise<T>): Promise<T> => use(work, () => work(memory))
  const refuse = async ({ error }: Loss): Promise<never> => {
    throw error
  }

  return {
    append: (stream, record, options) => use(store => store.append(stream, record, options), refuse),
    async *read(stream, after) {
      yield* await use(async store => store.read(stream, after), refuse)
    },
    get: key => inEither(store => store.get(key)),
    put: (key, value, expected, options) => inEither(store => store.put(key, value, expected, options)),
    list: prefix => inEither(store => store.list(prefix)),
    remove: (key, expected) => inEither(store => store.remove(key, expected)),
    // While somebody else has the store the lease may be theirs; a store that is broken is so for everybody,
    // and then the bytes that each write expects are the guard.
    lease: (key, owner, ttlMs, options) =>
      use(
        store => store.lease(key, owner, ttlMs, options),
        async ({ isBusy }) =>
          isBusy
            ? { held: false, holder: 'another process', until: clock.now() + retryBusyMs }
            : memory.lease(key, owner, ttlMs, options),
      ),
    leases: () => inEither(store => store.leases()),
    generation: () => real?.generation?.() ?? 0,
    // The real one belongs to whoever opens it.
    close: () => {},
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof OutriggerError ? error.code : undefined
}

function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const hint = error instanceof OutriggerError ? error.hint : undefined
  return hint === undefined ? error.message : `${error.message}: ${hint}`
}
