/** The row of next-step with the real runtime, engine, goal service and goal driver, on the host's packages in this process. */
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import { defineTool } from '@deepseek-ai/dsh-tools'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import * as core from '../../src/dsh/core.ts'
import { ownMessage } from '../../src/dsh/next/messages.ts'
import * as next from '../../src/dsh/next.ts'
import { openProject } from '../../src/node/open.ts'
import { enterLive, livePlaces } from '../../src/runtime/live-commands.ts'
import { operationsOf } from '../../src/runtime/operations.ts'
import { ask } from '../../src/serve/client.ts'
import type { EventOf } from '../../src/session/events.ts'
import { type AnswerScript, bootLoop, call, flat, type Harness, say, text } from '../support/dsh/in-process.ts'
import { temporaryFolder } from '../support/temporary.ts'

let folder: string | undefined
let harness: Harness | undefined
afterEach(async () => {
  await harness?.stop()
  harness = undefined
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  folder = undefined
  vi.unstubAllEnvs()
})

const requireOfHost = createRequire(createRequire(import.meta.url).resolve('@deepseek-ai/dsh/package.json'))
const ofHost = (name: string): Promise<Readonly<Record<string, unknown>>> =>
  import(pathToFileURL(requireOfHost.resolve(name)).href)

/** A host with a browser; nobody reads what it shows. */
const web = {
  name: 'web',
  apply: (ctx: Context) => {
    ctx.provide('webServer', { register: () => () => {} })
  },
}

const tools = (root: string) => ({
  name: 'test-tools',
  inject: ['tools'],
  apply: (ctx: Context) => {
    ctx.tools.register(
      defineTool({
        name: 'pause',
        description: 'Take a while.',
        parameters: {},
        output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
        execute: async () => {
          await new Promise(done => setTimeout(done, 80))
          return 'waited'
        },
      }),
    )
    ctx.tools.register(
      defineTool({
        name: 'write',
        description: 'Write a file.',
        parameters: { file_path: { type: 'string', required: true }, content: { type: 'string', required: true } },
        output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
        execute: async args => {
          writeFileSync(join(root, args.file_path), args.content)
          return 'written'
        },
      }),
    )
  },
})

/** Nothing comes before the call is given up. */
const hang = ({ signal }: { readonly signal?: AbortSignal }) =>
  (async function* () {
    await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)))
    yield* []
  })() as unknown as Extract<AnswerScript[number], readonly unknown[]>

interface World extends Harness {
  readonly root: string
  readonly agent: Agent
  /** A person changes the row's settings. */
  set(values: object): void
  type(line: string): Promise<{ readonly ok: boolean; readonly text: string }>
}

/** @param script - what the agent's model answers, turn by turn; suggestions are answered by `suggest`, in order. */
async function boot(options: {
  readonly turns: AnswerScript
  readonly suggest: readonly string[]
  readonly goals?: boolean
  /** Services of the host beside these, after the tools. */
  readonly host?: readonly (readonly [plugin: unknown, config: unknown])[]
  readonly headless?: boolean
  /** The model is asked for suggestions and never answers. */
  readonly hangs?: boolean
}): Promise<World> {
  const place = temporaryFolder()
  vi.stubEnv('XDG_RUNTIME_DIR', place)
  vi.stubEnv('XDG_CONFIG_HOME', place)
  folder = mkdtempSync(join(tmpdir(), 'outrigger-next-'))
  execFileSync('git', ['init', '-q', folder])
  const root = folder
  const turns = [...options.turns]
  const suggestions = [...options.suggest]
  const answer: AnswerScript[number] = request => {
    if (request.system?.startsWith('You watch a coding session') === true)
      return options.hangs === true ? hang(request) : text(suggestions.shift() ?? 'NONE')
    const turn = turns.shift() ?? text('Done.')
    return typeof turn === 'function' ? turn(request) : turn
  }
  const goals =
    options.goals === true ? [await ofHost('@deepseek-ai/dsh-goal'), await ofHost('@deepseek-ai/dsh-goal-round-driver')] : []
  const settings = { ...next.Config({ model: 'mock/m1', local: options.hangs === true, timeoutMs: 1_000 }) }
  harness = await bootLoop({
    script: Array.from({ length: 400 }, () => answer),
    cwd: root,
    plugins: [
      [tools(root), {}],
      ...(options.host ?? []),
      ...(goals.length > 0 ? [[goals[0]!['default'], {}] as const, [goals[1]!, {}] as const] : []),
      ...(options.headless === true ? [] : [[web, {}] as const]),
      [core, {}],
      [{ name: 'next', inject: next.inject, apply: (ctx: Context) => next.apply(ctx, settings) }, {}],
    ],
  })
  const agent = await harness.create()
  const type = async (line: string) => {
    const done = await harness!.ctx.commands.execute(agent, line, [], new AbortController().signal)
    return { ok: done?.result.kind === 'success', text: (done?.result as { text?: string } | undefined)?.text ?? '' }
  }
  return { ...harness, root, agent, type, set: values => void Object.assign(settings, values) }
}

