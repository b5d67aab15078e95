/**
 * How good companion is on the history of a repository: of each of the last commits that changed a source together with
 * a test or a document, one of these is hidden, and the rest is asked about. History is seen up to the commit's parent only,
 * and the hidden file as it was there.
 *
 * Precision counts every file that was named and that the commit did change, the hidden one and those of the rest; "named in
 * vain" is how many a trial named that it did not change.
 *
 * `npm run bench -- companion-history [--repo <path>] [--commits <n>] [--cases]`; without a repository, several that are made here.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { ForOutput } from '../src/companion/verbs/for.ts'
import { openProject } from '../src/node/open.ts'
import { operationsOf } from '../src/runtime/operations.ts'
import type { Caller } from '../src/session/operation.ts'
import { type Git, gitIn, type Trial, trialsOf } from './history-trials.ts'
import { makeHistory, styles } from './made-histories.ts'
import { machine } from './table.ts'

const defaultCommits = 100
/** Of each made repository. */
const madeCommits = 40
/** So many files stand in a note. */
const maxNamed = 7

type Companion = ForOutput['paths'][number]['companions'][number]

interface Outcome extends Trial {
  /** Distinct files that were named, best first, at most as many as a note holds; none of them in the rest. */
  readonly named: readonly Companion[]
  /** Files of the rest that were named for another one of it: right, though nobody needed to hear it. */
  readonly travelling: readonly Companion[]
}

interface Measured {
  readonly outcomes: readonly Outcome[]
  /** Commits whose files could not be put back. */
  readonly failed: number
}

