/**
 * From a saved stream to a fresh session: prepared in the store under this session, then asked of the door.
 * What the new session is told is read again when it starts (`starting.ts`).
 */
import type { EventOf } from '../../session/events.ts'
import { cutEnd } from '../../text/data.ts'
import { replies, untrusted } from '../messages.ts'
import type { Moment } from '../moment.ts'
import type { Pending } from '../records.ts'
import { renderDiff } from '../session-texts.ts'
import type { LoadDocument, SaveDocument } from '../types.ts'
import { closeReview, endFlow, forget, rearm } from './flow.ts'

const shownChars = 9_800
/** After this a start that happened in another session is noticed here. */
const lookMs = 3_000
/** How long a notice stays that has to be read. */
const reviewMs = 30_000

/** Save is done: prepare, and go. @returns `false` when the notes may not be handed over. */
export async function goFresh(m: Moment, stream: string, document: Pick<SaveDocument, 'revision' | 'handoff'>): Promise<void> {
  const pending = await prepare(m, stream, document, 'armed')
  if (pending === null) return
  await start(m, pending)
  m.say(true, replies.goingFresh(stream))
}

/** Note a fresh start, or a choice, under this session. `null`: the notes are not this person's, and that was said. */
export async function prepare(
  m: Moment,
  stream: string,
  document: Pick<SaveDocument, 'revision' | 'handoff'>,
  phase: Pending['phase'],
): Promise<Pending | null> {
  const file = document.handoff?.path ?? null
  const loaded = await m.pack.load({ stream, ...(file !== null && { file }) })
  if (loaded.text === null) {
    m.say(false, await untrustedText(m, loaded))
    return null
  }
  const nonce = m.clock.randomHex(16)
  const pending: Pending = { nonce, stream, revision: document.revision, file, createdAt: m.event.at, phase }
  await m.records.setPending(m.session, pending)
  return pending
}

export async function untrustedText(m: Moment, { stream, trust, changes = [] }: LoadDocument): Promise<string> {
  const { streams } = await m.pack.list()
  const saved = streams.find(one => one.stream === stream)?.saved ?? null
  return [untrusted(stream, trust.level, saved), ...changes].join('\n')
}

/** Ask the door for the fresh session. */
export async function start(m: Moment, pending: Pending): Promise<void> {
  const { stream, nonce, file } = pending
  const { text } = await m.pack.load({ stream, ...(file !== null && { file }) })
  rearm(m)
  const action = m.ask({ kind: 'start-fresh', seed: { stream, nonce, text: text ?? '' } })
  m.set({ flow: { kind: 'armed', stream, nonce, action, isPersonsTurn: false, isElsewhere: false }, outcome: null })
  m.wake('look', lookMs)
}

/** The door could not start fresh: the person does. */
export function startFailed(m: Moment, event: EventOf<'action-failed'>): void {
  const { flow } = m.state
  if (flow?.kind !== 'armed' || flow.action !== event.action) return
  m.set({ flow: { ...flow, isPersonsTurn: true, isElsewhere: event.reason === elsewhere } })
}

/** Why a door that has no `/clear` did not start fresh. */
const elsewhere = 'host:handover'

/** Did the fresh session take what was prepared? Then nothing is open here any more. */
export async function look(m: Moment): Promise<void> {
  const { flow } = m.state
  if (flow?.kind !== 'armed') return
  const pending = await m.records.pending(m.session)
  if (pending?.nonce !== flow.nonce) endFlow(m)
}

/** The saved notes are there; the person chooses. @param why - what to say first. */
export async function openReview(m: Moment, document: SaveDocument, why: string | null): Promise<void> {
  const { stream, revision } = document
  const pending = await prepare(m, stream, document, 'review')
  if (pending === null) return
  const diff = await m.pack.diff(stream)
  const state = (await m.pack.show(stream)).state?.text ?? ''
  const markdown = cutEnd(`${renderDiff(diff)}\n\n${state}`, shownChars)
  if (m.context.carries.has('show-review')) {
    const action = m.ask({
      kind: 'show-review',
      review: {
        id: pending.nonce,
        title: `pack: ${stream}`,
        markdown,
        buttons: [
          { label: 'continue', key: 'c', command: '/pack continue' },
          { label: 'stay', key: 'x', command: '/pack cancel' },
        ],
      },
    })
    m.set({ flow: { kind: 'review', stream, nonce: pending.nonce, action } })
    return m.say(true, why ?? `"${stream}" saved as revision ${revision}; look at it, then continue or stay`)
  }
  m.set({ flow: { kind: 'review', stream, nonce: pending.nonce, action: null } })
  m.say(
    why === null,
    cutEnd(`${why ?? `"${stream}" saved as revision ${revision}`}\n\n${renderDiff(diff)}\n\n${ways}`, shownChars),
  )
}

const ways = '/pack continue goes on fresh, /pack cancel stays'

/** The host has no room for the review: the person reads what changed, and the ways on. */
export async function reviewFailed(m: Moment, event: EventOf<'action-failed'>): Promise<void> {
  const { flow } = m.state
  if (flow?.kind !== 'review' || flow.action !== event.action) return
  m.set({ flow: { ...flow, action: null } })
  m.say(true, cutEnd(`${renderDiff(await m.pack.diff(flow.stream))}\n\n${ways}`, shownChars), reviewMs)
}

/** `/pack continue`, or its button. */
export async function goOn(m: Moment): Promise<void> {
  const { flow } = m.state
  const pending = flow?.kind === 'review' ? await m.records.pending(m.session) : null
  if (flow?.kind !== 'review' || pending === null) return m.say(false, 'nothing waits for a choice')
  closeReview(m)
  const armed: Pending = { ...pending, phase: 'armed', createdAt: m.event.at }
  await m.records.setPending(m.session, armed)
  await start(m, armed)
  m.say(true, replies.goingFresh(pending.stream))
}

/** Stay: what was prepared is forgotten, the file stays. @returns the stream, when something was. */
export async function stay(m: Moment): Promise<string | null> {
  const { flow } = m.state
  if (flow === null) return null
  if (flow.kind === 'saving') m.ask({ kind: 'cancel-model', ask: flow.ask })
  if (flow.kind === 'review') closeReview(m)
  await forget(m)
  endFlow(m)
  return flow.stream
}
