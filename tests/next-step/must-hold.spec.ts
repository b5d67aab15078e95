/** What loops elsewhere do wrong, one test a fault; and what must never happen. Events and prints as in the worked examples. */
import { describe, expect, it } from 'vitest'
import { createSimulator } from '../../src/next-step/simulate.ts'
import { linesOf, playTrace } from '../support/next-play.ts'
import { nextProcess, shared } from '../support/next-world.ts'

function holds(...traces: readonly string[]): void {
  for (const trace of traces) {
    const { seen, wanted } = playTrace(trace)
    expect(seen).toEqual(wanted)
  }
}

const fired = 'arm; end 10 → ask g1; ok g1 Write the parser → ready, fire 1/8'
const of = (text: string, kind: string) => linesOf(text).filter(line => line['do'] === kind)

describe('must hold', () => {
  it('D1: each arm is a grant of its own, spent from nothing', () => {
    holds(
      'arm rounds=1; end 10 → ask g1; ok g1 Write the parser → ready, fire 1/1; start 11 plugin; edit a.ts; end 11 → ask g2; ok g2 Test the parser → ready, disarm cap; arm rounds=1 → fire 1/1',
      'arm tokens=10000; end 10 → ask g1; ok g1 Write the parser → ready, fire 1/8; start 11 plugin; edit a.ts; end 11 usage=9000+1500 → ask g2; ok g2 Test the parser → ready, disarm tokens; arm tokens=10000 → fire 1/8',
    )
  })

  it.each([['aborted'], ['error'], ['max-tokens']])('D2: a turn that ends %s starts nothing and is offered nothing', reason => {
    holds(`${fired}; start 11 plugin; edit a.ts; end 11 ${reason} → disarm ${reason}; work jobs=0; @90000 tick; end 11`)
  })

  it('D3: the offer of an older turn is not fired later', () => {
    holds(
      'arm; work jobs=1; end 10 → ask g1; ok g1 Write the parser → ready, hold background; start 11 host → superseded newer-turn; work jobs=0; end 11 → ask g2; ok g1 Write it; ok g2 Test the parser → ready, fire 1/8; starting g1 → veto unknown-offer; starting g2 → admit',
    )
  })

  it('D4: a goal that is cleared, created or replaced withdraws the offer made without it', () => {
    const held = 'arm; work jobs=1; end 10 → ask g1; ok g1 Build it all → ready, hold background'
    holds(
      `goal a 1 active disarmed; ${held}; goal none → superseded goal-changed, disarm goal-cleared, ask g2; work jobs=0`,
      `${held}; goal a 1 active disarmed → superseded goal-changed, ask g2; work jobs=0; run g1 → no NEXT_STALE`,
      `goal a 1 active disarmed; ${held}; goal b 1 active disarmed → superseded goal-changed, ask g2; work jobs=0; run g1 → no NEXT_STALE`,
    )
  })

  it('D5: a goal that is paused or blocked ends the loop, and holds one that is armed then', () => {
    for (const phase of ['paused', 'blocked']) {
      holds(
        `goal a 1 active disarmed; arm; end 10 → ask g1; goal a 2 ${phase} disarmed → disarm goal-${phase}, superseded goal-changed, cancel g1`,
        `goal a 1 ${phase} disarmed; arm; end 10 → ask g1; ok g1 Build it all → ready, hold goal-inactive; @90000 tick`,
      )
    }
  })

  it('D6: the same text for ever ends the loop; so do rounds, tokens and minutes', () => {
    holds(
      `arm; end 10 → ask g1; ok g1 Check it again → ready, fire 1/8; start 11 plugin; look; end 11 → ask g2; ok g2 Please check it again → ready, warn repeat, fire 2/8; start 12 plugin; look; end 12 → ask g3; ok g3 Check it again now → ready, warn stall, disarm stalled`,
      'arm rounds=1; end 10 → ask g1; ok g1 Write the parser → ready, fire 1/1; start 11 plugin; edit a.ts; end 11 → ask g2; ok g2 Test the parser → ready, disarm cap',
      'arm tokens=10000; end 10 usage=9000+1000 → ask g1; ok g1 Write the parser → ready, disarm tokens',
      'arm minutes=1; work jobs=1; end 10 → ask g1; ok g1 Write the parser → ready, hold background; @60100 tick → disarm time; work jobs=0',
    )
    const [loop] = of('arm', 'loop')
    for (const budget of Object.values(loop!['grant'] as object).slice(0, 3)) expect(Number.isFinite(budget)).toBe(true)
  })

  it('D6: work that stands where it stood before the arm is no progress', () => {
    const flat = '[model:"test/m",local:false,flatRounds:2]'
    const round = (turn: number, mark: string) => `start ${turn} plugin; edit a.ts; end ${turn} mark=${mark} → ask g${turn - 9}`
    const before = `${flat} end 10 mark=m1 → ask g1; ok g1 Write the parser → ready; arm → fire 1/8`
    holds(
      `${before}; ${round(11, 'm1')}; ok g2 Test the lexer → ready, fire 2/8; ${round(12, 'm1')}; ok g3 Read the notes → ready, warn stall, disarm stalled`,
      `${before}; ${round(11, 'm2')}; ok g2 Test the lexer → ready, fire 2/8; ${round(12, 'm1')}; ok g3 Read the notes → ready, fire 3/8; ${round(13, 'm2')}; ok g4 Close the list → ready, warn stall, disarm stalled`,
    )
  })

  it('D7: what a process that died was looking for has failed, and can be asked for again', () => {
    holds(
      'end 10 → ask g1; restart → failed interrupted; end 10 → ask g2; ok g1 Write it; ok g2 Write the parser → ready',
      'end 10 → ask g1; restart → failed interrupted; suggest → ask g2',
    )
  })

  it('D8: a slow model keeps no turn waiting: a newer one aborts it, and so does its time', () => {
    holds(
      'end 10 → ask g1; start 11 host → superseded newer-turn, cancel g1; end 11 → ask g2',
      'end 10 → ask g1; end 11 → superseded newer-turn, cancel g1, ask g2',
      '@1000 end 10 → ask g1; @20999 tick; @21000 tick → cancel g1, failed timeout; end 11 → ask g2',
    )
  })

  it('D9: a late answer does not undo off', () => {
    holds('end 10 → ask g1; off → cancel g1; ok g1 Write the parser; end 11; run g1 → no NEXT_STALE; on → ask g2')
    expect(of('end 10; off; ok g1 Write the parser', 'row').at(-1)).toMatchObject({ row: { status: 'off' } })
  })

  it.each([
    ['**GOAL:** ship it now'],
    ['- GOAL: ship it now'],
    ['"GOAL: ship it now"'],
    ['1. GOAL：ship it now'],
    ['goal : ship it now'],
  ])('D10: %s is a change of the goal and waits for Run', text => {
    holds(`arm; end 10 → ask g1; ok g1 ${text} → ready!, hold goal-edit; run g1 → person`)
    const [submit] = of(`end 10; ok g1 ${text}; run g1`, 'submit')
    expect(submit).toMatchObject({ as: 'person', text: 'ship it now' })
  })

  it('D10: the prefix alone is nothing', () => {
    holds('arm; end 10 → ask g1; ok g1 **GOAL:** → quiet empty-goal, disarm nothing-to-do')
  })

  it('D11: a step that could not be sent costs no round and can be run', () => {
    const failed = `${fired}; nosend g1 → refund queue-failed, ready, disarm queue-failed`
    holds(`${failed}; run → person`)
    expect(of(failed, 'loop').at(-1)).toMatchObject({ armed: false, reason: 'queue-failed', spent: { rounds: 0 } })
  })

  it('D11: the person whose Run could not be sent is told', () => {
    expect(of('end 10; ok g1 Write the parser; run g1; nosend g1', 'notify').map(({ text }) => text)).toEqual([
      'The step could not be sent; Run tries again.',
    ])
  })

  it('D12: a quiet turn is asked about once', () => {
    holds('end 10 → ask g1; ok g1 NONE → quiet nothing; end 10; suggest; restart; end 10; suggest')
  })

  it.each([
    ['rounds=NaN'],
    ['rounds=many'],
    ['rounds=0'],
    ['rounds=-1'],
    ['rounds=1.5'],
    ['tokens=Infinity'],
    ['tokens=1'],
    ['minutes=none'],
  ])('D13: %s is no allowance', option => {
    holds(`arm ${option} → no NEXT_BAD_GRANT; end 10 → ask g1; ok g1 Write the parser → ready`)
  })

  it.each([['maxRounds'], ['maxTokens'], ['maxMinutes']])('D13: %s that is no number is refused where it is read', key => {
    for (const value of ['8', null, 1.5, -1, 1e12]) {
      expect(() => createSimulator({ showInput: false }).hear(JSON.stringify({ kind: 'config', set: { [key]: value } }))).toThrow(
        expect.objectContaining({ code: 'NEXT_BAD_CONFIG' }),
      )
    }
  })

  it.each([['start 11 host'], ['say'], ['compact'], ['goal a 1 active disarmed'], ['dismiss'], ['off']])(
    'D14: %s takes the offer off the screen, and its Run is stale',
    cause => {
      const shown = of(`end 10; ok g1 Write the parser; ${cause}`, 'show-offer').map(({ offer }) => offer !== null)
      expect(shown).toEqual([true, false])
      expect(of(`end 10; ok g1 Write the parser; ${cause}; run g1`, 'reply').at(-1)).toMatchObject({
        ok: false,
        code: 'NEXT_STALE',
      })
    },
  )

  it('D15: whoever pulls gets the one offer; nobody pays twice', () => {
    holds('end 10 → ask g1; suggest; suggest; p2>suggest; ok g1 Write the parser → ready; suggest; p2>suggest')
    const replies = of('end 10; ok g1 Write the parser; suggest; p2>suggest', 'reply')
    expect(replies.map(({ offer }) => (offer as { readonly gen: string }).gen)).toEqual(['g1', 'g1'])
  })

  it('D16: at the end of a session nothing of it is left', async () => {
    const next = nextProcess(shared())
    await next.tell({ kind: 'session-started', source: 'startup' })
    await next.type('arm')
    await next.tell({ kind: 'turn-ended', turn: 1, reason: 'completed', answer: 'Done.' })
    expect(next.outrigger.isInFlow()).toBe(true)
    await next.tell({ kind: 'session-ended', reason: 'closed' })
    const { length } = next.actions
    expect(next.outrigger.isInFlow()).toBe(false)
    await next.wait(24 * 3_600_000)
    expect(next.actions.slice(length)).toEqual([])
    expect(of('arm; close; state', 'reply').at(-1)).toMatchObject({ loop: { armed: false, reason: null } })
  })

  it('D17: of two that press Run one wins', () => {
    holds(
      'end 10 → ask g1; ok g1 Write the parser → ready; run g1 → person; run g1 → no NEXT_ALREADY_RUN; p2>run g1 → no NEXT_ALREADY_RUN',
      'end 10 → ask g1; ok g1 Write the parser → ready; p2>run g1 → person; run g1 → no NEXT_ALREADY_RUN',
    )
  })
})

