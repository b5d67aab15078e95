import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { quickStart, type World, world } from '../support/keel-cli.ts'

const journal = '.outrigger/keel/journal.jsonl'

/** A folder stands in the file's place: nobody, whatever their rights, can read or write it. */
function block(made: World, path: string): void {
  rmSync(join(made.root, path), { force: true })
  mkdirSync(join(made.root, path), { recursive: true })
}

describe('a journal that cannot be written', () => {
  async function reviewed(): Promise<World> {
    const made = world(quickStart)
    await made.json('stamp')
    made.write('guide.md', quickStart['guide.md'].replace('run it', 'run it twice'))
    block(made, journal)
    const { json } = await made.json('ok', 'docs/quick.md', '--reason', 'wording only')
    expect(json).toMatchObject({ acked: [{ new: '95495efc9d5d' }], written: ['docs/quick.md'] })
    expect(json.degraded).toContain('journal not written')
    return made
  }

  it('is said by the verb that lost a record, and by every later look until one is written again', async () => {
    const made = await reviewed()
    for (const verb of ['check', 'status', 'log', 'scan', 'stamp', 'fix']) {
      expect([verb, (await made.json(verb)).json.degraded]).toEqual([verb, expect.arrayContaining(['journal not written'])])
      expect((await made.keel(verb)).out).toContain('degraded: journal not written')
    }
    const { json } = await made.run('doctor', '--json')
    expect(json.checks).toContainEqual({ id: 'keel', status: 'warn', text: 'journal not written' })
    rmSync(join(made.root, journal), { recursive: true })
    made.write('guide.md', quickStart['guide.md'].replace('run it', 'run it thrice'))
    expect((await made.json('ok', 'docs/quick.md', '--reason', 'wording only')).json.degraded).toEqual([])
    expect((await made.json('status')).json.degraded).toEqual([])
  })

  it('stands in the status file', async () => {
    const made = world(quickStart)
    block(made, journal)
    await made.hook('SessionStart', { source: 'startup' })
    await made.hook('UserPromptSubmit', { prompt: 'go on' })
    await made.hook('Stop', { stop_hook_active: false })
    expect(made.read('docs/quick.md')).toContain('@df3855ab0bab')
    expect(made.read('.outrigger/keel/status.md')).toContain('- journal not written\n')
  })

  it('is not read as one without records', async () => {
    const made = world(quickStart)
    block(made, journal)
    expect((await made.json('log')).json).toMatchObject({ records: [], degraded: ['journal not read (not a regular file)'] })
    expect((await made.json('check')).json.degraded).toContain('journal not read (not a regular file)')
  })
})

describe('a stamps file that cannot be read', () => {
  it('leaves nothing looking checked, and is never replaced', async () => {
    const made = world({ ...quickStart, '.outrigger/config.yml': 'keel:\n  stamps: file\n' })
    block(made, '.outrigger/keel/stamps.tsv')
    const { json } = await made.json('check')
    expect(json).toMatchObject({ verdict: 'unverified', degraded: ['stamps not read (not a regular file)'] })
    expect((await made.json('check', '--strict')).code).toBe(1)
    const why = 'the stamps file cannot be read (not a regular file)'
    expect((await made.json('stamp')).json).toMatchObject({ stamped: [], skipped: [{ child: 'docs/quick.md', why }] })
    expect((await made.json('fix', '--stamps', 'inline', '--apply')).json).toMatchObject({
      stamped: [],
      skipped: [{ child: '.outrigger/keel/stamps.tsv' }],
    })
  })
})

describe('moving stamps', () => {
  it('only says which without --apply', async () => {
    const made = world(quickStart)
    await made.json('stamp')
    const before = made.read('docs/quick.md')
    const { code, json } = await made.json('fix', '--stamps', 'file')
    expect([code, json.dryRun, json.stamped.length, json.written]).toEqual([1, true, 1, []])
    expect(made.read('docs/quick.md')).toBe(before)
    expect((await made.keel('fix', '--stamps', 'file')).out).toContain('would move: docs/quick.md <- guide.md#Setup')
    const applied = await made.json('fix', '--stamps', 'file', '--apply')
    expect([applied.code, applied.json.written]).toEqual([0, ['docs/quick.md']])
    expect(made.read('docs/quick.md')).toBe(quickStart['docs/quick.md'])
    expect(made.read('.outrigger/keel/stamps.tsv')).toContain('df3855ab0bab')
  })
})

describe('zones of a folder that cannot be read', () => {
  it('are named with file and line by every look', async () => {
    const made = world({ ...quickStart, 'docs/.stoa-keel.yml': 'ignore: [a]\nfrozen: [b\nother: {\n' })
    const note = expect.stringMatching(/^zones not read: docs\/\.stoa-keel\.yml:\d+$/)
    expect((await made.json('check')).json.degraded).toEqual([note])
    expect((await made.json('check')).json.degraded).toEqual([note])
    made.write('docs/.stoa-keel.yml', 'ignore: [a]\n')
    expect((await made.json('check')).json.degraded).toEqual([])
  })
})
