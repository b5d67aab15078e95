import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSimulator, type Simulator } from '../../src/next-step/simulate.ts'
import { parseTrace } from '../support/next-traces.ts'

/** As `expect`, which takes longer than the engine. */
function must(isHeld: boolean, rule: string): void {
  if (!isHeld) throw new Error(`broken: ${rule}`)
}

/** Watches what a simulation prints and says which rule it broke. */
class Watch {
  #submits = new Map<string, number>()
  #armed = new Map<string, { of: number; fired: number }>()
  #spoke = new Set<string>()
  #open = false
  #newest: { turn: number; completed: boolean } | null = null
  #asks = new Map<number, number>()

  fork(): Watch {
    const copy = new Watch()
    copy.#submits = new Map(this.#submits)
    copy.#armed = new Map([...this.#armed].map(([process, loop]) => [process, { ...loop }]))
    copy.#spoke = new Set(this.#spoke)
    copy.#open = this.#open
    copy.#newest = this.#newest
    copy.#asks = new Map(this.#asks)
    return copy
  }

  state(): unknown {
    return [[...this.#submits], [...this.#armed], [...this.#spoke], this.#open, this.#newest, [...this.#asks]]
  }

  hear(line: Readonly<Record<string, unknown>>, out: readonly Readonly<Record<string, unknown>>[]): void {
    const process = String(line['process'] ?? 'p1')
    const isTaken = line['kind'] === 'command'
    if (line['kind'] === 'turn-started' && (this.#newest === null || Number(line['turn']) > this.#newest.turn)) {
      this.#open = true
      this.#newest = { turn: Number(line['turn']), completed: false }
    }
    if (line['kind'] === 'turn-ended') {
      const turn = Number(line['turn'])
      if (this.#newest === null || turn > this.#newest.turn || (turn === this.#newest.turn && this.#open)) {
        this.#open = false
        this.#newest = { turn, completed: (line['reason'] ?? 'completed') === 'completed' }
      }
    }
    if (line['kind'] === 'person-spoke') for (const one of this.#armed.keys()) this.#spoke.add(one)
    if (line['kind'] === 'restart' || line['kind'] === 'process-died') this.#armed.delete(process)
    for (const one of out) {
      const byTime = line['kind'] === 'tick' || Number(one['clock']) < Number(line['clock'])
      must(!byTime || one['do'] !== 'submit', 'no start because time passed')
      this.#see(one, isTaken)
    }
  }

  #see(one: Readonly<Record<string, unknown>>, byCommand: boolean): void {
    const process = String(one['process'])
    const offer = String(one['offer'])
    switch (one['do']) {
      case 'ledger': {
        const { what, reason, gen, detail } = one as unknown as {
          what: string
          reason: string
          gen: string
          detail?: { rounds: number }
        }
        if (what === 'arm' || what === 'regrant') {
          this.#armed.set(process, { of: detail!.rounds, fired: 0 })
          this.#spoke.delete(process)
        }
        if (what === 'disarm') {
          must(/^[a-z-]+$/.test(reason), 'a disarm has a reason')
          this.#armed.delete(process)
        }
        if (what === 'refund') {
          this.#submits.set(gen, (this.#submits.get(gen) ?? 0) - 1)
          const loop = this.#armed.get(process)
          if (loop !== undefined) loop.fired--
        }
        if (what === 'recover' && reason === 'unstarted') this.#submits.set(gen, (this.#submits.get(gen) ?? 0) - 1)
        if (what === 'claim' && !['arm', 'on', 'suggest'].includes(reason)) {
          const turn = Number(one['turn'])
          this.#asks.set(turn, (this.#asks.get(turn) ?? 0) + 1)
          must(this.#asks.get(turn)! <= 3, 'at most three unasked calls of one turn')
        }
        return
      }
      case 'submit': {
        this.#submits.set(offer, (this.#submits.get(offer) ?? 0) + 1)
        must(this.#submits.get(offer)! <= 1, `${offer} is started once`)
        if (one['as'] !== 'plugin') return
        const loop = this.#armed.get(process)
        if (loop === undefined) throw new Error('a loop that is not armed starts a turn')
        loop.fired++
        must(loop.fired <= loop.of, 'no more rounds than the grant has')
        must(one['of'] === loop.of, 'the round says of how many')
        must(!this.#spoke.has(process), 'no start after the words of a person')
        must(!this.#open, 'no start while a turn is open')
        must(this.#newest?.turn === one['turn'] && this.#newest?.completed === true, 'a start is for the newest completed turn')
        return
      }
      default:
        void byCommand
    }
  }
}

/** `g*` stands for the newest ask; turn 0 for the one that is open, or the next. */
function play(lines: readonly Readonly<Record<string, unknown>>[], config: Readonly<Record<string, unknown>>): string {
  const simulator = createSimulator({ showInput: false })
  const watch = new Watch()
  let printed = ''
  let asked = 'g1'
  let turn = 10
  let isOpen = false
  simulator.hear(JSON.stringify({ kind: 'config', set: config }))
  for (const given of lines) {
    const line = { ...given }
    for (const key of ['ask', 'offer']) if (line[key] === 'g*') line[key] = asked
    if (line['kind'] === 'turn-started' || line['kind'] === 'turn-ended') {
      if (line['turn'] === 0) line['turn'] = isOpen ? turn : turn + 1
      turn = Math.max(turn, Number(line['turn']))
      isOpen = line['kind'] === 'turn-started'
    }
    const out = simulator.hear(JSON.stringify(line))
    watch.hear(line, out)
    for (const one of out) if (one.do === 'ask-model') asked = String(one['ask'])
    fired += out.filter(one => one.do === 'submit' && one['as'] === 'plugin').length
    printed += JSON.stringify(out)
  }
  return printed
}
/** Starts of loops that were watched. */
let fired = 0

const alphabet = [
  'arm rounds=2',
  'end 10',
  'end 11',
  'ok g1 Write the parser',
  'ok g2 Test the parser',
  'start 11 plugin',
  'say',
  'starting g1',
  'run',
  'off',
  'on',
  'compact',
  'goal a 2 active disarmed',
]

const bounded = Number(process.env['OUTRIGGER_NEXT_DEPTH'] ?? 7)
const tapes = Number(process.env['OUTRIGGER_NEXT_TAPES'] ?? 1_000)

/** What the next event can find, without the counters of things that only have to be different. */
function fingerprint(simulator: Simulator, watch: Watch): string {
  const { line: _, counts, sessions, processes, timers, modelOverride, config } = simulator.state()
  const all = [...sessions].map(([id, { locals, ...session }]) => [id, session, [...locals]])
  return createHash('sha1')
    .update(JSON.stringify([counts.claim, counts.check, all, [...processes], timers, modelOverride, config.model, watch.state()]))
    .digest('base64')
}

/** Time stands still, so that ways which come to the same are seen to; what time does is for the tapes. */
describe('every order of events', () => {
  it(`up to ${bounded} deep after an armed turn keeps to one start a boundary, to the grant, and to the person`, () => {
    const { steps, config } = parseTrace(
      ['arm rounds=1', 'end 10', 'ok g1 Write the parser', ...alphabet].map(text => `@100 ${text}`).join(' ; '),
    )
    const first = { simulator: createSimulator({ showInput: false }), watch: new Watch() }
    first.simulator.hear(JSON.stringify({ kind: 'config', set: config }))
    for (const { line } of steps.slice(0, 3)) first.watch.hear(line, first.simulator.hear(JSON.stringify(line)))
    const events = steps.slice(3).map(({ line }) => ({ line, text: JSON.stringify(line) }))
    const seen = new Set<string>()
    let level = [first]
    let played = 0
    for (let depth = 1; depth <= bounded; depth++) {
      const next: (typeof first)[] = []
      for (const { simulator, watch } of level) {
        for (const { line, text } of events) {
          const here = { simulator: simulator.fork(), watch: watch.fork() }
          here.watch.hear(line, here.simulator.hear(text))
          played++
          if (depth === bounded) continue
          const key = fingerprint(here.simulator, here.watch)
          if (seen.has(key)) continue
          seen.add(key)
          next.push(here)
        }
      }
      level = next
    }
    expect(played).toBeGreaterThan(10_000)
  }, 120_000)
})

const turn = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 9, max: 20 }) })
const gen = fc.oneof(
  { weight: 4, arbitrary: fc.constant('g*') },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 12 }).map(number => `g${number}`) },
)
const step = fc.oneof(
  { weight: 6, arbitrary: turn.map(number => `end ${number}`) },
  {
    weight: 2,
    arbitrary: fc.tuple(turn, fc.constantFrom('person', 'host', 'plugin', 'goal')).map(([number, by]) => `start ${number} ${by}`),
  },
  {
    weight: 8,
    arbitrary: fc
      .tuple(
        gen,
        fc.constantFrom(
          'Write the parser',
          'Test the parser',
          'NONE',
          'GOAL: ship',
          '/compact',
          'Push the branch',
          'Check it again',
        ),
      )
      .map(([name, text]) => `ok ${name} ${text}`),
  },
  { weight: 1, arbitrary: gen.map(name => `err ${name} unavailable`) },
  { weight: 4, arbitrary: fc.constantFrom('arm rounds=2', 'arm', 'arm until=t rounds=3', 'arm take=true', 'arm tokens=10000') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('say', 'off', 'on', 'disarm', 'dismiss', 'suggest', 'compact', 'clear', 'close', 'restart'),
  },
  { weight: 1, arbitrary: fc.constantFrom('run', 'run g1', 'run g3') },
  { weight: 2, arbitrary: gen.map(name => `starting ${name}`) },
  { weight: 1, arbitrary: gen.map(name => `nosend ${name}`) },
  { weight: 1, arbitrary: fc.constantFrom('edit a.ts', 'look', 'sh ok npm test', 'sh bad npm test') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('work jobs=1', 'work jobs=0', 'work questions=1', 'work questions=0', 'draft', 'nodraft'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'goal a 1 active armed',
      'goal a 1 active disarmed',
      'goal a 2 active disarmed',
      'goal a 2 paused disarmed',
      'goal none',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('check c1 1', 'check c1 0', 'check c2 timeout', 'check c3 1') },
  { weight: 1, arbitrary: fc.constantFrom('tick', 'tick', 'die p2', 'todo pending:Write docs') },
)
const event = fc
  .tuple(fc.constantFrom('', '', '', 'p2>'), step, fc.integer({ min: 0, max: 20_000 }))
  .map(([process, text, wait]) => ({
    text: text.startsWith('die') || text === 'restart' ? text : `${process}${text}`,
    // Now and then longer than a model may take.
    wait: text === 'tick' ? wait * 3 : wait,
  }))

/** What a loop does when nobody disturbs it, in one piece; else a tape seldom gets to its second round. */
const round = fc
  .tuple(
    fc.constantFrom('nodraft', 'work jobs=0', 'work questions=0', 'arm rounds=2', 'arm rounds=3'),
    fc.constantFrom('Write the parser', 'Test it'),
  )
  .map(([before, text]) =>
    [before, 'end 0', `ok g* ${text}`, 'starting g*', 'start 0 plugin', 'edit a.ts'].map(each => ({ text: each, wait: 100 })),
  )
const part = fc.oneof({ weight: 1, arbitrary: round }, { weight: 4, arbitrary: event.map(one => [one]) })

describe('a random tape', () => {
  it('never breaks a rule, and replays to the same bytes', () => {
    let played = 0
    fc.assert(
      fc.property(fc.array(part, { maxLength: 70, minLength: 50 }), fc.boolean(), (parts, local) => {
        const events = parts.flat()
        let clock = 0
        const trace = events.map(({ text, wait }) => {
          clock += wait
          return `@${clock} ${text}`
        })
        const { steps, config: given } = parseTrace(trace.join(' ; '))
        const config = { ...given, local }
        const lines = steps.map(({ line }) => line)
        const printed = play(lines, config)
        if (++played % 10 === 0) expect(play(lines, config)).toBe(printed)
      }),
      { numRuns: tapes },
    )
    // A tape in which nothing ever starts proves nothing.
    expect(fired).toBeGreaterThan(tapes)
  }, 120_000)
})
