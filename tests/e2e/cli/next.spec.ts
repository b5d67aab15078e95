/** next-step on the built program: the worked examples through `next simulate`, and what the verbs say where no session runs. */
import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openProject } from '../../../src/node/open.ts'
import { buildProgram, type Program } from '../../support/cli/program.ts'
import { examples } from '../../support/next-examples.ts'
import { parseTrace, printed } from '../../support/next-traces.ts'

let program: Program
beforeAll(async () => {
  program = await buildProgram()
})
afterAll(() => program?.remove())

const documents = (out: string) =>
  out
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as Record<string, unknown> & { readonly line: number })

describe('a worked example, piped through the program', () => {
  it.each(examples)('%s', async (_, text) => {
    const { config, steps } = parseTrace(text)
    const lines = [{ kind: 'config', set: config }, ...steps.map(({ line }) => line)]
    const { code, out, err } = await program.run(program.folder(), ['next', 'simulate'], {
      stdin: lines.map(line => `${JSON.stringify(line)}\n`).join(''),
    })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const all = documents(out)
    const seen = steps.map(({ text: event }, index) => {
      // The first line is the configuration.
      const prints = all.filter(({ line }) => line === index + 2).flatMap(each => printed(each as never) ?? [])
      return `${event} → ${prints.sort().join(', ')}`
    })
    expect(seen).toEqual(steps.map(({ text: event, expected }) => `${event} → ${[...expected].sort().join(', ')}`))
  })
})

describe('next simulate', () => {
  it('prints the same bytes twice, and leaves the project as it is', async () => {
    const folder = program.folder({ 'a.txt': 'a' })
    const [, text] = examples[1]!
    const stdin = parseTrace(text)
      .steps.map(({ line }) => `${JSON.stringify(line)}\n`)
      .join('')
    const [first, second] = [
      await program.run(folder, ['next', 'simulate', '--show-input'], { stdin }),
      await program.run(folder, ['next', 'simulate', '--show-input'], { stdin }),
    ]
    expect(first.code).toBe(0)
    expect(first.out).toBe(second.out)
    expect(first.out.length).toBeGreaterThan(1_000)
    expect(readdirSync(folder)).toEqual(['a.txt'])
  })

  it.each([
    ['no JSON', 'nonsense\n'],
    ['a kind that there is not', '{"clock":1,"kind":"turn-finished"}\n'],
    ['a clock that runs back', '{"clock":5,"kind":"tick"}\n{"clock":4,"kind":"tick"}\n'],
    ['a setting out of its range', '{"kind":"config","set":{"maxRounds":-1}}\n', 'NEXT_BAD_CONFIG'],
    ['half a turn', '{"clock":1,"kind":"turn-ended","turn":1.5}\n'],
    ['tokens that are given back', '{"clock":1,"kind":"turn-ended","usage":{"input":-9}}\n'],
    ['settings that are null', '{"kind":"config","set":null}\n', 'NEXT_BAD_CONFIG'],
    ['settings that are a list', '{"kind":"config","set":[]}\n', 'NEXT_BAD_CONFIG'],
    ['a line of 300 KB', `{"clock":1,"kind":"person-spoke","text":"${'x'.repeat(300_000)}"}\n`],
  ])('refuses %s by its line, with a hint', async (_, stdin, expected = 'NEXT_BAD_EVENT') => {
    const { code, out } = await program.run(program.folder(), ['next', 'simulate'], { stdin })
    const { schema, error } = documents(out).at(-1) as unknown as { schema: string; error: Record<string, unknown> }
    expect({ code, schema }).toEqual({ code: 2, schema: 'outrigger.error/1' })
    expect(error).toMatchObject({
      code: expected,
      position: { line: stdin.split('\n').length - 1 },
      hint: expect.stringMatching(/\S/),
    })
  })
})

describe('next log', () => {
  it('prints the newest lines of the session that was heard last, without a process that runs it', async () => {
    const folder = program.folder()
    const project = await openProject({ cwd: folder, env: { HOME: folder }, door: 'cli', isTerminal: false })
    const line = { engine: 'next', turn: 1, reason: 'person', text: 'autorun was armed' } as const
    await project.ledger.write([
      { ...line, session: 'old', what: 'arm' },
      ...['arm', 'fire', 'disarm'].map(what => ({ ...line, session: 's1', what })),
      { ...line, engine: 'keel', session: 's1', what: 'told' },
    ])
    await project.close()
    const { code, out } = await program.run(folder, ['next', 'log', '2', '--json'])
    expect({ code, ...documents(out)[0] }).toMatchObject({
      code: 0,
      schema: 'outrigger.next.log/1',
      session: 's1',
      records: [{ what: 'fire' }, { what: 'disarm', reason: 'person', turn: 1 }],
    })
    expect((await program.run(folder, ['next', 'log', '--session', 'old'])).out).toMatch(
      /^\S+Z arm person — autorun was armed\n$/,
    )
    expect((await program.run(folder, ['next', 'log', '0'])).code).toBe(2)
  })
})

describe('where no session runs', () => {
  it.each(['state', 'disarm', 'off', 'log'])('next %s says so, and what to do', async verb => {
    const { code, err } = await program.run(program.folder(), ['next', verb])
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/^NEXT_NO_SESSION: .*\n {2}hint: open one in a host/) })
  })

  it.each(['arm', 'run', 'on', 'dismiss', 'model'])('next %s is refused to who is no person at a terminal', async verb => {
    const { code, err } = await program.run(program.folder(), ['next', verb])
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/^NEXT_NEEDS_PERSON: .*\n {2}hint: /) })
  })
})
