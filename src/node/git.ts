/**
 * The git port. Every call goes through `gitOf(…).ask`, which is where the hardening stands: nothing in a
 * repository's or a person's configuration may start a program, ask a question, take a lock, or reach
 * the network because we looked.
 */

import { OutriggerError } from '../errors.ts'
import type { Commit, Git, GitStatus, IndexEntry, Rename, TouchedFiles } from '../ports/git.ts'
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
    listed: root => fields(root, ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '-z']),
    async touched(root, { max, from = 'HEAD', since, maxBytes, timeoutMs: limitMs }) {
      if (!isRevision(from) || (since !== undefined && !isRevision(since))) return undefined
      if ((await look(root)).kind !== 'ready') return undefined
      const range = since === undefined ? [from] : [from, `^${since}`]
      const args = [
        'log',
        '--no-merges',
        '--no-renames',
        '--name-only',
        ...plainDiff,
        `--max-count=${max}`,
        `--format=${touchedForm}`,
      ]
      try {
        const options = { cwd: root, timeoutMs: limitMs, maxBytes, env }
        const { exit, stdout, timedOut } = await runProgram(program, [...hardened, ...args, ...range, '--'], options)
        if (!timedOut && exit !== 0) return undefined
        return { commits: touchedOf(split(stdout), timedOut), whole: !timedOut }
      } catch {
        return undefined
      }
    },
    async userName(root) {
      const name = await line(root, ['config', '--get', 'user.name'])
      return name === '' ? undefined : name
    },
    async status(root, limitMs) {
      try {
        const args = ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=all', '--ignore-submodules=all', '--', '.']
        const { exit, stdout, stderr, timedOut } = await runProgram(
          program,
          [...hardened, ...(await withoutFilters(root)), ...args],
          {
            cwd: root,
            timeoutMs: limitMs,
            env,
          },
        )
        if (timedOut) return { kind: 'failed', why: 'git does not answer' }
        if (exit === 0) {
          const prefix = (await line(root, ['rev-parse', '--show-prefix'])) ?? ''
          return statusOf(split(stdout), prefix)
        }
        return stderr.includes('not a git repository') ? { kind: 'none' } : { kind: 'failed', why: whyNot(stderr) }
      } catch (error) {
        const isMissing = error instanceof OutriggerError && error.code === 'PROCESS_NOT_FOUND'
        return { kind: 'failed', why: isMissing ? 'git is not installed' : 'git cannot be started' }
      }
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

/** Records of `status --porcelain=v2 --branch -z`; a rename is followed by its old path. */
function statusOf(records: readonly string[], prefix: string): GitStatus {
  let branch: string | null = null
  let commit: string | null = null
  const changed = new Set<string>()
  const add = (path: string): void => {
    changed.add(prefix !== '' && path.startsWith(prefix) ? path.slice(prefix.length) : path)
  }
  for (let at = 0; at < records.length; at += 1) {
    const record = records[at]!
    const head = /^# branch\.(oid|head) (.*)$/.exec(record)
    if (head?.[1] === 'oid') commit = head[2] === '(initial)' ? null : head[2]!
    else if (head?.[1] === 'head') branch = head[2] === '(detached)' ? null : head[2]!
    else if (record.startsWith('1 ')) add(record.split(' ').slice(8).join(' '))
    else if (record.startsWith('2 ')) {
      add(record.split(' ').slice(9).join(' '))
      at += 1
    } else if (record.startsWith('u ')) add(record.split(' ').slice(10).join(' '))
    else if (record.startsWith('? ')) add(record.slice(2))
  }
  return { kind: 'ready', branch, commit, changed: [...changed].sort() }
}

function commitsOf(found: readonly string[]): readonly Commit[] {
  const commits: Commit[] = []
  for (let at = 0; at + 3 < found.length; at += 4) {
    commits.push({ commit: found[at]!, author: found[at + 1]!, date: found[at + 2]!, subject: found[at + 3]! })
  }
  return commits
}

/** A record begins with a sign that no line of git's does, then commit, time and parents. */
const touchedForm = 'tformat:%x01%H %ct %P'
const touchedHead = /^\n?\u0001([0-9a-f]{40,64}) (\d+) ?([0-9a-f ]*)$/

/** @param isCut - the last record may lack files: it is left out. */
function touchedOf(found: readonly string[], isCut: boolean): readonly TouchedFiles[] {
  const commits: { commit: string; parents: readonly string[]; at: number; files: string[] }[] = []
  for (const field of found) {
    const head = touchedHead.exec(field)
    if (head !== null) {
      const parents = head[3] === '' ? [] : head[3]!.split(' ')
      commits.push({ commit: head[1]!, parents, at: Number(head[2]) * 1_000, files: [] })
      continue
    }
    // The names of a commit begin behind a line end.
    const files = commits.at(-1)?.files
    const name = files?.length === 0 ? field.replace(/^\n/, '') : field
    if (name !== '') files?.push(name)
  }
  return isCut ? commits.slice(0, -1) : commits
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
