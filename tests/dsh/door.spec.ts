import { tmpdir } from 'node:os'
import type { Context } from '@deepseek-ai/cordis'
import WorkerThreadCodeRuntime from '@deepseek-ai/dsh-code-runtime-worker-thread'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import { SessionId } from '@deepseek-ai/dsh-session'
import { defineTool } from '@deepseek-ai/dsh-tools'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { listen } from '../../src/dsh/listeners.ts'
import { createDisplay, type Display } from '../../src/dsh/web/display.ts'
import type { EventOf } from '../../src/session/events.ts'
import { type AnswerScript, bootLoop, call, flat, type Harness, say, text } from '../support/dsh/in-process.ts'
import { context, createRecording, kinds, type Recording } from '../support/dsh/recording.ts'

const root = tmpdir()
let harness: Harness | undefined
afterEach(async () => {
  await harness?.stop()
  harness = undefined
})

const tools = {
  name: 'test-tools',
  inject: ['tools'],
  apply: (ctx: Context) => {
    for (const name of ['write', 'read'])
      ctx.tools.register(
        defineTool({
          name,
          description: name,
          parameters: { file_path: { type: 'string', required: true } },
          output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
          execute: async args => {
            if (args.file_path === 'refuse') throw new Error('no')
            return `${name} ${args.file_path}`
          },
        }),
      )
  },
}

async function boot(
  recording: Recording,
  script: AnswerScript,
  mode?: object,
  display: Display = createDisplay(),
): Promise<Harness> {
  const door = {
    name: 'door',
    inject: ['agents', 'sessions', 'tools', 'commands'],
    apply: (ctx: Context) => listen(ctx, recording.opener, display),
  }
  harness = await bootLoop({
    script,
    cwd: root,
    plugins: [[tools, {}], ...(mode === undefined ? [] : [[WorkerThreadCodeRuntime, {}] as const]), [door, {}]],
    ...(mode !== undefined && { tools: mode }),
  })
  return harness
}

const eventOf = <K extends EventOf<'turn-started'>['kind'] | 'tool-finished' | 'turn-ended' | 'turn-ending' | 'session-started'>(
  recording: Recording,
  kind: K,
): readonly EventOf<K>[] => recording.events.flatMap(({ event }) => (event.kind === kind ? [event as EventOf<K>] : []))

describe('a turn of the host', () => {
  it('is told as words, start, calls, stop moment and end, each once and in this order', async () => {
    const recording = createRecording(root)
    const { create } = await boot(recording, [call(['write', { file_path: 'a.md' }]), text('done')])
    await say(await create(), 'please write')
    expect(kinds(recording).filter(kind => kind !== 'work-changed' && kind !== 'context-measured')).toEqual([
      'session-started',
      'person-spoke',
      'turn-started',
      'tool-finished',
      'turn-ending',
      'turn-ended',
    ])
    expect(eventOf(recording, 'turn-started')[0]).toMatchObject({ turn: 1, by: 'person', session: 's1', project: root })
    expect(eventOf(recording, 'tool-finished')[0]).toMatchObject({
      tool: 'write',
      written: ['a.md'],
      ok: true,
      output: 'write a.md',
      turn: 1,
    })
    expect(eventOf(recording, 'turn-ended')[0]).toMatchObject({ turn: 1, reason: 'completed', answer: 'done' })
  })

  it('counts on in the next turn, and starts the session once', async () => {
    const recording = createRecording(root)
    const { create } = await boot(recording, [text('one'), text('two')])
    const agent = await create()
    await say(agent, 'first')
    await say(agent, 'second')
    expect(eventOf(recording, 'turn-started').map(event => event.turn)).toEqual([1, 2])
    expect(eventOf(recording, 'turn-ended').map(event => event.answer)).toEqual(['one', 'two'])
    expect(eventOf(recording, 'session-started')).toHaveLength(1)
  })

  it('is started by a plugin when a plugin spoke', async () => {
    const recording = createRecording(root)
    const { create } = await boot(recording, [text('ok')])
    const agent = await create()
    agent.followup(createUserMessage({ content: [{ type: 'text', text: 'go' }], source: { kind: 'plugin', plugin: 'other' } }))
    await agent.whenIdle()
    expect(eventOf(recording, 'turn-started')[0]).toMatchObject({ by: 'plugin' })
    expect(kinds(recording)).not.toContain('person-spoke')
  })
})

