/** pack on the built program: a model on loopback behind `--designate`, a client of MCP, what a person alone may do. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startScriptedModel, textsOf } from '../../../src/demo/scripted-model.ts'
import { buildProgram, type Program } from '../../support/cli/program.ts'

let program: Program
beforeAll(async () => {
  program = await buildProgram()
}, 60_000)
afterAll(() => program?.remove())

const project = () => program.folder({ '.git/HEAD': 'ref: refs/heads/main\n', 'a.ts': 'export {}\n' })
const trailer = 'Chosen.\n\n<!-- ckpt\ndecision: use b — faster\nopen: measure it\n-->\n'
const state = (root: string) => readFileSync(join(root, '.outrigger/pack/billing/state.md'), 'utf8')

async function captured(): Promise<string> {
  const root = project()
  await program.run(root, ['pack', 'capture', 'billing', '-'], { stdin: trailer })
  return root
}

function nameModel(url: string): void {
  const file = join(program.env['XDG_CONFIG_HOME']!, 'outrigger/config.yml')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(
    file,
    `models:\n  default: mine/small\n  providers:\n    mine: {api: openai, baseUrl: "${url}", apiKeyEnv: MADE_UP_KEY}\n`,
  )
}

describe('pack save --designate', { timeout: 60_000 }, () => {
  it('without a model saves, degraded, and ends well', async () => {
    const root = await captured()
    const { code, out } = await program.run(root, ['pack', 'save', 'billing', '--designate', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ outcome: 'degraded', notes: ['no-model'], designation: 'failed' })
    expect(state(root)).toContain('- use b — faster (c01.1)')
  })

  it('asks the model that the person’s file names, once, and files what it adds', async () => {
    const root = await captured()
    const model = await startScriptedModel({
      turns: [{ text: 'GATE: ok\nnext:\n- tell the team\nretire_done: c01.2 — measured' }],
    })
    nameModel(model.url)
    const { code, out } = await program.run(root, ['pack', 'save', 'billing', '--designate', '--json'], {
      env: { MADE_UP_KEY: 'made-up' },
    })
    await model.close()
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ outcome: 'ok', designation: 'applied', retired: [{ id: 'c01.2', by: 'model' }] })
    expect(model.requests).toHaveLength(1)
    expect(model.requests[0]!.body.model).toBe('small')
    expect(textsOf(model.requests[0], 'user')[0]).toContain('You keep the notes of work stream "billing" current.')
    expect(state(root)).toContain('- tell the team')
    expect(state(root)).not.toContain('measure it')
  })

  it('goes on without a model that refuses', async () => {
    const root = await captured()
    const model = await startScriptedModel({ turns: [{ status: 500 }] })
    nameModel(model.url)
    const { code, out } = await program.run(root, ['pack', 'save', 'billing', '--designate', '--json'], {
      env: { MADE_UP_KEY: 'made-up' },
    })
    await model.close()
    expect([code, JSON.parse(out)]).toMatchObject([0, { outcome: 'degraded', designation: 'failed' }])
    expect(model.requests).toHaveLength(1)
    expect(state(root)).toContain('measure it')
  })
})

describe('what a person alone may do', { timeout: 60_000 }, () => {
  it('is refused to an agent with a way out', async () => {
    const root = await captured()
    const agent = { env: { OUTRIGGER_ACTOR: 'agent' } }
    const auto = await program.run(root, ['pack', 'auto', 'on', '--json'], agent)
    expect([auto.code, JSON.parse(auto.out || auto.err)]).toMatchObject([1, { error: { code: 'PACK_PERSON_ONLY' } }])
    expect(JSON.parse((await program.run(root, ['pack', 'auto', 'status', '--json'])).out)).toMatchObject({ auto: false })
    await program.run(root, ['pack', 'auto', 'on'])
    expect(JSON.parse((await program.run(root, ['pack', 'auto', 'status', '--json'])).out)).toMatchObject({ auto: true })
    expect(JSON.parse((await program.run(root, ['pack', 'pending', '--json'])).out)).toMatchObject({ pending: [] })
  })
})

describe('pack over MCP', { timeout: 60_000 }, () => {
  type Answer = { isError?: boolean; content: { text: string }[]; structuredContent: Record<string, unknown> }

  it('saves, shows and loads; what was changed outside is withheld, and no tool confirms it', async () => {
    const root = project()
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program.main, 'mcp', '--engine', 'pack'],
      cwd: root,
      env: { ...program.env },
      stderr: 'pipe',
    })
    const client = new Client({ name: 'tester', version: '1' }, { capabilities: {} })
    await client.connect(transport)
    const call = async (name: string, args: Record<string, unknown>) =>
      (await client.callTool({ name, arguments: args })) as unknown as Answer
    const { tools } = await client.listTools()
    expect(tools.map(tool => [tool.name, Object.keys(tool.inputSchema.properties!)])).toEqual([
      ['pack_save', ['stream', 'checkpoint', 'designation', 'for', 'expectedRevision']],
      ['pack_load', ['stream', 'for']],
      ['pack_show', ['stream', 'ids']],
    ])
    const saved = await call('pack_save', { stream: 'billing', checkpoint: 'decision: use b — faster' })
    expect(saved.structuredContent).toMatchObject({ schema: 'outrigger.pack.save/1', revision: 1, outcome: 'ok' })
    const moved = await call('pack_save', { stream: 'billing', checkpoint: 'open: measure', expectedRevision: 0 })
    expect([moved.isError, moved.content[0]!.text]).toEqual([true, expect.stringContaining('PACK_REVISION_MOVED')])
    const shown = await call('pack_show', { stream: 'billing', ids: ['c01', 'c09'] })
    expect(shown.structuredContent).toMatchObject({ entries: [{ id: 'c01' }], missing: ['c09'] })
    const loaded = await call('pack_load', { stream: 'billing' })
    expect(loaded.structuredContent['text']).toContain('use b — faster (c01)')
    const file = join(root, '.outrigger/pack/billing/state.md')
    writeFileSync(file, readFileSync(file, 'utf8').replace('use b', 'use c'))
    const withheld = await call('pack_load', { stream: 'billing' })
    expect(withheld.isError).toBe(true)
    expect(JSON.stringify(withheld)).not.toContain('use c — faster (c01)\\n')
    await client.close()
  })
})
