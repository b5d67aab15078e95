/** What follows a save of auto mode: a countdown that anything stops, then a fresh session. */
import type { Moment } from '../moment.ts'
import type { SaveDocument } from '../types.ts'
import { adviseSaved, endFlow } from './flow.ts'
import { prepare, start } from './fresh.ts'

const tickMs = 1_000

export interface AutoSave {
  readonly cycle: number
  readonly stream: string
  /** Why it did not do; `null`: it did. */
  readonly failed: string | null
  /** A turn began or a person wrote meanwhile. */
  readonly stays: boolean
  readonly document: SaveDocument | null
}

/** The save of auto mode is over: the countdown begins, or it counts as a try. */
export async function autoSaved(m: Moment, { cycle, stream, failed, stays, document }: AutoSave): Promise<void> {
  if (failed !== null || document === null) {
    m.set({ tries: m.state.tries + 1, outcome: null })
    await adviseSaved(m, cycle, { kind: 'failed', why: failed ?? 'nothing written' })
    return
  }
  if (stays) {
    if (m.state.sleeps) await adviseSaved(m, cycle, { kind: 'saved' })
    return
  }
  const pending = await prepare(m, stream, document, 'armed')
  if (pending === null) {
    m.set({ tries: m.state.tries + 1 })
    return
  }
  const endsAt = m.event.at + m.pack.config.auto.graceMs
  m.set({ flow: { kind: 'countdown', stream, nonce: pending.nonce, endsAt }, outcome: null })
  m.wake('tick', tickMs)
}

/** Another second of the countdown; at its end the fresh session is asked for, unless somebody cleared meanwhile. */
export async function tickCountdown(m: Moment): Promise<void> {
  const { flow } = m.state
  if (flow?.kind !== 'countdown') return
  const left = flow.endsAt - m.event.at
  if (left > 0) return m.wake('tick', Math.min(left, tickMs))
  const pending = await m.records.pending(m.session)
  endFlow(m)
  if (pending?.nonce !== flow.nonce) return
  await start(m, pending)
}
