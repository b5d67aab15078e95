/**
 * The candidates of one changed file: for each finder the files of the right kind and what speaks for
 * them. Reads maps that are there already; a source that is not ready says nothing.
 */
import { folderOf } from '../../text/paths.ts'
import type { CompanionDeps, DeclaredBy } from '../deps.ts'
import { codeLanguage, isGeneric, stemOf } from '../kinds.ts'
import { byCodePoint } from '../names.ts'
import type { Convention } from '../pack/types.ts'
import type { Packages } from '../packages.ts'
import type { Tree } from '../tree.ts'
import type { FileClass, Finder, Match } from '../types.ts'
import { type Expected, expectedTests, packTests, testsOfStem } from './conventions.ts'
import type { History, Together } from './history.ts'
import { holdsWord } from './mentions.ts'
import type { Scan } from './scan.ts'

export interface Sources {
  readonly deps: CompanionDeps
  readonly tree: Tree
  readonly packages: Packages
  readonly conventions: readonly Convention[]
  /** `undefined`: not there, or not yet. */
  readonly scan: Scan | undefined
  readonly history: History | undefined
  readonly declaredBy: DeclaredBy
  /** Memory of exact tests; dropped by the tree's owner. */
  readonly exact: Map<string, readonly Expected[]>
  /** Shares of code commits by changelog. */
  readonly habits: Map<string, { readonly support: number; readonly commits: number }>
}

export interface Found {
  readonly path: string
  readonly missing: boolean
  readonly matches: readonly Match[]
}

/** Which files an intent's finder takes for a changed one. */
const takes: Readonly<Record<Finder, (kind: FileClass) => boolean>> = {
  tests: kind => kind === 'source',
  docs: kind => kind === 'source' || kind === 'config',
  partners: kind => kind === 'source' || kind === 'config' || kind === 'doc',
  changelog: kind => kind === 'source',
}

/** Together at least this often, and this much more than by chance, to be partners. */
const partner = { support: 4, lift: 2 } as const
const minCodeCommits = 5
const minSiblings = 3
const maxDocumentBytes = 512 * 1024
const maxSelfTestBytes = 256 * 1024

/** @param changedText - text that the change wrote or took away; `null`: not known. */
export function findCandidates(sources: Sources, path: string, finder: Finder, changedText: string | null): readonly Found[] {
  const kind = sources.tree.kind(path)
  if (!takes[finder](kind)) return []
  switch (finder) {
    case 'tests':
      return findTests(sources, path)
    case 'docs':
      return findDocs(sources, path, changedText)
    case 'partners':
      return findPartners(sources, path, kind)
    case 'changelog':
      return findChangelog(sources, path)
    default:
      return finder satisfies never
  }
}

class Gathered {
  readonly #found = new Map<string, { missing: boolean; matches: Match[] }>()

  add(path: string, match: Match, missing = false): void {
    const known = this.#found.get(path)
    if (known === undefined) this.#found.set(path, { missing, matches: [match] })
    else {
      // The strongest of a kind speaks.
      const at = known.matches.findIndex(each => each.signal === match.signal)
      if (at === -1) known.matches.push(match)
      else if (known.matches[at]!.strength < match.strength) known.matches[at] = match
    }
  }

  has(path: string): boolean {
    return this.#found.has(path)
  }

  get isEmpty(): boolean {
    return this.#found.size === 0
  }

