/** Answers of commands as text for people; takes nothing but the document. */
import {
  countOf,
  displacedText,
  failureText,
  ineligibleText,
  minutesOf,
  quietText,
  refusals,
  stopText,
  tokensOf,
} from './texts.ts'

export type ReplyDocument = Readonly<Record<string, unknown>> & { readonly name: string; readonly ok: boolean }

/** The answer with its kind: `offer quiet failed off pending done refused`. */
export function documentOf(reply: ReplyDocument): ReplyDocument & { readonly kind: string } {
  const { kind } = reply
  return { ...reply, kind: !reply.ok ? 'refused' : typeof kind === 'string' ? kind : 'done' }
}

export function answerText(reply: ReplyDocument): string {
  if (!reply.ok) return refusedText(reply)
  switch (reply.name) {
    case 'arm':
      return armText(reply)
    case 'disarm':
      return reply['was'] === 'armed' ? 'Autorun is off.' : 'Autorun was off.'
    case 'run':
      return `Running: ${String(reply['text'])}`
    case 'suggest':
      return suggestText(reply)
    case 'state':
      return 'view' in reply ? `${wireLine(reply)}\n${stateText(reply)}` : stateText(reply)
    case 'off':
      return 'next is off in this session; /next on turns it on again.'
    case 'on':
      return 'next is on.'
    case 'model':
      return reply['model'] === ''
        ? 'no model; only what the session itself makes obvious is offered'
        : `model: ${String(reply['model'])} (${String(reply['source'])})`
    case 'dismiss':
      return 'dismissed'
    default:
      return 'done'
  }
}

function refusedText(reply: ReplyDocument): string {
  const code = String(reply['code'])
  const refusal = refusals[code]
  if (refusal === undefined) return code
  const holder = typeof reply['holder'] === 'string' ? ` (${reply['holder'].split(':')[0]})` : ''
  return `${code}: ${refusal.message}${holder}; ${refusal.hint}`
}

interface GrantShown {
  readonly rounds: number
  readonly tokens: number
  readonly ms: number
  readonly until: string | null
}

function armText(reply: ReplyDocument): string {
  const grant = reply['grant'] as GrantShown
  const until = grant.until === null ? '' : `, until \`${grant.until}\` succeeds`
  const budget = `${countOf(grant.rounds, 'round')}, ${tokensOf(grant.tokens)}, ${grant.ms / 60_000} min${until}`
  const head =
    reply['already'] === true ? `Autorun is armed already: ${budget}.` : `Autorun: ${budget}. Your words or Stop end it.`
  if (reply['displaced'] === true) return `${head}\n${displacedText}`
  return reply['displaced'] === false ? `${head}\nThe goal still drives itself; the loop waits for it.` : head
}

function suggestText(reply: ReplyDocument): string {
  const offer = reply['offer'] as { readonly text: string; readonly intent: string } | undefined
  if (offer !== undefined) return offer.intent === 'goal-edit' ? `Changes the goal: ${offer.text}` : `Next: ${offer.text}`
  if (reply['kind'] === 'pending') return 'Looking for the next step…'
  const reason = String(reply['reason'] ?? '')
  if (reply['kind'] === 'failed') return `No suggestion: ${failureText(reason, null)}`
  return `No suggestion: ${reply['kind'] === 'off' ? ineligibleText(reason) : quietText(reason)}`
}

/** What a page reads that has no other way to the host. */
function wireLine({ name: _, ...state }: ReplyDocument): string {
  return JSON.stringify({ schema: 'outrigger.next.state/1', ...state })
}

interface OfferRow {
  readonly status: string
  readonly text: string
  readonly intent: string
  readonly reason: string | null
  readonly error: string | null
  readonly gen: string | null
}

interface LoopShown {
  readonly armed: boolean
  readonly reason: string | null
  readonly spent: { readonly rounds: number; readonly tokens: number; readonly ms: number }
}

function stateText(reply: ReplyDocument): string {
  const offer = reply['offer'] as OfferRow | null
  const { armed, reason, spent: used } = reply['loop'] as LoopShown
  const spent = `${countOf(used.rounds, 'round')}, ${tokensOf(used.tokens)}, ${minutesOf(used.ms)}`
  const why = reply['reason']
  const nothing = `next has nothing to do in this session${typeof why === 'string' ? `: ${ineligibleText(why)}` : ''}`
  const line = offer === null || offer.gen === null ? undefined : offerText(offer)
  return [
    String(reply['status'] ?? nothing),
    ...(line === undefined ? [] : [line]),
    // What it waits for stands in the first line.
    ...(armed ? [`autorun: ${spent} so far`] : []),
    ...(!armed && reason !== null ? [`autorun stopped: ${stopText(reason)} (${spent})`] : []),
  ].join('\n')
}

/** The stored step in words; its name is for programs. */
function offerText({ status, text, intent, reason, error }: OfferRow): string | undefined {
  switch (status) {
    case 'ready':
      return intent === 'goal-edit' ? `Changes the goal: ${text}` : `Next: ${text}`
    case 'analyzing':
      return 'Looking for the next step…'
    case 'quiet':
      return `No suggestion: ${quietText(reason)}`
    case 'failed':
      return `No suggestion: ${failureText(reason, error)}`
    case 'consumed':
      return `Sent: ${text}`
    case 'superseded':
      return text === '' ? undefined : `Withdrawn, as ${quietText(reason)}: ${text}`
    default:
      return undefined
  }
}
