/** Which files change together, from the commits of the repository. */
import type { CompanionDeps } from '../deps.ts'
import type { HistoryConfig } from '../types.ts'

const maxBytes = 8 * 1024 * 1024
const maxMs = 3_000
const dayMs = 24 * 3_600_000
const encoder = new TextEncoder()

export interface Together {
  readonly path: string
  readonly support: number
  /** Commits with the file that was asked about. */
  readonly commits: number
  readonly confidence: number
  readonly lift: number
  /** Kept commits in all. */
  readonly of: number
}

export interface History {
  /** Commits kept. */
  readonly commits: number
  /** Commits that git told of. */
  readonly read: number
  readonly skipped: number
  /** `false`: a limit of size or time ended the reading. */
  readonly whole: boolean
  /** Files that changed with this one often enough, in no order; none below the least number of commits. */
  together(path: string): readonly Together[]
  /** Of the commits with a file of which `isCode` says so, those that touch `path` too. */
  habit(path: string, isCode: (file: string) => boolean): { readonly support: number; readonly commits: number }
  readonly isShort: boolean
}

interface Kept {
  readonly commit: string
  readonly at: number
  readonly files: readonly string[]
  readonly isFirst: boolean
}

/**
 * @param until - a revision instead of HEAD; its own time is then the present.
 * @returns a word for why there is none.
 */
export async function readHistory(
  deps: Pick<CompanionDeps, 'root' | 'git' | 'clock' | 'cache'>,
  config: HistoryConfig,
  until?: string,
): Promise<History | 'no-git' | 'no-commits'> {
  const { git, root } = deps
  if ((await git.unavailable(root)) !== undefined) return 'no-git'
  const head = await git.resolve(root, until ?? 'HEAD')
  if (head === undefined) return 'no-commits'
  const header = JSON.stringify(['history', 1, config.commits, config.maxFiles])
  const cache = deps.cache('history.bin')
  const before = until === undefined ? decode(cache.load(header)) : undefined
  let commits: readonly Kept[]
  let whole = true
  if (before?.head === head) commits = before.commits
  else {
    const found = await read(deps, config, head, before)
    if (found === undefined) return 'no-commits'
    commits = found.commits
    whole = found.whole
    if (until === undefined && whole) await cache.save(header, encoder.encode(JSON.stringify({ head, commits })))
  }
  const present = until === undefined ? deps.clock.now() : Math.min(deps.clock.now(), commits[0]?.at ?? deps.clock.now())
  return build(commits, whole, config, present - config.days * dayMs)
}

/** What came since the cached commit goes before what is cached; a commit that is not behind HEAD is read anew. */
async function read(
  { git, root }: Pick<CompanionDeps, 'root' | 'git'>,
  config: HistoryConfig,
  head: string,
  before: { readonly head: string; readonly commits: readonly Kept[] } | undefined,
): Promise<{ readonly commits: readonly Kept[]; readonly whole: boolean } | undefined> {
  const limits = { max: config.commits, from: head, maxBytes, timeoutMs: maxMs }
  if (before !== undefined && (await git.mergeBase(root, before.head)) === before.head) {
    const fresh = await git.touched(root, { ...limits, since: before.head })
    if (fresh?.whole === true) {
      const commits = [...fresh.commits.map(kept(config)), ...before.commits].slice(0, config.commits)
      return { commits, whole: true }
    }
  }
  const all = await git.touched(root, limits)
  return all === undefined ? undefined : { commits: all.commits.map(kept(config)), whole: all.whole }
}

/** Of a commit that touches too many files, only that it was one. */
const kept =
  (config: HistoryConfig) =>
  ({
    commit,
    at,
    parents,
    files,
  }: {
    commit: string
    at: number
    parents: readonly string[]
    files: readonly string[]
  }): Kept => ({
    commit,
    at,
    files: files.length > config.maxFiles ? [] : files,
    isFirst: parents.length === 0,
  })

function build(read: readonly Kept[], whole: boolean, config: HistoryConfig, oldest: number): History {
  const commits = read.filter(each => !each.isFirst && each.files.length > 0 && each.at >= oldest).map(each => each.files)
  const withFile = new Map<string, number[]>()
  for (const [index, files] of commits.entries()) {
    for (const file of new Set(files)) {
      const known = withFile.get(file)
      if (known === undefined) withFile.set(file, [index])
      else known.push(index)
    }
  }
  const isShort = commits.length < config.minCommits

  return {
    commits: commits.length,
    read: read.length,
    skipped: read.length - commits.length,
    whole,
    isShort,
    together(path) {
      const own = withFile.get(path)
      if (isShort || own === undefined || own.length < config.minSupport) return []
      const counts = new Map<string, number>()
      for (const index of own) for (const file of new Set(commits[index])) counts.set(file, (counts.get(file) ?? 0) + 1)
      counts.delete(path)
      const found: Together[] = []
      for (const [other, support] of counts) {
        const confidence = support / own.length
        const lift = confidence / (withFile.get(other)!.length / commits.length)
        if (support < config.minSupport || confidence < config.minConfidence || lift < config.minLift) continue
        found.push({ path: other, support, commits: own.length, confidence, lift, of: commits.length })
      }
      return found
    },
    habit(path, isCode) {
      const own = new Set(withFile.get(path) ?? [])
      let support = 0
      let code = 0
      for (const [index, files] of commits.entries()) {
        if (!files.some(isCode)) continue
        code++
        if (own.has(index)) support++
      }
      return { support, commits: code }
    },
  }
}

function decode(body: Uint8Array | undefined | 'rebuilt'): { head: string; commits: Kept[] } | undefined {
  if (body === undefined || body === 'rebuilt') return undefined
  try {
    const json = JSON.parse(new TextDecoder().decode(body)) as { head: string; commits: Kept[] }
    return typeof json.head === 'string' && Array.isArray(json.commits) ? json : undefined
  } catch {
    return undefined
  }
}
