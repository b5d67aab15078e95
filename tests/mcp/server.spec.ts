import { pathToFileURL } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it } from 'vitest'
import { OutriggerError } from '../../src/errors.ts'
import { createMcpServer, type McpOptions } from '../../src/mcp/server.ts'
import type { Project } from '../../src/runtime/project.ts'
import type { AnyOperation, Caller, InputSchema } from '../../src/session/operation.ts'
import { echo } from '../support/cli/fake.ts'

const checkInput: InputSchema = {
  type: 'object',
  properties: {
    paths: { type: 'array', description: 'only these', items: { type: 'string' } },
    limit: { type: 'integer', description: 'most rows', minimum: 1, maximum: 200, default: 50 },
    format: { type: 'string', description: 'form', enum: ['text', 'json'], default: 'text' },
  },
  required: ['format'],
  additionalProperties: false,
}

const check = echo('keel.check', checkInput, { tool: 'keel_check', cliOnly: ['format'], guidance: 'A stamp says so.' })
const empty: InputSchema = { type: 'object', properties: {}, additionalProperties: false }
const scan = echo('keel.scan', empty)
const save = echo('pack.save', empty, { tool: 'pack_save', readOnly: false })

interface Opened {
  readonly root: string | undefined
  closed: boolean
}

async function connect(
  operations: readonly AnyOperation[],
  options: Partial<McpOptions> & { roots?: () => readonly string[]; checks?: () => readonly string[] } = {},
) {
  const opened: Opened[] = []
  const mcp = createMcpServer({
    version: '1.2.3',
    engines: [],
    operations: async () => operations,
    open: async root => {
      const entry: Opened = { root, closed: false }
      opened.push(entry)
      return {
        actor: () => ({ kind: 'agent', basis: 'host' }),
        config: { refresh: () => false, check: () => options.checks?.() ?? [] },
        close: async () => void (entry.closed = true),
      } as unknown as Project
    },
    ...options,
  })
  const { roots } = options
  const client = new Client(
    { name: 'tester', version: '1' },
    { capabilities: roots === undefined ? {} : { roots: { listChanged: true } } },
  )
  if (roots !== undefined) {
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: roots().map(root => ({ uri: root })) }))
  }
  const [here, there] = InMemoryTransport.createLinkedPair()
  await Promise.all([mcp.server.connect(there), client.connect(here)])
  return { mcp, client, opened }
}

type Answer = { isError?: boolean; content: { text: string }[]; structuredContent: Record<string, unknown> }
const call = async (client: Client, name: string, args: Record<string, unknown> = {}) =>
  (await client.callTool({ name, arguments: args })) as unknown as Answer

describe('tools', () => {
  it('are the operations that have one, with their schemas unchanged but for what only a command line offers', async () => {
    const { client } = await connect([check, scan, save])
    const { tools } = await client.listTools()
    expect(tools.map(tool => tool.name)).toEqual(['keel_check', 'pack_save'])
    const { paths, limit } = checkInput.properties
    expect(tools[0]).toEqual({
      name: 'keel_check',
      description: 'answers with what keel.check was given\n\nA stamp says so.',
      inputSchema: { type: 'object', properties: { paths, limit }, additionalProperties: false },
      annotations: { readOnlyHint: true, openWorldHint: false },
    })
    expect(tools[1]!.annotations).toMatchObject({ readOnlyHint: false })
  })

  it('are those of the named engines only', async () => {
    const { client } = await connect([check, scan, save], { engines: ['pack'] })
    expect((await client.listTools()).tools.map(tool => tool.name)).toEqual(['pack_save'])
  })
})

