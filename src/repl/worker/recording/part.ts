/** What is being recorded of a cell until it is sent: its tape, and what it read and touched outside. */
import type { Json } from '../../../ports/json.ts'
import type { Effect } from '../../types.ts'
import type { LateTape, Stamp, Tape } from '../tape.ts'

export const limits: Readonly<
  Record<
    | 'clockReads'
    | 'clockUnits'
    | 'bytes'
    | 'deliveries'
    | 'facts'
    | 'factUnits'
    | 'variables'
    | 'stamps'
    | 'hashedBytes'
    | 'effects',
    number
  >
> = {
  clockReads: 20_000,
  clockUnits: 128 * 1024,
  bytes: 64 * 1024,
  deliveries: 20_000,
  facts: 1_000,
  factUnits: 64 * 1024,
  variables: 1_000,
  stamps: 256,
  hashedBytes: 16 * 1024 * 1024,
  effects: 20,
}

export type DeliveryKind = 't' | 'c' | 'f' | 'l'

interface Clock {
  readonly runs: number[]
  last: number
}

export class Part {
  readonly #clocks = new Map<string, Clock>()
  #reads = 0
  #clockUnits = 0
  seed: string | undefined
  readonly #bytes: string[] = []
  #byteCount = 0
  readonly #facts = new Map<string, Json[]>()
  #factCount = 0
  #factUnits = 0
  readonly #deliveries: [DeliveryKind, number, number][] = []
  readonly #stamps = new Map<string, Stamp>()
  #files = 0
  #variables = 0
  #hashed = 0
  readonly #effects = new Map<string, { kind: string; subject?: string; count: number }>()

  /** False: it is one too many. Equal values in a row are one. */
  clock(name: string, value: number): boolean {
    let clock = this.#clocks.get(name)
    if (clock === undefined) this.#clocks.set(name, (clock = { runs: [], last: 0 }))
    const { runs } = clock
    if (runs.length > 0 && clock.last === value) {
      runs[runs.length - 1]!++
      return true
    }
    const difference = value - clock.last
    this.#clockUnits += String(difference).length + 3
    if (++this.#reads > limits.clockReads || this.#clockUnits > limits.clockUnits) return false
    runs.push(difference, 1)
    clock.last = value
    return true
  }

  bytes(base64: string, count: number): boolean {
    this.#byteCount += count
    if (this.#byteCount > limits.bytes) return false
    this.#bytes.push(base64)
    return true
  }

  fact(name: string, value: Json): boolean {
    this.#factUnits += JSON.stringify(value).length
    if (++this.#factCount > limits.facts || this.#factUnits > limits.factUnits) return false
    const known = this.#facts.get(name)
    if (known === undefined) this.#facts.set(name, [value])
    else known.push(value)
    return true
  }

  delivery(kind: DeliveryKind, number: number, at: number): boolean {
    if (this.#deliveries.length >= limits.deliveries) return false
    this.#deliveries.push([kind, number, at])
    return true
  }

  hasStamp(of: Stamp['of'], path: string): boolean {
    return this.#stamps.has(`${of}\0${path}`)
  }

  /** @param hashed - bytes that were read for it. */
  stamp(stamp: Stamp, hashed: number): boolean {
    this.#hashed += hashed
    const count = stamp.of === 'env' ? ++this.#variables : ++this.#files
    if (count > (stamp.of === 'env' ? limits.variables : limits.stamps) || this.#hashed > limits.hashedBytes) return false
    this.#stamps.set(`${stamp.of}\0${stamp.path}`, stamp)
    return true
  }

  /** True: the first of its kind. */
  effect(kind: string, subject: string | undefined): boolean {
    const key = `${kind}\0${subject ?? ''}`
    const known = this.#effects.get(key)
    if (known !== undefined) {
      known.count++
      return false
    }
    let isFirst = true
    for (const each of this.#effects.values()) if (each.kind === kind) isFirst = false
    if (this.#effects.size < limits.effects || isFirst)
      this.#effects.set(key, { kind, ...(subject !== undefined && { subject }), count: 1 })
    return isFirst
  }

  hasEffect(kind: string): boolean {
    for (const each of this.#effects.values()) if (each.kind === kind) return true
    return false
  }

  effects(): readonly Effect[] {
    return [...this.#effects.values()].slice(0, limits.effects)
  }

  stamps(): readonly Stamp[] {
    return [...this.#stamps.values()]
  }

  /** `undefined`: nothing was recorded. */
  tape(): Tape | undefined {
    const parts = {
      ...(this.seed !== undefined && { seed: this.seed }),
      ...(this.#clocks.size > 0 && { clocks: Object.fromEntries([...this.#clocks].map(([name, { runs }]) => [name, runs])) }),
      ...(this.#bytes.length > 0 && { bytes: this.#bytes }),
      ...(this.#facts.size > 0 && { facts: Object.fromEntries(this.#facts) }),
      ...(this.#deliveries.length > 0 && { deliveries: this.#deliveries }),
    }
    return Object.keys(parts).length === 0 ? undefined : { v: 1, ...parts }
  }

  /** `undefined`: nothing happened. */
  late(): LateTape | undefined {
    const tape = this.tape()
    if (tape === undefined && this.#stamps.size === 0 && this.#effects.size === 0) return undefined
    return { v: 1, ...tape, stamps: this.stamps(), effects: this.effects() }
  }
}
