/**
 * The message of the loop, visibly authored by a plugin. One builder makes it and refuses what a host could take for a person's
 * words or for its own goal driver's.
 */
import { OutriggerError } from '../errors.ts'
import { clip } from '../text/clip.ts'

export type MessageSource =
  | { readonly kind: 'plugin:outrigger'; readonly form: ContextForm; readonly summary: string }
  | { readonly kind: 'plugin'; readonly plugin: 'outrigger'; readonly form: ContextForm; readonly summary: string }

export type ContextForm = 'instructions' | 'catalog' | 'snapshot' | 'notice' | 'relay' | 'recall'

export interface LoopMessage {
  readonly id: string
  readonly role: 'user'
  readonly source: MessageSource
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }]
}

const forms: readonly string[] = ['instructions', 'catalog', 'snapshot', 'notice', 'relay', 'recall']

export interface LoopMessageParts {
  readonly turn: number
  readonly gen: string
  readonly round: number
  readonly of: number
  readonly text: string
  /** Of the host's session files; those below 4 know the kind `plugin` only. */
  readonly hostFormat: number
}

export function loopMessage({ turn, gen, round, of, text, hostFormat }: LoopMessageParts): LoopMessage {
  const summary = clip(`Autorun ${round} of ${of}: ${text}`, 120, 'utf16', '…')
  const form = 'notice'
  const source: MessageSource =
    hostFormat < 4 ? { kind: 'plugin', plugin: 'outrigger', form, summary } : { kind: 'plugin:outrigger', form, summary }
  return checked({
    id: `next-${turn}-${gen}`,
    role: 'user',
    source,
    content: [{ type: 'text', text: `[outrigger autorun ${round} of ${of}; not typed by a person]\n${text}` }],
  })
}

/** Throws `NEXT_BAD_MESSAGE` for a source that a host could take for another's. */
export function checked(message: LoopMessage): LoopMessage {
  const source: { readonly kind: string; readonly plugin?: string; readonly form: string; readonly summary: string } =
    message.source
  const kind = source.kind.trim()
  const isForeign = kind === '' || kind === 'user' || kind === 'goal' || (kind === 'plugin' && (source.plugin ?? '') === '')
  if (isForeign) throw bad('source.kind')
  if (!forms.includes(source.form)) throw bad('source.form')
  if (source.summary === '') throw bad('source.summary')
  if (message.id === '') throw bad('id')
  return message
}

function bad(field: string): OutriggerError {
  return new OutriggerError('NEXT_BAD_MESSAGE', `a message of the loop has a bad "${field}"`, { subject: field, exit: 70 })
}
