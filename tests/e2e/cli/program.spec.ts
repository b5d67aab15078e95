import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildProgram, type Finished, type Program } from '../../support/cli/program.ts'

let program: Program
beforeAll(async () => {
  program = await buildProgram()
})
afterAll(() => program?.remove())

const guide = '---\nsources:\n  - api.md\n---\n# Guide\n\nCall open.\n'
const files = { 'guide.md': guide, 'api.md': '# API\n\nopen(path)\n', 'notes/free.md': '# Free\n' }

const project = (more: Record<string, string> = {}) =>
  program.folder({ '.git/HEAD': 'ref: refs/heads/main\n', ...files, ...more })
const json = (ran: Finished) => JSON.parse(ran.out) as Record<string, unknown>
const error = (ran: Finished) => json(ran)['error'] as Record<string, unknown>
const all = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()

/** A project whose guide is behind its source. */
async function behind() {
  const root = project()
  const stamped = await program.run(root, ['keel', 'stamp', '--json'])
  expect(stamped).toMatchObject({ code: 0, err: '' })
  writeFileSync(join(root, 'api.md'), '# API\n\nopen(path, mode)\n')
  return root
}

describe('the program', () => {
  it('tells its version as the package has it', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    expect(await program.run(program.folder(), ['version'])).toMatchObject({ code: 0, out: `${version}\n`, err: '' })
  })

  it('on a Node that is too old says so in a line, and leaves a hook its empty answer', async () => {
    const old = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } })\n"
    const env = { NODE_OPTIONS: `--import=${join(program.folder({ 'old.mjs': old }), 'old.mjs')}` }
    const ran = await program.run(program.folder(), ['keel', 'check'], { env })
    expect(ran).toMatchObject({ code: 3, out: '' })
    expect(ran.err).toMatch(/^NODE_TOO_OLD: [^\n]*20\.1\.0\n {2}hint: [^\n]*\n$/)
    expect(await program.run(program.folder(), ['hook', 'Stop'], { env, stdin: '{}' })).toMatchObject({ code: 0, out: '{}\n' })
  })

  it('alone shows what to type first', async () => {
    const { code, out } = await program.run(program.folder(), [])
    expect(code).toBe(0)
    expect(out).toContain('outrigger keel check')
  })

  it('keeps its compiled form in the user’s cache folder, and works without one', async () => {
    const root = project()
    const cache = program.folder()
    expect((await program.run(root, ['keel', 'check'], { env: { XDG_CACHE_HOME: cache } })).code).toBe(0)
    expect(all(join(cache, 'outrigger/compiled')).length).toBeGreaterThan(0)
    const homeless = { HOME: '', XDG_CACHE_HOME: '', XDG_CONFIG_HOME: '', XDG_STATE_HOME: '' }
    expect(await program.run(root, ['keel', 'check'], { env: homeless })).toMatchObject({ code: 0, err: '' })
  })

  it('answers each hint of a usage error when it is typed', async () => {
    const root = project()
    for (const wrong of [['kee', 'check'], ['keel', 'chekc'], ['keel', 'check', '--zzz'], ['pack'], ['keel']]) {
      const ran = await program.run(root, [...wrong, '--json'])
      expect({ code: ran.code, ...error(ran) }).toMatchObject({ code: 'CLI_USAGE' })
      const typed = /`outrigger ([^`]+)`/.exec(String(error(ran)['hint']))?.[1]
      if (typed !== undefined) expect((await program.run(root, typed.split(' '))).code === 2).toBe(typed === 'keel')
    }
  })

  it('refuses a project that is no folder', async () => {
    const ran = await program.run(program.folder(), ['keel', 'check', '--project', 'nowhere', '--json'])
    expect(ran.code).toBe(2)
    expect(error(ran)).toMatchObject({ code: 'BAD_INPUT', subject: 'nowhere' })
  })

  it('lists every fault of a bad configuration, with its place', async () => {
    const root = project({ '.outrigger/config.yml': 'keel:\n  compare: sometimes\n  sweepBudgetMs: 1\n' })
    const ran = await program.run(root, ['keel', 'check', '--json'])
    expect(ran.code).toBe(2)
    expect(error(ran)).toMatchObject({
      code: 'KEEL_BAD_CONFIG',
      faults: [
        { key: 'keel.compare', position: { file: '.outrigger/config.yml', line: 2 } },
        { key: 'keel.sweepBudgetMs', position: { file: '.outrigger/config.yml', line: 3 } },
      ],
    })
    const text = await program.run(root, ['keel', 'check'])
    expect(text.err).toMatch(
      /^KEEL_BAD_CONFIG: .*\.outrigger\/config\.yml:2: keel\.compare must be .*:3: keel\.sweepBudgetMs must be .*\n {2}hint: /,
    )
    expect(text.out).toBe('')
  })
})

describe('keel on the command line', () => {
  it('checks a strange project without leaving a file in it', async () => {
    const root = project()
    const before = all(root)
    const ran = await program.run(root, ['keel', 'check'])
    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(all(root)).toEqual(before)
  })

  it('stamps, sees the source move, and fails the check with one document', async () => {
    const root = await behind()
    expect(readFileSync(join(root, 'guide.md'), 'utf8')).toMatch(/^---\nsources:\n {2}- api\.md @[0-9a-f]{12}\n---\n/)
    const ran = await program.run(root, ['keel', 'check', '--json'])
    expect({ code: ran.code, err: ran.err, lines: ran.out.trimEnd().split('\n').length }).toEqual({ code: 1, err: '', lines: 1 })
    expect(json(ran)).toMatchObject({
      schema: 'outrigger.keel.check/1',
      verdict: 'suspect',
      suspects: [{ child: 'guide.md', target: 'api.md', reason: 'changed' }],
    })
    const person = await program.run(join(root, 'notes'), ['keel', 'check'])
    expect(person.code).toBe(1)
    expect(person.out).toContain('guide.md:3')
  })

  it('writes a report for CI to a file, and shows the text', async () => {
    const root = await behind()
    const ran = await program.run(root, ['keel', 'check', '--format', 'sarif', '--out', 'keel.sarif'])
    expect(ran.code).toBe(1)
    expect(ran.out).toMatch(/^guide\.md:[\s\S]*\nwritten: keel\.sarif\n$/)
    const sarif = JSON.parse(readFileSync(join(root, 'keel.sarif'), 'utf8')) as {
      version: string
      runs: { results: unknown[] }[]
    }
    expect({ version: sarif.version, results: sarif.runs[0]!.results.length }).toEqual({ version: '2.1.0', results: 1 })
  })

  it('takes changed files from standard input', async () => {
    const root = await behind()
    const other = await program.run(root, ['keel', 'check', '--changed', '-', '--json'], { stdin: 'notes/free.md\n' })
    expect({ code: other.code, suspects: json(other)['suspects'] }).toEqual({ code: 0, suspects: [] })
    const moved = await program.run(root, ['keel', 'check', '--changed', '-', '--json'], { stdin: 'api.md\n' })
    expect(moved.code).toBe(1)
  })

  it('records an acknowledgement, and the check is clean', async () => {
    const root = await behind()
    const ran = await program.run(root, ['keel', 'ok', 'guide.md', '--reason', 'mode has a default', '--json'])
    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(json(ran)).toMatchObject({ schema: 'outrigger.keel.ok/1', acked: [{ child: 'guide.md', source: 'api.md' }] })
    expect((await program.run(root, ['keel', 'check'])).code).toBe(0)
  })

  it('prints the same bytes twice when clock and seed are fixed', async () => {
    const env = { OUTRIGGER_NOW: '2030-01-02T03:04:05.678Z', OUTRIGGER_SEED: '7' }
    const runs = []
    for (const root of [project(), project()]) {
      const outs = []
      for (const args of [['stamp'], ['log'], ['check', '--all'], ['status']]) {
        outs.push((await program.run(root, ['keel', ...args, '--json'], { env })).out.replaceAll(root, '<root>'))
      }
      runs.push(outs)
    }
    expect(runs[1]).toEqual(runs[0])
    expect(runs[0]!.join('')).toContain('2030-01-02T03:04:05.678Z')
  })

  it('stops quietly when nobody reads its output any more', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 400 }, (_, n) => [`many/${n}.md`, `---\nsources: [../api.md]\n---\n# ${n}\n`]),
    )
    const ran = await program.run(project(many), ['keel', 'check', '--all', '--json'], { closeStdout: true })
    expect({ code: ran.code, err: ran.err }).toEqual({ code: 0, err: '' })
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends a watch on %s with %i and leaves nothing locked', async (signal, code) => {
    const root = await behind()
    const ran = await program.run(root, ['keel', 'watch', '--json'], { signal: { after: '"ready"', signal } })
    expect({ code: ran.code, err: ran.err }).toEqual({ code, err: '' })
    for (const line of ran.out.trimEnd().split('\n')) expect(JSON.parse(line)).toMatchObject({ schema: 'outrigger.keel.watch/1' })
    expect((await program.run(root, ['keel', 'ok', 'guide.md', '--reason', 'read it'])).code).toBe(0)
  })
})