const write = (name: string) => call(['write', { file_path: name, content: 'x' }])
const mine = (agent: Agent) =>
  agent.session.events.flatMap(event =>
    event.type === 'user/message' && ownMessage(event.data as never) !== undefined ? [event.data] : [],
  )
const ends = (agent: Agent) => agent.session.events.flatMap(event => (event.type === 'turn/end' ? [event.data.reason.kind] : []))

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let wait = 0; wait < 300; wait++) {
    if (await condition()) return
    await new Promise(done => setTimeout(done, 20))
  }
  throw new Error('it did not happen within 6 s')
}

const stateOf = async (world: World) => (await world.type('/next state')).text

describe('an offer in DSH', () => {
  it('is made once a turn and runs as the words of the person who pressed Run', async () => {
    const world = await boot({ turns: [text('Built it.'), text('Tests pass.')], suggest: ['- Run the unit tests'] })
    await say(world.agent, 'build it')
    await until(async () => (await stateOf(world)).includes('ready'))
    const reply = await world.type('/next run')
    expect(reply).toEqual({ ok: true, text: 'Running: Run the unit tests' })
    await until(() => ends(world.agent).length === 2)
    expect(mine(world.agent)).toMatchObject([{ source: { kind: 'user' }, content: [{ text: 'Run the unit tests' }] }])
    expect(await world.type('/next run')).toMatchObject({ ok: false })
  })

  it('is never made for an agent that another one delegated to', async () => {
    const world = await boot({ turns: [text('Found it.')], suggest: ['Run the unit tests'] })
    await say(await world.create('s2', { delegationDepth: 1 }), 'find it')
    await new Promise(done => setTimeout(done, 100))
    expect(world.adapter.requests).toHaveLength(1)
  })

  it('is never made for a headless run', async () => {
    const world = await boot({ turns: [text('Built it.')], suggest: ['Run the unit tests'], headless: true })
    await say(world.agent, 'build it')
    expect(await world.type('/next suggest')).toMatchObject({
      text: expect.stringMatching(/not-interactive|nobody is at it/) as string,
    })
    expect(world.adapter.requests).toHaveLength(1)
  })
})

describe('a page without our route', () => {
  it('reads the first line of /next state --wire', async () => {
    const world = await boot({ turns: [text('Built it.')], suggest: ['Run the unit tests'] })
    await say(world.agent, 'build it')
    await until(async () => (await stateOf(world)).includes('Next: Run the unit tests'))
    const { ok, text: answer } = await world.type('/next state --wire')
    const [first = '', ...rest] = answer.split('\n')
    expect({ ok, rest: rest.join('\n') }).toEqual({ ok: true, rest: await stateOf(world) })
    const wire = JSON.parse(first) as Record<string, unknown>
    expect(wire).toMatchObject({
      schema: 'outrigger.next.state/1',
      ok: true,
      offer: { status: 'ready', turn: 1 },
      loop: { armed: false },
      view: { kind: 'offer', text: 'Run the unit tests', mayArm: true, loop: { armed: false } },
    })
    expect(await world.type('/next arm --wire')).toMatchObject({ ok: false, text: expect.stringMatching(/^usage: /) as string })
  })

  it('has no bar, and doctor says what it needs', async () => {
    const world = await boot({ turns: [], suggest: [] })
    expect((await world.type('/outrigger')).text).toMatch(
      /warn next: DSH: no bar: no page has loaded our client file\n +reload the page/,
    )
    await world.stop()
    const headless = await boot({ turns: [], suggest: [], headless: true })
    expect((await headless.type('/outrigger')).text).toMatch(/warn next: DSH: no bar: the host has no web server.*\n.*`dsh web`/)
  })
})

