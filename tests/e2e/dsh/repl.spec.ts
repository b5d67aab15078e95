/** The REPL in a session of the real host whose agent calls its tools by programs. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { findHost, runHeadless } from '../../../src/demo/host.ts'
import { type ModelRequest, type Script, startScriptedModel, textsOf } from '../../../src/demo/scripted-model.ts'
import { promptSection } from '../../../src/repl/prompt.ts'
import { type PreparedHome, prepareHome, temporaryFolder } from '../../support/dsh/home.ts'
import { findSessionLogs, readSessionLog } from '../../support/dsh/session-log.ts'

/** A host process takes two seconds alone and many times that on a machine with other work. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let prepared: PreparedHome
let work: string
let made = 0

beforeAll(async () => {
  prepared = await prepareHome()
  work = temporaryFolder('e2e-repl')
})
afterAll(() => {
  prepared?.remove()
  rmSync(work, { recursive: true, force: true, maxRetries: 3 })
})

async function session(turns: Script, env: Readonly<Record<string, string>>, config = '') {
  const root = join(work, `project-${++made}`)
  mkdirSync(join(root, '.git'), { recursive: true })
  mkdirSync(join(root, '.outrigger', 'state'), { recursive: true })
  writeFileSync(join(root, 'notes.txt'), 'one\ntwo\n')
  if (config !== '') writeFileSync(join(root, '.outrigger', 'config.yml'), config)
  const home = prepared.copy()
  const model = await startScriptedModel({ turns })
  const ran = await runHeadless({ host: findHost(), home, cwd: root, modelUrl: model.url, task: 'Do it.', env })
  await model.close()
  return { ...ran, requests: model.requests, unscripted: model.unscripted.length, home, root }
}

const cell = (code: string) => ({ calls: [{ name: 'run_code', args: { description: 'a cell of the test', code } }] })
const system = (request: ModelRequest): string => textsOf(request, 'system').join('\n')
const tools = (request: ModelRequest) => (request.body.tools ?? []).map(tool => tool.function.name)

it('runs, fails, edits and calls tools, and every request begins with the same bytes', async () => {
  const { code, stderr, requests, unscripted, home } = await session(
    [
      cell('const seen = new Map([["a", 1]])\nreturn seen'),
      cell('const file = await tools.read({ file_path: "notes.txt" })\nreturn file.missing.length'),
      {
        calls: [
          {
            name: 'edit_run_code',
            args: {
              edits: [{ old_string: 'file.missing.length', new_string: 'JSON.stringify(file).includes("two")' }],
              expected_target: 2,
            },
          },
        ],
      },
      { calls: [{ name: 'read', args: { file_path: 'notes.txt' } }] },
      cell('return [seen.get("a"), typeof file]'),
      { text: 'Done.' },
    ],
    { DSH_TOOLS_MODE: 'code' },
    'repl:\n  canonicalizeCalls: false\n',
  )
  expect({ code, unscripted, stderr }).toEqual({ code: 0, unscripted: 0, stderr: '' })
  expect(requests).toHaveLength(6)
  for (const request of requests) {
    expect(tools(request)).toEqual(['run_code', 'edit_run_code'])
    expect(system(request)).toBe(system(requests[0]!))
    expect(system(request).split(promptSection(true))).toHaveLength(2)
    expect(JSON.stringify(request.body.tools)).toBe(JSON.stringify(requests[0]!.body.tools))
  }
  const [good, failed, edited, refused, last] = textsOf(requests.at(-1), 'tool')
  expect(good).toBe('Map(1) { "a" => 1 }')
  expect(failed).toContain('OUT-X001 TypeError: Cannot read properties of undefined')
  expect(failed).toMatch(/cell 2, 2:\d+/)
  expect(edited).toBe('true')
  expect(refused).toContain('Write: return await tools.read({…})')
  expect(JSON.parse(last!)).toEqual([1, 'object'])
  const { rows } = readSessionLog(findSessionLogs(home).at(-1)!)
  const dispatched = rows.filter(row => row.type === 'tool/code-dispatch').map(row => [row.data.name, row.data.isError])
  expect(dispatched).toEqual([
    ['read', false],
    ['read', false],
  ])
  const header = rows.find(row => row.type === 'request/header')
  expect(header?.data.header.tools.map((tool: { name: string }) => tool.name)).toEqual(['run_code', 'edit_run_code'])
})

it('makes a program of a direct call, and the log has what came of it', async () => {
  const { code, requests, home } = await session(
    [{ calls: [{ name: 'read', args: { file_path: 'notes.txt' } }] }, cell('return 2'), { text: 'Done.' }],
    { DSH_TOOLS_MODE: 'code' },
  )
  expect(code).toBe(0)
  expect(textsOf(requests.at(-1), 'tool')[0]).toContain('two')
  const { rows } = readSessionLog(findSessionLogs(home).at(-1)!)
  const called = rows.find(row => row.type === 'tool/call')
  expect(called?.data.name).toBe('run_code')
  expect(JSON.parse(called?.data.arguments)).toEqual({
    code: 'return await tools.read({ "file_path": "notes.txt" })',
    description: 'Call tools.read',
  })
  const result = rows.find(row => row.type === 'tool/result')
  expect(JSON.stringify(result?.data.message.content)).toContain('two')
  expect(rows.filter(row => row.type === 'tool/code-dispatch').map(row => row.data.name)).toEqual(['read'])
})

it('turned off leaves the host as it is', async () => {
  const { code, requests } = await session(
    [cell('const a = 1; return a'), cell('return typeof a'), { text: 'Done.' }],
    { DSH_TOOLS_MODE: 'code' },
    'repl:\n  enabled: false\n',
  )
  expect(code).toBe(0)
  expect(tools(requests[0]!)).toEqual(['run_code'])
  expect(system(requests[0]!)).not.toContain('edit_run_code')
  expect(textsOf(requests.at(-1), 'tool')).toEqual(['1', 'undefined'])
})

it('leaves an agent with native tools alone', async () => {
  const { code, stderr, requests } = await session([{ text: 'Done.' }], {})
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(tools(requests[0]!)).not.toContain('edit_run_code')
  expect(system(requests[0]!)).not.toContain('belongs to this session')
})
