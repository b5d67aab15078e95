/**
 * The order in which the event loop gave a cell its timers, calls and asynchronous reads, given again: each when the microtasks before it have run, without
 * waiting for its time.
 */
import type { Tape } from '../tape.ts'
import type { DeliveryKind } from './part.ts'

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
  #expected: NonNullable<Tape['deliveries']> = []
  #at = 0
  #isPumping = false
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

  #pump(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    this.#since = this.#host.now()
    const step = (): void => {
      if (this.#isStopped) return
      const next = this.#expected[this.#at]
      if (next === undefined) {
        this.#isPumping = false
        this.#done()
        return
      }
      const run = this.#held.get(next[0] + next[1])
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

const names: Readonly<Record<DeliveryKind, string>> = { t: 'timer', c: 'call', f: 'read' }