describe('a call', () => {
  it('answers with the document of the command line, and a text beside it', async () => {
    const { client } = await connect([check])
    const answer = await call(client, 'keel_check', { paths: ['a.md'] })
    expect(answer.structuredContent).toEqual({
      schema: 'outrigger.keel.check/1',
      given: { paths: ['a.md'], limit: 50, format: 'text' },
      door: 'mcp',
      actor: { kind: 'agent', basis: 'host', name: 'tester' },
    })
    expect(answer.content).toEqual([{ type: 'text', text: 'given {"paths":["a.md"],"limit":50,"format":"text"}' }])
    expect(answer.isError).toBeUndefined()
  })

  it.each([
    [{ limit: 201 }, 'limit', 'give an integer from 1 to 200'],
    [{ format: 'json' }, 'format', 'the fields are: paths, limit'],
    [{ pahts: [] }, 'pahts', 'the fields are: paths, limit'],
  ])('with wrong fields (%j) is an error with its document', async (args, subject, hint) => {
    const { client } = await connect([check])
    const { isError, structuredContent, content } = await call(client, 'keel_check', args)
    expect({ isError, structuredContent }).toMatchObject({
      isError: true,
      structuredContent: { schema: 'outrigger.error/1', error: { code: 'BAD_INPUT', subject, hint } },
    })
    expect(content[0]!.text).toContain(`hint: ${hint}`)
  })

  it('that is refused, and one with a bad configuration, are errors with their documents', async () => {
    const refused = echo('keel.ok', empty, {
      tool: 'keel_ok',
      run: async () => {
        throw new OutriggerError('KEEL_BUSY', 'held', { exit: 4 })
      },
    })
    const { client } = await connect([refused])
    expect((await call(client, 'keel_ok')).structuredContent).toMatchObject({ error: { code: 'KEEL_BUSY' } })
    const bad = await connect([check], {
      checks: () => {
        throw new OutriggerError('KEEL_BAD_CONFIG', 'keel: 1 fault')
      },
    })
    expect((await call(bad.client, 'keel_check')).structuredContent).toMatchObject({ error: { code: 'KEEL_BAD_CONFIG' } })
  })

  it('of an unknown tool is an error of the protocol that names the tools', async () => {
    const { client } = await connect([check])
    await expect(client.callTool({ name: 'keel_chekc', arguments: {} })).rejects.toThrow('tools: keel_check')
  })

  it('keeps its text under 16 KiB, says what is missing, and leaves the document whole', async () => {
    const long = echo('keel.check', empty, {
      tool: 'keel_check',
      run: async () => ({ rows: 5000 }),
      render: () => Array.from({ length: 5000 }, (_, row) => `row ${row} is ünwell`).join('\n'),
    })
    const { client } = await connect([long])
    const { content, structuredContent } = await call(client, 'keel_check')
    const text = content[0]!.text
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(16 * 1024)
    expect(text).toMatch(/\nrow \d+ is ünwell\n… cut: \d+ characters; the document beside it is whole$/)
    expect(structuredContent).toMatchObject({ rows: 5000 })
  })

  it('takes the session that a host adds, as the caller’s', async () => {
    const who = echo('keel.check', empty, {
      tool: 'keel_check',
      run: async (_: unknown, { session }: Caller) => ({ session }),
      render: () => '',
    })
    const { client } = await connect([who])
    expect((await call(client, 'keel_check', { session: 's1' })).structuredContent).toMatchObject({ session: 's1' })
    expect((await call(client, 'keel_check', { session: 1 })).isError).toBe(true)
  })

  it('waits for the one before it', async () => {
    const seen: string[] = []
    let release = (): void => undefined
    const first = new Promise<void>(resolve => (release = resolve))
    const slow = echo('keel.scan', empty, {
      tool: 'keel_scan',
      run: async () => {
        seen.push('slow begins')
        await first
        seen.push('slow ends')
        return {}
      },
    })
    const quick = echo('keel.why', empty, { tool: 'keel_why', run: async () => ({ count: seen.push('quick') }) })
    const { client } = await connect([slow, quick])
    const both = [call(client, 'keel_scan'), call(client, 'keel_why')]
    await new Promise(resolve => setTimeout(resolve, 20))
    release()
    await Promise.all(both)
    expect(seen).toEqual(['slow begins', 'slow ends', 'quick'])
  })

  it('that the client takes back hears it, and the next one is answered', async () => {
    let heard = false
    const slow = echo('keel.scan', empty, {
      tool: 'keel_scan',
      run: (_: unknown, { signal }: Caller) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            heard = true
            reject(new Error('aborted'))
          }),
        ),
    })
    const { client } = await connect([slow, check])
    const abort = new AbortController()
    const asked = client.callTool({ name: 'keel_scan', arguments: {} }, undefined, { signal: abort.signal })
    setTimeout(() => abort.abort(), 20)
    await expect(asked).rejects.toThrow()
    expect((await call(client, 'keel_check')).isError).toBeUndefined()
    expect(heard).toBe(true)
  })

  it('reports its progress when the client wants it', async () => {
    const slow = echo('keel.scan', empty, {
      tool: 'keel_scan',
      run: async (_: unknown, { progress }: Caller) => ({ told: progress('reading', 3, 9) }),
    })
    const { client } = await connect([slow])
    const seen: unknown[] = []
    await client.callTool({ name: 'keel_scan', arguments: {} }, undefined, { onprogress: step => seen.push(step) })
    expect(seen).toEqual([{ progress: 3, total: 9, message: 'reading' }])
  })
})

describe('the project', () => {
  const uri = (path: string) => pathToFileURL(path).href

  it('is the client’s first root', async () => {
    const { client, opened } = await connect([check], { roots: () => [uri('/a b'), uri('/c')] })
    await call(client, 'keel_check')
    await call(client, 'keel_check')
    expect(opened).toEqual([{ root: '/a b', closed: false }])
  })

  it('is the server’s own folder for a client without roots, or without a root', async () => {
    for (const roots of [undefined, () => []]) {
      const { client, opened } = await connect([check], { ...(roots && { roots }) })
      await call(client, 'keel_check')
      expect(opened.map(entry => entry.root)).toEqual([undefined])
    }
  })

  it('named when the server was set up is not asked for', async () => {
    const { client, opened } = await connect([check], { project: '/named', roots: () => [uri('/other')] })
    await call(client, 'keel_check')
    expect(opened.map(entry => entry.root)).toEqual([undefined])
  })

  it('follows the roots when they change', async () => {
    let root = '/one'
    const { client, opened } = await connect([check], { roots: () => [uri(root)] })
    await call(client, 'keel_check')
    root = '/two'
    await client.sendRootsListChanged()
    await call(client, 'keel_check')
    expect(opened).toEqual([
      { root: '/one', closed: true },
      { root: '/two', closed: false },
    ])
  })

  it('that cannot be opened is reported, and tried again', async () => {
    let tries = 0
    const { client } = await connect([check], {
      open: async () => {
        tries++
        throw new OutriggerError('STORE_UNAVAILABLE', 'no', { exit: 3 })
      },
    })
    await expect(client.callTool({ name: 'keel_check', arguments: {} })).resolves.toMatchObject({ isError: true })
    await expect(client.callTool({ name: 'keel_check', arguments: {} })).resolves.toMatchObject({ isError: true })
    expect(tries).toBe(2)
  })

  it('is closed with the server, after what is running', async () => {
    const { mcp, client, opened } = await connect([check])
    await call(client, 'keel_check')
    await mcp.server.close()
    await mcp.close()
    expect(opened).toEqual([{ root: undefined, closed: true }])
  })
})