describe('an armed loop in DSH', () => {
  it('drives three rounds, each visibly of a plugin, and stops when its condition holds', async () => {
    const world = await boot({
      turns: [text('Ready.'), write('one.ts'), text('One.'), write('two.ts'), text('Two.'), write('three.ts'), text('Three.')],
      suggest: ['Write one.ts', 'Write two.ts', 'Write three.ts', 'Write the notes'],
    })
    await say(world.agent, 'write three files')
    expect((await world.type('/next arm --rounds 5 --until "test -f three.ts"')).ok).toBe(true)
    await until(async () => (await stateOf(world)).includes('the condition holds'))
    expect(mine(world.agent).map(({ source }) => source)).toMatchObject([
      { kind: 'plugin', plugin: 'outrigger', form: 'notice', summary: 'Autorun 1 of 5: Write one.ts' },
      { kind: 'plugin', plugin: 'outrigger', form: 'notice', summary: 'Autorun 2 of 5: Write two.ts' },
      { kind: 'plugin', plugin: 'outrigger', form: 'notice', summary: 'Autorun 3 of 5: Write three.ts' },
    ])
    expect(
      flat(world.adapter.requests.findLast(request => request.system?.startsWith('You watch') !== true)).join('\n'),
    ).toContain('[outrigger autorun 3 of 5; not typed by a person]\nWrite three.ts')
    expect(ends(world.agent)).toEqual(['completed', 'completed', 'completed', 'completed'])
  })

  it('goes on with what needs no model when the model does not answer', async () => {
    const world = await boot({
      turns: [text('Ready.\n\n## Next steps\n\n1. Write one.ts'), write('one.ts'), text('Which colour do you want?')],
      suggest: [],
      hangs: true,
    })
    await say(world.agent, 'begin')
    await world.type('/next arm --rounds 1')
    await until(() => mine(world.agent).length === 1)
    expect(mine(world.agent)).toMatchObject([{ source: { summary: 'Autorun 1 of 1: Write one.ts' } }])
  })

  it("ends at a person's words, and starts nothing before a new arm", async () => {
    const world = await boot({
      turns: [text('Ready.'), write('one.ts'), text('Which colour do you want?'), text('Sure.')],
      suggest: ['Write one.ts', 'Write two.ts', 'Write three.ts'],
    })
    await say(world.agent, 'begin')
    await world.type('/next arm')
    await until(async () => (await stateOf(world)).includes('waits: the agent asked you'))
    await say(world.agent, 'wait, let us talk')
    const count = mine(world.agent).length
    await new Promise(done => setTimeout(done, 300))
    expect(mine(world.agent)).toHaveLength(count)
    expect(count).toBe(1)
    expect(await stateOf(world)).toContain('autorun stopped: you took over')
  })

  it('begins a turn only when all before it is written down, and none that was taken back meanwhile', async () => {
    const world = await boot({
      turns: [text('Ready.'), text('Sure.')],
      suggest: ['Write one.ts', 'Write two.ts', 'Write two.ts', 'Write three.ts'],
    })
    const log: string[] = []
    let flushed: Promise<void> = Promise.resolve()
    world.ctx.on('session/flush', () => {
      log.push('flush')
      return flushed
    })
    world.ctx.on('agent/inbox/inserted', ({ message }) => void (ownMessage(message)?.as === 'plugin' && log.push('sent')))
    await say(world.agent, 'begin')
    const { promise: wait, resolve: written } = Promise.withResolvers<void>()
    flushed = wait
    log.length = 0
    await world.type('/next arm')
    await until(() => log.includes('flush'))
    expect(log).toEqual(['flush'])
    // A person is faster than the disk.
    const said = say(world.agent, 'wait')
    await until(async () => (await stateOf(world)).includes('you took over'))
    written()
    await said
    await until(() => ends(world.agent).length === 2)
    expect(log).not.toContain('sent')
    expect(ends(world.agent)).toEqual(['completed', 'completed'])
    flushed = Promise.reject(new Error('the disk is full'))
    flushed.catch(() => undefined)
    await until(async () => (await stateOf(world)).includes('Next: Write two.ts'))
    await world.type('/next arm')
    await until(async () => (await stateOf(world)).includes('autorun stopped: the step could not be sent'))
    expect(await stateOf(world)).toContain('Next: Write two.ts')
    flushed = Promise.resolve()
    await world.type('/next arm')
    await until(() => log.includes('sent'))
  })

  it('is refused at the fence when nobody vouches for its message, and the turn is void', async () => {
    const world = await boot({ turns: [text('Ready.')], suggest: ['NONE'] })
    await say(world.agent, 'begin')
    const message = {
      id: 'next-1-unknown',
      role: 'user',
      source: { kind: 'plugin', plugin: 'outrigger', form: 'notice', summary: 'x' },
      content: [{ type: 'text', text: 'rogue' }],
    }
    world.agent.followup(message as never)
    await until(() => ends(world.agent).length === 2)
    expect(ends(world.agent)).toEqual(['completed', 'blocked'])
    expect(world.adapter.requests.filter(request => flat(request).join().includes('rogue'))).toEqual([])
    expect(await stateOf(world)).not.toContain('stopped')
  })

  it("loses only its own message when a person's words share the step", async () => {
    const world = await boot({ turns: [text('Ready.'), text('Heard you.')], suggest: ['NONE', 'NONE'] })
    await say(world.agent, 'begin')
    const rogue = {
      id: 'next-1-unknown',
      role: 'user',
      source: { kind: 'plugin', plugin: 'outrigger', form: 'notice', summary: 'x' },
      content: [{ type: 'text', text: 'rogue' }],
    }
    world.agent.inject(createUserMessage({ content: [{ type: 'text', text: 'and this' }], source: { kind: 'user' } }))
    world.agent.followup(rogue as never)
    await until(() => ends(world.agent).length === 2)
    expect(ends(world.agent)).toEqual(['completed', 'completed'])
    const last = flat(world.adapter.requests.findLast(request => request.system?.startsWith('You watch') !== true)).join('\n')
    expect(last).toContain('and this')
    expect(last).not.toContain('rogue')
  })
})

