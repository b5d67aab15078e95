import { describe, expect, it } from 'vitest'
import { asksPerson, endOf } from '../../src/next-step/asks.ts'
import { emptyNextFacts, foldNext } from '../../src/next-step/facts.ts'
import { judgeInput } from '../../src/next-step/input.ts'
import { candidatesOf } from '../../src/next-step/local.ts'

const line = 'This line says what was done in the parser.\n'
const long = (head: string, tail: string) => `${head}${line.repeat(5_000)}${tail}`
const local = (answer: string) =>
  candidatesOf({ work: { calls: 0, checks: [], written: [] }, todos: [], answer }, { maxChars: 240, said: null, declined: [] })

describe('the end of a long answer', () => {
  it.each([
    ['', '\n## Next steps\n\n1. Write the manual'],
    ['```ts\n', '```\n\n## Next steps\n\n1. Write the manual'],
    ['~~~~\n```\n', '~~~~\n\n## Next steps\n\n1. Write the manual'],
    ['```\nx\n```\n', '\n```\nWhich one?\n```\n\n## Next steps\n\n1. Write the manual'],
  ])('reads as the whole does: %j … %j', (head, tail) => {
    const answer = long(head, tail)
    expect(endOf(answer).length).toBeLessThan(13_000)
    expect(local(endOf(answer))).toEqual(local(answer))
    expect(local(answer)).toMatchObject([{ rule: 'options', text: 'Write the manual' }])
    expect(asksPerson(endOf(answer))).toBe(asksPerson(answer))
  })

  it('that is in a fence asks nobody', () => {
    const answer = long('```\n', 'Which one do you want?\n```')
    expect([asksPerson(answer), asksPerson(endOf(answer))]).toEqual([false, false])
    expect(asksPerson(endOf(long('', 'Which one do you want?')))).toBe(true)
  })

  it('of one line is its last signs', () => {
    expect(endOf(`${'x'.repeat(300_000)}?`)).toMatch(/^x{11999}\?$/)
    expect(endOf('short')).toBe('short')
  })
})

describe('what is kept of a session', () => {
  it('is small, whatever was said in it; a judge still sees how the answer began', () => {
    const base = { session: 's1', project: '/project', at: 1 } as const
    let facts = emptyNextFacts('/project')
    for (let turn = 1; turn <= 40; turn++) {
      facts = foldNext(facts, { ...base, kind: 'person-spoke', text: 'Please do it. '.repeat(2_000) })
      facts = foldNext(facts, { ...base, kind: 'turn-started', turn, by: 'person' })
      facts = foldNext(facts, {
        ...base,
        kind: 'tool-finished',
        turn,
        call: `c${turn}`,
        tool: 'bash',
        input: { command: `npm test ${'y'.repeat(50_000)}` },
        ok: false,
        output: 'no'.repeat(50_000),
      })
      const todos = Array.from({ length: 30 }, () => ({ text: 'z'.repeat(5_000), state: 'pending' as const }))
      facts = foldNext(facts, { ...base, kind: 'todos-changed', todos })
      facts = foldNext(facts, {
        ...base,
        kind: 'turn-ended',
        turn,
        reason: 'completed',
        answer: long(`Turn ${turn}.\n`, 'It ends.'),
      })
    }
    expect(JSON.stringify(facts).length).toBeLessThan(64 * 1024)
    const { user } = judgeInput({ facts, until: null, check: null, hex: '00000000' })
    expect(user).toContain('answer: Turn 40.')
    expect(user).toContain('It ends.')
  })
})
