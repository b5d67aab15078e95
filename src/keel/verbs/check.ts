/** `check`: which documents are behind their sources, for a person, a model, and CI. */
import type { Caller, Operation } from '../../session/operation.ts'
import { isDocumentPath, prepareAnchor, viewAnchor } from '../anchors.ts'
import { parseChild } from '../child.ts'
import type { KeelDeps } from '../deps.ts'
import { junitReport } from '../report/junit.ts'
import { sarifReport } from '../report/sarif.ts'
import { checkText } from '../report/text.ts'
import type { Assessment, Edge, KeelProject, LocatedProblem } from '../types.ts'
import {
  type Answer,
  absolutePath,
  decoder,
  edgesBelow,
  formatField,
  inTurn,
  isBelow,
  isOn,
  type KeelVerbs,
  outField,
  pathsField,
  projectPath,
  refreshOptions,
  unknownFile,
} from './shared.ts'

export interface CheckInput {
  readonly paths?: readonly string[]
  readonly since?: string
  readonly changed?: readonly string[]
  readonly all?: boolean
  readonly strict?: boolean
  readonly chain?: boolean
  readonly diff?: boolean
  readonly blame?: boolean
  readonly budget?: number
  readonly limit?: number
  readonly format?: 'text' | 'json' | 'sarif' | 'junit'
  readonly out?: string
}

type Verdict = 'clean' | 'unverified' | 'suspect'

export interface CheckSummary {
  readonly children: number
  readonly edges: number
  readonly clean: number
  readonly suspect: number
  readonly pending: number
  readonly okRequested: number
  readonly opaque: number
  readonly unresolved: number
  readonly unreadable: number
  readonly skipped: number
  readonly unknown: number
  readonly chain: number
  /** Suspects that the range leaves out. */
  readonly outOfRange: number
  readonly problems: number
}

/** Where the entry ends and which lines of the source it is about; only for reports that need it. */
export interface EdgePlace {
  readonly id: string
  readonly endLine: number
  readonly endColumn: number
  readonly source: { readonly firstLine: number; readonly lastLine: number } | null
}

export interface CheckOutput extends Answer {
  readonly project: string
  readonly verdict: Verdict
  readonly exit: 0 | 1
  readonly summary: CheckSummary
  readonly suspects: readonly Edge[]
  readonly unverified: readonly Edge[]
  /** Waiting for a stamp, asked for with `@ok` or new. */
  readonly pending: readonly Edge[]
  readonly cycles: Assessment['cycles']
  readonly problems: readonly LocatedProblem[]
  readonly degraded: readonly string[]
  readonly edges?: readonly Edge[]
  readonly places?: readonly EdgePlace[]
}

/** Edges of one call that a commit is looked up for. */
const maxBlamed = 20
/** Suspects that a tool's answer lists when the caller does not say. */
const toolLimit = 50

const input = {
  type: 'object',
  properties: {
    paths: pathsField,
    since: {
      type: 'string',
      description: 'only edges whose document or source differs between the merge base of this revision and now',
      maxLength: 200,
    },
    limit: { type: 'integer', description: 'list at most this many suspects', minimum: 1, maximum: 200 },
    changed: {
      type: 'array',
      description: 'only edges whose document or source is one of these files',
      items: { type: 'string', maxLength: 4096 },
      maxItems: 100_000,
    },
    all: { type: 'boolean', description: 'list every edge, the clean ones too' },
    strict: { type: 'boolean', description: 'fail also for what is not stamped or not checkable' },
    chain: { type: 'boolean', description: 'fail also for documents whose source is itself behind' },
    diff: { type: 'boolean', description: 'with what changed in each source' },
    blame: { type: 'boolean', description: 'with the last commit that touched each source' },
    budget: { type: 'integer', description: 'stop looking after this many milliseconds', minimum: 1, maximum: 3_600_000 },
    format: formatField(['text', 'json', 'sarif', 'junit']),
    out: outField,
  },
  additionalProperties: false,
} as const

