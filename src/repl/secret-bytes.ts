/** Secrets inside encoded values: bytes in the same number stand in their places, so that a copy can be stored and made whole where the environment still has them. */
import { createHash } from 'node:crypto'

/** Where a secret stood. */
export interface SecretPlace {
  /** Of the first byte. */
  readonly at: number
  /** Two bytes a unit instead of UTF-8. */
  readonly wide?: true
  /** SHA-256 of the value, in hex. */
  readonly secret: string
  /** The variable that held it. */
  readonly env: string
}

export interface SecretBytes {
  /** The bytes without secrets, and their places. `undefined`: something in it only looks like a secret, and could not be had again. */
  hide(bytes: Uint8Array): Promise<{ readonly bytes: Uint8Array; readonly places: readonly SecretPlace[] } | undefined>
  /** The bytes before `hide`; `undefined` where a secret is not the same any more. */
  show(bytes: Uint8Array, places: readonly SecretPlace[]): Uint8Array | undefined
  /** Whether a secret is in it, of either sort. */
  holds(bytes: Uint8Array): boolean
}

const chunkBytes = 1024 * 1024
/** What a pattern needs of the piece before. */
const overlapBytes = 4 * 1024
const filler = 0x2a

/** @param env - names of the variables by value, longest value first. @param find - masks what looks like a secret by itself. */
export function createSecretBytes(env: ReadonlyMap<string, string>, find: (text: string) => string): SecretBytes {
  const known = [...env].map(([value, name]) => {
    const secret = createHash('sha256').update(value).digest('hex')
    return { secret, env: name, narrow: Buffer.from(value), wide: Buffer.from(value, 'utf16le') }
  })

  /** Texts stand behind their lengths, and one of 48 and more can look like a letter. */
  const looksSecret = (bytes: Buffer): boolean => {
    const runs = bytes
      .toString('latin1')
      .replaceAll('\0', '')
      .match(/[\x09\x0a\x0d\x20-\x7e]{12,}/g)
    if (runs === null) return false
    const text = [...runs, ...runs.filter(run => run.length > 48).map(run => run.slice(1))].join('\n')
    return find(text) !== text
  }

  return {
    async hide(bytes) {
      let hidden = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      const places: SecretPlace[] = []
      for (const { secret, env: name, narrow, wide } of known) {
        for (const [form, isWide] of [
          [narrow, false],
          [wide, true],
        ] as const) {
          for (let at = hidden.indexOf(form); at >= 0; at = hidden.indexOf(form, at + form.length)) {
            if (places.length === 0) hidden = Buffer.from(hidden)
            hidden.fill(filler, at, at + form.length)
            places.push({ at, ...(isWide && { wide: true as const }), secret, env: name })
          }
        }
      }
      for (let at = 0; at < hidden.length; at += chunkBytes) {
        if (looksSecret(hidden.subarray(Math.max(0, at - overlapBytes), at + chunkBytes))) return undefined
        if (at + chunkBytes < hidden.length) await new Promise(resolve => setImmediate(resolve))
      }
      return { bytes: hidden, places }
    },
    show(bytes, places) {
      if (places.length === 0) return bytes
      const shown = Buffer.from(bytes)
      for (const { at, wide, secret } of places) {
        const value = known.find(each => each.secret === secret)
        if (value === undefined) return undefined
        const form = wide ? value.wide : value.narrow
        if (at + form.length > shown.length) return undefined
        form.copy(shown, at)
      }
      return shown
    },
    holds(bytes) {
      const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      return known.some(({ narrow, wide }) => all.includes(narrow) || all.includes(wide)) || looksSecret(all)
    },
  }
}
