/**
 * One cell's recording, for as long as anything of the cell runs. It records, or gives what was recorded; afterwards it goes on as the recording of what the
 * cell does after its end.
 */
import type { Json } from '../../../ports/json.ts'
import type { Divergence } from '../protocol.ts'
import type { LateTape, Stamp, Tape, TranscribedCall } from '../tape.ts'
import { Deliveries, type DeliveryHost } from './deliveries.ts'
import { Given } from './given.ts'
import { type DeliveryKind, Part } from './part.ts'
import { RandomNumbers } from './random.ts'

export interface RecordingHost extends DeliveryHost {
  /** False: sources are effects. */
  readonly records: boolean
  randomSeed(cell: number): string
  /** First effect of its kind in the cell. */
  onEffect(cell: number, kind: string, subject: string | undefined): void
  onDivergence(cell: number): void
  /** The cell has ended and something of it is recorded; asked once until that is taken. */
  onLate(recording: Recording): void
  /** It is given something by the event loop. */
  onDelivery(recording: Recording): void
  /** µs since the start of the worker; never the same twice. */
  moment(): number
  /** An error of the cells' realm. */
  makeError(message: string): Error
}

/** `guard`: nothing is kept, and what touches the outside throws. */
type Mode = 'record' | 'replay' | 'guard'

export class Recording {
  readonly cell: number
  readonly #host: RecordingHost
  readonly #deliveries: Deliveries
  #mode: Mode
  #part = new Part()
  #isEnded = false
  #isNoted = false
  #given: Given | undefined
  #calls: readonly TranscribedCall[] = []
  #random: RandomNumbers | undefined
  #timers = 0
  #callCount = 0
  #reads = 0
  #divergence: Divergence | undefined

  constructor(cell: number, host: RecordingHost, mode: 'record' | 'guard' = 'record') {
    this.cell = cell
    this.#host = host
    this.#mode = mode
    this.#deliveries = new Deliveries(host, what => this.diverge('order', `${what} was never there`))
  }

  static replay(cell: number, host: RecordingHost, tape: Tape, calls: readonly TranscribedCall[]): Recording {
    const recording = new Recording(cell, host)
    recording.#mode = 'replay'
    recording.#calls = calls
    recording.#give(tape)
    return recording
  }

  get isReplay(): boolean {
    return this.#mode === 'replay'
  }

  get divergence(): Divergence | undefined {
    return this.#divergence
  }

