/** companion in sessions of the real host: asserted on the requests that reached the model, the session's log and the ledger. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { findHost, runHeadless } from '../../../src/demo/host.ts'
import { type ModelRequest, type Script, startScriptedModel, textsOf } from '../../../src/demo/scripted-model.ts'
import { createRepository, type Repository } from '../../../src/demo/stage.ts'
import { type PreparedHome, prepareHome, temporaryFolder } from '../../support/dsh/home.ts'
import { findSessionLogs, readSessionLog } from '../../support/dsh/session-log.ts'

/** A host process takes two seconds alone and many times that on a machine with other work. */
vi.setConfig({ testTimeout: 120_000 })

const testOf = (name: string) =>
  `import { test } from 'node:test'\nimport { ${name} } from '../src/${name}.js'\ntest('${name}', () => ${name}())\n`
const files = {
  'package.json': '{ "name": "shop", "type": "module" }\n',
  'README.md': '# shop\n\nHas 3 tests.\n',
  'src/one.js': 'export const one = () => 1\n',
  'src/two.js': 'export const two = () => 2\n',
  'tests/one.test.js': testOf('one'),
  'tests/two.test.js': testOf('two'),
}

let prepared: PreparedHome
let work: string
let made = 0

beforeAll(async () => {
  prepared = await prepareHome()
  work = temporaryFolder('e2e-companion')
})
afterAll(() => {
  prepared?.remove()
  rmSync(work, { recursive: true, force: true, maxRetries: 3 })
})

async function session(turns: Script, env: Readonly<Record<string, string>> = {}) {
  const repository: Repository = await createRepository(join(work, `project-${++made}`), join(work, 'person'), files)
  const home = prepared.copy()
  const model = await startScriptedModel({ turns })
  const ran = await runHeadless({ host: findHost(), home, cwd: repository.root, modelUrl: model.url, task: 'Do it.', env })
  await model.close()
  expect({ code: ran.code, unscripted: model.unscripted.length }).toEqual({ code: 0, unscripted: 0 })
  const ledger = await repository.outrigger('ledger', '--engine', 'companion', '--json')
  const lines = ledger.split('\n').flatMap(line => (line.startsWith('{') ? [JSON.parse(line).text as string] : []))
  return { repository, home, requests: model.requests, ledger: lines.filter(line => line !== undefined) }
}

const ours = (request: ModelRequest | undefined): readonly string[] =>
  textsOf(request, 'user').filter(text => text.startsWith('[companion]'))
const read = (path: string) => ({ calls: [{ name: 'read', args: { file_path: path } }] })
const edit = (path: string, n: string, to: string) => ({
  calls: [{ name: 'edit', args: { file_path: path, old_string: `=> ${n}`, new_string: `=> ${to}` } }],
})

it('notes once, rests, and tells a number that the tests refute', async () => {
  const { home, requests, ledger } = await session([
    read('src/one.js'),
    edit('src/one.js', '1', '11'),
    read('src/two.js'),
    edit('src/two.js', '2', '22'),
    { calls: [{ name: 'bash', args: { command: 'node --test', description: 'Run the tests' } }] },
    { text: 'Done.' },
  ])
  expect(requests.map(request => ours(request).length)).toEqual([0, 0, 1, 1, 1, 2])
  const [note, refuted] = ours(requests[5])
  expect(note).toBe(
    [
      '[companion] intent=Tests confidence=0.97 candidates=1',
      '- tests/one.test.js - because it imports src/one.js; its name follows src/one.js',
      'note: these tests exercise what changed; update them if its behaviour moved.',
    ].join('\n'),
  )
  expect(refuted).toBe(
    [
      '[companion] reconciliation package=shop drifts=1 expected=3 actual=2',
      '- README.md:3 - the claim differs from the last whole run (expected 3, actual 2)',
      'note: these numbers were counted; correct the text, or the code if the text is right.',
    ].join('\n'),
  )
  expect(ledger).toEqual([
    expect.stringMatching(/^companion: activated \(bundle \S+, intents 4, threshold 0\.75\)$/),
    'companion: suggest Tests 0.97 1 candidates call edit',
    'companion: suppressed cooldown Tests',
    'companion: reconciliation drift 1 drifts shop (3 expected, 2 actual) call bash',
  ])
  const { rows } = readSessionLog(findSessionLogs(home)[0] ?? '')
  const sources = rows.filter(row => row.type === 'user/message').map(row => row.data.source)
  const own = sources.filter(source => source.plugin === 'outrigger-companion')
  expect(own).toMatchObject([
    { kind: 'plugin', form: 'notice', summary: 'Tests 0.97' },
    { kind: 'plugin', form: 'notice', summary: 'Reconciliation 1 drifts' },
  ])
})

it('says nothing for calls inside a program, and one thing behind the program', async () => {
  const program = [
    "await tools.read({ file_path: 'src/one.js' })",
    "await tools.edit({ file_path: 'src/one.js', old_string: '=> 1', new_string: '=> 11' })",
    'return 1',
  ].join('\n')
  const { requests, ledger } = await session(
    [
      { calls: [{ name: 'run_code', args: { description: 'look', code: 'return 1' } }] },
      { calls: [{ name: 'run_code', args: { description: 'edit', code: program } }] },
      { text: 'Done.' },
    ],
    { DSH_TOOLS_MODE: 'code' },
  )
  expect(requests.map(request => ours(request).length)).toEqual([0, 0, 1])
  expect(ours(requests[2])[0]).toContain('- tests/one.test.js - because')
  expect(ledger.slice(1)).toEqual(['companion: suggest Tests 0.97 1 candidates call run_code'])
})
