/** The module of the plugin on a host that is made here: what it asks of the engine process, what it does with the answer, and what it survives. */
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Host, HostEvent, Result } from '../../src/claude-code/mod/host.ts'
import type { Action } from '../../src/session/actions.ts'
import type { SessionEvent } from '../../src/session/events.ts'

type Recover = ($: Host, e: HostEvent, next: unknown) => unknown
type Fetch = (
  url: string,
  init: { headers: Record<string, string>; body?: string },
) => Promise<{ status: number; ok: boolean; text: string }>

interface World {
  readonly events: SessionEvent[]
  readonly headers: Record<string, string>[]
  readonly starts: number[]
  readonly shown: string[]
  readonly timers: (() => unknown)[]
  /** Of the timers, ms. */
  readonly waits: number[]
  /** What command hooks find in their environment. */
  readonly env: Map<string, string>
  session: string
  /** What the engine process answers to an event. */
  answer: (event: SessionEvent) => readonly Partial<Action>[]
  /** What waits for the poll; empty: the poll waits for ever. */
  waiting: { seq: number; action: Partial<Action> }[][]
  fetch: Fetch
  run: () => Promise<{ exitCode: number; stdout: string; stderr: string }>
  ui: (verb: string, text: string) => void
  submit: (text: string) => Promise<{ drop?: string }>
  complete: () => Promise<{ isAnswered: boolean; text?: string; reason?: string }>
  fire(name: string, e?: HostEvent, then?: (e: HostEvent) => unknown): Promise<Result>
  /** Runs the timers that are due now. */
  tick(): Promise<void>
}

const context = (text: string): Partial<Action> => ({ kind: 'add-context', id: 'a1', engine: 'keel', text }) as Partial<Action>

async function load(): Promise<World> {
  vi.resetModules()
  const { register } = await import('../../src/claude-code/mod/register.ts')
  const hooks = new Map<string, { hook: (...given: unknown[]) => unknown; recover?: Recover }>()
  const world: World = {
    events: [],
    headers: [],
    starts: [],
    shown: [],
    timers: [],
    waits: [],
    env: new Map(),
    session: 's1',
    answer: () => [],
    waiting: [],
    async fetch(url, { body, headers }) {
      world.headers.push(headers)
      const ok = (value: unknown) => ({ status: 200, ok: true, text: JSON.stringify(value) })
      if (url.endsWith('/health')) return ok({ project: '/p' })
      if (url.includes('/wait')) {
        const actions = world.waiting.shift()
        return actions === undefined ? new Promise(() => undefined) : ok({ actions })
      }
      const event = JSON.parse(body!) as SessionEvent
      world.events.push(event)
      return ok({ actions: world.answer(event) })
    },
    run: async () => ({ exitCode: 0, stdout: JSON.stringify({ socket: '/s' }), stderr: '' }),
    ui: (verb, text) => void world.shown.push(`${verb} ${text}`),
    submit: () => new Promise(() => undefined),
    complete: () => new Promise(() => undefined),
    async fire(name, e = {}, then = () => ({})) {
      const { hook, recover } = hooks.get(name)!
      const next = Object.assign(async (given: HostEvent) => then(given), { called: false })
      try {
        return (await hook($, e, next)) as Result
      } catch (error) {
        if (recover === undefined) throw error
        return (await recover($, e, Object.assign(next, { error }))) as Result
      }
    },
    async tick() {
      for (const run of world.timers.splice(0)) void Promise.resolve(run()).catch(() => undefined)
      for (let i = 0; i < 20; i++) await Promise.resolve()
    },
  }
  const say = (verb: string) => async (text: unknown) => world.ui(verb, typeof text === 'string' ? text : JSON.stringify(text))
  const $ = {
    plugin: { name: 'outrigger', root: '/plugin' },
    http: { fetch: (url: string, init: never) => world.fetch(url, init) },
    process: {
      run: () => {
        world.starts.push(Date.now())
        return world.run()
      },
    },
    fs: { exists: async () => false },
    env: { get: async () => undefined, set: async (name: string, value: string) => void world.env.set(name, value) },
    session: {
      id: async () => world.session,
      root: async () => '/p',
      cwd: async () => '/p',
      surfaces: async () => ['terminal'],
      usage: async () => ({}),
      version: async () => ({ version: '2.1.332' }),
    },
    ui: {
      toast: say('toast'),
      status: say('status'),
      log: say('log'),
      invalidate: say('invalidate'),
      open: say('open'),
      close: say('close'),
    },
    command: { register: async () => undefined, run: async () => undefined },
    prompt: {
      submit: ({ text }: { text: string }) => world.submit(text),
      fill: async () => undefined,
      read: async () => ({ text: '' }),
      suggest: async () => ({ isShown: true }),
    },
    agent: { list: async () => [] },
    model: { complete: () => world.complete() },
    clock: {
      now: async () => 1_000,
      after: (ms: number, run: () => unknown) => {
        world.timers.push(run)
        world.waits.push(ms)
        return { cancel() {} }
      },
    },
  } as unknown as Host
  register(((name: string, ...rest: unknown[]) => {
    const hook = rest.at(-1) as (...given: unknown[]) => unknown
    const kept: { hook: typeof hook; recover?: Recover } = { hook }
    const key = hooks.has(name) ? `${name} ${JSON.stringify(rest[0])}` : name
    hooks.set(key, kept)
    return {
      catch: (recover: Recover) => {
        kept.recover = recover
      },
    }
  }) as never)
  return world
}