  #give(tape: Tape): void {
    this.#given = new Given(tape)
    this.#deliveries.expect(tape.deliveries ?? [])
  }

  /** More to replay, of the time after the cell's end; delivered where the other order has it. */
  giveMeanwhile(tape: Tape, other: Deliveries): void {
    this.#given = new Given(tape)
    this.#deliveries.join(this.cell, tape.deliveries ?? [], other)
  }

  get deliveries(): Deliveries {
    return this.#deliveries
  }

  /** Replay is over. @returns how many timers are dropped. */
  live(): number {
    if (this.#mode === 'record') return 0
    this.#mode = 'record'
    this.#given = undefined
    this.#part = new Part()
    return this.#deliveries.isHolding
  }

  whenDelivered(run: () => void): void {
    this.#deliveries.whenDone(run)
  }

  /** What the cell itself has to tell; from now on the recording is of what comes late. */
  take(): { readonly tape: Tape | undefined; readonly stamps: readonly Stamp[]; readonly effects: ReturnType<Part['effects']> } {
    const part = this.#part
    this.#part = new Part()
    this.#isEnded = true
    return { tape: part.tape(), stamps: part.stamps(), effects: part.effects() }
  }

  /** What it did since. */
  takeLate(): LateTape | undefined {
    this.#isNoted = false
    if (this.#mode !== 'record') return undefined
    const late = this.#part.late()
    if (late !== undefined) this.#part = new Part()
    return late
  }

  /** Where to write. */
  get #open(): Part {
    if (this.#isEnded && !this.#isNoted) {
      this.#isNoted = true
      this.#host.onLate(this)
    }
    return this.#part
  }

  /** End the replay. Nothing that the cell still does counts. */
  diverge(why: Divergence['why'], detail: string): void {
    if (this.#divergence !== undefined || this.#mode !== 'replay') return
    this.#divergence = { why, detail }
    this.#deliveries.stop()
    this.#host.onDivergence(this.cell)
  }

  #exhausted(what: string): never {
    this.diverge('source', what)
    throw this.#host.makeError(`${what} was asked for more than was recorded`)
  }

  /** @param read - the value now, a whole number in the clock's unit. */
  clock(name: string, read: () => number): number {
    if (this.#mode === 'replay') return this.#given?.clock(name) ?? this.#exhausted(name)
    const value = read()
    if (this.#mode === 'guard') return value
    if (!this.#host.records) this.effect('clock', name)
    else if (!this.#open.clock(name, value)) this.#overflow('clock')
    return value
  }

  random(): number {
    if (this.#random === undefined) {
      const seed =
        this.#mode === 'replay' ? (this.#given?.seed() ?? this.#exhausted('Math.random')) : this.#host.randomSeed(this.cell)
      this.#random = new RandomNumbers(seed)
      if (this.#mode === 'record' && this.#host.records) this.#open.seed = seed
    }
    if (this.#mode === 'record' && !this.#host.records) this.effect('entropy', 'Math.random')
    return this.#random.next()
  }

  /** @param draw - real bytes, base64. */
  bytes(count: number, draw: () => string): string {
    if (this.#mode === 'replay') return this.#given?.bytes() ?? this.#exhausted('random bytes')
    const drawn = draw()
    if (this.#mode === 'guard') return drawn
    if (!this.#host.records) this.effect('entropy', 'crypto')
    else if (!this.#open.bytes(drawn, count)) this.#overflow('random bytes')
    return drawn
  }

  /** A recorded result, for a replay; `undefined` when it is to be had for real. */
  givenFact(name: string): { readonly value: Json } | undefined {
    if (this.#mode !== 'replay') return undefined
    const value = this.#given?.fact(name)
    return value === undefined ? this.#exhausted(name) : { value }
  }

  fact(name: string, value: Json): void {
    if (this.#mode !== 'record') return
    if (!this.#host.records) this.effect('clock', name)
    else if (!this.#open.fact(name, value)) this.#overflow(name)
  }

  newTimer(): number {
    return this.#timers++
  }

  newRead(): number {
    return this.#reads++
  }

  newCall(): number {
    return this.#callCount++
  }

  /** How that call went; `undefined` and a divergence when it was another one. */
  transcript(number: number, namespace: string, member: string, args: readonly unknown[]): TranscribedCall | undefined {
    const call = this.#calls[number]
    const name = `${namespace}.${member}`
    if (call === undefined) this.diverge('call', `${name} was not called then`)
    else if (call.namespace !== namespace || call.member !== member)
      this.diverge('call', `${name} instead of ${call.namespace}.${call.member}`)
    else if (canonical(call.arguments) !== canonical(args)) this.diverge('call', `${name} with other arguments`)
    else return call
    return undefined
  }

  /** It is being delivered. */
  delivered(kind: DeliveryKind, number: number): void {
    if (this.#mode !== 'record') return
    if (!this.#host.records) {
      if (kind === 't') this.effect('timer')
      return
    }
    if (kind !== 'l') this.#host.onDelivery(this)
    if (!this.#open.delivery(kind, number, this.#host.moment())) this.#overflow('deliveries')
  }

  /** Deliver it when its turn comes. */
  hold(kind: DeliveryKind, number: number, run: () => void): void {
    this.#deliveries.hold(kind, number, run)
  }

  letGo(kind: DeliveryKind, number: number): void {
    this.#deliveries.letGo(kind, number)
  }

  needsStamp(of: Stamp['of'], path: string): boolean {
    return this.#mode === 'record' && !this.#part.hasStamp(of, path)
  }

  stamp(stamp: Stamp, hashed: number): void {
    if (this.#mode === 'record' && !this.#open.stamp(stamp, hashed)) this.#overflow(stamp.of === 'env' ? 'environment' : 'files')
  }

  hasEffect(kind: string): boolean {
    return this.#part.hasEffect(kind)
  }

  /** Touches the outside, or gives what cannot be repeated. Throws in a replay. */
  effect(kind: string, subject?: string): void {
    if (this.#mode !== 'record') {
      const what = subject === undefined ? kind : `${kind} ${subject}`
      this.diverge('effect', what)
      throw this.#host.makeError(`${what}: nothing outside is touched while a cell is run again`)
    }
    const shown = subject === undefined || subject.length <= 120 ? subject : `${subject.slice(0, 119)}…`
    if (this.#open.effect(kind, shown)) this.#host.onEffect(this.cell, kind, shown)
  }

  #overflow(source: string): void {
    this.effect('overflow', source)
  }
}

/** Equal texts for equal JSON values, whatever the order of names. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  )
}
