/** next-step of one project: what its engine needs of the machine and the runtime. */
import { OutriggerError } from '../errors.ts'
import { answerText } from '../next-step/answer-text.ts'
import { createNextEngine } from '../next-step/engine.ts'
import type { NextState } from '../next-step/state.ts'
import { type LogRecord, logLine } from '../next-step/verbs/log.ts'
import type { SuggestDeps } from '../next-step/verbs/suggest.ts'
import { decodeInput } from '../session/decode.ts'
import type { Engine } from '../session/engine.ts'
import type { InputSchema, Operation } from '../session/operation.ts'
import { nextConfig } from './config-next.ts'
import { type LiveAnswer, livePlaces } from './live-commands.ts'
import type { Project } from './project.ts'

/** @param outline - open lines of a session's work stream, where there are any. */
export function nextEngineOf(project: Project, outline?: (session: string) => readonly string[]): Engine<NextState> {
  return createNextEngine({
    config: () => nextConfig(project.config.section('next')),
    clock: project.clock,
    store: () => project.sessionStore(),
    owner: () => project.processes.owner(),
    isAlive: owner => project.processes.isAlive(owner),
    log: (session, count) => logOf(project, session, count),
    ...(outline !== undefined && { outline }),
  })
}

/** A command for a live session: here when this process runs sessions, else in the process that registered it. */
export async function commandLive(
  project: Project,
  session: string | undefined,
  args: string,
  by: 'person' | 'plugin',
): Promise<LiveAnswer | undefined> {
  const { type } = project.live
  if (type !== undefined && session !== undefined) return type(session, 'next', args, by)
  const { reach } = project
  if (reach === undefined) return undefined
  for (const place of await livePlaces(project)) {
    if (session !== undefined && place.session !== session) continue
    const input = { session: place.session, args }
    const output = await reach(place.socket, 'next.typed', input, by === 'person' ? 'person' : 'agent').catch(ifGone)
    if (output !== undefined) return output as LiveAnswer
  }
  return undefined
}

/** A process that ended without taking its entries along runs no session. */
function ifGone(error: unknown): undefined {
  if (error instanceof OutriggerError && (error.code === 'SERVE_GONE' || error.code === 'SERVE_BROKE_OFF')) return undefined
  throw error
}

/** What the process that runs a session does with a command of another one; no verb and no tool of people or models. */
export function typedOperation(project: Project): Operation<{ readonly session: string; readonly args: string }, LiveAnswer> {
  const input: InputSchema = {
    type: 'object',
    properties: {
      session: { type: 'string', description: 'the live session', maxLength: 200 },
      args: { type: 'string', description: 'what a person would type after /next', maxLength: 4_000 },
    },
    required: ['session', 'args'],
    additionalProperties: false,
  }
  return {
    name: 'next.typed',
    summary: 'Types a command of next-step in a session of this process.',
    input,
    readOnly: true,
    decode: value => decodeInput(input, value) as unknown as { readonly session: string; readonly args: string },
    async run({ session, args }, caller) {
      const answer = await project.live.type?.(session, 'next', args, caller.actor.kind === 'person' ? 'person' : 'plugin')
      if (answer === undefined)
        throw new OutriggerError('SERVE_GONE', 'the session is not live here', { subject: session, exit: 3 })
      return answer
    },
    render: ({ document }) => answerText(document),
    examples: [],
  }
}

async function logOf(project: Project, session: string, count: number): Promise<readonly string[]> {
  return (await recordsOf(project, session, count)).map(logLine)
}

async function recordsOf(project: Project, session: string, count: number): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = []
  for await (const { at, turn, what, reason, text, detail } of project.ledger.read({ engine: 'next', session })) {
    records.push({ at, turn, what, reason, text, ...(detail !== undefined && { detail }) })
    if (records.length > count) records.shift()
  }
  return records
}

/** What next-step did in a session that is live or was; `undefined`: there is none. */
export async function nextRecords(
  project: Project,
  session: string | undefined,
  count: number,
): Promise<{ readonly session: string; readonly records: readonly LogRecord[] } | undefined> {
  const of = session ?? (await livePlaces(project))[0]?.session ?? (await lastHeardOf(project))
  if (of === undefined) return undefined
  return { session: of, records: await recordsOf(project, of, count) }
}

async function lastHeardOf(project: Project): Promise<string | undefined> {
  let last: string | undefined
  for await (const { session } of project.ledger.read({ engine: 'next' })) last = session ?? last
  return last
}

/** One question to a model of the person's configuration. Throws an error with exit 3 when it does not answer. */
export async function askFor(
  project: Project,
  { model, system, user, maxTokens, timeoutMs, signal }: Parameters<NonNullable<SuggestDeps['ask']>>[0],
): Promise<string> {
  const reply = await project.models.ask({ model, system, prompt: user, maxTokens, timeoutMs }, signal)
  if (reply.kind === 'answered') return reply.text
  throw new OutriggerError('NEXT_NO_MODEL', `${model} did not answer (${reply.reason}): ${reply.message}`, {
    subject: model,
    exit: 3,
    hint: 'see outrigger doctor, or leave out --model for what needs none',
  })
}
