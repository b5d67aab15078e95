/** pack's part of the status line: the first that applies. Pure. */
import { adviceText, countdownText, elsewhereText, openingText, savingText, waitingText, yourTurnText } from './messages.ts'
import { type PackState, streamOf } from './session.ts'

export interface StatusLine {
  readonly text: string | null
  /** A running flow or a failure: it stands before the lines of others. */
  readonly isUrgent: boolean
}

export function statusOf(state: PackState, at: { readonly now: number; readonly percent: number }): StatusLine {
  const { text, isUrgent } = lineOf(state, at)
  if (!state.isAuto) return { text, isUrgent }
  return { text: text === null ? 'auto' : `${text} · auto`, isUrgent }
}

function lineOf(state: PackState, { now, percent }: { readonly now: number; readonly percent: number }): StatusLine {
  const { flow, outcome, broken, zone, waiting } = state
  switch (flow?.kind) {
    case 'saving':
      return { text: savingText(flow.stream, now - flow.since), isUrgent: true }
    case 'countdown':
      return { text: countdownText(flow.stream, Math.max(Math.ceil((flow.endsAt - now) / 1_000), 0), percent), isUrgent: true }
    case 'armed': {
      if (!flow.isPersonsTurn) return { text: openingText, isUrgent: true }
      return { text: flow.isElsewhere ? elsewhereText(flow.stream) : yourTurnText, isUrgent: true }
    }
    default:
      break
  }
  if (outcome !== null) return { text: outcome.text, isUrgent: !outcome.ok }
  if (broken !== null) return { text: broken, isUrgent: true }
  if (zone.advice !== null) return { text: adviceText(zone.advice, percent), isUrgent: zone.advice.kind === 'failed' }
  if (waiting > 0 && streamOf(state) === null) return { text: waitingText(waiting), isUrgent: false }
  return { text: null, isUrgent: false }
}
