/** `check`: what documents state against what was counted, and changes whose companions stayed behind; for CI. */
import { OutriggerError } from '../../errors.ts'
import type { Caller, Operation } from '../../session/operation.ts'
import { absoluteIn, isAbsolutePath, relativeTo } from '../../text/paths.ts'
import { type CheckedClaim, claimsOf, inOrder, packagesWithClaims, reconcileClaims } from '../claims/check-claims.ts'
import { createObservations } from '../claims/observations.ts'
import { runIn } from '../claims/runs.ts'
import { documentNumber } from '../confidence.ts'
import { isLiteral } from '../config.ts'
import { byCodePoint } from '../names.ts'
import { reconcileSuites } from '../playform/suites.ts'
import { packagesBelow, rootAbove } from '../playform/workspace.ts'
import type { Companion } from '../project.ts'
import { checkSarif } from '../report/sarif.ts'
import type { CompanionConfig } from '../types.ts'
import { companionsOf } from './for.ts'
import { decoder, type GetCompanion, typedPath } from './shared.ts'

export interface CheckInput {
  readonly paths?: readonly string[]
  readonly format?: 'text' | 'json' | 'sarif'
  readonly results?: readonly string[]
  readonly package?: string
  readonly strict?: boolean
  readonly since?: string
  readonly minK?: string
  readonly require?: boolean
  readonly out?: string
}

export interface ClaimDocument {
  readonly id: string
  readonly file: string
  readonly line: number
  readonly column: number
  readonly text: string
  readonly expected: number
  readonly actual: number | null
  readonly measure: CheckedClaim['measure']
  readonly status: CheckedClaim['status']
  readonly package: string
  readonly why?: string
}

export interface DriftDocument {
  readonly file: string
  readonly line: number
  readonly reason: string
  readonly expected: number
  readonly actual: number
  readonly package: string
}

export interface UntouchedDocument {
  readonly path: string
  readonly companion: string
  readonly intent: string
  readonly k: number
  readonly because: readonly string[]
}

export interface CheckOutput {
  readonly ok: boolean
  readonly claims: readonly ClaimDocument[]
  readonly drifts: readonly DriftDocument[]
  readonly packages: readonly {
    readonly name: string
    readonly dir: string
    readonly expected: number
    readonly actual: number
    readonly drifts: number
  }[]
  readonly untouched: readonly UntouchedDocument[]
  readonly totals: { readonly claims: number; readonly ok: number; readonly drift: number; readonly unknown: number }
  /** No workspace of the profile. */
  readonly foreign?: true
  readonly truncated?: true
}

const maxResultBytes = 64 * 1024 * 1024
const maxToolPaths = 20
const maxToolBytes = 16 * 1024
const defaultMinK = 0.9

const input = {
  type: 'object',
  properties: {
    paths: {
      type: 'array',
      description: 'only documents at or below these',
      items: { type: 'string', maxLength: 4096 },
      maxItems: 10_000,
    },
    format: { type: 'string', description: 'form of the answer', enum: ['text', 'json', 'sarif'], default: 'text' },
    results: {
      type: 'array',
      description: 'output of a run of all tests',
      items: { type: 'string', maxLength: 4096 },
      maxItems: 100,
    },
    package: { type: 'string', description: 'the folder of the package that ran; default the project', maxLength: 4096 },
    strict: { type: 'boolean', description: 'fail also for claims that cannot be checked' },
    since: {
      type: 'string',
      description: 'also name companions of the files changed since the merge base with this revision',
      maxLength: 200,
    },
    minK: {
      type: 'string',
      description: 'with since: confidence from 0 to 1 that a companion needs; default 0.9',
      maxLength: 20,
    },
    require: { type: 'boolean', description: 'with since: fail for companions that stayed untouched' },
    out: { type: 'string', description: 'write the answer to this file', maxLength: 4096 },
  },
  additionalProperties: false,
} as const

export function checkOperation(get: GetCompanion): Operation<CheckInput, CheckOutput> {
  return {
    name: 'companion.check',
    tool: 'claims_check',
    summary:
      "Compare the numbers that the project's documents state with what was counted: agreements, drifts, and what cannot be known yet. Changes nothing.",
    input,
    cliOnly: ['format', 'results', 'package', 'strict', 'since', 'minK', 'require', 'out'],
    positional: ['paths'],
    readOnly: true,
    decode: decoder<CheckInput>(input),
    run: (given, caller) => run(get(), given, caller),
    render,
    formats: { json: output => JSON.stringify({ schema: 'outrigger.companion.check/1', ...output }), sarif: checkSarif },
    exitCode: output => (output.ok ? 0 : 1),
    examples: [
      'npx vitest run | tee tests.log; outrigger companion check --results tests.log',
      'outrigger companion check --since origin/main --require --format sarif --out companion.sarif',
    ],
  }
}

