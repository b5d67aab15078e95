/** The built program under a real pseudo-terminal, which util-linux's `script` brings. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import type { Program } from './program.ts'

/** Why there is no terminal to test with; `undefined` when there is one. */
export const noTerminal: string | undefined =
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true
    ? undefined
    : 'there is no `script` of util-linux'

export interface Terminal {
  readonly child: ChildProcess
  /** Keys as a person presses them: `\r` is Enter, `\x03` Ctrl-C, `\t` Tab. */
  type(keys: string): void
  /** The same, each key when the one before has shown on the screen: what comes at once counts as pasted, and Tab is a character then. */
  press(keys: string): Promise<void>
  /** Everything that came on the screen, without control sequences. */
  screen(): string
  /** Waits until this text has come after what was waited for before. */
  see(text: string | RegExp, withinMs?: number): Promise<string>
  readonly exit: Promise<number | null>
}

export function startTerminal(
  program: Program,
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Terminal {
  const command = [process.execPath, program.main, ...args].map(word => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    cwd,
    env: { ...program.env, TERM: 'xterm', COLUMNS: '120', LINES: '40', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let raw = ''
  let seen = 0
  let wake = (): void => {}
  const screen = (): string => raw.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '').replaceAll('\r', '')
  child.stdout!.setEncoding('utf8').on('data', (piece: string) => {
    raw += piece
    wake()
  })
  child.stdin!.on('error', () => undefined)
  let ended = false
  const exit = new Promise<number | null>(resolve =>
    child.once('close', code => {
      ended = true
      resolve(code)
      wake()
    }),
  )
  return {
    child,
    type: keys => void child.stdin!.write(keys),
    press: async keys => {
      for (const key of keys) {
        const before = raw.length
        child.stdin!.write(key)
        for (let waited = 0; waited < 40 && !(raw.length > before && waited > 0); waited += 1)
          await new Promise(resolve => setTimeout(resolve, 25))
      }
    },
    screen,
    async see(text, withinMs = 15_000) {
      const deadline = Date.now() + withinMs
      for (;;) {
        const rest = screen().slice(seen)
        const found = typeof text === 'string' ? rest.indexOf(text) : rest.search(text)
        if (found >= 0) {
          const length = typeof text === 'string' ? text.length : (text.exec(rest)?.[0].length ?? 0)
          seen += found + length
          return rest.slice(0, found + length)
        }
        if (ended || Date.now() > deadline) throw new Error(`${String(text)} did not come; the screen:\n${screen()}`)
        await new Promise<void>(resolve => {
          const timer = setTimeout(resolve, 200)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
    },
    exit,
  }
}
