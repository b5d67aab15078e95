import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Io } from '../../src/cli/io.ts'
import { OutriggerError } from '../../src/errors.ts'
import { answerOf, maxContextChars } from '../../src/hook/answer.ts'
import { answerHook } from '../../src/hook/main.ts'
import { eventsOf, type HostEvent, hostEvents } from '../../src/hook/translate.ts'
import { createModes } from '../../src/runtime/modes.ts'
import type { Outrigger } from '../../src/runtime/outrigger.ts'
import type { Project } from '../../src/runtime/project.ts'
import type { Action } from '../../src/session/actions.ts'
import type { SessionEvent } from '../../src/session/events.ts'

const place = { project: '/p', at: 7, newId: () => 'new-id' }
const base = { session: 's', project: '/p', at: 7 }
const payload = (more: Record<string, unknown> = {}) => ({ session_id: 's', cwd: '/p/docs', hook_event_name: 'x', ...more })

describe('a host event becomes', () => {
  it.each<[HostEvent, Record<string, unknown>, readonly Record<string, unknown>[]]>([
    [
      'SessionStart',
      { source: 'resume', model: 'm', session_title: 't' },
      [{ ...base, kind: 'session-started', source: 'resume', model: 'm', title: 't', cwd: '/p/docs' }],
    ],
    ['SessionStart', { source: 'later' }, [{ ...base, kind: 'session-started', source: 'startup', cwd: '/p/docs' }]],
    ['SessionStart', { source: 'compact' }, [{ ...base, kind: 'compacted' }]],
    [
      'UserPromptSubmit',
      { prompt: 'go on' },
      [
        { ...base, kind: 'person-spoke', text: 'go on' },
        { ...base, kind: 'turn-started', turn: 0, by: 'person' },
      ],
    ],
    ['UserPromptSubmit', { prompt: '<task-notification>done' }, [{ ...base, kind: 'turn-started', turn: 0, by: 'host' }]],
    [
      'PostToolUse',
      { tool_name: 'Edit', tool_input: { file_path: '/p/src/a.ts' }, tool_response: { ok: 1 }, tool_use_id: 'c1' },
      [
        {
          ...base,
          kind: 'tool-finished',
          turn: null,
          call: 'c1',
          tool: 'edit',
          input: { file_path: '/p/src/a.ts' },
          ok: true,
          output: '{"ok":1}',
          written: ['src/a.ts'],
          cwd: '/p/docs',
        },
      ],
    ],
    [
      'PostToolUse',
      { tool_name: 'Read', tool_input: { file_path: 'b.md' }, tool_response: [{ type: 'text', text: 'B' }], agent_id: 'h' },
      [
        {
          ...base,
          agent: 'h',
          kind: 'tool-finished',
          turn: null,
          call: 'new-id',
          tool: 'read',
          input: { file_path: 'b.md' },
          ok: true,
          output: 'B',
          read: ['docs/b.md'],
          cwd: '/p/docs',
        },
      ],
    ],
    [
      'PostToolUse',
      { tool_name: 'Write', tool_input: { file_path: '/else/x' }, tool_response: 'fine', tool_use_id: 'c' },
      [
        {
          ...base,
          kind: 'tool-finished',
          turn: null,
          call: 'c',
          tool: 'write',
          input: { file_path: '/else/x' },
          ok: true,
          output: 'fine',
          written: ['/else/x'],
          cwd: '/p/docs',
        },
      ],
    ],
    [
      'PostToolUseFailure',
      { tool_name: 'Bash', tool_input: { command: 'x' }, error: 'Exit code 3\nno', tool_use_id: 'c2' },
      [
        {
          ...base,
          kind: 'tool-finished',
          turn: null,
          call: 'c2',
          tool: 'bash',
          input: { command: 'x' },
          ok: false,
          output: 'Exit code 3\nno',
          exit: 3,
          cwd: '/p/docs',
        },
      ],
    ],
    [
      'Stop',
      {
        last_assistant_message: 'done',
        stop_hook_active: true,
        background_tasks: [
          { type: 'shell', status: 'running' },
          { type: 'subagent', status: 'running' },
          { type: 'subagent', status: 'completed' },
          'x',
        ],
      },
      [
        { ...base, kind: 'work-changed', children: 1, jobs: 1 },
        { ...base, kind: 'turn-ending', turn: 0, answer: 'done', again: true },
      ],
    ],
    [
      'Stop',
      { background_tasks: 3, last_assistant_message: 4 },
      [
        { ...base, kind: 'work-changed', children: 0, jobs: 0 },
        { ...base, kind: 'turn-ending', turn: 0, answer: '', again: false },
      ],
    ],
    [
      'FileChanged',
      { file_path: '/p/a/b.md', event: 'change' },
      [{ ...base, kind: 'file-changed', path: 'a/b.md', by: 'outside' }],
    ],
    ['FileChanged', {}, []],
    ['PreCompact', { trigger: 'auto' }, [{ ...base, kind: 'command-run', name: 'pack', args: 'save --plain', by: 'host' }]],
    ['SessionEnd', { reason: 'clear' }, [{ ...base, kind: 'session-ended', reason: 'clear' }]],
  ])('%s %j', (event, more, events) => {
    expect(eventsOf(event, payload(more), place)).toEqual(events)
  })

  it('nothing without a session', () => {
    expect(() => eventsOf('Stop', { cwd: '/p' }, place)).toThrow(OutriggerError)
  })

  it('events or BAD_INPUT, whatever the payload holds', () => {
    const fields = [
      'session_id',
      'cwd',
      'prompt',
      'tool_name',
      'tool_input',
      'tool_response',
      'background_tasks',
      'file_path',
      'error',
    ]
    const anything = fc.record(Object.fromEntries(fields.map(field => [field, fc.jsonValue()])), { requiredKeys: [] })
    fc.assert(
      fc.property(fc.constantFrom(...hostEvents), anything, (event, value) => {
        try {
          return Array.isArray(eventsOf(event, value, place))
        } catch (error) {
          return error instanceof OutriggerError && error.code === 'BAD_INPUT'
        }
      }),
    )
  })
})

