/**
 * Secrets never reach the disk: values of environment variables that look like one, and what looks like one by itself. A text is stored with marks in
 * their places and the hash of each, so that it can be read again where the environment still has them.
 */
import { createHash } from 'node:crypto'
import { createSecretBytes, type SecretBytes } from './secret-bytes.ts'
import type { SecretUse } from './types.ts'

const secretName = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH/i
const minUnits = 8
const mark = '•••'

export interface Secrets {
  /** Longest first, so that one inside another leaves nothing. */
  readonly values: readonly string[]
  /** The same in encoded values. */
  readonly bytes: SecretBytes
  mask(text: string): string
  /** The masked text, and what stands behind its marks, in order. */
  hide(text: string): { readonly text: string; readonly uses: readonly SecretUse[] }
  /** The text before `hide`; `undefined` where a secret is not the same any more, or was never one of the environment. */
  show(text: string, uses: readonly SecretUse[]): string | undefined
}

/** @param find - masks what looks like a secret by itself. */
export function createSecrets(env: Readonly<Record<string, string | undefined>>, find: (text: string) => string): Secrets {
  const names = new Map<string, string>()
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && value.length >= minUnits && secretName.test(name) && !names.has(value)) names.set(value, name)
  }
  const values = [...names.keys()].sort((a, b) => b.length - a.length)
  const hashes = new Map(values.map(value => [hashOf(value), value]))
  const pattern = values.length === 0 ? undefined : new RegExp(values.map(escapeForPattern).join('|'), 'g')
  const mask = (text: string): string => find(pattern === undefined ? text : text.replace(pattern, mark))

  return {
    values,
    bytes: createSecretBytes(new Map(values.map(value => [value, names.get(value)!])), find),
    mask,
    hide(text) {
      const uses: SecretUse[] = []
      const own = text.split(mark).length - 1
      const masked =
        pattern === undefined
          ? text
          : text.replace(pattern, value => {
              uses.push({ secret: hashOf(value), env: names.get(value)! })
              return mark
            })
      const found = find(masked)
      // What only looks like a secret cannot be had again, and neither can a text that has marks of its own.
      if (found !== masked || (own > 0 && uses.length > 0)) uses.push({ secret: '' })
      return { text: found, uses }
    },
    show(text, uses) {
      if (uses.length === 0) return text
      const parts = text.split(mark)
      if (parts.length - 1 !== uses.length) return undefined
      let shown = parts[0]!
      for (const [index, { secret }] of uses.entries()) {
        const value = hashes.get(secret)
        if (value === undefined) return undefined
        shown += value + parts[index + 1]!
      }
      return shown
    },
  }
}

const hashOf = (value: string): string => createHash('sha256').update(value).digest('hex')

const escapeForPattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