export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { repo: { type: 'string' }, commits: { type: 'string' }, cases: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const given = values.repo ?? positionals[0]
  const commits = Number(values.commits ?? positionals[1] ?? (given === undefined ? madeCommits : defaultCommits))
  if (!Number.isInteger(commits) || commits < 1) {
    console.error('usage: npm run bench -- companion-history [--repo <path>] [--commits <n>] [--cases]')
    process.exitCode = 2
    return
  }
  console.log(machine())
  if (given !== undefined) {
    if (isRepository(given)) return print(given, await measureHistory(resolve(given), commits), values.cases)
    console.error(`${given} is no git repository`)
    process.exitCode = 2
    return
  }
  for (const style of styles) {
    const folder = mkdtempSync(join(tmpdir(), 'outrigger-made-'))
    try {
      makeHistory(folder, style)
      print(`a made repository, ${style.name}`, await measureHistory(folder, commits), values.cases)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

function isRepository(path: string): boolean {
  const { status } = spawnSync('git', ['-c', 'safe.directory=*', '-C', path, 'rev-parse', '--git-dir'], { stdio: 'ignore' })
  return status === 0
}

/** @param repository - or a folder in it; is not touched: the work is done in a clone that borrows its objects. */
export async function measureHistory(repository: string, commits: number): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'outrigger-history-'))
  try {
    const root = join(folder, 'project')
    const home = join(folder, 'home')
    mkdirSync(home)
    // It may be somebody else's.
    writeFileSync(join(home, '.gitconfig'), '[safe]\n\tdirectory = *\n')
    const origin = gitIn(repository, home)('rev-parse', '--path-format=absolute', '--git-common-dir').trim()
    const head = headOf(gitIn(repository, home))
    if (head === null) return { outcomes: [], failed: 0 }
    gitIn(folder, home)('clone', '-q', '--shared', '--no-checkout', origin, root)
    const git = gitIn(root, home)
    git('update-ref', '--no-deref', 'HEAD', head)
    const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: join(folder, 'config'), XDG_CACHE_HOME: join(folder, 'cache') }
    const outcomes: Outcome[] = []
    let failed = 0
    for (const trial of trialsOf(git, commits)) {
      if (putBack(git, root, trial)) outcomes.push({ ...trial, ...(await ask(root, env, trial)) })
      else failed++
    }
    return { outcomes, failed }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** `null` before the first commit. */
function headOf(git: Git): string | null {
  try {
    return git('rev-parse', '--verify', '-q', 'HEAD').trim()
  } catch {
    return null
  }
}

/** The tree of the commit, the hidden file as before it. */
function putBack(git: Git, root: string, trial: Trial): boolean {
  try {
    git('reset', '-q', '--hard')
    git('clean', '-ffdxq')
    git('checkout', '-q', '--force', '--detach', trial.commit)
    if (trial.isNew) rmSync(join(root, trial.hidden), { recursive: true, force: true })
    else git('checkout', '-q', trial.parent, '--', trial.hidden)
    return true
  } catch {
    return false
  }
}

async function ask(root: string, env: NodeJS.ProcessEnv, trial: Trial): Promise<Pick<Outcome, 'named' | 'travelling'>> {
  const project = await openProject({ cwd: root, project: root, env, door: 'cli', isTerminal: false })
  try {
    const operation = operationsOf(project).find(each => each.name === 'companion.for')!
    const caller: Caller = {
      door: 'cli',
      actor: { kind: 'agent', basis: 'stated' },
      signal: new AbortController().signal,
      progress() {},
    }
    const input: unknown = operation.decode({ paths: trial.rest, until: trial.parent, removed: true })
    const { paths } = (await operation.run(input, caller)) as ForOutput
    const best = new Map<string, Companion>()
    for (const each of paths.flatMap(({ companions }) => companions))
      if ((best.get(each.path)?.k ?? 0) < each.k) best.set(each.path, each)
    const rest = new Set(trial.rest)
    const all = [...best.values()].sort((a, b) => b.k - a.k || a.priority - b.priority || (a.path < b.path ? -1 : 1))
    return {
      named: all.filter(({ path }) => !rest.has(path)).slice(0, maxNamed),
      travelling: all.filter(({ path }) => rest.has(path)),
    }
  } finally {
    await project.close()
  }
}

type Choose = (each: Outcome) => boolean

function print(name: string, { outcomes, failed }: Measured, withCases: boolean): void {
  console.log(`\ncompanion on the history of ${name}: ${outcomes.length} commits with a source and a test or document`)
  if (failed > 0) console.log(`${failed} more could not be put back (missing objects, names this system does not take)`)
  if (outcomes.length === 0) return
  const rows: readonly (readonly [string, Choose])[] = [
    ['its test or document', each => each.isTied && !each.isNew],
    ['– its test', each => each.isTied && !each.isNew && each.kind === 'test'],
    ['– its document', each => each.isTied && !each.isNew && each.kind === 'doc'],
    ['its own, made by the commit', each => each.isTied && each.isNew],
    ['no name, import or mention ties it', each => !each.isTied],
    ['all', () => true],
  ]
  printColumns([
    ['hidden', 'trials', 'recall@1', 'recall@3', 'recall@7', 'precision at the gate', 'named in vain', 'silent'],
    ...rows.map(([label, pick]) => rowOf(label, outcomes.filter(pick))).filter(([, trials]) => trials !== '0'),
  ])
  const judged = outcomes.flatMap(each => [
    ...each.named.map(one => ({ ...one, isRight: one.path === each.hidden })),
    ...each.travelling.map(one => ({ ...one, isRight: true })),
  ])
  const group = (label: string, pick: (one: Companion) => boolean) => {
    const some = judged.filter(pick)
    return [label, String(some.length), share(some.filter(({ isRight }) => isRight).length, some.length)]
  }
  const intents = [...new Set(judged.map(({ intent }) => intent))].sort()
  const bands = [0.75, 0.8, 0.9, 0.95, 1.01]
  printColumns([
    ['named', 'how often', 'changed by the commit'],
    ...intents.map(intent => group(intent, one => one.intent === intent)),
    ...bands.slice(1).map((end, at) => group(`k from ${bands[at]}`, ({ k }) => k >= bands[at]! && k < end)),
  ])
  if (withCases) for (const each of outcomes) printCase(each)
}

function rowOf(label: string, outcomes: readonly Outcome[]): readonly string[] {
  const hit = (most: number) =>
    outcomes.filter(({ named, hidden }) => named.slice(0, most).some(({ path }) => path === hidden)).length
  const named = outcomes.reduce((sum, each) => sum + each.named.length, 0)
  const travelling = outcomes.reduce((sum, each) => sum + each.travelling.length, 0)
  const n = outcomes.length
  return [
    label,
    String(n),
    share(hit(1), n),
    share(hit(3), n),
    share(hit(maxNamed), n),
    share(hit(maxNamed) + travelling, named + travelling),
    named === 0 ? '–' : ((named - hit(maxNamed)) / Math.max(n, 1)).toFixed(1),
    share(outcomes.filter(each => each.named.length === 0).length, n),
  ]
}

function printCase({ commit, kind, isNew, isTied, hidden, rest, named }: Outcome): void {
  const found = named.map(each => `${each.path}${each.path === hidden ? ' *' : ''} (${each.intent} ${each.k.toFixed(2)})`)
  console.log(`${commit.slice(0, 8)} ${kind}${isNew ? ', new' : ''}${isTied ? '' : ', no tie'}: ${hidden}`)
  console.log(`  asked: ${rest.join(' ')}\n  named: ${found.join(', ') || 'nothing'}`)
}

function share(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`
}

function printColumns(rows: readonly (readonly string[])[]): void {
  const [head, ...rest] = rows
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  console.log(['', line(head!), line(head!.map(() => '---')), ...rest.map(line)].join('\n'))
}
