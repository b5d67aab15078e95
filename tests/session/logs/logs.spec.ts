import { zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OutriggerError } from '../../../src/errors.ts'
import { decodeEvent } from '../../../src/session/decode-event.ts'
import type { SessionEvent } from '../../../src/session/events.ts'
import { emptyFolded, foldEvent } from '../../../src/session/folded.ts'
import { type LogSummary, openLog } from '../../../src/session/logs/index.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const jsonl = (...rows: readonly unknown[]) =>
  rows.map(row => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n') + '\n'
const zstd = (...batches: readonly string[]) => Buffer.concat(batches.map(batch => zstdCompressSync(bytes(batch))))

async function read(
  input: string | Uint8Array,
  { size = 7_001, maxLineBytes }: { size?: number; maxLineBytes?: number } = {},
): Promise<{ events: SessionEvent[]; summary: LogSummary }> {
  const all = typeof input === 'string' ? bytes(input) : input
  function* pieces() {
    for (let at = 0; at < all.length; at += size) yield all.subarray(at, at + size)
  }
  const log = await openLog(pieces(), { projectOf: folder => folder, ...(maxLineBytes !== undefined && { maxLineBytes }) })
  const events: SessionEvent[] = []
  for await (const event of log.events) events.push(event)
  return { events, summary: log.summary() }
}

/** An event without what is the same on all. */
const short = ({ session: _, project: __, ...rest }: SessionEvent) => rest

let seq = 0
const row = (type: string, data: object = {}, time = 100 + seq) => ({ type, seq: seq++, time, data })
const header = { type: 'session', version: 0, id: 'd1', createdAt: 50, cwd: '/p', delegationDepth: 0 }
const dsh = (...rows: readonly unknown[]) => {
  seq = 0
  return jsonl(header, ...rows)
}
const message = (kind: string, text: string, rest: object = {}) =>
  row('user/message', { content: [{ type: 'text', text }], source: { kind, ...rest }, role: 'user' })
const answer = (text: string, usage?: object) =>
  row('assistant/message', {
    message: {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text },
      ],
    },
    usage,
  })
const result = (id: string, text: string, isError = false) =>
  row('tool/result', {
    message: { content: [{ type: 'tool-result', toolCallId: id, content: [{ type: 'text', text }], isError }] },
  })

const skipSeq = (count: number): readonly never[] => {
  seq += count
  return []
}

const dshRows = () => {
  seq = 0
  return [
    row('permission/preset'),
    row('turn/start', { turn: 1 }),
    message('plugin', 'context', { form: 'snapshot' }),
    message('user', 'do it'),
    row('request/context', { contextWindow: 1000 }),
    { type: 'text-chunks', seq0: seq, time0: 109, data: { dt: [1, 0], texts: ['a', 'b', 'c'] } },
    ...skipSeq(3),
    answer('first', { inputTokens: 5, outputTokens: 2, cacheReadTokens: 10, cacheWriteTokens: 1 }),
    row('tool/call', { turn: 1, callId: 'c1', name: 'bash', arguments: '{"command":"npm test"}' }),
    result('c1', 'no\n[exit code: 3]'),
    row('tool/call', { turn: 1, callId: 'c2', name: 'edit', arguments: 'no json' }),
    result('c2', 'failed', true),
    row('tool/code-dispatch', {
      rootCallId: 'r',
      parentCallId: 'r',
      subCallId: 'r.1',
      name: 'write',
      arguments: { path: '/p/x.ts' },
      isError: false,
      content: [{ type: 'text', text: 'ok' }],
    }),
    answer('last'),
    row('turn/end', { turn: 1, reason: { kind: 'completed' } }),
  ]
}

