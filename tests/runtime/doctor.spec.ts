import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type DoctorOutput, doctorOperation } from '../../src/runtime/doctor.ts'
import type { Project } from '../../src/runtime/project.ts'
import { noteSeam } from '../../src/runtime/repl-seam.ts'
import { testCaller, testProject } from '../support/open-project.ts'
import { temporaryFolder } from '../support/temporary.ts'

const run = (project: Project): Promise<DoctorOutput> => doctorOperation(project).run({}, testCaller())
const find = (output: DoctorOutput, id: string) => output.checks.filter(check => check.id === id)

/** A program on a path of its own. */
function programs(texts: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder()
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  return `${folder}:/usr/bin:/bin`
}

const withFile =
  (text: string) =>
  (root: string): void => {
    mkdirSync(join(root, '.outrigger'))
    writeFileSync(join(root, '.outrigger/config.yml'), text)
  }

describe('doctor', () => {
  it('finds nothing wrong in a new repository, and makes nothing', async () => {
    const { project, root } = await testProject(folder => {
      rmSync(join(folder, '.git'), { recursive: true })
      execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: folder })
    })
    const output = await run(project)
    expect(output.ok).toBe(true)
    expect(output.project).toBe(root)
    expect(doctorOperation(project).exitCode?.(output, {})).toBe(0)
    expect(find(output, 'git')[0]?.text).toBe('repository (sha1) on main')
    expect(find(output, 'store')[0]?.text).toContain('none yet')
    expect(find(output, 'keel')[0]?.text).toContain('on; documents with sources: 0')
    expect(new Set(output.checks.map(check => check.id))).toEqual(
      new Set([
        'node',
        'git',
        'config',
        'store',
        'places',
        'keel',
        'repl',
        'companion',
        'pack',
        'next',
        'serve',
        'dsh',
        'claude-code',
        'models',
      ]),
    )
    expect(find(output, 'repl').map(check => check.text)).toEqual(['on; cells have the rights of the program that runs them'])
    expect(output.config.filter(({ key }) => key.startsWith('keel.'))).toHaveLength(20)
    expect(existsSync(join(root, '.outrigger'))).toBe(false)
  })

  it('shows every fault of the configuration, fails, and goes on', async () => {
    const { project } = await testProject(withFile('keel:\n  compare: loose\n  colour: red\n'))
    const output = await run(project)
    expect(output.ok).toBe(false)
    expect(doctorOperation(project).exitCode?.(output, {})).toBe(1)
    expect(find(output, 'config').map(check => check.text)).toEqual([
      expect.stringMatching(/^\.outrigger\/config\.yml:2: keel\.compare must be/),
      expect.stringMatching(/^\.outrigger\/config\.yml:3: keel\.colour is no key/),
    ])
    expect(find(output, 'keel')).toEqual([{ id: 'keel', status: 'fail', text: 'keel: config', hint: expect.any(String) }])
    expect(find(output, 'models')).toHaveLength(1)
  })

  it('shows each engine with its mode', async () => {
    const { project } = await testProject(withFile('pack:\n  enabled: false\ncompanion:\n  gates: often\n'))
    const { checks } = await run(project)
    const of = (id: string) => checks.filter(check => check.id === id).map(({ status, text }) => `${status} ${text}`)
    expect(of('pack')).toEqual(['ok off (pack.enabled is false)'])
    expect(of('companion')).toEqual(['fail companion: config'])
    expect(of('next')).toEqual(['ok on, without a model'])
    expect(checks.some(({ text }) => text.includes('not part of this version'))).toBe(false)
  })

  it('shows where each setting came from, and what is ignored', async () => {
    const { project } = await testProject(withFile('keel:\n  check: {strict: true}\nnext:\n  maxRounds: 200\n'))
    const output = await run(project)
    expect(output.config.find(value => value.key === 'keel.check.strict')).toEqual({
      key: 'keel.check.strict',
      value: true,
      from: { file: '.outrigger/config.yml', line: 2 },
    })
    expect(find(output, 'config')).toEqual([
      { id: 'config', status: 'warn', text: expect.stringContaining('next.maxRounds is ignored') },
    ])
    expect(output.ok).toBe(true)
    expect(doctorOperation(project).render(output, {})).toContain('keel.check.strict = true  (.outrigger/config.yml:2)')
  })

  it('warns without git, and says what does not work then', async () => {
    const { project } = await testProject(() => {}, { env: { PATH: temporaryFolder(), HOME: temporaryFolder() } })
    expect(find(await run(project), 'git')[0]).toMatchObject({
      status: 'warn',
      text: expect.stringContaining('not installed'),
      hint: expect.any(String),
    })
  })

  it('opens and writes the store that is there, leaves nothing in it, and names who holds what', async () => {
    const { project, again } = await testProject()
    await (await project.store()).lease('next/s1', project.processes.owner(), 60_000)
    const other = await again()
    const output = await run(other)
    expect(find(output, 'store')[0]?.status).toBe('ok')
    expect(find(output, 'lease')[0]?.text).toContain(`next/s1 is held by ${project.processes.owner()}`)
    expect(await (await project.store()).list('')).toEqual([])
  })

  it('fails for a damaged store with the way out', async () => {
    const { project } = await testProject(root => {
      mkdirSync(join(root, '.outrigger/state'), { recursive: true })
      writeFileSync(join(root, '.outrigger/state/store.db'), 'no database '.repeat(500))
    })
    const output = await run(project)
    expect(output.ok).toBe(false)
    expect(find(output, 'store')[0]).toMatchObject({ status: 'fail', hint: expect.stringContaining('STORE_DAMAGED') })
  })

  it('warns when others can enter the state folder', async () => {
    const { project, root } = await testProject()
    await (await project.store()).put('k', 1, 0)
    expect(find(await run(project), 'places').every(check => check.status === 'ok')).toBe(true)
    chmodSync(join(root, '.outrigger/state'), 0o755)
    expect(find(await run(project), 'places').at(-1)).toMatchObject({
      status: 'warn',
      hint: expect.stringContaining('chmod 700'),
    })
  })

  it('shows the mode of a store that lies elsewhere', async () => {
    const { project } = await testProject(root => writeFileSync(join(root, '.outrigger'), ''))
    await (await project.store()).put('k', 1, 0)
    const output = await run(project)
    expect(find(output, 'mode')[0]?.text).toMatch(/^store: not in the project: /)
  })

  it('tells the last failure of an engine', async () => {
    const { project } = await testProject()
    const line = { engine: 'keel', session: 's', turn: 1, what: 'failed KEEL_X' } as const
    await project.ledger.write([
      { ...line, text: 'first' },
      { ...line, text: 'second' },
      { ...line, what: 'told', text: 'later' },
    ])
    expect(find(await run(project), 'keel').at(-1)).toMatchObject({ status: 'warn', text: expect.stringContaining('second') })
  })

  it('says when keel is off', async () => {
    const { project } = await testProject(root => {
      mkdirSync(join(root, '.outrigger/keel'), { recursive: true })
      writeFileSync(join(root, '.outrigger/keel/off'), '')
    })
    expect(find(await run(project), 'keel')[0]?.text).toContain('off in sessions')
  })

  it('finds hosts, their versions and where Outrigger is installed in them', async () => {
    const home = temporaryFolder()
    mkdirSync(join(home, '.dsh/profiles/web'), { recursive: true })
    writeFileSync(join(home, '.dsh/profiles/web/package.json'), '{"dependencies":{"outrigger":"1.0.0"}}')
    const env = { HOME: home, PATH: programs({ dsh: 'echo 0.1.0', claude: 'exit 3' }) }
    const { project, root } = await testProject(() => {}, { env })
    let output = await run(project)
    expect(find(output, 'dsh')[0]).toEqual({ id: 'dsh', status: 'ok', text: 'DSH 0.1.0; in the profiles web' })
    expect(find(output, 'claude-code')[0]).toMatchObject({ status: 'warn', text: expect.stringContaining('fails') })
    mkdirSync(join(root, '.claude'))
    writeFileSync(
      join(root, '.claude/settings.json'),
      '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"outrigger hook Stop"}]}]}}',
    )
    rmSync(join(home, '.dsh'), { recursive: true })
    const { project: other } = await testProject(
      folder => {
        mkdirSync(join(folder, '.claude'))
        writeFileSync(join(folder, '.claude/settings.json'), 'outrigger hook Stop')
      },
      { env: { HOME: home, PATH: programs({ dsh: 'echo 0.1.0', claude: 'echo "2.1.332 (Claude Code)"' }) } },
    )
    output = await run(other)
    expect(find(output, 'dsh')[0]?.text).toBe('DSH 0.1.0; `outrigger init dsh` adds Outrigger to a profile')
    expect(find(output, 'claude-code')[0]?.text).toMatch(/^Claude Code 2\.1\.332 \(Claude Code\); hooks in .*settings\.json$/)
  })

  it.each([
    [{ 'outrigger@outrigger': true }, 'plugin outrigger@outrigger'],
    [{ 'outrigger@outrigger': false }, '`outrigger init claude-code` installs the plugin'],
    [{ 'other@market': true }, '`outrigger init claude-code` installs the plugin'],
  ])('says of Claude Code with the plugins %j: %s', async (enabledPlugins, words) => {
    const home = temporaryFolder()
    mkdirSync(join(home, '.claude'))
    writeFileSync(join(home, '.claude/settings.json'), JSON.stringify({ enabledPlugins }))
    const env = { HOME: home, PATH: programs({ claude: 'echo "2.1.332 (Claude Code)"' }) }
    const { project } = await testProject(() => {}, { env })
    expect(find(await run(project), 'claude-code')[0]).toEqual({
      id: 'claude-code',
      status: 'ok',
      text: `Claude Code 2.1.332 (Claude Code); ${words}`,
    })
  })

  it("names the models' keys, never their values", async () => {
    const home = temporaryFolder()
    mkdirSync(join(home, '.config/outrigger'), { recursive: true })
    writeFileSync(
      join(home, '.config/outrigger/config.yml'),
      'models:\n  default: a/m\n  providers:\n    a: {api: openai, baseUrl: "http://x", apiKeyEnv: A_KEY}\n    b: {api: openai, baseUrl: "http://x", apiKeyEnv: B_KEY}\n',
    )
    const { project } = await testProject(() => {}, {
      env: { HOME: home, PATH: process.env['PATH'], A_KEY: 'very-secret-value' },
    })
    const output = await run(project)
    expect(find(output, 'models').map(({ status, text }) => [status, text])).toEqual([
      ['ok', 'a: key in A_KEY'],
      ['warn', 'b: B_KEY is not set'],
    ])
    expect(JSON.stringify(output)).not.toContain('very-secret-value')
  })

  it('names keys only while it masks the secrets that stand in free keys', async () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const { project } = await testProject(withFile(`companion: {note: "${secret}"}\n`))
    expect(JSON.stringify(await run(project))).not.toContain(secret)
  })

  it("reads a project that is the whole of a user's files without leaving a cache in it", async () => {
    const { project, root } = await testProject(folder => writeFileSync(join(folder, 'a.md'), '---\nsources: [b.md]\n---\n'))
    expect(find(await run(project), 'keel')[0]?.text).toContain('documents with sources: 1')
    await project.close()
    expect(readdirSync(root).sort()).toEqual(['.git', 'a.md'])
  })
})

