/** pack in sessions of the real host, web profile without a browser: asserted on files and on the requests that reached the model. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { textsOf } from '../../../src/demo/scripted-model.ts'
import { createRepository, type Repository } from '../../../src/demo/stage.ts'
import { type PreparedHome, prepareHome, temporaryFolder } from '../../support/dsh/home.ts'
import { runPerson } from '../../support/dsh/person.ts'
import { findSessionLogs } from '../../support/dsh/session-log.ts'

/** A host process takes two seconds alone and many times that on a machine with other work. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let prepared: PreparedHome
let work: string
let made = 0
beforeAll(async () => {
  prepared = await prepareHome('web')
  work = temporaryFolder('e2e-pack')
})
afterAll(() => {
  prepared?.remove()
  rmSync(work, { recursive: true, force: true, maxRetries: 3 })
})

const repository = (): Promise<Repository> =>
  createRepository(join(work, `project-${++made}`), join(work, 'person'), { 'README.md': '# Billing\n' })

const decided = 'Chosen.\n\n<!-- ckpt\ndecision: use b — faster\nopen: measure it\n-->'
const replies = (report: readonly Readonly<Record<string, unknown>>[]) =>
  report.flatMap(({ event, result }) => (event === 'command' ? [(result as { readonly text?: string }).text] : []))

describe('a person at the real host', () => {
  it('goes from a session to a fresh one that has the notes and nothing else', async () => {
    const { root } = await repository()
    const ran = await runPerson({
      home: prepared.copy(),
      cwd: root,
      profile: 'web',
      script: [
        { say: 'choose' },
        { command: '/pack save billing --plain' },
        { command: '/pack' },
        { follow: true },
        { say: 'where are we?' },
      ],
      turns: [
        { match: 'You keep the notes of work stream', text: 'GATE: ok\nnext:\n- tell the team' },
        { text: decided },
        { text: 'I have the notes.' },
      ],
    })
    expect([ran.code, ran.stderr.includes('outrigger')]).toEqual([0, false])
    expect(replies(ran.report)).toEqual([
      expect.stringMatching(/^pack: ✓ notes of "billing" written/),
      'pack: saving "billing" in the background; the status line tells',
    ])
    const state = readFileSync(join(root, '.outrigger/pack/billing/state.md'), 'utf8')
    expect(state).toContain('- use b — faster (c01.1)')
    expect(state).toContain('- tell the team')
    const [first, ask, fresh] = ran.requests
    expect(textsOf(first, 'system').join()).toContain('<!-- ckpt')
    expect(textsOf(ask, 'user').at(-1)).toContain('You keep the notes of work stream "billing" current.')
    const users = textsOf(fresh, 'user')
    expect(
      users.some(text => /^Saved notes of work stream "billing", revision \d+, /.test(text) && text.includes('tell the team')),
    ).toBe(true)
    expect(users).toContain('where are we?')
    expect(JSON.stringify(fresh?.body.messages)).not.toContain('choose')
    expect(ran.unscripted).toEqual([])
  })

  it('has nothing lost when the host is killed in the middle, and loads the notes in the next process', async () => {
    const { root, outrigger } = await repository()
    const home = prepared.copy()
    const killed = await runPerson({
      home,
      cwd: root,
      profile: 'web',
      script: [{ say: 'choose' }, { command: '/pack save billing --plain' }, { say: 'more' }, { kill: true }],
      turns: [{ text: decided }, { text: 'More.\n\n<!-- ckpt\nlearning: tea helps\n-->' }],
    })
    expect(killed.code).toBe('SIGKILL')
    await outrigger('pack', 'save', 'billing')
    const state = readFileSync(join(root, '.outrigger/pack/billing/state.md'), 'utf8')
    expect(state).toContain('- tea helps (c02)')
    const next = await runPerson({
      home,
      cwd: root,
      profile: 'web',
      script: [{ create: true }, { command: '/unpack billing' }, { say: 'go on' }],
      turns: [{ text: 'Yes.' }],
    })
    expect(replies(next.report)).toEqual(['unpack: notes of "billing" loaded'])
    expect(textsOf(next.requests[0], 'user').join()).toContain('- tea helps (c02)')
  })
})

describe('sessions that the host recorded', () => {
  it('are imported once each, saved and verified', async () => {
    const { root, outrigger } = await repository()
    const home = prepared.copy()
    const count = 10
    const ran = await runPerson({
      home,
      cwd: root,
      profile: 'web',
      script: Array.from({ length: count }, (_, at) => [{ create: true }, { say: `task ${at}` }]).flat(),
      turns: [
        ...Array.from({ length: count }, (_, at) => ({
          text: `Done.\n\n<!-- ckpt\ndecision: choice ${at} — it fits\nopen: follow-up ${at}\n-->`,
        })),
      ],
    })
    expect(ran.code).toBe(0)
    const logs = findSessionLogs(home)
    expect(logs).toHaveLength(count)
    for (const [at, log] of logs.entries()) {
      const first = JSON.parse(await outrigger('pack', 'import', log, '--stream', 'recorded', '--json'))
      expect(first).toMatchObject({ format: 'dsh', turns: 1, duplicates: 0, torn: null })
      expect(first.captured).toHaveLength(1)
      if (at > 0) continue
      const again = JSON.parse(await outrigger('pack', 'import', log, '--stream', 'recorded', '--json'))
      expect(again).toMatchObject({ captured: [], duplicates: 1 })
    }
    const saved = JSON.parse(await outrigger('pack', 'save', 'recorded', '--json'))
    expect(saved).toMatchObject({ outcome: 'ok', lines: { live: 2 * count } })
    expect(JSON.parse(await outrigger('pack', 'verify', 'recorded', '--json'))).toMatchObject({ ok: true, entries: count })
    const replayed = (await outrigger('replay', logs[0]!, '--engine', 'pack', '--json')).trim().split('\n')
    expect(JSON.parse(replayed.at(-1)!)).toMatchObject({ schema: 'outrigger.replay.summary/1' })
    const folder = join(root, '.outrigger/pack')
    expect(existsSync(folder) && readdirSync(folder).filter(name => !name.startsWith('.'))).toEqual(['recorded'])
  })
})
