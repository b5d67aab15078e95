/**
 * What companion knows of one project: filled in the background, asked by judged calls, waited for by verbs.
 * A source that is not ready is silent and says so.
 */
import { folderOf } from '../text/paths.ts'
import type { CompanionDeps, DeclaredBy } from './deps.ts'
import type { Expected } from './evidence/conventions.ts'
import type { Sources } from './evidence/find.ts'
import { type History, readHistory } from './evidence/history.ts'
import { type Scan, scanProject } from './evidence/scan.ts'
import { bareStem, stemOf } from './kinds.ts'
import type { Compiled } from './pack/types.ts'
import { createPackages, type Packages } from './packages.ts'
import { createTree, isRegular, maxPaths, mayBeListed, readTree, type Tree } from './tree.ts'
import type { HistoryConfig, PairSignal } from './types.ts'

export interface SourceStatus {
  readonly id: 'index' | PairSignal
  readonly status: 'ready' | 'silent' | 'off' | 'warming'
  readonly why: string | null
  readonly facts: Readonly<Record<string, number | boolean>>
}

export interface Knowledge {
  /** Begin in the background, once. */
  start(): void
  /** Everything is there. */
  ready(): Promise<void>
  /** What is there now. */
  now(compiled: Compiled, declaredBy: DeclaredBy): Sources
  readonly tree: Tree
  readonly packages: Packages
  /** The index is there. */
  readonly isListed: boolean
  /** With the history up to another revision; `null` when git does not know it. */
  until(compiled: Compiled, declaredBy: DeclaredBy, revision: string): Promise<Sources | null>
  /** A file was written, made or removed; cheap: what it says is read later. */
  touch(path: string): void
  /** Read what was touched. */
  settle(): void
  status(allowed: readonly string[]): readonly SourceStatus[]
  save(): Promise<void>
}

const nothing = createTree({ capped: false, listed: false })

export function createKnowledge(deps: CompanionDeps, history: () => HistoryConfig): Knowledge {
  let tree: Tree = nothing
  let isListed = false
  let scan: Scan | undefined
  let past: History | 'no-git' | 'no-commits' | undefined
  let failed: string | undefined
  let work: Promise<void> | undefined
  const exact = new Map<string, readonly Expected[]>()
  const habits = new Map<string, { readonly support: number; readonly commits: number }>()
  /** Touched before the index was there, or not read yet. */
  const touched = new Set<string>()
  let conventionsOf: Compiled['conventions'] | undefined
  const exists = (path: string) => (isListed && !tree.capped ? tree.has(path) : isRegular(deps, path))
  const packages = createPackages(deps, exists)

  async function warm(): Promise<void> {
    const reading = readHistory(deps, history())
    // Read beside the index; what goes wrong in it is said where it is waited for.
    reading.catch(() => {})
    try {
      tree = await readTree(deps)
      isListed = true
      for (const path of touched) place(path)
      if (!tree.capped) {
        scan = await scanProject(deps, tree, packages)
        settle()
      }
      past = await reading
      habits.clear()
      await save()
    } catch (error) {
      failed = error instanceof Error ? error.message.slice(0, 160) : 'unknown'
    }
  }

  /** Put a file into the index, or take it out. */
  function place(path: string): void {
    if (tree.capped || !mayBeListed(path)) return
    packages.forget(path)
    const changed = isRegular(deps, path) ? tree.add(path) : tree.remove(path)
    if (changed) forgetExact(path)
  }

  /** A test that came or went concerns the sources of its name. */
  function forgetExact(path: string): void {
    const stems = [bareStem(path), stemOf(path), 'index', 'mod', '__init__', 'lib']
    for (const stem of stems) for (const source of tree.sourcesOfStem(stem)) exact.delete(source)
    for (const known of exact.keys())
      if (folderOf(known) === folderOf(path) && stemOf(known) === stemOf(path)) exact.delete(known)
  }

  function settle(): void {
    if (!isListed) return
    for (const path of touched) scan?.update(path)
    if (scan !== undefined || tree.capped) touched.clear()
  }

  async function save(): Promise<void> {
    await scan?.save()
  }

  function sources(compiled: Compiled, declaredBy: DeclaredBy, of: History | undefined): Sources {
    if (conventionsOf !== compiled.conventions) {
      conventionsOf = compiled.conventions
      exact.clear()
    }
    const ofHabits = of === known() ? habits : new Map()
    return { deps, tree, packages, conventions: compiled.conventions, scan, history: of, declaredBy, exact, habits: ofHabits }
  }

  const known = () => (typeof past === 'object' && !tree.capped ? past : undefined)

  return {
    start() {
      work ??= warm()
    },
    async ready() {
      work ??= warm()
      await work
    },
    now: (compiled, declaredBy) => sources(compiled, declaredBy, known()),
    get tree() {
      return tree
    },
    packages,
    get isListed() {
      return isListed
    },
    async until(compiled, declaredBy, revision) {
      const read = await readHistory(deps, history(), revision)
      return read === 'no-commits'
        ? null
        : sources(compiled, declaredBy, typeof read === 'string' || tree.capped ? undefined : read)
    },
    touch(path) {
      touched.add(path)
      if (isListed) place(path)
    },
    settle,
    status: allowed => statusOf({ tree, isListed, scan, past, failed }, allowed),
    save,
  }
}

