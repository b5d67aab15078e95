/**
 * `outrigger hook <HostEvent>`: one event of a host that runs commands. The host's JSON on stdin, one
 * JSON on stdout, exit 0 whatever happens: a fault of ours must never stop the host.
 */
import type { Io } from '../cli/io.ts'
import { errorText } from '../cli/print.ts'
import type { Parts } from '../cli/run.ts'
import { bytesOfStdin } from '../cli/stdin.ts'
import { OutriggerError } from '../errors.ts'
import type { Outrigger } from '../runtime/outrigger.ts'
import type { Project } from '../runtime/project.ts'
import { answerOf } from './answer.ts'
import { isFirstTelling } from './told.ts'
import { decodePayload, eventsOf, type HostEvent, hostEvents, type Payload } from './translate.ts'

/** An answer of a tool can be long; what is above this is refused, and the host goes on. */
export const maxPayloadBytes: number = 32 * 1024 * 1024

/** All hooks at the end of a session have 1.5 s together, the start of this process included. */
const endLimitMs = 1_300
const limitMs = 12_000

export interface HookParts extends Pick<Parts, 'open'> {
  readonly compose?: (project: Project, warn: (error: unknown) => void) => Outrigger
}

export async function answerHook(
  io: Io,
  options: { readonly project?: string; readonly event: string },
  parts: HookParts,
): Promise<number> {
  const { event } = options
  const warn = (error: unknown): void => io.stderr.write(`outrigger hook ${event}: ${errorText(error)}`)
  // A module of ours in the same host hears everything already.
  const isElsewhere = (io.env['OUTRIGGER_MOD'] ?? '') !== ''
  if (isElsewhere || !isHostEvent(event)) {
    if (!isElsewhere && event === '') warn(noEvent())
    // A host may know events that nobody here listens to; a typing error is somebody's.
    if (!isElsewhere && event !== '') {
      const { nearest } = await import('../cli/words.ts')
      const near = nearest(event, hostEvents)
      if (near !== undefined) warn(unknownEvent(event, near))
    }
    io.stdout.write('{}\n')
    return 0
  }
  let isAnswered = false
  const answer = (json: Readonly<Record<string, unknown>>): void => {
    // The host shows what stands there, and gives it to the model with the summary.
    const isNothing = event === 'PreCompact' && Object.keys(json).length === 0
    if (!isAnswered && !isNothing) io.stdout.write(`${JSON.stringify(json)}\n`)
    isAnswered = true
  }
  const limit = event === 'SessionEnd' ? Math.max(100, endLimitMs - performance.now()) : limitMs
  const work = handle(io, { ...options, event }, parts, warn, answer).catch(warn)
  await Promise.race([work, after(limit), aborted(io.signal)])
  answer({})
  return 0
}

async function handle(
  io: Io,
  options: { readonly project?: string; readonly event: HostEvent },
  parts: HookParts,
  warn: (error: unknown) => void,
  answer: (json: Readonly<Record<string, unknown>>) => void,
): Promise<void> {
  const { event } = options
  if (io.isStdinTerminal) throw new OutriggerError('CLI_USAGE', 'nothing on standard input', { hint: 'pipe the host’s JSON in' })
  const payload = decodePayload(new TextDecoder().decode(await bytesOfStdin(io, maxPayloadBytes)))
  if (parts.compose === undefined) {
    const { answerByProcess } = await import('./process.ts')
    const answered = await answerByProcess(io, event, payload, { cwd: folderOf(io, payload), ...projectIn(options) })
    if (answered !== undefined) return answer(answered)
  }
  const project = await parts.open({ cwd: folderOf(io, payload), env: io.env, door: 'hook', ...projectIn(options) })
  try {
    const compose = parts.compose ?? (await import('./live.ts')).composeForHook
    const outrigger = compose(project, warn)
    try {
      const json = await answerOfEvent(event, payload, project, outrigger)
      answer({ ...json, ...(await toldOfLoss(io, event, payload, project)) })
    } finally {
      await outrigger.close()
    }
  } finally {
    await project.close()
  }
}

/** The person hears once in a session that nothing of it is kept; who calls by hand hears it each time. */
async function toldOfLoss(
  io: Io,
  event: HostEvent,
  payload: Payload,
  project: Project,
): Promise<{ readonly systemMessage?: string }> {
  const loss = project.modes.list().find(mode => mode.name === 'no store')
  if (loss === undefined) return {}
  io.stderr.write(`outrigger hook ${event}: no store: ${loss.why}\n`)
  const isStart = event === 'SessionStart' && payload['source'] !== 'compact'
  if (event === 'SessionEnd' || !(await isFirstTelling(project, String(payload['session_id']), isStart))) return {}
  return { systemMessage: `outrigger: no store, so nothing of this session is kept and it may hear things again (${loss.why})` }
}

/** What the engines say to one event of the host, in the host's form. */
export async function answerOfEvent(
  event: HostEvent,
  payload: Payload,
  project: Pick<Project, 'root' | 'clock'>,
  outrigger: Pick<Outrigger, 'handle' | 'mayStop' | 'failed'>,
): Promise<Readonly<Record<string, unknown>>> {
  const { clock } = project
  const place = { project: project.root, at: clock.now(), newId: () => clock.newId() }
  const actions = []
  let hold: string | null = null
  for (const heard of eventsOf(event, payload, place)) {
    if (heard.kind !== 'turn-ending') {
      actions.push(...(await outrigger.handle(heard)))
      continue
    }
    const stop = await outrigger.mayStop(heard)
    actions.push(...stop.actions)
    hold = stop.hold
    if (hold !== null) continue
    // A stop that is not held is the end of the turn: this host has no other event for it.
    const { again: _, ...ended } = heard
    actions.push(...(await outrigger.handle({ ...ended, kind: 'turn-ended', reason: 'completed' })))
  }
  const { json, failed } = answerOf(event, actions, hold)
  for (const { action, reason } of failed) await outrigger.failed(action, reason)
  return json
}

/** The folder of the session; a host may say which project it is for, whatever the agent's folder is now. */
function folderOf(io: Io, payload: Payload): string {
  const named = io.env['CLAUDE_PROJECT_DIR']
  if (named !== undefined && named !== '') return named
  const cwd = payload['cwd']
  return typeof cwd === 'string' && cwd !== '' ? cwd : io.cwd
}

function projectIn(options: { readonly project?: string }): { readonly project?: string } {
  return options.project === undefined ? {} : { project: options.project }
}

function isHostEvent(event: string): event is HostEvent {
  return (hostEvents as readonly string[]).includes(event)
}

function unknownEvent(event: string, near: string): OutriggerError {
  return new OutriggerError('CLI_USAGE', `no event "${event.slice(0, 100)}"`, { subject: event, hint: `did you mean ${near}?` })
}

function noEvent(): OutriggerError {
  return new OutriggerError('CLI_USAGE', 'which event?', { hint: `give one of: ${hostEvents.join(', ')}` })
}

function after(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms).unref())
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
