import type { SessionEvent as HostEvent, SessionHeader } from '@deepseek-ai/dsh-session'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ownMessage } from '../../src/dsh/next/messages.ts'
import { contextMeasured, endReason, startedBy, startSource, toolFinished, translateRecord } from '../../src/dsh/translate.ts'
import { loopMessage } from '../../src/next-step/message.ts'

const origin = { session: 's', project: '/p', at: 5 }
const message = (source: object) => ({ source, content: [], role: 'user', id: 'm' }) as never
const record = (type: string, data: object) => translateRecord(origin, { type, data, seq: 0, time: 0 } as unknown as HostEvent)
const finished = (name: string, input: unknown, output = '', ok = true) =>
  toolFinished(origin, { id: 'c', name, input, ok, content: [{ type: 'text', text: output }], turn: 1, cwd: '/p/sub' })

describe('a message of the loop', () => {
  const own = (id: string, source: object | undefined) => ownMessage({ id, source } as never)

  it('is known in the form of either host, and by nobody else', () => {
    for (const hostFormat of [3, 4]) {
      const built = loopMessage({ turn: 7, gen: 'g1', round: 1, of: 2, text: 'Write it', hostFormat })
      expect(ownMessage(built as never)).toEqual({ offer: 'g1', as: 'plugin' })
    }
    expect(own('next-7-g1', { kind: 'plugin', plugin: 'other' })).toBeUndefined()
    expect(own('next-7-g1', { kind: 'user' })).toBeUndefined()
    expect(own('next-7-g1', undefined)).toBeUndefined()
    expect(own('next-run-g1', { kind: 'user' })).toEqual({ offer: 'g1', as: 'person' })
    expect(own('next-run-g1', { kind: 'plugin:outrigger' })).toBeUndefined()
  })
})

describe('who started a turn', () => {
  it.each([
    ['person', [{ kind: 'user' }]],
    ['goal', [{ kind: 'goal' }]],
    ['plugin', [{ kind: 'plugin', plugin: 'x' }]],
    ['plugin', [{ kind: 'plugin:x' }]],
    ['host', []],
    ['host', [{ kind: 'plugin', plugin: 'x', form: 'snapshot', sections: [] }]],
    ['person', [{ kind: 'plugin', plugin: 'x', form: 'snapshot', sections: [] }, { kind: 'user' }]],
    ['goal', [{ kind: 'goal' }, { kind: 'user' }]],
  ] as const)('is %s', (by, sources) => {
    expect(startedBy((sources as readonly never[]).map(message))).toBe(by)
  })
})

describe('how a session began', () => {
  const header = (more: object) => ({ version: 0, id: 's', createdAt: 0, ...more }) as unknown as SessionHeader
  it.each([
    ['startup', 'startup', {}],
    ['fork', 'startup', { parentSession: 'p', seedLength: 4 }],
    ['startup', 'startup', { parentSession: 'p', origin: 'subagent', seedLength: 4 }],
    ['resume', 'resume', { parentSession: 'p', seedLength: 4 }],
  ] as const)('is %s', (source, host, more) => {
    expect(startSource(host, header(more))).toBe(source)
  })
})

describe('a finished call', () => {
  it.each([
    ['write', { file_path: 'a.md' }, { written: ['sub/a.md'] }],
    ['write', { file_path: '/p/a.md' }, { written: ['a.md'] }],
    ['edit', { file_path: '../a.md' }, { written: ['a.md'] }],
    ['edit', { file_path: '../../q/a.md' }, { written: ['/q/a.md'] }],
    ['edit', { file_path: '/p' }, { written: ['.'] }],
    ['edit', { file_path: '/p/..a' }, { written: ['..a'] }],
    ['read', { file_path: 'a.md' }, { read: ['sub/a.md'] }],
    ['str_replace_editor', { command: 'create', path: '/p/x' }, { written: ['x'] }],
    ['constructor', { file_path: 'a.md' }, {}],
    ['write', null, {}],
  ] as const)('of %s with %j names %j', (name, input, touched) => {
    const { read, written } = finished(name, input)
    expect({ ...(read && { read }), ...(written && { written }) }).toEqual(touched)
  })

  it('of a shell has its exit code, another tool none', () => {
    expect(finished('bash', { command: 'x' }, 'out\n[exit code: 3]').exit).toBe(3)
    expect(finished('bash', { command: 'x' }, 'out').exit).toBe(0)
    expect(finished('read', {}, 'out')).not.toHaveProperty('exit')
  })

  it('keeps the first 12 and the last 4 KiB of a long text, cut between code points', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }), fc.nat(3), (piece, offset) => {
        const text = 'x'.repeat(offset) + piece.toWellFormed().repeat(Math.ceil(40_000 / Buffer.byteLength(piece.toWellFormed())))
        const { output } = finished('read', {}, text)
        const [head = '', note = '', tail = ''] = output.split(/\n(… \d+ bytes left out …)\n/)
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true)
        expect(Buffer.byteLength(head) + Buffer.byteLength(tail) + Number(/\d+/.exec(note)?.[0])).toBe(Buffer.byteLength(text))
        expect(Buffer.byteLength(output)).toBeLessThanOrEqual(16 * 1024 + 40)
      }),
      { numRuns: 50 },
    )
  })
})

describe('a row of the log', () => {
  it.each([
    ['session/title', { title: 'T', source: { kind: 'user' } }, { kind: 'title-changed', title: 'T', by: 'person' }],
    ['session/title', { title: 'T', source: { kind: 'fallback' } }, { kind: 'title-changed', title: 'T', by: 'generated' }],
    [
      'todo/write',
      { todos: [{ content: 'x', status: 'pending' }] },
      { kind: 'todos-changed', todos: [{ text: 'x', state: 'pending' }] },
    ],
    [
      'goal/change',
      { operation: 'create', goal: { id: 'g', revision: 2, objective: 'ship', phase: 'active' } },
      { kind: 'goal-changed', goal: 'ship', id: 'g', revision: 2, phase: 'active', operation: 'create' },
    ],
    ['goal/change', { operation: 'clear', cleared: {}, clearedAt: 1 }, { kind: 'goal-changed', goal: null, operation: 'clear' }],
    ['compaction/end', { compactionId: 'c', turn: 1 }, { kind: 'compacted', trigger: 'auto' }],
    ['compaction/end', { compactionId: 'c', turn: null, sourceCommandId: 'x' }, { kind: 'compacted', trigger: 'manual' }],
  ])('%s is told', (type, data, event) => {
    expect(record(type, data)).toEqual({ ...origin, ...event })
  })

  it.each([
    ['compaction/end', { error: 'no' }],
    ['assistant/chunk', {}],
    ['user/message', {}],
    ['goal/change', { operation: 'edit' }],
    ['goal/change', { operation: 'edit', goal: { id: 'g' } }],
    ['goal/change', { operation: 'edit', goal: { objective: 'ship' } }],
  ])('%s says nothing here', (type, data) => {
    expect(record(type, data)).toBeUndefined()
  })
})

it('a kind of turn end that nobody knows yet did not complete', () => {
  expect(endReason({ kind: 'invented' } as never)).toBe('error')
  expect(endReason({ kind: 'completed' })).toBe('completed')
})

it('tokens in the window are input, cached or not, and the answer', () => {
  const usage = { inputTokens: 1, cacheReadTokens: 10, cacheWriteTokens: 100, outputTokens: 1000 }
  expect(contextMeasured(origin, usage, 5000)).toMatchObject({ tokens: 1111, window: 5000 })
})
