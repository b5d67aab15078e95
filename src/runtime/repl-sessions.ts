/** The REPL's sessions that one process has open, by name; a session is opened when it is first asked for. */
import { OutriggerError } from '../errors.ts'
import type { ReplConfig, ReplSession } from '../repl/types.ts'

export interface ReplSessions {
  /** Rejects with what opening it throws, and `REPL_LIMIT` while `maxWorkers` others are open. A failed opening is tried again. */
  get(name: string, open: () => Promise<ReplSession>): Promise<ReplSession>
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

  return {
    get: (name, make) => {
      const known = open.get(name)
      if (known !== undefined) return known
      if (open.size >= limit()) {
        const why = `${open.size} sessions are open already`
        return Promise.reject(
          new OutriggerError('REPL_LIMIT', why, {
            subject: name,
            hint: 'use one of them, or raise `maxWorkers` below `repl` in the configuration',
          }),
        )
      }
      const opening = make()
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
