import { describe, expect, it } from 'vitest'
import { busy, foldWork, noWork } from '../../src/session/busy.ts'
import { completeTool, foldCalls, joinCall, noCalls } from '../../src/session/calls.ts'
import { capInput, capOutput, capText, firstBytes } from '../../src/session/caps.ts'
import type { SessionEvent, ToolFinished } from '../../src/session/events.ts'
import type { SessionFacts } from '../../src/session/facts.ts'
import { emptyFacts, fold } from '../../src/session/fold.ts'
import { placeIn } from '../../src/session/place.ts'
import { foldWrites, markWrites, noWrites, writesSince } from '../../src/session/writes.ts'
import { segmentsOf } from '../../src/text/checks.ts'

const base = { session: 's', project: '/p', at: 1 }
// biome-ignore lint/suspicious/noExplicitAny: the tests give the fields that matter
const event = (kind: SessionEvent['kind'], rest: any = {}): SessionEvent => ({ ...base, kind, ...rest }) as SessionEvent
const tool = (name: string, input: unknown, rest: Partial<ToolFinished> = {}): ToolFinished =>
  completeTool({ ...base, kind: 'tool-finished', turn: 1, call: 'c', tool: name, input, ok: true, output: '', ...rest })
const run = (...events: readonly SessionEvent[]): SessionFacts =>
  events.reduce((facts, next) => fold(facts, next), emptyFacts('s', '/p', 0))

