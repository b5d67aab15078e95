/** How a flow of a session ends, and a new cycle of the zones begins. */
import { OutriggerError } from '../../errors.ts'
import { type Advice, adviceText } from '../messages.ts'
import type { Moment } from '../moment.ts'
import { adviseHard, rearmed } from '../zones.ts'

const noticeMs = 12_000

export function endFlow(m: Moment): void {
  if (m.state.flow === null) return
  m.set({ flow: null })
  m.cancelWake('tick')
}

export function closeReview(m: Moment): void {
  if (m.context.carries.has('show-review')) m.ask({ kind: 'show-review', review: null })
  if (m.state.flow?.kind === 'review') m.set({ flow: null })
}

/** Drop the record of this session. */
export async function forget(m: Moment): Promise<void> {
  try {
    await m.records.setPending(m.session, null)
  } catch (error) {
    if (!(error instanceof OutriggerError)) throw error
    m.note('not-forgotten', error.message, { reason: error.code })
  }
}

/** Zones begin a new cycle; auto mode may try again. */
export function rearm(m: Moment): void {
  m.set({ zone: rearmed(m.state.zone), tries: 0, sleeps: false })
}

/** A save near the wall is over. */
export async function adviseSaved(m: Moment, cycle: number, advice: Advice): Promise<void> {
  const { zone, notice } = adviseHard(m.state.zone, cycle, advice)
  m.set({ zone })
  // The advice says it; the state of the save itself would hide it.
  if (advice.kind === 'saved' && zone.advice === advice) m.set({ outcome: null })
  if (notice) m.notify(adviceText(advice, m.percent), advice.kind === 'failed' ? 'warning' : 'info', noticeMs)
}
