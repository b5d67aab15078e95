/** What goes wrong around a session of the real program in its terminal: what the person and the model are told, once, and what stands in the files. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Claude, claudeProgram, startClaude } from '../../support/claude-code/claude.ts'
import { type Reply, wordsOf } from '../../support/claude-code/fake-api.ts'
import { type ClaudeTerminal, noTmux, startClaudeTerminal } from '../../support/claude-code/terminal.ts'

const version = '2.1.332'
const program = await claudeProgram(version)
const missing = noTmux ?? ('missing' in program ? program.missing : undefined)
if (missing !== undefined) console.warn(`Claude Code ${version} is not tested in its terminal: ${missing}`)

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 })

const count = (text: string, word: string): number => text.split(word).length - 1

describe.skipIf(missing !== undefined)(`faults in the terminal of Claude Code ${version}`, () => {
  let claude: Claude
  let terminal: ClaudeTerminal
  let root: string
  let notes: () => Reply | Promise<Reply>

  const start = () =>
    startClaudeTerminal(claude, (program as { bin: string }).bin, root, {
      version,
      columns: 160,
      args: ['--permission-mode', 'dontAsk', '--allowedTools', 'Bash'],
    })
  beforeAll(async () => {
    claude = await startClaude((program as { bin: string }).bin)
    root = claude.folder({
      '.git/HEAD': 'ref: refs/heads/main\n',
      'guide.md': '---\nsources:\n  - api.md\n---\n# Guide\n',
      'api.md': '# API\n',
    })
    await claude.outrigger(root, ['keel', 'stamp'])
    writeFileSync(join(root, 'api.md'), '# API\n\nopen(path)\n')
    notes = () => 'GATE: ok\nstatus: working\ngoal: Invoices in the new ledger\n'
    claude.api.answer = ({ messages }) =>
      JSON.stringify(messages.at(-1)).includes('You keep the notes of work stream') ? notes() : undefined
    terminal = await start()
  })
  afterAll(async () => {
    terminal?.end()
    await claude?.close()
  })

  const state = (): string => readFileSync(join(root, '.outrigger/pack/billing/state.md'), 'utf8')
  /** What the model read with the newest request. */
  const read = (): string =>
    (claude.api.requests.findLast(({ tools = [] }) => tools.length > 0)?.messages ?? []).map(wordsOf).join('\n')
  const processOf = async (): Promise<number> =>
    (JSON.parse(await claude.outrigger(root, ['serve', '--detach'])) as { pid: number }).pid

  it('saves the notes before a compaction, and says once after it what is known and what is behind', async () => {
    await terminal.send('begin [[say:Known.\n\n<!-- ckpt\ndecision: invoices go through the new ledger\n-->]]')
    await terminal.see('▸ ckpt: decision')
    await terminal.send('/pack save billing')
    await vi.waitFor(() => expect(existsSync(join(root, '.outrigger/pack/billing/state.md'))).toBe(true), 20_000)
    // The host compacts nothing that is shorter.
    for (const words of ['first', 'second', 'third']) {
      await terminal.send(`[[say:Heard the ${words}.]]`)
      await terminal.see(`● Heard the ${words}.`)
    }
    await terminal.send('[[say:More.\n\n<!-- ckpt\nlearning: rounding is per line\n-->]]')
    await terminal.see('▸ ckpt: learning')
    expect(state()).not.toContain('rounding is per line')
    await terminal.send('/compact')
    await terminal.see('hook PreCompact] completed successfully')
    expect(state()).toContain('- rounding is per line (c')
    await terminal.send('what now')
    await terminal.see(/● ECHO: [\s\S]*what now/)
    expect(count(read(), 'Saved notes of work stream "billing"')).toBe(1)
    expect(count(read(), 'documents behind their sources, not reviewed yet')).toBe(1)
  })

  it('goes fresh once when the person clears while it counts down', async () => {
    const countdown = /goes to a fresh session in \d+ s/
    await terminal.send('/pack auto on')
    await terminal.see('auto mode on')
    claude.api.tokens = 800_000
    await terminal.send('fill it [[say:Full.]]')
    await terminal.see(countdown, 30_000)
    claude.api.tokens = undefined
    await terminal.send('/clear')
    await terminal.see('notes of "billing" loaded')
    await terminal.seeNo(countdown)
    await terminal.send('/pack auto off')
    await terminal.see('auto mode off')
    await terminal.send('and now')
    await terminal.see(/● ECHO: [\s\S]*and now/)
    expect(count(read(), 'Saved notes of work stream "billing"')).toBe(1)
    expect(read()).not.toContain('fill it')
    expect(count(await claude.outrigger(root, ['ledger', '--engine', 'pack']), 'given: notes of "billing"')).toBe(2)
  })

  it('goes on beside an engine process that hangs: the hooks say it once, the person hears it once', async () => {
    const pid = await processOf()
    process.kill(pid, 'SIGSTOP')
    try {
      const before = performance.now()
      await terminal.send('[[tool:Bash {"command":"printf x >> api.md"}]]')
      await terminal.see('Stop hook reported a problem', 40_000)
      expect(performance.now() - before).toBeLessThan(20_000)
      await terminal.see('outrigger: no engine process')
      const told = () => read().slice(read().lastIndexOf('printf x >> api.md'))
      await vi.waitFor(() => expect(count(told(), 'Stop hook feedback:')).toBe(1), 10_000)
      expect(count(told(), 'documents written from that may no longer hold')).toBe(1)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await terminal.send('/keel')
    await terminal.see('guide.md:3 <- api.md: changed')
  })

  it('has whole notes after the program was killed while the model wrote into them, and a new one goes on from there', async () => {
    const asked = new Promise<void>(resolve => {
      notes = () => {
        resolve()
        return new Promise(() => {})
      }
    })
    await terminal.send('[[say:Done.\n\n<!-- ckpt\nlearning: cents are kept\n-->]]')
    await terminal.see('▸ ckpt: learning')
    await terminal.send('/pack billing')
    await asked
    terminal.end('SIGKILL')
    // What code assembles was written before the model was asked.
    expect(state()).toContain('- cents are kept (c')
    expect(state()).toMatch(/^goal: Invoices in the new ledger$/m)
    notes = () => 'GATE: ok\nstatus: working\ngoal: Invoices in the new ledger\n'
    terminal = await start()
    await terminal.send('/unpack billing')
    await terminal.see(/unpack: /)
    await terminal.send('go on')
    await terminal.see(/● ECHO: [\s\S]*go on/)
    expect(count(read(), 'cents are kept')).toBe(1)
    expect(await claude.outrigger(root, ['pack', 'verify', 'billing'])).not.toMatch(/torn|broken|damaged/)
  })
})
