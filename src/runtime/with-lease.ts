/**
 * Run something while nobody else does: takes the lease, renews it while the work runs, lets it go after.
 *
 * Two callers of one process have the same owner and would both get the lease, so they queue here first.
 */
import type { WithLease } from '../keel/deps.ts'
import type { Store } from '../ports/store.ts'

export interface LeaseSource {
  store(): Promise<Store>
  /** `<pid>:<boot id>:<process start>`. */
  owner(): string
  /** ms of a clock that never stands still; waits are measured with it. */
  readonly elapsed?: () => number
}

export function createWithLease({ store, owner, elapsed = () => performance.now() }: LeaseSource): WithLease {
  const queues = new Map<string, Promise<unknown>>()

  return async (key, { ttlMs, waitMs, pauseMs = 250 }, run) => {
    const start = elapsed()
    const before = queues.get(key) ?? Promise.resolve()
    let leave = (): void => {}
    const mine = new Promise<void>(resolve => {
      leave = resolve
    })
    const tail = before.then(() => mine)
    queues.set(key, tail)
    try {
      if (!(await arrives(before, waitMs))) return { held: false, holder: owner() }
      const opened = await store()
      for (let round = 0; ; round += 1) {
        const lease = await opened.lease(key, owner(), ttlMs)
        if (lease.held) {
          const stopRenewing = renew(opened, key, owner(), ttlMs)
          try {
            return { held: true, value: await run() }
          } finally {
            stopRenewing()
            // Not let go is let go when its time is over; the work is done all the same.
            await lease.release().catch(() => {})
          }
        }
        const left = waitMs - (elapsed() - start)
        if (left <= 0) return { held: false, holder: lease.holder }
        await sleep(Math.min(left, Math.min(Math.min(20, pauseMs / 10) * 1.5 ** round, pauseMs) * (0.5 + Math.random() / 2)))
      }
    } finally {
      leave()
      if (queues.get(key) === tail) queues.delete(key)
    }
  }
}

/** Keeps the lease through work that is longer than its time. */
function renew(store: Store, key: string, owner: string, ttlMs: number): () => void {
  const timer = setInterval(() => {
    // A failed renewal is tried again by the next; a lost lease cannot be won back here.
    store.lease(key, owner, ttlMs).catch(() => {})
  }, ttlMs / 3)
  timer.unref?.()
  return () => clearInterval(timer)
}

async function arrives(before: Promise<unknown>, waitMs: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<false>(resolve => {
    timer = setTimeout(() => resolve(false), waitMs)
  })
  try {
    return await Promise.race([before.then(() => true as const), late])
  } finally {
    clearTimeout(timer)
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
