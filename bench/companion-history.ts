/**
 * How good companion is on a repository's own history: of each of the last commits that changed a source
 * together with a test or a document, one of these is hidden, and the rest is asked about. History is seen
 * up to the commit's parent only, and the hidden file as it was there.
 *
 * Precision counts every file that was named and that the commit did change, the hidden one and those of the rest; "named in
 * vain" is how many a trial named that it did not change.
 *
 * `npm run bench -- companion-history <repository> [commits]`
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { classOf } from '../src/companion/kinds.ts'
import type { ForOutput } from '../src/companion/verbs/for.ts'
import { openProject } from '../src/node/open.ts'
import { operationsOf } from '../src/runtime/operations.ts'
import type { Caller } from '../src/session/operation.ts'

const defaultCommits = 100
/** A commit that touches more says nothing about a pair. */
const maxFiles = 30
/** So many files stand in a note. */
const maxNamed = 7

interface Trial {
  readonly commit: string
  readonly parent: string
  readonly hidden: string
  /** The commit made it: only a file that is missing could be named. */
  readonly isNew: boolean
  readonly kind: 'test' | 'doc'
  readonly rest: readonly string[]
}

interface Outcome extends Trial {
  /** Distinct files that were named, best first, at most as many as a note holds; none of them in the rest. */
  readonly named: readonly { readonly path: string; readonly intent: string; readonly k: number }[]
  /** Files of the rest that were named for another one of it: right, though nobody needed to hear it. */
  readonly travelling: number
}

export async function run(args: readonly string[]): Promise<void> {
  const [given, count] = args
  if (given === undefined) {
    console.error('usage: npm run bench -- companion-history <repository> [commits]')
    process.exitCode = 2
    return
  }
  const outcomes = await measureHistory(resolve(given), count === undefined ? defaultCommits : Number(count))
  report(given, outcomes)
}

/** @param repository - is not touched: the work is done in a clone that borrows its objects. */
export async function measureHistory(repository: string, commits: number): Promise<readonly Outcome[]> {
  const folder = mkdtempSync(join(tmpdir(), 'outrigger-history-'))
  try {
    const root = join(folder, 'project')
    execFileSync('git', ['clone', '-q', '--shared', '--no-checkout', repository, root], { stdio: 'ignore' })
    const git = (...words: readonly string[]): string =>
      execFileSync('git', ['-c', 'core.hooksPath=/dev/null', '-c', 'advice.detachedHead=false', ...words], {
        cwd: root,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        maxBuffer: 1 << 30,
      })
    const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: join(folder, 'config'), XDG_CACHE_HOME: join(folder, 'cache') }
    const outcomes: Outcome[] = []
    for (const trial of trialsOf(git, commits)) {
      git('checkout', '-q', '--force', '--detach', trial.commit)
      if (trial.isNew) rmSync(join(root, trial.hidden), { force: true })
      else git('checkout', '-q', trial.parent, '--', trial.hidden)
      outcomes.push({ ...trial, ...(await ask(root, env, trial)) })
      git('reset', '-q', '--hard')
    }
    return outcomes
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function trialsOf(git: (...words: readonly string[]) => string, commits: number): readonly Trial[] {
  // Many more commits are listed than tried: most say nothing.
  const log = git(
    'log',
    '--no-merges',
    '--no-renames',
    '--name-status',
    '-z',
    `--max-count=${commits * 20}`,
    '--format=%x01%H %P',
  )
  const trials: Trial[] = []
  for (const part of log.split('\u0001').slice(1)) {
    if (trials.length >= commits) break
    const fields = part.split('\0').map(field => field.replace(/^\n/, ''))
    const [commit, parent] = fields[0]!.trim().split(' ')
    if (parent === undefined) continue
    const rows: { status: string; path: string }[] = []
    for (let at = 1; at + 1 < fields.length; at += 2)
      if (fields[at] !== '') rows.push({ status: fields[at]!, path: fields[at + 1]! })
    if (rows.length < 2 || rows.length > maxFiles) continue
    const kept = rows.filter(({ status }) => status === 'M' || status === 'A').sort((a, b) => (a.path < b.path ? -1 : 1))
    const hidden = kept.find(({ path }) => classOf(path) === 'test') ?? kept.find(({ path }) => classOf(path) === 'doc')
    const rest = kept.filter(row => row !== hidden).map(({ path }) => path)
    if (hidden === undefined || !rest.some(path => classOf(path) === 'source')) continue
    const kind = classOf(hidden.path) === 'test' ? 'test' : 'doc'
    trials.push({ commit: commit!, parent, hidden: hidden.path, isNew: hidden.status === 'A', kind, rest })
  }
  return trials
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
    const rest = new Set(trial.rest)
    const best = new Map<string, { path: string; intent: string; k: number }>()
    const travelling = new Set<string>()
    for (const { path, intent, k } of paths.flatMap(({ companions }) => companions)) {
      if (rest.has(path)) travelling.add(path)
      else if ((best.get(path)?.k ?? 0) < k) best.set(path, { path, intent, k })
    }
    const named = [...best.values()].sort((a, b) => b.k - a.k || (a.path < b.path ? -1 : 1)).slice(0, maxNamed)
    return { named, travelling: travelling.size }
  } finally {
    await project.close()
  }
}

function report(name: string, outcomes: readonly Outcome[]): void {
  const rows = [
    ['hidden', 'trials', 'recall@1', 'recall@3', 'recall@7', 'precision at the gate', 'named in vain', 'silent'],
    ...(
      [
        ['all', () => true],
        ['tests that were there', each => each.kind === 'test' && !each.isNew],
        ['documents that were there', each => each.kind === 'doc' && !each.isNew],
        ['made by the commit', each => each.isNew],
      ] as readonly (readonly [string, (each: Outcome) => boolean])[]
    ).map(([label, pick]) => rowOf(label, outcomes.filter(pick))),
  ]
  console.log(`companion on the history of ${name}: the last ${outcomes.length} commits with a source and a test or document`)
  printColumns(rows)
  const intents = [...new Set(outcomes.flatMap(({ named }) => named.map(({ intent }) => intent)))].sort()
  printColumns([
    ['intent', 'named', 'was the hidden one'],
    ...intents.map(intent => {
      const named = outcomes.flatMap(each => each.named.filter(one => one.intent === intent).map(one => one.path === each.hidden))
      return [intent, String(named.length), share(named.filter(Boolean).length, named.length)]
    }),
  ])
}

function rowOf(label: string, outcomes: readonly Outcome[]): readonly string[] {
  const hit = (most: number) =>
    outcomes.filter(({ named, hidden }) => named.slice(0, most).some(({ path }) => path === hidden)).length
  const named = outcomes.reduce((sum, each) => sum + each.named.length, 0)
  const travelling = outcomes.reduce((sum, each) => sum + each.travelling, 0)
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

function share(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`
}

function printColumns(rows: readonly (readonly string[])[]): void {
  const [head, ...rest] = rows
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  console.log(['', line(head!), line(head!.map(() => '---')), ...rest.map(line), ''].join('\n'))
}
