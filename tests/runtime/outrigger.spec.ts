import { describe, expect, it } from 'vitest'
import { OutriggerError } from '../../src/errors.ts'
import type { Action } from '../../src/session/actions.ts'
import type { EventKind } from '../../src/session/events.ts'
import { allDoor, event, everything, type FakeEngine, fakeEngine, runtimeOf, texts, type Wanted } from '../support/engines.ts'

const says = (text: string): Wanted => ({ kind: 'add-context', text, summary: text })
const holds = (text: string): Wanted => ({ kind: 'hold-stop', text })
const start = event('session-started', { source: 'startup' })
const words = event('person-spoke', { text: 'do it' })
const turn = (rest: object = {}) => event('turn-started', { turn: 0, by: 'person', ...rest })
const tool = (call: string, rest: object = {}) =>
  event('tool-finished', { turn: 0, call, tool: 'Edit', input: { file_path: '/p/a.ts' }, ok: true, output: '', ...rest })
const ending = (rest: object = {}) => event('turn-ending', { turn: 0, answer: 'done', again: false, ...rest })
const over = (rest: object = {}) => event('turn-ended', { turn: 0, reason: 'completed', answer: 'done', ...rest })
const on =
  (kind: EventKind, ...wanted: readonly Wanted[]) =>
  (heard: { readonly kind: EventKind }) =>
    heard.kind === kind ? wanted : []
const turnsOf = (fake: FakeEngine) => fake.heard.map(({ event }) => `${event.kind} ${'turn' in event ? event.turn : '-'}`)

describe('one event', () => {
  it('goes through the engines in their order, one session at a time and sessions side by side', async () => {
    const log: string[] = []
    const gates: (() => void)[] = []
    const slow = (name: string) => async (heard: { readonly session: string; readonly at: number }) => {
      log.push(`${name} ${heard.session}${heard.at}`)
      if (heard.session === 's' && heard.at === 1) await new Promise<void>(resolve => gates.push(resolve))
      return []
    }
    const { outrigger } = runtimeOf([
      fakeEngine('next', slow('next')),
      fakeEngine('pack', slow('pack')),
      fakeEngine('keel', slow('keel')),
    ])
    const first = outrigger.handle({ ...words, at: 1 })
    const second = outrigger.handle({ ...words, at: 2 })
    await outrigger.handle({ ...words, session: 't', at: 3 })
    expect(log).toEqual(['keel s1', 'keel t3', 'pack t3', 'next t3'])
    while (log.length < 9) {
      gates.shift()?.()
      await new Promise(resolve => setImmediate(resolve))
    }
    await Promise.all([first, second])
    expect(log.slice(4)).toEqual(['pack s1', 'next s1', 'keel s2', 'pack s2', 'next s2'])
  })

  it('comes with the facts that hold after it, and what keeps the session busy', async () => {
    const keel = fakeEngine('keel')
    const { outrigger } = runtimeOf([keel])
    await outrigger.handle(turn())
    await outrigger.handle(tool('c1'))
    expect(keel.heard[1]?.event).toMatchObject({ tool: 'edit', written: ['a.ts'], turn: 1 })
    expect(Object.keys(keel.heard[1]!.facts.files)).toEqual(['a.ts'])
    expect(keel.heard[1]?.busy).toEqual(['running'])
    expect(outrigger.facts('s')?.turn?.turn).toBe(1)
  })

  it('of a tool call comes once, and its sub-calls are joined to it', async () => {
    const keel = fakeEngine('keel')
    const { outrigger } = runtimeOf([keel])
    await outrigger.handle(tool('c1', { parent: 'root' }))
    await outrigger.handle(tool('c1', { parent: 'root' }))
    await outrigger.handle(tool('root', { tool: 'run_code', input: {} }))
    expect(keel.heard.map(({ event }) => event.kind === 'tool-finished' && event.written)).toEqual([['a.ts'], ['a.ts']])
  })

  it('that an engine of ours caused by writing a file is dropped', async () => {
    const keel = fakeEngine('keel')
    const { outrigger } = runtimeOf([keel], { isOwnWrite: path => path === 'own.md' })
    await outrigger.handle(event('file-changed', { path: 'own.md', by: 'outside' }))
    await outrigger.handle(event('file-changed', { path: 'other.md', by: 'outside' }))
    expect(keel.heard).toHaveLength(1)
  })

  it('waits its turn behind an operation of the session', async () => {
    const keel = fakeEngine('keel')
    const { outrigger } = runtimeOf([keel])
    let open = () => {}
    const operation = outrigger.enqueue('s', () => new Promise<void>(resolve => (open = resolve)))
    const handled = outrigger.handle(words)
    await new Promise(resolve => setImmediate(resolve))
    expect(keel.heard).toEqual([])
    open()
    await Promise.all([operation, handled])
    expect(keel.heard).toHaveLength(1)
  })
})

