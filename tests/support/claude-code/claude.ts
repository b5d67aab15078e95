/**
 * The real `claude` program with our plugin, without a network and without an account: installed by npm into a cache of the
 * user, never into the repository; a home, a configuration and a model of its own for each test.
 */
import { execFile, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { buildClaudeCode } from '../../../scripts/build-claude-code.mjs'
import { onceARun } from '../once.ts'
import { type FakeApi, startFakeApi } from './fake-api.ts'

const run = promisify(execFile)
const installMs = 100_000

/** The program of this version, or why it cannot be had. */
export async function claudeProgram(version: string): Promise<{ readonly bin: string } | { readonly missing: string }> {
  const given = process.env['CLAUDE_BIN']
  if (given !== undefined && given !== '') return { bin: given }
  const folder = join(homedir(), '.cache', 'outrigger-tests', `claude-code-${version}`)
  // The native program itself: the wrapper beside it wants an install script.
  const bin = join(folder, 'node_modules', '@anthropic-ai', `claude-code-${process.platform}-${process.arch}`, 'claude')
  try {
    await onceARun(`claude-code-${version}`, async () => {
      if (!existsSync(bin)) await install(version, folder)
    })
    return existsSync(bin) ? { bin } : { missing: 'npm brought no program' }
  } catch (error) {
    return { missing: `npm could not install it: ${String((error as Error).message).split('\n', 1)[0]}` }
  }
}

/** Beside, and moved into place when it is whole: a program that is half there starts and dies. */
async function install(version: string, folder: string): Promise<void> {
  const beside = `${folder}.${process.pid}`
  try {
    mkdirSync(beside, { recursive: true })
    writeFileSync(join(beside, 'package.json'), '{"private":true}\n')
    const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', `@anthropic-ai/claude-code@${version}`]
    await run('npm', args, { cwd: beside, timeout: installMs })
    rmSync(folder, { recursive: true, force: true })
    renameSync(beside, folder)
  } finally {
    rmSync(beside, { recursive: true, force: true })
  }
}

export interface Claude {
  readonly api: FakeApi
  readonly home: string
  /** The plugin as it ships, in a folder outside of the repository. */
  readonly plugin: string
  readonly env: Readonly<Record<string, string>>
  /** A new folder with these files. */
  folder(files: Readonly<Record<string, string>>): string
  /** The program with these arguments; rejects on another exit than 0. */
  command(cwd: string, args: readonly string[]): Promise<string>
  /** Our own program out of the plugin. */
  outrigger(cwd: string, args: readonly string[]): Promise<string>
  /** One session: each prompt when the one before has its result. Answers the results' texts. */
  session(cwd: string, prompts: readonly (string | (() => string))[], options?: SessionOptions): Promise<readonly string[]>
  close(): Promise<void>
}

export interface SessionOptions {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

export async function startClaude(bin: string): Promise<Claude> {
  const base = mkdtempSync(join(tmpdir(), 'outrigger-claude-'))
  const api = await startFakeApi()
  const home = join(base, 'home')
  mkdirSync(home)
  const plugin = join(base, 'market', 'outrigger')
  const built = await onceARun('claude-code', folder => buildClaudeCode(folder, { version: '0.1.0' }).then(() => undefined))
  cpSync(built, plugin, { recursive: true })
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, '.claude'),
    LANG: 'C.UTF-8',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ANTHROPIC_BASE_URL: api.url,
    ANTHROPIC_API_KEY: 'made-up-local-key',
  }
  const folders: string[] = []
  const outrigger = async (cwd: string, args: readonly string[]): Promise<string> =>
    (await run(process.execPath, [join(plugin, 'bin/outrigger.mjs'), ...args], { cwd, env, timeout: 30_000 })).stdout
  return {
    api,
    home,
    plugin,
    env,
    folder(files) {
      const folder = mkdtempSync(join(base, 'project-'))
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true })
        writeFileSync(join(folder, path), text)
      }
      folders.push(folder)
      return folder
    },
    command: async (cwd, args) => (await run(bin, [...args], { cwd, env, timeout: 60_000 })).stdout,
    outrigger,
    session: (cwd, prompts, options = {}) => speak(bin, cwd, prompts, { ...env, ...options.env }, options.args ?? []),
    async close() {
      for (const folder of folders) await outrigger(folder, ['serve', '--stop']).catch(() => '')
      await api.close()
      rmSync(base, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

async function speak(
  bin: string,
  cwd: string,
  prompts: readonly (string | (() => string))[],
  env: Readonly<Record<string, string>>,
  more: readonly string[],
): Promise<readonly string[]> {
  const args = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose', ...more]
  const child = spawn(bin, args, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] })
  const left = [...prompts]
  const results: string[] = []
  const next = (): void => {
    const prompt = left.shift()
    if (prompt === undefined) {
      child.stdin.end()
      return
    }
    const text = typeof prompt === 'string' ? prompt : prompt()
    const message = { role: 'user', content: [{ type: 'text', text }] }
    child.stdin.write(`${JSON.stringify({ type: 'user', message })}\n`)
  }
  next()
  const ended = new Promise<void>((resolve, reject) => child.once('close', () => resolve()).once('error', reject))
  for await (const line of createInterface({ input: child.stdout })) {
    const row = JSON.parse(line) as { readonly type: string; readonly result?: string }
    if (row.type !== 'result') continue
    results.push(row.result ?? '')
    setTimeout(next, 200)
  }
  await ended
  return results
}
