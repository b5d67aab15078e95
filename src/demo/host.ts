/**
 * The real DSH host for a demonstration or a test: where it is, the environment it runs in, and how our
 * package gets into a profile. Every run has a DSH home of its own, a made-up key and a loopback model;
 * nothing here reads or writes a person's DSH home.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hostPackage, launcherPath } from '../dsh/launcher.ts'
import { OutriggerError } from '../errors.ts'

const here = dirname(fileURLToPath(import.meta.url))

/** Root of the installed package: the nearest folder above this file with our `package.json`. */
export function packageRoot(): string {
  let folder = here
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder)
    if (parent === folder)
      throw new OutriggerError('DEMO_NO_PACKAGE', 'no package.json above the demo', { exit: 3, subject: here })
    folder = parent
  }
  return folder
}

/**
 * The launcher's program: `DSH_BIN`, else the `@deepseek-ai/dsh` that is installed with the package or in
 * the current folder.
 *
 * @throws `DEMO_NO_HOST` (exit 3) when there is none.
 */
export function findHost(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const named = env.DSH_BIN
  if (named !== undefined && named !== '') {
    if (existsSync(named)) return resolve(named)
    throw new OutriggerError('DEMO_NO_HOST', `DSH_BIN names no file: ${named}`, {
      subject: named,
      hint: 'point DSH_BIN at the lib/bin.js of an installed @deepseek-ai/dsh, or unset it',
      exit: 3,
    })
  }
  for (const folder of [packageRoot(), process.cwd()]) {
    const manifest = resolvedFrom(folder, `${hostPackage}/package.json`)
    if (manifest !== undefined) return join(dirname(manifest), launcherPath)
  }
  throw new OutriggerError('DEMO_NO_HOST', 'the DSH host (@deepseek-ai/dsh) is not installed here', {
    hint: 'run `npm start` in a clone of Outrigger, which brings it along, or set DSH_BIN to the lib/bin.js of an installed one',
    exit: 3,
  })
}

function resolvedFrom(folder: string, specifier: string): string | undefined {
  try {
    return createRequire(join(folder, 'x.js')).resolve(specifier)
  } catch {
    return undefined // not installed there
  }
}

/**
 * The whole environment of a host process that talks to the model at `modelUrl`.
 *
 * The host leaves folders in TMPDIR after a run; below its home they go when the home goes.
 */
export function hostEnvironment(
  home: string,
  modelUrl: string,
  extra: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const userHome = join(home, 'user-home')
  const temporary = join(home, 'tmp')
  for (const folder of [userHome, temporary]) mkdirSync(folder, { recursive: true })
  return {
    PATH: searchPath(),
    TMPDIR: temporary,
    LANG: 'C.UTF-8',
    HOME: userHome,
    XDG_CONFIG_HOME: join(userHome, '.config'),
    XDG_STATE_HOME: join(userHome, '.local', 'state'),
    XDG_CACHE_HOME: join(userHome, '.cache'),
    GIT_CONFIG_NOSYSTEM: '1',
    DSH_HOME: home,
    DSH_TELEMETRY_DISABLED: '1',
    DEEPSEEK_API_KEY: 'sk-made-up-local-key',
    DEEPSEEK_BASE_URL: modelUrl,
    ...(process.env.DSH_PERMISSION_MODE !== undefined && { DSH_PERMISSION_MODE: process.env.DSH_PERMISSION_MODE }),
    ...extra,
  }
}

/** PATH with the pnpm that a clone brings along and the Node that runs this first: the host's `plugin add` runs pnpm. */
function searchPath(): string {
  const brought = join(packageRoot(), '.tools', 'node_modules', '.bin')
  return [dirname(process.execPath), ...(existsSync(brought) ? [brought] : []), process.env.PATH ?? ''].join(delimiter)
}

/**
 * Pack a package folder.
 *
 * @param into - an existing or new folder for the tarball.
 * @returns the tarball's absolute path.
 */
export async function packPackage(folder: string, into: string): Promise<string> {
  mkdirSync(into, { recursive: true })
  const { stdout } = await runProgram(
    'npm',
    ['pack', '--silent', '--ignore-scripts', '--offline', '--no-update-notifier', '--pack-destination', into],
    {
      cwd: folder,
    },
  )
  return join(into, stdout.trim().split('\n').at(-1) ?? '')
}

/**
 * Add a tarball to a profile of `home`, as a person would. Nothing is fetched: our package brings its libraries along and the
 * host has its own. A tarball whose content changed needs a new version: pnpm keeps the old content of an old one.
 */
export async function addPlugin(host: string, home: string, profile: string, tarball: string): Promise<void> {
  const installer = join(dirname(home), 'installer-home')
  mkdirSync(installer, { recursive: true })
  await runProgram(process.execPath, [host, 'plugin', '--profile', profile, 'add', tarball], {
    env: {
      PATH: searchPath(),
      LANG: 'C.UTF-8',
      // pnpm's store goes here and away with it; the person's own is neither read nor filled.
      HOME: installer,
      DSH_HOME: home,
      DSH_TELEMETRY_DISABLED: '1',
      CI: '1',
      pnpm_config_offline: 'true',
      pnpm_config_update_notifier: 'false',
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
    },
  })
}

export interface Ran {
  /** The exit code, or the signal that ended it. */
  readonly code: number | string
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly timeoutMs?: number
  onStart?(pid: number): void
}

/** Run a program to its end, whatever its exit code; it is killed after `timeoutMs` (60,000). */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return new Promise((done, fail) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      env: options.env ?? process.env,
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', data => {
      stdout += data
    })
    child.stderr.on('data', data => {
      stderr += data
    })
    const deadline = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs ?? 60_000)
    child.on('error', fail)
    child.on('close', (code, signal) => {
      clearTimeout(deadline)
      done({ code: code ?? signal ?? 'unknown', stdout, stderr })
    })
    if (child.pid !== undefined) options.onStart?.(child.pid)
  })
}

/** Run a program that must succeed. @throws `DEMO_STEP_FAILED` with its output. */
export async function runProgram(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const ran = await run(command, args, options).catch((cause: unknown) => {
    throw new OutriggerError('DEMO_STEP_FAILED', `${command} cannot be started`, {
      subject: command,
      hint: `install ${command} or put it on PATH`,
      exit: 3,
      cause,
    })
  })
  if (ran.code === 0) return ran
  throw new OutriggerError(
    'DEMO_STEP_FAILED',
    `${command} ${args.join(' ')} ended with ${ran.code}\n${ran.stdout}${ran.stderr}`,
    {
      subject: command,
      hint: 'read the output above',
      exit: 3,
    },
  )
}

export interface HostRun extends Ran {
  readonly wallMs: number
}

/** One task for the headless profile: exit code 0 exactly when the turn ended `completed`. */
export async function runHeadless(options: {
  readonly host: string
  readonly home: string
  readonly cwd: string
  readonly modelUrl: string
  readonly task: string
  readonly patches?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  onStart?(pid: number): void
}): Promise<HostRun> {
  const started = performance.now()
  const patches = (options.patches ?? []).flatMap(patch => ['--patch', resolve(patch)])
  const ran = await run(process.execPath, [options.host, '--profile', 'headless', ...patches, options.task], {
    cwd: options.cwd,
    env: hostEnvironment(options.home, options.modelUrl, options.env),
    timeoutMs: options.timeoutMs ?? 60_000,
    ...(options.onStart !== undefined && { onStart: options.onStart }),
  })
  return { ...ran, wallMs: Math.round(performance.now() - started) }
}