const context = (id: string, text: string): Action => ({ kind: 'add-context', id, engine: 'keel', text, summary: 's' })
const watch = (id: string, ...paths: string[]): Action => ({ kind: 'watch', id, engine: 'keel', paths })

describe('an answer', () => {
  it.each<HostEvent>(['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure'])(
    'to %s carries context',
    event => {
      expect(answerOf(event, [context('1', 'a'), context('2', 'b')], null)).toEqual({
        json: { hookSpecificOutput: { hookEventName: event, additionalContext: 'a\n\nb' } },
        failed: [],
      })
    },
  )

  it('to SessionStart carries the paths to watch, each once and sorted', () => {
    expect(answerOf('SessionStart', [watch('1', '/b', '/a'), watch('2', '/b')], null)).toEqual({
      json: { hookSpecificOutput: { hookEventName: 'SessionStart', watchPaths: ['/a', '/b'] } },
      failed: [],
    })
  })

  it('to Stop blocks, or says nothing', () => {
    expect(answerOf('Stop', [], 'look').json).toEqual({ decision: 'block', reason: 'look' })
    expect(answerOf('Stop', [], null).json).toEqual({})
  })

  it('stays below the host’s cap: what does not fit is left out whole', () => {
    const long = context('1', 'x'.repeat(maxContextChars - 10))
    const { json, failed } = answerOf('PostToolUse', [long, context('2', 'y'.repeat(20)), context('3', 'z')], null)
    expect(json['hookSpecificOutput']).toMatchObject({ additionalContext: `${'x'.repeat(maxContextChars - 10)}\n\nz` })
    expect(failed).toEqual([{ action: '2', reason: 'over-budget' }])
  })

  it('names what it cannot carry', () => {
    expect(answerOf('Stop', [context('1', 'a')], null).failed).toEqual([{ action: '1', reason: 'no-carrier' }])
    expect(answerOf('PostToolUse', [watch('2', '/a')], null)).toEqual({
      json: {},
      failed: [{ action: '2', reason: 'no-carrier' }],
    })
    expect(answerOf('SessionEnd', [], null).json).toEqual({})
  })
})

interface Scene {
  /** Kind of event → what the engines answer. */
  readonly actions?: Record<string, readonly Action[]>
  readonly hold?: string
  readonly stdin?: string
  readonly terminal?: boolean
  readonly env?: Record<string, string>
  readonly hang?: boolean
  readonly openError?: Error
}

