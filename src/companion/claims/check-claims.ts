/** Claims of documents against what was counted: agreements, drifts, and what cannot be known yet. */
import { baseName, folderOf } from '../../text/paths.ts'
import type { CompanionDeps } from '../deps.ts'
import { byCodePoint, isPrintable } from '../names.ts'
import { globMatcher, textMatcher } from '../pack/patterns.ts'
import type { Claim, Measure } from '../pack/types.ts'
import type { Package, Packages } from '../packages.ts'
import type { Drift } from '../texts.ts'
import type { Tree } from '../tree.ts'
import { type Stated, statedIn, withoutFences } from './in-readme.ts'
import type { Observations } from './observations.ts'

export type WhyUnknown = 'no-run' | 'expired' | 'partial-run' | 'failing-run' | 'ambiguous' | 'no-measure'

export interface CheckedClaim {
  readonly id: string
  readonly file: string
  readonly line: number
  readonly column: number
  readonly text: string
  readonly expected: number
  readonly actual: number | null
  readonly measure: 'passed' | 'total' | 'rows' | 'tree' | 'pattern'
  readonly status: 'ok' | 'drift' | 'unknown'
  /** Of what is unknown. */
  readonly why?: WhyUnknown
  /** Of a drift. */
  readonly reason?: string
  readonly package: Package
}

export interface ClaimContext {
  readonly deps: Pick<CompanionDeps, 'root' | 'files'>
  readonly tree: Tree
  readonly packages: Packages
  readonly observations: Observations
  readonly claims: readonly Claim[]
  readonly cache: ClaimCache
}

/** Documents by their stamps, so that a judged call parses none twice. */
export type ClaimCache = Map<string, { readonly stamp: string; readonly stated: readonly Stated[]; readonly text: string | null }>

const maxBytes = 512 * 1024
const maxDataBytes = 4 * 1024 * 1024
const decoder = new TextDecoder()

/** Claims of one package, by file, line and column. */
export function claimsOf(context: ClaimContext, of: Package): readonly CheckedClaim[] {
  const readme = readmeOf(context, of.dir)
  const found = readme === null ? [] : ofReadme(context, of, readme)
  return [...found, ...ofPacks(context, of)].sort(inOrder)
}

export const inOrder = (a: CheckedClaim, b: CheckedClaim): number =>
  byCodePoint(a.file, b.file) || a.line - b.line || a.column - b.column

/** Folders of packages whose documents may state something. */
export function packagesWithClaims({ tree, packages, claims }: ClaimContext): readonly Package[] {
  const dirs = new Set<string>([''])
  for (const path of tree.ofKind('doc')) {
    if (isReadme(path) && packages.at(folderOf(path)) !== null) dirs.add(folderOf(path))
  }
  for (const claim of claims)
    for (const file of claim.files) for (const path of filesOf(tree, file)) dirs.add(packages.of(path).dir)
  return [...dirs].sort(byCodePoint).flatMap(dir => packages.at(dir) ?? [])
}

const isReadme = (path: string) => baseName(path).toLowerCase() === 'readme.md'

function readmeOf({ tree }: ClaimContext, dir: string): string | null {
  const [first] = [...tree.names(dir)].filter(name => name.toLowerCase() === 'readme.md').sort(byCodePoint)
  return first === undefined ? null : join(dir, first)
}

function ofReadme(context: ClaimContext, of: Package, file: string): readonly CheckedClaim[] {
  const { stated } = read(context, file)
  const values = new Map<string, Set<number>>()
  for (const { measure, expected } of stated) {
    const known = values.get(measure)
    if (known === undefined) values.set(measure, new Set([expected]))
    else known.add(expected)
  }
  return stated.map(claim => {
    const base = { ...claim, file, package: of }
    if (claim.measure === 'rows') return settled(base, claim.rows!, 'the table total differs from its rows')
    if (values.get(claim.measure)!.size > 1) return unknown(base, 'ambiguous')
    return byRun(base, context.observations, claim.measure)
  })
}

type Base = Omit<CheckedClaim, 'actual' | 'status' | 'why' | 'reason'>

function settled(base: Base & { readonly rows?: number }, actual: number, reason: string): CheckedClaim {
  const { rows: _, ...claim } = base
  if (actual === claim.expected) return { ...claim, actual, status: 'ok' }
  return { ...claim, actual, status: 'drift', reason }
}

function unknown(base: Base, why: WhyUnknown): CheckedClaim {
  return { ...base, actual: null, status: 'unknown', why }
}

function byRun(base: Base, observations: Observations, measure: 'passed' | 'total'): CheckedClaim {
  const seen = observations.of(base.package.dir)
  if (seen === undefined) return unknown(base, 'no-run')
  if (seen.kind !== 'whole') return unknown(base, seen.kind)
  return settled(base, seen[measure], 'the claim differs from the last whole run')
}