const kinds = (world: World) => world.events.map(({ kind }) => kind)
const offerOf = (event: SessionEvent) => (event as { offer?: string }).offer

let world: World
beforeEach(async () => {
  world = await load()
})

describe('a program that cannot be started', () => {
  beforeEach(() => {
    world.run = async () => ({ exitCode: 3, stdout: '', stderr: 'NODE_TOO_OLD: no' })
  })

  it('is tried once and told once, however much happens; the session goes on', async () => {
    expect(await world.fire('classic.SessionStart', { source: 'startup' }, () => ({ went: 'on' }))).toEqual({ went: 'on' })
    for (let i = 0; i < 5; i++) {
      await world.fire('prompt.submit', { text: 'hello', origin: { kind: 'composer' } })
      await world.fire('classic.PostToolUse', { tool_name: 'Edit', tool_input: {} })
    }
    expect(world.starts).toHaveLength(1)
    expect(world.shown.filter(text => text.startsWith('toast'))).toEqual([expect.stringContaining('NODE_TOO_OLD')])
  })

  it('is tried again after a while', async () => {
    await world.fire('classic.SessionStart', { source: 'startup' })
    const later = Date.now() + 31_000
    vi.spyOn(Date, 'now').mockReturnValue(later)
    onTestFinished(() => void vi.restoreAllMocks())
    await world.fire('prompt.submit', { text: 'hello', origin: { kind: 'composer' } })
    expect(world.starts).toHaveLength(2)
  })

  it('leaves the session to the command hooks, until a prompt finds one', async () => {
    const work = async () => {
      await world.fire('classic.PostToolUse', { tool_name: 'Edit', tool_input: {} })
      await world.fire('classic.Stop', {})
      await world.fire('turn.complete', { turnId: 't1', answer: 'Done.' })
    }
    await world.fire('classic.SessionStart', { source: 'startup' })
    await work()
    expect(world.env.get('OUTRIGGER_MOD') ?? '').toBe('')
    expect(world.events).toEqual([])
    world.run = async () => ({ exitCode: 0, stdout: JSON.stringify({ socket: '/s' }), stderr: '' })
    const later = Date.now() + 31_000
    vi.spyOn(Date, 'now').mockReturnValue(later)
    onTestFinished(() => void vi.restoreAllMocks())
    await world.fire('prompt.submit', { text: 'hello', origin: { kind: 'composer' } })
    expect(world.env.get('OUTRIGGER_MOD')).toBe('1')
    await work()
    expect(kinds(world)).toEqual(['person-spoke', 'tool-finished', 'work-changed', 'agents-listed', 'turn-ending', 'turn-ended'])
  })

  it('is tried at once for a command of a person, who reads why not', async () => {
    await world.fire('session.start', { isInteractive: false })
    await world.fire('classic.SessionStart', { source: 'startup' })
    expect(await world.fire('command.run', { command: 'keel', args: '' })).toMatchObject({
      text: 'no engine process: NODE_TOO_OLD: no. `outrigger doctor` says more.',
    })
    expect(world.starts).toHaveLength(2)
  })

  it('costs the session nothing where nothing can be shown', async () => {
    world.ui = () => {
      throw new Error('nothing to draw on')
    }
    expect(await world.fire('classic.SessionStart', { source: 'startup' }, () => ({ went: 'on' }))).toEqual({ went: 'on' })
  })
})

