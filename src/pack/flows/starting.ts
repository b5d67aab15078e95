/** The start of a session and what follows a compaction: which notes the model is given, and which are only offered. */
import { OutriggerError } from '../../errors.ts'
import type { EventOf } from '../../session/events.ts'
import { missedStart, replies, teaching } from '../messages.ts'
import { type Moment, reasonOf } from '../moment.ts'
import type { Pending, PendingOf } from '../records.ts'
import { noState } from '../session.ts'
import { adoptLeftBuffers, flush } from './capture.ts'
import { rearm } from './flow.ts'
import { untrustedText } from './fresh.ts'

const offeredForMs = 24 * 3_600_000
const noticeMs = 12_000

export async function started(m: Moment, event: EventOf<'session-started'>): Promise<void> {
  if (event.source === 'compact') return
  if (m.teachesAtStart && m.pack.config.teach && m.context.chars >= teaching.length) {
    m.ask({ kind: 'add-context', text: teaching, summary: 'how to leave checkpoints' })
  }
  if (event.source === 'clear') await cleared(m, event)
  else await begun(m)
  if (event.title !== undefined) titled(m, event.title)
}

/** Another conversation: what an earlier one bound and prepared under this id is not its. */
async function begun(m: Moment): Promise<void> {
  const { waiting } = m.state
  m.set({ ...noState, isLoaded: true, waiting, zone: m.state.zone, isAuto: await m.records.auto(), shown: m.state.shown })
  rearm(m)
  await m.records.bind(m.session, null)
  await m.records.setPending(m.session, null)
  await adoptLeftBuffers(m)
  await offerMissed(m)
}

/** A title that a person chose names a stream. */
export function titled(m: Moment, title: string): void {
  const stream = title.trim() === '' ? null : m.pack.streamOfTitle(title)
  if (stream !== m.state.titled) m.set({ titled: stream })
}

async function cleared(m: Moment, { previous }: EventOf<'session-started'>): Promise<void> {
  m.set({ ...noState, isLoaded: true, zone: m.state.zone, isAuto: await m.records.auto(), shown: m.state.shown })
  rearm(m)
  if (previous === undefined || previous === m.session) return offerMissed(m)
  const bound = await m.records.bound(previous)
  if (bound !== null) {
    await m.records.bind(m.session, bound)
    await m.records.bind(previous, null)
    m.set({ bound })
  }
  const pending = await m.records.pending(previous)
  if (pending === null) return
  await m.records.setPending(previous, null)
  const isFresh = m.event.at - pending.createdAt <= m.pack.config.pendingTtlMs
  if (pending.phase !== 'armed') return
  if (!isFresh) return offer(m, { session: previous, ...pending })
  m.set({ bound: pending.stream })
  await m.records.bind(m.session, pending.stream)
  await inject(m, pending)
}

/** Hand the prepared notes to this session, as they are now. */
async function inject(m: Moment, pending: Pending): Promise<void> {
  const { stream, file, revision } = pending
  const loaded = await give(m, stream, file)
  if (loaded === null) return
  const moved = loaded.revision === revision ? '' : ` (revision ${loaded.revision}; ${revision} was prepared)`
  m.notify(`${replies.loaded(stream)}${moved}`)
}

/** Load, and give the text in the way the configuration says. `null`: not confirmed, or not there; that was said. */
export async function give(
  m: Moment,
  stream: string,
  file: string | null,
  options: { readonly trust?: boolean } = {},
): Promise<{ readonly revision: number } | null> {
  const asMessage = m.pack.config.reinject === 'message' && m.context.carries.has('submit') && m.event.kind === 'session-started'
  const { chars } = m.context
  try {
    const loaded = await m.pack.load({
      stream,
      ...options,
      ...(file !== null && { file }),
      ...(chars > 0 && { room: chars }),
      asContext: !asMessage,
    })
    if (loaded.text === null) {
      m.say(false, await untrustedText(m, loaded), noticeMs)
      return null
    }
    const summary = `notes of ${stream}, revision ${loaded.revision}`.slice(0, 120)
    const action = asMessage
      ? m.ask({ kind: 'submit', text: loaded.text, as: 'plugin' })
      : m.ask({ kind: 'add-context', text: loaded.text, summary })
    m.set({ owed: { action, stream, file, isDue: false } })
    m.note('given', `notes of "${stream}", revision ${loaded.revision}, went to the model`)
    return loaded
  } catch (error) {
    if (!(error instanceof OutriggerError)) throw error
    m.note('not-given', error.message, { reason: error.code })
    m.say(false, error.message, noticeMs)
    return null
  }
}

/** The notes did not fit or had no way: they are due at the next moment that carries context. */
export function giveFailed(m: Moment, event: EventOf<'action-failed'>): void {
  const { owed } = m.state
  if (owed?.action === event.action) m.set({ owed: { ...owed, isDue: true } })
}

/** A moment that carries context: what is owed is given. */
export async function giveOwed(m: Moment): Promise<void> {
  const { owed } = m.state
  if (owed === null) return
  const arrived = !owed.isDue
  m.set({ owed: null })
  if (!arrived && m.context.chars > 0) await give(m, owed.stream, owed.file)
}

/** Fresh starts of this project that were prepared and did not happen: told once, never taken. */
async function offerMissed(m: Moment): Promise<void> {
  for (const pending of await m.records.allPending()) {
    const isRecent = m.event.at - pending.createdAt < offeredForMs
    if (pending.session === m.session || pending.phase !== 'armed' || pending.offered === true || !isRecent) continue
    await offer(m, pending)
    const { session, ...record } = pending
    await m.records.setPending(session, { ...record, offered: true })
  }
}

function offer(m: Moment, { stream, createdAt }: PendingOf): void {
  const minutes = Math.max(Math.round((m.event.at - createdAt) / 60_000), 0)
  m.notify(missedStart(stream, minutes), 'info', noticeMs)
}

/** The host compacted: save without a model, and give the notes again. */
export async function compacted(m: Moment): Promise<void> {
  const { stream } = m
  if (!m.pack.config.afterCompaction || stream === null) return
  await flush(m, stream)
  if (!m.pack.exists(stream)) return
  try {
    await m.pack.save({ stream, session: m.session, facts: m.facts })
  } catch (error) {
    m.note('not-saved', reasonOf(error), { reason: error instanceof OutriggerError ? error.code : 'INTERNAL' })
  }
  await give(m, stream, null)
}
