/** One session of the real program in its terminal: what a person sees and presses, what reached the model, what stands in the files. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Claude, claudeProgram, startClaude } from '../../support/claude-code/claude.ts'
import type { ApiRequest } from '../../support/claude-code/fake-api.ts'
import { type ClaudeTerminal, noTmux, startClaudeTerminal } from '../../support/claude-code/terminal.ts'

const version = '2.1.332'
const program = await claudeProgram(version)
const missing = noTmux ?? ('missing' in program ? program.missing : undefined)
if (missing !== undefined) console.warn(`Claude Code ${version} is not tested in its terminal: ${missing}`)

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const textOf = (request: ApiRequest | undefined): string => JSON.stringify(request?.messages ?? [])
const newestOf = (request: ApiRequest): string => JSON.stringify(request.messages.at(-1))

describe.skipIf(missing !== undefined)(`the plugin in the terminal of Claude Code ${version}`, () => {
  let claude: Claude
  let terminal: ClaudeTerminal
  let root: string

  beforeAll(async () => {
    claude = await startClaude((program as { bin: string }).bin)
    root = claude.folder({
      '.git/HEAD': 'ref: refs/heads/main\n',
      'guide.md': '---\nsources:\n  - api.md\n---\n# Guide\n\nCall open.\n',
      'api.md': '# API\n\nopen(path)\n',
    })
    await claude.outrigger(root, ['keel', 'stamp'])
    writeFileSync(join(root, 'api.md'), '# API\n\nopen(path, mode)\n')
    claude.api.answer = request => {
      const newest = newestOf(request)
      if (newest.includes('You keep the notes of work stream'))
        return 'GATE: ok\nstatus: working\ngoal: Invoices in the new ledger\nnext:\n- port the 2019 importer\n'
      return undefined
    }
    terminal = await startClaudeTerminal(claude, (program as { bin: string }).bin, root, {
      version,
      columns: 160,
    })
  })
  afterAll(async () => {
    terminal?.end()
    await claude?.close()
  })

  const turns = () => claude.api.requests.filter(request => (request.tools ?? []).length > 0)
  const stream = () => join(root, '.outrigger/pack/billing')
  it('shows what is behind, folds a checkpoint, and answers /keel without the model', async () => {
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

  it('shows the notes before they are used, and stays when the person stays', async () => {
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

  it('goes on in a fresh session that has the notes and nothing else', async () => {
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

  it('loads notes into a session that a person names', async () => {
    await terminal.send('/unpack billing')
    await terminal.see(/unpack: /)
  })
})
