/**
 * The order in which the event loop gave a cell its timers, calls and asynchronous reads, given again: each when the microtasks before it have run, without
 * waiting for its time.
 */
import type { Tape } from '../tape.ts'
import type { DeliveryKind } from './part.ts'

type Expected = NonNullable<Tape['deliveries']>[number]

export interface DeliveryHost {
  /** Runs when the queue of microtasks is empty. */
  later(run: () => void): void
  now(): number
}

/** How long the next one may take to become possible: an asynchronous read, or code that waits for one. */
const patienceMs = 2_000

export class Deliveries {
  readonly #host: DeliveryHost
  readonly #stuck: (what: string) => void
  readonly #held = new Map<string, () => void>()
  /** Of ended cells, by number; each gives its next one when it is its turn here. */
  readonly #others = new Map<number, Deliveries>()
  #expected: NonNullable<Tape['deliveries']> = []
  #at = 0
  #isPumping = false
  #pumps = 0
  #since = 0
  #isStopped = false
  #whenDone: (() => void)[] = []

  /** @param stuck - the next delivery does not become possible. */
  constructor(host: DeliveryHost, stuck: (what: string) => void) {
    this.#host = host
    this.#stuck = stuck
  }

  expect(deliveries: NonNullable<Tape['deliveries']>): void {
    this.#expected = deliveries
    this.#at = 0
    this.#pump()
  }

  /** The next ones are delivered where another cell has them. */
  join(cell: number, deliveries: NonNullable<Tape['deliveries']>, other: Deliveries): void {
    this.#expected = deliveries
    this.#at = 0
    this.#isPumping = false
    this.#pumps++
    other.#others.set(cell, this)
  }

  /** Has become possible. A timer that repeats is held until it is let go. */
  hold(kind: DeliveryKind, number: number, run: () => void): void {
    this.#held.set(kind + number, run)
  }

  letGo(kind: DeliveryKind, number: number): void {
    this.#held.delete(kind + number)
  }

  get isHolding(): number {
    return this.#held.size
  }

  /** When all that is expected has been delivered. */
  whenDone(run: () => void): void {
    if (this.#at >= this.#expected.length || this.#isStopped) run()
    else this.#whenDone.push(run)
  }

  stop(): void {
    this.#isStopped = true
    this.#done()
  }

  #done(): void {
    const waiting = this.#whenDone
    this.#whenDone = []
    for (const run of waiting) run()
  }

  /** `undefined`: not possible yet. */
  #runOf([kind, number]: Expected): (() => void) | undefined {
    if (kind !== 'l') return this.#held.get(kind + number)
    const other = this.#others.get(number)
    // The cell was not run again: what it does is of no concern to this one.
    if (other === undefined || other.#isStopped) return () => {}
    const next = other.#expected[other.#at]
    const run = next === undefined ? undefined : other.#runOf(next)
    if (run === undefined) return undefined
    return () => {
      other.#at++
      run()
    }
  }

  #pump(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    this.#since = this.#host.now()
    const pump = ++this.#pumps
    const step = (): void => {
      if (this.#isStopped || pump !== this.#pumps) return
      const next = this.#expected[this.#at]
      if (next === undefined) {
        this.#isPumping = false
        this.#done()
        return
      }
      const run = this.#runOf(next)
      if (run === undefined) {
        if (this.#host.now() - this.#since > patienceMs) {
          this.#isPumping = false
          this.#stuck(`${names[next[0]]} ${next[1]}`)
          return
        }
        this.#host.later(step)
        return
      }
      this.#at++
      this.#since = this.#host.now()
      // What it throws is for whoever hears of uncaught errors.
      this.#host.later(step)
      run()
    }
    this.#host.later(step)
  }
}

const names: Readonly<Record<DeliveryKind, string>> = { t: 'timer', c: 'call', f: 'read', l: 'what came to cell' }