describe('a DSH log', () => {
  it('is frames of rows, and becomes our events', async () => {
    const [first, ...rest] = dshRows()
    const { events, summary } = await read(zstd(jsonl(header), jsonl(first), jsonl(...rest)), { size: 13 })
    expect(events.map(short)).toEqual([
      { kind: 'session-started', at: 50, source: 'startup', cwd: '/p', root: '/p' },
      { kind: 'turn-started', at: 101, turn: 1, by: 'person' },
      { kind: 'person-spoke', at: 103, text: 'do it' },
      { kind: 'context-measured', at: 108, tokens: 18, window: 1000 },
      {
        kind: 'tool-finished',
        at: 110,
        turn: 1,
        call: 'c1',
        tool: 'bash',
        input: { command: 'npm test' },
        ok: true,
        output: 'no\n[exit code: 3]',
        exit: 3,
        cwd: '/p',
      },
      {
        kind: 'tool-finished',
        at: 112,
        turn: 1,
        call: 'c2',
        tool: 'edit',
        input: 'no json',
        ok: false,
        output: 'failed',
        cwd: '/p',
      },
      {
        kind: 'tool-finished',
        at: 113,
        turn: 1,
        call: 'r.1',
        parent: 'r',
        tool: 'write',
        input: { path: '/p/x.ts' },
        ok: true,
        output: 'ok',
        written: ['x.ts'],
        cwd: '/p',
      },
      {
        kind: 'turn-ended',
        at: 115,
        turn: 1,
        reason: 'completed',
        answer: 'last',
        earlier: ['first'],
        usage: { input: 16, output: 2 },
      },
    ])
    expect(summary).toEqual({
      format: 'dsh',
      session: 'd1',
      events: 8,
      skipped: { 'permission/preset': 1, 'user/message': 1, chunk: 3 },
      gaps: 0,
      torn: null,
    })
  })

  it.each([
    ['user', 'person'],
    ['goal', 'goal'],
    ['plugin', 'plugin'],
    ['tool', 'host'],
  ])('says who started a turn by its first message: %s is %s', async (kind, by) => {
    const { events } = await read(
      dsh(row('turn/start', { turn: 4 }), message('plugin', 's', { form: 'snapshot' }), message(kind, 'x')),
    )
    expect(events[1]).toMatchObject({ kind: 'turn-started', turn: 4, by })
    expect(events.some(event => event.kind === 'person-spoke')).toBe(kind === 'user')
  })

  it('without a message before the end of the turn was started by the host, its events in order', async () => {
    const { events } = await read(
      dsh(
        row('turn/start', { turn: 1 }),
        row('session/title', { title: 'T', source: { kind: 'user' } }),
        row('turn/end', { turn: 1, reason: { kind: 'aborted', reason: {} } }),
      ),
    )
    expect(events.slice(1).map(short)).toEqual([
      { kind: 'turn-started', at: 100, turn: 1, by: 'host' },
      { kind: 'title-changed', at: 101, title: 'T', by: 'person' },
      { kind: 'turn-ended', at: 102, turn: 1, reason: 'aborted', answer: '' },
    ])
  })

  it('leaves a turn open that has no end', async () => {
    const { events } = await read(dsh(row('turn/start', { turn: 1 })))
    expect(events.map(event => event.kind)).toEqual(['session-started', 'turn-started'])
  })

  it.each<[object, object]>([
    [row('session/title', { title: 'T', source: { kind: 'provider' } }), { kind: 'title-changed', title: 'T', by: 'generated' }],
    [
      row('todo/write', { todos: [{ content: 'x', status: 'in_progress' }] }),
      { kind: 'todos-changed', todos: [{ text: 'x', state: 'in_progress' }] },
    ],
    [
      row('goal/change', {
        operation: 'pause',
        goal: { id: 'g', revision: 3, objective: 'ship', phase: 'paused', maxGoalRounds: 9 },
      }),
      { kind: 'goal-changed', goal: 'ship', id: 'g', revision: 3, phase: 'paused', operation: 'pause' },
    ],
    [row('goal/change', { cleared: {}, clearedAt: 1 }), { kind: 'goal-changed', goal: null, operation: 'clear' }],
    [row('goal/change', { operation: 'remove' }), { kind: 'goal-changed', goal: null, operation: 'clear' }],
    [
      row('command/run', { name: '/keel', args: 'why a', source: { kind: 'user' } }),
      { kind: 'command-run', name: 'keel', args: 'why a', by: 'person' },
    ],
    [row('compaction/end', {}), { kind: 'compacted' }],
    [
      row('turn/end', { turn: 2, reason: { kind: 'max-tokens' } }),
      { kind: 'turn-ended', turn: 2, reason: 'max-tokens', answer: '' },
    ],
  ])('maps %j', async (given, expected) => {
    const { events } = await read(jsonl(header, given))
    expect(events[1]).toMatchObject(expected)
  })

  it('counts what gives no event', async () => {
    const { events, summary } = await read(
      dsh(
        row('compaction/end', { error: 'x' }),
        row('goal/change', { goal: { id: 'g' } }),
        row('step/start'),
        row('step/start'),
        result('unknown', ''),
        'no json',
        7,
      ),
    )
    expect(events).toHaveLength(1)
    expect(summary.skipped).toEqual({ 'compaction/end': 1, 'goal/change': 1, 'step/start': 2, 'tool/result': 1, bad: 2 })
  })

  it('starts again where a resumed part begins, unless that is its first row', async () => {
    const { events } = await read(dsh(row('session/end-seed'), row('turn/start', { turn: 1 }), row('session/end-seed')))
    expect(events.map(event => [event.kind, 'source' in event && event.source])).toEqual([
      ['session-started', 'startup'],
      ['turn-started', false],
      ['session-started', 'resume'],
    ])
  })

  it('of a fork, and of a helper, says so', async () => {
    expect((await read(jsonl({ ...header, parentSession: 'd0' }))).events[0]).toMatchObject({ source: 'fork' })
    const helper = await read(jsonl({ ...header, delegationDepth: 1 }, row('compaction/end')))
    expect(helper.events.map(event => event.agent)).toEqual(['d1', 'd1'])
    expect((await read(jsonl({ ...header, origin: 'subagent' }))).events[0]?.agent).toBe('d1')
  })

  it('with jumps in its numbers has gaps; packed rows stand for several', async () => {
    seq = 0
    const rows = [
      row('a'),
      { type: 'tool-call-chunks', seq0: 1, time0: 0, data: { args: ['a', 'b', 'c', 'd'] } },
      { ...row('b'), seq: 5 },
      { ...row('c'), seq: 9 },
    ]
    expect((await read(jsonl(header, ...rows))).summary).toMatchObject({ gaps: 1, skipped: { chunk: 4 } })
  })

  it('is read to the frame that a crash cut off', async () => {
    const whole = zstd(jsonl(header), jsonl(...dshRows()))
    const cut = zstdCompressSync(bytes(jsonl(row('compaction/end'))))
    const { events, summary } = await read(Buffer.concat([whole, cut.subarray(0, cut.length - 1)]))
    expect(events).toHaveLength(8)
    expect(summary.torn).toEqual({ bytes: cut.length - 1 })
  })

  it('steps over skippable frames, and stops at bytes that are no frame', async () => {
    const skippable = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])
    const [one, two] = [zstd(jsonl(header)), zstd(jsonl(row('compaction/end')))]
    expect((await read(Buffer.concat([one, skippable, two, skippable]))).events).toHaveLength(2)
    expect((await read(Buffer.concat([skippable, one, two]))).events).toHaveLength(2)
    const broken = await read(Buffer.concat([one, Buffer.from('oops'), two]), { size: 5 })
    expect(broken.events).toHaveLength(1)
    expect(broken.summary.torn).toEqual({ bytes: 4 + two.length })
  })

  it('keeps to its caps', async () => {
    const { events } = await read(
      dsh(
        row('tool/call', { callId: 'c', name: 'x', arguments: JSON.stringify({ a: 'y'.repeat(70_000) }) }),
        result('c', 'z'.repeat(20_000)),
      ),
    )
    expect(events[1]).toMatchObject({ input: { truncated: true } })
    expect((events[1] as { output: string }).output).toContain('3616 bytes left out')
  })
})