describe('work beside the agent in DSH', () => {
  /** What the runtime is told from here on, the newest last. */
  const heardWork = async (world: World): Promise<EventOf<'work-changed'>[]> => {
    const { outrigger } = await world.ctx.outrigger.live(world.agent)
    const heard: EventOf<'work-changed'>[] = []
    const { handle } = outrigger
    Object.assign(outrigger, {
      handle: (...given: Parameters<typeof handle>) => {
        if (given[0].kind === 'work-changed') heard.push(given[0])
        return handle(...given)
      },
    })
    return heard
  }

  it('holds the loop while a job of the agent runs, and goes on when the job ends', async () => {
    const jobsLocal = await ofHost('@deepseek-ai/dsh-jobs-local')
    const world = await boot({
      host: [[jobsLocal['default'], {}]],
      turns: [text('Ready.'), write('one.ts'), text('One.')],
      suggest: ['Write one.ts', 'NONE'],
    })
    await say(world.agent, 'begin')
    const jobs = world.ctx.get('jobs') as { start(job: object): unknown; attachController(name: string): void }
    jobs.attachController('test')
    const { promise: done, resolve: finish } = Promise.withResolvers<{ status: string }>()
    jobs.start({ kind: 'bash', label: 'server', owner: world.agent, run: () => ({ cancel: () => {}, done }) })
    await world.type('/next arm')
    await until(async () => (await stateOf(world)).includes('waits: 1 task(s) still running'))
    expect(mine(world.agent)).toEqual([])
    finish({ status: 'completed' })
    await until(() => mine(world.agent).length === 1)
  })

  it('holds the loop in plan mode and goes on when a person leaves it', async () => {
    const planMode = await ofHost('@deepseek-ai/dsh-plan-mode')
    const world = await boot({
      host: [[planMode['default'], { section: 'Only plan.' }]],
      turns: [text('Ready.'), write('one.ts'), text('One.')],
      suggest: ['Write one.ts', 'NONE'],
    })
    const plan = world.ctx.get('planMode') as { set(agent: Agent, active: boolean): string }
    await say(world.agent, 'begin')
    expect(plan.set(world.agent, true)).toBe('committed')
    await world.type('/next arm')
    await until(async () => (await stateOf(world)).includes('waits: plan mode is on'))
    expect(mine(world.agent)).toEqual([])
    // The host tells the agent with a message that waits for the next turn: nobody is kept waiting by it.
    expect(plan.set(world.agent, false)).toBe('committed')
    await until(() => mine(world.agent).length === 1)
  })

  it('knows a turn that runs, words that wait behind it, and a helper at work', async () => {
    const world = await boot({
      turns: [call(['pause', {}]), text('One.'), text('Two.'), call(['pause', {}]), text('Helped.')],
      suggest: [],
    })
    const work = await heardWork(world)
    const words = (line: string) => createUserMessage({ content: [{ type: 'text', text: line }], source: { kind: 'user' } })
    world.agent.followup(words('one'))
    await until(() => work.at(-1)?.draining === true)
    world.agent.followup(words('two'))
    await until(() => work.at(-1)?.queued === 1)
    await world.agent.whenIdle()
    await until(() => work.at(-1)?.draining === false && work.at(-1)?.queued === 0)
    const helper = await world.create('s2', { origin: 'subagent', parentSession: 's1' })
    helper.followup(words('help'))
    await until(() => work.at(-1)?.children === 1)
    await until(() => work.at(-1)?.children === 0)
    expect(work.at(-1)).toMatchObject({
      draining: false,
      queued: 0,
      approvals: 0,
      questions: 0,
      jobs: 0,
      planMode: false,
      otherLoop: false,
    })
  })

  it('knows a question of a tool and a permission as open until they are answered', async () => {
    const questions = await ofHost('@deepseek-ai/dsh-user-questions')
    const approval = await ofHost('@deepseek-ai/dsh-user-approval')
    const ask = { questions: [{ id: 'q', question: 'Which colour?' }] }
    const world = await boot({
      host: [
        [questions['default'], {}],
        [approval['default'], {}],
        [await ofHost('@deepseek-ai/dsh-tool-ask-user'), {}],
      ],
      turns: [call(['ask_user_question', ask]), text('Blue it is.')],
      suggest: ['Paint it blue'],
    })
    const { promise: answered, resolve: answer } = Promise.withResolvers<object>()
    const { promise: decided, resolve: decide } = Promise.withResolvers<string>()
    const asker = world.ctx.get('userQuestions') as { registerProvider(provider: object): void }
    asker.registerProvider({ ask: () => answered })
    world.ctx.on('approval/request' as never, (() => decided) as never)
    const work = await heardWork(world)
    world.agent.followup(createUserMessage({ content: [{ type: 'text', text: 'paint it' }], source: { kind: 'user' } }))
    await until(() => work.at(-1)?.questions === 1)
    const approvals = world.ctx.get('approval') as { request(ask: object): Promise<string> }
    const permission = approvals.request({ agent: world.agent, toolName: 'write', reason: 'may I' })
    await until(() => work.at(-1)?.approvals === 1)
    decide('approved')
    await permission
    answer({ answers: [{ id: 'q', selected: ['blue'] }] })
    await world.agent.whenIdle()
    await until(() => work.at(-1)?.draining === false)
    expect(work.at(-1)).toMatchObject({ approvals: 0, questions: 0 })
  })
})

