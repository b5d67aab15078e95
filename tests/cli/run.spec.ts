import { describe, expect, it } from 'vitest'
import { OutriggerError } from '../../src/errors.ts'
import type { AnyOperation, Caller, InputSchema } from '../../src/session/operation.ts'
import { echo, fakeWorld, runFake } from '../support/cli/fake.ts'

const checkInput: InputSchema = {
  type: 'object',
  properties: {
    paths: { type: 'array', description: 'only these', items: { type: 'string' } },
    since: { type: 'string', description: 'a revision' },
    changed: { type: 'array', description: 'files', items: { type: 'string' } },
    strict: { type: 'boolean', description: 'strictly', default: false },
    diff: { type: 'boolean', description: 'with a diff', default: true },
    budgetMs: { type: 'integer', description: 'time', minimum: 1, maximum: 900, default: 80 },
    format: { type: 'string', description: 'form', enum: ['text', 'json', 'sarif'], default: 'text' },
    out: { type: 'string', description: 'a file' },
  },
  additionalProperties: false,
}

const check: AnyOperation = echo('keel.check', checkInput, {
  positional: ['paths'],
  cliOnly: ['format', 'out'],
  formats: { sarif: () => '{"version":"2.1.0"}' },
  exitCode: (output: { given: { strict: boolean } }) => (output.given.strict ? 1 : 0),
})

const ok: AnyOperation = echo(
  'keel.ok',
  {
    type: 'object',
    properties: {
      child: { type: 'string', description: 'the document' },
      source: { type: 'string', description: 'what it derives from' },
      who: { type: 'string', description: 'who says so' },
    },
    required: ['child'],
    additionalProperties: false,
  },
  { positional: ['child', 'source'] },
)

const watch: AnyOperation = echo(
  'keel.watch',
  { type: 'object', properties: {}, additionalProperties: false },
  {
    async *stream() {
      yield { event: 'ready' }
      yield { event: 'swept' }
    },
    render: (output: { event: string }) => output.event,
  },
)

const empty: InputSchema = { type: 'object', properties: {}, additionalProperties: false }
const doctor = echo('doctor', empty)

const failing = (error: unknown): AnyOperation =>
  echo('keel.status', empty, {
    run: async () => {
      throw error
    },
  })

const world = () => fakeWorld([check, ok, watch, doctor])
const errorOf = (out: string) => (JSON.parse(out) as { error: Record<string, unknown> }).error

