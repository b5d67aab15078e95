/**
 * The git port. Every call goes through `gitOf(…).ask`, which is where the hardening stands: nothing in a
 * repository's or a person's configuration may start a program, ask a question, take a lock, or reach
 * the network because we looked.
 */

import { OutriggerError } from '../errors.ts'
import type { Commit, Git, IndexEntry, Rename } from '../ports/git.ts'
import type { RunResult } from '../ports/process.ts'
import { type ProgramEnvironment, runProgram } from './process.ts'

const timeoutMs = 60_000

/** Before the verb, on every call. */
const hardened = [
  '--no-optional-locks',
  '--no-pager',
  '--literal-pathspecs',
  ...settings({
    'core.fsmonitor': 'false',
    'core.quotePath': 'false',
    'core.hooksPath': '/dev/null',
    'core.untrackedCache': 'keep',
    'diff.external': '',
    'diff.ignoreSubmodules': 'all',
    'log.showSignature': 'false',
    'log.mailmap': 'false',
    'submodule.recurse': 'false',
    'maintenance.auto': 'false',
    'gc.auto': '0',
    'protocol.allow': 'never',
  }),
]

/** Options of the verbs that compare. */
const plainDiff = ['--no-ext-diff', '--no-textconv', '--no-color', '--ignore-submodules=all', '--relative', '-z']

const decoder = new TextDecoder('utf-8')

