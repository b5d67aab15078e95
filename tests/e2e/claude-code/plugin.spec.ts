import { cpSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Claude, claudeProgram, startClaude } from '../../support/claude-code/claude.ts'
import { wordsOf } from '../../support/claude-code/fake-api.ts'

const version = '2.1.332'
const program = await claudeProgram(version)
if ('missing' in program) console.warn(`skipped: the real program ${version} cannot be had (${program.missing})`)

const files = {
  '.git/HEAD': 'ref: refs/heads/main\n',
  'guide.md': '---\nsources:\n  - api.md\n---\n# Guide\n\nCall open.\n',
  'api.md': '# API\n\nopen(path)\n',
}

/** What `claude plugin test` runs: the module above an engine process and beneath nobody. */
const testsOfTheHost = `
import { expect, mock, test } from 'claude-code/testing'

const answer = (value: unknown) => ({ value: { status: 200, ok: true, headers: {}, text: JSON.stringify(value) } })
const place = (on: any) => {
  mock.env(on, {})
  mock.clock(on)
  on('session.root', () => ({ value: '/w' }))
  on('session.id', () => ({ value: 's1' }))
  on('session.version', () => ({ value: { version: '2.1.332' } }))
  on('fs.exists', () => ({ value: true }))
  on('env.set', () => ({ value: undefined }))
  on('ui.toast', () => ({ value: undefined }))
  on('ui.status', () => ({ value: undefined }))
  on('classic.SessionStart', () => ({ additionalContext: ['theirs'] }))
}
const started = { hook_event_name: 'SessionStart', session_id: 's1', transcript_path: '/t', cwd: '/w', source: 'startup' } as const

test('starts the engine process and adds what the engines say', async ($, on) => {
  place(on)
  on('process.run', (_$, e) => {
    expect(e.argv.slice(-2)).toEqual(['serve', '--detach'])
    return { value: { exitCode: 0, stdout: '{"socket":"/run/o.sock"}', stderr: '', isStdoutTruncated: false, isStderrTruncated: false } }
  })
  on('http.fetch', (_$, e) => {
    expect(e.init?.socketPath).toBe('/run/o.sock')
    if (e.url.endsWith('/health')) return answer({ project: '/w' })
    return answer({ actions: [{ kind: 'add-context', engine: 'keel', text: 'ours', id: 'a1', via: 'start' }] })
  })
  const { additionalContext } = await $.classic.SessionStart(started)
  expect(additionalContext).toEqual(['theirs', 'ours'])
})

test('leaves the host as it is without an engine process', async ($, on) => {
  place(on)
  on('process.run', () => ({ deny: 'ENOENT' }))
  on('http.fetch', () => ({ deny: 'ENOENT' }))
  const { additionalContext } = await $.classic.SessionStart(started)
  expect(additionalContext).toEqual(['theirs'])
})
`

describe.skipIf('missing' in program)(`the plugin in Claude Code ${version}`, { timeout: 60_000 }, () => {
  let claude: Claude
  beforeAll(async () => {
    claude = await startClaude('bin' in program ? program.bin : '')
    await claude.command(claude.home, ['plugin', 'marketplace', 'add', claude.plugin])
    await claude.command(claude.home, ['plugin', 'install', 'outrigger@outrigger'])
  }, 120_000)
  afterAll(() => claude?.close())

  /** Everything that the requests since `from` let the model read, each message once. */
  const read = (from: number): string => {
    const last = claude.api.requests
      .slice(from)
      .filter(request => (request.tools ?? []).length > 0)
      .at(-1)
    return (last?.messages ?? []).map(wordsOf).join('\n')
  }
  const count = (text: string, word: string): number => text.split(word).length - 1
  const allow = ['--permission-mode', 'dontAsk', '--allowedTools', 'Bash', 'mcp__plugin_outrigger_outrigger']

  it('is one that the host validates without a warning', async () => {
    expect(await claude.command(claude.home, ['plugin', 'validate', '--strict', claude.plugin])).toContain('Validation passed')
  })

  it('does what it should in the tests of the host itself', async () => {
    const copy = join(claude.home, 'tested')
    cpSync(claude.plugin, copy, { recursive: true })
    writeFileSync(join(copy, 'door.test.ts'), testsOfTheHost)
    expect(await claude.command(claude.home, ['plugin', 'test', copy])).toMatch(/\b2 pass/)
  })

  it('tells what fell behind after a call and holds the end of the turn once; a person asks with /keel', async () => {
    const root = claude.folder(files)
    await claude.outrigger(root, ['keel', 'stamp'])
    const from = claude.api.requests.length
    const command = `printf '# API\\n\\nopen(path, mode)\\n' > api.md`
    const results = await claude.session(root, ['hello', `go [[tool:Bash ${JSON.stringify({ command })}]]`, '/keel'], {
      args: allow,
    })
    const text = read(from)
    expect(count(text, 'hook additional context: keel')).toBe(1)
    expect(text).toContain('open(path, mode)')
    expect(count(text, 'Stop hook feedback')).toBe(1)
    expect(results.at(-1)).toContain('guide.md')
  })

  it('says at the start what is behind, once', async () => {
    const root = claude.folder(files)
    await claude.outrigger(root, ['keel', 'stamp'])
    writeFileSync(join(root, 'api.md'), '# API\n\nopen(path, mode)\n')
    const from = claude.api.requests.length
    await claude.session(root, ['hello'], { args: allow })
    expect(count(read(from), 'SessionStart hook additional context')).toBe(1)
    expect(read(from)).toContain('guide.md')
  })

  it('runs cells of one session across calls, and across programs: what a cell holds open is still there', async () => {
    const root = claude.folder({ 'a.txt': 'a\n' })
    const tool = 'mcp__plugin_outrigger_outrigger__run_code'
    const cell = (code: string) => `go [[tool:${tool} ${JSON.stringify({ code })}]]`
    // The host lists tools of servers only when the model looks for them.
    const found = `find [[tool:ToolSearch ${JSON.stringify({ query: `select:${tool}` })}]]`
    const open = 'import net from "node:net"; const kept = 6 * 7, srv = net.createServer().listen(0)'
    await claude.session(root, [found, cell(open)], { args: allow })
    const results = await claude.session(root, [cell('console.log(kept + 1, srv.listening)')], { args: [...allow, '--continue'] })
    expect(results.at(-1)).toMatch(/^DONE .*43 true/s)
    expect(results.at(-1)).not.toContain('REPL restarted')
  })

  it('does the same by its command hooks, once, where no engine process can be started', async () => {
    const root = claude.folder(files)
    await claude.outrigger(root, ['keel', 'stamp'])
    writeFileSync(join(root, 'api.md'), '# API\n\nopen(path, mode)\n')
    const from = claude.api.requests.length
    const nowhere = join(claude.home, 'nowhere', 'outrigger')
    await claude.session(root, ['hello'], { args: allow, env: { OUTRIGGER_BIN: nowhere } })
    expect(existsSync(nowhere)).toBe(false)
    expect(count(read(from), 'SessionStart hook additional context')).toBe(1)
    expect(read(from)).toContain('guide.md')
  })
})
