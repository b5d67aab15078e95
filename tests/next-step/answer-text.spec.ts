import { describe, expect, it } from 'vitest'
import { answerText } from '../../src/next-step/answer-text.ts'
import { refusals } from '../../src/next-step/texts.ts'
import { linesOf } from '../support/next-play.ts'

/** What a person reads after the last command of a trace. */
const read = (trace: string) => {
  const reply = linesOf(trace).findLast(line => line['do'] === 'reply')
  return answerText(reply as never)
}

describe('/next', () => {
  it.each([
    ['end 10; ok g1 Write the parser; state', 'next: on (test/m) · offer ready\nNext: Write the parser'],
    ['end 10; ok g1 GOAL: ship it now; state', 'next: on (test/m) · offer ready\nChanges the goal: ship it now'],
    ['end 10; state', 'next: on (test/m)\nLooking for the next step…'],
    ['end 10; ok g1 NONE; state', 'next: on (test/m)\nNo suggestion: nothing useful is left to do'],
    ['end 10; err g1 rate-limit; state', 'next: on (test/m)\nNo suggestion: the model is over its limit'],
    ['end 10; ok g1 Write the parser; run; state', 'next: on (test/m)\nSent: Write the parser'],
    ['end 10; ok g1 Write the parser; say; state', 'next: on (test/m)\nWithdrawn, as you went on yourself: Write the parser'],
    [
      'arm; end 10; ok g1 Write the parser; state',
      'next: on (test/m) · autorun 1/8, 0k tokens, 0 min\nSent: Write the parser\nautorun: 1 round, 2 tokens, under 1 min so far',
    ],
    [
      'arm; work jobs=2; end 10; ok g1 Write the parser; state',
      'next: on (test/m) · waits: 2 task(s) still running\nNext: Write the parser\nautorun: 0 rounds, 2 tokens, under 1 min so far',
    ],
    ['[model:"",local:false] state', 'next: off — /next model <provider/model> turns it on'],
  ])('says what a person can use, and no name of an offer: %s', (trace, text) => {
    expect(read(trace)).toBe(text)
  })

  it.each([
    ['not-interactive', 'next has nothing to do in this session: nobody is at it: it only prints'],
    ['not-root', 'next has nothing to do in this session: it is a helper of another session'],
    ['not-mounted', 'next has nothing to do in this session: its preset is without next'],
  ])('says why nothing is done where a session is %s', (reason, text) => {
    const loop = { armed: false, hold: null, reason: null, spent: { rounds: 0, tokens: 0, ms: 0 } }
    expect(answerText({ name: 'state', ok: true, reason, status: null, offer: null, loop })).toBe(text)
  })

  it.each([
    ['arm', 'Autorun: 8 rounds, 2M tokens, 60 min. Your words or Stop end it.'],
    ['arm rounds=1 tokens=2540000', 'Autorun: 1 round, 2.5M tokens, 60 min. Your words or Stop end it.'],
    ['arm rounds=1 tokens=10000 minutes=1', 'Autorun: 1 round, 10k tokens, 1 min. Your words or Stop end it.'],
    ['suggest', 'No suggestion: no turn is completed yet'],
    ['off; suggest', 'No suggestion: next is off here'],
    ['end 10; ok g1 NONE; suggest', 'No suggestion: nothing useful is left to do'],
    ['end 10; ok g1 Thanks a lot; suggest', 'No suggestion: the answer was no step'],
    ['end 10; ok g1 Write the parser; suggest', 'Next: Write the parser'],
  ])('answers in words: %s', (trace, text) => {
    expect(read(trace)).toBe(text)
  })
})

it('a refusal is short enough for one line', () => {
  for (const [code, { message, hint }] of Object.entries(refusals))
    expect(`${code}: ${message}; ${hint}`.length, code).toBeLessThanOrEqual(160)
})