describe('facts', () => {
  it('count turns, and those that a person started', () => {
    const facts = run(
      event('turn-started', { turn: 1, by: 'person', at: 5 }),
      event('turn-ended', { turn: 1, reason: 'completed', answer: 'one', at: 6 }),
      event('turn-started', { turn: 2, by: 'host', at: 7 }),
      event('turn-ended', { turn: 2, reason: 'aborted', answer: 'two', at: 8 }),
      event('turn-started', { turn: 3, by: 'goal', at: 9 }),
    )
    expect(facts).toMatchObject({
      turns: 2,
      personTurns: 1,
      lastAnswer: 'two',
      turn: { turn: 3, by: 'goal', startedAt: 9 },
      lastAt: 9,
    })
  })

  it('never go back in time', () => {
    expect(run(event('person-spoke', { text: '', at: 9 }), event('person-spoke', { text: '', at: 3 })).lastAt).toBe(9)
  })

  it('keep of an answer the first 64 KiB', () => {
    const { lastAnswer } = run(event('turn-ended', { turn: 1, reason: 'completed', answer: 'é'.repeat(40_000) }))
    expect(Buffer.byteLength(lastAnswer!)).toBe(65_536)
  })

  it('know the files by what touched them last, also one named like a part of Object', () => {
    const facts = run(
      tool('Read', { file_path: '/p/constructor' }, { at: 3 }),
      tool('Edit', { file_path: '/p/a.ts' }, { at: 4 }),
      tool('Write', { file_path: '/p/__proto__' }, { at: 4, agent: 'helper' }),
      event('file-changed', { path: 'a.ts', by: 'outside', at: 5 }),
    )
    expect(Object.getPrototypeOf(facts.files)).toBe(null)
    expect(Object.keys(facts.files)).toEqual(['constructor', 'a.ts', '__proto__'])
    expect(facts.files['constructor']).toEqual({ readAt: 3, writtenAt: null, by: 'agent' })
    expect(facts.files['a.ts']).toEqual({ readAt: null, writtenAt: 5, by: 'outside' })
    const prototype = '__proto__'
    expect(facts.files[prototype]).toEqual({ readAt: null, writtenAt: 4, by: 'agent' })
  })

  it('of before stay as they were, however long the session', () => {
    let facts = emptyFacts('s', '/p', 0)
    const kept: SessionFacts[] = []
    for (let index = 0; index < 10_000; index++) {
      facts = fold(facts, tool('Edit', { path: `f${index % 700}` }, { at: index }))
      if (index % 1_999 === 0) kept.push(facts)
    }
    expect(Object.keys(facts.files)).toHaveLength(700)
    expect(facts.files['f5']?.writtenAt).toBe(9_805)
    expect(kept.map(({ files }) => files['f0']?.writtenAt)).toEqual([0, 1_400, 3_500, 5_600, 7_700, 9_800])
    expect(Object.keys(kept[0]!.files)).toEqual(['f0'])
    expect(JSON.parse(JSON.stringify(kept[0]!)).files).toEqual({ f0: { readAt: null, writtenAt: 0, by: 'agent' } })
  })

  it('take nothing but files from a helper', () => {
    const facts = run(
      event('turn-started', { turn: 1, by: 'person', agent: 'h' }),
      tool('Bash', { command: 'npm test' }, { agent: 'h' }),
      event('todos-changed', { todos: [{ text: 'x', state: 'pending' }], agent: 'h' }),
      event('session-ended', { reason: 'x', agent: 'h' }),
    )
    expect(facts).toEqual({ ...emptyFacts('s', '/p', 0), lastAt: 1 })
  })

  it('are empty again after a start, a resume and a fork', () => {
    for (const source of ['startup', 'resume', 'fork']) {
      const facts = run(
        event('turn-ended', { turn: 1, reason: 'completed', answer: 'x' }),
        event('compacted'),
        event('session-started', { source, title: 'T', model: 'm', at: 7 }),
      )
      expect(facts).toEqual({ ...emptyFacts('s', '/p', 7), source, title: 'T', model: 'm' })
    }
  })

  it('keep files and commands over a clear, and count a compaction', () => {
    const before = [
      tool('Edit', { path: 'a' }),
      tool('Bash', { command: 'ls' }),
      event('context-measured', { tokens: 5, window: 100 }),
      event('turn-ended', { turn: 1, reason: 'completed', answer: 'x' }),
    ]
    const cleared = run(...before, event('session-started', { source: 'clear', session: 't' }))
    expect(cleared).toMatchObject({ session: 't', turn: null, context: null, lastAnswer: null, commands: [{ command: 'ls' }] })
    expect(Object.keys(cleared.files)).toEqual(['a'])
    expect(run(...before, event('session-started', { source: 'compact' })).compactions).toBe(1)
    expect(run(...before, event('compacted')).compactions).toBe(1)
  })

  it('keep the last known window', () => {
    const facts = run(
      event('context-measured', { tokens: 5, window: 100 }),
      event('context-measured', { tokens: 6, window: 0, at: 2 }),
    )
    expect(facts.context).toEqual({ tokens: 6, window: 100, compactsAt: null, at: 2 })
  })

  it('replace todos, goal, agents, title', () => {
    const todos = [{ text: 'x', state: 'pending' }]
    const facts = run(
      event('todos-changed', { todos }),
      event('goal-changed', { goal: 'g' }),
      event('goal-changed', { goal: null }),
      event('agents-listed', { agents: [] }),
      event('title-changed', { title: 't' }),
    )
    expect(facts).toMatchObject({ todos, goal: null, agents: [], title: 't' })
  })
})

