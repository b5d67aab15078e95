/**
 * Worker processes on the real machine. Channel: descriptor 3 towards the worker, 4 from it, two socket pairs that only these two processes hold.
 * The worker leads a process group of its own: a Ctrl-C in the terminal does not reach it by itself, and what its cells started ends with it.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { WorkerEnd, WorkerListener, WorkerProcess, WorkerStart, Workers } from '../ports/worker.ts'
import { workerProgram } from './worker-program.ts'

const hasProc = process.platform === 'linux'
const hasGroups = process.platform !== 'win32'
const pageBytes = 4096

/** @param program - the built worker; default: the one of this package. */
export function nodeWorkers(program?: string): Workers {
  return { start: (options, listener) => startWorker(program ?? workerProgram(), options, listener) }
}

function startWorker(program: string, { cwd, env, heapMb }: WorkerStart, listener: WorkerListener): WorkerProcess {
  const folder = mkdtempSync(join(tmpdir(), 'outrigger-repl-'))
  const child = spawn(process.execPath, [`--max-old-space-size=${heapMb}`, '--disable-warning=ExperimentalWarning', program], {
    cwd,
    env: { ...env, TMPDIR: folder, TMP: folder, TEMP: folder },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    detached: hasGroups,
    windowsHide: true,
  })
  const input = child.stdio[3] as Writable
  const channel = child.stdio[4] as Readable
  let guardProcess: ChildProcess | undefined
  let ended = false

  channel.on('data', (bytes: Buffer) => listener.onBytes(bytes))
  child.stdout!.on('data', (bytes: Buffer) => listener.onOutput('stdout', bytes))
  child.stderr!.on('data', (bytes: Buffer) => listener.onOutput('stderr', bytes))
  // A worker that is gone is told by `end` alone.
  for (const stream of [input, channel, child.stdout!, child.stderr!]) stream.on('error', () => {})

  const end = (how: WorkerEnd): void => {
    if (ended) return
    ended = true
    guardProcess?.kill('SIGKILL')
    signal(-child.pid!, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 2 })
    listener.onEnd(how)
  }
  child.once('error', (error: NodeJS.ErrnoException) => end({ code: null, signal: null, failed: error.code ?? 'UNKNOWN' }))
  child.once('exit', (code, how) => {
    // What it started can hold the pipes open; nobody waits for that.
    signal(-child.pid!, 'SIGKILL')
    const stuck = setTimeout(() => {
      for (const stream of [channel, child.stdout!, child.stderr!]) stream.destroy()
    }, 200)
    child.once('close', () => {
      clearTimeout(stuck)
      end({ code, signal: how })
    })
  })

  function signal(pid: number, name: 'SIGKILL' | 'SIGINT'): void {
    if (pid === 0 || Number.isNaN(pid) || (pid < 0 && !hasGroups)) return
    try {
      process.kill(pid, name)
    } catch {
      // Gone already.
    }
  }

  return {
    pid: child.pid ?? 0,
    send: bytes => {
      if (!ended && !input.destroyed) input.write(bytes)
    },
    interrupt: () => {
      if (!ended && hasGroups && child.pid !== undefined) signal(child.pid, 'SIGINT')
    },
    kill: () => {
      if (ended || child.pid === undefined) return
      signal(-child.pid, 'SIGKILL')
      child.kill('SIGKILL')
    },
    killAlone: () => {
      if (!ended) child.kill('SIGKILL')
    },
    close: () => input.end(),
    residentMb: () => {
      if (ended || !hasProc || child.pid === undefined) return undefined
      try {
        return (Number(readFileSync(`/proc/${child.pid}/statm`, 'latin1').split(' ')[1]) * pageBytes) / 1024 / 1024
      } catch {
        return undefined
      }
    },
    guard: () => {
      if (guardProcess !== undefined || ended || !hasGroups || child.pid === undefined) return
      // Waits for the end of a pipe that this process holds. A worker in a loop cannot notice the end of its own.
      guardProcess = spawn(
        '/bin/sh',
        ['-c', 'read _; kill -9 "-$1" 2>/dev/null; rm -rf -- "$2"', 'sh', String(child.pid), folder],
        {
          stdio: ['pipe', 'ignore', 'ignore'],
          detached: true,
        },
      )
      guardProcess.on('error', () => {})
      guardProcess.stdin?.on('error', () => {})
      guardProcess.unref()
      ;(guardProcess.stdin as unknown as { unref?(): void })?.unref?.()
    },
  }
}
