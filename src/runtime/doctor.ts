/**
 * `outrigger doctor`: what works here, what works less well and what does not, each with a way out; and every
 * resolved setting with the place it came from. Looks, and makes nothing that is not there already.
 */
import { OutriggerError } from '../errors.ts'
import { exclusive } from '../keel/exclusive.ts'
import type { Files } from '../ports/files.ts'
import type { Json } from '../ports/json.ts'
import type { EngineName } from '../session/actions.ts'
import { decodeInput } from '../session/decode.ts'
import type { InputSchema, Operation } from '../session/operation.ts'
import { replConfig } from './config-repl.ts'
import { joinPath } from './places.ts'
import type { ConfigValue, LedgerRecord, Project } from './project.ts'
import { readSeam } from './repl-seam.ts'

export type CheckStatus = 'ok' | 'warn' | 'fail'

export interface DoctorCheck {
  readonly id: string
  readonly status: CheckStatus
  readonly text: string
  /** An action. */
  readonly hint?: string
}

export interface DoctorOutput {
  /** No check failed. */
  readonly ok: boolean
  readonly project: string
  readonly checks: readonly DoctorCheck[]
  readonly config: readonly ConfigValue[]
}

const input = { type: 'object', properties: {}, additionalProperties: false } as const satisfies InputSchema

/** How long a host may take to say its version. */
const hostTimeoutMs = 5_000
const sweepBudgetMs = 8_000

export function doctorOperation(project: Project): Operation<Record<string, never>, DoctorOutput> {
  return {
    name: 'doctor',
    summary: 'Checks this project, its configuration, store, engines and hosts, and shows every setting with its source.',
    input,
    readOnly: true,
    decode: value => decodeInput(input, value) as Record<string, never>,
    run: (_given, caller) => doctor(project, caller.progress.bind(caller)),
    render: doctorText,
    exitCode: output => (output.ok ? 0 : 1),
    examples: ['outrigger doctor', 'outrigger doctor --json --project ../docs'],
  }
}

async function doctor(project: Project, progress: (what: string, done: number, total: number) => void): Promise<DoctorOutput> {
  const parts: readonly (readonly [string, () => Promise<readonly DoctorCheck[]> | readonly DoctorCheck[]])[] = [
    ['node', () => [nodeCheck(project.system.nodeVersion)]],
    ['git', () => gitCheck(project)],
    ['config', () => configChecks(project)],
    ['store', () => storeChecks(project)],
    ['places', () => placeChecks(project)],
    ['engines', () => engineChecks(project)],
    ['serve', () => serveChecks(project)],
    ['hosts', () => hostChecks(project)],
    ['models', () => modelChecks(project)],
  ]
  const checks: DoctorCheck[] = []
  for (const [at, [id, run]] of parts.entries()) {
    progress('checking', at, parts.length)
    checks.push(...(await guarded(id, run)))
  }
  const modes = project.modes
    .list()
    .map(({ name, why }): DoctorCheck => ({ id: 'mode', status: 'warn', text: `${name}: ${why}` }))
  checks.push(...modes)
  return { ok: checks.every(check => check.status !== 'fail'), project: project.root, checks, config: configValues(project) }
}

/** One check that throws is that check's failure, not the end of doctor. */
async function guarded(
  id: string,
  run: () => Promise<readonly DoctorCheck[]> | readonly DoctorCheck[],
): Promise<readonly DoctorCheck[]> {
  try {
    return await run()
  } catch (error) {
    return [failure(id, error)]
  }
}

function failure(id: string, error: unknown): DoctorCheck {
  const text = error instanceof Error ? error.message : String(error)
  const hint = error instanceof OutriggerError ? `${error.code}: ${error.hint ?? 'see the message'}` : 'report it with this text'
  return { id, status: 'fail', text, hint }
}

function nodeCheck(version: string): DoctorCheck {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major >= 24 || (major === 22 && minor >= 19)) return { id: 'node', status: 'ok', text: `Node ${version}` }
  return {
    id: 'node',
    status: 'fail',
    text: `Node ${version} is not supported`,
    hint: 'use Node 22.19 or later of 22, or 24 and later',
  }
}

