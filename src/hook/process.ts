/**
 * A hook call answered by the engine process of its project, where one runs: it has loaded everything, so the host waits a few
 * milliseconds instead of a start. Without one, or with one that does not answer, the call does the work itself.
 */
import { lstatSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Io } from '../cli/io.ts'
import { OutriggerError } from '../errors.ts'
import { nodeClock } from '../node/clock.ts'
import { nodeFiles } from '../node/files.ts'
import { findRoot, placesOf } from '../runtime/places.ts'
import { healthOf } from '../serve/client.ts'
import { socketPath } from '../serve/place.ts'
import { createRemote } from '../serve/remote.ts'
import { answerOfEvent } from './main.ts'
import type { HostEvent, Payload } from './translate.ts'

const healthMs = 300

/** `undefined`: nobody answers, and nothing was told to anybody. */
export async function answerByProcess(
  io: Io,
  event: HostEvent,
  payload: Payload,
  { cwd, project }: { readonly cwd: string; readonly project?: string },
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const files = nodeFiles()
  const root = project === undefined ? findRoot(files, resolve(cwd)) : resolve(cwd, project)
  const socket = socketPath({ id: placesOf(files, root, io.env).id, env: io.env })
  if (process.platform !== 'win32' && lstatSync(socket, { throwIfNoEntry: false }) === undefined) return undefined
  const health = await healthOf(socket, healthMs).catch(() => undefined)
  if (health === undefined || health.project !== root) return undefined
  const session = String(payload['session_id'])
  const remote = createRemote({ socket, door: `hook/0 ${session.replace(/\s/g, '_').slice(0, 100) || '0'}` })
  try {
    const json = await answerOfEvent(event, payload, { root, clock: nodeClock(io.env) }, remote)
    const isStart = event === 'SessionStart' && payload['source'] !== 'compact'
    if (!isStart || !health.degraded.includes('no store')) return json
    return { ...json, systemMessage: 'outrigger: no store, so nothing of this session is kept; `outrigger doctor` says why' }
  } catch (error) {
    // It ended in the middle: what it heard it has kept, and the call tells it once more to nobody.
    if (error instanceof OutriggerError && (error.code === 'SERVE_GONE' || error.code === 'SERVE_BROKE_OFF')) return undefined
    throw error
  }
}
