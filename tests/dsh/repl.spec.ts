/** The REPL's two rows on the host's packages in this process: what the model is offered, and what its cells answer. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import WorkerThreadCodeRuntime from '@deepseek-ai/dsh-code-runtime-worker-thread'
import type { GenerateOptions } from '@deepseek-ai/dsh-llm'
import { defineTool } from '@deepseek-ai/dsh-tools'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { differenceOf } from '../../src/dsh/repl/seam.ts'
import { sessionName } from '../../src/dsh/repl/service.ts'
import * as repl from '../../src/dsh/repl.ts'
import ReplCodeRuntime from '../../src/dsh/repl-runtime.ts'
import { openProject } from '../../src/node/open.ts'
import { promptSection } from '../../src/repl/prompt.ts'
import { type AnswerScript, bootLoop, call, flat, type Harness, say, text } from '../support/dsh/in-process.ts'

vi.setConfig({ testTimeout: 30_000 })

let folder: string | undefined
let harness: Harness | undefined
afterEach(async () => {
  await harness?.stop()
  harness = undefined
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  folder = undefined
})

const tools = (seen: unknown[]) => ({
  name: 'tools-of-the-test',
  inject: ['tools'],
  apply: (ctx: Context) => {
    ctx.tools.register(
      defineTool({
        name: 'double',
        description: 'Twice a number.',
        parameters: { n: { type: 'number', required: true } },
        output: { schema: { type: 'number' }, render: (_args, value) => [{ type: 'text', text: String(value) }] },
        execute: async ({ n }, exec) => {
          seen.push([n, exec.parent !== undefined, exec.agent?.id])
          if (n < 0) throw new Error('no negative numbers')
          return 2 * n
        },
      }),
    )
  },
})

interface Booted extends Harness {
  readonly seen: unknown[]
  readonly root: string
}

async function boot(
  script: AnswerScript,
  options: {
    readonly mode?: 'native' | 'code' | 'both'
    readonly config?: repl.Config
    readonly files?: Readonly<Record<string, string>>
    readonly noRow?: boolean
    /** In place of ours; `null`: none. */
    readonly runtime?: unknown
    readonly services?: Readonly<Record<string, object>>
  } = {},
): Promise<Booted> {
  folder = mkdtempSync(join(tmpdir(), 'outrigger-repl-'))
  mkdirSync(join(folder, '.git'))
  mkdirSync(join(folder, '.outrigger', 'state'), { recursive: true })
  for (const [path, content] of Object.entries(options.files ?? {})) writeFileSync(join(folder, path), content)
  const seen: unknown[] = []
  harness = await bootLoop({
    script,
    cwd: folder,
    tools: { mode: options.mode ?? 'code' },
    plugins: [
      ...(options.runtime === null ? [] : [[options.runtime ?? ReplCodeRuntime, ReplCodeRuntime.Config({})] as const]),
      [
        {
          name: 'services',
          apply: (ctx: Context) => {
            for (const [service, value] of Object.entries(options.services ?? {})) ctx.provide(service as never, value as never)
          },
        },
        {},
      ],
      [tools(seen), {}],
      ...(options.noRow ? [] : [[repl, repl.Config(options.config ?? {})] as const]),
    ],
  })
  return { ...harness, seen, root: folder }
}

const cell = (code: string) => call(['run_code', { code, description: 'a cell of the test' }])
const edit = (args: object) => call(['edit_run_code', args])
const names = (request: GenerateOptions | undefined) => (request?.tools ?? []).map(tool => tool.name)
const results = (booted: Harness): readonly string[] =>
  flat(booted.adapter.requests.at(-1))
    .flatMap(line => line.split('|'))
    .filter(line => line.startsWith('R:'))
    .map(line => line.slice(2))

