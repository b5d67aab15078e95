/** The one builder of messages that Outrigger puts into a conversation of the host. */
import { boundContextSummary, createUserMessage, type MessageSource, type UserMessage } from '@deepseek-ai/dsh-llm'
import { type Tip, tipName } from '../repl/tips.ts'
import type { ActionOf, EngineName, ReplacedSource } from '../session/actions.ts'

declare module '@deepseek-ai/dsh-llm' {
  interface MessageSourceMap {
    'test-suggester': { readonly kind: 'test-suggester'; readonly form: 'notice'; readonly summary: string }
  }
}

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

export function contextMessage({ engine, text, summary, source }: ActionOf<'add-context'>): UserMessage {
  if (source === undefined) return notice(engine, text, summary)
  return createUserMessage({
    content: [{ type: 'text', text }],
    source: { kind: source, form: 'notice', summary: boundContextSummary(summary) },
  })
}

/**
 * What may stand beside messages that are there already: companion says nothing where one of its kind spoke.
 *
 * @param there - of other plugins, among them perhaps the hook that companion replaces.
 */
export function besides(
  added: readonly UserMessage[],
  there: readonly { readonly source: MessageSource }[],
): readonly UserMessage[] {
  const kinds = new Set(there.map(({ source }) => kindOf(source)))
  return added.filter(({ source }) => !companionKinds.has(kindOf(source)) || !kinds.has(kindOf(source)))
}

const companionKinds: ReadonlySet<string> = new Set<ReplacedSource | 'plugin:outrigger-companion'>([
  'plugin:outrigger-companion',
  'test-suggester',
])

const kindOf = (source: MessageSource): string => (source.kind === 'plugin' ? `plugin:${source.plugin}` : source.kind)

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
