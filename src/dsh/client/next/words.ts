/** What the bar says, from the view that the host sends. Pure. */
import type { NextView } from '../../../next-step/view.ts'

export type { NextView }

export interface BarWords {
  /** What stands first; empty: the bar has nothing to say. */
  readonly text: string
  readonly kind: NextView['kind']
  readonly buttons: readonly ('run' | 'edit' | 'dismiss' | 'retry')[]
  /** The loop, in a few words; empty: nothing. */
  readonly loop: string
  /** Of the switch; `null`: no loop can be armed here. */
  readonly toggle: string | null
}

export function barWords(view: NextView, now: number): BarWords {
  const { loop } = view
  const text = offerText(view) || (loop.armed ? (loop.note ?? '') : '')
  const isQuiet = text === '' && !loop.armed && loop.stopped === null
  return {
    kind: view.kind,
    text,
    buttons: buttonsOf(view),
    loop: isQuiet ? '' : loopText(view, now),
    toggle: !view.mayArm || isQuiet ? null : loop.armed ? `Autorun ${loop.rounds}/${loop.of} — Stop` : 'Autorun off',
  }
}

export const isShown = (words: BarWords): boolean => words.text !== '' || words.loop !== ''

function offerText({ kind, text, intent, why }: NextView): string {
  switch (kind) {
    case 'offer':
      return intent === 'goal-edit' ? `Changes the goal: ${text}` : `Next: ${text}`
    case 'analyzing':
      return 'Looking for the next step…'
    case 'checking':
      return 'Running the until-check…'
    case 'failed':
      return `No suggestion: ${why}`
    case 'none':
      return ''
    default:
      return kind satisfies never
  }
}

function buttonsOf({ kind, intent }: NextView): BarWords['buttons'] {
  if (kind === 'failed') return ['retry']
  if (kind !== 'offer') return []
  return intent === 'goal-edit' ? ['run', 'dismiss'] : ['run', 'edit', 'dismiss']
}

function loopText({ loop }: NextView, now: number): string {
  // The bar has room for one of them beside the step.
  if (loop.armed && loop.hold !== null) return `waits: ${loop.hold}`
  if (loop.armed) {
    const left = Math.max(Math.ceil((loop.endsAt - now) / 60_000), 0)
    return `${short(loop.tokens)} of ${short(loop.maxTokens)} tokens, ${left} min left`
  }
  return loop.stopped === null ? '' : `Autorun stopped after ${loop.rounds} of ${loop.of}: ${loop.stopped}`
}

const short = (count: number): string => {
  if (count < 1_000) return String(count)
  return count < 1_000_000 ? `${Math.round(count / 1_000)}k` : `${Math.round(count / 100_000) / 10}M`
}
