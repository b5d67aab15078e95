/**
 * The last moment before a turn: may a message of the loop begin it? The engine decides, this carries its verdict out. A step that
 * is rejected loses all its messages, so that only one that holds nothing but ours is.
 */
import type { UserMessage } from '@deepseek-ai/dsh-llm'
import type { Action } from '../../session/actions.ts'
import { isPersonMessage } from '../translate.ts'
import { ownMessage } from './messages.ts'

export type Fence =
  | { readonly kind: 'open' }
  /** The turn is not begun at all. */
  | { readonly kind: 'reject' }
  /** It begins without these. */
  | { readonly kind: 'without'; readonly ids: ReadonlySet<string> }

const open: Fence = { kind: 'open' }

/** @param ask - tells the engine and gives what it asks for. */
export async function fence(
  messages: readonly UserMessage[],
  ask: (event: { readonly offer: string; readonly withPerson: boolean }) => Promise<readonly Action[]>,
): Promise<Fence> {
  const refused = new Set<string>()
  for (const message of messages) {
    const own = ownMessage(message)
    if (own?.as !== 'plugin') continue
    const withPerson = messages.some(other => other !== message && isPersonMessage(other))
    const actions = await ask({ offer: own.offer, withPerson })
    const verdict = actions.find(action => action.kind === 'verdict' && action.offer === own.offer)
    // Without an answer nobody vouches for it.
    if (verdict?.kind !== 'verdict' || !verdict.admit) refused.add(message.id)
  }
  if (refused.size === 0) return open
  return refused.size === messages.length ? { kind: 'reject' } : { kind: 'without', ids: refused }
}
