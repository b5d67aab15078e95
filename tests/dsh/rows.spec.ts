/** The two rows with the real runtime, engine and files, on the host's packages in this process. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import type { Session } from '@deepseek-ai/dsh-session'
import { defineTool } from '@deepseek-ai/dsh-tools'
import { afterEach, describe, expect, it } from 'vitest'
import * as core from '../../src/dsh/core.ts'
import * as keel from '../../src/dsh/keel.ts'
import { type AnswerScript, bootLoop, call, flat, type Harness, say, text } from '../support/dsh/in-process.ts'

let folder: string | undefined
let harness: Harness | undefined
afterEach(async () => {
  await harness?.stop()
  harness = undefined
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  folder = undefined
})

const child = '---\nsources:\n  - a.md\n---\n# B\n\nfrom a\n'

function project(files: Readonly<Record<string, string>> = { 'a.md': 'alpha\n', 'b.md': child }): string {
  folder = mkdtempSync(join(tmpdir(), 'outrigger-rows-'))
  execFileSync('git', ['init', '-q', folder])
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

const files = (root: string) => ({
  name: 'files',
  inject: ['tools'],
  apply: (ctx: Context) => {
    ctx.tools.register(
      defineTool({
        name: 'shell',
        description: 'Write a.md without saying so, and take a while.',
        parameters: {},
        output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
        execute: async () => {
          writeFileSync(join(root, 'a.md'), 'by a shell\n')
          await new Promise(done => setTimeout(done, 150))
          return 'ran'
        },
      }),
    )
    ctx.tools.register(
      defineTool({
        name: 'write',
        description: 'Write a file.',
        parameters: { file_path: { type: 'string', required: true }, content: { type: 'string', required: true } },
        output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
        execute: async args => {
          writeFileSync(join(root, args.file_path), args.content)
          return 'written'
        },
      }),
    )
  },
})

async function boot(root: string, script: AnswerScript, config: keel.Config = {}): Promise<Harness> {
  harness = await bootLoop({
    script,
    cwd: root,
    plugins: [
      [files(root), {}],
      [core, {}],
      [keel, keel.Config(config)],
    ],
  })
  return harness
}

const write = (path: string, content: string) => ['write', { file_path: path, content }] as const
/** A row of a package that is not mounted here. */
function append(session: Session, type: string, data: object): void {
  ;(session.append as (type: string, data: object) => unknown).call(session, type, data)
}

const ours = (lines: readonly string[]) => lines.filter(line => line.startsWith('keel'))

describe('a session', () => {
  it('stamps new documents when it starts and says so with the first words', async () => {
    const root = project()
    const { create, adapter } = await boot(root, [text('ok')])
    await say(await create(), 'hello')
    expect(readFileSync(join(root, 'b.md'), 'utf8')).toMatch(/- a\.md @4a58007052a6$/m)
    expect(ours(flat(adapter.requests[0])).join()).toMatch(/keel wrote review stamps in b\.md/)
  })

  it('is told of a moved source behind the call that moved it, and held once', async () => {
    const root = project()
    const { create, adapter } = await boot(root, [text('ok'), call(write('a.md', 'beta\n')), text('done'), text('really')])
    const agent = await create()
    await say(agent, 'hello')
    await say(agent, 'change it')
    const [, , afterWrite, afterHold] = adapter.requests.map(request => flat(request))
    expect(afterWrite?.at(-1)).toMatch(/^keel: a\.md changed; /)
    expect(afterHold?.at(-1)).toMatch(/^keel: before you finish: /)
    expect(adapter.requests).toHaveLength(4)
  })

  it('hears what is behind again after a compaction, with the next request', async () => {
    const root = project()
    const { create, adapter } = await boot(root, [text('ok'), text('two'), text('three')], { hold: 'off' })
    const agent = await create()
    await say(agent, 'hello')
    writeFileSync(join(root, 'a.md'), 'beta\n')
    await say(agent, 'again')
    append(agent.session, 'compaction/end', { compactionId: 'c1', turn: null })
    await say(agent, 'after')
    expect(ours(flat(adapter.requests[2])).at(-1)).toMatch(/^keel: documents behind their sources, not reviewed yet \(1\)/)
  })
})

describe('two sessions', () => {
  it('in different folders of a project share its runtime; each is told by itself', async () => {
    const root = project()
    mkdirSync(join(root, 'docs'))
    const { ctx, create, adapter } = await boot(root, [text('ok'), text('ok'), text('ok'), text('ok')], { hold: 'off' })
    const [first, second] = [await create('s1'), await create('s2', { cwd: join(root, 'docs') })]
    await say(first, 'hello')
    await say(second, 'hello')
    const [one, two] = [await ctx.outrigger.live(first), await ctx.outrigger.live(second)]
    expect(two.project).toBe(one.project)
    writeFileSync(join(root, 'a.md'), 'beta\n')
    await say(first, 'again')
    await say(second, 'again')
    for (const request of adapter.requests.slice(2))
      expect(ours(flat(request)).at(-1)).toMatch(/^keel: documents that fell behind since the last turn \(1\)/)
  })

  it('of which one waits: what the other one’s call changes is told behind that call', async () => {
    const root = project()
    const { create, adapter } = await boot(root, [text('ok'), text('ok'), call(['shell', {}]), text('done')], { hold: 'off' })
    await say(await create('s1'), 'hello')
    const working = await create('s2')
    await say(working, 'hello')
    await say(working, 'run it')
    expect(flat(adapter.requests[3]).at(-1)).toMatch(/^keel: a\.md changed; /)
  })
})