describe('commands', () => {
  it('are kept with one blank for white space, the newest 50', () => {
    const facts = run(
      ...Array.from({ length: 60 }, (_, index) => tool('Bash', { command: ` echo\t ${index}\n` }, { call: `c${index}` })),
    )
    expect(facts.commands).toHaveLength(50)
    expect(facts.commands[0]).toEqual({ command: 'echo 10', exit: 0, at: 1, call: 'c10', test: false })
  })

  it.each([
    ['npm test', true],
    ['npm test 2>&1', true],
    ['npm test:unit', true],
    ['npm testing', false],
    ['cd x && CI=1 NODE_ENV="a b" npx vitest run', true],
    ['echo "npm test; npm test"', false],
    ["echo 'a' ; ./gradlew test", true],
    ['ls\nmake check', true],
    ['false || pytest -q', true],
    ['grep -r "pytest" .', false],
    ['bundle exec rspec', true],
    ['python3 -m pytest tests', true],
    ['node  --test', true],
  ])('%j is a test: %s', (command, test) => {
    expect(run(tool('Bash', { command })).commands[0]?.test).toBe(test)
  })

  it('that are piped have an unknown exit when they are tests', () => {
    expect(run(tool('Bash', { command: 'npm test | tail -5' })).lastTest).toMatchObject({ exit: null, test: true })
    expect(run(tool('Bash', { command: 'npm test || true' })).lastTest).toMatchObject({ exit: 0 })
    expect(run(tool('Bash', { command: 'ls | wc' })).commands[0]).toMatchObject({ exit: 0, test: false })
    expect(run(tool('Bash', { command: 'npm test' }, { ok: false, output: 'Exit code 1\nx' })).lastTest).toMatchObject({
      exit: 1,
    })
  })

  it('of the configuration count too', () => {
    const facts = fold(emptyFacts('s', '/p', 0), tool('bash', { command: 'just check' }), { testCommands: ['just check'] })
    expect(facts.lastTest?.command).toBe('just check')
  })

  it('of other tools and without a command are none', () => {
    expect(run(tool('Edit', { command: 'ls' }), tool('Bash', { command: 7 }), tool('Bash', null)).commands).toEqual([])
  })

  it('split outside quotes', () => {
    expect(segmentsOf(`A=1 a "x;\\"y" && b 'c|d' \\; | e;; f\n`).segments).toEqual([`a "x;\\"y"`, `b 'c|d' \\;`, 'e', 'f'])
  })
})

describe('calls', () => {
  it('get name, exit and paths of the project', () => {
    expect(tool('Bash', { command: 'x' }, { output: 'y\n[exit code: 4]', ok: false }).exit).toBe(4)
    expect(tool('Edit', { file_path: '/p/src/../a.ts' }).written).toEqual(['a.ts'])
    expect(tool('Edit', { path: 'b.ts' }, { cwd: '/p/sub' }).written).toEqual(['sub/b.ts'])
    expect(tool('Read', { path: '/etc/hosts' }).read).toEqual(['/etc/hosts'])
    expect('exit' in tool('Edit', {}, { exit: 3 })).toBe(false)
    const once = tool('MultiEdit', { path: 'x' }, { read: ['/p/y'] })
    expect(completeTool(once)).toEqual(once)
    const below = tool('Edit', { path: 'b.ts' }, { cwd: '/p/sub' })
    expect(completeTool(below)).toEqual(below)
  })

  it('made inside a program are joined to the outer call', () => {
    const one = joinCall(noCalls, tool('Edit', { path: 'a' }, { call: 'c1', parent: 'root' }))
    const two = joinCall(one.calls, tool('Read', { path: 'b' }, { call: 'c2', parent: 'root' }))
    const outer = joinCall(two.calls, tool('run_code', {}, { call: 'root' }))
    expect(outer.event).toMatchObject({ read: ['b'], written: ['a'] })
    expect(outer.calls.open.size).toBe(0)
    expect(foldCalls(two.calls, event('session-started', { source: 'clear' }))).toBe(noCalls)
  })

  it('that never finish are forgotten', () => {
    let calls = noCalls
    for (let index = 0; index < 500; index++) calls = joinCall(calls, tool('Edit', { path: 'a' }, { parent: `r${index}` })).calls
    expect(calls.open.size).toBe(200)
  })
})