describe('an agent whose tools are called by programs', () => {
  it('is offered exactly two tools and the text once, the same in every request', async () => {
    const booted = await boot([cell('const a = 1'), cell('return nope'), cell('return a'), text('done')])
    await say(await booted.create(), 'go')
    const { requests } = booted.adapter
    expect(requests).toHaveLength(4)
    for (const request of requests) {
      expect(names(request)).toEqual(['run_code', 'edit_run_code'])
      expect(String(request.system).split(promptSection(true))).toHaveLength(2)
      expect(request.system).toBe(requests[0]!.system)
      expect(JSON.stringify(request.tools)).toBe(JSON.stringify(requests[0]!.tools))
    }
    const system = String(requests[0]!.system)
    expect(system).not.toContain('is the only tool you can call directly')
    expect(system).toContain('declare const capabilities')
    expect(system).not.toMatch(/edit_run_code:/)
    expect(results(booted)[2]).toBe('1')
  })

  it('keeps names from cell to cell, in the directory of its session', async () => {
    const booted = await boot([
      cell('const rows = new Map([["k", { a: 1 }]])'),
      cell('console.log("seen"); return rows'),
      cell('return process.cwd()'),
      text('done'),
    ])
    await say(await booted.create(), 'go')
    expect(results(booted)).toEqual(['(run_code completed with no output)', 'seen\nMap(1) { "k" => { a: 1 } }', booted.root])
  })

  it('confirms a cell when the host has its result, and notes a result that the host changed', async () => {
    const booted = await boot([
      cell('return 1'),
      cell('return 2'),
      edit({ edits: [{ old_string: '2', new_string: '3' }] }),
      cell('return "secret"'),
      text('done'),
    ])
    booted.ctx.on('tools/post-execute', async (_exec, result, next) => {
      const decision = await next()
      return JSON.stringify(result.content).includes('secret')
        ? { kind: 'accept', content: [{ type: 'text', text: 'cut' }] }
        : decision
    })
    const agent = await booted.create()
    const confirm = vi.spyOn(await booted.ctx.outriggerRepl.session(agent), 'confirm')
    await say(agent, 'go')
    expect(results(booted)[3]).toBe('cut')
    expect(confirm.mock.calls).toEqual([
      [1, 'confirmed'],
      [2, 'confirmed'],
      [3, 'confirmed'],
      [4, 'altered', expect.stringContaining('cut')],
    ])
  })

  it('calls tools through the host, with the agent, and sees their refusals', async () => {
    const booted = await boot([
      cell('const n = await tools.double({ n: 21 }); return n'),
      cell('try { await tools.double({ n: -1 }) } catch (e) { return [e instanceof ToolCallError, e.toolName, e.message] }'),
      cell('await tools.double({ n: "1" })'),
      cell('return (await Promise.all([1, 2, 3].map(n => tools.double({ n })))).join()'),
      text('done'),
    ])
    const agent = await booted.create()
    await say(agent, 'go')
    expect(results(booted)[0]).toBe('42')
    expect(JSON.parse(results(booted)[1]!)).toEqual([true, 'double', 'no negative numbers'])
    expect(results(booted)[2]).toContain('arguments.n must be number')
    expect(results(booted)[3]).toBe('2,4,6')
    expect(booted.seen.slice(0, 2)).toEqual([
      [21, true, agent.id],
      [-1, true, agent.id],
    ])
    expect(agent.session.events.filter(event => event.type === 'tool/code-dispatch')).toHaveLength(5)
  })

  it('reads where a cell failed, and fixes it with an edit', async () => {
    const booted = await boot([
      cell('const e = {}\nreturn e.b.c'),
      edit({ edits: [{ old_string: 'e.b.c', new_string: 'e.b?.c ?? "none"' }], expected_target: 1 }),
      edit({ edits: [{ old_string: 'zzz', new_string: 'y' }] }),
      edit({ append: '}', dry_run: true }),
      edit({ edits: [{ old_string: '"none"', new_string: '(() => { throw new Error("again") })()' }] }),
      text('done'),
    ])
    const agent = await booted.create()
    await say(agent, 'go')
    const [failed, fixed, refused, dry, again] = results(booted)
    expect(failed).toMatch(/code run failed \(exception\): OUT-X001 TypeError: Cannot read properties of undefined/)
    expect(failed).toContain('cell 1, 2:')
    expect(fixed).toBe('none')
    expect(refused).toMatch(/^Error: OUT-E002 /)
    expect(dry).toContain('does not parse')
    expect(again).toMatch(/OUT-X001 Error: again[\s\S]*cell 3/)
    const session = await booted.ctx.outriggerRepl.session(agent)
    expect((await session.history({ source: true })).cells).toMatchObject([
      { cell: 1, outcome: 'threw', description: 'a cell of the test' },
      { cell: 2, outcome: 'ok', edit: { target: 1 }, source: 'const e = {}\nreturn e.b?.c ?? "none"' },
      { cell: 3, outcome: 'threw', edit: { target: 2 } },
    ])
  })

  it('cannot call another tool directly, nor an edit from a program', async () => {
    const booted = await boot(
      [call(['double', { n: 1 }]), cell('return 1'), cell('await tools.edit_run_code({ append: "" })'), text('done')],
      { config: { canonicalizeCalls: false } },
    )
    await say(await booted.create(), 'go')
    expect(results(booted)[0]).toBe(
      'Error: Only run_code and edit_run_code can be called directly. Write: return await tools.double({…})',
    )
    expect(results(booted)[2]).toContain('edit_run_code is for direct calls, not for programs.')
    expect(booted.seen).toEqual([])
  })

  it('has its direct calls made into programs, which the log shows as such', async () => {
    const booted = await boot([
      call(['double', { n: 21 }]),
      call(
        ['tools.double', { n: -1 }],
        ['nothing_of_the_kind', { n: 1 }],
        ['run_code', { code: 'return 7', description: 'as it is' }],
      ),
      text('done'),
    ])
    const agent = await booted.create()
    await say(agent, 'go')
    const [doubled, refused, unknown, own] = results(booted)
    expect(doubled).toBe('42')
    expect(refused).toContain('OUT-X001 ToolCallError: no negative numbers')
    expect(unknown).toContain('nothing_of_the_kind')
    expect(own).toBe('7')
    const calls = agent.session.events.flatMap(event => (event.type === 'tool/call' ? [event.data] : []))
    expect(calls.map(({ name, arguments: args }) => [name, args])).toEqual([
      ['run_code', '{"code":"return await tools.double({ \\"n\\": 21 })","description":"Call tools.double"}'],
      ['run_code', '{"code":"return await tools.double({ \\"n\\": -1 })","description":"Call tools.double"}'],
      ['nothing_of_the_kind', '{"n":1}'],
      ['run_code', '{"code":"return 7","description":"as it is"}'],
    ])
    expect(booted.seen).toEqual([
      [21, true, agent.id],
      [-1, true, agent.id],
    ])
  })

  it('has a REPL of its own beside another agent', async () => {
    const booted = await boot([
      cell('const a = "first"'),
      text('x'),
      cell('return typeof a'),
      text('y'),
      cell('return a'),
      text('z'),
    ])
    const [first, second] = [await booted.create('s1'), await booted.create('s2')]
    await say(first, 'go')
    await say(second, 'go')
    expect(results(booted)).toEqual(['undefined'])
    await say(first, 'go on')
    expect(results(booted).at(-1)).toBe('first')
  })

  it('is told by the kind what ended a cell', async () => {
    const booted = await boot([cell('while (true) {}'), cell('const s = 1; const s = 2'), cell('return 7'), text('done')], {
      config: { computeMs: 300 },
    })
    await say(await booted.create(), 'go')
    expect(results(booted)[0]).toMatch(/code run failed \(timeout\): OUT-T001 /)
    expect(results(booted)[1]).toMatch(/code run failed \(exception\): OUT-N002 /)
    expect(results(booted)[2]).toBe('7')
  })

  it('gets a hint after repeated trouble as a context with a name, also for an edit', async () => {
    const booted = await boot(
      [
        cell('return orders'),
        cell('return orders.length'),
        edit({ edits: [{ old_string: 'orders', new_string: 'others' }] }),
        edit({ edits: [{ old_string: 'others', new_string: 'others ' }] }),
        text('done'),
      ],
      { config: { tipCooldown: 0 } },
    )
    const agent = await booted.create()
    await say(agent, 'go')
    const hints = agent.session.events.flatMap(event => {
      const source =
        event.type === 'user/message' ? (event.data.source as { plugin?: string; sections?: { name: string }[] }) : {}
      return source.plugin === 'outrigger-repl' ? (source.sections ?? []).map(section => section.name) : []
    })
    expect(hints).toEqual(['outrigger:repl-tip/binding/1', 'outrigger:repl-tip/binding/2'])
    expect(flat(booted.adapter.requests[2]).at(-1)).toMatch(/^Names can be declared again; `orders` failed/)
    expect(flat(booted.adapter.requests[4]).at(-1)).toMatch(/^Names can be declared again; `others` failed/)
    expect(results(booted).join()).not.toContain('Names can be declared again')
    for (const request of booted.adapter.requests) expect(request.system).toBe(booted.adapter.requests[0]!.system)
  })

  it('reads the start and the end of what is long', async () => {
    const booted = await boot([cell('console.log("x".repeat(5000)); return "y".repeat(5000)'), text('done')], {
      config: { modelChars: 1_000 },
    })
    await say(await booted.create(), 'go')
    const [answer] = results(booted)
    expect(answer!.length).toBeLessThan(2_400)
    expect(answer).toMatch(/characters omitted; print less/)
    expect(answer).toMatch(/characters omitted; repl\.page\("v1"\)/)
  })
})

