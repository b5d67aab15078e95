/** Who may acknowledge what, and with which words: the `ack` section of the configuration. Pure. */
import picomatch from 'picomatch'
import { OutriggerError } from '../errors.ts'
import { hints, type Voice } from '../session/voice.ts'
import type { KeelConfig } from './types.ts'

/** Bounds of a stated reason, in UTF-16 units after trimming. */
export const reasonBounds: { readonly min: number; readonly max: number } = { min: 3, max: 500 }

/** Only a person may say that this child still holds (`ack.personOnly`). */
export function isPersonOnly(config: Pick<KeelConfig, 'ack'>, child: string): boolean {
  return config.ack.personOnly.length > 0 && matcherOf(config.ack.personOnly)(child)
}

/**
 * The reason as it will be recorded.
 *
 * @param way - how to give one, for either reader.
 * @throws `KEEL_REASON_REQUIRED` when it is missing or out of bounds.
 */
export function checkReason(reason: string | undefined, way: (voice: Voice) => string): string {
  const trimmed = (reason ?? '').trim()
  if (trimmed.length >= reasonBounds.min && trimmed.length <= reasonBounds.max) return trimmed
  const what =
    trimmed === ''
      ? 'an acknowledgement of a suspect needs a reason'
      : `the reason has ${trimmed.length} characters after trimming`
  throw new OutriggerError('KEEL_REASON_REQUIRED', what, {
    subject: 'reason',
    ...hints(voice => `say in ${reasonBounds.min}–${reasonBounds.max} characters why the document still holds: ${way(voice)}`),
  })
}

const matchers = new WeakMap<readonly string[], (path: string) => boolean>()

/** Globs are compiled once per configuration. */
function matcherOf(globs: readonly string[]): (path: string) => boolean {
  const known = matchers.get(globs)
  if (known !== undefined) return known
  const matches = picomatch([...globs], { dot: true })
  const matcher = (path: string): boolean => matches(path)
  matchers.set(globs, matcher)
  return matcher
}
