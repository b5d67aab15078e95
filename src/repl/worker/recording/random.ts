/** Random numbers from a seed: xoshiro128**, two draws for the 53 bits of a number. The same seed gives the same numbers, however many are drawn. */
export class RandomNumbers {
  readonly #state: Uint32Array

  /** @param seed - 32 hex digits. */
  constructor(seed: string) {
    this.#state = new Uint32Array(4)
    for (let i = 0; i < 4; i++) this.#state[i] = Number.parseInt(seed.slice(i * 8, i * 8 + 8), 16)
    // All zeros would stay zeros.
    if (this.#state.every(each => each === 0)) this.#state[0] = 1
  }

  /** From 0, below 1. */
  next(): number {
    const high = this.#draw() >>> 5
    const low = this.#draw() >>> 6
    return (high * 0x4000000 + low) / 0x20000000000000
  }

  #draw(): number {
    const s = this.#state
    const result = Math.imul(rotate(Math.imul(s[1]!, 5), 7), 9) >>> 0
    const t = s[1]! << 9
    s[2]! ^= s[0]!
    s[3]! ^= s[1]!
    s[1]! ^= s[2]!
    s[0]! ^= s[3]!
    s[2]! ^= t
    s[3] = rotate(s[3]!, 11)
    return result
  }
}

const rotate = (value: number, by: number): number => (value << by) | (value >>> (32 - by))