describe('turns', () => {
  it.each<[string, object[], string[]]>([
    ['words first', [words, turn(), over()], ['person-spoke -', 'turn-started 1', 'turn-ending 1', 'turn-ended 1']],
    [
      'turn first',
      [turn(), words, over(), turn()],
      ['turn-started 1', 'person-spoke -', 'turn-ending 1', 'turn-ended 1', 'turn-started 2'],
    ],
    ['a start whose last end never came', [turn(), turn()], ['turn-started 1', 'turn-started 2']],
    [
      'words in an open turn',
      [turn(), words, words, turn()],
      ['turn-started 1', 'person-spoke -', 'person-spoke -', 'turn-started 2'],
    ],
    [
      'the host counts',
      [turn({ turn: 7 }), over({ turn: 7 }), turn({ turn: 9 })],
      ['turn-started 7', 'turn-ending 7', 'turn-ended 7', 'turn-started 9'],
    ],
    [
      'a number never falls',
      [turn({ turn: 7, turnId: 'a' }), turn({ turn: 2, turnId: 'b' })],
      ['turn-started 7', 'turn-started 8'],
    ],
    [
      'a resumed host counts anew',
      [turn({ turn: 1 }), over({ turn: 1 }), start, turn({ turn: 1 })],
      ['turn-started 1', 'turn-ending 1', 'turn-ended 1', 'session-started -', 'turn-started 2'],
    ],
    [
      'the same number again',
      [turn({ turn: 1 }), turn({ turn: 1 }), over({ turn: 1 }), over({ turn: 1 })],
      ['turn-started 1', 'turn-ending 1', 'turn-ended 1'],
    ],
    [
      'the same id again',
      [turn({ turnId: 'a' }), turn({ turnId: 'a' }), over({ turnId: 'a' }), over({ turnId: 'a' }), turn({ turnId: 'b' })],
      ['turn-started 1', 'turn-ending 1', 'turn-ended 1', 'turn-started 2'],
    ],
    ['the same end again, uncounted', [turn(), over(), over()], ['turn-started 1', 'turn-ending 1', 'turn-ended 1']],
    [
      'ends of which the start was not seen',
      [over({ turn: 4 }), over({ turn: 5 })],
      ['turn-ending 4', 'turn-ended 4', 'turn-ending 5', 'turn-ended 5'],
    ],
    ['a helper has none', [turn({ agent: 'h', turn: 5 }), turn()], ['turn-started 5', 'turn-started 1']],
  ])('are counted: %s', async (_, events, expected) => {
    const keel = fakeEngine('keel')
    const { outrigger } = runtimeOf([keel])
    for (const one of events) await outrigger.handle(one as never)
    expect(turnsOf(keel)).toEqual(expected)
  })

  it('that are redelivered reach next only, and are no facts', async () => {
    const [keel, next] = [fakeEngine('keel'), fakeEngine('next')]
    const { outrigger } = runtimeOf([keel, next])
    for (const one of [turn({ turnId: 'a' }), over({ turnId: 'a' }), over({ turnId: 'a' })]) await outrigger.handle(one)
    expect(keel.kinds().filter(kind => kind === 'turn-ended')).toHaveLength(1)
    expect(next.kinds().filter(kind => kind === 'turn-ended')).toHaveLength(2)
    expect(outrigger.facts('s')?.turns).toBe(1)
  })

  it('go on counting in another process', async () => {
    const keel = fakeEngine('keel')
    const first = runtimeOf([keel])
    await first.outrigger.handle(turn())
    await first.outrigger.handle(over())
    const again = fakeEngine('keel')
    const second = runtimeOf([again], { store: async () => first.store })
    await second.outrigger.handle(start)
    await second.outrigger.handle(turn())
    expect(turnsOf(again)).toEqual(['session-started -', 'turn-started 2'])
  })
})

describe('the end of a turn', () => {
  it('asks, then tells: the question is ours when the door knows only the end', async () => {
    const keel = fakeEngine('keel', on('turn-ending', holds('not yet')))
    const { outrigger, ledger } = runtimeOf([keel])
    await outrigger.handle(turn())
    expect(await outrigger.handle(over())).toEqual([])
    await outrigger.idle()
    expect(keel.kinds()).toEqual(['turn-started', 'turn-ending', 'turn-ended', 'action-failed'])
    expect(keel.heard[1]?.facts.turn?.turn).toBe(1)
    expect(ledger).toMatchObject([{ engine: 'keel', what: 'not-carried-out', reason: 'no-carrier' }])
  })

  it.each(['aborted', 'error', 'max-tokens'])('asks nothing when the turn was %s', async reason => {
    const keel = fakeEngine('keel')
    const { outrigger } = runtimeOf([keel])
    await outrigger.handle(turn())
    await outrigger.handle(over({ reason }))
    expect(keel.kinds()).toEqual(['turn-started', 'turn-ended'])
  })

  it('is asked about once when the door asks', async () => {
    const keel = fakeEngine('keel')
    const { outrigger } = runtimeOf([keel])
    await outrigger.handle(turn())
    expect(await outrigger.mayStop(ending())).toEqual({ hold: null, actions: [] })
    await outrigger.handle(over())
    expect(keel.kinds()).toEqual(['turn-started', 'turn-ending', 'turn-ended'])
  })

  it('is held once in a turn by all engines together, and what was said then is not lost', async () => {
    const fakes = [
      fakeEngine('companion', on('turn-ending', holds('two'))),
      fakeEngine('keel', on('turn-ending', holds('one\n'))),
    ]
    const { outrigger, ledger } = runtimeOf(fakes)
    await outrigger.handle(turn())
    expect((await outrigger.mayStop(ending({ answer: 'first' }))).hold).toBe('one\n\ntwo')
    expect((await outrigger.mayStop(ending({ answer: 'second' }))).hold).toBe(null)
    await outrigger.idle()
    expect(ledger.map(line => line.reason)).toEqual(['held-already', 'held-already'])
    await outrigger.handle(over({ answer: 'third', earlier: ['zero'] }))
    expect(fakes[1]!.heard.map(({ event }) => event).find(({ kind }) => kind === 'turn-ending')).toMatchObject({ again: false })
    expect(fakes[1]!.heard.map(({ event }) => event).filter(({ kind }) => kind === 'turn-ending')[1]).toMatchObject({
      again: true,
    })
    expect(fakes[1]!.heard.map(({ event }) => event).find(({ kind }) => kind === 'turn-ended')).toMatchObject({
      answer: 'third',
      earlier: ['zero', 'first'],
    })
  })

  it('may be held again in the next turn, but never when the host says again', async () => {
    const { outrigger } = runtimeOf([fakeEngine('keel', on('turn-ending', holds('wait')))])
    await outrigger.handle(turn())
    expect((await outrigger.mayStop(ending({ again: true }))).hold).toBe(null)
    expect((await outrigger.mayStop(ending())).hold).toBe('wait')
    await outrigger.handle(over())
    await outrigger.handle(turn())
    expect((await outrigger.mayStop(ending())).hold).toBe('wait')
  })

  it('is held once also when the second process does not remember', async () => {
    const door = { ...allDoor, shortLived: true }
    const first = runtimeOf([fakeEngine('keel', on('turn-ending', holds('wait')))], { door })
    await first.outrigger.handle(turn())
    expect((await first.outrigger.mayStop(ending())).hold).toBe('wait')
    const second = runtimeOf([fakeEngine('keel', on('turn-ending', holds('wait')))], { door, store: async () => first.store })
    expect((await second.outrigger.mayStop(ending())).hold).toBe(null)
  })

  it('of a helper is never held', async () => {
    const keel = fakeEngine('keel', on('turn-ending', holds('wait')))
    const { outrigger } = runtimeOf([keel])
    expect((await outrigger.mayStop(ending({ agent: 'h' }))).hold).toBe(null)
    expect(keel.heard).toEqual([])
    expect((await outrigger.mayStop(ending())).hold).toBe('wait')
  })

  it('cannot be held by a door that holds nothing', async () => {
    const door = { ...allDoor, carries: new Set([...everything].filter(kind => kind !== 'hold-stop')) }
    const { outrigger, ledger } = runtimeOf([fakeEngine('keel', on('turn-ending', holds('wait')))], { door })
    expect((await outrigger.mayStop(ending())).hold).toBe(null)
    await outrigger.idle()
    expect(ledger).toMatchObject([{ reason: 'no-carrier' }])
  })
})

