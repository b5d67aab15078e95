/** What the band above the prompt says of next-step, and which buttons it has. Pure. */
import type { NextView } from '../../next-step/view.ts'

export interface BandRow {
  readonly text: string
  /** Of another weight than an offer. */
  readonly isDim: boolean
  readonly buttons: readonly BandButton[]
}

export interface BandButton {
  readonly key: string
  readonly label: string
  /** What it stands for: words after `/next`, or a text for the prompt's box. */
  readonly does: { readonly kind: 'next'; readonly args: string } | { readonly kind: 'fill'; readonly text: string }
}

const next = (key: string, label: string, args: string): BandButton => ({ key, label, does: { kind: 'next', args } })

/** @returns rows from the top; none: there is nothing to say. */
export function bandOf(view: NextView | null): readonly BandRow[] {
  if (view === null) return []
  const first = stepRow(view)
  const loop = loopRow(view)
  return [...(first === null ? [] : [first]), ...(loop === null ? [] : [loop])]
}

function stepRow({ kind, gen, text, intent, why, loop }: NextView): BandRow | null {
  switch (kind) {
    case 'offer': {
      const run = next('run', 'Run', `run --offer ${gen ?? ''}`)
      const dismiss = next('dismiss', '×', 'dismiss')
      if (intent === 'goal-edit') return { text: `Changes the goal: ${text}`, isDim: false, buttons: [run, dismiss] }
      const edit: BandButton = { key: 'edit', label: 'Edit', does: { kind: 'fill', text } }
      return { text: `Next: ${text}`, isDim: false, buttons: [run, edit, dismiss] }
    }
    case 'analyzing':
      return { text: 'Looking for the next step…', isDim: true, buttons: [] }
    case 'checking':
      return { text: 'Running the until-check…', isDim: true, buttons: [] }
    case 'failed':
      return loop.armed ? null : { text: `No suggestion: ${why}`, isDim: true, buttons: [next('retry', 'Retry', 'suggest')] }
    case 'none':
      return null
    default:
      return kind satisfies never
  }
}

function loopRow({ loop }: NextView): BandRow | null {
  if (!loop.armed) return null
  const waits = loop.hold === null ? '' : ` · waits: ${loop.hold}`
  return { text: `Autorun ${loop.rounds}/${loop.of}${waits}`, isDim: true, buttons: [next('stop', 'Stop', 'disarm')] }
}

/** Cells that the buttons of a row take, with the blanks before them. */
export const buttonCells = (row: BandRow): number => row.buttons.reduce((sum, { label }) => sum + label.length + 5, 1)