describe('an interruption while stamps are written', () => {
  it.each([200, 500, 900])('after %i ms leaves whole files and nothing locked', async ms => {
    const text = (n: number) => `---\nsources: [../api.md]\n---\n# ${n}\n\n${'word '.repeat(50)}\n`
    const root = project(Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`many/${n}.md`, text(n)])))
    const ran = await program.run(root, ['keel', 'stamp'], { signal: { after: ms, signal: 'SIGTERM' } })
    expect([0, 143, null]).toContain(ran.code)
    for (let n = 0; n < 120; n++) {
      const now = readFileSync(join(root, `many/${n}.md`), 'utf8')
      expect(now.replace(/ @[0-9a-f]{12}/, '')).toBe(text(n))
    }
    expect(await program.run(root, ['keel', 'stamp'])).toMatchObject({ code: 0, err: '' })
    expect((await program.run(root, ['keel', 'check', '--strict'])).code).toBe(0)
    expect(all(join(root, 'many')).filter(name => !name.endsWith('.md'))).toEqual([])
  })
})

describe('a recorded session', () => {
  const row = (more: Record<string, unknown>) => `${JSON.stringify(more)}\n`
  const log = (root: string) => {
    const base = { session: 's1', project: root }
    return [
      { kind: 'outrigger-events', version: 1, session: 's1', project: root },
      { kind: 'session-started', ...base, at: 1_000, source: 'startup' },
      { kind: 'person-spoke', ...base, at: 2_000, text: 'what is behind?' },
      { kind: 'turn-started', ...base, at: 2_000, turn: 1, by: 'person' },
      { kind: 'turn-ended', ...base, at: 3_000, turn: 1, reason: 'completed', answer: 'guide.md' },
    ]
      .map(row)
      .join('')
  }

  it('is printed as events and facts, from a file and from standard input', async () => {
    const root = await behind()
    writeFileSync(join(root, 'notes/log.jsonl'), log(root))
    const events = await program.run(join(root, 'notes'), ['session', 'events', 'log.jsonl', '--json'])
    expect(events).toMatchObject({ code: 0, err: '' })
    const lines = events.out
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as Record<string, unknown>)
    expect(lines.map(line => line['kind'] ?? line['schema'])).toEqual([
      'session-started',
      'person-spoke',
      'turn-started',
      'turn-ended',
      'outrigger.session.summary/1',
    ])
    const piped = await program.run(root, ['session', 'events', '-', '--json'], { stdin: log(root) })
    expect(piped.out).toBe(events.out)
    const facts = await program.run(root, ['session', 'facts', '-', '--json'], { stdin: log(root) })
    expect(json(facts)).toMatchObject({ schema: 'outrigger.session.facts/1', turns: 1, lastAnswer: 'guide.md' })
  })

  it('is replayed without a change to the project', async () => {
    const root = await behind()
    const before = all(root)
    const ran = await program.run(root, ['replay', '-', '--engine', 'keel', '--json'], { stdin: log(root) })
    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(ran.out).toContain('"schema":"outrigger.replay/1"')
    expect(ran.out).toContain('guide.md')
    expect(all(root)).toEqual(before)
    const absent = await program.run(root, ['replay', '-', '--engine', 'kelp', '--json'], { stdin: log(root) })
    expect({ code: absent.code, error: error(absent) }).toMatchObject({ code: 2, error: { subject: 'engine' } })
  })

  it('that is none is refused', async () => {
    const ran = await program.run(program.folder(), ['session', 'facts', '-', '--json'], { stdin: 'garbage\n' })
    expect({ code: ran.code, error: error(ran) }).toMatchObject({ code: 2, error: { code: 'SESSION_BAD_LOG' } })
    const missing = await program.run(program.folder(), ['session', 'facts', 'none.jsonl', '--json'])
    expect({ code: missing.code, error: error(missing) }).toMatchObject({ code: 2, error: { code: 'SESSION_NO_LOG' } })
  })
})