describe('never', () => {
  it('starts a turn because time passed', () => {
    for (const hold of ['questions asked', 'approvals approval', 'children background', 'queued queued']) {
      const [key, word] = hold.split(' ')
      holds(`arm; work ${key}=1; end 10 → ask g1; ok g1 Write the parser → ready, hold ${word}; @900000 tick; @3000000 tick`)
    }
    holds('end 10 → ask g1; ok g1 Write the parser → ready; @900000 tick; @99000000 tick')
  })

  it('starts a turn because a model did not answer in its time: the loop goes on when the call is over', () => {
    const local = '[model:"test/m",local:true] todo pending:Write docs; arm; @1000 end 10 → ask g1'
    const timedOut = `${local}; @21000 tick → cancel g1, ready; @25000 tick; state`
    holds(
      `${timedOut}; err g1 canceled → fire 1/8; starting g1 → admit`,
      `${timedOut}; ok g1 Write it now; err g1 timeout → fire 1/8`,
      `${timedOut}; work jobs=0 → fire 1/8`,
      `${timedOut}; start 11 host → superseded newer-turn`,
      `${local}; @21000 work jobs=1 → cancel g1, ready, hold background; @99000 tick; work jobs=0 → fire 1/8`,
      // Whoever else has the session open does not begin it either.
      `[model:"test/m",local:true] todo pending:Write docs; suggest; p2>arm; @1000 end 10 → ask g1; @21000 tick → cancel g1, ready; p2>tick; p2>work jobs=0 → fire 1/8`,
      // Nothing that is obvious: the loop ends in its time.
      'arm; @1000 end 10 → ask g1; @21000 tick → cancel g1, failed timeout, disarm no-offer',
    )
    const judged =
      '[model:"test/m",local:false,judgeModel:"test/j"] arm judge=true; end 10 → ask g1; ok g1 Write the parser → ready, fire 1/8; start 11 plugin; edit a.ts; @1000 end 11 → ask g2; @2000 ok g2 Test the parser → ready, ask j1, hold judge'
    holds(`${judged}; @22000 tick → cancel j1; @30000 tick; err j1 canceled → fire 2/8`)
  })

  it('starts a turn because somebody looked', () => {
    const local =
      '[model:"test/m",local:true] todo pending:Write docs; arm; @1000 end 10 → ask g1; @21000 tick → cancel g1, ready'
    holds(`${local}; state; state ~agent; p2>state; work jobs=0 → fire 1/8`)
  })

  it('starts a turn because a timer of its own came', async () => {
    const next = nextProcess(shared())
    await next.type('arm')
    await next.tell({ kind: 'work-changed', questions: 1 })
    await next.tell({ kind: 'turn-ended', turn: 1, reason: 'completed', answer: 'Done.' })
    await next.tell({ kind: 'model-answered', ask: next.last('ask-model')!.id, text: 'Write the parser' })
    await next.wait(50 * 60_000)
    expect(next.lines()).toContain('hold asked')
    expect(next.all('submit')).toEqual([])
    await next.wait(20 * 60_000)
    expect(next.lines()).toContain('disarm time')
    expect(next.all('submit')).toEqual([])
  })

  it('are there two that start turns', () => {
    holds(
      'arm; p2>arm → no NEXT_HELD; p2>arm take=true → disarm lease-lost; end 10 → ask g1; ok g1 Write the parser → ready, fire 1/8',
      'arm; end 10 → ask g1; ok g1 Build the index → ready, fire 1/8; start 11 plugin; edit a.ts; end 11 → ask g2; goal a 1 active armed → superseded goal-changed, cancel g2, disarm driver-rearmed, ask g3',
      'arm; work otherLoop=true; end 10 → ask g1; ok g1 Write the parser → ready, hold other-loop',
    )
  })

  it.each([
    ['a restart', 'restart', 'restart'],
    ['a clear', 'clear', 'cleared'],
    ['the end of the session', 'close', 'closed'],
  ])('does a loop outlive %s', (_, event, reason) => {
    const trace = `arm; end 10; ok g1 NONE; disarm; arm; ${event}; end 11; ok g2 Write the parser; ok g3 Write the parser; ok g4 Write it`
    expect(of(trace, 'submit')).toEqual([])
    const ends = of(`arm; ${event}`, 'ledger').filter(({ what }) => what === 'disarm')
    expect(ends.map(line => line['reason'])).toEqual([reason])
  })

  it("does it fire while a person's words wait", () => {
    holds(
      'arm; end 10 → ask g1; work queued=1; ok g1 Write the parser → ready, hold queued',
      `${fired}; say → refund human, disarm human, superseded human; starting g1 → veto human`,
      `${fired}; starting g1 withPerson=true → veto human, refund human, superseded human, disarm human`,
    )
  })

  it("is its message one that a host could take for a person's", () => {
    for (const line of of(fired, 'submit')) {
      const { source, content } = line['message'] as {
        source: { kind: string; form: string }
        content: readonly { text: string }[]
      }
      expect(source.kind).toMatch(/^plugin(?::outrigger)?$/)
      expect(source.form).toBe('notice')
      expect(content[0]!.text).toMatch(/^\[outrigger autorun 1 of 8; not typed by a person\]\n/)
    }
    expect(of(fired, 'submit')).toHaveLength(1)
    const [person] = of('end 10; ok g1 Write the parser; run', 'submit')
    expect(person).toMatchObject({ as: 'person', text: 'Write the parser' })
  })

  it.each([['/'], ['!'], ['$'], ['#']])('does an offer begin with %s', sign => {
    for (const dress of ['@', '- @', '**"@"**', '> @', '1. `@`']) {
      const text = dress.replace('@', () => `${sign}compact the parser now`)
      holds(`arm; end 10 → ask g1; ok g1 ${text} → failed refused:command, disarm no-offer`)
    }
  })

  it('is a question of the agent answered for the person, unless the grant says so and nothing risky is asked', () => {
    const asked = (arm: string, question: string) => `${arm}; end 10 : ${question} → ask g1; ok g1 Write the parser → ready`
    holds(
      `${asked('arm', 'Shall I continue with the parser?')}, hold question`,
      `${asked('arm goOn=true', 'Shall I continue with the parser?')}, fire 1/8`,
      `${asked('arm goOn=true', 'Which parser do you want?')}, hold question`,
      `${asked('arm goOn=true', 'Shall I continue and delete the old table?')}, hold question`,
    )
  })

  it('does text of a model reach a shell', () => {
    const lines = linesOf(
      'arm until=test; end 10; check c1 1; ok g1 Run rm in the build folder; start 11 plugin; edit a.ts; end 11; check c2 1; ok g2 `touch x` && make it; end 12',
    )
    const commands = lines.filter(line => line['do'] === 'run-check').map(({ command }) => command)
    expect(commands.length).toBeGreaterThanOrEqual(2)
    expect(new Set(commands)).toEqual(new Set(['test']))
    const atArm = of('end 10; ok g1 Run rm in the build folder; arm until=test', 'run-check')
    expect(atArm.map(({ command }) => command)).toEqual(['test'])
  })

  it('does a condition come from a file', () => {
    for (const key of ['until', 'check', 'arm', 'autorun'])
      expect(() =>
        createSimulator({ showInput: false }).hear(JSON.stringify({ kind: 'config', set: { [key]: 'npm test' } })),
      ).toThrow(expect.objectContaining({ code: 'NEXT_BAD_CONFIG' }))
  })

  it.each([
    ['arm; end 10 aborted'],
    ['arm; end 10 error'],
    ['arm; end 10; ok g1 NONE'],
    ['arm; end 10; err g1 unavailable'],
    ['arm rounds=1; end 10; ok g1 Write the parser; start 11 plugin; edit a.ts; end 11; ok g2 Test it well'],
    [`${fired}; nosend g1`],
    ['arm minutes=1; @90000 tick'],
    ['arm until=t; end 10; check c1 0'],
    ['goal a 1 active disarmed; arm; goal none'],
  ])('does a loop stop silently: %s', trace => {
    const loop = of(trace, 'loop').at(-1)!
    expect(loop).toMatchObject({ armed: false, reason: expect.stringMatching(/^[a-z-]+$/) })
    expect(of(trace, 'ledger')).toContainEqual(expect.objectContaining({ what: 'disarm', reason: loop['reason'] }))
    expect(of(trace, 'notify').at(-1)?.['text']).toMatch(/^Autorun stopped after \d of \d rounds: .+/)
    expect(of(trace, 'status').some(({ text }) => String(text).includes(' · stopped: '))).toBe(true)
  })

  it('is anything sent but the call of the model', () => {
    const long = 'arm; sh bad npm test : not ok 1 - a; end 10; start 11 plugin; edit a.ts; end 11; suggest; compact; tick'
    const kinds = new Set(linesOf(`[model:"",local:true] ${long}`).map(line => line['do']))
    expect(kinds).not.toContain('ask-model')
    expect([...kinds].filter(kind => kind === 'submit' || kind === 'run-check')).toEqual(['submit'])
  })
})