describe('what the engines say', () => {
  it('stands behind the person’s words in the first request, labelled as ours', async () => {
    const recording = createRecording(root)
    recording.answer = event => (event.kind === 'person-spoke' ? ['FROM-KEEL'] : [])
    const { create, adapter } = await boot(recording, [text('ok')])
    const agent = await create()
    await say(agent, 'hello')
    expect(flat(adapter.requests[0])).toEqual(['hello', 'FROM-KEEL'])
    const row = agent.session.events.find(event => event.type === 'user/message' && event.data.source.kind === 'plugin')
    expect(row?.data).toMatchObject({
      source: { kind: 'plugin', plugin: 'outrigger-keel', form: 'notice', summary: 'FROM-KEEL' },
    })
  })

  it('stands behind the results of the calls in the next request', async () => {
    const recording = createRecording(root)
    recording.answer = event => (event.kind === 'tool-finished' ? [`AFTER ${event.written?.join()}`] : [])
    const { create, adapter } = await boot(recording, [
      call(['write', { file_path: 'a.md' }], ['write', { file_path: 'b.md' }]),
      text('ok'),
    ])
    await say(await create(), 'go')
    expect(flat(adapter.requests[1]).slice(2)).toEqual(['R:write a.md', 'R:write b.md', 'AFTER a.md', 'AFTER b.md'])
  })

  it('late goes with the next step, whatever it is', async () => {
    const recording = createRecording(root)
    const { create, adapter } = await boot(recording, [call(['read', { file_path: 'a.md' }]), text('ok')])
    recording.answer = event => {
      if (event.kind === 'tool-finished') recording.deliver('s1', [context('LATE')])
      return []
    }
    await say(await create(), 'go')
    expect(flat(adapter.requests[1]).at(-1)).toBe('LATE')
  })

  it('adds nothing to an ordinary turn', async () => {
    const recording = createRecording(root)
    const { create, adapter } = await boot(recording, [call(['write', { file_path: 'a.md' }]), text('ok')])
    await say(await create(), 'go')
    expect(flat(adapter.requests[1])).toEqual(['go', 'C:write', 'R:write a.md'])
  })
})

describe('the end of a turn', () => {
  it('is held with one steered message in the same turn; the next stop moment says that it was', async () => {
    const recording = createRecording(root)
    recording.hold = event => (event.kind === 'turn-ending' && !event.again ? 'HOLD ON\nmore' : null)
    const { create, adapter } = await boot(recording, [text('first'), text('second')])
    const agent = await create()
    await say(agent, 'go')
    expect(flat(adapter.requests[1])).toEqual(['go', 'first', 'HOLD ON\nmore'])
    expect(eventOf(recording, 'turn-ending').map(event => [event.turn, event.again, event.answer])).toEqual([
      [1, false, 'first'],
      [1, true, 'second'],
    ])
    expect(eventOf(recording, 'turn-ended')).toMatchObject([{ answer: 'second', earlier: ['first'], reason: 'completed' }])
    expect(kinds(recording).filter(kind => kind === 'person-spoke' || kind === 'turn-started')).toHaveLength(2)
  })

  it('tells why when it did not complete', async () => {
    const recording = createRecording(root)
    const { create } = await boot(recording, [])
    await say(await create(), 'go')
    expect(eventOf(recording, 'turn-ended')[0]).toMatchObject({ reason: 'error', answer: '' })
    expect(kinds(recording)).not.toContain('turn-ending')
  })
})

describe('calls inside a program', () => {
  it('are told with their outer call and carry nothing; the outer one does', async () => {
    const recording = createRecording(root)
    recording.answer = (event, door) =>
      event.kind === 'tool-finished' && door?.contextAt.has('tool-finished') === true ? [`NEWS ${event.tool}`] : []
    const { create, adapter } = await boot(
      recording,
      [
        call([
          'run_code',
          {
            description: 'two writes',
            code: "await tools.write({ file_path: 'a.md' }); await tools.write({ file_path: 'b.md' }); return 1",
          },
        ]),
        text('ok'),
      ],
      { mode: 'code' },
    )
    await say(await create(), 'go')
    const calls = eventOf(recording, 'tool-finished')
    expect(calls.map(event => [event.tool, event.parent === undefined])).toEqual([
      ['write', false],
      ['write', false],
      ['run_code', true],
    ])
    expect(new Set(calls.slice(0, 2).map(event => event.parent))).toEqual(new Set([calls[2]?.call]))
    expect(flat(adapter.requests[1]).filter(line => line.startsWith('NEWS'))).toEqual(['NEWS run_code'])
  })
})