describe('the ledger', () => {
  it('tells why nothing happened, one document a line', async () => {
    const root = await behind()
    await program.run(root, ['hook', 'SessionStart'], {
      stdin: JSON.stringify({ session_id: 's1', cwd: root, source: 'startup' }),
    })
    const ran = await program.run(root, ['ledger', '--engine', 'keel', '--json'])
    expect(ran).toMatchObject({ code: 0, err: '' })
    const lines = ran.out
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as Record<string, unknown>)
    expect(lines[0]).toMatchObject({ schema: 'outrigger.ledger/1', engine: 'keel', session: null, what: 'stamped' })
    expect(lines.at(-1)).toMatchObject({ schema: 'outrigger.ledger/1', engine: 'keel', session: 's1' })
    expect((await program.run(root, ['ledger', '--session', 'other'])).out).toMatch(/^Nothing is on record/)
    expect((await program.run(root, ['ledger', '--session', 'other', '--json'])).out).toBe('')
  })
})

describe('help of every verb', () => {
  it('has a usage, two examples that parse, and exit codes', async () => {
    const root = project()
    const group = async (name: string) =>
      [...(await program.run(root, ['help', name])).out.matchAll(/^ {2}([a-z]+) {2}/gm)].map(match => [name, match[1]!])
    const verbs = [...(await group('keel')), ...(await group('session')), ['replay'], ['ledger'], ['init'], ['doctor']]
    expect(verbs.length).toBeGreaterThan(16)
    for (const words of verbs) {
      const { code, out } = await program.run(root, ['help', ...words])
      expect({ words, code }).toEqual({ words, code: 0 })
      expect(out).toContain(`usage: outrigger ${words.join(' ')}`)
      const examples = out.split('examples\n')[1]!.split('\n\n')[0]!.split('\n')
      expect({ words, examples: examples.length }).toEqual({ words, examples: 2 })
      for (const example of examples) expect(example).toMatch(new RegExp(`^ {2}(?:.*\\| )?outrigger ${words.join(' ')}(?: |$)`))
    }
  }, 120_000)
})

describe('git', () => {
  it('ranges by a revision', async () => {
    const root = program.folder(files)
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@localhost', ...args], {
        cwd: root,
        env: program.env,
        stdio: 'pipe',
      })
    git('init', '-q', '-b', 'main')
    expect((await program.run(root, ['keel', 'stamp'])).code).toBe(0)
    git('add', '-A')
    git('commit', '-qm', 'one')
    writeFileSync(join(root, 'api.md'), '# API\n\nopen(path, mode)\n')
    git('commit', '-qam', 'two')
    expect((await program.run(root, ['keel', 'check', '--since', 'HEAD~1'])).code).toBe(1)
    expect((await program.run(root, ['keel', 'check', '--since', 'HEAD'])).code).toBe(0)
    const bad = await program.run(root, ['keel', 'check', '--since', 'nowhere', '--json'])
    expect({ code: bad.code, error: error(bad) }).toMatchObject({ code: 2, error: { code: 'KEEL_BAD_REV' } })
  })
})
