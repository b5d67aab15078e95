/**
 * A save: the deterministic state first, complete by itself; then, where there is a model, what it adds. A
 * model that is down, slow or silly costs nothing but its additions.
 */
import { OutriggerError } from '../../errors.ts'
import type { EventOf } from '../../session/events.ts'
import { degradedText, detailOf, nothingWrittenText, replies, savedText } from '../messages.ts'
import type { Moment } from '../moment.ts'
import type { SaveWhy, Saving } from '../session.ts'
import type { Designation, SaveDocument } from '../types.ts'
import { autoSaved } from './auto.ts'
import { flush } from './capture.ts'
import { adviseSaved, endFlow, rearm } from './flow.ts'
import { goFresh, openReview } from './fresh.ts'

export interface SaveWish {
  readonly why: SaveWhy
  readonly stream: string
  readonly review: boolean
  /** Without a model on purpose. */
  readonly plain: boolean
  readonly goal: string | null
}

/** Usage and prompt together over this part of the window: the model is asked without the conversation. */
const asideAbove = 0.85
const tickMs = 1_000
const troubleMs = 12_000

export async function startSave(m: Moment, wish: SaveWish): Promise<void> {
  const { stream, why, goal, review } = wish
  const { designate } = m.pack.config
  const isAsking = !wish.plain && designate !== 'off'
  const hasModel = isAsking && m.context.carries.has('ask-model')
  m.set({ outcome: null })
  const first = isAsking && !hasModel ? noModel : undefined
  const saving = { why, stream, goal, review, cycle: m.state.zone.cycle, stays: false }
  const document = await write(m, { ...saving, goal: hasModel ? null : goal }, first)
  if (document === null || !hasModel) return document === null ? undefined : finish(m, saving, document)

  const { prompt, tokens } = await m.pack.prompt(stream, goal ?? undefined)
  const { designateMaxTokens: maxTokens, designateTimeoutMs: timeoutMs } = m.pack.config
  const { context } = m.facts
  const isFull = context !== null && context.window > 0 && context.tokens + tokens > asideAbove * context.window
  const mode = designate === 'session' && !isFull ? 'session' : 'aside'
  const ask = m.ask({ kind: 'ask-model', prompt, purpose: 'pack', mode, maxTokens, timeoutMs })
  m.set({ flow: { kind: 'saving', ...saving, since: m.event.at, ask, autoDue: false } })
  m.wake('tick', tickMs)
  if (why === 'pack' || why === 'save') m.say(true, replies.background(stream))
}

const noModel: Designation = { kind: 'failed', reason: 'no-model' }

type Wanted = Pick<Saving, 'why' | 'stream' | 'goal' | 'review' | 'cycle' | 'stays'>

/** Write, or say why nothing was written; the answer is then `null`. */
async function write(m: Moment, wanted: Wanted, designation?: Designation): Promise<SaveDocument | null> {
  const { stream, goal } = wanted
  try {
    await flush(m, stream)
    const document = await m.pack.save({
      stream,
      session: m.session,
      facts: m.facts,
      ...(designation !== undefined && { designation }),
      ...(goal !== null && { goal }),
    })
    const { revision, outcome, notes } = document
    m.note('saved', `"${stream}" saved as revision ${revision}: ${outcome}`, { detail: { notes: [...notes] } })
    return document
  } catch (error) {
    if (!(error instanceof OutriggerError)) throw error
    await notWritten(m, wanted, error)
    return null
  }
}

/** Nothing could be written: the state before stands. */
async function notWritten(m: Moment, { why, stream, cycle }: Wanted, error: OutriggerError): Promise<void> {
  const reason = error.message
  const text = nothingWrittenText(stream, reason)
  endFlow(m)
  m.set({ outcome: { text, ok: false } })
  m.note('not-saved', text, { reason: error.code })
  if (why === 'auto') return autoSaved(m, { cycle, stream, failed: reason, stays: false, document: null })
  if (why === 'hard') return adviseSaved(m, cycle, { kind: 'failed', why: reason })
  m.say(false, replies.nothingWritten(stream, reason), troubleMs)
}

/** The model answered, or did not. Answers to asks of ended flows are nobody's. */
export async function modelAnswered(m: Moment, event: EventOf<'model-answered'> | EventOf<'model-failed'>): Promise<void> {
  const { flow } = m.state
  if (flow?.kind !== 'saving' || flow.ask !== event.ask) return
  if (event.kind === 'model-failed')
    m.note('model-failed', event.message ?? `the model did not answer: ${event.reason}`, { reason: event.reason })
  const designation: Designation =
    event.kind === 'model-answered' ? { kind: 'reply', text: event.text } : { kind: 'failed', reason: event.reason }
  await conclude(m, flow, designation)
}

/** The door cannot ask anybody. */
export async function askFailed(m: Moment, reason: string): Promise<void> {
  const { flow } = m.state
  if (flow?.kind !== 'saving') return
  const isNobody = reason === 'no-carrier' || reason === 'unsupported'
  await conclude(m, flow, { kind: 'failed', reason: isNobody ? 'no-model' : reason })
}

async function conclude(m: Moment, flow: Saving, designation: Designation): Promise<void> {
  const document = await write(m, flow, designation)
  if (document !== null) await finish(m, flow, document)
}

/** Time goes on in the status line. */
export function tickSaving(m: Moment): void {
  m.wake('tick', tickMs)
}

async function finish(m: Moment, wanted: Wanted, document: SaveDocument): Promise<void> {
  const { why, stream, cycle } = wanted
  endFlow(m)
  const detail = detailOf(document) ?? (document.outcome === 'ok' ? null : document.notes.join(', '))
  const text = detail === null ? savedText(stream, m.clock.now(), document) : degradedText(stream, detail)
  const modelTrouble = document.designation === 'blocked' || document.designation === 'failed'
  const reason = document.reason ?? detail ?? 'no model'
  if (why === 'auto') {
    if (detail !== null) m.set({ outcome: { text, ok: false } })
    const failed = modelTrouble ? reason : null
    return autoSaved(m, { cycle, failed, stays: wanted.stays, document, stream })
  }
  m.set({ outcome: { text, ok: detail === null } })
  if (why === 'hard') return adviseSaved(m, cycle, { kind: 'saved' })
  // A save that a person asked for begins a new cycle.
  rearm(m)
  if (why === 'save') return m.say(true, text, detail === null ? undefined : troubleMs)
  if (wanted.stays) return m.say(true, replies.staying(stream))
  if (wanted.review) return openReview(m, document, null)
  if (modelTrouble) return openReview(m, document, replies.withoutModel(stream, reason))
  await goFresh(m, stream, document)
}
