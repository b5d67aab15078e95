/**
 * `outrigger serve`: the engines of one project for every door that asks, one process a project. The lease
 * `serve` decides who it is; the document of the same name says where it listens.
 */
import type { Io } from '../cli/io.ts'
import { printDocument } from '../cli/print.ts'
import type { Parts } from '../cli/run.ts'
import { OutriggerError } from '../errors.ts'
import type { Lease } from '../ports/store.ts'
import type { Project } from '../runtime/project.ts'
import type { Connections } from './connections.ts'
import { createEngines } from './engines.ts'
import { type Listening, listen } from './listen.ts'
import { createLog } from './log.ts'
import { socketPath } from './place.ts'
import { protocolVersion, type Running } from './protocol.ts'
import { createEngineServer } from './server.ts'
import { runningOf, startDetached, stopRunning } from './start.ts'

export interface ServeOptions {
  readonly project?: string
  readonly detach: boolean
  readonly stop: boolean
  readonly json: boolean
  /** It ends by itself when nobody asked anything for this long. */
  readonly idleMs?: number
}

const leaseMs = 10_000
const renewMs = 3_000
const sweepMs = 2_000
const lookMs = 1_000
const waitForWinnerMs = 4_000
const defaultIdleMs = 15 * 60_000

/** @returns the exit code. Throws `SERVE_RUNNING` (exit 4), `SERVE_UNSAFE_PLACE`, `SERVE_NOT_STARTED`. */
export async function serve(io: Io, options: ServeOptions, parts: Pick<Parts, 'version' | 'open'>): Promise<number> {
  const project = await parts.open({
    cwd: io.cwd,
    ...(options.project !== undefined && { project: options.project }),
    env: io.env,
    door: 'serve',
  })
  const say = (running: Running, text: string): void =>
    io.stdout.write(options.json ? printDocument('serve', { ...running }) : `${text}\n`)
  try {
    if (options.stop) {
      const stopped = await stopRunning(project)
      if (options.json) io.stdout.write(printDocument('serve', { stopped }))
      else io.stdout.write(stopped ? 'stopped\n' : 'no engine process runs for this project\n')
      return 0
    }
    if (options.detach) {
      const running = await startDetached(project, parts.version)
      say(running, JSON.stringify(running))
      return 0
    }
    await listenUntilDone(io, project, parts.version, options.idleMs ?? defaultIdleMs, running =>
      say(running, `listening on ${running.socket} (pid ${running.pid})`),
    )
    return 0
  } finally {
    await project.close()
  }
}

async function listenUntilDone(
  io: Io,
  project: Project,
  version: string,
  idleMs: number,
  ready: (running: Running) => void,
): Promise<void> {
  const lease = await win(project)
  const socket = socketPath({ id: project.places.id, env: project.env })
  const log = createLog(project.hasStore() ? stateFolder(project) : null, () => project.clock.now())
  const stop = new AbortController()
  const engines = createEngines(project, { socket, log: log.write })
  const server = createEngineServer({ engines, version, log: log.write, onStop: () => stop.abort('asked to') })
  const timers: ReturnType<typeof setInterval>[] = []
  let place: Listening | undefined
  let isRenewing = false
  try {
    const listening = await listen(server, socket, alive =>
      held({ socket, pid: alive.pid, protocol: alive.protocol, version: alive.version }, String(alive.pid)),
    )
    place = listening
    const running = { socket, pid: process.pid, protocol: protocolVersion, version }
    await note(project, running)
    log.write(`listening on ${socket}, pid ${process.pid}, version ${version}`)
    ready(running)
    const keep = keeperOf(listening, why => stop.abort(why), log.write)
    timers.push(
      setInterval(() => {
        // One waits for a locked store long enough.
        if (isRenewing) return
        isRenewing = true
        renew(project, () => stop.abort('another process has the project'))
          .then(() => noteAgain(project, running, engines.connections, log.write))
          .catch(() => undefined)
          .finally(() => {
            isRenewing = false
          })
      }, renewMs),
      setInterval(() => void engines.connections.sweep(), sweepMs),
      setInterval(() => {
        // Moved away or removed: its store went along, and whoever opens it there needs the lease.
        if (project.files.stat(project.root)?.kind !== 'folder') stop.abort('the project is gone')
        else keep()
      }, lookMs),
      setInterval(
        () => {
          if (server.idleMs() >= idleMs) stop.abort('nobody asked for anything')
        },
        Math.min(sweepMs, idleMs),
      ),
    )
    await ended(AbortSignal.any([stop.signal, io.signal]))
    log.write(`ends: ${stop.signal.aborted ? String(stop.signal.reason) : 'a signal'}`)
  } finally {
    for (const timer of timers) clearInterval(timer)
    place?.remove()
    place?.close()
    await server.close()
    await engines.close()
    if (stop.signal.reason !== 'another process has the project') await forget(project)
    await lease?.release().catch(() => undefined)
  }
}

