import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configTemplate } from '../../src/runtime/config-template.ts'
import { type InitInput, type InitOutput, initOperation } from '../../src/runtime/init.ts'
import { ledgerOperation } from '../../src/runtime/ledger-operation.ts'
import type { Project } from '../../src/runtime/project.ts'
import { testCaller, testProject } from '../support/open-project.ts'
import { temporaryFolder } from '../support/temporary.ts'

const run = (project: Project, input: InitInput = {}): Promise<InitOutput> =>
  initOperation(project).run(initOperation(project).decode(input), testCaller())

describe('init', () => {
  it('writes the configuration with every default commented out, once', async () => {
    const { project, root, again } = await testProject()
    const path = join(root, '.outrigger/config.yml')
    expect(await run(project)).toMatchObject({ target: null, created: ['.outrigger/config.yml'], kept: [], ran: [] })
    const text = readFileSync(path, 'utf8')
    expect(text).toBe(configTemplate())
    expect(text.split('\n').every(line => line === '' || line.startsWith('#'))).toBe(true)
    expect((await again()).config.check('keel')).toEqual([])
    expect(readdirSync(join(root, '.outrigger'))).toEqual(['config.yml'])
    writeFileSync(path, 'keel: {tell: false}\n')
    expect(await run(project)).toMatchObject({ created: [], kept: ['.outrigger/config.yml'] })
    expect(readFileSync(path, 'utf8')).toBe('keel: {tell: false}\n')
  })

  it("keeps a link in the file's place", async () => {
    const { project, root } = await testProject(folder => mkdirSync(join(folder, '.outrigger')))
    symlinkSync('nowhere', join(root, '.outrigger/config.yml'))
    expect(await run(project)).toMatchObject({ created: [], kept: ['.outrigger/config.yml'] })
  })

  it('only shows with --dry-run', async () => {
    const { project, root } = await testProject()
    const output = await run(project, { dryRun: true })
    expect(output).toMatchObject({ created: ['.outrigger/config.yml'], dryRun: true })
    expect(existsSync(join(root, '.outrigger'))).toBe(false)
    expect(initOperation(project).render(output, {})).toContain('would be made: .outrigger/config.yml')
  })

  it('says what cannot be written', async () => {
    const { project } = await testProject(root => writeFileSync(join(root, '.outrigger'), ''))
    await expect(run(project)).rejects.toMatchObject({ code: 'FILES_UNWRITABLE' })
  })
})

describe('init dsh', () => {
  /** A host and a packer that write down how they were called. */
  function recorded(dshExit = 0) {
    const folder = temporaryFolder()
    const log = join(folder, 'calls')
    for (const [name, exit] of [
      ['dsh', dshExit],
      ['npm', 0],
      ['claude', dshExit],
    ] as const) {
      writeFileSync(
        join(folder, name),
        `#!/bin/sh\nfor word in ${name} "$@"; do printf '%s|' "$word" >> '${log}'; done\necho >> '${log}'\necho said >&2\nexit ${exit}\n`,
        { mode: 0o755 },
      )
    }
    const calls = (): readonly string[][] =>
      existsSync(log)
        ? readFileSync(log, 'utf8')
            .trimEnd()
            .split('\n')
            .map(line => line.split('|').slice(0, -1))
        : []
    return { env: { HOME: temporaryFolder(), PATH: `${folder}:/usr/bin:/bin` }, calls }
  }

  /** The project with another program than the one that runs the tests. */
  const as = (project: Project, program: Partial<Project['system']['program']>): Project => ({
    ...project,
    system: {
      ...project.system,
      program: { ...project.system.program, name: 'outrigger', version: '1.2.3', isBuilt: true, ...program },
    },
  })

  it("packs what runs here into a folder of the user, then runs the host's own command", async () => {
    const { env, calls } = recorded()
    const { project } = await testProject(() => {}, { env })
    const packs = join(env.HOME, '.cache/outrigger/packs')
    await run(as(project, {}), { target: 'dsh' })
    expect(calls()).toEqual([
      ['dsh', '--version'],
      ['npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', packs],
      ['dsh', 'plugin', '--profile', 'web', 'add', join(packs, 'outrigger-1.2.3.tgz')],
    ])
    expect(existsSync(packs)).toBe(true)
  })

  it('runs nothing with --dry-run, and shows what it would run', async () => {
    const { env, calls } = recorded()
    const { project } = await testProject(() => {}, { env })
    const output = await run(as(project, {}), { target: 'dsh', dryRun: true })
    expect(calls()).toEqual([])
    expect(output.ran).toHaveLength(2)
    expect(existsSync(join(env.HOME, '.cache'))).toBe(false)
  })

  it('tells what the host said when it fails', async () => {
    const { env } = recorded(7)
    const { project } = await testProject(() => {}, { env })
    const running = run(as(project, {}), { target: 'dsh' })
    await expect(running).rejects.toMatchObject({ code: 'HOST_FAILED', exit: 3, message: expect.stringMatching(/exit 7:\nsaid/) })
  })

  it('refuses when the host is not there, and a clone that is not built', async () => {
    const { project } = await testProject(() => {}, { env: { HOME: temporaryFolder(), PATH: temporaryFolder() } })
    await expect(run(as(project, {}), { target: 'dsh' })).rejects.toMatchObject({
      code: 'PROCESS_NOT_FOUND',
      subject: 'dsh',
      exit: 3,
    })
    await expect(run(as(project, { isBuilt: false }), { target: 'dsh' })).rejects.toMatchObject({
      code: 'HOST_FAILED',
      hint: expect.stringContaining('npm run build'),
    })
  })

  it('says which command of the host runs', async () => {
    const { env } = recorded()
    const { project } = await testProject(() => {}, { env })
    const said: unknown[] = []
    const progress = (...words: readonly unknown[]) => void said.push(words)
    await initOperation(as(project, { folder: '/opt/outrigger' })).run({ target: 'claude-code' }, testCaller({ progress }))
    expect(said).toEqual([
      ['claude plugin marketplace add /opt/outrigger/dist/claude-code', 1, 2],
      ['claude plugin install outrigger@outrigger', 2, 2],
    ])
  })

  it("gives the plugin's folder of what runs here to Claude Code as a marketplace, then installs from it", async () => {
    const { env, calls } = recorded()
    const { project, root } = await testProject(() => {}, { env })
    const at = as(project, { folder: '/opt/outrigger' })
    const output = await run(at, { target: 'claude-code' })
    expect(calls()).toEqual([
      ['claude', 'plugin', 'marketplace', 'add', '/opt/outrigger/dist/claude-code'],
      ['claude', 'plugin', 'install', 'outrigger@outrigger'],
    ])
    expect(output.ran[1]).toBe('claude plugin install outrigger@outrigger')
    expect(output.next.join(' ')).toContain('/keel')
    expect(existsSync(join(root, '.outrigger'))).toBe(false)
    expect((await run(at, { target: 'claude-code', dryRun: true })).ran).toEqual(output.ran)
    expect(calls()).toHaveLength(2)
  })

  it('gives no plugin that was not built, and says what Claude Code said when it refuses', async () => {
    const { env, calls } = recorded(7)
    const { project } = await testProject(() => {}, { env })
    await expect(run(as(project, { isBuilt: false }), { target: 'claude-code' })).rejects.toMatchObject({
      code: 'HOST_FAILED',
      hint: expect.stringContaining('npm run build'),
    })
    expect(calls()).toEqual([])
    await expect(run(as(project, {}), { target: 'claude-code' })).rejects.toMatchObject({
      code: 'HOST_FAILED',
      subject: 'claude',
      message: expect.stringMatching(/exit 7:\nsaid/),
    })
  })

  it.each(['../x', '-x', 'a b', 'a/b'])('refuses the profile "%s"', async profile => {
    const { env, calls } = recorded()
    const { project } = await testProject(() => {}, { env })
    await expect(run(project, { target: 'dsh', profile })).rejects.toMatchObject({ code: 'BAD_INPUT', subject: 'profile' })
    expect(calls()).toEqual([])
  })
})