describe('a process that hangs', () => {
  it('costs an event its answer, and two in a row hand the session to the command hooks', async () => {
    await world.fire('classic.SessionStart', { source: 'startup' })
    const fetch = world.fetch
    world.fetch = async (url, init) => (url.endsWith('/event') ? new Promise(() => undefined) : fetch(url, init))
    const call = async () => {
      world.timers.length = 0
      const went = world.fire('classic.PostToolUse', { tool_name: 'Edit', tool_input: {} }, () => ({ went: 'on' }))
      await vi.waitFor(() => expect(world.timers.length).toBeGreaterThan(0))
      await world.tick()
      return went
    }
    expect(await call()).toEqual({ went: 'on' })
    expect(world.env.get('OUTRIGGER_MOD')).toBe('1')
    expect(await call()).toEqual({ went: 'on' })
    expect(world.env.get('OUTRIGGER_MOD')).toBe('')
    expect(world.shown.filter(text => text.startsWith('toast'))).toEqual([expect.stringContaining('no answer within 1000 ms')])
    // It comes back, and hangs once more: shown again, not told again.
    world.fetch = fetch
    const later = Date.now() + 31_000
    vi.spyOn(Date, 'now').mockReturnValue(later)
    onTestFinished(() => void vi.restoreAllMocks())
    await world.fire('prompt.submit', { text: 'hello', origin: { kind: 'composer' } })
    expect(world.env.get('OUTRIGGER_MOD')).toBe('1')
    world.shown.length = 0
    world.fetch = async (url, init) => (url.endsWith('/event') ? new Promise(() => undefined) : fetch(url, init))
    await call()
    await call()
    expect(world.env.get('OUTRIGGER_MOD')).toBe('')
    expect(world.shown).toContain('status no engine process')
    expect(world.shown.filter(text => text.startsWith('toast'))).toEqual([])
  })
})

describe('a process that is slow', () => {
  it.each([
    ['classic.SessionStart', { source: 'startup' }, 9_000],
    ['prompt.submit', { text: 'hello', origin: { kind: 'composer' } }, 2_000],
    ['classic.PostToolUse', { tool_name: 'Edit', tool_input: {} }, 1_000],
    ['classic.PostToolUseFailure', { tool_name: 'Edit', tool_input: {} }, 1_000],
    ['classic.Stop', {}, 1_000],
    ['turn.complete', { turnId: 't1', answer: 'Done.' }, 1_000],
    ['session.measure', { context: { tokens: 1, window: 10 } }, 1_000],
    ['session.end', { reason: 'other', sessionId: 's1' }, 1_000],
  ] as const)('lets the host go on after its time at %s', async (name, e, ms) => {
    await world.fire('classic.SessionStart', { source: 'startup' })
    const fetch = world.fetch
    world.fetch = async (url, init) => (url.endsWith('/event') ? new Promise(() => undefined) : fetch(url, init))
    world.timers.length = 0
    world.waits.length = 0
    const went = world.fire(name, e, () => ({ went: 'on' }))
    // An event of the host may be several of ours.
    const done = went.then(() => true)
    for (;;) {
      const isDone = await Promise.race([done, new Promise<false>(later => setTimeout(() => later(false), 20))])
      if (isDone) break
      await world.tick()
    }
    expect(await went).toMatchObject(name === 'classic.SessionStart' ? {} : { went: 'on' })
    expect(world.waits).toContain(ms)
    expect(Math.max(...world.waits)).toBeLessThanOrEqual(9_000)
  })
})

