/** A tape being read: each source gives what it gave, in order. */
import type { Json } from '../../../ports/json.ts'
import type { Tape } from '../tape.ts'

export class Given {
  readonly #tape: Tape
  readonly #clocks = new Map<string, { at: number; left: number; value: number }>()
  readonly #facts = new Map<string, number>()
  #bytes = 0
  #seed = false

  constructor(tape: Tape) {
    this.#tape = tape
  }

  /** `undefined`, here and below: more is asked for than was recorded. */
  clock(name: string): number | undefined {
    const runs = this.#tape.clocks?.[name]
    if (runs === undefined) return undefined
    let clock = this.#clocks.get(name)
    if (clock === undefined) this.#clocks.set(name, (clock = { at: 0, left: 0, value: 0 }))
    if (clock.left === 0) {
      if (clock.at >= runs.length) return undefined
      clock.value += runs[clock.at]!
      clock.left = runs[clock.at + 1] ?? 0
      clock.at += 2
    }
    clock.left--
    return clock.value
  }

  seed(): string | undefined {
    if (this.#seed) return undefined
    this.#seed = true
    return this.#tape.seed
  }

  bytes(): string | undefined {
    return this.#tape.bytes?.[this.#bytes++]
  }

  fact(name: string): Json | undefined {
    const at = this.#facts.get(name) ?? 0
    this.#facts.set(name, at + 1)
    return this.#tape.facts?.[name]?.[at]
  }
}
