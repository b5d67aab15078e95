import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSimulator } from '../../src/next-step/simulate.ts'
import { parseTrace } from '../support/next-traces.ts'

/** Watches what a simulation prints and says which rule it broke. */
class Watch {
  readonly #submits = new Map<string, number>()
  readonly #armed = new Map<string, { of: number; fired: number }>()
  #spoke = new Set<string>()
  #open = false
  #newest: { turn: number; completed: boolean } | null = null
  readonly #asks = new Map<number, number>()

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
    for (const one of out) this.#see(one, isTaken)
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
          expect(reason).toMatch(/^[a-z-]+$/)
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
          expect(this.#asks.get(turn), 'unasked calls of one turn').toBeLessThanOrEqual(3)
        }
        return
      }
      case 'submit': {
        this.#submits.set(offer, (this.#submits.get(offer) ?? 0) + 1)
        expect(this.#submits.get(offer), `starts of ${offer}`).toBeLessThanOrEqual(1)
        if (one['as'] !== 'plugin') return
        const loop = this.#armed.get(process)
        expect(loop, 'a loop that is armed').toBeDefined()
        loop!.fired++
        expect(loop!.fired, 'rounds of the grant').toBeLessThanOrEqual(loop!.of)
        expect(one['of']).toBe(loop!.of)
        expect(this.#spoke.has(process), "a person's words since the arm").toBe(false)
        expect(this.#open, 'a turn is open').toBe(false)
        expect(this.#newest).toEqual({ turn: one['turn'], completed: true })
        return
      }
      default:
        void byCommand
    }
  }
}

function play(lines: readonly Readonly<Record<string, unknown>>[], config: Readonly<Record<string, unknown>>): string {
  const simulator = createSimulator({ showInput: false })
  const watch = new Watch()
  let printed = ''
  simulator.hear(JSON.stringify({ kind: 'config', set: config }))
  for (const line of lines) {
    const out = simulator.hear(JSON.stringify(line))
    watch.hear(line, out)
    printed += JSON.stringify(out)
  }
  return printed
}

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

const bounded = Number(process.env['OUTRIGGER_NEXT_DEPTH'] ?? 3)
const tapes = Number(process.env['OUTRIGGER_NEXT_TAPES'] ?? 120)

/** One step deeper than its parent; values are pure, so that a path is played from its beginning. */
describe('every order of events', () => {
  it(`up to ${bounded} deep after an armed turn keeps to one start a boundary, to the grant, and to the person`, () => {
    const begin = ['arm rounds=1', 'end 10', 'ok g1 Write the parser']
    let count = 0
    const walk = (path: readonly string[], depth: number): void => {
      if (depth === 0) {
        const { steps, config } = parseTrace([...begin, ...path].join(' ; '))
        play(
          steps.map(({ line }) => line),
          config,
        )
        count++
        return
      }
      for (const next of alphabet) walk([...path, next], depth - 1)
    }
    walk([], bounded)
    expect(count).toBe(alphabet.length ** bounded)
  })
})

const turn = fc.integer({ min: 1, max: 8 }).map(number => number + 8)
const gen = fc.integer({ min: 1, max: 12 }).map(number => `g${number}`)
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
  { weight: 1, arbitrary: fc.constantFrom('tick', 'die p2') },
)
const event = fc
  .tuple(fc.constantFrom('', '', '', 'p2>'), step, fc.integer({ min: 0, max: 20_000 }))
  .map(([process, text, wait]) => ({
    text: text.startsWith('die') || text === 'restart' ? text : `${process}${text}`,
    wait,
  }))

describe('a random tape', () => {
  it('never breaks a rule, and replays to the same bytes', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 120, minLength: 40 }), events => {
        let clock = 0
        const trace = events.map(({ text, wait }) => {
          clock += wait
          return `@${clock} ${text}`
        })
        const { steps, config } = parseTrace(trace.join(' ; '))
        const lines = steps.map(({ line }) => line)
        expect(play(lines, config)).toBe(play(lines, config))
      }),
      { numRuns: tapes },
    )
  }, 120_000)
})