describe('the host beside a loop', () => {
  it('waits for a reminder that the host has scheduled, and goes on after its turn', async () => {
    const persistence = await ofHost('@deepseek-ai/dsh-session-persistence-jsonl')
    const world = await boot({
      host: [
        [persistence['default'], { root: temporaryFolder() }],
        [await ofHost('@deepseek-ai/dsh-schedule'), {}],
      ],
      turns: [
        call(['schedule_create', { prompt: 'look at the build', after_seconds: 2 }]),
        text('I will.'),
        text('The build is green.'),
        write('one.ts'),
        text('One.'),
      ],
      suggest: ['Write one.ts', 'Write two.ts', 'NONE'],
    })
    await say(world.agent, 'remind me')
    await world.type('/next arm')
    await until(async () => (await stateOf(world)).includes('waits: another loop is scheduled'))
    expect(mine(world.agent)).toEqual([])
    await until(() => mine(world.agent).length === 1)
    expect(ends(world.agent).length).toBeGreaterThanOrEqual(2)
    expect(mine(world.agent)).toMatchObject([{ source: { summary: 'Autorun 1 of 8: Write two.ts' } }])
  })
})

const noScript = spawnSync('script', ['--version']).status !== 0
const program = join(import.meta.dirname, '../../src/cli/main.ts')

