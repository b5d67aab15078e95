/**
 * The project's engine process as the mod reaches it: started when nobody answers, asked over its socket. The process
 * says where it listens, nothing is computed here.
 */
import type { Action } from '../session/actions.ts'
import type { SessionEvent } from '../session/events.ts'
import type { Host } from './host.ts'

/** Protocol of `outrigger serve` that this door speaks. */
const protocol = '1'
const startMs = 8_000
/** After a failed start the next events do not wait for another one. */
const retryMs = 30_000

interface Place {
  readonly socket: string
  /** Absolute root of the project. */
  readonly project: string
}

export interface Waited {
  readonly seq: number
  readonly action: Action
}

export interface EngineProcess {
  /** Where the project is, once somebody answered. */
  project(host: Host): Promise<string>
  /** Rejects when no process answers and none can be started; the message is for people. */
  tell(host: Host, event: SessionEvent): Promise<readonly Action[]>
  /** What the engines ask of their own accord; answers within 25 s. Starts nothing. */
  wait(host: Host, session: string, after: number): Promise<readonly Waited[]>
}

/** @param connection - names this program for as long as it lives. */
export function createEngineProcess(connection: string): EngineProcess {
  let place: Promise<Place> | undefined
  let failed: { readonly at: number; readonly error: unknown } | undefined

  const request = async (host: Host, socket: string, method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> => {
    const answer = await host.fetch(`http://outrigger${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        'outrigger-protocol': protocol,
        'outrigger-door': `claude-code/mod ${connection}`,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      socketPath: socket,
    })
    if (answer.ok) return JSON.parse(answer.text)
    throw refusal(answer.status, answer.text)
  }

  const connect = (host: Host): Promise<Place> => {
    const connected = (async (): Promise<Place> => {
      const now = await host.now()
      if (failed !== undefined && now - failed.at < retryMs) throw failed.error
      try {
        const socket = await start(host)
        const { project } = (await request(host, socket, 'GET', '/health')) as { project: string }
        failed = undefined
        return { socket, project }
      } catch (error) {
        failed = { at: now, error }
        throw error
      }
    })()
    place = connected
    connected.catch(() => {
      if (place === connected) place = undefined
    })
    return connected
  }

  const known = (host: Host): Promise<Place> => place ?? connect(host)

  return {
    project: async host => (await known(host)).project,
    async tell(host, event) {
      const before = await known(host)
      const ask = async ({ socket }: Place) =>
        ((await request(host, socket, 'POST', '/event', event)) as { actions: readonly Action[] }).actions
      try {
        return await ask(before)
      } catch (error) {
        if (!isGone(error)) throw error
        place = undefined
        return ask(await connect(host))
      }
    },
    async wait(host, session, after) {
      if (place === undefined) throw new Error('no engine process')
      const { socket } = await place
      const path = `/wait?session=${encodeURIComponent(session)}&after=${after}`
      return ((await request(host, socket, 'GET', path)) as { actions: readonly Waited[] }).actions
    },
  }
}

/** Nobody listens there any more: the process ended, or was killed and left its socket. */
function isGone(error: unknown): boolean {
  return /ENOENT|ECONNREFUSED|ECONNRESET|EPIPE|socket hang up|closed/i.test(String(error))
}

function refusal(status: number, text: string): Error {
  let message = `the engine process answered ${status}`
  let hint: string | undefined
  try {
    const { error } = JSON.parse(text) as { error?: { message?: string; hint?: string } }
    message = error?.message ?? message
    hint = error?.hint
  } catch {
    // No document of ours: the status says all there is.
  }
  return new Error(hint === undefined ? message : `${message}; ${hint}`)
}

/** Ask the first program there is to start a process or name the one that runs. Answers the socket. */
async function start(host: Host): Promise<string> {
  const cwd = await host.root()
  let why = 'no program'
  for (const argv of await programs(host)) {
    try {
      const ran = await host.run([...argv, 'serve', '--detach'], { cwd, timeoutMs: startMs })
      const { socket } = JSON.parse(ran.stdout || '{}') as { socket?: string }
      if (ran.exitCode === 0 && socket !== undefined) return socket
      why = firstLine(ran.stderr) ?? `${argv.join(' ')} ended with exit ${ran.exitCode}`
    } catch (error) {
      why = error instanceof Error ? error.message : String(error)
    }
  }
  throw new Error(why)
}

/** Nearest first: what the person named, the plugin's own, the package around the plugin, the one on the path. */
async function programs(host: Host): Promise<readonly (readonly string[])[]> {
  const named = await host.program().catch(() => undefined)
  const found: (readonly string[])[] = []
  if (named !== undefined && named !== '') found.push(/\.[cm]?js$/.test(named) ? ['node', named] : [named])
  for (const path of [`${host.pluginRoot}/program/cli/main.js`, `${host.pluginRoot}/../cli/main.js`]) {
    if (await host.exists(path).catch(() => false)) found.push(['node', path])
  }
  return [...found, ['outrigger']]
}

function firstLine(text: string): string | undefined {
  return text
    .split('\n')
    .map(line => line.trim())
    .find(line => line !== '')
}