interface Seen {
  readonly tree: Tree
  readonly isListed: boolean
  readonly scan: Scan | undefined
  readonly past: History | 'no-git' | 'no-commits' | undefined
  readonly failed: string | undefined
}

function statusOf({ tree, isListed, scan, past, failed }: Seen, allowed: readonly string[]): readonly SourceStatus[] {
  const none = {} as const
  type Rest = Omit<SourceStatus, 'id'>
  const ready = (facts: SourceStatus['facts'] = none): Rest => ({ status: 'ready', why: null, facts })
  const silent = (why: string, facts: SourceStatus['facts'] = none): Rest => ({ status: 'silent', why, facts })
  const warming: Rest = { status: 'warming', why: null, facts: none }
  const notThere = failed === undefined ? warming : silent(failed)
  const index = !isListed
    ? notThere
    : tree.capped
      ? silent('index-capped', { most: maxPaths })
      : { ...ready({ paths: tree.size }), why: tree.listed ? null : 'no-git' }
  const scanned = (facts: (scan: Scan) => SourceStatus['facts']): Rest =>
    tree.capped ? silent('index-capped') : scan === undefined ? notThere : ready(facts(scan))
  const ofHistory = (): Rest => {
    if (tree.capped) return silent('index-capped')
    if (past === undefined) return notThere
    if (typeof past === 'string') return silent(past)
    const facts = { commits: past.commits, read: past.read, skipped: past.skipped }
    if (past.isShort) return silent('history-short', facts)
    return past.whole ? ready(facts) : { ...ready(facts), why: 'history-cut' }
  }
  const listed = !isListed ? notThere : tree.capped ? silent('index-capped') : ready()
  const rows: readonly (readonly [SourceStatus['id'], Rest])[] = [
    ['index', index],
    ['convention', isListed ? ready() : notThere],
    ['imports', scanned(({ files }) => ({ files }))],
    ['cochange', ofHistory()],
    ['mentions', scanned(({ documents }) => ({ documents }))],
    ['symbol', scanned(({ files }) => ({ files }))],
    ['declared', ready()],
    ['sibling', listed],
    ['unreleased', listed],
    ['habit', ofHistory()],
  ]
  return rows.map(([id, rest]) => {
    const isOff = id !== 'index' && allowed.length > 0 && !allowed.includes(id)
    return isOff ? { id, status: 'off', why: 'not in evidence', facts: none } : { id, ...rest }
  })
}