async function run(companion: Companion, given: CheckInput, caller: Caller): Promise<CheckOutput> {
  const { deps } = companion
  const config = companion.config()
  const isTool = caller.door !== 'cli'
  if (isTool && (given.paths?.length ?? 0) > maxToolPaths) throw usage(`give at most ${maxToolPaths} paths`, 'paths')
  const folders = (given.paths ?? []).map(typed => typedPath(deps, typed, caller))
  const minK = given.minK === undefined ? defaultMinK : Number(given.minK)
  if (!(minK >= 0 && minK <= 1) || given.minK?.trim() === '') throw usage('--min-k is a number from 0 to 1', 'minK')
  refusePacks(companion, config)
  if (config.compat === 'playform') return checkSuites(companion, config)
  await companion.knowledge.ready()
  const claims = checkClaims(companion, config, given, caller).filter(claim => isBelow(claim.file, folders))
  const untouched = given.since === undefined ? [] : await untouchedSince(companion, config, given.since, minK)
  return answer(companion, claims, untouched, given, isTool)
}

/** A pack that is refused stops a check: what it claims would silently not be looked at. */
function refusePacks(companion: Companion, config: CompanionConfig): void {
  const root = config.compat === 'playform' ? rootAbove(companion, config, companion.deps.root)?.root : undefined
  const bad = companion.compiled(config, root).layers.filter(({ status }) => status === 'ignored')
  const [first] = bad
  if (first === undefined) return
  throw new OutriggerError(
    'COMPANION_BAD_PACK',
    `the ${first.layer}'s pack is refused: ${first.faults[0]?.code} ${first.faults[0]?.message}`,
    {
      subject: first.file ?? first.layer,
      hint: '`outrigger companion packs` shows what is wrong',
      faults: bad.flatMap(({ layer, faults }) =>
        faults.map(({ code, message }) => ({ key: layer, message: `${code}: ${message}` })),
      ),
    },
  )
}

function usage(message: string, subject: string): OutriggerError {
  return new OutriggerError('COMPANION_USAGE', message, { subject, hint: '`outrigger help companion check` shows the options' })
}

function checkClaims(companion: Companion, config: CompanionConfig, given: CheckInput, caller: Caller): readonly CheckedClaim[] {
  const { deps, knowledge } = companion
  const { tree, packages } = knowledge
  const observations = given.results === undefined ? companion.observations : createObservations()
  for (const typed of given.results ?? []) {
    const dir = given.package === undefined ? '' : typedPath(deps, given.package, caller)
    const of = packages.of(dir === '' ? '.' : `${dir}/.`)
    observations.see(of.dir, readRun(companion, typed, caller), true)
  }
  const context = { deps, tree, packages, observations, claims: companion.compiled(config).claims, cache: companion.claimCache }
  return packagesWithClaims(context)
    .flatMap(of => claimsOf(context, of))
    .sort(inOrder)
}

function readRun({ deps }: Companion, typed: string, caller: Caller) {
  const path = isAbsolutePath(typed) ? typed : absoluteIn(caller.cwd ?? deps.root, typed)
  const refuse = (message: string, exit: 2 | 3) =>
    new OutriggerError('COMPANION_BAD_RESULTS', message, {
      subject: typed,
      hint: 'give the output of a whole run of the tests',
      exit,
    })
  if (deps.files.stat(path) === undefined) throw refuse(`there is no ${typed.slice(0, 200)}`, 3)
  const found = runIn(new TextDecoder().decode(deps.files.read(path, maxResultBytes)), true)
  if (found === null) throw refuse(`${typed.slice(0, 200)} holds no summary of a run`, 2)
  return found
}

function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.length === 0 || folders.some(folder => folder === '' || path === folder || path.startsWith(`${folder}/`))
}

async function untouchedSince(
  companion: Companion,
  config: CompanionConfig,
  since: string,
  minK: number,
): Promise<readonly UntouchedDocument[]> {
  const { deps, knowledge } = companion
  const base = await deps.git.mergeBase(deps.root, since)
  const changed = base === undefined ? undefined : await deps.git.changedSince(deps.root, base)
  if (changed === undefined) throw usage(`${since.slice(0, 100)} is no revision that this project shares history with`, 'since')
  const compiled = companion.compiled(config)
  const sources = knowledge.now(compiled, await deps.readEdges())
  const touched = new Set(changed)
  return [...changed].sort(byCodePoint).flatMap(path => {
    const wanted = companionsOf(sources, compiled, config, path).filter(({ candidate }) => candidate.k >= minK)
    if (wanted.some(({ candidate }) => touched.has(candidate.path))) return []
    return wanted.map(({ intent, candidate }) => ({
      path,
      companion: candidate.path,
      intent: intent.id,
      k: documentNumber(candidate.k),
      because: candidate.because,
    }))
  })
}

