/** keel in sessions of the real host: asserted on the requests that reached the model, on files, on the session's log. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { findHost, runHeadless } from '../../../src/demo/host.ts'
import { type ModelRequest, type Script, startScriptedModel, textsOf } from '../../../src/demo/scripted-model.ts'
import { createRepository, openRepository, type Repository } from '../../../src/demo/stage.ts'
import { type PreparedHome, prepareHome, temporaryFolder } from '../../support/dsh/home.ts'
import { runPerson } from '../../support/dsh/person.ts'
import { findSessionLogs, readSessionLog } from '../../support/dsh/session-log.ts'

const source = 'export function delay(n: number): number {\n  return 200 * n\n}\n'
const child = '---\nsources:\n  - src/retry.ts#delay\n---\n# Retries\n\nThe wait grows by 200 ms.\n'
const files = { 'src/retry.ts': source, 'docs/retries.md': child }

const readSource = { calls: [{ name: 'read', args: { file_path: 'src/retry.ts' } }] }
const editSource = {
  calls: [{ name: 'edit', args: { file_path: 'src/retry.ts', old_string: '200 * n', new_string: '200 * 2 ** n' } }],
}
const acknowledge = { calls: [{ name: 'keel_ok', args: { child: 'docs/retries.md', reason: 'the text holds as it is' } }] }

/** A host process takes two seconds alone and many times that on a machine with other work. */
vi.setConfig({ testTimeout: 120_000 })

let prepared: PreparedHome
let work: string
let original: Repository
let made = 0

beforeAll(async () => {
  prepared = await prepareHome()
  work = temporaryFolder('e2e-work')
  original = await createRepository(join(work, 'original'), join(work, 'person'), files)
  await original.outrigger('keel', 'stamp')
  await original.git('add', '-A')
  await original.git('commit', '-qm', 'Stamp')
})
afterAll(() => {
  prepared?.remove()
  rmSync(work, { recursive: true, force: true, maxRetries: 3 })
})

/** A copy of the repository whose documents are stamped. */
function stamped(): Repository {
  const root = join(work, `project-${++made}`)
  cpSync(original.root, root, { recursive: true })
  return openRepository(root, join(work, 'person'))
}

async function session(
  repository: Repository,
  turns: Script,
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | string; stderr: string; requests: readonly ModelRequest[]; unscripted: number; home: string }> {
  const home = prepared.copy()
  const model = await startScriptedModel({ turns })
  const ran = await runHeadless({ host: findHost(), home, cwd: repository.root, modelUrl: model.url, task: 'Do it.', env })
  await model.close()
  return { code: ran.code, stderr: ran.stderr, requests: model.requests, unscripted: model.unscripted.length, home }
}

const ours = (request: ModelRequest | undefined): readonly string[] =>
  textsOf(request, 'user').filter(text => text.startsWith('keel'))
const stampIn = (repository: Repository): string | undefined => /@([0-9a-f]{12})$/m.exec(repository.read('docs/retries.md'))?.[1]

