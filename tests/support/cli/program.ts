/** The program as it ships: bundled once a run, started as a process of its own, in a throwaway home. */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { buildWorker } from '../../../scripts/build-worker.mjs'
import { onceARun } from '../once.ts'

export interface Program {
  /** The file to start with node. */
  readonly main: string
  /** A new folder with these files, removed with the program. */
  folder(files?: Readonly<Record<string, string>>): string
  /** The environment of its processes: a home of its own, nothing of who runs the tests. */
  readonly env: Readonly<Record<string, string>>
  run(cwd: string, args: readonly string[], options?: RunProgramOptions): Promise<Finished>
  remove(): void
}

export interface RunProgramOptions {
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
  /** Sent when this text has come on stdout, or after so many ms. */
  readonly signal?: { readonly after: string | number; readonly signal: 'SIGINT' | 'SIGTERM' }
  /** Nobody reads after the first piece of output. */
  readonly closeStdout?: boolean
}

export interface Finished {
  readonly code: number | null
  readonly out: string
  readonly err: string
  readonly ms: number
}

const root = join(import.meta.dirname, '..', '..', '..')

export async function buildProgram(): Promise<Program> {
  const main = join(await onceARun('program', buildInto), 'dist/cli/main.mjs')
  const base = mkdtempSync(join(tmpdir(), 'outrigger-program-'))
  const home = join(base, 'home')
  mkdirSync(home)
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_STATE_HOME: join(home, '.local/state'),
    GIT_CONFIG_NOSYSTEM: '1',
    LANG: 'C.UTF-8',
  }
  let made = 0
  return {
    main,
    env,
    folder(files = {}) {
      const folder = join(base, `project-${++made}`)
      mkdirSync(folder)
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true })
        writeFileSync(join(folder, path), text)
      }
      return folder
    },
    run: (cwd, args, options = {}) => runProcess(main, cwd, args, { ...options, env: { ...env, ...options.env } }),
    remove: () => rmSync(base, { recursive: true, force: true }),
  }
}

async function buildInto(folder: string): Promise<void> {
  const manifest = readFileSync(join(root, 'package.json'), 'utf8')
  writeFileSync(join(folder, 'package.json'), manifest)
  const { version } = JSON.parse(manifest) as { version: string }
  await build({
    absWorkingDir: root,
    entryPoints: [{ in: 'src/cli/main.ts', out: 'cli/main' }],
    outdir: join(folder, 'dist'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.19',
    external: ['@deepseek-ai/*'],
    outExtension: { '.js': '.mjs' },
    logLevel: 'warning',
    banner: {
      js: "import { createRequire as __outriggerRequire } from 'node:module'; const require = __outriggerRequire(import.meta.url);",
    },
    define: { __OUTRIGGER_VERSION__: JSON.stringify(version) },
  })
  await buildWorker(join(folder, 'dist/repl'))
}

function runProcess(main: string, cwd: string, args: readonly string[], options: RunProgramOptions): Promise<Finished> {
  const began = performance.now()
  const child = spawn(process.execPath, [main, ...args], { cwd, env: options.env, stdio: ['pipe', 'pipe', 'pipe'] })
  let out = ''
  let err = ''
  let isSignalled = false
  const { after, signal } = options.signal ?? {}
  const timer = typeof after === 'number' ? setTimeout(() => child.kill(signal), after) : undefined
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    out += piece
    if (options.closeStdout) child.stdout.destroy()
    if (typeof after === 'string' && !isSignalled && out.includes(after)) {
      isSignalled = true
      child.kill(signal)
    }
  })
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (err += piece))
  // A program that leaves without reading closes the pipe under us.
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.stdin ?? '')
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => {
      clearTimeout(timer)
      resolve({ code, out, err, ms: performance.now() - began })
    })
  })
}
