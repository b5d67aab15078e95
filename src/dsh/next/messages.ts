/** Messages by which next-step starts turns, found again by their id: the loop's, which a plugin wrote, and a person's Run. */
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { UserMessage } from '@deepseek-ai/dsh-llm'
import { loopMessage } from '../../next-step/message.ts'
import type { ActionOf } from '../../session/actions.ts'

/** A message of ours: which offer it is, and who starts the turn. */
export interface OwnMessage {
  readonly offer: string
  readonly as: 'plugin' | 'person'
}

const loopId = /^next-\d+-(.+)$/
const runId = /^next-run-(.+)$/

export function ownMessage({ id, source }: UserMessage): OwnMessage | undefined {
  const run = runId.exec(id)?.[1]
  if (run !== undefined) return source?.kind === 'user' ? { offer: run, as: 'person' } : undefined
  const loop = loopId.exec(id)?.[1]
  return loop !== undefined && isOurs(source) ? { offer: loop, as: 'plugin' } : undefined
}

/** In the form of any host: `loopMessage` writes the one that it knows. */
function isOurs(source: UserMessage['source']): boolean {
  const { kind, plugin } = (source ?? {}) as { readonly kind?: string; readonly plugin?: string }
  return kind === 'plugin:outrigger' || (kind === 'plugin' && plugin === 'outrigger')
}

/** The message of an offer: the person's own words when a person ran it. `undefined`: the action is no offer's. */
export function offerMessage(action: ActionOf<'submit'>, agent: Agent): UserMessage | undefined {
  const { offer, turn = 0, round = 1, of = 1, text } = action
  if (action.engine !== 'next' || offer === undefined) return undefined
  if (action.as === 'person') {
    return {
      id: `next-run-${offer}`,
      role: 'user',
      source: { kind: 'user' },
      content: [{ type: 'text', text }],
    } as unknown as UserMessage
  }
  const hostFormat = agent.session.header.version ?? 0
  return loopMessage({ turn, gen: offer, round, of, text, hostFormat }) as unknown as UserMessage
}

/** Take a message back that has not begun its turn. `false`: it is not in the inbox any more. */
export function takeBack(agent: Agent, offer: string): boolean {
  const message = agent.inbox.nextTurn.find(each => ownMessage(each)?.offer === offer && ownMessage(each)?.as === 'plugin')
  return message !== undefined && agent.inbox.remove(message.id)
}
