/** The context fills in the real program: auto mode counts down, a person's key stops it, its end goes fresh. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Claude, claudeProgram, startClaude } from '../../support/claude-code/claude.ts'
import { type ClaudeTerminal, noTmux, startClaudeTerminal } from '../../support/claude-code/terminal.ts'

const version = '2.1.332'
const program = await claudeProgram(version)
const missing = noTmux ?? ('missing' in program ? program.missing : undefined)
if (missing !== undefined) console.warn(`Claude Code ${version} is not tested in its terminal: ${missing}`)

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 })

describe.skipIf(missing !== undefined)(`a full context in the terminal of Claude Code ${version}`, () => {
  let claude: Claude
  let terminal: ClaudeTerminal
  let root: string

  beforeAll(async () => {
    const { bin } = program as { bin: string }
    claude = await startClaude(bin)
    root = claude.folder({ '.git/HEAD': 'ref: refs/heads/main\n', 'a.txt': 'a\n' })
    claude.api.answer = ({ messages }) =>
      JSON.stringify(messages.at(-1)).includes('You keep the notes of work stream')
        ? 'GATE: ok\nstatus: working\ngoal: Invoices in the new ledger\nnext:\n- port the 2019 importer\n'
        : undefined
    terminal = await startClaudeTerminal(claude, bin, root, { version })
  })
  afterAll(async () => {
    terminal?.end()
    await claude?.close()
  })

  const countdown = /"billing" goes to a fresh session in \d+ s/

  it('counts down to a fresh session in auto mode, and stays when the person types', async () => {
    await terminal.send('begin [[say:Known.\n\n<!-- ckpt\ndecision: invoices go through the new ledger\n-->]]')
    await terminal.see('▸ ckpt: decision')
    await terminal.send('/pack save billing')
    await vi.waitFor(() => expect(existsSync(join(root, '.outrigger/pack/billing/state.md'))).toBe(true), 20_000)
    await terminal.send('/pack auto on')
    await terminal.see('pack: auto mode on')
    claude.api.tokens = 800_000
    await terminal.send('fill it [[say:Full.]]')
    await terminal.see(countdown, 30_000)
    const before = claude.api.requests.length
    await terminal.write('wait')
    await terminal.seeNo(countdown, 4_000)
    expect(claude.api.requests).toHaveLength(before)
    expect(terminal.screen()).toContain('Full.')
    expect(readFileSync(join(root, '.outrigger/pack/billing/state.md'), 'utf8')).toMatch(/^goal: Invoices in the new ledger$/m)
  })

  it('goes fresh at the end of the countdown, with the notes', async () => {
    terminal.press('C-u')
    // Auto mode rests until there was room again.
    claude.api.tokens = undefined
    await terminal.send('room [[say:Room.]]')
    await terminal.see('● Room.')
    claude.api.tokens = 800_000
    await terminal.send('fill it again [[say:Full again.]]')
    await terminal.see(countdown, 30_000)
    await terminal.seeNo('Full again.', 30_000)
    claude.api.tokens = undefined
    await terminal.send('what now?')
    await terminal.see('ECHO')
    const text = JSON.stringify(claude.api.requests.findLast(({ tools = [] }) => tools.length > 0)?.messages)
    expect(text).toContain('invoices go through the new ledger')
    expect(text).not.toContain('fill it again')
  })
})
