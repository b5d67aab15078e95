/** The one builder of messages that Outrigger puts into a conversation of the host. */
import { boundContextSummary, createUserMessage, type UserMessage } from '@deepseek-ai/dsh-llm'
import { type Tip, tipName } from '../repl/tips.ts'
import type { ActionOf, EngineName } from '../session/actions.ts'

/**
 * A user-role message of ours, which the host's chat shows folded under its summary.
 *
 * @param engine - whose text it is; left out when it is the text of several engines.
 * @param summary - one line for people; what is beyond 120 characters is cut.
 */
export function notice(engine: EngineName | undefined, text: string, summary: string): UserMessage {
  return createUserMessage({
    content: [{ type: 'text', text }],
    source: {
      kind: 'plugin',
      plugin: engine === undefined ? 'outrigger' : `outrigger-${engine}`,
      form: 'notice',
      summary: boundContextSummary(summary),
    },
  })
}

export function contextMessage(action: ActionOf<'add-context'>): UserMessage {
  return notice(action.engine, action.text, action.summary)
}

/** A turn of ours, which nobody typed. */
export function submission(action: ActionOf<'submit'>): UserMessage {
  return notice(action.engine, action.text, action.text.split('\n', 1)[0] ?? '')
}

/** A hint of the REPL; the host's log keeps it by its name. */
export function tipMessage(tip: Tip): UserMessage {
  return createUserMessage({
    content: [{ type: 'text', text: tip.text }],
    source: { kind: 'plugin', plugin: 'outrigger-repl', form: 'snapshot', sections: [{ name: tipName(tip), text: tip.text }] },
  })
}
