/**
 * The tools that the two commands bring along: a Node that Outrigger runs on and pnpm, both from
 * npm, in `.tools/`. Runs on any Node from 20 on, needs nothing installed, and does nothing when
 * the machine's own are new enough or `.tools` already has the pinned ones.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
export const NODE_VERSION = '24.21.0'
const PNPM_VERSION = '11.28.11'
const tools = join(root, '.tools')
const windows = process.platform === 'win32'

export const say = line => process.stderr.write(`outrigger setup: ${line}\n`)

/** Stop with what failed and what to do about it. */
export function fail(what, hint) {
  say(what)
  say(`what to do: ${hint}`)
  process.exit(3)
}

const runsOutrigger = version => {
  const [major, minor] = version.replace(/^v/, '').split('.').map(Number)
  return (major === 22 && minor >= 19) || major >= 24
}

const versionOf = (command, args = ['--version']) => {
  const result = spawnSync(command, args, { encoding: 'utf8', shell: windows })
  return result.status === 0 ? result.stdout.trim() : undefined
}

/** The environment of every step: the brought tools first on PATH. */
export function environment(extra = {}) {
  const paths = [
    dirname(nodeProgram()),
    join(tools, 'node_modules', '.bin'),
    join(root, 'node_modules', '.bin'),
    process.env.PATH ?? '',
  ]
  return { ...process.env, PATH: paths.join(delimiter), ...extra }
}

/** The Node that runs everything after set-up. */
export function nodeProgram() {
  if (runsOutrigger(process.version)) return process.execPath
  return join(tools, 'node_modules', 'node', 'bin', windows ? 'node.exe' : 'node')
}

function ensureTools() {
  const packages = []
  if (!runsOutrigger(process.version) && versionOf(nodeProgram()) !== `v${NODE_VERSION}`) packages.push(`node@${NODE_VERSION}`)
  const pnpm = join(tools, 'node_modules', 'pnpm', 'package.json')
  if (!existsSync(pnpm) || JSON.parse(readFileSync(pnpm, 'utf8')).version !== PNPM_VERSION) packages.push(`pnpm@${PNPM_VERSION}`)
  if (packages.length === 0) return
  say(`bringing ${packages.join(' and ')} from npm into .tools (once)`)
  mkdirSync(tools, { recursive: true })
  if (!existsSync(join(tools, 'package.json'))) writeFileSync(join(tools, 'package.json'), '{"private":true}\n')
  const result = spawnSync(
    'npm',
    ['install', '--no-audit', '--no-fund', '--loglevel', 'error', '--fetch-retries', '1', '--prefix', tools, ...packages],
    {
      cwd: tools,
      encoding: 'utf8',
      shell: windows,
    },
  )
  if (result.status !== 0) {
    process.stderr.write(result.stderr ?? '')
    fail(
      'npm could not install the tools',
      'check that `npm ping` answers (a proxy or registry setting may be missing), then run the command again',
    )
  }
  if (!runsOutrigger(process.version) && versionOf(nodeProgram()) !== `v${NODE_VERSION}`)
    fail(`the Node ${NODE_VERSION} that npm installed does not run here`, 'install Node 24 yourself and run the command with it')
}

const stampFile = name => join(tools, `${name}.stamp`)
const isCurrent = (name, stamp) => existsSync(stampFile(name)) && readFileSync(stampFile(name), 'utf8') === stamp
const mark = (name, stamp) => {
  mkdirSync(tools, { recursive: true })
  writeFileSync(stampFile(name), stamp)
}

function ensurePackages() {
  const hash = createHash('sha256')
  for (const file of ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml']) hash.update(readFileSync(join(root, file)))
  const stamp = hash.digest('hex')
  if (isCurrent('packages', stamp) && existsSync(join(root, 'node_modules', '.modules.yaml'))) return
  say('installing the packages of pnpm-lock.yaml, the DSH host among them (about half a minute the first time)')
  const result = spawnSync(
    nodeProgram(),
    [join(tools, 'node_modules', 'pnpm', 'bin', 'pnpm.mjs'), 'install', '--frozen-lockfile'],
    {
      cwd: root,
      env: environment({ CI: '1' }),
      encoding: 'utf8',
    },
  )
  if (result.status !== 0) {
    process.stderr.write(result.stdout + result.stderr)
    fail(
      'pnpm could not install the packages',
      'read the lines above; when node_modules was made by another program, remove it and run the command again',
    )
  }
  mark('packages', stamp)
}

/** Newest modification below the given files and folders, and how many files there are: the build's stamp. */
function sourceStamp() {
  let newest = 0
  let count = 0
  const visit = path => {
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat === undefined) return
    if (stat.isDirectory()) for (const name of readdirSync(path)) visit(join(path, name))
    else {
      count++
      newest = Math.max(newest, stat.mtimeMs)
    }
  }
  for (const path of ['src', 'scripts', 'package.json', 'tsconfig.json', 'tsconfig.types.json', 'pnpm-lock.yaml'])
    visit(join(root, path))
  return `${count} ${newest}`
}

/** Run a step in the project with the brought tools; its exit code. */
export function step(args, options = {}) {
  const result = spawnSync(nodeProgram(), args, { cwd: root, stdio: 'inherit', env: environment(options.env) })
  if (result.error) throw result.error
  return result.status ?? 1
}

export function build() {
  const code = step(['scripts/build.mjs'])
  if (code !== 0) fail('the build failed', 'read the lines above')
  mark('build', sourceStamp())
}

/** Tools, packages and an up-to-date `dist/`. Silent and quick when nothing is to do. */
export function ensureAll() {
  ensureTools()
  ensurePackages()
  if (!isCurrent('build', sourceStamp()) || !existsSync(join(root, 'dist', 'cli', 'main.js'))) {
    say('building dist/')
    build()
  }
}