async function gitCheck({ git, root }: Project): Promise<readonly DoctorCheck[]> {
  const why = await git.unavailable(root)
  if (why !== undefined) {
    return [
      {
        id: 'git',
        status: 'warn',
        text: `git unavailable (${why}): checks work, old contents and --since do not`,
        hint: 'install git, or run `git init`',
      },
    ]
  }
  const head = await git.head(root)
  const at = head?.branch ?? head?.commit?.slice(0, 12) ?? 'no commit yet'
  return [{ id: 'git', status: 'ok', text: `repository (${await git.objectFormat(root)}) on ${at}` }]
}

function configChecks({ config, places, files }: Project): readonly DoctorCheck[] {
  const faults = config.faults().flatMap(({ code, faults: all = [] }) =>
    all.map(({ key, message, position }): DoctorCheck => {
      const where = position === undefined ? '' : `${position.file}:${position.line}: `
      return {
        id: 'config',
        status: 'fail',
        text: `${where}${key === '' ? 'the file' : key} ${message}`,
        hint: `${code}: correct it; nothing of the section counts until then`,
      }
    }),
  )
  const notes = config.notes().map((note): DoctorCheck => ({ id: 'config', status: 'warn', text: note }))
  if (faults.length + notes.length > 0) return [...faults, ...notes]
  const from = new Set(config.values().flatMap(({ from: place }) => (typeof place === 'object' ? [place.file] : [])))
  const none =
    files.lstat(places.projectConfig) === undefined
      ? `defaults only; ${places.projectConfig} may change them`
      : `defaults only: ${places.projectConfig} is there and sets nothing`
  const text = from.size === 0 ? none : `read ${[...from].join(', ')}`
  return [{ id: 'config', status: 'ok', text }]
}

async function storeChecks(project: Project): Promise<readonly DoctorCheck[]> {
  if (!project.hasStore()) return [{ id: 'store', status: 'ok', text: 'none yet; the first write makes it' }]
  const store = await project.store()
  const probe = `doctor/${project.clock.newId()}`
  await store.put(probe, null, 0)
  await store.remove(probe)
  const leases = await store.leases()
  return [
    { id: 'store', status: 'ok', text: 'opens and can be written' },
    ...leases.map(
      (lease): DoctorCheck => ({
        id: 'lease',
        status: 'ok',
        text: `${lease.key} is held by ${lease.owner} until ${new Date(lease.until).toISOString()}`,
      }),
    ),
  ]
}

/** The engine process notes where it listens; its lease says whether it still does. */
async function serveChecks(project: Project): Promise<readonly DoctorCheck[]> {
  const none = 'no engine process runs; a host that needs one starts it'
  if (!project.hasStore()) return [{ id: 'serve', status: 'ok', text: none }]
  const store = await project.store()
  const noted = asRecord((await store.get('serve'))?.value)
  const { socket, pid, version, startedAt } = noted
  if (typeof socket !== 'string' || typeof pid !== 'number') return [{ id: 'serve', status: 'ok', text: none }]
  const lease = (await store.leases()).find(({ key }) => key === 'serve')
  if (lease === undefined) {
    return [{ id: 'serve', status: 'ok', text: `no engine process runs; the last one was process ${pid}` }]
  }
  const text = `engine process ${pid}, version ${String(version)}, on ${socket}`
  const since = typeof startedAt === 'string' ? `, since ${startedAt}` : ''
  if (version === project.version) return [{ id: 'serve', status: 'ok', text: `${text}${since}` }]
  return [
    {
      id: 'serve',
      status: 'warn',
      text: `${text}${since}; this program is ${project.version}`,
      hint: 'run `outrigger serve --stop`; the next that needs one starts it',
    },
  ]
}