function ofPacks(context: ClaimContext, of: Package): readonly CheckedClaim[] {
  return context.claims.flatMap(claim => {
    const matcher = textMatcher(claim.text, 'exactly-one')!
    const files = claim.files.flatMap(file => filesOf(context.tree, file))
    const own = files.filter(file => context.packages.of(file).dir === of.dir)
    const found = own.flatMap(file =>
      linesOf(context, file).flatMap((line, index) =>
        matcher(line).map(match => ({
          file,
          line: index + 1,
          column: match.start + 1,
          text: line.slice(match.start, match.end),
          expected: match.n!,
        })),
      ),
    )
    const first = claim.files[0]!
    const isHome = context.packages.of(first).dir === of.dir
    if (found.length === 0) {
      const isAnywhere = files.some(file => !own.includes(file) && linesOf(context, file).some(line => matcher(line).length > 0))
      if (!claim.required || !isHome || isAnywhere) return []
      const base = {
        id: claim.id,
        file: first,
        line: 1,
        column: 1,
        text: '',
        expected: 0,
        measure: 'pattern' as const,
        package: of,
      }
      return [{ ...base, actual: 0, status: 'drift' as const, reason: 'the claim pattern matched nothing' }]
    }
    return found.map(place =>
      measured(context, claim, { ...place, id: claim.id, measure: measureName(claim.measure), package: of }),
    )
  })
}

const measureName = (measure: Measure): CheckedClaim['measure'] => (measure.kind === 'tests' ? measure.of : 'tree')

function measured(context: ClaimContext, { measure }: Claim, base: Base): CheckedClaim {
  if (measure.kind === 'tests') return byRun(base, context.observations, measure.of)
  const actual = measureTree(context, measure)
  return actual === null ? unknown(base, 'no-measure') : settled(base, actual, 'the claim differs from the tree')
}

function measureTree(context: ClaimContext, measure: Exclude<Measure, { kind: 'tests' }>): number | null {
  switch (measure.kind) {
    case 'files':
      return context.tree.capped ? null : filesOf(context.tree, measure.files).length
    case 'lines': {
      if (context.tree.capped) return null
      const matcher = textMatcher(measure.text, 'none')!
      let count = 0
      for (const file of filesOf(context.tree, measure.files)) {
        const text = textOf(context, file, maxDataBytes)
        if (text === null) return null
        for (const line of text.split(/\r\n|\r|\n/)) if (matcher(line).length > 0) count++
      }
      return count
    }
    case 'json':
      return pointed(textOf(context, measure.file, maxDataBytes), measure.pointer)
    default:
      return measure satisfies never
  }
}

/** A number, or the size of an array or object. */
function pointed(text: string | null, pointer: string): number | null {
  if (text === null) return null
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    return null
  }
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return null
    value = (value as Record<string, unknown>)[key]
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  return typeof value === 'object' && value !== null ? Object.keys(value).length : null
}

function filesOf(tree: Tree, glob: string): readonly string[] {
  if (!/[*?]/.test(glob)) return tree.has(glob) ? [glob] : []
  const matches = globMatcher(glob)
  return [...tree.paths()].filter(path => matches(path)).sort(byCodePoint)
}

function linesOf(context: ClaimContext, file: string): readonly string[] {
  const { text } = read(context, file)
  if (text === null) return []
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)
  return withoutFences(text).map((line, at) => (lines[at]!.includes('<!-- outrigger: no claim -->') ? '' : line))
}

function read(context: ClaimContext, file: string): { readonly stated: readonly Stated[]; readonly text: string | null } {
  const { cache, deps } = context
  let stamp = 'gone'
  try {
    const stat = deps.files.lstat(`${deps.root}/${file}`)
    if (stat !== undefined) stamp = `${stat.size} ${stat.mtimeNs}`
  } catch {
    // Reading it says the same.
  }
  const known = cache.get(file)
  if (known?.stamp === stamp) return known
  const text = textOf(context, file, maxBytes)
  const found = { stamp, text, stated: text === null ? [] : statedIn(text) }
  cache.set(file, found)
  return found
}

/** A regular file of the project; a link is none. */
function textOf({ deps }: ClaimContext, file: string, most: number): string | null {
  try {
    const path = `${deps.root}/${file}`
    const real = deps.files.realpath(path)
    const root = deps.files.realpath(deps.root) ?? deps.root
    if (real === undefined || !real.replaceAll('\\', '/').startsWith(`${root.replaceAll('\\', '/')}/`)) return null
    return decoder.decode(deps.files.read(path, most))
  } catch {
    return null
  }
}

export interface Reconciled {
  readonly package: Package
  readonly drifts: readonly Drift[]
  readonly expected: number
  readonly actual: number
}

/** What known claims add up to; `null`: nothing is known. */
export function reconcileClaims(of: Package, claims: readonly CheckedClaim[]): Reconciled | null {
  const known = claims.filter(claim => claim.status !== 'unknown')
  if (known.length === 0) return null
  const sum = (pick: (claim: CheckedClaim) => number) => known.reduce((total, claim) => total + pick(claim), 0)
  return {
    package: of,
    drifts: known.filter(claim => claim.status === 'drift' && isPrintable(claim.file)).map(driftOf),
    expected: sum(claim => claim.expected),
    actual: sum(claim => claim.actual!),
  }
}

const driftOf = ({ file, line, reason, expected, actual }: CheckedClaim): Drift => ({
  file: `${file}:${line}`,
  reason: reason!,
  expected,
  actual: actual!,
})

function join(dir: string, name: string): string {
  return dir === '' ? name : `${dir}/${name}`
}