const cc = (type: string, rest: object = {}, at = '2026-01-01T00:00:01.000Z') => ({
  type,
  sessionId: 'c1',
  cwd: '/p',
  timestamp: at,
  uuid: `u${type}`,
  ...rest,
})
const says = (text: string, rest: object = {}) => cc('user', { message: { role: 'user', content: text }, ...rest })
const replies = (id: string, content: object, rest: object = {}) =>
  cc('assistant', { message: { id, role: 'assistant', content: [content], ...rest } })
const toolResult = (id: string, content: unknown, isError = false) =>
  cc('user', { message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content, is_error: isError }] } })
const usage = { input_tokens: 1, cache_creation_input_tokens: 2, cache_read_input_tokens: 3, output_tokens: 4 }
const transcript = () =>
  jsonl(
    { type: 'summary', leaf: 'x' },
    says('do it', { promptId: 'p1' }),
    replies('m1', { type: 'text', text: 'Let me' }, { usage }),
    replies('m1', { type: 'text', text: ' see.' }, { usage }),
    replies(
      'm1',
      { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'npm test 2>&1' } },
      { usage, stop_reason: 'tool_use' },
    ),
    toolResult('t1', 'Exit code 1\nfailed', true),
    replies('m2', { type: 'text', text: 'It fails.' }, { usage, stop_reason: 'end_turn' }),
    cc('system', { subtype: 'turn_duration' }, '2026-01-01T00:00:09.000Z'),
  )