/** The lease, or none where no store can be had: then only the socket decides. Throws `SERVE_RUNNING`. */
async function win(project: Project): Promise<Lease | undefined> {
  const until = performance.now() + waitForWinnerMs
  for (;;) {
    const store = await project.sessionStore()
    const lease = await store.lease('serve', project.processes.owner(), leaseMs)
    if (lease.held) return lease
    const running = await runningOf(project)
    if (running !== undefined || performance.now() > until) throw held(running, lease.holder)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

function held(running: Running | undefined, holder: string): OutriggerError {
  const where = running === undefined ? `process ${holder.split(':')[0]}` : `${running.socket} (pid ${running.pid})`
  return new OutriggerError('SERVE_RUNNING', `an engine process of this project runs already: ${where}`, {
    subject: running?.socket ?? holder,
    hint: 'use it, or run `outrigger serve --stop` first',
    exit: 4,
  })
}

/** Where nobody can find it any more, it must not keep the lease. One look at a time. */
function keeperOf(listening: Listening, stop: (why: string) => void, log: (text: string) => void): () => void {
  let isLooking = false
  return () => {
    if (isLooking) return
    isLooking = true
    listening
      .keep()
      .then(how => {
        if (how === 'made again') log('the socket was gone: made again')
      })
      .catch((error: unknown) => stop(`its socket is gone: ${error instanceof Error ? error.message : String(error)}`))
      .finally(() => {
        isLooking = false
      })
  }
}

/** Of the real store: one that stands in for it while it is locked knows of nobody. */
async function renew(project: Project, onLost: () => void): Promise<void> {
  const store = await project.store()
  const lease = await store.lease('serve', project.processes.owner(), leaseMs)
  if (!lease.held) onLost()
}

const key = 'serve'

async function note(project: Project, running: Running): Promise<void> {
  const store = await project.sessionStore()
  const there = await store.get(key)
  await store
    .put(key, { ...running, startedAt: new Date(project.clock.now()).toISOString() }, there?.version ?? 0)
    .catch(() => undefined)
}

/** A person may remove the folder of the store at any time: whoever looks into the new one is to find this process there. */
async function noteAgain(
  project: Project,
  running: Running,
  connections: Pick<Connections, 'again'>,
  log: (text: string) => void,
): Promise<void> {
  const store = await project.store()
  if ((await store.get(key)) !== undefined) return
  await note(project, running)
  await connections.again()
  log('the store was removed: a new one is in use')
}

async function forget(project: Project): Promise<void> {
  try {
    const store = await project.sessionStore()
    const there = await store.get(key)
    if ((there?.value as { pid?: number } | undefined)?.pid === process.pid) await store.remove(key, there!.version)
  } catch {
    // Gone or locked: whoever reads it asks the socket, and nobody answers there.
  }
}

function stateFolder({ files, places }: Project): string | null {
  return files.stat(places.state)?.kind === 'folder' ? places.state : places.userState
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