describe('state', () => {
  it('is saved before an action leaves', async () => {
    const { outrigger, store } = runtimeOf([fakeEngine('keel', on('person-spoke', says('hello')))])
    const actions = await outrigger.handle(words)
    expect(texts(actions)).toEqual(['hello'])
    expect(await store.get('keel/session/s')).toEqual({ value: 1, version: 1 })
  })

  it('that another process moved is loaded and the event handled again', async () => {
    const keel = fakeEngine('keel', (_, __, ___, count) => [says(`count ${count}`)])
    const { outrigger, store } = runtimeOf([keel])
    await outrigger.handle(words)
    await store.put('keel/session/s', 10, 1)
    expect(texts(await outrigger.handle(words))).toEqual(['count 10'])
    expect(await store.get('keel/session/s')).toEqual({ value: 11, version: 3 })
  })

  it('that a person removed from the store is kept here, and stored again', async () => {
    const keel = fakeEngine('keel', (_, __, ___, count) => [says(`count ${count}`)])
    const { outrigger, store, ledger } = runtimeOf([keel])
    await outrigger.handle(words)
    await outrigger.handle(words)
    await store.remove('keel/session/s')
    expect(texts(await outrigger.handle(words))).toEqual(['count 2'])
    expect(await store.get('keel/session/s')).toEqual({ value: 3, version: 1 })
    expect(ledger).toEqual([])
  })

  it('that did not change is not written', async () => {
    const keel = fakeEngine('keel')
    const engine = { ...keel.engine, handle: async (state: number) => ({ state, actions: [], ledger: [] }) }
    const { outrigger, store } = runtimeOf([{ ...keel, engine }])
    await outrigger.handle(words)
    expect(await store.get('keel/session/s')).toBe(undefined)
  })

  it('that cannot be read begins anew, and says so', async () => {
    const keel = fakeEngine('keel', (_, __, ___, count) => [says(`count ${count}`)])
    const { outrigger, store, ledger } = runtimeOf([keel])
    await store.put('keel/session/s', { broken: true }, 0)
    expect(texts(await outrigger.handle(words))).toEqual(['count 0'])
    expect(await store.get('keel/session/s')).toEqual({ value: 1, version: 2 })
    await outrigger.idle()
    expect(ledger).toMatchObject([{ what: 'failed', reason: 'INTERNAL' }])
  })

  it('lives in memory when the store cannot be used, and the status line says so', async () => {
    const keel = fakeEngine('keel', (_, __, ___, count) => [says(`count ${count}`)])
    const { outrigger, store } = runtimeOf([keel])
    store.failWith(new OutriggerError('STORE_UNAVAILABLE', 'read only', { exit: 3 }))
    expect(texts(await outrigger.handle(words))).toEqual(['count 0'])
    const actions = await outrigger.handle(words)
    expect(texts(actions)).toEqual(['count 1'])
    expect(outrigger.status('s')).toBe('outrigger: no store')
    expect(outrigger.modes()).toEqual(['no store'])
  })

  it('of sessions that nobody used for a month is removed', async () => {
    const { outrigger, store, time } = runtimeOf([fakeEngine('keel')])
    await outrigger.handle({ ...words, session: 'old' })
    await time.moveTo(1_000 + 31 * 24 * 3_600_000, outrigger.idle)
    const again = runtimeOf([fakeEngine('keel')], { store: async () => store, clock: time.clock })
    await again.outrigger.handle({ ...start, session: 'new', at: time.clock.now() })
    await again.outrigger.idle()
    expect((await store.list('')).filter(key => key.includes('old'))).toEqual([])
    expect(await store.list('session/')).toEqual(['session/new'])
  })
})