describe('a Claude Code transcript', () => {
  it('becomes our events', async () => {
    const { events, summary } = await read(transcript(), { size: 11 })
    const at = Date.parse('2026-01-01T00:00:01.000Z')
    expect(events.map(short)).toEqual([
      { kind: 'session-started', at, source: 'startup', cwd: '/p', root: '/p' },
      { kind: 'turn-started', at, turn: 1, by: 'person', turnId: 'p1' },
      { kind: 'person-spoke', at, text: 'do it' },
      { kind: 'context-measured', at, tokens: 10, window: 0 },
      {
        kind: 'tool-finished',
        at,
        turn: 1,
        call: 't1',
        tool: 'bash',
        input: { command: 'npm test 2>&1' },
        ok: false,
        output: 'Exit code 1\nfailed',
        exit: 1,
        cwd: '/p',
      },
      { kind: 'context-measured', at: Date.parse('2026-01-01T00:00:01.000Z'), tokens: 10, window: 0 },
      {
        kind: 'turn-ended',
        at: at + 8_000,
        turn: 1,
        turnId: 'p1',
        reason: 'completed',
        answer: 'It fails.',
        earlier: ['Let me see.'],
        usage: { input: 12, output: 8 },
      },
    ])
    expect(summary).toEqual({ format: 'claude-code', session: 'c1', events: 7, skipped: { summary: 1 }, gaps: 0, torn: null })
  })

  it('gives the exit code of a failed test, and none of a piped one', async () => {
    const facts = async (command: string, result: object) => {
      const { events } = await read(
        jsonl(says('x'), replies('m', { type: 'tool_use', id: 't', name: 'Bash', input: { command } }), result),
      )
      return events.reduce((folded, event) => foldEvent(folded, event).folded, emptyFolded('c1', '/p', 0)).facts
    }
    expect((await facts('npm test 2>&1', toolResult('t', 'Exit code 1\nx', true))).lastTest).toMatchObject({
      command: 'npm test 2>&1',
      exit: 1,
    })
    expect((await facts('npm test | tail -5', toolResult('t', 'ok'))).lastTest).toMatchObject({ exit: null })
  })

  it.each<[string, object[], object[]]>([
    [
      'a prompt ends an open turn',
      [says('a'), says('b')],
      [
        { kind: 'turn-ended', turn: 1, reason: 'completed' },
        { kind: 'turn-started', turn: 2 },
        { kind: 'person-spoke', text: 'b' },
        { kind: 'turn-ended', turn: 2 },
      ],
    ],
    ['an interruption', [says('a'), says('[Request interrupted by user]')], [{ kind: 'turn-ended', reason: 'aborted' }]],
    ['the end of the file', [says('a')], [{ kind: 'turn-ended', reason: 'completed' }]],
    [
      'too many tokens',
      [says('a'), replies('m', { type: 'text', text: 'x' }, { stop_reason: 'max_tokens' })],
      [{ kind: 'turn-ended', reason: 'max-tokens', answer: 'x' }],
    ],
    [
      'todos',
      [
        says('a'),
        replies('m', { type: 'tool_use', id: 't', name: 'TodoWrite', input: { todos: [{ content: 'x', status: 'completed' }] } }),
      ],
      [{ kind: 'todos-changed', todos: [{ text: 'x', state: 'completed' }] }, { kind: 'turn-ended' }],
    ],
    [
      'a compaction',
      [says('a'), cc('system', { subtype: 'compact_boundary', compactMetadata: { trigger: 'auto' } })],
      [{ kind: 'compacted', trigger: 'auto' }, { kind: 'turn-ended' }],
    ],
    [
      'a local command',
      [says('a'), cc('system', { subtype: 'local_command', commandRun: { command: 'keel', args: 'why' } })],
      [{ kind: 'command-run', name: 'keel', args: 'why' }, { kind: 'turn-ended' }],
    ],
    [
      'a title',
      [says('a'), cc('custom-title', { customTitle: 'T' })],
      [{ kind: 'title-changed', title: 'T', by: 'person' }, { kind: 'turn-ended' }],
    ],
    [
      'rows of others',
      [
        says('a'),
        { ...says('b'), sessionId: 'c2' },
        { ...says('c'), isSidechain: true },
        says('m', { isMeta: true }),
        says('s', { isCompactSummary: true }),
      ],
      [{ kind: 'turn-ended' }],
    ],
  ])('knows %s', async (_, rows, expected) => {
    const { events } = await read(jsonl(...rows))
    expect(events.slice(3)).toMatchObject(expected)
    expect(events).toHaveLength(3 + expected.length)
  })

  it('knows a command that was typed, and a turn of the host', async () => {
    const typed = await read(jsonl(says('<command-name>/keel</command-name>\n<command-args>why a</command-args>')))
    expect(typed.events.map(event => event.kind)).toEqual(['session-started', 'turn-started', 'command-run', 'turn-ended'])
    expect(typed.events[2]).toMatchObject({ name: 'keel', args: 'why a', by: 'person' })
    const meta = await read(jsonl(says('feedback', { isMeta: true })))
    expect(meta.events[1]).toMatchObject({ kind: 'turn-started', by: 'host', turnId: 'uuser' })
    const plugin = await read(jsonl(says('go on', { origin: { kind: 'plugin', name: 'x' } })))
    expect(plugin.events.map(event => event.kind)).toEqual(['session-started', 'turn-started', 'turn-ended'])
    expect(plugin.events[1]).toMatchObject({ by: 'plugin' })
  })

  it('takes a missing time from the row before, at its beginning from the first that has one', async () => {
    const { timestamp: _, ...untimed } = says('a')
    const { events } = await read(jsonl(untimed, cc('system', { subtype: 'x' }, '2026-02-02T00:00:00.000Z'), untimed))
    expect(new Set(events.map(event => event.at))).toEqual(new Set([Date.parse('2026-02-02T00:00:00.000Z')]))
  })
})

