import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildProgram, type Program } from '../../support/cli/program.ts'

let program: Program
beforeAll(async () => {
  program = await buildProgram()
})
afterAll(() => program?.remove())

async function behind() {
  const root = program.folder({
    '.git/HEAD': 'ref: refs/heads/main\n',
    'guide.md': '---\nsources:\n  - api.md\n---\n# Guide\n',
    'api.md': '# API\n',
  })
  await program.run(root, ['keel', 'stamp'])
  writeFileSync(join(root, 'api.md'), '# API, second edition\n')
  return root
}

async function connect(cwd: string, args: readonly string[] = [], root?: string) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program.main, 'mcp', ...args],
    cwd,
    env: { ...program.env },
    stderr: 'pipe',
  })
  const client = new Client({ name: 'tester', version: '1' }, { capabilities: root === undefined ? {} : { roots: {} } })
  if (root !== undefined) client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: pathToFileURL(root).href }] }))
  await client.connect(transport)
  return client
}

type Answer = { isError?: boolean; content: { text: string }[]; structuredContent: Record<string, unknown> }
const call = async (client: Client, name: string, args: Record<string, unknown> = {}) =>
  (await client.callTool({ name, arguments: args })) as unknown as Answer

describe('outrigger mcp', () => {
  it('lists the keel tools with plain JSON schemas', async () => {
    const client = await connect(program.folder(), ['--engine', 'keel'])
    const { tools } = await client.listTools()
    expect(tools.map(tool => tool.name).sort()).toEqual(['keel_check', 'keel_fix', 'keel_ok', 'keel_why'])
    const check = tools.find(tool => tool.name === 'keel_check')!
    expect(check.inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
    expect(Object.keys(check.inputSchema.properties!).sort()).toEqual(['limit', 'paths', 'since'])
    expect(check.annotations).toMatchObject({ readOnlyHint: true })
    expect(tools.find(tool => tool.name === 'keel_ok')!.annotations).toMatchObject({ readOnlyHint: false })
    await client.close()
  })

  it('answers with the document that --json prints, for the client’s root', async () => {
    const root = await behind()
    const client = await connect(program.folder(), [], root)
    const { structuredContent, content } = await call(client, 'keel_check')
    expect(structuredContent).toMatchObject({
      schema: 'outrigger.keel.check/1',
      verdict: 'suspect',
      suspects: [{ child: 'guide.md', target: 'api.md' }],
    })
    expect(content[0]!.text).toContain('guide.md')
    const acked = await call(client, 'keel_ok', { child: 'guide.md', reason: 'the second edition says the same' })
    expect(acked.structuredContent).toMatchObject({ schema: 'outrigger.keel.ok/1' })
    await client.close()
    const log = await program.run(root, ['keel', 'log', '--json'])
    expect(log.out).toContain('"kind":"agent"')
  })

  it('works for its own folder, and for the folder it was set up with', async () => {
    const root = await behind()
    const here = await connect(root, ['--engine', 'keel'])
    expect((await call(here, 'keel_check')).structuredContent).toMatchObject({ verdict: 'suspect' })
    await here.close()
    const named = await connect(program.folder(), ['--project', root], program.folder())
    expect((await call(named, 'keel_check')).structuredContent).toMatchObject({ verdict: 'suspect' })
    await named.close()
  })

  it('says what is wrong with a call in the words of the command line', async () => {
    const client = await connect(await behind())
    const { isError, structuredContent } = await call(client, 'keel_ok', { child: 'nowhere.md', reason: 'x' })
    expect({ isError, structuredContent }).toMatchObject({ isError: true, structuredContent: { schema: 'outrigger.error/1' } })
    expect((await call(client, 'keel_why', {})).structuredContent).toMatchObject({
      error: { code: 'BAD_INPUT', subject: 'path' },
    })
    await client.close()
  })

  it('answers what was piped in, and ends with its input', async () => {
    const lines = [
      {
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
      },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/list' },
      { id: 3, method: 'tools/call', params: { name: 'keel_check', arguments: {} } },
    ].map(line => `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`)
    const ran = await program.run(await behind(), ['mcp'], { stdin: lines.join('') })
    expect({ code: ran.code, err: ran.err }).toEqual({ code: 0, err: '' })
    const answers = ran.out
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as { id: number; result: Record<string, unknown> })
    expect(answers.map(answer => answer.id).sort()).toEqual([1, 2, 3])
    expect(answers.find(answer => answer.id === 3)!.result['structuredContent']).toMatchObject({ verdict: 'suspect' })
  })

  it('ends when its client goes away', async () => {
    const child = spawn(process.execPath, [program.main, 'mcp'], {
      cwd: program.folder(),
      env: program.env,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const ended = new Promise(resolve => child.on('close', resolve))
    await new Promise(resolve => setTimeout(resolve, 300))
    child.stdin.end()
    expect(await ended).toBe(0)
  })

  it('refuses engines that are not there', async () => {
    const ran = await program.run(program.folder(), ['mcp', '--engine', 'kelp', '--json'])
    expect(ran.code).toBe(2)
    expect(JSON.parse(ran.out)).toMatchObject({ error: { code: 'CLI_USAGE', message: 'no engine "kelp"' } })
  })
})