/** A line that a person types at a terminal of their own. */
function atTerminal(cwd: string, words: string, env: Readonly<Record<string, string>> = {}) {
  return new Promise<{ readonly code: number; readonly out: string }>(done => {
    const line = `"${process.execPath}" "${program}" ${words}`
    const options = { cwd, env: { ...process.env, NO_COLOR: '1', ...env } }
    execFile('script', ['-qefc', line, '/dev/null'], options, (error, out) => done({ code: Number(error?.code ?? 0), out }))
  })
}

describe('a terminal beside the host', () => {
  /** What the command line does in a process of its own: it asks by the socket that the store names. */
  const terminal = async (world: World) => {
    const project = await openProject({ cwd: world.root, env: process.env, door: 'cli', isTerminal: true })
    onTestFinished(() => project.close())
    const verb = async (name: string, given: object = {}) => {
      const operation = operationsOf(project).find(each => each.name === `next.${name}`)!
      const caller = {
        door: 'cli',
        actor: project.actor('person'),
        signal: AbortSignal.timeout(10_000),
        progress: () => {},
      } as const
      return (await operation.run(operation.decode(given), caller)) as Record<string, unknown>
    }
    return { project, verb }
  }

  it('arms the loop that lives in the host, sees what it does, and ends it', async () => {
    const world = await boot({
      turns: [text('Ready.'), write('one.ts'), text('Which colour do you want?')],
      suggest: ['Write one.ts', 'Paint it blue'],
    })
    await say(world.agent, 'begin')
    const { project, verb } = await terminal(world)
    await until(async () => (await livePlaces(project)).length === 1)
    expect(await verb('arm', { rounds: 2 })).toMatchObject({ ok: true, grant: { rounds: 2 } })
    await until(async () => (await stateOf(world)).includes('waits: the agent asked you'))
    expect(mine(world.agent)).toMatchObject([{ source: { summary: 'Autorun 1 of 2: Write one.ts' } }])
    expect(await verb('state')).toMatchObject({ ok: true, session: 's1', loop: { armed: true, hold: 'question' } })
    expect(await verb('disarm')).toMatchObject({ ok: true, was: 'armed' })
    expect(await stateOf(world)).not.toContain('waits:')
  })

  it.skipIf(noScript)('arms it from a real terminal, and from no pipe and no shell of an agent', async () => {
    const world = await boot({
      turns: [text('Ready.'), write('one.ts'), text('One.'), write('two.ts'), text('Two.')],
      suggest: ['Write one.ts', 'Write two.ts', 'Write three.ts'],
    })
    await say(world.agent, 'begin')
    const refused = { code: 2, out: expect.stringMatching(/NEXT_NEEDS_PERSON.*\r?\n +hint: type it yourself/) as string }
    expect(await atTerminal(world.root, 'next arm --rounds 2 < /dev/null')).toEqual(refused)
    expect(await atTerminal(world.root, 'next arm --rounds 2', { DSH_SHELL: '1' })).toEqual(refused)
    expect(await stateOf(world)).not.toContain('autorun')
    expect(await atTerminal(world.root, 'next arm --rounds 2')).toEqual({
      code: 0,
      out: expect.stringMatching(/^Autorun: 2 rounds, 2M tokens, 60 min\. Your words or Stop end it\.\s*$/) as string,
    })
    await until(async () => (await stateOf(world)).includes('autorun stopped: all rounds are used'))
    expect(mine(world.agent).map(({ source }) => (source as { summary?: string }).summary)).toEqual([
      'Autorun 1 of 2: Write one.ts',
      'Autorun 2 of 2: Write two.ts',
    ])
    // Where the answer goes is nobody's business: a person types.
    expect(await atTerminal(world.root, 'next run | cat')).toMatchObject({
      out: expect.stringContaining('Running: Write three.ts'),
    })
  })

  it('is answered by the socket of a living host only, and finds none when the host has gone', async () => {
    const world = await boot({ turns: [text('Ready.')], suggest: ['NONE'] })
    await say(world.agent, 'begin')
    const { project, verb } = await terminal(world)
    await until(async () => (await livePlaces(project)).length === 1)
    const socket = join(temporaryFolder(), 'dead.sock')
    await enterLive(project, 'dead', { socket, pid: 1, door: 'dsh', at: Date.now() + 60_000 })
    expect((await livePlaces(project)).map(({ session }) => session)).toEqual(['dead', 's1'])
    expect(await verb('state')).toMatchObject({ ok: true, session: 's1' })
    await world.stop()
    harness = undefined
    await until(async () => (await livePlaces(project)).map(({ session }) => session).join() === 'dead')
    await expect(verb('state')).rejects.toMatchObject({ code: 'NEXT_NO_SESSION', exit: 2 })
  })

  it('may ask and command, and tells no events and stops no host', async () => {
    const world = await boot({ turns: [text('Ready.')], suggest: ['NONE'] })
    await say(world.agent, 'begin')
    const { project } = await terminal(world)
    await until(async () => (await livePlaces(project)).length === 1)
    const { socket } = (await livePlaces(project))[0]!
    const post = (path: string, body: object) => ask({ socket, door: 'cli/0 x' }, 'POST', path, body, { timeoutMs: 5_000 })
    const event = { kind: 'person-spoke', session: 's1', project: world.root, at: Date.now(), text: 'go' }
    await expect(post('/event', event)).rejects.toMatchObject({ code: 'SERVE_UNKNOWN_PATH' })
    await expect(post('/stop', {})).rejects.toMatchObject({ code: 'SERVE_UNKNOWN_PATH' })
    const typed = (args: string, by: string) =>
      post('/op', { id: `${args}-${by}`, op: 'next.typed', input: { session: 's1', args }, by })
    expect(await typed('arm', 'agent')).toMatchObject({ output: { document: { ok: false, code: 'NEXT_NEEDS_PERSON' } } })
    await expect(post('/op', { id: 'k', op: 'keel.check', input: {}, by: 'person' })).rejects.toMatchObject({
      code: 'SERVE_UNKNOWN_OP',
    })
  })
})