  list(): readonly Found[] {
    return [...this.#found].map(([path, found]) => ({ path, ...found }))
  }
}

/** A source with tests inside itself needs no other; a line that names a file of tests (`mod tests;`) is none. */
export function testsItself({ deps }: Pick<Sources, 'deps'>, path: string): boolean {
  if (codeLanguage(path) !== 'rust') return false
  try {
    const text = new TextDecoder().decode(deps.files.read(`${deps.root}/${path}`, maxSelfTestBytes))
    return /^\s*#\[cfg\(test\)\](?!\s*(?:#\[[^\]\n]*\]\s*)*(?:pub(?:\([^)\n]*\))?\s+)?mod\s+\w+\s*;)/m.test(text)
  } catch {
    return false
  }
}

function findTests(sources: Sources, path: string): readonly Found[] {
  if (testsItself(sources, path)) return []
  const { tree, scan } = sources
  const gathered = new Gathered()
  for (const test of exactTests(sources, path)) gathered.add(test.path, convention(path, 1, { exact: true }))
  if (gathered.isEmpty) {
    const byStem = testsOfStem(path, tree, sources.packages)
    for (const test of byStem?.tests ?? []) {
      const detail = { exact: false, sources: byStem!.sources, tests: byStem!.tests.length }
      gathered.add(test, convention(path, 0.9 / (byStem!.sources * byStem!.tests.length), detail))
    }
  }
  for (const { test, depth, fan, via } of scan?.testsOf(path) ?? []) {
    const strength = depth === 1 ? Math.min(1, 5 / fan) : 0.8 * Math.min(1, 2 / fan)
    const reason = via === undefined ? `it imports ${path}` : `it imports ${path} through ${via}`
    const detail = { depth, fan, ...(via !== undefined && { via }) }
    gathered.add(test, { signal: 'imports', strength, detail, reason })
  }
  const hasOwn = !gathered.isEmpty
  for (const together of togetherWith(sources, path)) {
    if (tree.kind(together.path) === 'test') gathered.add(together.path, cochange(path, together))
  }
  if (!hasOwn) {
    const missing = siblingTest(sources, path)
    if (missing !== null) gathered.add(missing.path, missing.match, true)
  }
  return gathered.list()
}

function convention(path: string, strength: number, detail: Match['detail']): Match {
  return { signal: 'convention', strength, detail, reason: `its name follows ${path}` }
}

function cochange(path: string, { support, commits, confidence, lift, of }: Together): Match {
  return {
    signal: 'cochange',
    strength: confidence,
    detail: { support, commits, confidence, lift, of },
    reason: `it changed with ${path} in ${support} of ${commits} commits`,
  }
}

function togetherWith({ history, tree }: Sources, path: string): readonly Together[] {
  return (history?.together(path) ?? []).filter(each => tree.has(each.path))
}

export function exactTests(sources: Sources, path: string): readonly Expected[] {
  const known = sources.exact.get(path)
  if (known !== undefined) return known
  const { tree, packages, conventions } = sources
  const { dir } = packages.of(path)
  const exists = tree.capped ? (test: string) => isThere(sources.deps, test, 'file') : (test: string) => tree.has(test)
  const look = tree.capped ? { hasFolder: (folder: string) => isThere(sources.deps, folder, 'folder') } : tree
  const found = expectedTests(path, dir, look).filter(
    each => each.path !== path && exists(each.path) && tree.kind(each.path) === 'test',
  )
  const ofPacks = packTests(path, conventions).filter(each => each.path !== path && exists(each.path))
  const all = [...found, ...ofPacks]
  if (!tree.capped) sources.exact.set(path, all)
  return all
}

function isThere({ root, files }: CompanionDeps, path: string, kind: 'file' | 'folder'): boolean {
  try {
    return files.lstat(path === '' ? root : `${root}/${path}`)?.kind === kind
  } catch {
    return false
  }
}

/** The test that a file without one would have if it were like its siblings. */
function siblingTest(sources: Sources, path: string): { readonly path: string; readonly match: Match } | null {
  const { tree } = sources
  if (tree.capped || isGeneric(stemOf(path)) || stemOf(path).startsWith('__')) return null
  const folder = folderOf(path)
  const extension = path.slice(path.lastIndexOf('.'))
  const siblings = [...tree.names(folder)]
    .map(name => (folder === '' ? name : `${folder}/${name}`))
    .filter(each => each !== path && each.endsWith(extension) && tree.kind(each) === 'source' && isPlain(each))
  if (siblings.length < minSiblings) return null
  const groups = new Map<string, number>()
  for (const sibling of siblings) {
    const pattern = exactTests(sources, sibling)[0]?.pattern
    if (pattern !== undefined) groups.set(pattern, (groups.get(pattern) ?? 0) + 1)
  }
  const [largest] = [...groups].sort(([a, m], [b, n]) => n - m || byCodePoint(a, b))
  if (largest === undefined) return null
  const [pattern, count] = largest
  const own = [...expectedTests(path, sources.packages.of(path).dir, everywhere), ...packTests(path, sources.conventions)]
  const wanted = own.find(each => each.pattern === pattern)?.path
  if (wanted === undefined || tree.has(wanted)) return null
  const match: Match = {
    signal: 'sibling',
    strength: count / siblings.length,
    detail: { with: count, siblings: siblings.length },
    reason: `${count} of ${siblings.length} siblings have one`,
  }
  return { path: wanted, match }
}

const everywhere = { hasFolder: () => true }

function isPlain(path: string): boolean {
  const stem = stemOf(path)
  return !isGeneric(stem) && !stem.startsWith('__') && !/\.d\.[mc]?ts$/.test(path)
}

function findDocs(sources: Sources, path: string, changedText: string | null): readonly Found[] {
  const { tree, scan, declaredBy } = sources
  const gathered = new Gathered()
  for (const together of togetherWith(sources, path)) {
    if (tree.kind(together.path) === 'doc') gathered.add(together.path, cochange(path, together))
  }
  for (const { document, how, name, names } of scan?.spokenOf(path) ?? []) {
    const strength = (how === 'path' ? 1 : 0.6) * Math.min(1, 20 / Math.max(names, 1))
    if (tree.kind(document) === 'doc')
      gathered.add(document, { signal: 'mentions', strength, detail: { how, name, names }, reason: `it names ${name}` })
  }
  for (const { symbol, documents } of scan?.symbolsOf(path) ?? []) {
    const changed = changedText !== null && holdsWord(changedText, symbol)
    const match: Match = {
      signal: 'symbol',
      strength: changed ? 1 : 0.4,
      detail: { symbol, changed },
      reason: `it names ${symbol}`,
    }
    for (const document of documents) if (tree.kind(document) === 'doc') gathered.add(document, match)
  }
  for (const child of declaredBy(path)) {
    if (child === path || tree.kind(child) !== 'doc') continue
    gathered.add(child, { signal: 'declared', strength: 1, detail: {}, reason: `it declares ${path} as a source` })
  }
  return gathered.list()
}

function findPartners(sources: Sources, path: string, kind: FileClass): readonly Found[] {
  const isPartner = (other: FileClass) => (kind === 'doc' ? other === 'doc' : other === 'source' || other === 'config')
  return togetherWith(sources, path)
    .filter(each => each.support >= partner.support && each.lift >= partner.lift && isPartner(sources.tree.kind(each.path)))
    .map(each => ({ path: each.path, missing: false, matches: [cochange(path, each)] }))
}

function findChangelog(sources: Sources, path: string): readonly Found[] {
  if (sources.tree.capped) return []
  const { dir } = sources.packages.of(path)
  const changelog = changelogIn(sources.tree, dir) ?? changelogIn(sources.tree, '')
  if (changelog === null) return []
  const matches: Match[] = []
  if (hasOpenSection(sources, changelog)) {
    matches.push({ signal: 'unreleased', strength: 1, detail: {}, reason: 'it has an unreleased section' })
  }
  const habit = habitOf(sources, changelog)
  if (habit !== null && habit.support > 0) {
    const { support, commits } = habit
    const reason = `${support} of ${commits} code commits touched it`
    matches.push({ signal: 'habit', strength: support / commits, detail: { support, commits }, reason })
  }
  return matches.length === 0 ? [] : [{ path: changelog, missing: false, matches }]
}

function changelogIn(tree: Tree, dir: string): string | null {
  const [first] = [...tree.names(dir)]
    .map(name => (dir === '' ? name : `${dir}/${name}`))
    .filter(path => tree.kind(path) === 'changelog')
    .sort(byCodePoint)
  return first ?? null
}

function hasOpenSection({ deps }: Sources, path: string): boolean {
  try {
    const text = new TextDecoder().decode(deps.files.read(`${deps.root}/${path}`, 4 * maxDocumentBytes))
    return /^(?:##[ \t]+\[?unreleased\]?(?:\([^)\n]*\)|\[[^\]\n]*\])?[ \t]*#*[ \t]*$|\[?unreleased\]?[ \t]*\r?\n-{3,}[ \t]*$)/im.test(
      text,
    )
  } catch {
    return false
  }
}

function habitOf(
  { history, tree, habits }: Sources,
  changelog: string,
): { readonly support: number; readonly commits: number } | null {
  if (history === undefined || history.isShort) return null
  let known = habits.get(changelog)
  if (known === undefined) {
    const folder = folderOf(changelog)
    const below = folder === '' ? '' : `${folder}/`
    known = history.habit(changelog, file => file.startsWith(below) && tree.kind(file) === 'source')
    habits.set(changelog, known)
  }
  return known.commits >= minCodeCommits ? known : null
}