export function checkOperation(verbs: KeelVerbs): Operation<CheckInput, CheckOutput> {
  return {
    name: 'keel.check',
    tool: 'keel_check',
    summary: 'Lists the documents whose sources changed since they were last reviewed, with the reason for each.',
    guidance:
      'A document names its sources under `sources:` in its frontmatter or in a comment under a heading. The stamp after a source (`@` and 12 hex digits) says which content of it the document was last reviewed against. A suspect needs an update of the document, an acknowledgement with keel_ok, or a fix of the reference.',
    input,
    cliOnly: ['changed', 'all', 'strict', 'chain', 'diff', 'blame', 'budget', 'format', 'out'],
    toolDefaults: { limit: toolLimit },
    cliDefaults: { limit: 'all' },
    positional: ['paths'],
    readOnly: true,
    decode: decoder<CheckInput>(input),
    run: (given, caller) => inTurn(verbs, (keel, deps) => check(keel, deps, given, caller)),
    render: checkText,
    formats: { sarif: sarifReport, junit: junitReport },
    exitCode: output => output.exit,
    examples: ['outrigger keel check', 'outrigger keel check docs --since origin/main --format sarif --out keel.sarif'],
  }
}

async function check(keel: KeelProject, deps: KeelDeps, given: CheckInput, caller: Caller): Promise<CheckOutput> {
  const since = given.since === undefined ? undefined : await keel.changedSince(given.since)
  const assessment = await keel.refresh(
    { kind: 'full', searchMoves: true },
    { ...refreshOptions(caller, keel, given.budget), ...(since !== undefined && { since: since.commit }) },
  )
  await keel.save()
  for (const typed of given.paths ?? []) refuseUnknown(typed, keel, deps, caller)
  const range = rangeOf(keel, deps, given, caller, since?.paths)
  const edges = range.edges(assessment.edges)
  const problems = assessment.problems.filter(problem => range.has(problem.file))
  const suspects = edges.filter(edge => edge.state === 'suspect')
  const all = assessment.edges.filter(edge => edge.state === 'suspect').length
  const unverified = edges.filter(edge => edge.class === 'unverified')
  const pending = edges.filter(isPending)
  const degraded = keel.assessment().degraded
  const chained = edges.filter(edge => edge.chain.length > 0)
  const isBehind = suspects.length > 0 || problems.some(problem => problem.level === 'error')
  const isUnsure = unverified.length > 0 || degraded.some(isUnsureNote)
  const isStrict = given.strict ?? keel.config.check.strict
  const isChained = given.chain ?? keel.config.check.chain
  const fails = isBehind || (isStrict && (pending.length > 0 || isUnsure)) || (isChained && chained.length > 0)
  const limit = given.limit ?? (caller.door === 'cli' ? undefined : toolLimit)
  const wantsAll = given.all === true || given.format === 'junit'
  const listed = await withEvidence(keel, limit === undefined ? suspects : suspects.slice(0, limit), given)
  return {
    on: isOn(keel),
    project: keel.root.replaceAll('\\', '/'),
    verdict: isBehind ? 'suspect' : isUnsure ? 'unverified' : 'clean',
    exit: fails ? 1 : 0,
    summary: summaryOf(
      edges,
      chained.length,
      all - suspects.length,
      problems.length,
      range.isWhole ? assessment.children : undefined,
    ),
    suspects: listed,
    unverified,
    pending,
    cycles: assessment.cycles,
    problems,
    degraded,
    ...(wantsAll && { edges: merged(assessment.edges, listed) }),
    ...(given.format === 'sarif' && { places: await placesOf(keel, deps, [...suspects, ...unverified]) }),
  }
}

/** A path given by hand that names nothing there and nothing that any edge knows is a slip. */
function refuseUnknown(typed: string, keel: KeelProject, deps: KeelDeps, caller: Caller): void {
  const path = projectPath(typed, keel, deps, caller)
  const isThere = path === '' || deps.files.lstat(absolutePath(keel, path)) !== undefined
  if (!isThere && edgesBelow(keel.assessment().edges, [path]).length === 0) throw unknownFile(typed)
}

/** Notes after which nothing may look checked. */
function isUnsureNote(note: string): boolean {
  return note.startsWith('sweep incomplete') || note.startsWith('stamps not read')
}

function isPending(edge: Edge): boolean {
  return edge.state === 'pending-stamp' || edge.state === 'ok-requested'
}

interface Range {
  readonly isWhole: boolean
  has(file: string): boolean
  edges(all: readonly Edge[]): readonly Edge[]
}