describe('writes', () => {
  it('since a mark, in order', () => {
    const first = foldWrites(noWrites, tool('Edit', { path: 'a' }), 1)
    const mark = markWrites(first)
    const second = foldWrites(first, tool('Edit', { path: 'b' }, { agent: 'h', turn: null, call: 'd', at: 7 }), 4)
    expect(writesSince(second, mark)).toEqual([{ path: 'b', at: 7, turn: 4, call: 'd', agent: 'h' }])
    expect(writesSince(second, 0).map(write => write.path)).toEqual(['a', 'b'])
  })

  it('stay right when old ones fall off', () => {
    let writes = noWrites
    const many = Array.from({ length: 6_000 }, (_, index) => `f${index}`)
    writes = foldWrites(writes, tool('run', {}, { written: many }), 1)
    const mark = markWrites(writes)
    writes = foldWrites(writes, tool('run', {}, { written: many }), 2)
    expect(writesSince(writes, mark)).toHaveLength(6_000)
    expect(writesSince(writes, 0)).toHaveLength(10_000)
  })
})

describe('busy', () => {
  it.each<[string, SessionEvent[], string[]]>([
    ['a turn', [event('turn-started', { turn: 1, by: 'host' })], ['running']],
    [
      'no turn',
      [event('turn-started', { turn: 1, by: 'host' }), event('turn-ended', { turn: 1, reason: 'completed', answer: '' })],
      [],
    ],
    ['jobs', [event('work-changed', { jobs: 2 })], ['background']],
    ['jobs that ended', [event('work-changed', { jobs: 2 }), event('work-changed', { jobs: 0 })], []],
    [
      'what is not said stays',
      [event('work-changed', { approvals: 1 }), event('work-changed', { children: 1 })],
      ['approval', 'background'],
    ],
    [
      'everything',
      [
        event('work-changed', { otherLoop: true, planMode: true, questions: 1, queued: 1, draining: true }),
        event('draft-changed', { empty: false }),
      ],
      ['running', 'queued', 'asked', 'plan-mode', 'typing', 'other-loop'],
    ],
    ['words end typing', [event('draft-changed', { empty: false }), event('person-spoke', { text: 'x' })], []],
    ['a helper is not the session', [event('turn-started', { turn: 1, by: 'host', agent: 'h' })], []],
    ['a start forgets', [event('work-changed', { jobs: 2 }), event('session-started', { source: 'startup' })], []],
  ])('%s', (_, events, reasons) => {
    expect([...busy(events.reduce(foldWork, noWork))]).toEqual(reasons)
  })
})

describe('places', () => {
  it.each([
    ['/p', '/p/a', 'a'],
    ['/p', '/pq/a', '/pq/a'],
    ['/p/', './a//b/../c', 'a/c'],
    ['/p', '../x', '/x'],
    ['/p', '/p', '.'],
    ['/', '/a', 'a'],
    ['C:\\p', 'C:\\p\\a\\b', 'a/b'],
    ['C:\\p', 'a', 'a'],
    ['/p', 'a\\b', 'a\\b'],
  ])('in %s of %s is %s', (project, path, place) => {
    expect(placeIn(project, path)).toBe(place)
  })
})

describe('caps', () => {
  it('cut between code points', () => {
    expect(firstBytes('aé😀b', 3)).toBe('aé')
    expect(firstBytes('aé😀b', 6)).toBe('aé')
    expect(firstBytes('aé😀b', 7)).toBe('aé😀')
    expect(firstBytes('😀', 1)).toBe('')
    expect(capText('x'.repeat(2 ** 20 + 5))).toHaveLength(2 ** 20)
  })

  it('keep both ends of an output', () => {
    const output = `${'a'.repeat(20_000)}😀${'z'.repeat(4_095)}`
    expect(capOutput(output)).toBe(`${'a'.repeat(12_288)}\n… 7716 bytes left out …\n${'z'.repeat(4_095)}`)
    expect(capOutput('short')).toBe('short')
  })

  it('replace an input that is too large', () => {
    expect(capInput({ a: 'x'.repeat(70_000) })).toEqual({ truncated: true })
    expect(capInput({ a: 1 })).toEqual({ a: 1 })
    expect(capInput(undefined)).toBe(undefined)
  })
})
