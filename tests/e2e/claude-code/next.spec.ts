/** next-step in one session of the real terminal: the band, the faint words, what a loop waits for, and what it was allowed. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Claude, claudeProgram, startClaude } from '../../support/claude-code/claude.ts'
import { type ApiRequest, wordsOf } from '../../support/claude-code/fake-api.ts'
import { type ClaudeTerminal, noTmux, startClaudeTerminal } from '../../support/claude-code/terminal.ts'

const version = '2.1.332'
const program = await claudeProgram(version)
const missing = noTmux ?? ('missing' in program ? program.missing : undefined)
if (missing !== undefined) console.warn(`Claude Code ${version} is not tested in its terminal: ${missing}`)

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 })

/** What the agent says, by words of the newest prompt; the first that fits. */
const answers: readonly (readonly [string, string])[] = [
  ['Write the printer now', 'The printer is there.\n\n## Next steps\n\n1. Write the manual'],
  ['Write the index', 'The index is there.\n\n## Next steps\n\n1. Write the glossary'],
  ['parse it', 'It is parsed.\n\n## Next steps\n\n1. Write the printer\n2. Write the manual'],
  ['release it', 'All is ready.\n\n## Next steps\n\n1. Push the branch to origin'],
  ['list it', 'It is listed.\n\n## Next steps\n\n1. Write the index'],
]

describe.skipIf(missing !== undefined)(`next-step in the terminal of Claude Code ${version}`, () => {
  let claude: Claude
  let terminal: ClaudeTerminal
  let root: string

  beforeAll(async () => {
    const { bin } = program as { bin: string }
    claude = await startClaude(bin)
    root = claude.folder({ '.git/HEAD': 'ref: refs/heads/main\n', 'a.txt': 'a\n' })
    claude.api.answer = request => answers.find(([words]) => newestOf(request).includes(words))?.[1]
    terminal = await startClaudeTerminal(claude, bin, root, { version })
  })
  afterAll(async () => {
    terminal?.end()
    await claude?.close()
  })

  const newestOf = ({ messages }: ApiRequest): string => wordsOf(messages.findLast(({ role }) => role === 'user')!)
  const prompts = (): readonly string[] => claude.api.requests.filter(({ tools = [] }) => tools.length > 0).map(newestOf)
  const ledger = () => claude.outrigger(root, ['ledger', '--engine', 'next'])
  /** A press with the mouse, again when the screen moved under it, until something is gone. */
  const click = async (words: string, gone: string | RegExp): Promise<void> => {
    for (let tries = 4; ; tries--) {
      const lines = (await terminal.see(words)).split('\n')
      const row = lines.findLastIndex(line => line.includes(words))
      const column = lines[row]!.indexOf(words) + Math.floor(words.length / 2)
      for (const end of ['M', 'm']) terminal.press('-l', '--', `\x1b[<0;${column + 1};${row + 1}${end}`)
      try {
        await terminal.seeNo(gone, 1_500)
        return
      } catch (error) {
        if (tries === 1) throw error
      }
    }
  }

  it('says nothing before there is anything to say', () => {
    expect(terminal.screen()).not.toMatch(/next:|Next:|Autorun/)
  })

  it('offers the first step that the agent named; Tab takes it into the box, and what is sent is the words of the person', async () => {
    await terminal.send('parse it')
    expect(await terminal.see('Next: Write the printer')).toMatch(/Next: Write the printer +\[ Run \] \[ Edit \] \[ × \]/)
    await terminal.see(/^❯\s+Write the printer/m)
    terminal.press('Tab')
    await terminal.write(' now')
    terminal.press('Enter')
    await terminal.see('Next: Write the manual')
    expect(prompts().at(-1)).toMatch(/^Write the printer now/m)
    expect(prompts().at(-1)).not.toContain('plugin sent a message')
  })

  it('puts it into the box on Edit, and sends it away on ×', async () => {
    await terminal.write('something else')
    await click('[ Edit ]', 'something else')
    await terminal.see(/^❯\s+Write the manual\s*$/m)
    terminal.press('C-u')
    await click('[ × ]', 'Next: Write the manual')
    await terminal.send('/next')
    await terminal.see('you sent it away')
  })

  it('waits with a risky step for Run and says so; Stop ends the loop', async () => {
    await terminal.send('release it')
    await terminal.see('Next: Push the branch to origin')
    await terminal.send('/next arm')
    await terminal.see(/Autorun 0\/8 · waits: this step needs your Run/)
    await click('[ Stop ]', 'Autorun 0/8')
    expect(await ledger()).toMatch(/disarm \(person\)/)
  })

  it('is not overtaken while the person writes, goes on when the box is empty, and ends with its allowance', async () => {
    await terminal.send('list it')
    await terminal.see('Next: Write the index')
    await terminal.send('/next arm --rounds 1 --until "sleep 1; false"')
    await terminal.see('Autorun 0/1')
    await terminal.write('hm wait')
    await terminal.see('waits: you are writing')
    expect(prompts().filter(text => text.includes('Write the index'))).toEqual([])
    terminal.press('C-u')
    await terminal.see('Next: Write the glossary')
    await terminal.seeNo(/Autorun \d/)
    expect(prompts().at(-1)).toMatch(/plugin sent a message[\s\S]*Write the index/)
    const lines = await ledger()
    expect(lines).toMatch(/hold \(typing\)/)
    expect(lines).toMatch(/disarm \(cap\)/)
    expect(lines.match(/ fire /g)).toHaveLength(1)
  })

  it('is armed from a terminal beside it, where the loop runs to its end; from a pipe it is not', async () => {
    await terminal.send('list it')
    await terminal.see('Next: Write the index')
    const before = prompts().length
    await expect(claude.outrigger(root, ['next', 'arm', '--rounds', '2'])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('NEXT_NEEDS_PERSON'),
    })
    const line = `"${process.execPath}" "${join(claude.plugin, 'bin/outrigger.mjs')}" next arm --rounds 2`
    const { status, stdout } = spawnSync('script', ['-qefc', line, '/dev/null'], { cwd: root, env: claude.env, encoding: 'utf8' })
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^Autorun: 2 rounds/) })
    await vi.waitFor(() => expect(prompts().length).toBeGreaterThanOrEqual(before + 2), { timeout: 20_000, interval: 200 })
    await terminal.seeNo(/Autorun \d/)
    const [first, second] = prompts().slice(before)
    expect(first).toMatch(/plugin sent a message[\s\S]*Write the index/)
    expect(second).toMatch(/plugin sent a message[\s\S]*Write the glossary/)
    await vi.waitFor(async () => expect((await ledger()).match(/disarm \(/g)).toHaveLength(3), { timeout: 10_000, interval: 500 })
  })
})
