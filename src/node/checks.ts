/** The condition of a loop: a command that a person typed, run by the shell in the project's root. */
import { spawn } from 'node:child_process'
import type { ActionOf } from '../session/actions.ts'

export interface CheckResult {
  /** `null`: it could not start, or was ended. */
  readonly exit: number | null
  readonly timedOut: boolean
  /** The end of what it printed. */
  readonly output: string
}

export interface Checks {
  run(action: ActionOf<'run-check'>, root: string, done: (result: CheckResult) => void): void
  cancel(check: string): void
  endAll(): void
}

const maxOutput = 16_384

export function createChecks(env: NodeJS.ProcessEnv = process.env): Checks {
  const running = new Map<string, () => void>()

  const run = ({ check, command, timeoutMs }: ActionOf<'run-check'>, root: string, done: (result: CheckResult) => void): void => {
    const isWindows = process.platform === 'win32'
    // A group of its own, so that what the command started ends with it.
    const child = spawn(command, {
      cwd: root,
      env,
      shell: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: !isWindows,
      windowsHide: true,
    })
    let output = ''
    let isOver = false
    const stop = (): void => {
      try {
        if (child.pid !== undefined && !isWindows) process.kill(-child.pid, 'SIGKILL')
        else child.kill('SIGKILL')
      } catch {
        // It ended by itself.
      }
    }
    const finish = (result: Omit<CheckResult, 'output'>): void => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      running.delete(check)
      done({ ...result, output })
    }
    const timer = setTimeout(() => {
      stop()
      finish({ exit: null, timedOut: true })
    }, timeoutMs)
    running.set(check, () => {
      isOver = true
      clearTimeout(timer)
      running.delete(check)
      stop()
    })
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', chunk => {
        output = `${output}${String(chunk)}`.slice(-maxOutput)
      })
    child.once('error', () => finish({ exit: null, timedOut: false }))
    child.once('close', code => finish({ exit: code ?? 1, timedOut: false }))
  }

  return {
    run,
    cancel: check => running.get(check)?.(),
    endAll: () => {
      for (const stop of [...running.values()]) stop()
    },
  }
}
