/** The same plugin in older programs: the module where there are modules, the command hooks where there are none. */
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Claude, claudeProgram, startClaude } from '../../support/claude-code/claude.ts'
import { wordsOf } from '../../support/claude-code/fake-api.ts'
import { noTmux, startClaudeTerminal } from '../../support/claude-code/terminal.ts'

const document = (source: string) => `---\nsources:\n  - ${source}\n---\n# Guide\n\nCall open.\n`
const count = (text: string, word: string): number => text.split(word).length - 1

describe.each([
  // This program refuses a module every socket while the variable is set.
  { version: '2.1.287', by: 'module', command: '/keel', env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '' } },
  // Knows no modules, and drops all hooks of a plugin that has a hook of an event it does not know.
  { version: '2.1.197', by: 'command hooks', command: '/outrigger:keel', env: {} },
])('the plugin in Claude Code $version, by its $by', { timeout: 90_000 }, ({ version, by, command, env }) => {
  let claude: Claude | undefined
  let missing: string | undefined
  beforeAll(async () => {
    const program = await claudeProgram(version)
    if ('missing' in program) {
      missing = program.missing
      console.warn(`skipped: the real program ${version} cannot be had (${missing})`)
      return
    }
    claude = await startClaude(program.bin)
    await claude.command(claude.home, ['plugin', 'marketplace', 'add', claude.plugin])
    await claude.command(claude.home, ['plugin', 'install', 'outrigger@outrigger'])
  }, 300_000)
  afterAll(() => claude?.close())

  it('tells at the start, after a call and at the end, each once; keeps what was marked; has its tools', async test => {
    if (claude === undefined) return test.skip(missing)
    const root = claude.folder({
      '.git/HEAD': 'ref: refs/heads/main\n',
      'guide.md': document('api.md'),
      'api.md': '# API\n\nopen(path)\n',
      'old.md': document('core.md'),
      'core.md': '# Core\n\nclose()\n',
    })
    await claude.outrigger(root, ['keel', 'stamp'])
    writeFileSync(`${root}/core.md`, '# Core\n\nclose(now)\n')
    let calls = 0
    claude.api.answer = request => {
      if (!JSON.stringify(request.messages).includes('move the API')) return undefined
      calls += 1
      if (calls === 1) return { tool: 'Bash', input: { command: `printf '# API\\n\\nopen(path, mode)\\n' > api.md` } }
      return calls === 2 ? 'Done.\n\n<!-- ckpt\ndecision: open takes a mode\n-->' : undefined
    }
    const args = ['--permission-mode', 'dontAsk', '--allowedTools', 'Bash', 'mcp__plugin_outrigger_outrigger']
    const results = await claude.session(root, ['move the API', command], { args, env })

    const last = claude.api.requests.findLast(({ tools = [] }) => tools.length > 0)!
    const text = last.messages.map(wordsOf).join('\n')
    expect(count(text, 'SessionStart hook additional context')).toBe(1)
    expect(text.split('SessionStart hook additional context')[1]).toContain('old.md')
    expect(count(text, 'PostToolUse:Bash hook additional context')).toBe(1)
    expect(text).toContain('+open(path, mode)')
    const heard = last.messages.filter(({ role }) => role === 'user').map(wordsOf)
    expect(heard.filter(words => words.includes('Stop hook feedback:\nkeel'))).toHaveLength(1)
    if (by === 'module') expect(results.at(-1)).toContain('guide.md')
    else expect(text).toContain('Call the tool `keel_check`')
    expect(JSON.stringify(last)).toContain('mcp__plugin_outrigger_outrigger__run_code')

    // Nobody named a stream before the session ended.
    expect(count(readFileSync(`${root}/.outrigger/pack/inbox/journal.md`, 'utf8'), 'open takes a mode')).toBe(1)
  })

  // The terminal of a program with modules: terminal.spec.ts.
  it.skipIf(by === 'module')('says it again in its terminal after /compact and after /clear, each once', async test => {
    if (claude === undefined || noTmux !== undefined) return test.skip(missing ?? noTmux)
    const here = claude
    const root = claude.folder({ '.git/HEAD': 'ref: refs/heads/main\n', 'old.md': document('core.md'), 'core.md': '# Core\n' })
    await claude.outrigger(root, ['keel', 'stamp'])
    writeFileSync(`${root}/core.md`, '# Core\n\nclose(now)\n')
    const program = (await claudeProgram(version)) as { bin: string }
    const terminal = await startClaudeTerminal(here, program.bin, root, { version, isInstalled: true })
    const told = () => {
      const { messages = [] } = here.api.requests.findLast(({ tools = [] }) => tools.length > 0) ?? {}
      return count(messages.map(wordsOf).join('\n'), 'old.md <- core.md')
    }
    /** This program may put into the box again what it was sent. */
    const send = async (words: string, then: string | RegExp) => {
      terminal.press('C-u')
      await terminal.send(words)
      await terminal.see(then)
    }
    try {
      await send(
        '[[say:The ledger is new.\n\n<!-- ckpt\ndecision: invoices go through the new ledger\n-->]]',
        '● The ledger is new.',
      )
      expect(told()).toBe(1)
      // The host compacts nothing that is shorter.
      for (const words of ['first', 'second', 'third']) {
        await send(`[[say:Heard the ${words}.]]`, `● Heard the ${words}.`)
      }
      await send('/compact', 'Conversation compacted')
      // What the hook has not to say must not stand there either.
      await terminal.see(/hook PreCompact\] completed\s+successfully\n/)
      await send('what now', /● ECHO: [\s\S]*what now/)
      expect(told()).toBe(1)
      await send('/clear', /❯ \/clear(?![\s\S]*what now)/)
      await send('and again', /● ECHO: [\s\S]*and again/)
      expect(told()).toBe(1)
      expect(readFileSync(`${root}/.outrigger/pack/inbox/journal.md`, 'utf8')).toContain('invoices go through the new ledger')
    } finally {
      terminal.end()
    }
  })
})
