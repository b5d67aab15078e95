/** Finds the engine process of a project, starts one that nobody waits for, and ends it. */
import { spawn } from 'node:child_process'
import { OutriggerError } from '../errors.ts'
import type { Project } from '../runtime/project.ts'
import { ask, healthOf } from './client.ts'
import { socketPath } from './place.ts'
import type { Health, Running } from './protocol.ts'

const startMs = 4_000
const lookMs = 20
const slowestLookMs = 200
const askMs = 500
const stopMs = 5_000

/** The one that answers now; a starter with another environment finds it by the store. Throws `SERVE_PROTOCOL`. */
export async function runningOf(project: Project): Promise<Running | undefined> {
  return (await lookUp(project))?.running
}

async function lookUp(project: Project): Promise<{ readonly running: Running; readonly health: Health } | undefined> {
  for (const socket of await socketsOf(project)) {
    const health = await healthOf(socket, askMs)
    if (health === undefined || health.project !== project.root) continue
    return { running: { socket, pid: health.pid, protocol: health.protocol, version: health.version }, health }
  }
  return undefined
}

async function socketsOf(project: Project): Promise<readonly string[]> {
  const own = socketPath({ id: project.places.id, env: project.env })
  if (!project.hasStore()) return [own]
  const noted = await (await project.sessionStore()).get('serve')
  const socket = (noted?.value as { socket?: unknown } | undefined)?.socket
  return typeof socket === 'string' && socket !== own ? [own, socket] : [own]
}

/**
 * The one that runs, or a new one in the background: without our streams, so that it lives on when we end. An older one in which
 * nothing goes on is replaced. Throws `SERVE_NOT_STARTED`.
 */
export async function startDetached(project: Project, version: string): Promise<Running> {
  const found = await lookUp(project)
  if (found !== undefined) {
    if (!isOlder(found.running.version, version) || found.health.busy) return found.running
    await stopRunning(project)
  }
  const until = performance.now() + startMs
  let failed: Promise<Error> | undefined
  for (let pauseMs = lookMs; performance.now() < until; pauseMs = Math.min(pauseMs * 1.3, slowestLookMs)) {
    // One of several starters starts; when it went away without success, the next does.
    if (failed === undefined && (await mayStart(project))) failed = start(project)
    const pause = new Promise<undefined>(resolve => setTimeout(() => resolve(undefined), pauseMs))
    const error = await (failed === undefined ? pause : Promise.race([failed, pause]))
    if (error !== undefined) throw notStarted(error.message, error)
    const running = await runningOf(project)
    if (running !== undefined) return running
  }
  const locked = project.modes.list().find(mode => mode.name === 'no store')?.why
  throw notStarted(locked ?? `nobody answers after ${startMs / 1_000} s`)
}

/** Where no store can be had, everybody may: the socket then decides who stays. */
async function mayStart(project: Project): Promise<boolean> {
  try {
    const store = await project.sessionStore()
    return (await store.lease('serve/start', project.processes.owner(), startMs)).held
  } catch {
    return true
  }
}

/** Resolves when it could not be started at all. */
function start(project: Project): Promise<Error> {
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, 'serve', '--project', project.root], {
    detached: true,
    stdio: 'ignore',
    cwd: project.root,
    env: { ...withoutHost(project.env), OUTRIGGER_ACTOR: '' },
    windowsHide: true,
  })
  child.unref()
  return new Promise(resolve => child.once('error', resolve))
}

/** `false`: none ran. Resolves when it answers no more. */
export async function stopRunning(project: Project): Promise<boolean> {
  const running = await runningOf(project)
  if (running === undefined) return false
  await ask({ socket: running.socket, door: 'cli/0 stop' }, 'POST', '/stop', {}, { timeoutMs: askMs })
  const until = performance.now() + stopMs
  while (performance.now() < until) {
    if ((await healthOf(running.socket, askMs)) === undefined) return true
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  throw new OutriggerError('SERVE_HELD', `process ${running.pid} does not end`, {
    subject: String(running.pid),
    hint: `look at what it does in serve.log, or end process ${running.pid} yourself`,
    exit: 4,
  })
}

/** A host's own variables name its session, and one is a key to its messages: none of that belongs to a process that outlives it. */
export function withoutHost(env: Project['env']): Project['env'] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(CLAUDE_|CLAUDECODE$|AI_AGENT$)/.test(name)))
}

/** By the numbers of a version; what cannot be compared is not older. */
function isOlder(version: string, than: string): boolean {
  const [a, b] = [version, than].map(text => text.split(/[.+-]/, 3).map(Number))
  for (const index of [0, 1, 2]) {
    const difference = (a![index] ?? 0) - (b![index] ?? 0)
    if (Number.isNaN(difference) || difference > 0) return false
    if (difference < 0) return true
  }
  return false
}

function notStarted(why: string, cause?: unknown): OutriggerError {
  return new OutriggerError('SERVE_NOT_STARTED', `the engine process did not start: ${why}`, {
    hint: 'run `outrigger serve` in a terminal and read what it prints',
    exit: 3,
    cause,
  })
}