/** Paths, a revision and a list of files narrow one another. */
function rangeOf(
  keel: KeelProject,
  deps: KeelDeps,
  given: CheckInput,
  caller: Caller,
  since: ReadonlySet<string> | undefined,
): Range {
  const folders = given.paths?.map(path => projectPath(path, keel, deps, caller))
  const changed = given.changed && new Set(given.changed.map(path => projectPath(path, keel, deps, caller)))
  const sets = [since, changed].filter(set => set !== undefined)
  return {
    isWhole: (folders === undefined || folders.length === 0) && sets.length === 0,
    has: file => (folders === undefined || folders.length === 0 || isBelow(file, folders)) && sets.every(set => set.has(file)),
    edges: all => {
      const below = folders === undefined || folders.length === 0 ? all : edgesBelow(all, folders)
      return below.filter(edge => sets.every(set => set.has(edge.child) || (edge.target !== null && set.has(edge.target))))
    },
  }
}

function summaryOf(
  edges: readonly Edge[],
  chain: number,
  outOfRange: number,
  problems: number,
  children: number | undefined,
): CheckSummary {
  const of = (state: Edge['state']): number => edges.filter(edge => edge.state === state).length
  return {
    children: children ?? new Set(edges.map(edge => edge.child)).size,
    edges: edges.length,
    clean: of('clean'),
    suspect: of('suspect'),
    pending: of('pending-stamp'),
    okRequested: of('ok-requested'),
    opaque: of('opaque'),
    unresolved: of('unresolved'),
    unreadable: of('unreadable'),
    skipped: of('skipped'),
    unknown: of('unknown'),
    chain,
    outOfRange,
    problems,
  }
}

async function withEvidence(keel: KeelProject, suspects: readonly Edge[], given: CheckInput): Promise<readonly Edge[]> {
  const wantsDiff = given.diff === true || given.format === 'junit'
  if (!wantsDiff && given.blame !== true) return suspects
  const out: Edge[] = []
  for (const [index, edge] of suspects.entries()) {
    const diff = wantsDiff && edge.class === 'moved' ? await keel.diff(edge) : undefined
    const blame = given.blame === true && index < maxBlamed ? await keel.blame(edge) : null
    out.push({ ...edge, ...(diff !== undefined && { diff }), ...(blame !== null && { blame }) })
  }
  return out
}

function merged(edges: readonly Edge[], listed: readonly Edge[]): readonly Edge[] {
  const richer = new Map(listed.map(edge => [edge.id, edge]))
  return edges.map(edge => richer.get(edge.id) ?? edge)
}

/** Ends of entries and lines of sources. A file that moved meanwhile has none: a report points at the entry's start then. */
async function placesOf(keel: KeelProject, deps: KeelDeps, edges: readonly Edge[]): Promise<readonly EdgePlace[]> {
  const read = cached((path: string) => bytesOf(deps, absolutePath(keel, path)))
  const parse = cached((path: string) => {
    const bytes = read(path)
    return bytes === null ? null : parseChild(bytes)
  })
  const places: EdgePlace[] = []
  for (const edge of edges) {
    const bytes = read(edge.child)
    const entry = parse(edge.child)?.entries.find(one => one.line === edge.line && one.column === edge.column)
    if (bytes === null || entry === undefined) continue
    const lines = new TextDecoder().decode(bytes.subarray(entry.span.start, entry.span.end)).split(/\r\n|\r|\n/)
    places.push({
      id: edge.id,
      endLine: edge.line + lines.length - 1,
      endColumn: (lines.length === 1 ? edge.column : 1) + lines[lines.length - 1]!.length,
      source: await sourceLines(edge, read, parse),
    })
  }
  return places
}

async function sourceLines(
  { target, anchor }: Edge,
  read: (path: string) => Uint8Array | null,
  parse: (path: string) => ReturnType<typeof parseChild> | null,
): Promise<EdgePlace['source']> {
  if (target === null || anchor === null) return null
  const bytes = read(target)
  if (bytes === null) return null
  await prepareAnchor(target, anchor)
  const view = viewAnchor(bytes, target, anchor, isDocumentPath(target) ? parse(target) : null)
  return view.kind === 'found' ? { firstLine: view.firstLine, lastLine: view.lastLine } : null
}

/** Sources larger than this are not opened for a line number. */
const maxPlaceBytes = 16 * 1024 * 1024

function bytesOf(deps: KeelDeps, path: string): Uint8Array | null {
  try {
    return deps.files.read(path, maxPlaceBytes)
  } catch {
    // Gone, unreadable or too large since the sweep.
    return null
  }
}

function cached<T>(of: (path: string) => T): (path: string) => T {
  const known = new Map<string, T>()
  return path => {
    if (!known.has(path)) known.set(path, of(path))
    return known.get(path)!
  }
}
