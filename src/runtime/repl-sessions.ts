/**
 * The REPL's sessions that one process has open, by name; a session is opened when it is first asked for. Where there are as many as there may be, the one
 * that was used longest ago and whose names all come back without loss is closed: it goes on when it is asked for again.
 */
import { OutriggerError } from '../errors.ts'
import { historyRemoved } from '../repl/journal.ts'
import type { ReplConfig, ReplSession } from '../repl/types.ts'

export interface ReplSessions {
  /** Rejects with what opening it throws, `REPL_GONE` once for one whose history was removed, and `REPL_LIMIT` while `maxWorkers` others are open that cannot be closed. A failed opening is tried again. */
  get(name: string, open: () => Promise<ReplSession>): Promise<ReplSession>
  /** Is open here, or being opened. */
  has(name: string): boolean
  /** Those that are open have these settings from their next cell on; all are closed when the REPL is turned off. */
  configure(config: ReplConfig): Promise<void>
  close(name: string): Promise<void>
  closeAll(): Promise<void>
}

/** @param limit - how many may be open at the same time: each has a process of its own. */
export function createReplSessions(limit: () => number): ReplSessions {
  const open = new Map<string, Promise<ReplSession>>()

  const close = async (name: string): Promise<void> => {
    const session = open.get(name)
    open.delete(name)
    await (await session?.catch(() => undefined))?.close()
  }

  const closeAll = async (): Promise<void> => {
    await Promise.all([...open.keys()].map(close))
  }

  const makeRoom = async (name: string): Promise<void> => {
    // Those that were used longest ago are first.
    for (const [other, opening] of [...open]) {
      if (open.size <= limit()) return
      if (other === name) continue
      const session = await opening.catch(() => undefined)
      if (session !== undefined && (await session.rest())) await close(other)
    }
    if (open.size <= limit()) return
    const why = `${open.size - 1} sessions are open already`
    throw new OutriggerError('REPL_LIMIT', why, {
      subject: name,
      hint: 'use one of them, or raise `maxWorkers` below `repl` in the configuration',
    })
  }

  /** Said to whoever finds it; the next one begins anew. */
  const endGone = async (name: string, known: Promise<ReplSession>, session: ReplSession): Promise<never> => {
    if (open.get(name) === known) open.delete(name)
    await session.close()
    throw historyRemoved(name)
  }

  return {
    has: name => open.has(name),
    get: (name, make) => {
      const known = open.get(name)
      if (known !== undefined) {
        open.delete(name)
        open.set(name, known)
        return known.then(session => (session.isGone() ? endGone(name, known, session) : session))
      }
      const opening = Promise.resolve()
        .then(() => makeRoom(name))
        .then(make)
      open.set(name, opening)
      opening.catch(() => {
        if (open.get(name) === opening) open.delete(name)
      })
      return opening
    },
    configure: async config => {
      if (!config.enabled) return closeAll()
      for (const result of await Promise.allSettled(open.values())) {
        if (result.status === 'fulfilled') result.value.configure(config)
      }
    },
    close,
    closeAll,
  }
}
