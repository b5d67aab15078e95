/** What goes wrong around a loop: its rule holds, the reason is told, nothing starts twice. Events and prints as in the worked examples. */
import { describe, expect, it } from 'vitest'
import { playTrace } from '../support/next-play.ts'

const ready = 'arm; end 10 → ask g1; ok g1 Write the parser → ready, fire 1/8'
const judging =
  '[model:"test/m",local:false,judgeModel:"test/j"] arm judge=true; end 10 → ask g1; ok g1 Write the parser → ready, fire 1/8; start 11 plugin; edit a.ts; end 11 → ask g2; ok g2 Test the parser → ready, ask j1, hold judge'

const check = (_: string, text: string): void => {
  const { seen, wanted } = playTrace(text)
  expect(seen).toEqual(wanted)
}

describe('the model', () => {
  it.each([
    [
      'that fails ends the loop; the next turn asks anew',
      'arm; end 10 → ask g1; err g1 unavailable → failed unavailable, disarm no-offer; end 11 → ask g2',
    ],
    [
      'that fails is asked again by a person',
      'end 10 → ask g1; err g1 unavailable → failed unavailable; suggest → ask g2; ok g2 Run the tests → ready',
    ],
    [
      'that answers after the turn of a person began changes nothing',
      'arm; end 10 → ask g1; start 11 person → cancel g1, superseded human, disarm human; ok g1 Write the parser; end 11 → ask g2; ok g1 Write it; ok g2 Test the parser → ready',
    ],
    [
      'that answers after it was turned off changes nothing',
      'arm; end 10 → ask g1; off → cancel g1, disarm off; ok g1 Write the parser',
    ],
    [
      'that names a shell command is refused',
      'arm; end 10 → ask g1; ok g1 !rm -rf build → failed refused:command, disarm no-offer',
    ],
    ['that names a slash command is refused', 'end 10 → ask g1; ok g1 /compact → failed refused:command'],
    [
      'that repeats a secret is refused',
      `end 10 → ask g1; ok g1 Log in with sk-ant-api03-${'AbCdEfGhIjKl0123'.repeat(4)} → failed refused:secret`,
    ],
    ['that turns the direction of text is read without that', 'end 10 → ask g1; ok g1 \\u202e\\u202eWrite the parser → ready'],
  ])('%s', check)
})

describe('two of them', () => {
  it.each([
    [
      'tabs: Run in both is one turn',
      'end 10 → ask g1; ok g1 Write the parser → ready; run g1 → person; run g1 → no NEXT_ALREADY_RUN',
    ],
    [
      'processes: Run in both is one turn',
      'end 10 → ask g1; ok g1 Write the parser → ready; run g1 → person; p2>run g1 → no NEXT_ALREADY_RUN',
    ],
    ['processes: what the loop has started nobody runs', `${ready}; p2>run g1 → no NEXT_ALREADY_RUN`],
    ['processes: one asks the model', 'end 10 → ask g1; p2>end 10; ok g1 Write the parser → ready; p2>ok g1 Write it'],
  ])('%s', check)
})

describe('a start that was asked for', () => {
  it.each([
    [
      'and refused by the queue is given back, and can be run',
      `${ready}; nosend g1 → refund queue-failed, ready, disarm queue-failed; run → person; nosend g1 → refund queue-failed, ready; run → person`,
    ],
    [
      'and never begins is given back after 30 s',
      `${ready}; @60000 tick → refund lost, ready, disarm queue-failed; starting g1 → veto lost`,
    ],
    [
      'before a compaction is withdrawn, and decided again',
      `${ready}; compact → refund compacted, superseded compacted, ask g2; starting g1 → veto compacted; ok g2 Write the parser → ready, fire 1/8`,
    ],
    [
      'before a turn of the host is withdrawn',
      `${ready}; start 11 host → refund newer-turn, superseded newer-turn; starting g1 → veto newer-turn`,
    ],
    [
      'and shares its step with words of a person is refused',
      `${ready}; starting g1 withPerson=true → veto human, refund human, superseded human, disarm human`,
    ],
    ['of a process that died is unknown', `${ready}; restart → disarm restart, ready; starting g1 → veto unknown-offer`],
  ])('%s', check)
})

