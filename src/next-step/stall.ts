/** Does a loop still get anywhere? Judged from its rounds, without a model. */
import { isSimilar } from './similar.ts'
import type { Loop, Round } from './types.ts'

export type Stall =
  | { readonly kind: 'goes-on'; readonly repeats: number }
  | { readonly kind: 'warn'; readonly repeats: number }
  | { readonly kind: 'stalled'; readonly rule: 'idle' | 'repeat' | 'flat' }

/** @param text - of the offer that would be fired; counted once per `gen`. */
export function stallOf(loop: Loop, offer: { readonly gen: string; readonly text: string }, flatRounds: number): Stall {
  const rounds = loop.rounds.filter(({ isOver }) => isOver)
  if (rounds.length >= 2 && rounds.slice(-2).every(({ isIdle }) => isIdle)) return { kind: 'stalled', rule: 'idle' }
  if (rounds.length >= flatRounds && rounds.slice(-flatRounds).every(({ hasProgress }) => !hasProgress))
    return { kind: 'stalled', rule: 'flat' }
  if (!isRepeat(rounds, offer.text)) return { kind: 'goes-on', repeats: 0 }
  if (loop.repeatOf === offer.gen) return { kind: 'goes-on', repeats: loop.repeats }
  return loop.repeats >= 1 ? { kind: 'stalled', rule: 'repeat' } : { kind: 'warn', repeats: loop.repeats + 1 }
}

function isRepeat(rounds: readonly Round[], text: string): boolean {
  const last = rounds.at(-1)
  if (last === undefined || last.hasProgress) return false
  return rounds.slice(-2).some(round => isSimilar(round.text, text))
}