/** @param base - environment that git's is made from; its `GIT_…` variables but the configuration's are dropped: a hook's would name another index or folder. */
export function nodeGit(base: ProgramEnvironment = process.env, program = 'git'): Git {
  const env = gitEnvironment(base)
  const repositories = new Map<string, Repository>()
  const partial = new Map<string, Promise<boolean>>()

  const run = (root: string, args: readonly string[], input?: Uint8Array): Promise<RunResult> =>
    runProgram(program, [...hardened, ...args], { cwd: root, timeoutMs, env, ...(input !== undefined && { input }) })

  /** Output of a call that succeeded; `undefined` for every way of not succeeding. */
  async function ask(root: string, args: readonly string[], input?: Uint8Array): Promise<Uint8Array | undefined> {
    if ((await look(root)).kind !== 'ready') return undefined
    try {
      const { exit, stdout } = await run(root, args, input)
      return exit === 0 ? stdout : undefined
    } catch {
      return undefined
    }
  }
  const line = async (root: string, args: readonly string[]) => {
    const answer = await ask(root, args)
    return answer && decoder.decode(answer).replace(/\n$/, '')
  }
  const fields = async (root: string, args: readonly string[]) => {
    const answer = await ask(root, args)
    return answer && split(answer)
  }

  /** A repository that was found stays found; one that was not may be made at any time. */
  async function look(root: string): Promise<Repository> {
    const known = repositories.get(root)
    if (known !== undefined) return known
    const found = await lookNow(root)
    if (found.kind === 'ready') repositories.set(root, found)
    return found
  }

  async function lookNow(root: string): Promise<Repository> {
    try {
      const { exit, stdout, stderr, timedOut } = await run(root, ['rev-parse', '--is-inside-work-tree', '--show-object-format'])
      if (timedOut) return { kind: 'unavailable', why: 'git does not answer' }
      if (exit !== 0) return { kind: 'unavailable', why: whyNot(stderr) }
      const [inside, format] = decoder.decode(stdout).split('\n')
      if (inside !== 'true') return { kind: 'unavailable', why: 'no work tree' }
      return { kind: 'ready', format: format === 'sha256' ? 'sha256' : 'sha1' }
    } catch (error) {
      const isMissing = error instanceof OutriggerError && error.code === 'PROCESS_NOT_FOUND'
      return { kind: 'unavailable', why: isMissing ? 'not installed' : 'cannot be started' }
    }
  }

  /**
   * A partial clone fetches an object that it lacks as soon as somebody names it. Git before 2.45 cannot be
   * told to leave that, so there no object is asked for by its id.
   */
  function mayAskForObjects(root: string): Promise<boolean> {
    const known = partial.get(root)
    if (known !== undefined) return known
    const found = (async () => {
      const isPartial =
        (await fields(root, [
          'config',
          '-z',
          '--get-regexp',
          '^(extensions\\.partialclone|remote\\..*\\.(promisor|partialclonefilter))$',
        ])) !== undefined
      return !isPartial || atLeast(await line(root, ['version']), 2, 45)
    })()
    partial.set(root, found)
    return found
  }

  /** Filters would run programs to compare a file's bytes; without them such a file counts as different. */
  async function withoutFilters(root: string): Promise<readonly string[]> {
    const keys =
      (await fields(root, ['config', '-z', '--name-only', '--get-regexp', '^filter\\..*\\.(clean|smudge|process|required)$'])) ??
      []
    return keys.flatMap(key => ['-c', `${key}=${key.endsWith('.required') ? 'false' : ''}`])
  }

  async function untracked(root: string): Promise<readonly string[] | undefined> {
    return fields(root, ['ls-files', '--others', '--exclude-standard', '-z'])
  }

  /** A file moved by hand is one missing and one unknown to git; the same content makes them one move. */
  async function movedByHand(root: string): Promise<readonly Rename[]> {
    const gone = new Set(await fields(root, ['ls-files', '--deleted', '-z']))
    if (gone.size === 0) return []
    const fresh = ((await untracked(root)) ?? []).filter(path => !path.includes('\n')).slice(0, 10_000)
    if (fresh.length === 0) return []
    const index = await indexEntries(root)
    const hashed = await ask(
      root,
      ['hash-object', '--no-filters', '--stdin-paths'],
      Buffer.from(fresh.map(path => `${path}\n`).join('')),
    )
    if (index === undefined || hashed === undefined) return []
    const ids = decoder.decode(hashed).split('\n')
    const byId = new Map(fresh.map((path, at) => [ids[at], path]))
    return index.flatMap(entry => {
      const to = gone.has(entry.path) ? byId.get(entry.id) : undefined
      return to === undefined ? [] : [{ from: entry.path, to }]
    })
  }

  async function indexEntries(root: string): Promise<readonly IndexEntry[] | undefined> {
    const entries = await fields(root, ['ls-files', '-s', '-v', '-z'])
    return entries?.flatMap(entry => {
      // `H 100644 <id> 0<TAB><path>`; links, submodules and unmerged entries are not a file's content.
      const match = /^(.) 100\d{3} ([0-9a-f]+) 0\t([\s\S]+)$/.exec(entry)
      return match === null ? [] : [{ flag: match[1]!, id: match[2]!, path: match[3]! }]
    })
  }

  return {
    async unavailable(root) {
      const found = await look(root)
      return found.kind === 'ready' ? undefined : found.why
    },
    async objectFormat(root) {
      const found = await look(root)
      return found.kind === 'ready' ? found.format : undefined
    },
    indexEntries,
    // An entry as young as the index is compared by content, which is where a filter would run.
    modified: async root => fields(root, [...(await withoutFilters(root)), 'diff-files', '--name-only', ...plainDiff]),
    untracked,
    resolve: async (root, rev) =>
      isRevision(rev) ? line(root, ['rev-parse', '--verify', '--quiet', `${rev}^{commit}`]) : undefined,
    mergeBase: async (root, rev) =>
      isRevision(rev) ? (await line(root, ['merge-base', 'HEAD', rev]))?.split('\n')[0] : undefined,
    async changedSince(root, commit) {
      if (!isRevision(commit)) return undefined
      const tracked = await fields(root, [
        ...(await withoutFilters(root)),
        'diff',
        '--name-only',
        '--no-renames',
        ...plainDiff,
        commit,
        '--',
      ])
      const fresh = await untracked(root)
      return tracked && fresh && [...new Set([...tracked, ...fresh])]
    },
    async show(root, commit, path) {
      if (!isRevision(commit) || path.includes('\0') || !(await mayAskForObjects(root))) return undefined
      return ask(root, ['cat-file', 'blob', `${commit}:./${path}`])
    },
    async blob(root, prefix) {
      if (!/^[0-9a-f]{4,64}$/.test(prefix) || !(await mayAskForObjects(root))) return undefined
      const ids = (await line(root, ['rev-parse', `--disambiguate=${prefix}`]))?.split('\n').filter(id => id !== '') ?? []
      if (ids.length === 0 || ids.length > 1_000) return undefined
      const checked = await ask(
        root,
        ['cat-file', '--batch-check=%(objecttype) %(objectname)'],
        Buffer.from(`${ids.join('\n')}\n`),
      )
      const blobs =
        checked &&
        decoder
          .decode(checked)
          .split('\n')
          .filter(row => row.startsWith('blob '))
      return blobs?.length === 1 ? ask(root, ['cat-file', 'blob', blobs[0]!.slice('blob '.length)]) : undefined
    },
    async history(root, path, max) {
      const found = await fields(root, [
        'log',
        '-z',
        `--max-count=${Math.max(0, Math.floor(max))}`,
        '--format=tformat:%H%x00%an%x00%aI%x00%s',
        '--',
        path,
      ])
      return found && commitsOf(found)
    },
    async renames(root, maxCommits) {
      // Similar, not equal, content needs the objects themselves.
      const detect = (await mayAskForObjects(root)) ? '-M' : '-M100%'
      const kinds = [detect, '-l1000', '--diff-filter=R', '--name-status', ...plainDiff]
      const filters = await withoutFilters(root)
      const pending = (await fields(root, [...filters, 'diff', ...kinds, 'HEAD', '--'])) ?? []
      const committed = await fields(root, ['log', `--max-count=${Math.max(0, Math.floor(maxCommits))}`, '--format=', ...kinds])
      if (committed === undefined && (await look(root)).kind !== 'ready') return undefined
      return [...renamesOf(pending), ...(await movedByHand(root)), ...renamesOf(committed ?? [])]
    },
    async userName(root) {
      const name = await line(root, ['config', '--get', 'user.name'])
      return name === '' ? undefined : name
    },
    async head(root) {
      if ((await look(root)).kind !== 'ready') return undefined
      const branch = await line(root, ['symbolic-ref', '--quiet', '--short', 'HEAD'])
      const commit = await line(root, ['rev-parse', '--verify', '--quiet', 'HEAD'])
      return { branch: branch ?? null, commit: commit ?? null }
    },
  }
}

