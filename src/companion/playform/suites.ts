/** Suites of a package against the counts that their READMEs state, in the playform profile. */
import { relativeTo } from '../../text/paths.ts'
import { readExpectedCount } from '../claims/readme-count.ts'
import { isLiteral } from '../config.ts'
import type { CompanionDeps } from '../deps.ts'
import { isExcluded, isPrintable } from '../names.ts'
import type { Drift } from '../texts.ts'
import type { CompanionConfig } from '../types.ts'
import { isKind, type Workspace } from './workspace.ts'

type Package = NonNullable<Workspace['package']>

/** Nodes of the host's own graph, where it offers one. */
export interface TestNode {
  readonly path: string
}

/** The last number of a run of one suite, and the files that it ran. */
export interface SuiteRun {
  readonly n: number
  readonly stamp: string
}

export interface SuiteContext {
  readonly deps: Pick<CompanionDeps, 'files'>
  readonly config: CompanionConfig
  /** By absolute folder of the suite. */
  readonly runs: Map<string, SuiteRun>
  /** Counts of READMEs by their stamps. */
  readonly counts: Map<string, { readonly stamp: string; readonly n: number | null }>
  /** Nodes of the package; throws or gives nothing where the host has none. */
  readonly nodes?: (dir: string) => readonly TestNode[]
}

export interface SuitesFound {
  readonly drifts: readonly Drift[]
  readonly expected: number
  readonly actual: number
  /** Folders that could not be looked at. */
  readonly skipped: readonly string[]
}

const maxBytes = 512 * 1024

/** `null`: the package has no suites. */
export function reconcileSuites(context: SuiteContext, of: Package): SuitesFound | null {
  const { deps, config } = context
  const home = `${of.dir}/Source/Test`
  if (!isKind(deps, home, 'folder')) return null
  const drifts: Drift[] = []
  const skipped: string[] = []
  let expected = 0
  let actual = 0
  const real = deps.files.realpath(of.dir) ?? of.dir
  for (const name of namesIn(context, home, skipped)) {
    if (name.startsWith('.') || isExcluded(name, config.exclude, isLiteral(config, 'exclude')) || !isPrintable(name)) continue
    const folder = `${home}/${name}`
    const target = deps.files.realpath(folder)
    if (target === undefined || relativeTo(real, target) === null) {
      skipped.push(name)
      continue
    }
    const readme = `${folder}/README.md`
    const hasReadme = isKind(deps, readme, 'file')
    const hasTest = isKind(deps, `${folder}/Test.ts`, 'file')
    if (!hasReadme && !hasTest) continue
    const n = hasReadme ? countOf(context, readme) : null
    const roster = `${of.dir}/Target/Test/${name}/Test.js`
    const hasRoster = isKind(deps, roster, 'file')
    const seen = config.observe ? observed(context, folder, roster) : null
    const local = `Source/Test/${name}`
    expected += n ?? 0
    if (hasTest && hasRoster) actual += n === null ? 0 : (seen ?? n)
    if (n === null) drifts.push({ file: `${local}/README.md`, reason: 'no "## Expected count"', expected: 0, actual: 0 })
    else if (!hasTest)
      drifts.push({ file: `${local}/Test.ts`, reason: 'the README count has no Test.ts', expected: n, actual: 0 })
    else if (!hasRoster) {
      drifts.push({ file: `Target/Test/${name}/Test.js`, reason: "not in the aggregate runner's roster", expected: n, actual: 0 })
    } else if (seen !== null && seen !== n) {
      drifts.push({ file: `${local}/README.md`, reason: 'the README count differs from the last run', expected: n, actual: seen })
    }
  }
  for (const { path } of nodesOf(context, of.dir)) {
    if (isPrintable(path) && !isKind(deps, `${of.dir}/${path}`, 'file')) {
      drifts.push({ file: path, reason: "the graph's Test node has no file", expected: 1, actual: 0 })
    }
  }
  return { drifts, expected, actual, skipped }
}

/** A graph that is absent, empty or broken contributes nothing. */
function nodesOf({ nodes }: SuiteContext, dir: string): readonly TestNode[] {
  try {
    return nodes?.(dir) ?? []
  } catch {
    return []
  }
}

/** Folders and links to them, by name. */
function namesIn({ deps }: SuiteContext, home: string, skipped: string[]): readonly string[] {
  try {
    return deps.files
      .list(home)
      .filter(({ kind }) => kind === 'folder' || kind === 'link')
      .filter(({ kind, name }) => kind === 'folder' || isLinkToFolder(deps, `${home}/${name}`))
      .map(({ name }) => name)
      .sort()
  } catch {
    skipped.push('.')
    return []
  }
}

/** One that leads nowhere is still looked at, to be named as skipped. */
function isLinkToFolder(deps: SuiteContext['deps'], path: string): boolean {
  try {
    const stat = deps.files.stat(path)
    return stat === undefined || stat.kind === 'folder'
  } catch {
    return true
  }
}

function countOf({ deps, config, counts }: SuiteContext, readme: string): number | null {
  const stamp = stampOf(deps, readme)
  const known = counts.get(readme)
  if (known?.stamp === stamp) return known.n
  let n: number | null = null
  try {
    n = readExpectedCount(new TextDecoder().decode(deps.files.read(readme, maxBytes)), isLiteral(config, 'count'))?.n ?? null
  } catch {
    n = null
  }
  counts.set(readme, { stamp, n })
  return n
}

function stampOf({ files }: SuiteContext['deps'], path: string): string {
  try {
    const stat = files.stat(path)
    return stat === undefined ? 'gone' : `${stat.size} ${stat.mtimeNs}`
  } catch {
    return 'unreadable'
  }
}

const runStamp = (deps: SuiteContext['deps'], folder: string, roster: string) =>
  `${stampOf(deps, `${folder}/Test.ts`)}|${stampOf(deps, roster)}`

function observed({ deps, runs }: SuiteContext, folder: string, roster: string): number | null {
  const run = runs.get(folder)
  if (run === undefined) return null
  if (run.stamp === runStamp(deps, folder, roster)) return run.n
  runs.delete(folder)
  return null
}

const suiteFile = /(?:^|[\s"'=/])((?:[\w./-]*\/)?(?:Source|Target)\/Test\/([A-Za-z0-9_-]+)\/Test\.[tj]s)(?=$|[\s"';|&)])/g

/** A command that ran exactly one suite, and what it printed. */
export function observeSuite(
  { deps, runs }: Pick<SuiteContext, 'deps' | 'runs'>,
  of: Package,
  command: string,
  output: string,
): void {
  const suites = new Set([...command.matchAll(suiteFile)].map(match => match[2]!))
  if (suites.size !== 1 || /[*?]|\$\w|\bxargs\b|\bfor\b/.test(command)) return
  const counts = [...output.matchAll(/^(\d{1,7}) PASS\b/gm)]
  const last = counts.at(-1)
  if (last === undefined) return
  const [suite] = suites
  const folder = `${of.dir}/Source/Test/${suite}`
  runs.set(folder, { n: Number(last[1]), stamp: runStamp(deps, folder, `${of.dir}/Target/Test/${suite}/Test.js`) })
}
