/** Checkpoints of ended turns: into the stream's journal, or into the buffer until there is a stream or a disk. */
import { OutriggerError } from '../../errors.ts'
import type { EventOf } from '../../session/events.ts'
import { ignoredText, placementText, unwritableText } from '../messages.ts'
import type { Moment } from '../moment.ts'
import type { TakenTrailer } from '../types.ts'

const noticeMs = 12_000

/** The turn of the main agent, or of a helper, is over: take what it settled. */
export async function capture(m: Moment, event: EventOf<'turn-ended'>): Promise<void> {
  const { agent, session, turn, turnId, reason, at } = event
  const texts = [...(event.earlier ?? []), event.answer]
  const taken = m.pack.take({
    texts,
    session,
    at,
    turn,
    ...(turnId !== undefined && { turnId }),
    ...(agent !== undefined && { agent }),
    ...(reason !== 'completed' && { flags: [reason] }),
  })
  if (agent === undefined) m.set({ seam: taken.seam })
  const [ignored] = taken.ignored
  if (ignored !== undefined) {
    const { line, reason: why } = ignored
    m.note('checkpoint-ignored', `a checkpoint at line ${line} was not taken`, { reason: why })
    if (m.tellsFirst('ignored')) m.notify(ignoredText(ignored), 'warning', noticeMs)
  }
  for (const { rule, count } of taken.redacted) m.note('masked', `masked ${count} × ${rule} in a checkpoint`, { reason: rule })
  if (taken.trailers.length === 0) return
  if (m.stream === null) await hold(m, taken.trailers)
  else await appendAll(m, m.stream, taken.trailers)
}

/** Append what waits in the buffer. @returns `false` when the journal could not be written. */
export const flush = (m: Moment, stream: string): Promise<boolean> => appendAll(m, stream, [])

async function appendAll(m: Moment, stream: string, trailers: readonly TakenTrailer[]): Promise<boolean> {
  const waiting = m.state.waiting > 0 ? await m.records.buffer(m.session) : []
  const all = [...waiting, ...trailers]
  if (all.length === 0) {
    if (m.state.broken !== null) m.set({ broken: null })
    return true
  }
  try {
    const { captured } = await m.pack.append(stream, all)
    for (const { id, duplicate } of captured) if (!duplicate) m.note('captured', `checkpoint ${id} of "${stream}"`)
  } catch (error) {
    if (!(error instanceof OutriggerError)) throw error
    await hold(m, trailers)
    const text = unwritableText(stream, error.message, all.length)
    m.set({ broken: text })
    m.note('not-captured', text, { reason: error.code })
    if (m.tellsFirst('broken')) m.notify(text, 'error', noticeMs)
    return false
  }
  if (waiting.length > 0) await m.records.setBuffer(m.session, [])
  m.set({ waiting: 0, broken: null, told: m.state.told.filter(key => key !== 'broken') })
  await tellPlacement(m)
  return true
}

async function hold(m: Moment, trailers: readonly TakenTrailer[]): Promise<void> {
  if (trailers.length === 0) return
  const before = await m.records.buffer(m.session)
  const known = new Set(before.map(trailer => trailer.key))
  const all = [...before, ...trailers.filter(trailer => !known.has(trailer.key))]
  await m.records.setBuffer(m.session, all)
  m.set({ waiting: all.length })
}

/** Once a project: the notes lie in the person's tree, and git neither has them nor leaves them out. */
async function tellPlacement(m: Moment): Promise<void> {
  if (m.state.told.includes('placement')) return
  m.set({ told: [...m.state.told, 'placement'] })
  if ((await m.pack.placement()) !== 'neither') return
  if (await m.records.once('placement')) m.notify(placementText, 'info', noticeMs)
}

/** The session ends: what found no stream goes where it can be found again. */
export async function leave(m: Moment): Promise<void> {
  if (m.state.waiting === 0) return
  if (m.stream !== null) await appendAll(m, m.stream, [])
  else await moveToInbox(m, m.session)
}

const crashedAfterMs = 3_600_000

/** Buffers that sessions of this project left when they crashed. */
export async function adoptLeftBuffers(m: Moment): Promise<void> {
  for (const session of await m.records.buffered()) {
    if (session === m.session) continue
    const newest = Math.max(...(await m.records.buffer(session)).map(trailer => trailer.at))
    if (newest <= m.event.at - crashedAfterMs) await moveToInbox(m, session)
  }
}

async function moveToInbox(m: Moment, session: string): Promise<void> {
  const trailers = await m.records.buffer(session)
  const flagged = trailers.map(trailer => ({ ...trailer, flags: [...trailer.flags, 'inbox'] }))
  try {
    await m.pack.append(m.pack.checkStream('inbox', 'own'), flagged)
  } catch (error) {
    if (!(error instanceof OutriggerError)) throw error
    m.note('not-captured', `the buffer of session ${session} stays: ${error.message}`, { reason: error.code })
    return
  }
  await m.records.setBuffer(session, [])
  if (session === m.session) m.set({ waiting: 0 })
  m.note('captured', `${flagged.length} checkpoint(s) without a stream went to "inbox"`)
}