describe('init for other hosts', () => {
  it('prints the settings of command hooks, every event calling us with its name', async () => {
    const { project, root } = await testProject()
    const { settings, next } = await run(project, { target: 'hooks' })
    const hooks = (settings as { hooks: Record<string, { hooks: { command: string }[] }[]> }).hooks
    expect(Object.keys(hooks)).toEqual(
      expect.arrayContaining(['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'Stop', 'PreCompact', 'SessionEnd']),
    )
    for (const [event, entries] of Object.entries(hooks)) expect(entries[0]!.hooks[0]!.command).toBe(`outrigger hook ${event}`)
    expect(next.join(' ')).toContain('.claude/settings.json')
    expect(existsSync(join(root, '.outrigger'))).toBe(false)
  })

  it('refuses a profile for a host that has none', async () => {
    const { project } = await testProject()
    await expect(run(project, { target: 'hooks', profile: 'web' })).rejects.toMatchObject({
      code: 'BAD_INPUT',
      subject: 'profile',
    })
  })

  it('refuses a target that it does not know', async () => {
    const { project } = await testProject()
    expect(() => initOperation(project).decode({ target: 'emacs' })).toThrow(
      expect.objectContaining({ code: 'BAD_INPUT', subject: 'target' }),
    )
  })
})

describe('the ledger as an operation', () => {
  it.each([
    [{}, ['old', 'new', 'other']],
    [{ engine: 'pack' }, ['other']],
    [{ session: 's2' }, ['new']],
    [{ since: '2h' }, ['new', 'other']],
    [{ since: '2026-01-02T02:00:00Z' }, ['new', 'other']],
    [{ since: '7d' }, ['old', 'new', 'other']],
  ])('gives %j', async (input, texts) => {
    const { project } = await testProject()
    const line = { engine: 'keel', session: 's1', turn: 2, what: 'told' } as const
    const hour = 3_600_000
    const now = project.clock.now()
    await project.ledger.write([
      { ...line, text: 'old', at: now - 5 * hour },
      { ...line, session: 's2', reason: 'over-budget', text: 'new', at: now - hour },
      { ...line, engine: 'pack', session: null, turn: null, text: 'other' },
    ])
    const operation = ledgerOperation(project)
    const found = []
    for await (const record of operation.stream!(operation.decode(input), testCaller())) found.push(record)
    expect(found.map(record => record.text)).toEqual(texts)
    const shown = found.find(record => record.text === 'new')
    if (shown !== undefined)
      expect(operation.render(shown, {})).toBe('2026-01-02T02:04:05.000Z keel s2#2 told (over-budget): new')
  })

  it('refuses a time that is none', async () => {
    const { project } = await testProject()
    const operation = ledgerOperation(project)
    const first = operation.stream!(operation.decode({ since: 'soon' }), testCaller())
      [Symbol.asyncIterator]()
      .next()
    await expect(first).rejects.toMatchObject({ code: 'BAD_INPUT', subject: 'since' })
  })
})
