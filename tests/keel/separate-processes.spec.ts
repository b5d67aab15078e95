import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { repository } from '../support/repository.ts'

const main = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts')

describe('verbs in processes of their own', () => {
  it('load what they need themselves: a symbol is acknowledged although the check before it left nothing in memory', () => {
    const repo = repository()
    // biome-ignore lint/suspicious/noExplicitAny: a test names the fields that matter
    const keel = (...args: string[]): any => {
      try {
        const out = execFileSync(process.execPath, [main, 'keel', ...args, '--json'], {
          cwd: repo.root,
          env: repo.env,
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'pipe'],
        })
        return JSON.parse(out)
      } catch (error) {
        return JSON.parse((error as { stdout: string }).stdout)
      }
    }
    repo.write('job.ts', 'export function job() { return 1 }\n')
    repo.write('d.md', '---\nsources:\n  - job.ts#job\n---\n')
    expect(keel('stamp').stamped).toHaveLength(1)
    repo.write('job.ts', 'export function job() { return 2 }\n')
    expect(keel('check').suspects).toHaveLength(1)
    expect(keel('ok', 'd.md', '--reason', 'a number')).toMatchObject({ acked: [{ source: 'job.ts#job' }], written: ['d.md'] })
    expect(keel('check').verdict).toBe('clean')
    repo.write('job.ts', 'export function job() { return 3 }\n')
    expect(keel('diff', 'd.md').edges).toMatchObject([{ diff: { status: 'ok', basis: 'baseline' } }])
  })
})