describe('calls that the host refuses', () => {
  it('are told once, as failed, whether the tool threw or is unknown', async () => {
    const recording = createRecording(root)
    const { create } = await boot(recording, [call(['write', { file_path: 'refuse' }], ['nothing_like_it', {}]), text('ok')])
    await say(await create(), 'go')
    expect(eventOf(recording, 'tool-finished').map(event => [event.tool, event.ok])).toEqual([
      ['write', false],
      ['nothing_like_it', false],
    ])
  })
})

describe('a helper agent', () => {
  it('has no session of its own: its calls count for the main one, under its id', async () => {
    const recording = createRecording(root)
    recording.answer = event => (event.kind === 'tool-finished' ? ['NEWS'] : [])
    const { create, adapter } = await boot(recording, [text('main'), call(['write', { file_path: 'a.md' }]), text('helped')])
    await say(await create('main'), 'go')
    const before = recording.events.length
    await say(await create('helper', { origin: 'subagent', parentSession: 'main' }), 'help')
    const told = recording.events.slice(before).map(({ event }) => event)
    expect(told.filter(event => event.kind !== 'work-changed')).toMatchObject([
      { kind: 'tool-finished', session: 'main', agent: 'helper', written: ['a.md'] },
      { kind: 'turn-ended', session: 'main', agent: 'helper', answer: 'helped' },
    ])
    expect(flat(adapter.requests[2]).at(-1)).toBe('NEWS')
    const children = told.flatMap(event => (event.kind === 'work-changed' ? [event.children] : []))
    expect(children).toEqual([1, 0])
  })
})

describe('a fault of ours', () => {
  it('lets every moment of the host pass, and is told once', async () => {
    const recording = createRecording(root)
    const warnings: string[] = []
    const { ctx, create, adapter } = await boot(
      {
        ...recording,
        opener: {
          rootOf: cwd => cwd,
          open: async () => Promise.reject(Object.assign(new Error('broken'), { code: 'STORE_DAMAGED' })),
        },
      },
      [call(['write', { file_path: 'a.md' }]), text('ok')],
    )
    ctx.logger.exporter({ levels: { default: 3 }, export: message => warnings.push(String(message.args[0])) })
    const agent = await create()
    await say(agent, 'go')
    expect(flat(adapter.requests[1])).toEqual(['go', 'C:write', 'R:write a.md'])
    expect(agent.session.events.findLast(event => event.type === 'turn/end')?.data).toMatchObject({
      reason: { kind: 'completed' },
    })
    expect(warnings.filter(line => line.startsWith('outrigger'))).toEqual([
      'outrigger: could not handle the start of a session (STORE_DAMAGED): broken',
    ])
  })

  it('that goes away lets the session begin with its next event', async () => {
    const recording = createRecording(root)
    let fails = 2
    const opener = {
      rootOf: (cwd: string) => cwd,
      open: (...args: Parameters<Recording['opener']['open']>) =>
        fails-- > 0 ? Promise.reject(new Error('not yet')) : recording.opener.open(...args),
    }
    const { create } = await boot({ ...recording, opener }, [call(['write', { file_path: 'a.md' }]), text('ok')])
    await say(await create(), 'go')
    expect(eventOf(recording, 'session-started')).toHaveLength(1)
    expect(kinds(recording)[0]).toBe('session-started')
    expect(kinds(recording)).toContain('turn-ended')
  })
})

describe('a notice that comes late', () => {
  it('is shown to the page of its session; what no page took goes back when the session ends', async () => {
    const recording = createRecording(root)
    const display = createDisplay()
    display.open()
    const { ctx } = await boot(recording, [text('ok')], undefined, display)
    const { agent, dispose } = await ctx.agents.create({
      sessionId: SessionId('s1'),
      agentOptions: { provider: 'mock', model: 'm1' },
      meta: { cwd: root },
    })
    await say(agent, 'hello')
    const notice = (id: string) => ({ kind: 'notify', id, engine: 'keel', level: 'info', text: `notice ${id}` }) as const
    recording.deliver('s1', [notice('n1')])
    await vi.waitFor(async () => {
      const { notices } = await display.read('s1', undefined, new AbortController().signal)
      expect(notices).toEqual([{ level: 'info', text: 'notice n1', ms: 4_000 }])
    })
    recording.deliver('s1', [notice('n2')])
    await new Promise(done => setTimeout(done, 5))
    await dispose()
    await vi.waitFor(() => expect(recording.failed).toEqual([['n2', 'host:no page took it']]))
  })
})