describe('time', () => {
  const slowly =
    (resolvers: (() => void)[], wanted: readonly Wanted[], kinds: readonly EventKind[]) =>
    async (heard: { readonly kind: EventKind }) => {
      if (!kinds.includes(heard.kind)) return []
      await new Promise<void>(resolve => resolvers.push(resolve))
      return wanted
    }
  const tick = () => new Promise<void>(resolve => setImmediate(resolve))

  it.each<[EventKind, object, number]>([
    ['session-started', start, 9_000],
    ['person-spoke', words, 2_000],
    ['turn-started', turn(), 2_000],
    ['tool-finished', tool('c'), 1_000],
  ])('of %s lets the host go on; the rest goes to the next carrier', async (kind, given, limit) => {
    const open: (() => void)[] = []
    const fakes = [
      fakeEngine('keel', on(kind, says('in time'))),
      fakeEngine('companion', slowly(open, [says('late'), { kind: 'notify', level: 'info', text: 'n' }], [kind])),
    ]
    const { outrigger, time, delivered } = runtimeOf(fakes)
    let answered: readonly Action[] | undefined
    void outrigger.handle(given as never).then(actions => (answered = actions))
    await tick()
    await time.moveTo(1_000 + limit - 1, tick)
    expect(answered).toBe(undefined)
    await time.moveTo(1_000 + limit, tick)
    expect(texts(answered!)).toEqual(['in time'])
    open[0]!()
    await outrigger.idle()
    expect(delivered).toMatchObject([{ kind: 'notify', text: 'n' }])
    const next = kind === 'tool-finished' ? words : tool('next')
    expect(texts(await outrigger.handle(next))).toEqual(['late'])
  })

  it('makes a late hold a context', async () => {
    const open: (() => void)[] = []
    const { outrigger, time } = runtimeOf([fakeEngine('keel', slowly(open, [holds('look here')], ['turn-ending']))])
    const asked = outrigger.mayStop(ending())
    await tick()
    await time.moveTo(10_000, tick)
    expect((await asked).hold).toBe(null)
    open[0]!()
    await outrigger.idle()
    expect(texts(await outrigger.handle(words))).toEqual(['look here'])
  })

  it('does not stop a session for ever', async () => {
    const keel = fakeEngine('keel', slowly([], [], ['person-spoke']))
    const { outrigger, time, ledger } = runtimeOf([keel])
    const handled = outrigger.handle(words)
    await tick()
    await time.moveTo(200_000, tick)
    await handled
    await outrigger.handle(tool('c'))
    expect(ledger).toMatchObject([{ what: 'failed', reason: 'ENGINE_HUNG' }])
    expect(keel.kinds()).toEqual(['person-spoke', 'tool-finished'])
  })
})

describe('a failure', () => {
  const failing = (code: string) => () => {
    throw new OutriggerError(code, 'it broke')
  }

  it('costs the actions of that event, one ledger line, and is told once', async () => {
    const keel = fakeEngine('keel', failing('KEEL_BROKE'))
    const pack = fakeEngine('pack', () => [says('still here')])
    const { outrigger, ledger } = runtimeOf([keel, pack])
    const first = await outrigger.handle(words)
    expect(texts(first)).toEqual(['still here'])
    expect(texts(first, 'notify')).toEqual([expect.stringContaining('keel failed (KEEL_BROKE)')])
    const second = await outrigger.handle(words)
    expect(texts(second, 'notify')).toEqual([])
    await outrigger.idle()
    expect(ledger.map(({ what, reason }) => [what, reason])).toEqual([
      ['failed', 'KEEL_BROKE'],
      ['failed', 'KEEL_BROKE'],
    ])
  })

  it('three times in a row sets the engine aside until the next start', async () => {
    const keel = fakeEngine('keel', failing('KEEL_BROKE'))
    const { outrigger } = runtimeOf([keel])
    for (let count = 0; count < 5; count++) await outrigger.handle({ ...tool(`c${count}`) })
    expect(keel.heard).toHaveLength(3)
    expect(outrigger.status('s')).toBe('outrigger: keel: set aside')
    await outrigger.handle(start)
    expect(keel.heard).toHaveLength(4)
    expect(outrigger.modes()).toEqual([])
  })

  it('between successes does not set it aside', async () => {
    let count = 0
    const keel = fakeEngine('keel', () => {
      if (count++ % 3 !== 2) throw new Error('no')
      return []
    })
    const { outrigger } = runtimeOf([keel])
    for (let call = 0; call < 9; call++) await outrigger.handle(tool(`c${call}`))
    expect(keel.heard).toHaveLength(9)
  })

  it('of its configuration is a mode, and the engine is asked again', async () => {
    const keel = fakeEngine('keel', failing('KEEL_BAD_CONFIG'))
    const { outrigger } = runtimeOf([keel])
    for (let count = 0; count < 5; count++) await outrigger.handle(tool(`c${count}`))
    expect(keel.heard).toHaveLength(5)
    expect(outrigger.modes()).toEqual(['keel: config'])
  })

  it('keeps the state as it was', async () => {
    let fails = false
    const keel = fakeEngine('keel', (_, __, ___, count) => {
      if (fails) throw new Error('no')
      return [says(`count ${count}`)]
    })
    const { outrigger } = runtimeOf([keel])
    await outrigger.handle(words)
    fails = true
    await outrigger.handle(words)
    fails = false
    expect(texts(await outrigger.handle(words))).toEqual(['count 1'])
  })
})

