/**
 * Who speaks to this process, and for which sessions. A door that polled and then is silent for a while is gone: its sessions
 * end as `closed`, so that no loop goes on where nobody could stop it.
 */
import type { SessionEvent } from '../session/events.ts'
import type { Caller } from './doors.ts'

/** A connection without a poll for this long is gone. */
export const goneMs = 10_000

interface Connection {
  readonly caller: Caller
  readonly sessions: Set<string>
  /** Those that it said have ended; a poll that still names one opens it no more. */
  readonly ended: Set<string>
  readonly polls: Set<Poll>
  /** Since when it has no poll, by a clock that never stands still; `undefined` while it has one or never had. */
  silentSince: number | undefined
}

interface Poll {
  readonly session: string
  readonly moved: AbortController
}

export interface Connections {
  /** Note whose event it is. */
  hear(caller: Caller, event: SessionEvent): Promise<void>
  /** A poll begins: `leave` is called when it ends; `moved` tells that its session ended and its door speaks for another one. */
  wait(caller: Caller, session: string): { readonly moved: AbortSignal; leave(): void }
  /** Sessions that are open here, sorted. */
  sessions(): readonly string[]
  /** Say again which are open, where that was forgotten. */
  again(): Promise<void>
  /** End the sessions of those that are gone; called now and then. */
  sweep(): Promise<void>
}

export interface ConnectionEvents {
  /** A session is spoken for that nobody had. */
  opened(session: string, caller: Caller): Promise<void>
  /** @param isLost - its door went away without a word. */
  closed(session: string, caller: Caller, isLost: boolean): Promise<void>
}

export function createConnections(events: ConnectionEvents, elapsed: () => number = () => performance.now()): Connections {
  const known = new Map<string, Connection>()
  const owners = new Map<string, Caller>()

  const connectionOf = (caller: Caller): Connection => {
    const key = `${caller.door.name} ${caller.connection}`
    const found = known.get(key)
    if (found !== undefined) return found
    const made: Connection = { caller, sessions: new Set(), ended: new Set(), polls: new Set(), silentSince: undefined }
    known.set(key, made)
    return made
  }

  const own = async (caller: Caller, session: string): Promise<void> => {
    const connection = connectionOf(caller)
    const isNew = !owners.has(session)
    connection.sessions.add(session)
    owners.set(session, caller)
    if (isNew) await events.opened(session, caller)
  }

  const end = async (session: string, caller: Caller, isLost: boolean): Promise<void> => {
    owners.delete(session)
    for (const connection of known.values()) connection.sessions.delete(session)
    await events.closed(session, caller, isLost)
  }

  return {
    async hear(caller, event) {
      if (event.agent !== undefined) return
      const { session } = event
      const { ended, polls } = connectionOf(caller)
      if (event.kind === 'session-ended') {
        ended.add(session)
        return end(session, caller, false)
      }
      ended.delete(session)
      for (const poll of polls) if (ended.has(poll.session)) poll.moved.abort()
      await own(caller, session)
    },
    wait(caller, session) {
      const connection = connectionOf(caller)
      const poll: Poll = { session, moved: new AbortController() }
      connection.polls.add(poll)
      connection.silentSince = undefined
      if (!connection.ended.has(session)) void own(caller, session)
      return {
        moved: poll.moved.signal,
        leave() {
          connection.polls.delete(poll)
          if (connection.polls.size === 0) connection.silentSince = elapsed()
        },
      }
    },
    sessions: () => [...owners.keys()].sort(),
    async again() {
      for (const [session, caller] of owners) await events.opened(session, caller)
    },
    async sweep() {
      for (const [key, connection] of [...known]) {
        if (connection.silentSince === undefined || elapsed() - connection.silentSince < goneMs) continue
        known.delete(key)
        for (const session of connection.sessions) {
          // Another door took it over meanwhile.
          if (owners.get(session)?.connection !== connection.caller.connection) continue
          await end(session, connection.caller, true)
        }
      }
    },
  }
}
