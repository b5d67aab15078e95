/** What a door hears of an engine process that answers in lines, slowly, or not at all. */
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ask } from '../../src/serve/client.ts'
import { operate } from '../../src/serve/operate.ts'
import { protocolHeader } from '../../src/serve/protocol.ts'
import { temporaryFolder } from '../support/temporary.ts'

const pause = (ms: number) => new Promise(done => setTimeout(done, ms))

async function served(
  answer: (response: ServerResponse) => Promise<void>,
): Promise<{ readonly socket: string; readonly door: string }> {
  const socket = join(temporaryFolder(), 'a.sock')
  const server = createServer((_request, response) => {
    response.writeHead(200, { [protocolHeader]: '1' })
    void answer(response)
  })
  await new Promise<void>(done => server.listen(socket, done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { socket, door: 'mcp/1 c' }
}

const line = (value: object): string => `${JSON.stringify(value)}\n`
const question = { id: 'o', op: 'keel.check', input: {}, by: 'agent' } as const
const how = { signal: new AbortController().signal, progress: () => {} }

describe('an answer in lines', () => {
  it('is waited for as long as there are signs of life, and told of when they come', async () => {
    const seen: [string, number][] = []
    const at = await served(async response => {
      response.write(line({ progress: { what: 'scan', done: 1, total: 2 } }))
      for (let n = 0; n < 6; n++) {
        await pause(50)
        response.write(line({}))
      }
      seen.push(['answers', 0])
      response.end(line({ id: 'o', output: { text: 'a\nb' }, text: '' }))
    })
    const onLine = (told: unknown) => {
      const { progress } = told as { progress?: { what: string; done: number } }
      if (progress !== undefined) seen.push([progress.what, progress.done])
    }
    expect(await ask(at, 'POST', '/op', question, { timeoutMs: 150, onLine })).toEqual({
      id: 'o',
      output: { text: 'a\nb' },
      text: '',
    })
    expect(seen).toEqual([
      ['scan', 1],
      ['answers', 0],
    ])
  })

  it('that stops coming is given up', async () => {
    const at = await served(async response => void response.write(line({})))
    const asked = ask(at, 'POST', '/op', question, { timeoutMs: 100, onLine: () => {} })
    await expect(asked).rejects.toMatchObject({ code: 'SERVE_TIMEOUT' })
  })

  it('that breaks off leaves open what was done', async () => {
    const at = await served(async response => {
      response.write(line({}))
      await pause(20)
      response.destroy()
    })
    await expect(operate(at, question, how)).rejects.toMatchObject({ code: 'SERVE_BROKE_OFF' })
  })

  it('may end in a refusal, whose words are all there', async () => {
    const error = { code: 'KEEL_BAD_CONFIG', message: 'no', hint: 'fix it', faults: [{ key: 'a', message: 'b' }] }
    const at = await served(async response => {
      response.write(line({}))
      response.end(line({ schema: 'outrigger.error/1', error }))
    })
    await expect(operate(at, question, how)).rejects.toMatchObject({ ...error, subject: undefined })
  })

  it('is not asked for what the process would not read', async () => {
    const at = await served(async () => {
      throw new Error('must not be asked')
    })
    const asked = operate(at, { ...question, input: { code: 'x'.repeat(5_000_000) } }, how)
    await expect(asked).rejects.toMatchObject({ code: 'SERVE_TOO_LARGE', hint: 'send less at once' })
  })

  it('was not asked for where nobody listens', async () => {
    const at = { socket: join(temporaryFolder(), 'none.sock'), door: 'mcp/1 c' }
    await expect(operate(at, question, how)).rejects.toMatchObject({ code: 'SERVE_GONE' })
  })
})