describe('actions of several engines', () => {
  it('are merged: contexts in engine order, one an engine', async () => {
    const fakes = [
      fakeEngine('pack', on('person-spoke', says('pack'))),
      fakeEngine('keel', on('person-spoke', says('one\n'), says('two'))),
    ]
    const { outrigger } = runtimeOf(fakes)
    const actions = await outrigger.handle(words)
    expect(actions).toMatchObject([
      { engine: 'keel', text: 'one\n\ntwo', summary: 'one\n' },
      { engine: 'pack', text: 'pack' },
    ])
    await outrigger.failed(actions[0]!.id, 'host:no room')
    expect(fakes[1]!.kinds()).toEqual(['person-spoke', 'action-failed', 'action-failed'])
    expect(fakes[0]!.kinds()).toEqual(['person-spoke'])
  })

  it('give one status line, mode and urgent ones first', async () => {
    const status = (text: string | null, urgent = false): Wanted => ({ kind: 'status', text, urgent })
    const fakes = [
      fakeEngine('keel', (_, __, ___, count) => [status(count === 0 ? 'keel ok' : null)]),
      fakeEngine('pack', () => [status('pack ok')]),
      fakeEngine('next', () => [status('armed', true)]),
    ]
    const { outrigger } = runtimeOf(fakes, { modes: () => ['no git'] })
    expect(texts(await outrigger.handle(words), 'status')).toEqual(['outrigger: no git · armed · pack ok · keel ok'])
    expect(texts(await outrigger.handle(words), 'status')).toEqual(['outrigger: no git · armed · pack ok'])
    expect(texts(await outrigger.handle(words), 'status')).toEqual([])
    expect(outrigger.status('s')).toBe('outrigger: no git · armed · pack ok')
  })

  it('clear the status line when nobody says anything', async () => {
    const { outrigger } = runtimeOf([
      fakeEngine('keel', (_, __, ___, count) => [{ kind: 'status', text: count === 0 ? 'x' : null }]),
    ])
    expect(texts(await outrigger.handle(words), 'status')).toEqual(['x'])
    expect(texts(await outrigger.handle(words), 'status')).toEqual([null])
  })

  it('give one notice of a text in a turn, and keep its time in bounds', async () => {
    const { outrigger } = runtimeOf([
      fakeEngine('keel', () => [
        { kind: 'notify', level: 'info', text: 'n' },
        { kind: 'notify', level: 'info', text: 'n', ms: 5 },
        { kind: 'notify', level: 'info', text: 'm', ms: 5 },
        { kind: 'notify', level: 'info', text: 'l', ms: 90_000 },
      ]),
    ])
    expect(await outrigger.handle(turn())).toMatchObject([
      { text: 'n', ms: 4_000 },
      { text: 'm', ms: 1_000 },
      { text: 'l', ms: 60_000 },
    ])
    expect(await outrigger.handle(tool('c'))).toEqual([])
    expect(await outrigger.handle(turn())).toHaveLength(3)
  })

  it('watch the union, and say it when it changed', async () => {
    const watch = (...paths: string[]): Wanted => ({ kind: 'watch', paths })
    const fakes = [
      fakeEngine('keel', (_, __, ___, count) => [watch('/p/b', ...(count > 1 ? ['/p/0'] : []))]),
      fakeEngine('companion', () => [watch('/p/a', '/p/b')]),
    ]
    const { outrigger } = runtimeOf(fakes)
    expect(await outrigger.handle(words)).toMatchObject([{ kind: 'watch', paths: ['/p/a', '/p/b'] }])
    expect(await outrigger.handle(words)).toEqual([])
    expect(await outrigger.handle(words)).toMatchObject([{ kind: 'watch', paths: ['/p/0', '/p/a', '/p/b'] }])
  })

  it('let the newest offer win, one submission a moment, one model call an engine', async () => {
    const fakes = [
      fakeEngine('pack', on('turn-started', { kind: 'start-fresh', seed: {} })),
      fakeEngine(
        'next',
        on(
          'turn-started',
          { kind: 'submit', text: 'go', as: 'plugin' },
          { kind: 'show-offer', offer: { n: 1 } },
          { kind: 'show-offer', offer: { n: 2 } },
          { kind: 'ask-model', id: 'q1' },
          { kind: 'ask-model', id: 'q2' },
        ),
      ),
    ]
    const { outrigger, ledger } = runtimeOf(fakes)
    const actions = await outrigger.handle(turn())
    expect(actions.map(({ kind }) => kind)).toEqual(['start-fresh', 'show-offer', 'ask-model'])
    expect(actions[1]).toMatchObject({ offer: { n: 2 } })
    await outrigger.idle()
    expect(ledger.map(line => line.reason)).toEqual(['held-already', 'held-already'])
    await outrigger.handle(event('model-answered', { ask: 'q1', text: '' }))
    const hearers = () => fakes.map(({ heard }) => heard.filter(each => each.event.kind === 'model-answered').length)
    expect(hearers()).toEqual([0, 1])
    // Nobody knows whose this is.
    await outrigger.handle(event('model-answered', { ask: 'q0', text: '' }))
    expect(hearers()).toEqual([1, 2])
    expect((await outrigger.handle(turn())).map(({ kind }) => kind)).toContain('ask-model')
  })

  it('of a kind that the door does not carry fail, and the engine hears it', async () => {
    const door = { ...allDoor, carries: new Set<never>() }
    const keel = fakeEngine('keel', on('person-spoke', { kind: 'notify', level: 'info', text: 'n', id: 'n1' }))
    const { outrigger, ledger } = runtimeOf([keel], { door })
    expect(await outrigger.handle(words)).toEqual([])
    await outrigger.idle()
    expect(keel.heard[1]?.event).toMatchObject({ kind: 'action-failed', action: 'n1', reason: 'no-carrier' })
    expect(ledger).toMatchObject([{ what: 'not-carried-out', reason: 'no-carrier', detail: { action: 'notify', id: 'n1' } }])
  })

  it('to clear a line that nobody showed miss nothing', async () => {
    const door = { ...allDoor, carries: new Set<never>() }
    const answers = [{ kind: 'status', text: 'keel 1 behind' } as const, { kind: 'status', text: null } as const]
    const keel = fakeEngine('keel', (seen, _context, _facts, count) =>
      seen.kind === 'person-spoke' && count < 4 ? [answers.shift()!] : [],
    )
    const { outrigger, ledger } = runtimeOf([keel], { door })
    await outrigger.handle(words)
    await outrigger.handle(words)
    await outrigger.idle()
    expect(ledger.map(({ text }) => text)).toEqual(['keel 1 behind'])
  })

  it('to show something stand in the ledger where nothing is shown, once while they are the same', async () => {
    const door = { ...allDoor, carries: new Set<never>(), shortLived: true }
    const keel = () => fakeEngine('keel', on('person-spoke', { kind: 'status', text: 'keel 1 behind' }))
    const first = runtimeOf([keel()], { door })
    await first.outrigger.handle(words)
    await first.outrigger.handle(words)
    await first.outrigger.close()
    const second = runtimeOf([keel()], { door, store: async () => first.store })
    await second.outrigger.handle(words)
    await second.outrigger.close()
    expect([...first.ledger, ...second.ledger]).toMatchObject([{ what: 'not-carried-out', text: 'keel 1 behind' }])
    expect(second.outrigger.status('s')).toBe('keel 1 behind')
  })

  it('never answer failures for ever', async () => {
    const door = { ...allDoor, carries: new Set<never>() }
    const keel = fakeEngine('keel', () => [{ kind: 'notify', level: 'info', text: 'n' }])
    const { outrigger } = runtimeOf([keel], { door })
    await outrigger.handle(words)
    await outrigger.idle()
    expect(keel.kinds()).toEqual(['person-spoke', 'action-failed'])
  })

  it('reply only to the command that is being handled', async () => {
    const keel = fakeEngine('keel', () => [{ kind: 'reply', text: 'yes', ok: true }])
    const { outrigger } = runtimeOf([keel])
    expect(await outrigger.handle(event('command-run', { name: 'keel', args: '', by: 'person' }))).toMatchObject([
      { kind: 'reply' },
    ])
    expect(await outrigger.handle(words)).toEqual([])
  })
})

