/**
 * Makes the sessions of the host reachable from other processes of the user: `outrigger next arm` in a terminal reaches the loop
 * that lives here. One socket a project, made with its first session; only questions are answered there, no events are taken.
 */
import { chmodSync, rmSync } from 'node:fs'
import { enterLive, leaveLive } from '../runtime/live-commands.ts'
import { typedOperation } from '../runtime/next.ts'
import type { Engines } from '../serve/engines.ts'
import { createOutbox } from '../serve/outbox.ts'
import { makeSocketFolder, socketPath } from '../serve/place.ts'
import { createEngineServer, type EngineServer } from '../serve/server.ts'
import type { LiveProject } from './runtime.ts'

export interface Reach {
  /** A session of the project can be asked from now on. Never rejects: where no socket can be had, it cannot be asked. */
  enter(live: LiveProject, session: string): Promise<void>
  leave(live: LiveProject, session: string): Promise<void>
  /** Before the project is closed: none of its sessions can be asked. */
  leaveAll(live: LiveProject): Promise<void>
  close(): Promise<void>
}

interface Place {
  /** The newest runtime of the project: one that was opened anew answers at the same socket. */
  live: LiveProject
  readonly socket: string
  readonly sessions: Set<string>
  readonly server: EngineServer
  readonly ready: Promise<void>
}

/** @param warn - told once a project why nobody can ask there. */
export function createReach(warn: (text: string) => void): Reach {
  const places = new Map<string, Place>()

  const placeOf = (live: LiveProject): Place => {
    const { project } = live
    const known = places.get(project.root)
    if (known !== undefined) {
      known.live = live
      return known
    }
    const socket = socketPath({ id: project.places.id, env: project.env, pid: process.pid })
    const sessions = new Set<string>()
    const server = createEngineServer({
      engines: asked(() => places.get(project.root)?.live ?? live, sessions),
      version: project.version,
      accepts: 'questions',
      onStop: () => {},
      log: warn,
    })
    const place: Place = { live, socket, sessions, server, ready: bind(server, socket) }
    places.set(project.root, place)
    place.ready.catch((error: unknown) => warn(`outrigger: no terminal reaches the sessions here: ${String(error)}`))
    return place
  }

  return {
    async enter(live, session) {
      const place = placeOf(live)
      if (place.sessions.has(session)) return
      place.sessions.add(session)
      try {
        await place.ready
      } catch {
        return // said once, where it was found
      }
      const { project } = live
      await enterLive(project, session, { socket: place.socket, pid: process.pid, door: 'dsh', at: project.clock.now() })
    },
    async leave(live, session) {
      if (places.get(live.project.root)?.sessions.delete(session) === true) await leaveLive(live.project, session)
    },
    async leaveAll(live) {
      const sessions = places.get(live.project.root)?.sessions
      for (const session of [...(sessions ?? [])]) {
        sessions?.delete(session)
        await leaveLive(live.project, session)
      }
    },
    async close() {
      const open = [...places.values()]
      places.clear()
      for (const { socket, server, ready } of open) {
        await ready.catch(() => undefined)
        await server.close()
        if (process.platform !== 'win32') rmSync(socket, { force: true })
      }
    },
  }
}

/** What the server needs of a project whose engines hear their events from the host. */
function asked(now: () => LiveProject, sessions: ReadonlySet<string>): Engines {
  const { outrigger } = now()
  return {
    project: now().project,
    outrigger: { ...outrigger, modes: () => now().outrigger.modes(), isInFlow: () => now().outrigger.isInFlow() },
    outbox: createOutbox(),
    connections: {
      hear: async () => {},
      wait: () => ({ moved: new AbortController().signal, leave() {} }),
      sessions: () => [...sessions].sort(),
      again: async () => {},
      sweep: async () => {},
    },
    operation: name => (name === 'next.typed' ? typedOperation(now().project) : undefined),
    carry: (_session, actions) => actions,
    command: async () => [],
    close: async () => {},
  }
}

/** The name has this process's number: what lies there is of a dead one. */
async function bind({ http }: EngineServer, socket: string): Promise<void> {
  makeSocketFolder(socket)
  if (process.platform !== 'win32') rmSync(socket, { force: true })
  // The folder keeps everybody else out from the first moment. A umask would count for all that the host writes meanwhile.
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(socket, () => {
      http.off('error', reject)
      resolve()
    })
  })
  if (process.platform !== 'win32') chmodSync(socket, 0o600)
  // The host ends when its own work is done.
  http.unref()
}
