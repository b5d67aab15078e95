/** Answers of commands as text for people; takes nothing but the document. */
import { displacedText, failureText, holdText, refusals, stopText } from './texts.ts'

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
      return stateText(reply)
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
  const budget = `${grant.rounds} rounds, ${Math.round(grant.tokens / 1_000)}k tokens, ${grant.ms / 60_000} min${until}`
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
  return reply['kind'] === 'failed' ? `No suggestion: ${failureText(reason, null)}` : `${String(reply['kind'])}: ${reason}`
}

function stateText(reply: ReplyDocument): string {
  const offer = reply['offer'] as {
    readonly status: string
    readonly text: string
    readonly reason: string | null
    readonly gen: string | null
  } | null
  const loop = reply['loop'] as {
    readonly armed: boolean
    readonly hold: string | null
    readonly reason: string | null
    readonly spent: { readonly rounds: number; readonly tokens: number; readonly ms: number }
  }
  const spent = `${loop.spent.rounds} rounds, ${Math.round(loop.spent.tokens / 1_000)}k tokens, ${Math.floor(loop.spent.ms / 60_000)} min`
  const lines = [
    String(reply['status'] ?? 'next has nothing to do in this session'),
    ...(offer === null || offer.gen === null
      ? []
      : [
          `offer ${offer.gen}: ${offer.status}${offer.reason === null ? '' : ` (${offer.reason})`}${offer.text === '' ? '' : ` — ${offer.text}`}`,
        ]),
    ...(loop.armed ? [`autorun: ${spent} so far${loop.hold === null ? '' : `; waits: ${holdText(loop.hold)}`}`] : []),
    ...(!loop.armed && loop.reason !== null ? [`autorun stopped: ${stopText(loop.reason)} (${spent})`] : []),
  ]
  return lines.join('\n')
}