describe('a process that ends in the middle and cannot be started again', () => {
  it('leaves the session to the command hooks', async () => {
    await world.fire('classic.SessionStart', { source: 'startup' })
    expect(world.env.get('OUTRIGGER_MOD')).toBe('1')
    world.fetch = async () => {
      throw new Error('fetch failed: ECONNREFUSED')
    }
    world.run = async () => ({ exitCode: 3, stdout: '', stderr: 'no' })
    await world.fire('classic.PostToolUse', { tool_name: 'Edit', tool_input: {} })
    expect(world.env.get('OUTRIGGER_MOD')).toBe('')
    await world.fire('classic.PostToolUse', { tool_name: 'Edit', tool_input: {} })
    expect(world.starts).toHaveLength(2)
    expect(world.shown.filter(text => text.startsWith('toast'))).toHaveLength(1)
  })
})

const begun = () => void beforeEach(() => world.fire('classic.SessionStart', { source: 'startup' }))

describe('what the engines answer', () => {
  begun()

  it('reaches the model also when the host refuses to show a part of it', async () => {
    world.answer = () => [
      { kind: 'status', id: 'a0', engine: 'keel', text: 'keel 1 behind' } as Partial<Action>,
      context('docs/a.md is behind'),
    ]
    world.ui = verb => {
      if (verb === 'status') throw new Error('no room')
    }
    const result = await world.fire('classic.PostToolUse', { tool_name: 'Edit', tool_input: {} })
    expect(JSON.stringify(result)).toContain('docs/a.md is behind')
    expect(world.events).toContainEqual(expect.objectContaining({ kind: 'action-failed', action: 'a0', reason: 'host:no room' }))
  })

  it('is shown line by line when it has more than one', async () => {
    world.answer = event =>
      event.kind === 'tool-finished'
        ? [{ kind: 'notify', id: 'n', engine: 'pack', text: 'revision 1 → 2\n\n/pack continue goes on' } as Partial<Action>]
        : []
    await world.fire('classic.PostToolUse', { tool_name: 'Edit', tool_input: {} })
    expect(world.shown.slice(-2)).toEqual(['log revision 1 → 2', 'log /pack continue goes on'])
  })

  it('is asked for as the version of the host that runs', async () => {
    await world.fire('classic.SessionStart', { source: 'startup' })
    expect(world.headers.at(-1)!['outrigger-door']).toMatch(/^claude-code\/2\.1\.332 \S+$/)
  })

  it('hears what a turn cost', async () => {
    await world.fire('turn.complete', {
      turnId: 't1',
      answer: 'Done.',
      usage: { input_tokens: 7, output_tokens: 5, cache_creation_input_tokens: 2 },
    })
    expect(world.events.at(-1)).toMatchObject({ kind: 'turn-ended', usage: { input: 9, output: 5 } })
  })
})

