/**
 * The context fills: advice at seams, a save near the wall, and auto mode, which goes to a fresh session by
 * itself, for a person who switched it on, after a countdown that anything stops.
 */
import type { EventOf } from '../../session/events.ts'
import { adviceText } from '../messages.ts'
import type { Moment } from '../moment.ts'
import { isForgettable } from '../session.ts'
import { hardAt, isAtWall, percentOf, type Reading, stepZone } from '../zones.ts'
import { adviseSaved, endFlow, forget } from './flow.ts'
import { startSave } from './saving.ts'

const noticeMs = 12_000

type AutoWord = 'auto-started' | 'auto-not-now' | 'auto-waits' | 'auto-spent' | 'auto-off'

/** Judge the fill: at each measure, at the end of each main turn, and when what ran behind it is over. */
export async function judge(m: Moment, on: 'measure' | 'ended' | 'idle'): Promise<void> {
  const { context } = m.facts
  if (context === null) return
  const reading: Reading = { tokens: context.tokens, window: context.window, compactsAt: context.compactsAt }
  const { zones } = m.pack.config
  const hasStream = m.stream !== null
  const step = stepZone(m.state.zone, reading, zones, {
    seam: m.state.seam,
    hasStream,
    isIdle: m.isIdle,
    flow: m.state.flow?.kind ?? null,
    isAuto: m.state.isAuto,
  })
  const words: string[] = [...step.words]
  if (words.includes('re-armed')) m.set({ tries: 0, sleeps: false })
  m.set({ zone: step.zone, owesJudgement: false })
  if (step.notice && step.zone.advice !== null) m.notify(adviceText(step.zone.advice, percentOf(reading)), 'info', noticeMs)

  const isLeft = step.words.includes('left-to-auto')
  if (isLeft) words.push(...(await judgeAuto(m, reading)))
  else if (!m.state.isAuto && step.isHard) words.push('auto-off')
  if (step.save && m.stream !== null) await saveHard(m, m.stream)
  if (!m.isIdle && on === 'ended') m.set({ owesJudgement: true })
  const isDone = step.notice || step.save || words.includes('auto-started')
  // A project where nobody keeps notes is not made a ledger for numbers that ask for nothing.
  const isNothing = isForgettable(m.state) && words.every(word => word === 'no-seam' || word === 'under-floor' || word === 'busy')
  if (isDone || (on === 'measure' && !isNothing)) note(m, reading, words)
}

const saveHard = (m: Moment, stream: string): Promise<void> =>
  startSave(m, { why: 'hard', stream, review: false, plain: false, goal: null })

async function judgeAuto(m: Moment, reading: Reading): Promise<readonly AutoWord[]> {
  const { state, stream } = m
  const { flow } = state
  if (stream === null) return ['auto-not-now']
  if (flow?.kind === 'saving') {
    m.set({ flow: { ...flow, autoDue: true } })
    return ['auto-waits']
  }
  if (flow !== null) return ['auto-not-now']
  if (!m.isIdle) {
    // The host is about to compact in the middle of a turn: save what is there, clear nothing.
    if (!isAtWall(reading, m.pack.config.zones) || state.zone.hasSaved) return ['auto-waits']
    m.set({ zone: { ...state.zone, hasSaved: true } })
    await saveHard(m, stream)
    return ['auto-not-now']
  }
  if (state.sleeps) return ['auto-not-now']
  if (state.tries >= m.pack.config.auto.tries) return ['auto-spent']
  await startSave(m, { why: 'auto', stream, review: false, plain: false, goal: null })
  return ['auto-started']
}

function note(m: Moment, reading: Reading, words: readonly string[]): void {
  const { tokens, window, compactsAt } = reading
  const percent = percentOf(reading)
  const hard = window > 0 ? hardAt(reading, m.pack.config.zones) : null
  const { level, task } = m.state.seam
  const reason = words.join('+')
  m.note('measured', `context ${percent}%: ${reason}`, {
    reason,
    detail: { percent, tokens, window, compactsAt, hardAt: hard, seam: task === null ? level : `${level} ${task}` },
  })
}

/** A person wrote: what waits to clear does not, and auto mode rests until the context has room again. */
export async function personStays(m: Moment): Promise<void> {
  const { flow, zone } = m.state
  if (flow?.kind === 'countdown') {
    await forget(m)
    endFlow(m)
    m.set({ sleeps: true })
    await adviseSaved(m, zone.cycle, { kind: 'saved' })
  } else if (flow?.kind === 'saving' && !flow.stays) {
    m.set({ flow: { ...flow, stays: true }, sleeps: m.state.sleeps || flow.why === 'auto' })
  }
}

/** A turn began, whoever began it: a countdown ends, the end of that turn tries again. */
export async function turnBegins(m: Moment, event: EventOf<'turn-started'>): Promise<void> {
  const { flow } = m.state
  if (flow?.kind === 'countdown') {
    await forget(m)
    endFlow(m)
    m.note('countdown-ended', `a turn by ${event.by} began`)
  } else if (flow?.kind === 'saving' && flow.why === 'auto' && !flow.stays) m.set({ flow: { ...flow, stays: true } })
}