describe('an agent that calls tools directly too', () => {
  it('has edit_run_code beside them and nothing hidden', async () => {
    const booted = await boot([call(['double', { n: 4 }]), cell('return 1'), edit({ append: ' + 1' }), text('done')], {
      mode: 'both',
    })
    await say(await booted.create(), 'go')
    for (const request of booted.adapter.requests) {
      expect(names(request)).toEqual(['double', 'run_code', 'edit_run_code'])
      expect(request.system).toBe(booted.adapter.requests[0]!.system)
      expect(String(request.system).split(promptSection(true))).toHaveLength(2)
    }
    expect(results(booted)).toEqual(['8', '1', '2'])
  })
})

describe('an agent with native tools only', () => {
  it('is left alone', async () => {
    const booted = await boot([call(['double', { n: 4 }]), text('done')], { mode: 'native' })
    await say(await booted.create(), 'go')
    expect(names(booted.adapter.requests[0])).toEqual(['double'])
    expect(String(booted.adapter.requests[0]!.system)).not.toContain('run_code')
    expect(results(booted)).toEqual(['8'])
  })
})

describe('turned off', () => {
  const off = async (options: Parameters<typeof boot>[1]) => {
    const booted = await boot([cell('const a = 1; return a'), cell('return typeof a'), text('done')], options)
    await say(await booted.create(), 'go')
    expect(names(booted.adapter.requests[0])).toEqual(['run_code'])
    expect(String(booted.adapter.requests[0]!.system)).not.toContain('belongs to this session')
    expect(String(booted.adapter.requests[0]!.system)).toContain('is the only tool you can call directly')
    expect(results(booted)).toEqual(['1', 'undefined'])
  }
  it('by the row, the host’s own runtime runs each program by itself', () => off({ config: { enabled: false } }))
  it('by the project’s configuration, too', () => off({ files: { '.outrigger/config.yml': 'repl:\n  enabled: false\n' } }))
  it('by leaving its row out, too', () => off({ noRow: true }))

  it('and on again while it runs, the host’s presentation and ours take turns', async () => {
    const booted = await boot([
      cell('const a = 5'),
      cell('return typeof a'),
      cell('return typeof a'),
      text('one'),
      text('two'),
      text('three'),
    ])
    const config = join(booted.root, '.outrigger', 'config.yml')
    const agent = await booted.create()
    const turn = async (yaml: string): Promise<void> => {
      writeFileSync(config, yaml)
      await say(agent, 'go')
    }
    await turn('repl:\n  enabled: true\n')
    await turn('repl:\n  enabled: false # off\n')
    expect(names(booted.adapter.requests.at(-1))).toEqual(['run_code'])
    expect(String(booted.adapter.requests.at(-1)!.system)).not.toContain('edit_run_code')
    await turn('repl:\n  enabled: true # and on again\n')
    expect(names(booted.adapter.requests.at(-1))).toEqual(['run_code', 'edit_run_code'])
    expect(booted.adapter.requests.at(-1)!.system).toBe(booted.adapter.requests[0]!.system)
  })
})