describe('a session that moves a source', () => {
  it('is told with the diff, held once, and leaves a stamp, a journal and a clean check', async () => {
    const repository = stamped()
    const before = stampIn(repository)
    const { code, requests, unscripted, home } = await session(repository, [
      readSource,
      editSource,
      { text: 'Done.' },
      acknowledge,
      { text: 'Reviewed.' },
    ])
    expect(code).toBe(0)
    expect(unscripted).toBe(0)
    expect(requests).toHaveLength(5)

    // Nothing until something moved, then one notice, then one hold, then nothing more.
    expect(requests.map(request => ours(request).length)).toEqual([0, 0, 1, 2, 2])
    const [notice = '', hold = ''] = ours(requests[3])
    expect(notice).toMatch(/^keel: src\/retry\.ts changed; .*\(1\):\n- docs\/retries\.md <- src\/retry\.ts#delay: changed\n/)
    expect(notice).toContain('-  return 200 * n')
    expect(notice).toContain('+  return 200 * 2 ** n')
    expect(hold).toMatch(/^keel: before you finish: /)

    const after = stampIn(repository)
    expect(after).toMatch(/^[0-9a-f]{12}$/)
    expect(after).not.toBe(before)
    expect(repository.read('docs/retries.md')).toBe(child.replace('#delay', `#delay @${after}`))
    expect(repository.read('.outrigger/keel/journal.jsonl')).toMatch(
      /"kind":"ok".*"who":\{"kind":"agent".*the text holds as it is/,
    )
    expect(repository.read('.outrigger/keel/status.md')).toMatch(/^suspects: none$/m)
    expect(JSON.parse(await repository.outrigger('keel', 'check', '--json'))).toMatchObject({ verdict: 'clean' })

    const { rows } = readSessionLog(findSessionLogs(home)[0] ?? '')
    const messages = rows.filter(row => row.type === 'user/message').map(row => row.data)
    const sources = messages.filter(message => message.source.plugin === 'outrigger-keel').map(message => message.source)
    expect(sources).toHaveLength(2)
    for (const each of sources) {
      expect(each.form).toBe('notice')
      expect(each.summary.length).toBeLessThanOrEqual(120)
    }
    expect(rows.filter(row => row.type === 'turn/end').map(row => row.data.reason.kind)).toEqual(['completed'])
    // The tool's document is in the log for programs and screens; the model read its text.
    const meta = rows.find(row => row.type === 'tool/result' && row.data.meta?.schema === 'outrigger.keel.ok/1')?.data.meta
    expect(meta).toMatchObject({ acked: [{ child: 'docs/retries.md' }] })
  })

  it('adds no character to the requests of a turn that moves nothing', async () => {
    const repository = stamped()
    const { requests } = await session(repository, [readSource, { text: 'Done.' }])
    expect(requests.flatMap(request => ours(request))).toEqual([])
  })

  it('is held once only, also when the agent does nothing about it', async () => {
    const repository = stamped()
    const { code, requests } = await session(repository, [readSource, editSource, { text: 'Done.' }, { text: 'Still done.' }])
    expect(code).toBe(0)
    expect(requests).toHaveLength(4)
    expect(ours(requests[3]).filter(text => text.startsWith('keel: before you finish'))).toHaveLength(1)
    expect(repository.read('.outrigger/keel/status.md')).toContain('docs/retries.md')
  })
})

describe('code mode', () => {
  it('tells once for a program with several calls, behind the program’s result', async () => {
    const repository = stamped()
    const program = [
      "await tools.read({ file_path: 'src/retry.ts' })",
      "await tools.edit({ file_path: 'src/retry.ts', old_string: '200 * n', new_string: '300 * n' })",
      "await tools.edit({ file_path: 'src/retry.ts', old_string: '300 * n', new_string: '400 * n' })",
      'return (await tools.keel_check({})).summary',
    ].join('\n')
    const { requests, code } = await session(
      repository,
      [
        { calls: [{ name: 'run_code', args: { description: 'edit twice', code: program } }] },
        { text: 'Done.' },
        { text: 'Still done.' },
      ],
      { DSH_TOOLS_MODE: 'code' },
    )
    expect(code).toBe(0)
    const notices = ours(requests[1]).filter(text => text.includes('src/retry.ts changed'))
    expect(notices).toHaveLength(1)
    expect(notices[0]).toContain('+  return 400 * n')
    expect(textsOf(requests[1], 'tool').join()).toMatch(/"suspect":\s*1/)
  })
})

describe('a person', () => {
  it('asks with /keel and /outrigger, and the model hears nothing of it', async () => {
    const repository = stamped()
    writeFileSync(join(repository.root, 'src/retry.ts'), source.replace('200', '900'))
    const { report, requests, code } = await runPerson({
      home: prepared.copy(),
      cwd: repository.root,
      script: [
        { create: true },
        { command: '/keel' },
        { command: '/keel why docs/retries.md' },
        { command: '/keel nonsense' },
        { command: '/outrigger' },
        { tools: true },
      ],
    })
    expect(code).toBe(0)
    const replies = report.filter(line => line.event === 'command').map(line => line.result as { kind: string; text: string })
    expect(replies.map(reply => reply.kind)).toEqual(['success', 'success', 'error', 'success'])
    expect(replies[0]?.text).toMatch(/^1 behind:\n {2}docs\/retries\.md:3 <- src\/retry\.ts#delay: changed/)
    expect(replies[1]?.text).toContain('src/retry.ts#delay')
    expect(replies[2]?.text).toMatch(/usage: \/keel/)
    expect(replies[3]?.text).toMatch(/node/)
    const tools = report.find(line => line.event === 'tools')?.names as readonly string[]
    expect(tools.filter(name => name.startsWith('keel_')).sort()).toEqual(['keel_check', 'keel_fix', 'keel_ok', 'keel_why'])
    expect(requests).toEqual([])
  })
})

describe('a helper agent', () => {
  it('is told of what it moved; the main agent is held for it, and nobody else has a session', async () => {
    const repository = stamped()
    const { code, requests } = await session(repository, [
      {
        calls: [{ name: 'subagent', args: { description: 'Change it', prompt: 'Change the source.', run_in_background: false } }],
      },
      readSource,
      editSource,
      { text: 'Changed, says the helper.' },
      { text: 'Done.' },
      acknowledge,
      { text: 'Reviewed.' },
    ])
    expect(code).toBe(0)
    expect(requests).toHaveLength(7)
    expect(requests.map(request => ours(request).length)).toEqual([0, 0, 0, 1, 0, 1, 1])
    expect(ours(requests[3])[0]).toMatch(/^keel: src\/retry\.ts changed; /)
    expect(ours(requests[5])[0]).toMatch(/^keel: before you finish: /)
    expect(JSON.parse(await repository.outrigger('keel', 'check', '--json'))).toMatchObject({ verdict: 'clean' })
    const ledger = (await repository.outrigger('ledger', '--json')).split('\n').filter(Boolean)
    expect(new Set(ledger.map(line => JSON.parse(line).session).filter(Boolean)).size).toBe(1)
  })
})

describe('a compaction', () => {
  it('takes what was said out of the context, so what is behind is said again', async () => {
    const repository = stamped()
    writeFileSync(join(repository.root, 'src/retry.ts'), source.replace('200', '900'))
    const { code, report, requests } = await runPerson({
      home: prepared.copy(),
      cwd: repository.root,
      script: [{ say: 'Hello' }, { say: 'And again' }, { command: '/compact' }, { say: 'Go on' }],
      turns: [{ text: 'One.' }, { text: 'Two.' }, { text: 'A summary of it all.' }, { text: 'Three.' }],
    })
    expect(code).toBe(0)
    expect(report.find(line => line.event === 'command')).toMatchObject({ result: { kind: 'success' } })
    const last = requests.at(-1)
    const behind = /^keel: documents behind their sources, not reviewed yet \(1\):/
    expect(ours(requests[0]).filter(text => behind.test(text))).toHaveLength(1)
    expect(ours(requests[1])).toEqual(ours(requests[0]))
    expect(textsOf(last, 'user').join()).toContain('A summary of it all.')
    expect(ours(last).filter(text => behind.test(text))).toHaveLength(1)
  })
})

describe('a host that is killed', () => {
  it('goes on in the next process: what is behind is told anew, and the review is taken', async () => {
    const repository = stamped()
    const home = prepared.copy()
    const first = await runPerson({
      home,
      cwd: repository.root,
      script: [{ say: 'Change the source' }],
      turns: [readSource, editSource, { text: 'never arrives', delayMs: 20_000 }],
      killWhen: request => ours(request).length > 0,
    })
    expect(first.code).toBe('SIGKILL')
    expect(ours(first.requests.at(-1))).toHaveLength(1)

    const second = await runPerson({
      home,
      cwd: repository.root,
      script: [{ resume: 'latest' }, { say: 'Go on' }],
      turns: [acknowledge, { text: 'Reviewed.' }],
    })
    expect(second.code).toBe(0)
    const told = ours(second.requests[0])
    expect(told.at(-1)).toMatch(/^keel: documents behind their sources, not reviewed yet \(1\):\n- docs\/retries\.md/)
    expect(second.requests).toHaveLength(2)
    expect(JSON.parse(await repository.outrigger('keel', 'check', '--json'))).toMatchObject({ verdict: 'clean' })
    expect(findSessionLogs(home)).toHaveLength(1)
  })
})

describe('what does not work', () => {
  it('in the store does not reach the turn', async () => {
    const repository = stamped()
    mkdirSync(join(repository.root, '.outrigger', 'state'), { recursive: true })
    writeFileSync(
      join(repository.root, '.outrigger', 'state', 'store.db'),
      'this is no database, it only has its name\n'.repeat(200),
    )
    const { code, requests } = await session(repository, [readSource, editSource, { text: 'Done.' }, { text: 'Still done.' }])
    expect(code).toBe(0)
    expect(requests.length).toBeGreaterThanOrEqual(3)
    expect(repository.read('src/retry.ts')).toContain('200 * 2 ** n')
  })

  it('in the configuration switches keel off here, says why, and the turn goes on', async () => {
    const repository = stamped()
    writeFileSync(join(repository.root, '.outrigger', 'config.yml'), 'keel:\n  compare: loose\n')
    const { code, requests, stderr } = await session(repository, [readSource, editSource, { text: 'Done.' }])
    expect(code).toBe(0)
    expect(stderr.match(/KEEL_BAD_CONFIG/g)).toHaveLength(1)
    expect(requests.flatMap(request => ours(request))).toEqual([])
    expect(requests).toHaveLength(3)
  })
})