describe('the host’s settings', () => {
  it('are nearer than the project’s file', async () => {
    const root = project({ 'a.md': 'alpha\n', 'b.md': child, '.outrigger/config.yml': 'keel:\n  stampNew: auto\n' })
    const { create } = await boot(root, [text('ok')], { stampNew: 'manual' })
    await say(await create(), 'hello')
    expect(readFileSync(join(root, 'b.md'), 'utf8')).toBe(child)
  })

  it('of a project count from the turn after they changed', async () => {
    const root = project()
    const { create, adapter } = await boot(root, [text('ok'), call(write('a.md', 'beta\n')), text('done')])
    const agent = await create()
    await say(agent, 'hello')
    mkdirSync(join(root, '.outrigger'), { recursive: true })
    writeFileSync(join(root, '.outrigger', 'config.yml'), 'keel:\n  tell: false\n')
    await say(agent, 'change it')
    expect(ours(flat(adapter.requests[2])).filter(line => line.includes('a.md changed'))).toEqual([])
    expect(adapter.requests).toHaveLength(3)
  })
})

describe('a tool of ours', () => {
  it('answers the model with text, the log with the document, and refuses with the way out', async () => {
    const root = project()
    const { create, adapter } = await boot(root, [
      call(['keel_check', {}]),
      call(['keel_ok', { child: 'nothing.md', reason: 'because' }]),
      call(['keel_check', { limit: 0 }]),
      text('ok'),
    ])
    const agent = await create()
    await say(agent, 'check')
    const results = flat(adapter.requests[3]).filter(line => line.startsWith('R:'))
    expect(results[0]).not.toContain('{')
    expect(results[1]).toMatch(/KEEL_UNKNOWN_(FILE|EDGE)/)
    expect(results[2]).toMatch(/BAD_INPUT.*limit/)
    const metas = agent.session.events.flatMap(event => (event.type === 'tool/result' ? [event.data.meta] : []))
    expect(metas[0]).toMatchObject({ schema: 'outrigger.keel.check/1' })
  })

  it('names its bounds in words, so that code mode can type it', async () => {
    const { ctx } = await boot(project(), [])
    const parameters = ctx.tools.schemas().find(tool => tool.name === 'keel_check')?.parameters as {
      readonly properties: { readonly limit: Readonly<Record<string, unknown>> }
    }
    const { limit } = parameters.properties
    expect(Object.keys(limit).sort()).toEqual(['description', 'type'])
    expect(limit['description']).toMatch(/1–200, default 50/)
  })
})

describe('keel’s row', () => {
  it('takes its tools and its command with it when it goes; a session goes on without it', async () => {
    const root = project()
    harness = await bootLoop({
      script: [call(write('a.md', 'beta\n')), text('done')],
      cwd: root,
      plugins: [
        [files(root), {}],
        [core, {}],
      ],
    })
    const { ctx, create, adapter } = harness
    const row = await ctx.plugin(keel, keel.Config({}))
    const agent = await create()
    const offered = () => [
      ...ctx.tools.schemas().flatMap(tool => (tool.name.startsWith('keel_') ? [tool.name] : [])),
      ...ctx.commands.list(agent).map(command => `/${command.name}`),
    ]
    expect(offered()).toEqual(['keel_check', 'keel_why', 'keel_ok', 'keel_fix', '/keel', '/outrigger'])
    await row.dispose()
    expect(offered()).toEqual(['/outrigger'])
    await say(agent, 'change it')
    expect(ours(flat(adapter.requests[1]))).toEqual([])
    expect(readFileSync(join(root, 'a.md'), 'utf8')).toBe('beta\n')
  })
})

describe('a watched file', () => {
  it('that changes between turns is told with the next words', async () => {
    const root = project()
    const { create, adapter } = await boot(root, [text('ok'), text('two'), text('three')], { hold: 'off' })
    const agent = await create()
    await say(agent, 'hello')
    writeFileSync(join(root, 'a.md'), 'beta\n')
    await say(agent, 'again')
    expect(ours(flat(adapter.requests[1])).at(-1)).toMatch(/^keel: documents that fell behind since the last turn \(1\)/)
  })

  it('that a call changes without naming it is told behind that call, not as an outsider’s change', async () => {
    const root = project()
    const { create, adapter } = await boot(root, [text('ok'), call(['shell', {}]), text('done')], { hold: 'off' })
    const agent = await create()
    await say(agent, 'hello')
    await say(agent, 'run it')
    expect(flat(adapter.requests[2]).at(-1)).toMatch(/^keel: a\.md changed; /)
  })

  it('that changes after the host let the row go reaches nobody', async () => {
    const root = project()
    const { create, stop } = await boot(root, [text('ok')])
    await say(await create(), 'hello')
    await stop()
    harness = undefined
    writeFileSync(join(root, 'a.md'), 'beta\n')
    await new Promise(done => setTimeout(done, 50))
    expect(readFileSync(join(root, 'b.md'), 'utf8')).toMatch(/@4a58007052a6$/m)
  })
})