it('leaves the scope’s own declaration of a presentation alone', async () => {
  const booted = await boot([cell('return 1'), text('done')])
  const agent = await booted.create()
  agent.ctx.tools.presentAs('code')
  await say(agent, 'go')
  expect(names(booted.adapter.requests[0])).toEqual(['run_code'])
  expect(String(booted.adapter.requests[0]!.system)).toContain(promptSection(false))
  expect(booted.adapter.requests[1]!.system).toBe(booted.adapter.requests[0]!.system)
  expect(results(booted)).toEqual(['1'])
})

describe('a host that has another seam', () => {
  const told = async (booted: Booted): Promise<readonly string[]> => {
    const project = await openProject({ cwd: booted.root, env: process.env, door: 'cli', isTerminal: false })
    try {
      const lines: string[] = []
      for await (const { what, text: line } of project.ledger.read({ engine: 'repl' })) lines.push(`${what}: ${line}`)
      return lines
    } finally {
      await project.close()
    }
  }

  it('runs its programs itself where the runtime is another row’s, and a person is told', async () => {
    const booted = await boot([cell('const a = 1; return a'), cell('return typeof a'), text('done')], {
      runtime: WorkerThreadCodeRuntime,
    })
    await say(await booted.create(), 'go')
    expect(names(booted.adapter.requests[0])).toEqual(['run_code'])
    expect(String(booted.adapter.requests[0]!.system)).not.toContain('belongs to this session')
    expect(results(booted)).toEqual(['1', 'undefined'])
    await harness!.stop()
    expect(await told(booted)).toEqual([expect.stringMatching(/^degraded: programs go to the code runtime of another row/)])
  })

  it.each([
    [
      'ptcRuntime',
      { ptcRuntime: { run: async () => ({}), resolve: async () => ({}) } },
      /^degraded: this host runs programs through ptcRuntime/,
    ],
    ['none', {}, /^degraded: no code seam/],
  ])('%s: works as before, and the state has a name', async (_, services, line) => {
    const booted = await boot([call(['double', { n: 4 }]), text('done')], { mode: 'native', runtime: null, services })
    await say(await booted.create(), 'go')
    expect(names(booted.adapter.requests[0])).toEqual(['double'])
    expect(results(booted)).toEqual(['8'])
    await harness!.stop()
    expect(await told(booted)).toEqual([expect.stringMatching(line)])
  })

  it.each([
    [
      {
        type: 'object',
        properties: { code: { type: 'string' }, description: { type: 'string' } },
        required: ['code', 'description'],
      },
      undefined,
    ],
    [{ type: 'object', properties: { code: { type: 'string' } }, required: ['code'] }, undefined],
    [{ type: 'object', properties: { program: { type: 'string' } }, required: ['program'] }, 'it takes no text `code`'],
    [{ type: 'object', properties: { code: { type: 'string' } } }, '`code` may be left out'],
    [
      { type: 'object', properties: { code: { type: 'string' }, language: {} }, required: ['code', 'language'] },
      'it needs `language`, too',
    ],
    [
      { type: 'object', properties: { code: { type: 'string' }, description: { type: 'array' } }, required: ['code'] },
      '`description` is no text',
    ],
    [undefined, 'it takes no text `code`'],
  ])('knows the run_code it can serve: %j', (schema, difference) => {
    expect(differenceOf(schema)).toBe(difference)
  })
})

it('gives every session a name of its own in the store', () => {
  expect(sessionName('01J9ZK')).toBe('dsh-01J9ZK')
  const [long, other] = [sessionName(`${'x'.repeat(90)}1`), sessionName(`${'x'.repeat(90)}2`)]
  expect(long).not.toBe(other)
  for (const id of ['a/b', 'ü', '', 'x'.repeat(90)]) expect(sessionName(id)).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
})

it('says at most 2,000 characters', () => {
  expect(promptSection(true).length).toBeLessThanOrEqual(2_000)
})