async function hook(event: string, scene: Scene = {}) {
  const heard: SessionEvent[] = []
  const failed: string[] = []
  const opened: { cwd: string; door: string }[] = []
  let closed = 0
  let out = ''
  let err = ''
  const outrigger = {
    handle: async (one: SessionEvent) => {
      heard.push(one)
      if (scene.hang) await new Promise(() => undefined)
      return scene.actions?.[one.kind] ?? []
    },
    mayStop: async (one: SessionEvent) => {
      heard.push(one)
      return { hold: scene.hold ?? null, actions: scene.actions?.[one.kind] ?? [] }
    },
    failed: async (id: string, reason: string) => void failed.push(`${id} ${reason}`),
    close: async () => void closed++,
  } as unknown as Outrigger
  const io: Io = {
    env: scene.env ?? {},
    cwd: '/here',
    stdin: async function* () {
      yield new TextEncoder().encode(scene.stdin ?? JSON.stringify(payload()))
    },
    isStdinTerminal: scene.terminal ?? false,
    stdout: { write: text => void (out += text), ready: async () => undefined, isTerminal: false },
    stderr: { write: text => void (err += text), ready: async () => undefined, isTerminal: false },
    signal: new AbortController().signal,
  }
  const code = await answerHook(
    io,
    { event },
    {
      compose: () => outrigger,
      open: async ({ cwd, door }) => {
        if (scene.openError !== undefined) throw scene.openError
        opened.push({ cwd, door })
        const modes = createModes()
        return {
          root: '/p',
          clock: { now: () => 7, newId: () => 'n' },
          modes,
          close: async () => void closed++,
        } as unknown as Project
      },
    },
  )
  return { code, out, err, heard: heard.map(one => one.kind), failed, opened, closed }
}

describe('outrigger hook', () => {
  it('answers one event with one JSON', async () => {
    const { code, out, heard, closed, opened } = await hook('UserPromptSubmit', {
      actions: { 'person-spoke': [context('1', 'a')], 'turn-started': [context('2', 'b')] },
    })
    expect({ code, heard, closed }).toEqual({ code: 0, heard: ['person-spoke', 'turn-started'], closed: 2 })
    expect(out).toBe('{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"a\\n\\nb"}}\n')
    expect(opened).toEqual([{ cwd: '/p/docs', door: 'hook' }])
  })

  it('takes the project that the host names before the agent’s folder', async () => {
    expect((await hook('Stop', { env: { CLAUDE_PROJECT_DIR: '/named' } })).opened).toEqual([{ cwd: '/named', door: 'hook' }])
  })

  it('keeps the agent going when an engine holds, and does not call the turn ended', async () => {
    const { out, heard } = await hook('Stop', { hold: 'two documents' })
    expect(out).toBe('{"decision":"block","reason":"two documents"}\n')
    expect(heard).toEqual(['work-changed', 'turn-ending'])
  })

  it('tells the end of the turn when nobody holds, and reports what it could not carry', async () => {
    const { out, heard, failed } = await hook('Stop', { actions: { 'turn-ended': [watch('w', '/a')] } })
    expect({ out, heard, failed }).toEqual({
      out: '{}\n',
      heard: ['work-changed', 'turn-ending', 'turn-ended'],
      failed: ['w no-carrier'],
    })
  })

  it.each([
    ['no JSON', 'Stop', { stdin: 'garbage' }],
    ['no object', 'Stop', { stdin: '[]' }],
    ['nothing', 'Stop', { stdin: '' }],
    ['no session', 'Stop', { stdin: '{}' }],
    ['a person’s terminal', 'Stop', { terminal: true }],
    ['a project that cannot be opened', 'Stop', { openError: new OutriggerError('CONFIG_BAD', 'bad') }],
    ['a fault of ours', 'Stop', { openError: new TypeError('x') }],
    ['no event', '', {}],
  ] satisfies [string, string, Scene][])('lets the host go on with %s, and says why on stderr', async (_, event, scene) => {
    const { code, out, err, heard } = await hook(event, scene)
    expect({ code, out, heard }).toEqual({ code: 0, out: '{}\n', heard: [] })
    expect(err).toMatch(/^outrigger hook \w*: [A-Z_]+: /)
  })

  it.each([
    ['an event it does not know', 'PostToolBatch', {}],
    ['a module of ours in the host', 'SessionStart', { env: { OUTRIGGER_MOD: '1' } }],
  ] satisfies [string, string, Scene][])('has nothing to say to %s, and opens nothing', async (_, event, scene) => {
    expect(await hook(event, scene)).toMatchObject({ code: 0, out: '{}\n', err: '', heard: [], opened: [] })
  })

  it('lets the host go on with an event that somebody mistyped, and names the right one', async () => {
    const { code, out, err } = await hook('SesionStart', {})
    expect({ code, out }).toEqual({ code: 0, out: '{}\n' })
    expect(err).toContain('did you mean SessionStart?')
  })

  it('answers at the end of a session before the host’s patience ends', async () => {
    const before = performance.now()
    expect(await hook('SessionEnd', { hang: true })).toMatchObject({ code: 0, out: '{}\n' })
    expect(performance.now() - before).toBeLessThan(1_500)
  })
})