function placeChecks({ places, system, files }: Project): readonly DoctorCheck[] {
  const folders = [
    ['the project', places.outrigger, "state goes to the user's folder, stamps and status cannot be written"],
    ["the user's state folder", places.userState, 'a project that cannot be written has no place for its state'],
    ["the user's cache folder", places.userCache, 'nothing is cached for a project without state of its own'],
  ] as const
  const checks = folders.map(([name, folder, loss]): DoctorCheck => {
    if (folder === null)
      return { id: 'places', status: 'warn', text: `${name}: there is no home folder; ${loss}`, hint: 'set HOME' }
    const why = system.whyNotWritable(folder)
    if (why === undefined) return { id: 'places', status: 'ok', text: `${name}: ${folder}` }
    return {
      id: 'places',
      status: 'warn',
      text: `${name}: ${folder} cannot be written (${why}); ${loss}`,
      hint: `make ${folder} writable`,
    }
  })
  const state = files.stat(places.state)
  if (state === undefined || (state.mode & 0o077) === 0 || places.state.includes('\\')) return checks
  return [
    ...checks,
    {
      id: 'places',
      status: 'warn',
      text: `${places.state} can be entered by others (${state.mode.toString(8)})`,
      hint: `chmod 700 ${places.state}`,
    },
  ]
}

async function engineChecks(project: Project): Promise<readonly DoctorCheck[]> {
  const failed = await lastFailure(project)
  return [
    ...(await guarded('keel', () => keelChecks(project))),
    ...(await guarded('companion', async () =>
      switchChecks(project, 'companion', 'on', () => project.config.companion().enabled),
    )),
    ...(await guarded('repl', () => replChecks(project))),
    ...(await guarded('pack', async () =>
      switchChecks(project, 'pack', 'on', () => project.config.section('pack')['enabled'] !== false),
    )),
    ...(await guarded('next', async () => switchChecks(project, 'next', nextMode(project), () => true))),
    ...(failed === undefined ? [] : [failed]),
  ]
}

/** An engine that is a switch of the configuration, or stands aside because of a fault in its section. */
function switchChecks(project: Project, engine: EngineName, on: string, isOn: () => boolean): readonly DoctorCheck[] {
  try {
    project.config.section(engine)
    return [{ id: engine, status: 'ok', text: isOn() ? on : `off (${engine}.enabled is false)` }]
  } catch (error) {
    if (!(error instanceof OutriggerError)) throw error
    const hint = `correct the configuration; ${engine} takes no part until then`
    return [{ id: engine, status: 'fail', text: `${engine}: config`, hint }]
  }
}

function nextMode(project: Project): string {
  try {
    const { model, local } = project.config.section('next')
    const named = typeof model === 'string' && model !== '' ? `on, asks ${model}` : 'on, without a model'
    return local === false && (model === '' || model === undefined) ? 'off: no model is named and local is false' : named
  } catch {
    return 'on'
  }
}

async function keelChecks(project: Project): Promise<readonly DoctorCheck[]> {
  try {
    project.config.keel()
  } catch (error) {
    if (!(error instanceof OutriggerError)) throw error
    return [
      { id: 'keel', status: 'fail', text: 'keel: config', hint: 'correct the configuration; keel takes no part until then' },
    ]
  }
  const keel = project.keel()
  const { off, file } = keel.isOff()
  const { children, sources, degraded } = await exclusive(keel, () => keel.refresh({ kind: 'full' }, { budgetMs: sweepBudgetMs }))
  const mode = off ? `off in sessions (${file} exists)` : project.config.keel().tell ? 'on' : 'on, tells nothing by itself'
  const notes = degraded.map((note): DoctorCheck => ({ id: 'keel', status: 'warn', text: note }))
  return [{ id: 'keel', status: 'ok', text: `${mode}; documents with sources: ${children}, sources: ${sources}` }, ...notes]
}

