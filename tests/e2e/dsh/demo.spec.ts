/** The demonstration as a person runs it, and what it says when it cannot. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { packageRoot, run } from '../../../src/demo/host.ts'

vi.setConfig({ testTimeout: 180_000 })

const demo = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  run(process.execPath, [join(packageRoot(), 'dist', 'cli', 'main.js'), 'demo', ...args], {
    env: { ...process.env, ...env },
    timeoutMs: 170_000,
  })

it('shows what it promises, part by part, and leaves nothing behind', async () => {
  const temporary = mkdtempSync(join(tmpdir(), 'o-'))
  onTestFinished(() => rmSync(temporary, { recursive: true, force: true, maxRetries: 3 }))
  const { code, stdout, stderr } = await demo(['--json'], { TMPDIR: temporary })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const document = JSON.parse(stdout)
  expect(document).toMatchObject({
    schema: 'outrigger.demo/1',
    ok: true,
    parts: [
      { name: 'keel', ok: true },
      { name: 'repl', ok: true },
      { name: 'companion', ok: true },
      { name: 'pack', ok: true },
      { name: 'next', ok: true },
    ],
  })
  expect(document.parts[0].checks.length).toBeGreaterThanOrEqual(13)
  expect(document.parts[1].checks.length).toBeGreaterThanOrEqual(8)
  expect(readdirSync(temporary).filter(name => name.startsWith('outrigger-'))).toEqual([])
})

it('without a host says which way out there is', async () => {
  const { code, stdout } = await demo(['--json'], { DSH_BIN: '/nowhere/bin.js' })
  expect(code).toBe(3)
  expect(JSON.parse(stdout)).toMatchObject({
    schema: 'outrigger.error/1',
    error: { code: 'DEMO_NO_HOST', subject: '/nowhere/bin.js' },
  })
  expect(JSON.parse(stdout).error.hint).toContain('DSH_BIN')
})