describe('a goal', () => {
  it.each([
    [
      'that is cleared ends the loop',
      'goal a 1 active disarmed; arm; end 10 → ask g1; ok g1 Build the index → ready, fire 1/8; goal none → refund goal-changed, superseded goal-changed, disarm goal-cleared, ask g2',
    ],
    [
      'that is replaced is followed',
      'goal a 1 active disarmed; arm; end 10 → ask g1; ok g1 Build it → ready, fire 1/8; goal b 1 active disarmed → refund goal-changed, superseded goal-changed, ask g2; ok g2 Build the other → ready, fire 1/8',
    ],
  ])('%s', check)
})

describe('a turn', () => {
  it.each([
    ['aborted', 'aborted'],
    ['interrupted', 'aborted'],
    ['error', 'error'],
    ['max-tokens', 'max-tokens'],
    ['blocked', 'blocked'],
    ['refused', 'refused'],
  ])('that ends %s ends the loop and is offered nothing', (reason, told) => {
    check('', `arm; end 10 ${reason} → disarm ${told}; @90000 tick`)
  })
})

describe('the loop waits', () => {
  it.each([
    ['for an answer to a question', 'questions', 'asked'],
    ['for an approval', 'approvals', 'approval'],
    ['for helpers', 'children', 'background'],
    ['for jobs', 'jobs', 'background'],
    ['while something is queued', 'queued', 'queued'],
  ])('%s, and goes on by itself', (_, key, hold) => {
    check(
      '',
      `arm; work ${key}=1; end 10 → ask g1; ok g1 Write the parser → ready, hold ${hold}; @90000 tick; work ${key}=0 → fire 1/8`,
    )
  })

  it.each([
    ['in plan mode', 'work planMode=true', 'plan-mode', 'work planMode=false'],
    ['for another loop', 'work otherLoop=true', 'other-loop', 'work otherLoop=false'],
    ['while a person types', 'draft', 'typing', 'nodraft'],
  ])('%s, and goes on by itself', (_, before, hold, after) => {
    check('', `arm; ${before}; end 10 → ask g1; ok g1 Write the parser → ready, hold ${hold}; ${after} → fire 1/8`)
  })
})

describe('the time of a grant', () => {
  it('ends the loop in the middle of a turn, and starts nothing after it', () => {
    check(
      '',
      'arm minutes=1; end 10 → ask g1; ok g1 Write the parser → ready, fire 1/8; start 11 plugin; @80000 tick → disarm time; end 11 → ask g2; ok g2 Test the parser → ready',
    )
  })
})

describe('the judge', () => {
  it.each([
    ['says go on: the next round begins', `${judging}; ok j1 CONTINUE there is more → fire 2/8; starting g2 → admit`],
    ['says done: the loop ends', `${judging}; ok j1 DONE all is there → disarm judge-done`],
    ['says impossible: the loop ends', `${judging}; ok j1 IMPOSSIBLE no network → disarm judge-impossible`],
    [
      'is no help once: the loop goes on; twice in a row: it ends',
      `${judging}; ok j1 Perhaps → fire 2/8; start 12 plugin; edit b.ts; end 12 → ask g3; ok g3 Document the parser → ready, ask j2, hold judge; ok j2 hm → disarm judge-unavailable`,
    ],
    [
      'is no help, helps, is no help: the loop goes on',
      `${judging}; err j1 unavailable → fire 2/8; start 12 plugin; edit b.ts; end 12 → ask g3; ok g3 Document the parser → ready, ask j2, hold judge; ok j2 CONTINUE more → fire 3/8; start 13 plugin; edit c.ts; end 13 → ask g4; ok g4 Measure the parser → ready, ask j3, hold judge; err j3 unavailable → fire 4/8`,
    ],
    [
      'is late: that counts as no help',
      `${judging}; @30000 tick → cancel j1; ok j1 DONE all is there; err j1 canceled → fire 2/8`,
    ],
    ['is asked no more once a person spoke', `${judging}; say → superseded human, cancel j1, disarm human; ok j1 CONTINUE go on`],
    ['is asked no more once next is off', `${judging}; off → cancel j1, disarm off; ok j1 CONTINUE go on`],
    ['is not known to the next process', `${judging}; restart → disarm restart; ok j1 CONTINUE go on`],
    ['does not keep a person from Run', `${judging}; run → person; ok j1 CONTINUE go on`],
    ['has to be named in the configuration', 'arm judge=true → no NEXT_BAD_GRANT'],
    [
      'is not asked before the first round',
      '[model:"test/m",local:false,judgeModel:"test/j"] arm judge=true; end 10 → ask g1; ok g1 Write the parser → ready, fire 1/8',
    ],
  ])('%s', check)
})