async function replChecks(project: Project): Promise<readonly DoctorCheck[]> {
  try {
    if (!replConfig(project.config.section('repl')).enabled)
      return [{ id: 'repl', status: 'ok', text: 'off (repl.enabled: false)' }]
  } catch (error) {
    if (!(error instanceof OutriggerError)) throw error
    return [{ id: 'repl', status: 'fail', text: 'repl: config', hint: 'correct the configuration; cells do not run until then' }]
  }
  const seam = await readSeam(project)
  const rights =
    seam?.confined === true
      ? "cells of DSH run under the host's policy for processes"
      : 'cells have the rights of the program that runs them'
  const on: DoctorCheck = { id: 'repl', status: 'ok', text: `on; ${rights}` }
  if (seam === undefined) return [on]
  if (seam.degraded.length === 0) return [on, { id: 'repl', status: 'ok', text: `DSH: programs go through ${seam.seam}` }]
  return [
    on,
    ...seam.degraded.map(
      (text): DoctorCheck => ({
        id: 'repl',
        status: 'warn',
        text: `DSH: degraded: ${text}`,
        hint: 'the next session of DSH in this project looks again',
      }),
    ),
  ]
}

/** The last time that an engine failed, as the ledger has it. */
async function lastFailure({ hasStore, ledger }: Project): Promise<DoctorCheck | undefined> {
  if (!hasStore()) return undefined
  let last: LedgerRecord | undefined
  for await (const record of ledger.read()) if (record.what.startsWith('failed')) last = record
  if (last === undefined) return undefined
  return {
    id: last.engine,
    status: 'warn',
    text: `last failure ${last.at}: ${last.text}`,
    hint: `\`outrigger ledger --engine ${last.engine}\` shows more`,
  }
}

async function hostChecks(project: Project): Promise<readonly DoctorCheck[]> {
  const hosts = [
    {
      id: 'dsh',
      name: 'DSH',
      program: 'dsh',
      install: '`outrigger init dsh` adds Outrigger to a profile',
      installed: async () => dshProfiles(project),
    },
    {
      id: 'claude-code',
      name: 'Claude Code',
      program: 'claude',
      install: '`outrigger init claude-code` installs the plugin',
      installed: async () => claudePlugin(project) ?? claudeHooks(project),
    },
  ]
  return Promise.all(hosts.map(host => hostCheck(project, host)))
}

interface Host {
  readonly id: string
  readonly name: string
  readonly program: string
  /** What to do when it is not installed there. */
  readonly install: string
  /** Where it is installed, in words. */
  installed(): Promise<string | undefined>
}

/** Profiles of DSH whose package names this one. */
function dshProfiles({ files, env, system }: Project): string | undefined {
  const home = env['DSH_HOME'] ?? (env['HOME'] === undefined ? undefined : joinPath(env['HOME'], '.dsh'))
  if (home === undefined) return undefined
  const profiles = joinPath(home, 'profiles')
  if (files.stat(profiles)?.kind !== 'folder') return undefined
  const profilesWith = files
    .list(profiles)
    .filter(({ name }) => readText(files, joinPath(profiles, name, 'package.json')).includes(`"${system.program.name}"`))
  return profilesWith.length === 0
    ? undefined
    : `in the profiles ${profilesWith
        .map(({ name }) => name)
        .sort()
        .join(', ')}`
}

/** The plugin, where the person's or the project's settings of Claude Code switch it on; its module or its hooks then work by version. */
function claudePlugin({ files, env, root }: Project): string | undefined {
  const home = env['CLAUDE_CONFIG_DIR'] ?? (env['HOME'] === undefined ? undefined : joinPath(env['HOME'], '.claude'))
  for (const folder of [joinPath(root, '.claude'), ...(home === undefined ? [] : [home])]) {
    for (const name of ['settings.local.json', 'settings.json']) {
      const id = enabledPlugin(readText(files, joinPath(folder, name)))
      if (id !== undefined) return `plugin ${id}`
    }
  }
  return undefined
}

function enabledPlugin(settings: string): string | undefined {
  try {
    const enabled = asRecord(asRecord(JSON.parse(settings) as Json)['enabledPlugins'])
    return Object.keys(enabled).find(id => id.startsWith('outrigger@') && enabled[id] === true)
  } catch {
    // None, or none that can be read: the host says so itself.
    return undefined
  }
}