describe('the poll', () => {
  const begin = async () => {
    await world.fire('session.start', { isInteractive: true })
    await world.fire('classic.SessionStart', { source: 'startup' })
  }

  it('does not start a process that ended because nobody needed it; the next event does', async () => {
    await begin()
    const fetch = world.fetch
    world.fetch = async () => {
      throw new Error('fetch failed: ECONNREFUSED')
    }
    for (let i = 0; i < 4; i++) await world.tick()
    expect(world.starts).toHaveLength(1)
    world.fetch = fetch
    await world.fire('classic.PostToolUse', { tool_name: 'Edit', tool_input: {} })
    expect(world.starts).toHaveLength(2)
  })

  it('counts from the beginning in the next session', async () => {
    const { fetch } = world
    const asked: string[] = []
    world.waiting = [[{ seq: 7, action: { kind: 'notify', id: 'a1', engine: 'pack', text: 'saved' } as Partial<Action> }], []]
    world.fetch = (url, init) => {
      if (url.includes('/wait')) asked.push(url.split('?')[1]!)
      if (asked.length === 2) world.session = 's2'
      return fetch(url, init)
    }
    await begin()
    await world.tick()
    await vi.waitFor(() => expect(asked).toEqual(['session=s1&after=0', 'session=s1&after=7', 'session=s2&after=0']))
  })

  it('goes on behind an action that the host refuses', async () => {
    world.waiting = [
      [
        { seq: 1, action: { kind: 'notify', id: 'a1', engine: 'next', text: 'first' } as Partial<Action> },
        { seq: 2, action: { kind: 'notify', id: 'a2', engine: 'next', text: 'second' } as Partial<Action> },
      ],
    ]
    world.ui = (verb, text) => {
      if (text === 'first') throw new Error('no')
      world.shown.push(`${verb} ${text}`)
    }
    await begin()
    await world.tick()
    await vi.waitFor(() => expect(world.shown).toContain('toast second'))
    expect(world.events).toContainEqual(expect.objectContaining({ kind: 'action-failed', action: 'a1' }))
    expect(world.starts).toHaveLength(1)
  })
})

describe('the end of a session', () => {
  begun()

  it('is told to the process that runs', async () => {
    await world.fire('session.end', { reason: 'prompt_input_exit', sessionId: 's1' })
    expect(world.events.at(-1)).toMatchObject({ kind: 'session-ended', session: 's1', reason: 'prompt_input_exit' })
  })

  it('starts none', async () => {
    world.fetch = async () => {
      throw new Error('fetch failed: ECONNREFUSED')
    }
    expect(await world.fire('session.end', { reason: 'other', sessionId: 's1' }, () => ({ went: 'on' }))).toEqual({ went: 'on' })
    expect(world.starts).toHaveLength(1)
  })
})

describe('a submission of ours', () => {
  begun()

  const submitting = (text: string, offer: string): Partial<Action> =>
    ({ kind: 'submit', id: `a-${offer}`, engine: 'next', as: 'plugin', text, offer }) as Partial<Action>
  const send = async (...actions: readonly Partial<Action>[]) => {
    world.answer = event => (event.kind === 'turn-ended' ? actions : [])
    await world.fire('turn.complete', { turnId: 't1', answer: 'Done.' })
    world.answer = () => []
    await world.tick()
  }

  it('that the engine stops is not told as refused by the host', async () => {
    let drop = (_: { drop?: string }): void => {}
    world.submit = () => new Promise(resolve => (drop = resolve))
    await send(submitting('Write the parser', 'g1'))
    world.answer = event =>
      event.kind === 'turn-starting'
        ? [{ kind: 'verdict', id: 'v', engine: 'next', admit: false, why: 'human' } as Partial<Action>]
        : []
    expect(await world.fire('classic.UserPromptSubmit', { prompt: 'Write the parser' })).toEqual({ block: 'human' })
    drop({ drop: 'blocked by a hook' })
    await world.tick()
    expect(kinds(world)).not.toContain('submit-failed')
  })

  it('that the host drops is told', async () => {
    world.submit = async () => ({ drop: 'queue is full' })
    await send(submitting('Write the parser', 'g1'))
    await vi.waitFor(() =>
      expect(world.events).toContainEqual(
        expect.objectContaining({ kind: 'submit-failed', offer: 'g1', message: 'queue is full' }),
      ),
    )
  })

  it('is asked for each time, also when two have the same words', async () => {
    await send(submitting('Run the tests', 'g1'), submitting('Run the tests', 'g2'))
    await world.fire('classic.UserPromptSubmit', { prompt: 'Run the tests' })
    await world.fire('classic.UserPromptSubmit', { prompt: 'Run the tests' })
    expect(world.events.filter(({ kind }) => kind === 'turn-starting').map(offerOf)).toEqual(['g1', 'g2'])
  })

  it('begins a turn of the plugin only when it stood before the last veto', async () => {
    await send(submitting('Run the tests', 'g1'))
    await world.fire('turn.start', { turnId: 't2' })
    await world.fire('classic.UserPromptSubmit', { prompt: 'Run the tests' })
    await world.fire('turn.start', { turnId: 't3' })
    const started = world.events.filter(({ kind }) => kind === 'turn-started') as unknown as { by: string; offer?: string }[]
    expect(started.map(({ by, offer }) => [by, offer])).toEqual([
      ['host', undefined],
      ['plugin', 'g1'],
    ])
  })

  it('that was taken back is stopped without a word to anybody', async () => {
    await send(submitting('Run the tests', 'g1'))
    world.answer = event =>
      event.kind === 'person-spoke' ? [{ kind: 'withdraw', id: 'w', engine: 'next', offer: 'g1' } as Partial<Action>] : []
    await world.fire('prompt.submit', { text: 'wait', origin: { kind: 'composer' } })
    expect(await world.fire('classic.UserPromptSubmit', { prompt: 'Run the tests' })).toHaveProperty('block')
    expect(kinds(world)).not.toContain('turn-starting')
  })
})