describe('room', () => {
  const asking = (name: 'keel' | 'companion' | 'repl' | 'pack' | 'next', length = 0) =>
    fakeEngine(name, () => (length === 0 ? [] : [says('x'.repeat(length))]))

  it.each<[string, object, boolean, number[]]>([
    ['session-started', start, false, [55_200, 55_200, 57_600, 60_000, 60_000]],
    ['session-started, narrow', start, true, [5_000, 5_000, 7_400, 9_800, 9_800]],
    ['compacted', event('compacted'), false, [55_200, 55_200, 57_600, 60_000, 60_000]],
    ['person-spoke', words, false, [8_600, 8_600, 9_200, 9_800, 9_800]],
    ['turn-started', turn(), false, [8_600, 8_600, 9_200, 9_800, 9_800]],
    ['tool-finished', tool('c'), false, [6_800, 8_000, 8_000, 8_000, 8_000]],
    ['work-changed', event('work-changed'), false, [0, 0, 0, 0, 0]],
    [
      '/unpack',
      event('command-run', { name: 'unpack', args: '', by: 'person' }),
      false,
      [55_200, 55_200, 57_600, 60_000, 60_000],
    ],
  ])('of %s is shared, with a floor for those that speak later', async (_, given, narrow, expected) => {
    const fakes = (['keel', 'companion', 'repl', 'pack', 'next'] as const).map(name => asking(name))
    const { outrigger } = runtimeOf(fakes, { door: { ...allDoor, narrow } })
    await outrigger.handle(given as never)
    expect(fakes.map(fake => fake.heard[0]?.chars)).toEqual(expected)
  })

  it('of the end of a turn is 10,000, in command hooks 9,800', async () => {
    for (const [narrow, chars] of [
      [false, [9_100, 10_000]],
      [true, [8_900, 9_800]],
    ] as const) {
      const fakes = [asking('keel'), asking('companion')]
      const { outrigger } = runtimeOf(fakes, { door: { ...allDoor, narrow } })
      await outrigger.mayStop(ending())
      expect(fakes.map(fake => fake.heard[0]?.chars)).toEqual(chars)
    }
  })

  it('is nothing in a door that carries no context', async () => {
    const keel = asking('keel')
    const { outrigger } = runtimeOf([keel], { door: { ...allDoor, carries: new Set() } })
    await outrigger.handle(words)
    expect(keel.heard[0]?.chars).toBe(0)
  })

  it('that one engine used is not there for the next', async () => {
    const fakes = [asking('keel', 4_000), asking('companion')]
    const { outrigger } = runtimeOf(fakes)
    await outrigger.handle(tool('c'))
    expect(fakes[1]?.heard[0]?.chars).toBe(4_000)
  })

  it('of one turn ends at 32,000', async () => {
    const keel = asking('keel', 7_000)
    const { outrigger } = runtimeOf([keel])
    await outrigger.handle(turn())
    for (let count = 0; count < 5; count++) await outrigger.handle(tool(`c${count}`))
    expect(keel.heard.map(({ chars }) => chars)).toEqual([9_800, 8_000, 8_000, 8_000, 4_000, 0, 0])
    await outrigger.handle(turn())
    expect(keel.heard.at(-1)?.chars).toBe(9_800)
  })

  it('cuts what is longer at a line end and says how much', async () => {
    const lines = Array.from({ length: 2_000 }, (_, index) => `line ${index}`)
    const { outrigger } = runtimeOf([fakeEngine('keel', on('person-spoke', says(lines.join('\n'))))])
    const [text] = texts(await outrigger.handle(words)) as string[]
    expect(text!.length).toBeLessThanOrEqual(9_800)
    const shown = text!.split('\n')
    expect(shown.slice(0, -1)).toEqual(lines.slice(0, shown.length - 1))
    const left = lines.join('\n').length - shown.slice(0, -1).join('\n').length
    expect(shown.at(-1)).toBe(`… cut: ${left} characters; outrigger keel check shows all`)
  })

  it.each([
    ['a fence', 'keel', `${'a\n'.repeat(5_000)}\`\`\`\nx\n\`\`\``],
    ['marks of notes', 'pack', 'a\n'.repeat(5_000)],
  ] as const)('leaves out whole what a cut would break: %s', async (_, name, text) => {
    const fake = fakeEngine(name, on('person-spoke', says(text)))
    const { outrigger, ledger } = runtimeOf([fake])
    expect(await outrigger.handle(words)).toEqual([])
    await outrigger.idle()
    expect(ledger).toMatchObject([{ reason: 'over-budget' }])
    expect(fake.kinds()).toEqual(['person-spoke', 'action-failed'])
  })

  it('under 600 is none', async () => {
    const fakes = [asking('keel', 7_500), fakeEngine('companion', () => [says('a\n'.repeat(400)), says('fits')])]
    const { outrigger, ledger } = runtimeOf([{ ...fakes[0]!, engine: fakes[0]!.engine }, fakes[1]!])
    const actions = await outrigger.handle(
      event('tool-finished', { turn: 0, call: 'c', tool: 'x', input: {}, ok: true, output: '' }),
    )
    expect(texts(actions)[1]).toContain('fits')
    expect(ledger.filter(line => line.reason === 'over-budget')).toEqual([])
    const small = runtimeOf([fakeEngine('companion', () => [says('y'.repeat(7_500)), says('a\n'.repeat(400)), says('fits')])])
    expect(texts(await small.outrigger.handle(tool('c')))).toEqual([`${'y'.repeat(7_500)}\n\nfits`])
    await small.outrigger.idle()
    expect(small.ledger).toMatchObject([{ reason: 'over-budget' }])
  })
})