describe('arguments', () => {
  it.each<[string, Record<string, unknown>]>([
    ['keel check', {}],
    ['keel check a.md b/', { paths: ['a.md', 'b/'] }],
    ['keel check --since main --strict', { since: 'main', strict: true }],
    ['keel check --changed a.md b.md --changed c.md', { changed: ['a.md', 'b.md', 'c.md'] }],
    ['keel check --changed a.md -- docs', { changed: ['a.md'], paths: ['docs'] }],
    ['keel check --no-diff', { diff: false }],
    ['keel check --budget-ms 90', { budgetMs: 90 }],
    ['keel check --since=-1', { since: '-1' }],
    ['keel check -- --strict', { paths: ['--strict'] }],
    ['--quiet keel --project /p check a.md', { paths: ['a.md'] }],
  ])('of %s become the fields of the operation', async (line, given) => {
    const { out, err } = await runFake(world(), ['--json', ...line.split(' ')])
    const defaults = { strict: false, diff: true, budgetMs: 80, format: 'json' }
    expect(JSON.parse(out)).toMatchObject({ schema: 'outrigger.keel.check/1', given: { ...defaults, ...given } })
    expect(err).toBe('')
  })

  it.each([
    ['kee check', 'did you mean `outrigger keel`?'],
    ['xyzzy', '`outrigger help` lists them'],
    ['keel chekc', 'did you mean `outrigger keel check`?'],
    ['keel frobnicate', '`outrigger help keel` lists them'],
    ['keel', 'give one of: check, ok, watch'],
    ['keel check --strcit', 'did you mean --strict?'],
    ['keel check --zzz', '`outrigger help keel check` shows the options'],
    ['keel check --since', '`outrigger help keel check` shows the options'],
    ['keel ok a b c', '`outrigger help keel ok` shows the options'],
    ['keel ok', 'usage: outrigger keel ok <child> [source] [options]'],
    ['keel check --json --format sarif', 'give one of them'],
    ['keel ok a --format xml', 'give one of: text, json'],
    ['help keel check more', '`outrigger help keel` is one'],
    ['version --loud', '`outrigger help version` shows the options'],
    ['--loud', '`outrigger help` shows the options'],
  ])('that are wrong (%s) are a usage error with a way out', async (line, hint) => {
    const asked = await runFake(world(), ['--json', ...line.split(' ')])
    expect({ code: asked.code, error: errorOf(asked.out) }).toMatchObject({ code: 2, error: { code: 'CLI_USAGE', hint } })
    expect(asked.err).toBe('')
    const text = await runFake(world(), line.replace('--json ', '').split(' '))
    if (!line.includes('--json')) expect(text).toMatchObject({ code: 2, out: '' })
    if (!line.includes('--json')) expect(text.err).toMatch(/^CLI_USAGE: .+\n {2}hint: .+\n$/)
  })

  it.each([
    ['keel check --budget-ms 0', 'budgetMs', 'give an integer from 1 to 900'],
    ['keel check --budget-ms soon', 'budgetMs', 'give an integer from 1 to 900'],
    ['keel check --format xml', 'format', 'give one of: text, json, sarif'],
  ])('with a wrong value (%s) are refused by the operation itself', async (line, subject, hint) => {
    const { code, err } = await runFake(world(), line.split(' '))
    expect(code).toBe(2)
    expect(err).toContain(`BAD_INPUT: "${subject}"`)
    expect(err).toContain(`hint: ${hint}`)
  })

  it('open the named project, wherever it is named', async () => {
    for (const line of [
      '--project /p keel check',
      'keel --project /p check',
      'keel check --project /p',
      'keel check a --project=/p',
    ]) {
      const opened = world()
      await runFake(opened, line.split(' '))
      expect(opened.opened).toEqual([{ cwd: '/project/docs', project: '/p', door: 'cli' }])
      expect(opened.closed).toBe(1)
    }
  })

  it('read a list from standard input with -', async () => {
    const lines = await runFake(world(), ['keel', 'check', '--json', '--changed', '-'], { stdin: 'a.md\r\nb c.md\n\n' })
    expect(JSON.parse(lines.out).given.changed).toEqual(['a.md', 'b c.md'])
    const nul = await runFake(world(), ['keel', 'check', '-', '--json'], { stdin: 'a\nb.md\0c.md\0' })
    expect(JSON.parse(nul.out).given.paths).toEqual(['a\nb.md', 'c.md'])
    const twice = await runFake(world(), ['keel', 'check', '-', '--json', '--changed', '-'])
    expect(errorOf(twice.out)).toMatchObject({ code: 'CLI_USAGE', hint: 'give - once' })
  })

  it('refuse too much standard input', async () => {
    const { code, out } = await runFake(world(), ['keel', 'check', '-', '--json'], { stdin: 'x'.repeat(8 * 1024 * 1024 + 1) })
    expect(code).toBe(2)
    expect(errorOf(out)).toMatchObject({ code: 'BAD_INPUT', subject: '-', hint: 'give at most 8 MiB' })
  })
})