const eventsHeader = { kind: 'outrigger-events', version: 1, session: 'e1', project: '/p' }

describe('a file of events', () => {
  it('is read with the defaults of its header', async () => {
    const { events, summary } = await read(
      jsonl(
        eventsHeader,
        { kind: 'person-spoke', text: 'x', at: '2026-01-01T00:00:00.000Z' },
        { schema: 'outrigger.session.event/1', kind: 'turn-started', session: 'other', at: 5 },
        { kind: 'tool-finished', call: 'c', tool: 'Edit', input: { file_path: '/p/a' }, at: 6 },
        { kind: 'never-heard-of' },
        { kind: 'person-spoke', text: 7 },
        { text: 'x' },
      ),
    )
    expect(events).toEqual([
      { kind: 'person-spoke', session: 'e1', project: '/p', at: Date.parse('2026-01-01T00:00:00.000Z'), text: 'x' },
      { kind: 'turn-started', session: 'other', project: '/p', at: 5, turn: 0, by: 'person' },
      expect.objectContaining({ tool: 'edit', written: ['a'], ok: true }),
    ])
    expect(summary.skipped).toEqual({ 'never-heard-of': 1, bad: 2 })
  })

  it('names the field of an event that is wrong', () => {
    const base = { session: 's', project: '/p', at: 1 }
    expect(decodeEvent({ kind: 'turn-ended', ...base, reason: 'why' })).toEqual({ kind: 'bad', field: 'reason' })
    expect(decodeEvent({ kind: 'turn-ended', ...base, earlier: [1] })).toEqual({ kind: 'bad', field: 'earlier' })
    expect(decodeEvent({ kind: 'todos-changed', ...base, todos: [{}] })).toEqual({ kind: 'bad', field: 'todos' })
    expect(decodeEvent({ kind: 'compacted' }, { session: 's', project: '/p' })).toEqual({ kind: 'bad', field: 'at' })
    expect(decodeEvent({ kind: 'toString', ...base })).toEqual({ kind: 'unknown', name: 'toString' })
  })
})