describe('a context without a carrier', () => {
  it('waits for the next one', async () => {
    const keel = fakeEngine('keel', heard => (heard.kind === 'context-measured' ? [says('big')] : []))
    const { outrigger } = runtimeOf([keel])
    expect(await outrigger.handle(event('context-measured', { tokens: 1, window: 2 }))).toEqual([])
    expect(await outrigger.handle(over())).toEqual([])
    expect(texts(await outrigger.handle(words))).toEqual(['big'])
    expect(texts(await outrigger.handle(words))).toEqual([])
  })

  it('has the room of its own moment, also where that moment carries nothing', async () => {
    const keel = fakeEngine('keel', on('session-started', says('s'.repeat(20_000))))
    const door = { ...allDoor, contextAt: new Set<EventKind>(['person-spoke']) }
    const { outrigger } = runtimeOf([keel], { door })
    expect(await outrigger.handle(start)).toEqual([])
    expect(texts(await outrigger.handle(words))).toEqual(['s'.repeat(20_000)])
  })

  it('survives a process that ends with the event', async () => {
    const door = { ...allDoor, shortLived: true, contextAt: new Set<EventKind>(['person-spoke']) }
    const first = runtimeOf([fakeEngine('keel', on('session-started', says('hello')))], { door })
    await first.outrigger.handle(start)
    await first.outrigger.handle(tool('c'))
    await first.outrigger.close()
    const keel = fakeEngine('keel')
    const second = runtimeOf([keel], { door, store: async () => first.store })
    expect(texts(await second.outrigger.handle(words))).toEqual(['hello'])
    expect(Object.keys(keel.heard[0]!.facts.files)).toEqual(['a.ts'])
    expect(await second.outrigger.handle(tool('c'))).toEqual([])
    expect(keel.heard).toHaveLength(1)
  })
})

describe('a session', () => {
  it('that is cleared goes on with the files of the one before', async () => {
    const keel = fakeEngine('keel')
    const { outrigger } = runtimeOf([keel])
    await outrigger.handle(tool('c1'))
    await outrigger.handle(event('session-ended', { reason: 'clear' }))
    expect(outrigger.facts('s')).toBe(undefined)
    await outrigger.handle(event('session-started', { session: 't', source: 'clear', previous: 's' }))
    expect(Object.keys(outrigger.facts('t')!.files)).toEqual(['a.ts'])
    expect(outrigger.facts('t')).toMatchObject({ session: 't', source: 'clear' })
  })

  it('that is cleared by another process finds them in the store', async () => {
    const door = { ...allDoor, shortLived: true }
    const first = runtimeOf([fakeEngine('keel')], { door })
    await first.outrigger.handle(tool('c1'))
    const second = runtimeOf([fakeEngine('keel')], { door, store: async () => first.store })
    await second.outrigger.handle(event('session-started', { session: 't', source: 'clear', previous: 's' }))
    expect(Object.keys(second.outrigger.facts('t')!.files)).toEqual(['a.ts'])
  })
})