describe('a changed setting in DSH', () => {
  it('counts at once and leaves an armed loop armed', async () => {
    const world = await boot({
      turns: [text('Which colour do you want?'), text('Blue it is.')],
      suggest: ['Paint it blue', 'Paint it red'],
    })
    await say(world.agent, 'begin')
    await world.type('/next arm --rounds 5')
    await until(async () => (await stateOf(world)).includes('waits: the agent asked you'))
    world.set({ model: 'mock/m1', local: false, maxRounds: 3 })
    await world.ctx.outrigger.changed('next')
    const { project } = await world.ctx.outrigger.live(world.agent)
    expect(project.config.section('next')['maxRounds']).toBe(3)
    expect(await stateOf(world)).toContain('waits: the agent asked you')
    // Of another row: the project is kept until the loop has ended.
    await world.ctx.outrigger.changed('keel')
    expect(await stateOf(world)).toContain('waits: the agent asked you')
    await say(world.agent, 'blue')
    expect(await stateOf(world)).toContain('autorun stopped: you took over')
  })
})

describe('a runtime that is made anew in DSH', () => {
  it('hears again what keeps the session at work', async () => {
    const jobsLocal = await ofHost('@deepseek-ai/dsh-jobs-local')
    const world = await boot({
      host: [[jobsLocal['default'], {}]],
      turns: [text('Ready.'), text('Fired.')],
      suggest: ['Write one.ts', 'Write two.ts'],
    })
    await say(world.agent, 'begin')
    const jobs = world.ctx.get('jobs') as { start(job: object): unknown; attachController(name: string): void }
    jobs.attachController('test')
    const { promise: done, resolve: finish } = Promise.withResolvers<{ status: string }>()
    jobs.start({ kind: 'bash', label: 'server', owner: world.agent, run: () => ({ cancel: () => {}, done }) })
    await until(async () => (await stateOf(world)).includes('Next: Write one.ts'))
    const { outrigger } = await world.ctx.outrigger.live(world.agent)
    await world.ctx.outrigger.changed('keel')
    await until(async () => (await world.ctx.outrigger.live(world.agent)).outrigger !== outrigger)
    await world.type('/next arm')
    await until(async () => (await stateOf(world)).includes('waits: 1 task(s) still running'))
    // Not even one that the fence then turns away.
    expect(ends(world.agent)).toEqual(['completed'])
    finish({ status: 'completed' })
    await until(() => mine(world.agent).length === 1)
  })
})