describe('any bytes', () => {
  it.each([
    ['nothing', ''],
    ['text', 'hello\n'],
    ['JSON of something else', '{"a":1}\n'],
    ['another version of events', jsonl({ ...eventsHeader, version: 2 })],
    ['zstd of something else', zstd('{"a":1}\n')],
  ])('that are no log are refused: %s', async (_, input) => {
    await expect(read(input)).rejects.toMatchObject({ code: 'SESSION_BAD_LOG', exit: 2 })
  })

  it('of a line that is too long are passed over', async () => {
    const long = JSON.stringify({ type: 'x', data: 'y'.repeat(500) })
    const { summary, events } = await read(jsonl(header, long, { type: 'compaction/end', data: {} }), {
      maxLineBytes: 400,
      size: 50,
    })
    expect(summary.skipped).toEqual({ bad: 1 })
    expect(events).toHaveLength(2)
  })

  const logs = (): readonly (string | Uint8Array)[] => [
    zstd(jsonl(header), ...dshRows().map(one => jsonl(one))),
    jsonl(header, ...dshRows()),
    transcript(),
    jsonl(eventsHeader, { kind: 'person-spoke', text: 'é😀', at: 1 }, { kind: 'turn-ended', at: 2 }),
  ]

  it('cut off anywhere give a beginning of the events, or no known log', async () => {
    for (const log of logs()) {
      const all = typeof log === 'string' ? bytes(log) : log
      const whole = (await read(all)).events
      for (let end = 0; end <= all.length; end += end < 60 ? 1 : 11) {
        try {
          const { events, summary } = await read(all.subarray(0, end))
          const common = events.filter((event, index) => JSON.stringify(event) === JSON.stringify(whole[index])).length
          expect(common).toBeGreaterThanOrEqual(events.length - 2)
          expect(summary.events).toBe(events.length)
        } catch (error) {
          if (!(error instanceof OutriggerError)) throw error
          expect(error.code).toBe('SESSION_BAD_LOG')
        }
      }
    }
  })

  it('with damage never throw anything else', async () => {
    const all = logs().map(log => (typeof log === 'string' ? bytes(log) : log))
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...all),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 }),
        fc.integer({ min: 1, max: 40 }),
        async (log, edits, size) => {
          const damaged = Uint8Array.from(log)
          for (const [at, byte] of edits) damaged[at % damaged.length] = byte
          try {
            const { events } = await read(damaged, { size })
            events.reduce((folded, event) => foldEvent(folded, event).folded, emptyFolded('s', '/p', 0))
          } catch (error) {
            if (!(error instanceof OutriggerError)) throw error
          }
        },
      ),
      { numRuns: 250 },
    )
  })

  it('of any JSON rows never throw', async () => {
    const key = fc.constantFrom(
      'type',
      'data',
      'message',
      'content',
      'sessionId',
      'usage',
      'turn',
      'source',
      'subtype',
      'reason',
      'time',
      'seq',
      'timestamp',
    )
    const types = [
      'user',
      'assistant',
      'system',
      'user/message',
      'assistant/message',
      'tool/result',
      'tool/call',
      'turn/start',
      'turn/end',
      'todo/write',
      'text-chunks',
      'goal/change',
    ]
    const value = fc.oneof(fc.constantFrom(...types, 'c1', 'tool_result'), fc.jsonValue())
    const rows = fc.array(fc.dictionary(key, fc.oneof(value, fc.dictionary(key, value), fc.array(fc.dictionary(key, value)))), {
      maxLength: 12,
    })
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(header, { type: 'x', sessionId: 'c1' }, eventsHeader), rows, async (first, rest) => {
        await read(jsonl(first, ...rest))
      }),
      { numRuns: 200 },
    )
  })
})