describe('the line of the REPL', () => {
  it('names what programs of DSH go through, and what is degraded', async () => {
    const { project } = await testProject(folder => mkdirSync(join(folder, '.outrigger', 'state'), { recursive: true }))
    await (await project.store()).put('some', 1, 0)
    expect(await noteSeam(project, { host: 'dsh', seam: 'codeRuntime', degraded: [], confined: false })).toBe(true)
    expect(find(await run(project), 'repl').map(check => check.text)).toContain('DSH: programs go through codeRuntime')
    const degraded = { host: 'dsh', seam: 'none', degraded: ['no code seam'], confined: false } as const
    expect(await noteSeam(project, degraded)).toBe(true)
    expect(await noteSeam(project, degraded)).toBe(false)
    expect(find(await run(project), 'repl').at(-1)).toMatchObject({ status: 'warn', text: 'DSH: degraded: no code seam' })
    const lines: string[] = []
    for await (const { what, text } of project.ledger.read({ engine: 'repl' })) lines.push(`${what}: ${text}`)
    expect(lines).toEqual(['seam: programs go through codeRuntime', 'degraded: no code seam'])
  })

  it('says that it is off', async () => {
    const { project } = await testProject(withFile('repl:\n  enabled: false\n'))
    expect(find(await run(project), 'repl')).toEqual([{ id: 'repl', status: 'ok', text: 'off (repl.enabled: false)' }])
  })
})
