import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openProject } from '../../src/node/open.ts'
import { operationsOf } from '../../src/runtime/operations.ts'
import type { Caller } from '../../src/session/operation.ts'
import { quickStart, type World, world } from '../support/keel-cli.ts'
import { TestSession, textOf } from '../support/keel-session.ts'

async function open(files: Readonly<Record<string, string>> = quickStart) {
  const made: World = world(files)
  const project = await openProject({ cwd: made.root, env: made.env, door: 'dsh' })
  onTestFinished(() => project.close())
  const deps = project.keelDeps()
  const session = new TestSession(project.keel(), await deps.store(), { deps })
  const caller: Caller = {
    door: 'dsh',
    actor: { kind: 'agent', basis: 'host' },
    session: session.session,
    signal: new AbortController().signal,
    progress: () => undefined,
  }
  const tool = async (name: string, input: Readonly<Record<string, unknown>>) => {
    const operation = operationsOf(project).find(one => one.tool === name)!
    const given = operation.decode(input)
    const output = await operation.run(given, caller)
    return { output, text: operation.render(output, given) }
  }
  return { made, project, session, tool }
}

describe('a session on real documents', () => {
  it('stamps at its start and at the end of a turn, never in between', async () => {
    const { made, session } = await open()
    await session.start()
    expect(made.read('docs/quick.md')).toContain('guide.md#Setup @df3855ab0bab')
    expect(textOf(await session.say())).toContain('keel wrote review stamps in docs/quick.md.')
    made.write('docs/new.md', '---\nsource: guide.md\n---\n# New\n')
    await session.write('docs/new.md')
    expect(made.read('docs/new.md')).toContain('source: guide.md\n')
    await session.stop()
    expect(made.read('docs/new.md')).toMatch(/source: guide\.md @[0-9a-f]{12}\n/)
    await session.end()
    expect(textOf(await session.say())).toContain('keel wrote review stamps in docs/new.md.')
  })

  it('writes the acknowledgement of the tool when the turn ends', async () => {
    const { made, session, tool } = await open()
    await session.start()
    await session.say()
    made.write('guide.md', quickStart['guide.md'].replace('run it', 'run it twice'))
    expect(textOf(await session.write('guide.md'))).toContain('docs/quick.md <- guide.md#Setup: changed')
    const before = made.read('docs/quick.md')
    const { output, text } = await tool('keel_ok', { child: 'docs/quick.md', reason: 'the steps are the same' })
    expect(output).toMatchObject({ acked: [{ new: '95495efc9d5d' }], written: [], recorded: true })
    expect(text).toContain('written when this turn ends')
    await session.tool('keel_ok')
    expect(made.read('docs/quick.md')).toBe(before)
    expect(textOf(await session.stop(), 'hold-stop')).toBeNull()
    expect(made.read('docs/quick.md')).toContain('@95495efc9d5d')
    const journal = made
      .read('.outrigger/keel/journal.jsonl')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(journal.at(-1)).toMatchObject({
      kind: 'ok',
      reason: 'the steps are the same',
      who: { kind: 'agent', session: 's1' },
      old: 'df3855ab0bab',
      new: '95495efc9d5d',
    })
  })

  it('leaves an acknowledgement unwritten when the source moved on', async () => {
    const { made, session, tool } = await open()
    await session.start()
    await session.say()
    made.write('guide.md', quickStart['guide.md'].replace('run it', 'run it twice'))
    await session.write('guide.md')
    await tool('keel_ok', { child: 'docs/quick.md', reason: 'the steps are the same' })
    made.write('guide.md', quickStart['guide.md'].replace('run it', 'run it never'))
    await session.write('guide.md')
    expect(textOf(await session.stop(), 'hold-stop')).toContain('docs/quick.md')
    expect(made.read('docs/quick.md')).toContain('@df3855ab0bab')
  })

  it('takes an edit of the section as its review, and one elsewhere not', async () => {
    const two = '---\ntitle: T\n---\n# D\n\n## A\n<!-- source: guide.md#Setup -->\nabout setup\n\n## B\nabout else\n'
    const { made, session } = await open({ ...quickStart, 'docs/two.md': two })
    await session.start()
    await session.say()
    made.write('guide.md', quickStart['guide.md'].replace('run it', 'run it twice'))
    await session.write('guide.md')
    made.write('docs/two.md', made.read('docs/two.md').replace('about else', 'about something else'))
    await session.write('docs/two.md')
    made.write('docs/quick.md', made.read('docs/quick.md').replace('Run it.', 'Run it twice.'))
    await session.write('docs/quick.md')
    const held = textOf(await session.stop(), 'hold-stop')
    expect(held).toContain('- docs/two.md § A <- guide.md#Setup: changed')
    expect(held).not.toContain('- docs/quick.md')
    expect(made.read('docs/quick.md')).toContain('@95495efc9d5d')
    made.write('docs/two.md', made.read('docs/two.md').replace('about setup', 'about setup, twice'))
    await session.write('docs/two.md')
    await session.stop(true)
    expect(made.read('docs/two.md')).toContain('guide.md#Setup @95495efc9d5d')
    const kinds = made
      .read('.outrigger/keel/journal.jsonl')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(kinds.filter(one => one.kind === 'updated')).toHaveLength(2)
    expect(kinds.at(-1)).toMatchObject({ kind: 'updated', evidence: { told: true } })
  })

  it('settles chains and cycles in one pass, and its own writes make nothing suspect', async () => {
    const { made, session } = await open({
      'a.md': '---\nsource: b.md\n---\n# A\n',
      'b.md': '---\nsource: a.md\n---\n# B\n',
      'c.md': '---\nsources: [c.md, b.md]\n---\n# C\n',
    })
    await session.start()
    await session.quietTurn()
    expect((await made.json('check', '--strict')).json).toMatchObject({ verdict: 'clean', summary: { clean: 4, suspect: 0 } })
  })

  it('writes the status for people and takes it back', async () => {
    const { made, session } = await open()
    await session.start()
    await session.say()
    made.write('guide.md', quickStart['guide.md'].replace('run it', 'run it twice'))
    await session.write('guide.md')
    await session.stop()
    expect(made.read('.outrigger/keel/status.md')).toContain('suspects: 1')
    await session.end()
    made.write('guide.md', quickStart['guide.md'])
    await session.quietTurn()
    expect(made.read('.outrigger/keel/status.md')).toContain('suspects: none')
  })

  it('creates nothing in a project without declarations', async () => {
    const made = world({ 'README.md': '# Nothing\n' })
    const project = await openProject({ cwd: made.root, env: made.env, door: 'dsh' })
    onTestFinished(() => project.close())
    const deps = project.keelDeps()
    const session = new TestSession(project.keel(), await deps.store(), { deps })
    expect(await session.start()).toEqual([])
    expect(await session.quietTurn()).toEqual([])
    await session.send('session-ended', { reason: 'exit' })
    expect(existsSync(join(made.root, '.outrigger'))).toBe(false)
  })

  it('answers the command', async () => {
    const { made, session } = await open()
    const ask = async (args: string): Promise<string | null> =>
      textOf(await session.send('command-run', { name: 'keel', args, by: 'person' }), 'reply')
    await session.start()
    expect(await ask('')).toMatch(/^All documents hold as far as they were checked\.\n1 document, 1 source, 1 edge · swept 20/)
    made.write('guide.md', quickStart['guide.md'].replace('run it', 'run it twice'))
    expect(await ask('')).toMatch(/^1 behind:\n {2}docs\/quick\.md:4 <- guide\.md#Setup: changed, since just now\n/)
    made.write('docs/new.md', '---\nsource: guide.md\n---\n')
    const scanned = await ask('scan')
    expect(scanned).toContain('2 documents with')
    expect(scanned).toContain('found: docs/new.md')
    expect(scanned).toContain('1 stamp to be written at the end of the turn.')
    expect(made.read('docs/new.md')).toBe('---\nsource: guide.md\n---\n')
    expect(await ask('why guide.md')).toContain('from guide.md derive:\n  docs/new.md:2 <- guide.md: pending-stamp\n')
    expect(await ask('why docs/quick.md')).toContain('docs/quick.md derives from:\n  guide.md#Setup: changed')
    expect(await ask('why [[quick]]')).toContain('docs/quick.md derives from:')
    expect(await ask('why nothing')).toBe('keel knows no document or source "nothing".')
    expect(await ask('watch')).toBe('watching by host: 3 files.')
    expect(await ask('dance')).toMatch(/^usage: \/keel/)
    expect(await ask('off')).toMatch(/^keel is off here \(\.outrigger\/keel\/off\)/)
    expect(await ask('')).toMatch(/\/keel on turns it on again\.$/)
    expect(await ask('on')).toBe('keel is on again: 2 documents with sources, 1 behind.')
  })
})
