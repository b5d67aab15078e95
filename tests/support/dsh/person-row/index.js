/**
 * A scripted person inside the real host. Mounted in test homes only, never shipped.
 *
 * Reads steps from DEMO_PERSON_SCRIPT (JSON), does them in order, and writes what happened to the file
 * DEMO_PERSON_REPORT, one JSON object a line. A step is an object with one of:
 *
 *   { create: true | { cwd } }        a new session; done by itself when a script starts otherwise
 *   { resume: '<session id>' | 'latest' }   a session of an earlier process; 'latest' is the newest with this cwd
 *   { fork: true | <seq> }            go on in a copy of the session, cut at its last completed turn, or the first one that ends at or after `seq`
 *   { say: 'text' }                   a person's message
 *   { command: '/name args' }         a slash command, through the registry
 *   { tools: true }                   reports the tools that the session offers
 *   { results: true }                 reports what the tools answered since the last say, command, create, resume or fork
 *   { waitEvent: 'tool/call' }        until the session logs such an event (since the last say or command)
 *   { sleepMs: 100 }
 *   { kill: true }                    SIGKILL to this process, with no flush
 *
 * `say` and `command` take `wait: false`; otherwise they wait until the agent is idle.
 */
import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { installModelSelection } from '@deepseek-ai/dsh-agent'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import { SessionId } from '@deepseek-ai/dsh-session'

export const name = 'demo-person'
export const inject = ['agentDefaultModel', 'agents', 'sessions', 'sessionPersistence', 'commands', 'tools']

const report = (event, data = {}) => appendFileSync(process.env.DEMO_PERSON_REPORT, `${JSON.stringify({ event, ...data })}\n`)

const fromPerson = text => createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } })

export function apply(ctx) {
  perform(ctx, JSON.parse(process.env.DEMO_PERSON_SCRIPT)).then(
    () => ctx.get('appExit')?.(0),
    error => {
      report('failed', { message: String(error?.stack ?? error) })
      ctx.get('appExit')?.(1)
    },
  )
}

/** What an app does around `agents.create` and `agents.resume`: the model and, in web, the agent's preset. */
async function composition(ctx, presetId) {
  const selection = ctx.agentDefaultModel.currentSelection()
  const presets = ctx.get('agentPresets')
  const preset = presets && (await presets.resolve(presetId)).id
  return {
    preset,
    agentOptions: { provider: selection.provider, model: selection.model },
    setup: async agentCtx => {
      installModelSelection(agentCtx, { current: selection, assembled: undefined })
      if (presets) await presets.mount(agentCtx, preset)
    },
  }
}

/** The preset a session runs: its newest selection, else what its header says. */
const presetOf = ({ meta, events }) =>
  events.findLast(event => event.type === 'agent-preset/selected')?.data.agentPreset ?? meta.agentPreset

async function create(ctx, { cwd = process.cwd(), meta, ...rest } = {}) {
  const { preset, agentOptions, setup } = await composition(ctx)
  const { agent } = await ctx.agents.create({
    sessionId: SessionId(`session-${randomUUID()}`),
    ...rest,
    meta: { cwd, ...meta, ...(preset && { agentPreset: preset }) },
    agentOptions,
    setup,
  })
  return agent
}

async function resume(ctx, wanted) {
  const id = wanted === 'latest' ? await latest(ctx.sessionPersistence) : SessionId(wanted)
  const { agentOptions, setup } = await composition(ctx, presetOf(await ctx.sessionPersistence.inspect(id)))
  const { agent } = await ctx.agents.resume({ resumeSessionId: id, agentOptions, setup })
  return agent
}

async function latest(persistence) {
  const here = (await persistence.list()).filter(header => header.cwd === process.cwd() && header.origin !== 'subagent')
  if (here.length === 0) throw new Error(`no session of ${process.cwd()} to resume`)
  return here.sort((a, b) => a.createdAt - b.createdAt).at(-1).id
}

/** As the web client's fork does: a seed up to a completed turn, and what follows it before the next one. */
function fork(ctx, source, at) {
  const { events, header } = source.session
  const end =
    at === true
      ? events.findLast(event => event.type === 'turn/end')
      : events.find(event => event.type === 'turn/end' && event.seq >= at)
  if (!end) throw new Error('no completed turn to fork from')
  let cut = end.seq + 1
  while (cut < events.length && events[cut].type !== 'turn/start') cut++
  return create(ctx, {
    cwd: header.cwd,
    seed: events.slice(0, cut),
    meta: { parentSession: source.session.id, seedLength: cut },
  })
}

/** The session that somebody else opened. */
async function newest(ctx, before) {
  for (let tries = 0; tries < 200; tries++) {
    const agent = ctx.agents.list().findLast(each => each !== before && each.session.header.origin !== 'subagent')
    if (agent) return agent
    await new Promise(done => setTimeout(done, 50))
  }
  throw new Error('no other session was opened')
}

async function perform(ctx, script) {
  await ctx.get('loader')?.await() // rows mount concurrently; the agent's tools must all be there
  let agent
  let events = []
  const waiting = []
  ctx.on('session/event', (session, event) => {
    if (session !== agent?.session) return
    events.push(event)
    for (const check of waiting.splice(0)) check()
  })
  const became = (how, next) => {
    agent = next
    report(how, { session: agent.session.id, firstLiveSeq: agent.session.firstLiveSeq })
  }
  const settle = async step => {
    if (step.wait === false) return
    await agent.whenIdle()
    await ctx.sessions.flush(agent.session)
  }

  for (const step of script) {
    if ('say' in step || 'command' in step || 'create' in step || 'resume' in step || 'fork' in step || 'follow' in step)
      events = []
    if (!agent && !('create' in step) && !('resume' in step)) became('created', await create(ctx))
    if ('create' in step) became('created', await create(ctx, step.create === true ? {} : step.create))
    else if ('resume' in step) became('resumed', await resume(ctx, step.resume))
    else if ('fork' in step) became('forked', await fork(ctx, agent, step.fork))
    else if ('follow' in step) became('followed', await newest(ctx, agent))
    else if ('say' in step) {
      agent.followup(fromPerson(step.say))
      await settle(step)
      report('said', { text: step.say, reason: lastReason(events), answer: lastAnswer(events) })
    } else if ('command' in step) {
      const outcome = await ctx.commands.execute(agent, step.command, [], new AbortController().signal)
      await settle(step)
      report('command', { line: step.command, result: outcome?.result ?? null })
    } else if ('tools' in step) report('tools', { names: ctx.tools.schemas(agent).map(tool => tool.name) })
    else if ('results' in step) report('results', { results: resultsOf(events) })
    else if ('waitEvent' in step) {
      while (!events.some(event => event.type === step.waitEvent)) await new Promise(done => waiting.push(done))
    } else if ('sleepMs' in step) await new Promise(done => setTimeout(done, step.sleepMs))
    else if (step.kill) {
      report('killing')
      process.kill(process.pid, 'SIGKILL')
      await new Promise(() => {})
    } else throw new Error(`no such step: ${JSON.stringify(step)}`)
  }
  if (agent) await settle({})
  report('done', { session: agent?.session.id })
}

const resultsOf = events => events.filter(event => event.type === 'tool/result').map(event => event.data)
const lastReason = events => events.findLast(event => event.type === 'turn/end')?.data.reason
const lastAnswer = events =>
  events
    .findLast(event => event.type === 'assistant/message')
    ?.data.message.content.filter(block => block.type === 'text')
    .map(block => block.text)
    .join('')
