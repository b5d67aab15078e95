/**
 * `outrigger init`: the project's configuration file, and the installation into a host by the host's own
 * command. What is there already is kept; nothing is overwritten.
 */
import { OutriggerError } from '../errors.ts'
import type { Json } from '../ports/json.ts'
import { decodeInput } from '../session/decode.ts'
import type { Caller, InputSchema, Operation } from '../session/operation.ts'
import { configTemplate } from './config-template.ts'
import { joinPath, parentOf } from './places.ts'
import type { Project } from './project.ts'

export interface InitInput {
  readonly target?: 'dsh' | 'claude-code' | 'hooks'
  readonly profile?: string
  readonly dryRun?: boolean
}

export interface InitOutput {
  /** `null`: the project's configuration only. */
  readonly target: string | null
  readonly dryRun: boolean
  /** Files that were made, or would be. */
  readonly created: readonly string[]
  /** Files that were there. */
  readonly kept: readonly string[]
  /** Commands that were run, or would be. */
  readonly ran: readonly string[]
  /** What to do now. */
  readonly next: readonly string[]
  /** `hooks`: what goes into the host's settings. */
  readonly settings?: Json
}

const input = {
  type: 'object',
  properties: {
    target: {
      type: 'string',
      description: 'the host to install into; without it only the configuration file is made',
      enum: ['dsh', 'claude-code', 'hooks'],
    },
    profile: { type: 'string', description: 'profile of DSH to install into (web when left out)', minLength: 1, maxLength: 100 },
    dryRun: { type: 'boolean', description: 'show what would be done, and do nothing' },
  },
  additionalProperties: false,
} as const satisfies InputSchema

const installTimeoutMs = 10 * 60_000

/** Events of hosts that run commands, as `outrigger hook` answers them. */
const hookEvents = [
  'SessionStart',
  'UserPromptSubmit',
  'PostToolUse',
  'PostToolUseFailure',
  'FileChanged',
  'Stop',
  'PreCompact',
  'SessionEnd',
]

export function initOperation(project: Project): Operation<InitInput, InitOutput> {
  return {
    name: 'init',
    summary: "Makes the project's configuration file, or installs Outrigger into a host by the host's own command.",
    input,
    positional: ['target'],
    readOnly: false,
    decode: value => decodeInput(input, value) as InitInput,
    run: (given, { progress }) => init(project, given, progress),
    render: initText,
    examples: ['outrigger init claude-code', 'outrigger init dsh --profile web --dry-run'],
  }
}

type Report = Caller['progress']

async function init(project: Project, given: InitInput, report: Report): Promise<InitOutput> {
  if (given.profile !== undefined && given.target !== 'dsh') {
    throw new OutriggerError('BAD_INPUT', 'only DSH has profiles', {
      subject: 'profile',
      hint: 'leave it out, or say `outrigger init dsh`',
    })
  }
  const { target, dryRun = false } = given
  if (target === undefined) return initProject(project, dryRun)
  switch (target) {
    case 'dsh':
      return initDsh(project, given.profile ?? 'web', dryRun, report)
    case 'hooks':
      return initHooks(dryRun)
    case 'claude-code':
      return initClaudeCode(project, dryRun, report)
  }
}

async function initProject({ files, places }: Project, dryRun: boolean): Promise<InitOutput> {
  const path = '.outrigger/config.yml'
  const isThere = files.lstat(places.projectConfig) !== undefined
  if (!isThere && !dryRun) {
    files.makeFolder(places.outrigger)
    await files.replace(places.projectConfig, new TextEncoder().encode(configTemplate()), { expect: null })
  }
  return {
    target: null,
    dryRun,
    created: isThere ? [] : [path],
    kept: isThere ? [path] : [],
    ran: [],
    next: [
      'name the sources of a document under `sources:` in its frontmatter, then run `outrigger keel stamp`',
      'run `outrigger keel check` in CI; it fails when a document is behind its sources',
      '`outrigger init claude-code`, `outrigger init dsh` or `outrigger init hooks` brings it into your host; `outrigger doctor` shows what works',
    ],
  }
}

interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
}