describe('an answer', () => {
  it('is text for a person', async () => {
    expect(await runFake(world(), ['keel', 'ok', 'a.md'])).toEqual({ code: 0, out: 'given {"child":"a.md"}\n', err: '' })
  })

  it('is one document for a script, by --json and by --format json alike', async () => {
    const byJson = await runFake(world(), ['keel', 'ok', 'a.md', '--json'])
    expect(byJson.out).toBe(
      '{"schema":"outrigger.keel.ok/1","given":{"child":"a.md"},"door":"cli","actor":{"kind":"person","basis":"terminal"},"cwd":"/project/docs"}\n',
    )
    expect(await runFake(world(), ['keel', 'ok', 'a.md', '--format', 'json'])).toEqual(byJson)
    expect(await runFake(world(), ['--json', 'keel', 'ok', 'a.md'])).toEqual(byJson)
  })

  it('takes another form by its name', async () => {
    expect((await runFake(world(), ['keel', 'check', '--format', 'sarif'])).out).toBe('{"version":"2.1.0"}\n')
  })

  it('goes to a file in the form that was asked for, and a person is told which', async () => {
    const files = world()
    const { out } = await runFake(files, ['keel', 'check', '--format', 'sarif', '--out', 'k.sarif'])
    expect(files.written.get('/project/docs/k.sarif')).toBe('{"version":"2.1.0"}\n')
    expect(out).toMatch(/^given \{[^\n]*\}\nwritten: k\.sarif\n$/)
    const json = await runFake(files, ['keel', 'check', '--json', '--out', '/tmp/k.json'])
    expect(files.written.get('/tmp/k.json')).toBe(json.out)
  })

  it('ends with the exit code of the operation', async () => {
    expect((await runFake(world(), ['keel', 'check', '--strict'])).code).toBe(1)
  })

  it('that comes in pieces is one document a line', async () => {
    const { out } = await runFake(world(), ['keel', 'watch', '--json'])
    expect(
      out
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line)),
    ).toEqual([
      { schema: 'outrigger.keel.watch/1', event: 'ready' },
      { schema: 'outrigger.keel.watch/1', event: 'swept' },
    ])
    expect((await runFake(world(), ['keel', 'watch'])).out).toBe('ready\nswept\n')
  })

  it('names who acts, as stated', async () => {
    const { out } = await runFake(world(), ['keel', 'ok', 'a.md', '--who', 'agent:x', '--json'])
    expect(JSON.parse(out).actor).toEqual({ kind: 'person', basis: 'stated', name: 'agent:x' })
  })

  it('comes with the faults of other sections on stderr, one line each', async () => {
    const bad = world()
    bad.configLines = ['pack: no such key']
    const { out, err } = await runFake(bad, ['keel', 'check', '--json'])
    expect(err).toBe('outrigger: pack: no such key (keel)\n')
    expect(JSON.parse(out).schema).toBe('outrigger.keel.check/1')
  })
})

