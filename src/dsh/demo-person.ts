/**
 * A scripted person inside the host, for demonstrations: a row that does a list of steps and ends the process.
 * Mounted with `--patch` by `src/demo/person.ts` only; without a script in its environment it does nothing.
 */
import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync } from 'node:fs'
import type { Context } from '@deepseek-ai/cordis'
import { type Agent, installModelSelection, type ModelSelection } from '@deepseek-ai/dsh-agent'
import type {} from '@deepseek-ai/dsh-commands'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import { type Session, SessionId } from '@deepseek-ai/dsh-session'

export const name = 'demo-person'
export const inject: string[] = ['agentDefaultModel', 'agents', 'sessions', 'commands']

/** What the person does next; the next step waits until the agent is idle. */
export type PersonStep =
  | { readonly say: string }
  | { readonly command: string }
  /** Go on in the newest session, which somebody else opened; waits for it. */
  | { readonly follow: true }
  /** Go on in the newest session of this folder, of a process that is gone. */
  | { readonly resume: true }
  /** The whole process dies here, without a word to anybody. */
  | { readonly kill: true }
  | { readonly sleepMs: number }
  /** Until this file is there and the agent rests, half a minute at most. */
  | { readonly untilFile: string }

export function apply(ctx: Context): void {
  const script = process.env['DEMO_PERSON_SCRIPT']
  if (script === undefined) return
  perform(ctx, JSON.parse(script) as readonly PersonStep[]).then(
    () => leave(ctx, 0),
    (error: unknown) => {
      report({ event: 'failed', message: error instanceof Error ? error.message : String(error) })
      leave(ctx, 1)
    },
  )
}

function leave(ctx: Context, code: number): void {
  const exit = ctx.get('appExit') as ((code: number) => void) | undefined
  if (exit === undefined) process.exit(code)
  exit(code)
}

function report(line: Readonly<Record<string, unknown>>): void {
  const file = process.env['DEMO_PERSON_REPORT']
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(line)}\n`)
}

async function perform(ctx: Context, script: readonly PersonStep[]): Promise<void> {
  // Rows mount concurrently; the agent's tools must all be there.
  await (ctx.get('loader') as { await(): Promise<void> } | undefined)?.await()
  let agent = script.some(step => 'resume' in step) ? await resume(ctx) : await create(ctx)
  for (const step of script) {
    if ('say' in step) {
      agent.followup(createUserMessage({ content: [{ type: 'text', text: step.say }], source: { kind: 'user' } }))
      await settled(ctx, agent)
      report({ event: 'said', session: agent.session.id })
    } else if ('command' in step) {
      const outcome = await ctx.commands.execute(agent, step.command, [], new AbortController().signal)
      await settled(ctx, agent)
      report({ event: 'command', line: step.command, result: outcome?.result ?? null })
    } else if ('follow' in step) {
      agent = await newest(ctx, agent)
      report({ event: 'followed', session: agent.session.id })
    } else if ('resume' in step) report({ event: 'resumed', session: agent.session.id })
    else if ('kill' in step) {
      process.kill(process.pid, 'SIGKILL')
      await new Promise(() => {})
    } else if ('untilFile' in step) {
      for (const end = Date.now() + 30_000; !existsSync(step.untilFile) && Date.now() < end; ) await pause(50)
      await settled(ctx, agent)
    } else await pause(step.sleepMs)
  }
  report({ event: 'done' })
}

const pause = (ms: number) => new Promise(done => setTimeout(done, ms))

async function settled(ctx: Context, agent: Agent): Promise<void> {
  await agent.whenIdle()
  await ctx.sessions.flush(agent.session as Session)
}

interface Composed {
  readonly preset: string | undefined
  readonly agentOptions: { readonly provider: string; readonly model: string }
  setup(agentCtx: Context): Promise<void>
}

/** As the host's own apps do: the default model, and the agent's preset where there is one. */
async function compose(ctx: Context, wanted?: string): Promise<Composed> {
  const selection = (ctx.get('agentDefaultModel') as { currentSelection(): ModelSelection }).currentSelection()
  const presets = ctx.get('agentPresets') as
    | { resolve(id?: string): Promise<{ readonly id: string }>; mount(ctx: Context, id: string): Promise<unknown> }
    | undefined
  const preset = await presets?.resolve(wanted)
  return {
    preset: preset?.id,
    agentOptions: { provider: selection.provider, model: selection.model },
    setup: async agentCtx => {
      installModelSelection(agentCtx, { current: selection, assembled: undefined })
      if (preset !== undefined) await presets?.mount(agentCtx, preset.id)
    },
  }
}

async function create(ctx: Context): Promise<Agent> {
  const { preset, agentOptions, setup } = await compose(ctx)
  const { agent } = await ctx.agents.create({
    sessionId: SessionId(`session-${randomUUID()}`),
    meta: { cwd: process.cwd(), ...(preset !== undefined && { agentPreset: preset }) },
    agentOptions,
    setup,
  })
  return agent
}

interface Persistence {
  list(): Promise<
    readonly { readonly id: SessionId; readonly cwd?: string; readonly origin?: string; readonly createdAt: number }[]
  >
  inspect(id: SessionId): Promise<{ readonly meta: { readonly agentPreset?: string } }>
}

async function resume(ctx: Context): Promise<Agent> {
  const persistence = ctx.get('sessionPersistence') as Persistence
  const here = (await persistence.list()).filter(({ cwd, origin }) => cwd === process.cwd() && origin !== 'subagent')
  const last = [...here].sort((a, b) => a.createdAt - b.createdAt).at(-1)
  if (last === undefined) throw new Error('no session of this folder to resume')
  const { agentOptions, setup } = await compose(ctx, (await persistence.inspect(last.id)).meta.agentPreset)
  const { agent } = await ctx.agents.resume({ resumeSessionId: last.id, agentOptions, setup })
  return agent
}

const followMs = 10_000

async function newest(ctx: Context, before: Agent): Promise<Agent> {
  for (let waited = 0; waited < followMs; waited += 50) {
    const agent = ctx.agents.list().findLast(each => each !== before && each.session.header.origin !== 'subagent')
    if (agent !== undefined) return agent
    await new Promise(done => setTimeout(done, 50))
  }
  throw new Error('no other session was opened')
}
