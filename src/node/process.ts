/** Other programs, run to their end without a shell, and the identity of this process. */
import { spawn } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { OutriggerError } from '../errors.ts'
import type { Processes, RunResult } from '../ports/process.ts'
import { isOwnerAlive, ownerId } from './boot.ts'

export type ProgramEnvironment = Readonly<Record<string, string | undefined>>

export interface ProgramOptions {
  readonly cwd: string
  readonly timeoutMs: number
  readonly input?: Uint8Array
  /** More output ends the program as the time limit does: what came so far is the answer. */
  readonly maxBytes?: number
  /** The whole environment of the program. */
  readonly env: ProgramEnvironment
}

/** @param base - what a program's environment starts from; `options.env` of a call is laid over it. */
export function nodeProcesses(base: ProgramEnvironment = process.env): Processes {
  return {
    run: (program, args, options) => runProgram(program, args, { ...options, env: { ...base, ...options.env } }),
    owner: ownerId,
    isAlive: isOwnerAlive,
  }
}

/** Rejects with `PROCESS_NOT_FOUND` when there is no such program, `PROCESS_FAILED` when it cannot be started. */
export function runProgram(program: string, args: readonly string[], options: ProgramOptions): Promise<RunResult> {
  const found = findProgram(program, options.env)
  if (found === undefined) return Promise.reject(notFound(program))
  return new Promise((resolve, reject) => {
    const child = spawn(found, args, {
      cwd: options.cwd,
      env: options.env as NodeJS.ProcessEnv,
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      windowsHide: true,
    })
    const stdout: Buffer[] = []
    const stderr: Buffer[] = []
    let timedOut = false
    let size = 0
    const stop = () => {
      timedOut = true
      child.kill('SIGKILL')
      // A grandchild can hold the pipes open after the program is gone.
      child.stdout?.destroy()
      child.stderr?.destroy()
    }
    const timer = setTimeout(stop, options.timeoutMs)
    child.stdout?.on('data', (chunk: Buffer) => {
      if (timedOut) return
      stdout.push(chunk)
      size += chunk.length
      if (options.maxBytes !== undefined && size > options.maxBytes) stop()
    })
    child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk))
    child.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      reject(isMissing(program, error, options) ? notFound(program, error) : failed(program, error))
    })
    child.once('close', code => {
      clearTimeout(timer)
      resolve({
        exit: timedOut ? null : code,
        stdout: Buffer.concat(stdout),
        stderr: Buffer.concat(stderr).toString('utf8'),
        timedOut,
      })
    })
    if (options.input !== undefined) {
      // The program may end without reading all of it.
      child.stdin?.on('error', () => {})
      child.stdin?.end(options.input)
    }
  })
}

/**
 * Windows looks into the current folder before the path: a `git.exe` in a project would be run. So the
 * program is looked up in the path alone; other systems do that themselves.
 */
function findProgram(program: string, env: ProgramEnvironment): string | undefined {
  if (process.platform !== 'win32' || isAbsolute(program)) return program
  const path = Object.entries(env).find(([name]) => name.toUpperCase() === 'PATH')?.[1] ?? ''
  const names = /\.(exe|com)$/i.test(program) ? [program] : [`${program}.exe`, `${program}.com`]
  return path
    .split(delimiter)
    .filter(folder => isAbsolute(folder))
    .flatMap(folder => names.map(name => join(folder, name)))
    .find(isExecutable)
}

/** A folder that is not there reports the same code as a program that is not; a folder of the path that may not be read, EACCES. */
function isMissing(program: string, error: NodeJS.ErrnoException, options: ProgramOptions): boolean {
  if (error.code === 'ENOENT') return isExecutable(options.cwd)
  if (error.code !== 'EACCES' || program.includes('/') || !isExecutable(options.cwd)) return false
  return !(options.env['PATH'] ?? '').split(delimiter).some(folder => isFile(join(folder, program)))
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function notFound(program: string, cause?: unknown): OutriggerError {
  return new OutriggerError('PROCESS_NOT_FOUND', `there is no program "${program}" on the path`, {
    subject: program,
    hint: `install ${program} or add its folder to PATH`,
    exit: 3,
    cause,
  })
}

function failed(program: string, cause: NodeJS.ErrnoException): OutriggerError {
  return new OutriggerError('PROCESS_FAILED', `${program} could not be started (${cause.code ?? cause.message})`, {
    subject: program,
    hint: 'check that the program can be run and that the folder is there',
    exit: 3,
    cause,
  })
}