type Repository =
  | { readonly kind: 'ready'; readonly format: 'sha1' | 'sha256' }
  | { readonly kind: 'unavailable'; readonly why: string }

function settings(values: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(values).flatMap(([key, value]) => ['-c', `${key}=${value}`])
}

function gitEnvironment(base: ProgramEnvironment): ProgramEnvironment {
  const kept = Object.entries(base).filter(
    ([name]) => !/^GIT_/i.test(name) || /^GIT_(CONFIG_|CEILING_DIRECTORIES$|EXEC_PATH$|SSL_)/i.test(name),
  )
  return {
    ...Object.fromEntries(kept.filter(([name]) => name !== 'GIT_CONFIG_PARAMETERS')),
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_PAGER: 'cat',
    GIT_ATTR_NOSYSTEM: '1',
    LC_ALL: 'C',
  }
}

function whyNot(stderr: string): string {
  if (stderr.includes('dubious ownership')) return 'the repository belongs to another user'
  return stderr.includes('not a git repository') ? 'no repository' : 'git failed'
}

/** What could be read as an option, or holds what no argument can, is no name of a commit. */
function isRevision(rev: string): boolean {
  return rev !== '' && !rev.startsWith('-') && !rev.includes('\0') && !rev.includes('\n')
}

function atLeast(version: string | undefined, major: number, minor: number): boolean {
  const match = /(\d+)\.(\d+)/.exec(version ?? '')
  if (match === null) return false
  const found = [Number(match[1]), Number(match[2])] as const
  return found[0] > major || (found[0] === major && found[1] >= minor)
}

function split(bytes: Uint8Array): readonly string[] {
  const parts = decoder.decode(bytes).split('\0')
  if (parts.at(-1) === '') parts.pop()
  return parts
}

function commitsOf(found: readonly string[]): readonly Commit[] {
  const commits: Commit[] = []
  for (let at = 0; at + 3 < found.length; at += 4) {
    commits.push({ commit: found[at]!, author: found[at + 1]!, date: found[at + 2]!, subject: found[at + 3]! })
  }
  return commits
}

/** `R<percent>`, old path, new path, each ended by NUL; a commit's rows may begin with a line end. */
function renamesOf(found: readonly string[]): readonly Rename[] {
  const renames: Rename[] = []
  for (let at = 0; at + 2 < found.length; at += 1) {
    if (!/^\n*R\d+$/.test(found[at]!)) continue
    renames.push({ from: found[at + 1]!, to: found[at + 2]! })
    at += 2
  }
  return renames
}
