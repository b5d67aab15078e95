/** What the bar above DSH's composer says of a session. */
import { describe, expect, it } from 'vitest'
import { barWords, isShown, type NextView } from '../../src/dsh/client/next/words.ts'

const loop = { armed: false, rounds: 0, of: 0, tokens: 0, maxTokens: 0, endsAt: 0, hold: null, note: null, stopped: null }
const armed = { ...loop, armed: true, rounds: 2, of: 8, tokens: 22_400, maxTokens: 2_000_000, endsAt: 3_600_000 }
const words = (more: Partial<NextView>) => {
  const said = barWords(
    { kind: 'none', turn: 1, gen: 'g1', text: '', intent: 'worker-step', why: '', mayArm: true, loop, ...more },
    1_000,
  )
  return isShown(said) ? [said.text, said.loop, ...said.buttons, said.toggle] : null
}
const displaced = 'This loop now starts the turns; the goal keeps its objective but not its own rounds.'

describe('the bar', () => {
  it.each<[string, Partial<NextView>, readonly (string | null)[] | null]>([
    ['nothing', {}, null],
    ['an offer', { kind: 'offer', text: 'Run the tests' }, ['Next: Run the tests', '', 'run', 'edit', 'dismiss', 'Autorun off']],
    [
      'a step that changes the goal',
      { kind: 'offer', text: 'Ship', intent: 'goal-edit' },
      ['Changes the goal: Ship', '', 'run', 'dismiss', 'Autorun off'],
    ],
    ['a model that is asked', { kind: 'analyzing' }, ['Looking for the next step…', '', 'Autorun off']],
    ['a condition that runs', { kind: 'checking' }, ['Running the until-check…', '', 'Autorun off']],
    ['a failure', { kind: 'failed', why: 'the model refused' }, ['No suggestion: the model refused', '', 'retry', 'Autorun off']],
    ['where nothing may be armed', { kind: 'analyzing', mayArm: false }, ['Looking for the next step…', '', null]],
    ['an armed loop', { loop: armed }, ['', '22k of 2M tokens, 60 min left', 'Autorun 2/8 — Stop']],
    [
      'a loop that waits',
      { kind: 'offer', text: 'Push', loop: { ...armed, hold: 'you are writing' } },
      ['Next: Push', 'waits: you are writing', 'run', 'edit', 'dismiss', 'Autorun 2/8 — Stop'],
    ],
    [
      "a loop that took over from the goal's own driver",
      { loop: { ...armed, note: displaced, maxTokens: 2_500_000 } },
      [displaced, '22k of 2.5M tokens, 60 min left', 'Autorun 2/8 — Stop'],
    ],
    [
      'a loop that stopped',
      { loop: { ...loop, rounds: 3, of: 8, stopped: 'the condition holds' } },
      ['', 'Autorun stopped after 3 of 8: the condition holds', 'Autorun off'],
    ],
  ])('shows %s', (_what, more, expected) => expect(words(more)).toEqual(expected))
})
