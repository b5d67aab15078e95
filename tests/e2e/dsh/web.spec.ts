/** The bundle in a fresh web profile, without a browser: a scripted person works in the host's process. */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { findHost, hostEnvironment, run } from '../../../src/demo/host.ts'
import { textsOf } from '../../../src/demo/scripted-model.ts'
import { createRepository } from '../../../src/demo/stage.ts'
import { type PreparedHome, prepareHome, temporaryFolder } from '../../support/dsh/home.ts'
import { runPerson } from '../../support/dsh/person.ts'

/** A host process takes two seconds alone and many times that on a machine with other work. */
vi.setConfig({ testTimeout: 120_000 })

let prepared: PreparedHome
let work: string
beforeAll(async () => {
  prepared = await prepareHome('web')
  work = temporaryFolder('e2e-web')
})
afterAll(() => {
  prepared?.remove()
  rmSync(work, { recursive: true, force: true, maxRetries: 3 })
})

it('installs as a bundle of two rows, nothing else of the profile changed', async () => {
  const home = prepared.copy()
  const manifest = JSON.parse(readFileSync(join(home, 'profiles', 'web', 'package.json'), 'utf8'))
  expect(manifest.dsh.profile.bundles.at(-1)).toBe('outrigger')
  const dumped = await run(process.execPath, [findHost(), '--profile', 'web', '--dump-config'], {
    cwd: work,
    env: hostEnvironment(home, 'http://127.0.0.1:9'),
  })
  expect(dumped.code).toBe(0)
  for (const row of ['outrigger/dsh/core', 'outrigger/dsh/keel']) expect(dumped.stdout).toContain(row)
  expect(dumped.stderr).not.toContain('not found')
})

it('tells, holds and reviews over two prompts, with a command in between', async () => {
  const files = { 'a.md': 'alpha\n', 'b.md': '---\nsources:\n  - a.md\n---\n# B\n' }
  const repository = await createRepository(join(work, 'project'), join(work, 'person'), files)
  const { code, report, requests, stderr } = await runPerson({
    home: prepared.copy(),
    cwd: repository.root,
    profile: 'web',
    script: [{ say: 'Hello' }, { command: '/keel' }, { say: 'Change a.md' }],
    turns: [
      { text: 'Hello.' },
      { calls: [{ name: 'bash', args: { command: 'echo beta > a.md', description: 'Change it' } }] },
      { text: 'Changed.' },
      { calls: [{ name: 'keel_ok', args: { child: 'b.md', reason: 'it only names the file' } }] },
      { text: 'Reviewed.' },
    ],
  })
  expect({ code, stderr }).toMatchObject({ code: 0 })
  expect(requests).toHaveLength(5)
  expect(report.find(line => line.event === 'command')).toMatchObject({ result: { kind: 'success' } })
  const ours = (n: number) => textsOf(requests[n], 'user').filter(text => text.startsWith('keel'))
  expect(ours(0)).toHaveLength(1)
  expect(ours(0)[0]).toMatch(/^keel wrote review stamps in b\.md/)
  expect(ours(2).at(-1)).toMatch(/^keel: a\.md changed; /)
  expect(ours(3).at(-1)).toMatch(/^keel: before you finish: /)
  expect(JSON.parse(await repository.outrigger('keel', 'check', '--json'))).toMatchObject({ verdict: 'clean' })
})