function answer(
  _companion: Companion,
  claims: readonly CheckedClaim[],
  untouched: readonly UntouchedDocument[],
  given: CheckInput,
  isTool: boolean,
): CheckOutput {
  const dirs = [...new Set(claims.map(claim => claim.package.dir))].sort(byCodePoint)
  const packages = dirs.map(dir => {
    const own = claims.filter(claim => claim.package.dir === dir)
    const of = own[0]!.package
    const sums = reconcileClaims(of, own)
    const drifts = own.filter(({ status }) => status === 'drift').length
    return { name: of.name, dir: dir === '' ? '.' : dir, expected: sums?.expected ?? 0, actual: sums?.actual ?? 0, drifts }
  })
  const count = (status: CheckedClaim['status']) => claims.filter(claim => claim.status === status).length
  const totals = { claims: claims.length, ok: count('ok'), drift: count('drift'), unknown: count('unknown') }
  const fails =
    totals.drift > 0 || (given.strict === true && totals.unknown > 0) || (given.require === true && untouched.length > 0)
  const output: CheckOutput = {
    ok: !fails,
    claims: claims.map(claimDocument),
    drifts: claims
      .filter(({ status }) => status === 'drift')
      .map(({ file, line, reason, expected, actual, package: of }) => ({
        file,
        line,
        reason: reason!,
        expected,
        actual: actual!,
        package: of.name,
      })),
    packages,
    untouched,
    totals,
  }
  return isTool ? fitted(output) : output
}

function claimDocument({
  id,
  file,
  line,
  column,
  text,
  expected,
  actual,
  measure,
  status,
  why,
  package: of,
}: CheckedClaim): ClaimDocument {
  return { id, file, line, column, text, expected, actual, measure, status, package: of.name, ...(why !== undefined && { why }) }
}

/** Entries are dropped from the end, agreements before what is wrong. */
function fitted(output: CheckOutput): CheckOutput {
  const size = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
  let { claims, drifts, untouched } = output
  let isCut = false
  while (size({ ...output, claims, drifts, untouched }) > maxToolBytes - 200) {
    isCut = true
    if (claims.length > 0) claims = claims.slice(0, -1)
    else if (untouched.length > 0) untouched = untouched.slice(0, -1)
    else if (drifts.length > 0) drifts = drifts.slice(0, -1)
    else break
  }
  return isCut ? { ...output, claims, drifts, untouched, truncated: true } : output
}

function checkSuites(companion: Companion, config: CompanionConfig): CheckOutput {
  const { deps } = companion
  const empty = { claims: [], untouched: [], totals: { claims: 0, ok: 0, drift: 0, unknown: 0 } }
  const found = rootAbove(companion, config, deps.root)
  if (found === null) return { ok: true, ...empty, drifts: [], packages: [], foreign: true }
  const drifts: DriftDocument[] = []
  const packages: CheckOutput['packages'][number][] = []
  for (const of of packagesBelow(deps, found.root, isLiteral(config, 'stubs'))) {
    const suites = reconcileSuites({ deps, config, runs: new Map(), counts: new Map() }, of)
    if (suites === null) continue
    const dir = relativeTo(found.root, of.dir) ?? ''
    const { expected, actual } = suites
    packages.push({ name: of.name, dir: dir === '' ? '.' : dir, expected, actual, drifts: suites.drifts.length })
    drifts.push(
      ...suites.drifts.map(drift => ({
        ...drift,
        file: dir === '' ? drift.file : `${dir}/${drift.file}`,
        line: 1,
        package: of.name,
      })),
    )
  }
  return { ok: drifts.length === 0, ...empty, drifts, packages, totals: { ...empty.totals, drift: drifts.length } }
}

function render({ claims, drifts, untouched, totals, foreign }: CheckOutput): string {
  if (foreign === true) return 'no workspace of this profile'
  const whys = [...new Set(claims.flatMap(({ status, why }) => (status === 'unknown' && why ? [why] : [])))].sort()
  const unknown = `${totals.unknown} unknown${whys.length === 0 ? '' : ` (${whys.join(', ')})`}`
  return [
    ...drifts.map(
      ({ file, line, reason, expected, actual }) => `${file}:${line} ${reason} (expected ${expected}, actual ${actual})`,
    ),
    ...untouched.map(
      ({ path, companion, k, because }) => `${path}: ${companion} stayed untouched (${k.toFixed(2)}: ${because.join('; ')})`,
    ),
    `${totals.claims} ${totals.claims === 1 ? 'claim' : 'claims'}: ${totals.ok} ok, ${totals.drift} drift, ${unknown}`,
  ].join('\n')
}
