/** The real `claude` in its terminal interface: a tmux of its own, keys as a person presses them, the screen as text. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Claude } from './claude.ts'

/** Why there is no terminal to test with; `undefined` when there is one. */
export const noTmux: string | undefined =
  spawnSync('tmux', ['-V'], { encoding: 'utf8' }).status === 0 ? undefined : 'there is no tmux'

export interface ClaudeTerminal {
  /** Writes into the prompt's box; a line end is one in the box. */
  write(text: string): Promise<void>
  /** Keys by tmux's names: `Enter`, `Tab`, `Escape`, `C-c`. */
  press(...keys: readonly string[]): void
  /** `write`, and Enter when it stands in the box. */
  send(text: string): Promise<void>
  /** What is on the screen now, without colours. */
  screen(): string
  /** Waits until it is on the screen; answers the screen. Throws with the screen when it does not come. */
  see(text: string | RegExp, withinMs?: number): Promise<string>
  /** A press with the mouse on these words, once the screen stands still. */
  click(words: string): Promise<void>
  /** Waits until it is no longer there. */
  seeNo(text: string | RegExp, withinMs?: number): Promise<string>
  /** Closes the terminal. @param signal - sent to the program first, at once. */
  end(signal?: 'SIGKILL'): void
}

export interface TerminalOptions {
  readonly version: string
  /** The plugin was installed; else its folder is given. */
  readonly isInstalled?: boolean
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly columns?: number
  readonly rows?: number
}

/** Starts the program in `cwd`, trusted and past its first questions; some seconds. */
export async function startClaudeTerminal(
  claude: Claude,
  bin: string,
  cwd: string,
  { version, isInstalled = false, args = [], env = {}, columns = 120, rows = 40 }: TerminalOptions,
): Promise<ClaudeTerminal> {
  passQuestions(claude, cwd, version)
  const socket = join(claude.home, 't.sock')
  const all = { ...claude.env, TERM: 'xterm-256color', ...env }
  const tmux = (...words: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync('tmux', ['-S', socket, '-f', '/dev/null', ...words], {
      env: all,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`tmux ${words[0]}: ${stderr}`)
    return stdout
  }
  const plugin = isInstalled ? [] : ['--plugin-dir', claude.plugin]
  const command = [bin, ...plugin, ...args].map(word => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  tmux(
    'start-server',
    ';',
    'set-option',
    '-g',
    'focus-events',
    'on',
    ';',
    'new-session',
    '-d',
    '-s',
    'main',
    '-x',
    String(columns),
    '-y',
    String(rows),
    '-c',
    cwd,
    command,
  )
  const screen = (): string => tmux('capture-pane', '-p', '-t', 'main').replace(/\s+$/, '')
  const until = async (isThere: (shown: string) => boolean, what: string, withinMs: number): Promise<string> => {
    for (const deadline = Date.now() + withinMs; ; await new Promise(resolve => setTimeout(resolve, 100))) {
      const shown = screen()
      if (isThere(shown)) return shown
      if (Date.now() > deadline) throw new Error(`${what}; the screen:\n${shown}`)
    }
  }
  const has = (text: string | RegExp) => (shown: string) => (typeof text === 'string' ? shown.includes(text) : text.test(shown))
  const terminal: ClaudeTerminal = {
    async write(text) {
      for (const [n, line] of text.split('\n').entries()) {
        if (n > 0) tmux('send-keys', '-t', 'main', 'C-j')
        if (line !== '') tmux('send-keys', '-t', 'main', '-l', '--', line)
      }
      // Enter in one piece with the words would be a line end among them.
      await until(shown => boxOf(shown).includes(tailOf(text)), `${text} was not written`, 10_000)
    },
    press: (...keys) => void tmux('send-keys', '-t', 'main', ...keys),
    async send(text) {
      await terminal.write(text)
      tmux('send-keys', '-t', 'main', 'Enter')
    },
    screen,
    see: (text, withinMs = 25_000) => until(has(text), `${String(text)} did not come`, withinMs),
    seeNo: (text, withinMs = 25_000) => until(shown => !has(text)(shown), `${String(text)} did not go`, withinMs),
    async click(words) {
      let before = ''
      const shown = await until(
        now => {
          const isStill = now === before
          before = now
          return isStill && now.includes(words)
        },
        `${words} did not stand still`,
        20_000,
      )
      const lines = shown.split('\n')
      const row = lines.findLastIndex(line => line.includes(words))
      const column = lines[row]!.indexOf(words) + Math.floor(words.length / 2)
      for (const end of ['M', 'm']) tmux('send-keys', '-t', 'main', '-l', '--', `\x1b[<0;${column + 1};${row + 1}${end}`)
    },
    end(signal) {
      if (signal !== undefined) process.kill(Number(tmux('display-message', '-p', '-t', 'main', '#{pane_pid}')), signal)
      spawnSync('tmux', ['-S', socket, 'kill-server'], { env: all })
    },
  }
  try {
    await terminal.see(/^❯/m, 30_000)
  } catch (error) {
    terminal.end()
    throw error
  }
  return terminal
}

const tailOf = (text: string): string => text.trim().split('\n').at(-1)!.trim().slice(-12)

/** What stands between the last two lines of the screen that are drawn. */
function boxOf(shown: string): string {
  const parts = shown.split(/^─{20,}.*$/m)
  return parts.at(-2) ?? ''
}

/** What a person would have answered at the first start, and to whether the folder is trusted. */
function passQuestions({ home, env }: Claude, cwd: string, version: string): void {
  const folder = join(home, '.claude')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, '.claude.json')
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { projects?: object }) : {}
  const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true, projectOnboardingSeenCount: 4 }
  const known = {
    ...before,
    hasCompletedOnboarding: true,
    theme: 'dark',
    numStartups: 5,
    lastOnboardingVersion: version,
    customApiKeyResponses: { approved: [env['ANTHROPIC_API_KEY']!.slice(-20)], rejected: [] },
    projects: { ...before.projects, [cwd]: project },
  }
  writeFileSync(file, JSON.stringify(known))
}
