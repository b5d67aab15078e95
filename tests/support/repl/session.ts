/** A session on real workers, its journal in memory. */
import { readFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { createFindMatches } from '../../../src/node/find-matches.ts'
import { nodeWorkers } from '../../../src/node/worker-process.ts'
import type { Store } from '../../../src/ports/store.ts'
import type { Workers } from '../../../src/ports/worker.ts'
import { openSession, type SessionOptions } from '../../../src/repl/session.ts'
import { defaultReplConfig, type ReplConfig, type ReplSession, type RunOptions, type RunResult } from '../../../src/repl/types.ts'
import { memoryStore } from '../memory-store.ts'
import { temporaryFolder } from '../temporary.ts'

export interface TestSession {
  readonly session: ReplSession
  readonly store: Store
  readonly cwd: string
  run(code: string, options?: RunOptions): Promise<RunResult>
  /** One after the other; the last answer. */
  cells(...codes: readonly string[]): Promise<RunResult>
}

export interface TestSessionOptions {
  readonly config?: Partial<ReplConfig>
  readonly store?: Store
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly workers?: Workers
  readonly owner?: string
  readonly more?: Partial<SessionOptions>
}

export async function startSession(options: TestSessionOptions = {}): Promise<TestSession> {
  const cwd = options.cwd ?? temporaryFolder()
  const store = options.store ?? memoryStore()
  const session = await openSession({
    name: 'test',
    cwd,
    store,
    workers: options.workers ?? nodeWorkers(),
    clock: { now: () => Date.now(), newId: () => '', randomHex: digits => '0'.repeat(digits) },
    owner: options.owner ?? `${process.pid}:boot:0`,
    config: { ...defaultReplConfig, ...options.config },
    env: { PATH: process.env['PATH'] ?? '', HOME: cwd, ...options.env },
    platform: { node: '', v8: '', icu: '', platform: '', arch: '', tz: '', lang: '' },
    legacyDecorators: false,
    findMatches: createFindMatches(),
    mask: text => text,
    isTimeFixed: false,
    ...options.more,
  })
  onTestFinished(() => session.close())
  return {
    session,
    store,
    cwd,
    run: (code, more) => session.run(code, more),
    async cells(...codes) {
      let last: RunResult | undefined
      for (const code of codes) last = await session.run(code)
      return last!
    },
  }
}

export const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

/** A process that has ended and that nobody has asked about is not alive. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return !/^[ZX]$/.test(stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3))
  } catch {
    return false
  }
}