describe('wakes', () => {
  it('fire once, at their time, for the engine that asked', async () => {
    const keel = fakeEngine('keel', heard =>
      heard.kind === 'person-spoke'
        ? [{ kind: 'wake', key: 'k', due: 6_000 }]
        : [{ kind: 'notify', level: 'info', text: 'awake' }],
    )
    const next = fakeEngine('next')
    const { outrigger, pass, delivered, asked } = runtimeOf([keel, next])
    expect(await outrigger.handle(words)).toEqual([])
    await pass(4_999)
    expect(keel.kinds()).toEqual(['person-spoke'])
    await pass(1)
    expect(keel.heard[1]?.event).toMatchObject({ kind: 'woke', key: 'k', at: 6_000 })
    expect(next.kinds()).toEqual(['person-spoke'])
    expect(delivered).toMatchObject([{ kind: 'notify', text: 'awake' }])
    expect(asked.map(({ action }) => action.kind)).toEqual(['notify'])
    await pass(60_000)
    expect(keel.heard).toHaveLength(2)
  })

  it('are replaced, taken back, and gone with their session', async () => {
    const keel = fakeEngine('keel', heard => {
      if (heard.kind === 'person-spoke')
        return [
          { kind: 'wake', key: 'a', due: 2_000 },
          { kind: 'wake', key: 'a', due: 3_000 },
          { kind: 'wake', key: 'b', due: 2_000 },
        ]
      if (heard.kind === 'compacted') return [{ kind: 'cancel-wake', key: 'b' }]
      return []
    })
    const { outrigger, pass } = runtimeOf([keel])
    await outrigger.handle(words)
    await outrigger.handle(event('compacted'))
    await pass(5_000)
    expect(keel.kinds()).toEqual(['person-spoke', 'compacted', 'woke'])
    await outrigger.handle(words)
    await outrigger.handle(event('session-ended', { reason: 'x' }))
    await pass(60_000)
    expect(keel.kinds().filter(kind => kind === 'woke')).toHaveLength(1)
  })

  it('go with the next answer when nobody takes them at once', async () => {
    const keel = fakeEngine('keel', heard =>
      heard.kind === 'person-spoke'
        ? [{ kind: 'wake', key: 'k', due: 2_000 }]
        : heard.kind === 'woke'
          ? [{ kind: 'notify', level: 'info', text: 'awake' }]
          : [],
    )
    const { outrigger, store, time } = runtimeOf([keel])
    void store
    void time
    const quiet = runtimeOf([keel], { deliver: undefined as never })
    await quiet.outrigger.handle(words)
    await quiet.pass(5_000)
    expect(texts(await quiet.outrigger.handle(tool('c')), 'notify')).toEqual(['awake'])
    await outrigger.close()
  })
})

describe('what engines answer to each other', () => {
  it('is asked for through the runtime, of the session at hand', async () => {
    const keel = fakeEngine('keel')
    const told: (readonly string[])[] = []
    const next = fakeEngine('next', async (_, { peers, carries, writes }) => {
      told.push(peers.toldInTurn(), [`${carries.has('submit')}`, `${writes.list.length}`])
      told.push(peers.edgesOf('a.md').map(edge => edge.child))
      told.push((await peers.outline()).map(line => line.id))
      return []
    })
    const answers = {
      toldInTurn: (heard: number) => [`told ${heard}`],
      edgesOf: (path: string) => [{ child: path, target: null, suspect: null }],
      outline: async () => [{ id: 'c01', section: 'next', text: 'go on' }],
    }
    const { outrigger } = runtimeOf([{ ...keel, engine: { ...keel.engine, answers } }, next])
    await outrigger.handle(tool('c1'))
    expect(told).toEqual([['told 1'], ['true', '1'], ['a.md'], ['c01']])
  })

  it('says that it goes on by itself before the event that caused it, to those behind it', async () => {
    const keel = fakeEngine('keel')
    const pack = fakeEngine('pack')
    const next = fakeEngine('next')
    const { outrigger } = runtimeOf([
      keel,
      { ...pack, engine: { ...pack.engine, isInFlow: (heard: number) => heard === 1 } },
      next,
    ])
    await outrigger.handle(tool('c1'))
    await outrigger.handle(tool('c2'))
    expect(next.heard.map(({ event, busy }) => [event.kind, busy.includes('other-loop')])).toEqual([
      ['work-changed', true],
      ['tool-finished', true],
      ['work-changed', false],
      ['tool-finished', false],
    ])
    expect(keel.kinds()).toEqual(['tool-finished', 'tool-finished'])
  })

  it('goes on for the others while the host or one of ours does, whoever of them ends first', async () => {
    const pack = fakeEngine('pack')
    const next = fakeEngine('next')
    const { outrigger } = runtimeOf([
      { ...pack, engine: { ...pack.engine, isInFlow: (heard: number) => heard === 1 || heard === 2 || heard === 5 } },
      next,
    ])
    await outrigger.handle(tool('c1'))
    await outrigger.handle(event('work-changed', { otherLoop: false }))
    await outrigger.handle(tool('c2'))
    await outrigger.handle(event('work-changed', { otherLoop: true }))
    await outrigger.handle(tool('c3'))
    await outrigger.handle(tool('c4'))
    await outrigger.handle(event('work-changed', { otherLoop: false }))
    const loops = next.heard.map(({ event: told, busy }) => `${told.kind} ${busy.includes('other-loop')}`)
    expect(loops).toEqual([
      'work-changed true',
      'tool-finished true',
      'work-changed true',
      'work-changed false',
      'tool-finished false',
      'work-changed true',
      'work-changed true',
      'tool-finished true',
      'work-changed true',
      'tool-finished true',
      'work-changed false',
    ])
  })

  it('is named part by part where one hold stands for several', async () => {
    const { outrigger } = runtimeOf([
      fakeEngine('companion', on('turn-ending', holds('look at b'))),
      fakeEngine('keel', on('turn-ending', holds('look at a'))),
    ])
    expect((await outrigger.mayStop(ending())).parts).toEqual([
      { engine: 'keel', text: 'look at a' },
      { engine: 'companion', text: 'look at b' },
    ])
  })
})
