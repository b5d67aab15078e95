/** One session of the real program in its terminal: what a person sees and presses, what reached the model, what stands in the files. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Claude, claudeProgram, startClaude } from '../../support/claude-code/claude.ts'
import type { ApiRequest } from '../../support/claude-code/fake-api.ts'
import { type ClaudeTerminal, noTmux, startClaudeTerminal } from '../../support/claude-code/terminal.ts'

const programs = await Promise.all(
  [
    { version: '2.1.332', env: {} },
    // This program refuses a module every socket while the variable is set.
    { version: '2.1.287', env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '' } },
  ].map(async each => ({ ...each, program: await claudeProgram(each.version) })),
)

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const textOf = (request: ApiRequest | undefined): string => JSON.stringify(request?.messages ?? [])
const newestOf = (request: ApiRequest): string => JSON.stringify(request.messages.at(-1))

describe.each(programs)('the plugin in the terminal of Claude Code $version', ({ version, env, program }) => {
  const missing = noTmux ?? ('missing' in program ? program.missing : undefined)
  const on = it.skipIf(missing !== undefined)
  const onNewest = it.skipIf(missing !== undefined || version !== programs[0]!.version)
  let claude: Claude
  let terminal: ClaudeTerminal
  let root: string

  beforeAll(async () => {
    if (missing !== undefined) return console.warn(`Claude Code ${version} is not tested in its terminal: ${missing}`)
    claude = await startClaude((program as { bin: string }).bin)
    root = claude.folder({
      '.git/HEAD': 'ref: refs/heads/main\n',
      'guide.md': '---\nsources:\n  - api.md\n---\n# Guide\n\nCall open.\n',
      'api.md': '# API\n\nopen(path)\n',
      'package.json': '{"scripts":{"test":"node test.cjs"}}',
      'test.cjs':
        'const n = require("fs").readFileSync("work.txt", "utf8").length; console.log("not ok " + n + " - parses dates " + n); if (n < 4) process.exit(1)\n',
      'work.txt': '',
    })
    await claude.outrigger(root, ['keel', 'stamp'])
    writeFileSync(join(root, 'api.md'), '# API\n\nopen(path, mode)\n')
    claude.api.answer = request => {
      const newest = newestOf(request)
      if (newest.includes('You keep the notes of work stream'))
        return 'GATE: ok\nstatus: working\ngoal: Invoices in the new ledger\nnext:\n- port the 2019 importer\n'
      if (newest.includes('Fix the failing check') && !newest.includes('tool_result'))
        return { tool: 'Bash', input: { command: 'printf x >> work.txt; npm test' } }
      return undefined
    }
    terminal = await startClaudeTerminal(claude, (program as { bin: string }).bin, root, {
      version,
      env,
      columns: 160,
      args: ['--permission-mode', 'dontAsk', '--allowedTools', 'Bash'],
    })
  })
  afterAll(async () => {
    terminal?.end()
    await claude?.close()
  })

  const turns = () => claude.api.requests.filter(request => (request.tools ?? []).length > 0)
  const stream = () => join(root, '.outrigger/pack/billing')
  on('shows what is behind, folds a checkpoint, and answers /keel without the model', async () => {
    await terminal.see('keel 1 behind')
    await terminal.send(
      'begin [[say:The ledger is new.\n\n<!-- ckpt\ndecision: invoices go through the new ledger — the old one rounds cents\nopen: port the importer\n-->]]',
    )
    await terminal.see('▸ ckpt: decision, open')
    // The model is told at the start, and again when it would have stopped.
    expect(textOf(turns()[0])).toContain('guide.md')
    await terminal.see(/checkpoint\(s\) have no stream yet/)
    const before = claude.api.requests.length
    await terminal.send('/keel')
    await terminal.see('guide.md:3')
    expect(claude.api.requests).toHaveLength(before)
  })

  on('shows the notes before they are used, and stays when the person stays', async () => {
    await terminal.send('/pack billing --review')
    const shown = await terminal.see('pack: billing')
    expect(shown).toMatch(/continue/)
    await terminal.see('invoices go through the new ledger')
    // The model wrote into the notes from the session that it has, not from a text about it.
    const asked = claude.api.requests.findLast(request => newestOf(request).includes('You keep the notes'))
    expect(textOf(asked)).toContain('begin [[say:The ledger is new.')
    terminal.press('x')
    await terminal.seeNo('continue')
    expect(readFileSync(join(stream(), 'state.md'), 'utf8')).toMatch(/^goal: Invoices in the new ledger$/m)
  })

  on('goes on in a fresh session that has the notes and nothing else', async () => {
    await terminal.send('/pack billing')
    await terminal.see('/clear', 30_000)
    await terminal.seeNo('Opening a fresh session', 30_000)
    await terminal.send('what do you know?')
    await terminal.see('ECHO')
    const fresh = textOf(turns().at(-1))
    expect(fresh).toContain('invoices go through the new ledger')
    expect(fresh).toContain('port the 2019 importer')
    expect(fresh).not.toContain('begin [[say:')
    expect(existsSync(join(stream(), 'journal.md'))).toBe(true)
  })

  on('loads notes into a session that a person names', async () => {
    await terminal.send('/unpack billing')
    await terminal.see(/unpack: /)
  })

  const rounds = () => turns().filter(request => newestOf(request).includes('plugin sent a message'))
  const ledger = () => claude.outrigger(root, ['ledger', '--engine', 'next'])

  on('runs the offer as the words of the person who pressed Run', async () => {
    await terminal.send('[[tool:Bash {"command":"npm test"}]]')
    await terminal.see('Next: Fix the failing check "npm test" — first failure: parses dates 0')
    const ran = () => turns().some(request => newestOf(request).includes('"text":"Fix the failing check'))
    // A press while the screen still moves is lost.
    await vi.waitFor(
      async () => {
        if (!ran()) await terminal.click('[ Run ]')
        await vi.waitFor(() => expect(ran()).toBe(true), 3_000)
      },
      { timeout: 30_000 },
    )
    await terminal.see('parses dates 1')
    expect(rounds()).toEqual([])
  })

  onNewest(
    'drives itself three rounds when a person armed it, each visibly of the plugin, until the condition holds',
    async () => {
      await terminal.send('/next arm --rounds 5 --until "node test.cjs"')
      await vi.waitFor(async () => expect(await ledger()).toMatch(/disarm \(until-met\)/), { timeout: 60_000, interval: 500 })
      expect(readFileSync(join(root, 'work.txt'), 'utf8')).toBe('xxxx')
      expect(new Set(rounds().map(request => newestOf(request).replace(/cache_control.*/, ''))).size).toBe(3)
    },
  )

  onNewest('ends at the first word of the person', async () => {
    writeFileSync(join(root, 'work.txt'), '')
    await terminal.send('[[tool:Bash {"command":"npm test"}]]')
    await terminal.see('Next: Fix the failing check "npm test" — first failure: parses dates 0')
    await terminal.send('/next arm --rounds 8 --until "false"')
    await vi.waitFor(async () => expect(await ledger()).toMatch(/disarm \(until-met\)[\s\S]*fire \(round-1\)/), {
      timeout: 30_000,
      interval: 300,
    })
    await terminal.send('now do something else')
    await vi.waitFor(async () => expect(await ledger()).toMatch(/disarm \(human\)/), { timeout: 30_000, interval: 300 })
    await vi.waitFor(() => expect(turns().some(request => textOf(request).includes('now do something else'))).toBe(true), {
      timeout: 20_000,
    })
    const before = rounds().length
    await new Promise(done => setTimeout(done, 1_500))
    expect(rounds()).toHaveLength(before)
  })
})
