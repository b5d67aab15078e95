import { describe, expect, it } from 'vitest'
import { bandOf } from '../../src/claude-code/mod/band.ts'
import { starter, troubleOf, usageOf, wakesItself, whyNotStarted } from '../../src/claude-code/mod/translate.ts'
import type { NextView } from '../../src/next-step/view.ts'

const loop = { armed: false, rounds: 0, of: 0, tokens: 0, maxTokens: 0, endsAt: 0, hold: null, note: null, stopped: null }
const view = (more: Partial<NextView>): NextView => ({
  ...{ kind: 'none', turn: 1, gen: 'g1', text: '', intent: 'worker-step', why: '', mayArm: true, loop },
  ...more,
})
const rows = (more: Partial<NextView>) =>
  bandOf(view(more)).map(({ text, buttons }) => [text, ...buttons.map(({ label }) => label)].join(' | '))

describe('the band above the prompt', () => {
  it.each<[string, Partial<NextView>, readonly string[]]>([
    ['an offer', { kind: 'offer', text: 'Run the tests' }, ['Next: Run the tests | Run | Edit | ×']],
    ['a step that changes the goal', { kind: 'offer', text: 'Ship', intent: 'goal-edit' }, ['Changes the goal: Ship | Run | ×']],
    ['a model that is asked', { kind: 'analyzing' }, ['Looking for the next step…']],
    ['a condition that runs', { kind: 'checking' }, ['Running the until-check…']],
    ['a failure', { kind: 'failed', why: 'the model refused' }, ['No suggestion: the model refused | Retry']],
    ['a loop', { loop: { ...loop, armed: true, rounds: 2, of: 8 } }, ['Autorun 2/8 | Stop']],
    [
      'a loop that waits',
      { kind: 'offer', text: 'Push', loop: { ...loop, armed: true, of: 8, hold: 'you are writing' } },
      ['Next: Push | Run | Edit | ×', 'Autorun 0/8 · waits: you are writing | Stop'],
    ],
    ['nothing', {}, []],
  ])('shows %s', (_what, more, expected) => expect(rows(more)).toEqual(expected))

  it('runs the offer that it shows, whichever is stored by then', () => {
    expect(bandOf(view({ kind: 'offer', text: 'Run the tests' }))[0]?.buttons[0]?.does).toEqual({
      kind: 'next',
      args: 'run --offer g1',
    })
  })

  it('is not there without a session that can have offers', () => expect(bandOf(null)).toEqual([]))
})

describe('what the host says of a turn', () => {
  it('costs what did not come out of its cache', () => {
    const usage = { input_tokens: 10, cache_creation_input_tokens: 5, cache_read_input_tokens: 900, output_tokens: 7 }
    expect(usageOf({ usage })).toEqual({ usage: { input: 15, output: 7 } })
    expect(usageOf({})).toEqual({})
  })

  it('is begun by the person who spoke, else by whom our prompt speaks for, else by the host', () => {
    expect([starter(true, 'plugin'), starter(false, 'person'), starter(false, 'plugin'), starter(false, undefined)]).toEqual([
      'person',
      'person',
      'plugin',
      'host',
    ])
  })

  it('goes on by itself when wake-ups are scheduled', () => {
    expect([wakesItself({ session_crons: [{ id: 'c' }] }), wakesItself({ session_crons: [] }), wakesItself({})]).toEqual([
      true,
      false,
      false,
    ])
  })
})

describe('a program that does not start', () => {
  it.each<[string, number, string]>([
    [
      'long minified source\nSyntaxError: no export\n\nNode.js v20.20.2\n',
      1,
      'node 20.20.2 is too old: 22.19 or newer is needed',
    ],
    ['Error: disk full\n\nNode.js v24.1.0', 1, 'Error: disk full'],
    ['', 7, 'it ended with 7'],
    [
      "node:internal/x:1\n  throw err;\n  ^\n\nError: Cannot find module '/x.mjs'\n    at f (x:1:2)\n  code: 'MODULE_NOT_FOUND'\n\nNode.js v24.21.0",
      1,
      "Error: Cannot find module '/x.mjs'",
    ],
  ])('says why: %j', (stderr, exitCode, expected) => expect(whyNotStarted({ stderr, exitCode })).toBe(expected))

  it.each([
    [
      'HooksError: outrigger: $.process.run(outrigger) failed to start: ENOENT: Executable not found in $PATH: "outrigger"',
      /: Executable not found in \$PATH: "outrigger"\. Install it with: npm install -g outrigger$/,
    ],
    ['HooksError: x: Executable not found in $PATH: "node"', /Put Node 22\.19 or newer on the PATH/],
    ['HooksError: x: Executable not found in $PATH: "/my/bin"', /OUTRIGGER_BIN names it/],
    ['Error: node 18.1.0 is too old: 22.19 or newer is needed', /^no engine process: node 18\.1\.0 is too old.*newer Node first/],
    ["Error: Error: Cannot find module '/x.mjs'", /^no engine process: Cannot find module.*Install the plugin again/],
    ['Error: no answer within 1000 ms', /doctor` names the process that hangs/],
    ['Error: SERVE_NOT_STARTED: no\n  hint: run it', /^no engine process: SERVE_NOT_STARTED: no\n {2}hint: run it$/],
    ['Error: it ended with 1', /it ended with 1\. `outrigger doctor` says more/],
  ])('%s tells what to do', (error, expected) => expect(troubleOf(error)).toMatch(expected))
})