/** The driver of an instant model leaves nobody else a moment. */
const slowTurns = (answer: string) => Array.from({ length: 100 }, () => [call(['pause', {}]), text(answer)]).flat()

describe("the host's own goal driver", () => {
  const goalsOf = (world: World) =>
    world.ctx.get('goals') as {
      create(agent: Agent, goal: object): { readonly id: string; readonly revision: number }
      get(
        agent: Agent,
      ): { readonly id: string; readonly revision: number; readonly phase: string; readonly activation: string } | undefined
      resume(agent: Agent, ref: object): unknown
      disarm(agent: Agent): unknown
    }

  it('is displaced by an arm: the objective stays, its rounds do not', async () => {
    const world = await boot({
      goals: true,
      turns: [text('Ready.'), ...slowTurns('Round.')],
      suggest: Array.from({ length: 20 }, (_, at) => `Write chapter ${at}`),
    })
    await say(world.agent, 'begin')
    goalsOf(world).create(world.agent, { objective: 'ship it', maxGoalRounds: 256 })
    await until(() => ends(world.agent).length >= 3)
    const reply = await world.type('/next arm --rounds 2')
    expect(reply.text).toContain('This loop now starts the turns; the goal keeps its objective but not its own rounds.')
    expect(goalsOf(world).get(world.agent)).toMatchObject({ phase: 'active', activation: 'disarmed' })
    await until(async () => (await stateOf(world)).includes('autorun stopped'))
    expect(mine(world.agent).length).toBeGreaterThan(0)
    expect(mine(world.agent).length).toBeLessThanOrEqual(2)
  })

  it('takes over again when a person resumes the goal', async () => {
    const world = await boot({
      goals: true,
      turns: [text('Ready.'), ...slowTurns('Which one do you want?')],
      suggest: Array.from({ length: 40 }, (_, at) => `Write chapter ${at}`),
    })
    const goals = goalsOf(world)
    await say(world.agent, 'begin')
    goals.create(world.agent, { objective: 'ship it', maxGoalRounds: 256 })
    await until(() => ends(world.agent).length >= 2)
    await world.type('/next arm')
    const goal = goals.get(world.agent)!
    goals.resume(world.agent, { id: goal.id, revision: goal.revision })
    await until(async () => (await stateOf(world)).includes('the goal drives itself again'))
    goals.disarm(world.agent)
  })
})