describe('an error', () => {
  const refused = new OutriggerError('KEEL_BUSY', 'somebody else stamps', {
    subject: 'docs/a.md',
    hint: 'wait and try again',
    exit: 4,
    position: { file: 'docs/a.md', line: 3, column: 7 },
    faults: [{ key: 'keel.compare', message: 'no such value', position: { file: 'c.yml', line: 2, column: 1 } }],
  })

  it('is text with code, place, faults and hint on stderr', async () => {
    const { code, out, err } = await runFake(fakeWorld([failing(refused)]), ['keel', 'status'])
    expect({ code, out }).toEqual({ code: 4, out: '' })
    expect(err).toBe('KEEL_BUSY: somebody else stamps\n  c.yml:2:1 keel.compare: no such value\n  hint: wait and try again\n')
  })

  it('is text with the place, when there are no faults', async () => {
    const placed = new OutriggerError('KEEL_BAD_STAMP', 'no stamp', { position: { file: 'docs/a.md', line: 3, column: 7 } })
    const { err } = await runFake(fakeWorld([failing(placed)]), ['keel', 'status'])
    expect(err).toBe('KEEL_BAD_STAMP: no stamp\n  at docs/a.md:3:7\n')
  })

  it('does not repeat faults that its message names', async () => {
    const named = new OutriggerError('KEEL_BAD_CONFIG', '1 fault: keel.x must be y', {
      faults: [{ key: 'keel.x', message: 'must be y' }],
    })
    expect((await runFake(fakeWorld([failing(named)]), ['keel', 'status'])).err).toBe(
      'KEEL_BAD_CONFIG: 1 fault: keel.x must be y\n',
    )
  })

  it('is a document on stdout with --json', async () => {
    const { code, out, err } = await runFake(fakeWorld([failing(refused)]), ['keel', 'status', '--json'])
    expect({ code, err }).toEqual({ code: 4, err: '' })
    expect(JSON.parse(out)).toEqual({
      schema: 'outrigger.error/1',
      error: {
        code: 'KEEL_BUSY',
        message: 'somebody else stamps',
        subject: 'docs/a.md',
        hint: 'wait and try again',
        position: { file: 'docs/a.md', line: 3, column: 7 },
        faults: [{ key: 'keel.compare', message: 'no such value', position: { file: 'c.yml', line: 2, column: 1 } }],
      },
    })
  })

  it('that nobody expected is exit 70, with its stack when asked for', async () => {
    const faulty = fakeWorld([failing(new TypeError('x is not a function'))])
    const plain = await runFake(faulty, ['keel', 'status'])
    expect(plain.code).toBe(70)
    expect(plain.err).toBe('INTERNAL: x is not a function\n  hint: run it again with OUTRIGGER_DEBUG=1 and report the stack\n')
    const debug = await runFake(faulty, ['keel', 'status', '--json'], { env: { OUTRIGGER_DEBUG: '1' } })
    expect(errorOf(debug.out)).toMatchObject({ code: 'INTERNAL' })
    expect(debug.err).toMatch(/^TypeError: x is not a function\n {4}at /)
    expect(faulty.closed).toBe(2)
  })

  it('is coloured on a terminal only, and never with NO_COLOR', async () => {
    const red = '\u001b[31mCLI_USAGE'
    expect((await runFake(world(), ['xyzzy'], { terminal: true })).err.startsWith(red)).toBe(true)
    expect((await runFake(world(), ['xyzzy'])).err.startsWith('CLI_USAGE')).toBe(true)
    const refusedColour = await runFake(world(), ['xyzzy'], { terminal: true, env: { NO_COLOR: '1' } })
    expect(refusedColour.err.startsWith('CLI_USAGE')).toBe(true)
  })

  it('of the configuration stops an engine’s verb, not doctor', async () => {
    const bad = world()
    bad.configError = new OutriggerError('KEEL_BAD_CONFIG', 'keel: 1 fault')
    expect(errorOf((await runFake(bad, ['keel', 'check', '--json'])).out)).toMatchObject({ code: 'KEEL_BAD_CONFIG' })
    expect((await runFake(bad, ['doctor', '--json'])).code).toBe(0)
  })

  it('during an interruption is the exit code of the signal', async () => {
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const abort = new AbortController()
      abort.abort(signal)
      const ran = await runFake(fakeWorld([failing(new Error('aborted'))]), ['keel', 'status'], { signal: abort.signal })
      expect(ran).toEqual({ code, out: '', err: '' })
    }
  })
})

