/** The rows core and pack with the real runtime, engine and files, on the host's packages in this process. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { afterEach, describe, expect, it } from 'vitest'
import * as core from '../../src/dsh/core.ts'
import * as pack from '../../src/dsh/pack.ts'
import { type AnswerScript, bootLoop, flat, type Harness, say, text } from '../support/dsh/in-process.ts'

let folder: string | undefined
let harness: Harness | undefined
afterEach(async () => {
  await harness?.stop()
  harness = undefined
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  folder = undefined
})

function project(config?: string): string {
  folder = mkdtempSync(join(tmpdir(), 'outrigger-pack-'))
  execFileSync('git', ['init', '-q', folder])
  if (config !== undefined) {
    mkdirSync(join(folder, '.outrigger'))
    writeFileSync(join(folder, '.outrigger/config.yml'), config)
  }
  return folder
}

async function boot(root: string, script: AnswerScript, config: pack.Config = {}): Promise<Harness> {
  harness = await bootLoop({
    script,
    cwd: root,
    plugins: [
      [core, {}],
      [pack, pack.Config(config)],
    ],
  })
  return harness
}

async function command({ ctx }: Harness, agent: Agent, line: string): Promise<string> {
  const done = await ctx.commands.execute(agent, line, [], new AbortController().signal)
  return (done?.result as { readonly text?: string } | undefined)?.text ?? ''
}

async function until<T>(look: () => T | undefined | false): Promise<T> {
  for (let tries = 0; tries < 200; tries++) {
    const found = look()
    if (found !== undefined && found !== false) return found
    await new Promise(done => setTimeout(done, 20))
  }
  throw new Error('it did not happen within 4 s')
}

const decided = 'done\n\n<!-- ckpt\ndecision: use b — faster\nopen: measure it\n-->'
const state = (root: string) => readFileSync(join(root, '.outrigger/pack/billing/state.md'), 'utf8')
const system = (harness: Harness, at = 0) => harness.adapter.requests[at]?.system ?? ''

describe('an agent', () => {
  it('is taught to leave checkpoints, unless the configuration says no', async () => {
    const on = await boot(project(), [text('ok')])
    await say(await on.create(), 'hello')
    expect(system(on)).toContain('<!-- ckpt\ndecision: what was chosen — why')
    await on.stop()
    const off = await boot(project('pack:\n  teach: false\n'), [text('ok')])
    await say(await off.create(), 'hello')
    expect(system(off)).not.toContain('<!-- ckpt')
  })

  it('has its checkpoints filed under the stream that a person names, those of before included', async () => {
    const root = project()
    const booted = await boot(root, [text(decided), text('done\n\n<!-- ckpt\nretire_done: c01.2 — measured\n-->')])
    const agent = await booted.create()
    await say(agent, 'choose')
    expect(await command(booted, agent, '/pack save billing --plain')).toMatch(/^pack: ✓ notes of "billing" written/)
    expect(state(root)).toContain('- measure it (c01.2)')
    await say(agent, 'measure')
    await command(booted, agent, '/pack save --plain')
    expect(state(root)).toContain('- use b — faster (c01.1)')
    expect(state(root)).not.toContain('measure it')
  })

  it('gets nothing added to its requests by pack alone', async () => {
    const root = project()
    const booted = await boot(root, [text(decided), text('ok')])
    const agent = await booted.create()
    await say(agent, 'choose')
    await command(booted, agent, '/pack save billing --plain')
    await say(agent, 'more')
    expect(flat(booted.adapter.requests[1]).filter(line => !line.startsWith('done'))).toEqual(['choose', 'more'])
  })
})

describe('/pack', () => {
  it('asks the host’s model with the conversation, saves what it adds, and opens a session with the notes', async () => {
    const root = project()
    const booted = await boot(root, [text(decided), text('GATE: ok\nnext:\n- tell the team'), text('I have the notes.')], {
      fresh: 'new-session',
    })
    const agent = await booted.create()
    await say(agent, 'choose')
    expect(await command(booted, agent, '/pack billing')).toBe('pack: saving "billing" in the background; the status line tells')
    const fresh = await until(() => booted.ctx.agents.list().find(each => each !== agent))
    const ask = booted.adapter.requests[1]
    expect(flat(ask).slice(0, 2)).toEqual(['choose', decided])
    expect(flat(ask).at(-1)).toContain('You keep the notes of work stream "billing"')
    expect(ask?.system).toBe(booted.adapter.requests[0]?.system)
    expect(state(root)).toContain('- tell the team')

    await until(() => fresh.inbox.nextTurn.length + fresh.inbox.nextStep.length > 0)
    await say(fresh, 'where are we?')
    const [notes, words, ...rest] = flat(booted.adapter.requests[2])
    expect(notes).toMatch(/^Saved notes of work stream "billing", revision 2, saved .* \(written on this machine\)\./)
    expect(notes).toContain('- tell the team')
    expect([words, ...rest]).toEqual(['where are we?'])
    expect(fresh.session.header.cwd).toBe(root)
    const row = fresh.session.events.find(event => event.type === 'user/message')
    expect(row?.data).toMatchObject({
      source: { kind: 'plugin', plugin: 'outrigger-pack', summary: 'notes of billing, revision 2' },
    })
    expect(await command(booted, agent, '/pack status')).toContain('nothing is prepared')
  })

  it('goes on writing to the stream from the new session', async () => {
    const root = project()
    const booted = await boot(root, [text(decided), text('ok\n\n<!-- ckpt\nopen: from the new one\n-->')], {
      fresh: 'new-session',
    })
    const agent = await booted.create()
    await say(agent, 'choose')
    await command(booted, agent, '/pack billing --plain')
    const fresh = await until(() => booted.ctx.agents.list().find(each => each !== agent))
    await say(fresh, 'go')
    await command(booted, fresh, '/pack save --plain')
    expect(state(root)).toContain('from the new one')
    expect(state(root)).toContain('use b — faster')
  })

  it('where nobody can see a new session says how to go on, and the next session is told', async () => {
    const root = project()
    const booted = await boot(root, [text(decided), text('ok')])
    const agent = await booted.create()
    await say(agent, 'choose')
    expect(await command(booted, agent, '/pack billing --plain')).toBe('pack: "billing" saved, going to a fresh session')
    const { outrigger } = await booted.ctx.outrigger.live(agent)
    await until(
      () => outrigger.status(agent.id) === 'Your turn: /unpack billing in a new session starts fresh, /pack cancel stays',
    )
    expect(booted.ctx.agents.list()).toHaveLength(1)

    const other = await booted.create('s2')
    expect(await command(booted, other, '/unpack billing')).toBe('unpack: notes of "billing" loaded')
    await say(other, 'go')
    expect(flat(booted.adapter.requests[1]).find(line => line.startsWith('Saved notes of work stream "billing"'))).toBeDefined()
  })

  it('without a model that answers opens the review, and stays', async () => {
    const root = project()
    const booted = await boot(
      root,
      [
        text(decided),
        () => {
          throw new Error('overloaded')
        },
      ],
      { fresh: 'new-session' },
    )
    const agent = await booted.create()
    await say(agent, 'choose')
    await command(booted, agent, '/pack billing')
    const { outrigger } = await booted.ctx.outrigger.live(agent)
    await until(() => outrigger.status(agent.id)?.includes('but no model') === true)
    expect(booted.ctx.agents.list()).toHaveLength(1)
    expect(await command(booted, agent, '/pack continue')).toBe('pack: "billing" saved, going to a fresh session')
    await until(() => booted.ctx.agents.list().length === 2)
  })

  it('never asks a model where the configuration says off', async () => {
    const root = project('pack:\n  designate: off\n')
    const booted = await boot(root, [text(decided)], { fresh: 'new-session' })
    const agent = await booted.create()
    await say(agent, 'choose')
    await command(booted, agent, '/pack billing')
    await until(() => booted.ctx.agents.list().length === 2)
    expect(booted.adapter.requests).toHaveLength(1)
  })

  it('near the wall saves by itself after the turn', async () => {
    // The window of this model is 1,000 tokens; each of its requests reports 15.
    const root = project('pack:\n  designate: off\n  zones: {strong: 0.05, soft: 0.05, hard: 0.05, wallCap: 0.5}\n')
    const heavy = text(decided).map(chunk =>
      chunk.type === 'usage' ? { ...chunk, usage: { inputTokens: 90, outputTokens: 5 } } : chunk,
    )
    const booted = await boot(root, [heavy, heavy])
    const agent = await booted.create()
    await say(agent, 'choose')
    await command(booted, agent, '/pack save billing')
    const before = state(root)
    await say(agent, 'again')
    await until(() => state(root) !== before)
    const { outrigger } = await booted.ctx.outrigger.live(agent)
    await until(() => outrigger.status(agent.id) === 'Notes were saved for you (context 10%). /pack goes on fresh')
    expect(booted.ctx.agents.list()).toHaveLength(1)
  })

  it('answers wrong use in the chat', async () => {
    const booted = await boot(project(), [])
    const agent = await booted.create()
    expect(await command(booted, agent, '/pack --fast')).toBe('pack: unknown option --fast')
    expect(await command(booted, agent, '/pack')).toBe('pack: which stream? /pack save <name> names one, so does a session title')
  })

  it('keeps nothing in a project where nobody uses it', async () => {
    const root = project()
    const booted = await boot(root, [text('ok')])
    await say(await booted.create(), 'hello')
    await harness?.stop()
    harness = undefined
    expect(existsSync(join(root, '.outrigger'))).toBe(false)
  })
})