/** Settings of Claude Code that call our hooks. */
function claudeHooks({ files, env, root }: Project): string | undefined {
  const folders = [root, ...(env['HOME'] === undefined ? [] : [env['HOME']])]
  const settings = folders.flatMap(folder =>
    ['settings.json', 'settings.local.json'].map(name => joinPath(folder, '.claude', name)),
  )
  const found = settings.find(path => readText(files, path).includes('outrigger hook '))
  return found === undefined ? undefined : `hooks in ${found}`
}

function readText(files: Files, path: string): string {
  try {
    return new TextDecoder().decode(files.read(path, 1024 * 1024))
  } catch {
    return ''
  }
}

async function hostCheck({ processes, root }: Project, { id, name, program, install, installed }: Host): Promise<DoctorCheck> {
  try {
    const { exit, stdout, timedOut } = await processes.run(program, ['--version'], { cwd: root, timeoutMs: hostTimeoutMs })
    const version = new TextDecoder().decode(stdout).trim().split('\n')[0] ?? ''
    const found = exit === 0 ? await installed() : undefined
    if (exit === 0) return { id, status: 'ok', text: `${name} ${version.slice(0, 80)}; ${found ?? install}` }
    return {
      id,
      status: 'warn',
      text: `${name} is there, but ${timedOut ? 'does not answer' : `\`${program} --version\` fails`}`,
    }
  } catch (error) {
    if (error instanceof OutriggerError && error.code === 'PROCESS_NOT_FOUND')
      return { id, status: 'ok', text: `${name} is not on the path` }
    throw error
  }
}

/** Whom the command line would ask; whether a key is there, never which. */
function modelChecks({ config, env }: Project): readonly DoctorCheck[] {
  const models = config.section('models')
  const providers = Object.entries(asRecord(models['providers']))
  if (providers.length === 0) return [{ id: 'models', status: 'ok', text: 'none configured; pack and next do without' }]
  return providers.map(([name, value]): DoctorCheck => {
    const variable = asRecord(value)['apiKeyEnv']
    if (typeof variable !== 'string') return { id: 'models', status: 'ok', text: `${name}: needs no key` }
    if ((env[variable] ?? '') !== '') return { id: 'models', status: 'ok', text: `${name}: key in ${variable}` }
    return { id: 'models', status: 'warn', text: `${name}: ${variable} is not set`, hint: `set ${variable}` }
  })
}

function asRecord(value: Json | undefined): Readonly<Record<string, Json>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Readonly<Record<string, Json>>) : {}
}

/** Free keys may hold what is nobody's business in a report: masked like all else that is written down. */
function configValues({ config, mask }: Project): readonly ConfigValue[] {
  return config.values().map(({ key, value, from }) => ({ key, value: maskedJson(value, mask), from }))
}

function maskedJson(value: Json, mask: (text: string) => string): Json {
  if (typeof value === 'string') return mask(value)
  if (Array.isArray(value)) return value.map(item => maskedJson(item as Json, mask))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskedJson(item as Json, mask)]))
}

function doctorText({ ok, project, checks, config }: DoctorOutput): string {
  const rows = checks.flatMap(({ id, status, text, hint }) => [
    `${status.padEnd(4)} ${id}: ${text}`,
    ...(hint === undefined ? [] : [`     ${hint}`]),
  ])
  const changed = config.filter(({ from }) => from !== 'default')
  const settings = changed.map(({ key, value, from }) => {
    const where = typeof from === 'object' ? `${from.file}:${from.line}` : from
    return `  ${key} = ${JSON.stringify(value)}  (${where})`
  })
  return [
    `project: ${project}`,
    ...rows,
    settings.length === 0 ? 'settings: all defaults' : 'settings that are not defaults:',
    ...settings,
    ok ? 'everything needed is there' : 'something is wrong: see the rows that begin with fail',
  ].join('\n')
}
