/** What a surface shows of a session: one value, so that bar, ghost and band never disagree. */
import type { SessionValue } from './effects.ts'
import { displacedText, failureText, holdText, stopText } from './texts.ts'
import type { Intent } from './types.ts'

export interface NextView {
  readonly kind: 'none' | 'offer' | 'analyzing' | 'checking' | 'failed'
  readonly turn: number | null
  readonly gen: string | null
  readonly text: string
  readonly intent: Intent
  /** Why there is no offer, in words. */
  readonly why: string
  /** Autorun can be switched on here. */
  readonly mayArm: boolean
  readonly loop: {
    readonly armed: boolean
    readonly rounds: number
    readonly of: number
    readonly tokens: number
    readonly maxTokens: number
    /** ms since the epoch; 0 while disarmed. */
    readonly endsAt: number
    readonly hold: string | null
    /** What a person should know of it that changes nothing for it; `null`: nothing. */
    readonly note: string | null
    /** Why the last one ended, in words; `null`: none did, or a person ended it. */
    readonly stopped: string | null
  }
}

/** @param holdDetail - what the words of a hold need beside its name. */
export function viewOf({ stored, facts, local }: SessionValue, holdDetail: string): NextView | null {
  const { isChild, isInteractive, isMounted, isStarter } = facts
  if (isChild || !isInteractive || !isMounted) return null
  const { row } = stored
  const { loop, stopped, lastSpent, lastGrant } = local
  const spent = loop?.spent ?? lastSpent
  const isByPerson = stopped === null || stopped === 'person' || stopped === 'human'
  return {
    kind: kindOf(row?.status, local.check !== null && local.generation?.isAsked === false),
    turn: row?.turn ?? null,
    gen: row?.gen ?? null,
    text: row?.status === 'ready' ? row.text : '',
    intent: row?.intent ?? 'worker-step',
    why: row?.status === 'failed' ? failureText(row.reason, row.error) : '',
    mayArm: isStarter && !stored.off,
    loop: {
      armed: loop !== null,
      rounds: spent.rounds,
      of: loop?.grant.rounds ?? lastGrant?.rounds ?? 0,
      tokens: spent.tokens,
      maxTokens: loop?.grant.tokens ?? lastGrant?.tokens ?? 0,
      endsAt: loop === null ? 0 : loop.armedAt + loop.grant.ms,
      // A turn is just ending: that is no waiting.
      hold: loop?.hold == null || loop.hold === 'running' ? null : holdText(loop.hold, holdDetail),
      note: loop?.hasDisplaced === true ? displacedText : null,
      stopped: loop !== null || isByPerson ? null : stopText(stopped),
    },
  }
}

function kindOf(status: string | undefined, isChecking: boolean): NextView['kind'] {
  switch (status) {
    case 'ready':
      return 'offer'
    case 'analyzing':
      return isChecking ? 'checking' : 'analyzing'
    case 'failed':
      return 'failed'
    default:
      return 'none'
  }
}
