import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { openProject } from '../../src/node/open.ts'
import { sessionOperations } from '../../src/runtime/session-operations.ts'
import type { Caller } from '../../src/session/operation.ts'
import { temporaryFolder } from '../support/temporary.ts'

// biome-ignore lint/suspicious/noExplicitAny: documents of several verbs
type Document = any

const jsonl = (...rows: readonly unknown[]) => `${rows.map(row => JSON.stringify(row)).join('\n')}\n`
const header = (project: string) => ({ kind: 'outrigger-events', version: 1, session: 'e1', project })

async function run(cwd: string, name: string, input: object): Promise<readonly Document[]> {
  const project = await openProject({ cwd, project: cwd, env: { HOME: cwd }, door: 'cli' })
  const operation = sessionOperations(project).find(one => one.name === name)!
  const caller: Caller = {
    door: 'cli',
    actor: { kind: 'person', basis: 'terminal' },
    cwd,
    signal: new AbortController().signal,
    progress: () => {},
  }
  const decoded = operation.decode(input)
  try {
    if (operation.stream === undefined) return [await operation.run(decoded, caller)]
    const lines: Document[] = []
    for await (const line of operation.stream(decoded, caller)) lines.push(line)
    return lines
  } finally {
    await project.close()
  }
}

/** Every path below a folder with its bytes. */
function snapshot(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return Object.fromEntries(
    files.map(file => [file, statSync(join(folder, file)).isFile() ? readFileSync(join(folder, file), 'utf8') : '']),
  )
}

describe('session events', () => {
  it('gives one document an event, then what was passed over', async () => {
    const folder = temporaryFolder()
    writeFileSync(
      join(folder, 'log.jsonl'),
      jsonl(header('/p'), { kind: 'person-spoke', text: 'hi', at: 1_000 }, { kind: 'other' }),
    )
    expect(await run(folder, 'session.events', { log: 'log.jsonl' })).toEqual([
      {
        schema: 'outrigger.session.event/1',
        kind: 'person-spoke',
        session: 'e1',
        project: '/p',
        at: '1970-01-01T00:00:01.000Z',
        text: 'hi',
      },
      {
        schema: 'outrigger.session.summary/1',
        format: 'events',
        session: 'e1',
        events: 1,
        skipped: { other: 1 },
        gaps: 0,
        torn: null,
      },
    ])
  })

  it('takes the newest session of a folder', async () => {
    const folder = temporaryFolder()
    for (const [name, id, age] of [
      ['old', 'd1', 100],
      ['new', 'd2', 10],
    ] as const) {
      mkdirSync(join(folder, 'home', name), { recursive: true })
      const file = join(folder, 'home', name, 'session.jsonl.zstd')
      writeFileSync(
        file,
        zstdCompressSync(Buffer.from(jsonl({ type: 'session', version: 0, id, createdAt: 1, cwd: '/nowhere' }))),
      )
      utimesSync(file, 1_000 - age, 1_000 - age)
    }
    expect((await run(folder, 'session.events', { log: 'home' }))[0]).toMatchObject({ session: 'd2', project: '/nowhere' })
  })

  it.each([
    ['what is not there', 'none.jsonl', 'SESSION_NO_LOG'],
    ['a folder without one', 'empty', 'SESSION_NO_LOG'],
    ['what is no log', 'text.txt', 'SESSION_BAD_LOG'],
  ])('refuses %s', async (_, log, code) => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'empty'))
    writeFileSync(join(folder, 'text.txt'), 'hello\n')
    await expect(run(folder, 'session.events', { log })).rejects.toMatchObject({ code, exit: 2 })
  })
})

describe('session facts', () => {
  it('gives what the log adds up to, times in ISO', async () => {
    const folder = temporaryFolder()
    const events = [
      { kind: 'turn-started', turn: 1, by: 'person', at: 1_000 },
      {
        kind: 'tool-finished',
        call: 'c',
        tool: 'Bash',
        input: { command: 'npm test' },
        output: 'Exit code 1',
        ok: false,
        at: 2_000,
      },
      { kind: 'tool-finished', call: 'd', tool: 'Edit', input: { file_path: '/p/constructor' }, at: 3_000 },
      { kind: 'turn-ended', turn: 1, answer: 'done', at: 4_000 },
    ]
    writeFileSync(join(folder, 'log.jsonl'), jsonl(header('/p'), ...events))
    expect(await run(folder, 'session.facts', { log: join(folder, 'log.jsonl') })).toMatchObject([
      {
        session: 'e1',
        startedAt: '1970-01-01T00:00:01.000Z',
        lastAt: '1970-01-01T00:00:04.000Z',
        endedAt: null,
        turn: null,
        turns: 1,
        personTurns: 1,
        lastTest: { command: 'npm test', exit: 1, at: '1970-01-01T00:00:02.000Z', test: true },
        files: { constructor: { readAt: null, writtenAt: '1970-01-01T00:00:03.000Z', by: 'agent' } },
        lastAnswer: 'done',
      },
    ])
  })
})

describe('replay', () => {
  const project = () => {
    const folder = temporaryFolder()
    execFileSync('git', ['init', '-q', folder])
    mkdirSync(join(folder, 'docs'))
    mkdirSync(join(folder, 'src'))
    writeFileSync(join(folder, 'src/a.ts'), 'export const a = 2\n')
    writeFileSync(join(folder, 'docs/a.md'), '---\nsource: ../src/a.ts@000000000000\n---\n# A\n')
    writeFileSync(join(folder, 'docs/b.md'), '---\nsource: ../src/a.ts\n---\n# B\n')
    const events = [
      { kind: 'session-started', source: 'startup', at: 1_000 },
      { kind: 'turn-started', turn: 1, by: 'person', at: 2_000 },
      { kind: 'person-spoke', text: 'go', at: 2_001 },
      { kind: 'turn-ended', turn: 1, answer: 'done', at: 9_000 },
    ]
    writeFileSync(join(folder, 'log.jsonl'), jsonl(header('/elsewhere'), ...events))
    return folder
  }

  it('prints what keel asks for, and changes nothing', async () => {
    const folder = project()
    const before = snapshot(folder)
    const lines = await run(folder, 'replay', { log: 'log.jsonl', engine: ['keel'] })
    expect(lines.at(-1)).toEqual({ schema: 'outrigger.replay.summary/1', events: 4, actions: lines.length - 1 })
    expect(lines.length).toBeGreaterThan(1)
    expect(lines[0]).toMatchObject({ schema: 'outrigger.replay/1', n: 1, session: 'e1', action: { engine: 'keel' } })
    const contexts = lines.filter(line => line.action?.kind === 'add-context')
    expect(contexts[0].action.text).toContain('docs/a.md')
    expect(snapshot(folder)).toEqual(before)
  })

  it('prints the same bytes again', async () => {
    const folder = project()
    expect(await run(folder, 'replay', { log: 'log.jsonl' })).toEqual(await run(folder, 'replay', { log: 'log.jsonl' }))
  })

  it('refuses an engine that is not there', async () => {
    await expect(run(project(), 'replay', { log: 'log.jsonl', engine: ['kelp'] })).rejects.toMatchObject({ code: 'BAD_INPUT' })
  })
})