describe('progress', () => {
  const slow = (times: number[]): AnyOperation =>
    echo('keel.scan', empty, {
      run: async (_given: unknown, caller: Caller) => {
        for (const ms of times) {
          await new Promise(done => setTimeout(done, ms))
          caller.progress('reading', 3, 9)
        }
        return {}
      },
      render: () => 'done',
    })

  it('is shown on a terminal after a while, and taken away', async () => {
    const { out, err } = await runFake(fakeWorld([slow([0, 350])]), ['keel', 'scan'], { terminal: true })
    expect(err).toMatch(/^\r\u001b\[Kreading 3 of 9 · 0\.[34] s\r\u001b\[K$/)
    expect(out).toBe('done\n')
  })

  it('is not shown for short work, elsewhere, or with --quiet', async () => {
    expect((await runFake(fakeWorld([slow([0, 0])]), ['keel', 'scan'], { terminal: true })).err).toBe('')
    expect((await runFake(fakeWorld([slow([350])]), ['keel', 'scan'])).err).toBe('')
    expect((await runFake(fakeWorld([slow([350])]), ['keel', 'scan', '--quiet'], { terminal: true })).err).toBe('')
  })
})

describe('help', () => {
  it('alone is a short overview, without opening a project', async () => {
    const opened = world()
    const { code, out } = await runFake(opened, [])
    expect(code).toBe(0)
    expect(out).toContain('outrigger demo')
    expect(out.split('\n').length).toBeLessThan(12)
    expect(opened.opened).toEqual([])
  })

  it('lists every command', async () => {
    const { out } = await runFake(world(), ['help'])
    for (const word of [
      'keel',
      'companion',
      'pack',
      'next',
      'serve',
      'session',
      'replay',
      'ledger',
      'init',
      'doctor',
      'demo',
      'mcp',
      'hook',
      'version',
      'help',
    ]) {
      expect(out).toMatch(new RegExp(`^ {2}${word} `, 'm'))
    }
    expect(await runFake(world(), ['--help'])).toEqual(await runFake(world(), ['help']))
  })

  it('of a verb shows usage, defaults, two examples and exit codes', async () => {
    const asked = await runFake(world(), ['help', 'keel', 'check'])
    expect(asked.out).toBe(`answers with what keel.check was given

usage: outrigger keel check [paths...] [options]

arguments
  paths  only these

options
  --since <since>             a revision
  --changed <changed...>      files
  --strict                    strictly
  --diff, --no-diff           with a diff (default true)
  --budget-ms <n>             time (from 1 to 900; default 80)
  --format <text|json|sarif>  form (default text)
  --out <out>                 a file
  --json                      one JSON document on stdout, the same as --format json
  --project <DIR>             the project; else the nearest folder above with .git, else the current one
  --quiet                     no progress on stderr
  -h, --help                  show this

examples
  outrigger keel check
  outrigger keel check --json

exit codes
  0   fine
  1   findings
  2   usage or bad input
  3   something needed is not available
  4   somebody else holds it
  70  a fault of ours
`)
    for (const line of ['keel check --help', 'keel --help check', '--help keel check', 'keel check -h a.md --since x']) {
      expect(await runFake(world(), line.split(' '))).toEqual(asked)
    }
  })

  it('of an engine lists its verbs', async () => {
    const { out } = await runFake(world(), ['help', 'keel'])
    for (const verb of ['check', 'ok', 'watch']) expect(out).toMatch(new RegExp(`^ {2}${verb} `, 'm'))
    expect(await runFake(world(), ['keel', '--help'])).toMatchObject({ out })
  })

  it('is a document with --json', async () => {
    const { out } = await runFake(world(), ['help', 'keel', 'check', '--json'])
    expect(JSON.parse(out)).toMatchObject({ schema: 'outrigger.help/1', topic: 'keel check' })
  })

  it.each(['demo', 'mcp', 'hook', 'version', 'help', 'doctor'])('of %s has usage, examples and exit codes', async word => {
    const { code, out } = await runFake(world(), ['help', word])
    expect(code).toBe(0)
    for (const part of [`usage: outrigger ${word}`, 'examples\n  ', 'exit codes\n  0']) expect(out).toContain(part)
    expect(await runFake(world(), [word, '--help'])).toMatchObject({ code: 0, out })
  })
})

describe('commands of the program itself', () => {
  it('tell the version', async () => {
    expect(await runFake(world(), ['version'])).toEqual({ code: 0, out: '1.2.3\n', err: '' })
    expect(await runFake(world(), ['--version'])).toMatchObject({ out: '1.2.3\n' })
    expect(JSON.parse((await runFake(world(), ['version', '--json'])).out)).toEqual({
      schema: 'outrigger.version/1',
      version: '1.2.3',
      node: process.versions.node,
    })
  })

  it('hand their options on', async () => {
    const { out } = await runFake(world(), ['mcp', '--engine', 'keel', '--project', '/p'])
    expect(JSON.parse(out)).toEqual({ mcp: { project: '/p', engines: ['keel'], serve: false } })
    expect(JSON.parse((await runFake(world(), ['demo', '--json'])).out)).toEqual({ demo: { json: true, quiet: false } })
    expect(JSON.parse((await runFake(world(), ['hook', 'Stop'])).out)).toEqual({ hook: { event: 'Stop' } })
  })

  it('let the host go on when a hook was typed wrongly', async () => {
    for (const args of [['hook'], ['hook', '--loud', 'Stop'], ['hook', 'A', 'B']]) {
      const { code, out } = await runFake(world(), args)
      expect({ code, hook: 'hook' in JSON.parse(out) }).toEqual({ code: 0, hook: true })
    }
  })
})
