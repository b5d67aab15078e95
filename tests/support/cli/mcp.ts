/** Clients of `outrigger mcp`, the built program, over its stdin and stdout. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { Program } from './program.ts'

export interface Answer {
  readonly isError?: boolean
  readonly content: readonly { readonly text: string }[]
  // biome-ignore lint/suspicious/noExplicitAny: a document, asserted on
  readonly structuredContent: any
}

export interface McpClients {
  connect(cwd: string, args?: readonly string[], env?: Readonly<Record<string, string>>): Promise<Client>
  /** Ends the clients and their servers, and the engine processes that they started. */
  close(): Promise<void>
}

/** @param args - of a client that names none. */
export function mcpClients(program: () => Program, args: readonly string[]): McpClients {
  const clients: Client[] = []
  const served = new Set<string>()
  return {
    async connect(cwd, given = args, env = {}) {
      if (given.includes('--serve')) served.add(cwd)
      const { main, env: own } = program()
      const command = { command: process.execPath, args: [main, 'mcp', ...given], cwd, env: { ...own, ...env } }
      const client = new Client({ name: 'tester', version: '1' })
      await client.connect(new StdioClientTransport({ ...command, stderr: 'pipe' }))
      clients.push(client)
      return client
    },
    async close() {
      for (const client of clients.splice(0)) await client.close()
      for (const cwd of served) await program().run(cwd, ['serve', '--stop'])
      served.clear()
    },
  }
}

export const call = async (client: Client, name: string, args: Record<string, unknown> = {}) =>
  (await client.callTool({ name, arguments: args })) as unknown as Answer

export const run = (client: Client, code: string, more: Record<string, unknown> = {}) =>
  call(client, 'run_code', { code, ...more })