async function initDsh(project: Project, profile: string, dryRun: boolean, report: Report): Promise<InitOutput> {
  if (!/^[\w][\w.-]*$/.test(profile)) {
    throw new OutriggerError('BAD_INPUT', `"${profile}" is no name of a profile`, {
      subject: 'profile',
      hint: 'give a name like web or headless',
    })
  }
  const program = builtProgram(project)
  // What runs here is what the host gets, without asking a registry: a linked folder could not load the host's packages, so it is packed.
  const packs = joinPath(parentOf(project.places.userCache ?? project.places.state), 'packs')
  if (!dryRun) {
    // Is the host there at all? Asked before anything is made.
    await runHost(project, { program: 'dsh', args: ['--version'], cwd: project.root })
    project.system.makeFolder(packs)
  }
  const tarball = joinPath(packs, `${program.name.replace(/^@/, '').replaceAll('/', '-')}-${program.version}.tgz`)
  const commands: readonly Command[] = [
    { program: 'npm', args: ['pack', '--silent', '--ignore-scripts', '--pack-destination', packs], cwd: program.folder },
    { program: 'dsh', args: ['plugin', '--profile', profile, 'add', tarball], cwd: project.root },
  ]
  if (!dryRun) await runAll(project, commands, report)
  return {
    target: 'dsh',
    dryRun,
    created: [],
    kept: [],
    ran: commands.map(lineOf),
    next: [`start the host: \`dsh --profile ${profile}\``, '`/keel` in a session shows the documents that are behind'],
  }
}

/** Throws `HOST_FAILED` for a clone that is not built: a host would get a package without a program. */
function builtProgram({ system: { program } }: Project): Project['system']['program'] {
  if (program.isBuilt) return program
  throw new OutriggerError('HOST_FAILED', 'Outrigger is not built here', {
    subject: program.folder,
    hint: `run \`npm run build\` in ${program.folder}`,
    exit: 3,
  })
}

/** The plugin is a marketplace of its own; the host reads a folder in place, so it lasts as long as this package does. */
async function initClaudeCode(project: Project, dryRun: boolean, report: Report): Promise<InitOutput> {
  const plugin = joinPath(builtProgram(project).folder, 'dist', 'claude-code')
  const commands: readonly Command[] = [
    { program: 'claude', args: ['plugin', 'marketplace', 'add', plugin], cwd: project.root },
    { program: 'claude', args: ['plugin', 'install', 'outrigger@outrigger'], cwd: project.root },
  ]
  if (!dryRun) await runAll(project, commands, report)
  return {
    target: 'claude-code',
    dryRun,
    created: [],
    kept: [],
    ran: commands.map(lineOf),
    next: [
      'start the host: `claude`',
      '`/keel` in a session shows the documents that are behind; `/outrigger` shows what works',
      'take it out again with `claude plugin uninstall outrigger@outrigger`',
    ],
  }
}

/** A host may take half a minute for one of them, as without a network: who waits sees which. */
async function runAll(project: Project, commands: readonly Command[], report: Report): Promise<void> {
  for (const [index, command] of commands.entries()) {
    report(lineOf(command), index + 1, commands.length)
    await runHost(project, command)
  }
}

async function runHost({ processes, mask }: Project, { program, args, cwd }: Command): Promise<void> {
  const { exit, stdout, stderr, timedOut } = await processes.run(program, args, { cwd, timeoutMs: installTimeoutMs })
  if (exit === 0) return
  const said = mask(`${stderr}\n${new TextDecoder().decode(stdout)}`.trim())
    .split('\n')
    .slice(-20)
    .join('\n')
  const why = timedOut ? 'did not end within 10 minutes' : `ended with exit ${exit}`
  throw new OutriggerError('HOST_FAILED', `\`${program} ${args.join(' ')}\` ${why}${said === '' ? '' : `:\n${said}`}`, {
    subject: program,
    hint: 'run the command by hand to see more',
    exit: 3,
  })
}

function initHooks(dryRun: boolean): InitOutput {
  const entry = (event: string): Json => [{ hooks: [{ type: 'command', command: `outrigger hook ${event}` }] }]
  return {
    target: 'hooks',
    dryRun,
    created: [],
    kept: [],
    ran: [],
    next: [
      "put the settings below into your host's settings file (Claude Code: .claude/settings.json), beside what is there",
      '`outrigger` must be on the path of the host',
    ],
    settings: { hooks: Object.fromEntries(hookEvents.map(event => [event, entry(event)])) },
  }
}

const lineOf = ({ program, args }: Command): string => [program, ...args].map(quoted).join(' ')

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

function initText({ dryRun, created, kept, ran, next, settings }: InitOutput): string {
  const would = dryRun ? 'would be ' : ''
  return [
    ...created.map(path => `${would}made: ${path}`),
    ...kept.map(path => `kept: ${path}`),
    ...ran.map(command => `${would}run: ${command}`),
    ...next.map(step => `next: ${step}`),
    ...(settings === undefined ? [] : [JSON.stringify(settings, null, 2)]),
  ].join('\n')
}