describe('the session before', () => {
  const previous = () =>
    world.events.filter(({ kind }) => kind === 'session-started').map(event => (event as { previous?: string }).previous)

  it('is named to the one that /clear made, and to no other', async () => {
    await world.fire('classic.SessionStart', { source: 'startup' })
    await world.fire('session.end', { reason: 'clear', sessionId: 's0' })
    await world.fire('classic.SessionStart', { source: 'clear' })
    await world.fire('session.end', { reason: 'clear', sessionId: 's1' })
    await world.fire('classic.SessionStart', { source: 'resume' })
    await world.fire('classic.SessionStart', { source: 'clear' })
    expect(previous()).toEqual([undefined, 's0', undefined, undefined])
  })

  it('is named also when its end could not be told', async () => {
    await world.fire('classic.SessionStart', { source: 'startup' })
    const fetch = world.fetch
    world.fetch = async () => ({ status: 500, ok: false, text: 'no' })
    await world.fire('session.end', { reason: 'clear', sessionId: 's0' })
    world.fetch = fetch
    await world.fire('classic.SessionStart', { source: 'clear' })
    expect(previous()).toEqual([undefined, 's0'])
  })
})

describe('a call of the model that was given up', () => {
  const ask = (engine: string): Partial<Action> =>
    ({
      kind: 'ask-model',
      id: 'g1',
      engine,
      mode: 'aside',
      prompt: 'p',
      model: 'a/b',
      maxTokens: 9,
      timeoutMs: 9,
    }) as Partial<Action>
  const told = async (engine: string, isAnswered: boolean): Promise<readonly object[]> => {
    const world = await load()
    const { promise, resolve } = Promise.withResolvers<{ isAnswered: boolean; text?: string; reason?: string }>()
    world.complete = () => promise
    await world.fire('classic.SessionStart', { source: 'startup' })
    world.answer = ({ kind }) => (kind === 'file-changed' ? [ask(engine)] : [])
    await world.fire('classic.FileChanged', { file_path: '/p/a', event: 'change' })
    await world.tick()
    world.answer = ({ kind }) =>
      kind === 'file-changed' ? [{ kind: 'cancel-model', id: 'c1', ask: 'g1' } as Partial<Action>] : []
    await world.fire('classic.FileChanged', { file_path: '/p/a', event: 'change' })
    world.answer = () => []
    resolve(isAnswered ? { isAnswered, text: 'Too late' } : { isAnswered, reason: 'timeout' })
    await vi.waitFor(() => promise)
    await world.tick()
    return world.events.filter(({ kind }) => kind.startsWith('model-'))
  }

  it('is told to be over to the loop that waits for it, and to nobody else', async () => {
    expect(await told('next', true)).toMatchObject([{ kind: 'model-failed', ask: 'g1', reason: 'canceled' }])
    expect(await told('next', false)).toMatchObject([{ kind: 'model-failed', ask: 'g1', reason: 'canceled' }])
    expect(await told('pack', true)).toEqual([])
  })
})
