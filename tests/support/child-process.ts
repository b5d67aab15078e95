/** A module of ours in a process of its own, for tests of several processes and of kills. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'

export interface Child {
  readonly process: ChildProcessByStdio<null, Readable, Readable>
  /** Everything it printed so far. */
  output(): string
  errors(): string
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
}

/** Absolute URL of a file below `src`. */
export function sourceUrl(path: string): string {
  return new URL(`../../src/${path}`, import.meta.url).href
}

/** @param program - text of an ES module; arguments are `process.argv.slice(1)`. */
export function runModule(program: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = process.env): Child {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
  return {
    process: child,
    output: () => Buffer.concat(out).toString('utf8'),
    errors: () => Buffer.concat(err).toString('utf8'),
    ended: new Promise(resolve => child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'))),
  }
}
