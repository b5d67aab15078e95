/** `for`: the files that usually travel with the given ones, without a session. */
import { OutriggerError } from '../../errors.ts'
import type { Caller, Operation } from '../../session/operation.ts'
import { documentNumber, shownConfidence } from '../confidence.ts'
import { isLiteral } from '../config.ts'
import type { Sources } from '../evidence/find.ts'
import { isNameable, rankCandidates } from '../evidence/rank.ts'
import { byCodePoint, isExcluded } from '../names.ts'
import type { Compiled } from '../pack/types.ts'
import { type Companion, gateNow, isEnabled } from '../project.ts'
import { isRegular } from '../tree.ts'
import type { Candidate, CompanionConfig, Detail, FileClass, Intent } from '../types.ts'
import { decoder, type GetCompanion, requireThere, typedPath } from './shared.ts'

export interface ForInput {
  readonly paths: readonly string[]
  readonly limit?: number
  readonly removed?: boolean
  readonly until?: string
}

export interface EvidenceDocument {
  readonly signal: string
  readonly weight: number
  readonly strength: number
  readonly contribution: number
  readonly detail: Detail
}

export interface CompanionDocument {
  readonly path: string
  readonly intent: string
  readonly priority: number
  readonly k: number
  readonly missing: boolean
  readonly because: readonly string[]
  readonly evidence: readonly EvidenceDocument[]
}

export interface ForOutput {
  readonly paths: readonly {
    readonly path: string
    readonly kind: FileClass
    readonly companions: readonly CompanionDocument[]
  }[]
  /** Set when entries were left out to keep the answer small. */
  readonly truncated?: true
}

const cliLimit = 20
const toolLimit = 7
const maxToolPaths = 20
/** Of an answer to a model. */
const maxBytes = 16 * 1024

const input = {
  type: 'object',
  properties: {
    paths: {
      type: 'array',
      description: 'files of the project that changed or will change',
      items: { type: 'string', maxLength: 4096 },
      maxItems: 10_000,
    },
    limit: { type: 'integer', description: 'at most this many companions of each file', minimum: 1, maximum: 200 },
    removed: { type: 'boolean', description: 'also for files that are gone' },
    until: { type: 'string', description: 'history up to this revision instead of HEAD', maxLength: 200 },
  },
  required: ['paths'],
  additionalProperties: false,
} as const

export function forOperation(get: GetCompanion): Operation<ForInput, ForOutput> {
  return {
    name: 'companion.for',
    tool: 'companions_for',
    summary:
      'List the tests, documents and other files that usually travel with the given project files, each with a confidence from 0 to 1 and the reason. Reads the tree and its history; changes nothing.',
    input,
    cliOnly: ['removed', 'until'],
    toolDefaults: { limit: toolLimit },
    cliDefaults: { limit: String(cliLimit) },
    positional: ['paths'],
    readOnly: true,
    decode: decoder<ForInput>(input),
    run: (given, caller) => run(get(), given, caller),
    render,
    examples: ['outrigger companion for src/parse.ts', 'outrigger companion for src/parse.ts docs/use.md --json'],
  }
}

async function run(companion: Companion, given: ForInput, caller: Caller): Promise<ForOutput> {
  const { deps, knowledge } = companion
  const config = companion.config()
  const isTool = caller.door !== 'cli'
  if (given.paths.length === 0 || (isTool && given.paths.length > maxToolPaths)) {
    throw new OutriggerError('COMPANION_USAGE', `give 1 to ${isTool ? maxToolPaths : '10000'} paths`, {
      subject: 'paths',
      hint: 'name the files that changed',
    })
  }
  const paths = given.paths.map(typed => typedPath(deps, typed, caller))
  if (given.removed !== true) for (const [at, path] of paths.entries()) requireThere(deps, path, given.paths[at]!)
  const [declaredBy] = await Promise.all([deps.readEdges(), knowledge.ready()])
  const compiled = companion.compiled(config)
  const sources =
    given.until === undefined ? knowledge.now(compiled, declaredBy) : await knowledge.until(compiled, declaredBy, given.until)
  if (sources === null) {
    throw new OutriggerError('COMPANION_USAGE', `${given.until} is no revision here`, {
      subject: 'until',
      hint: 'give a commit, a branch or a tag',
    })
  }
  const limit = given.limit ?? (isTool ? toolLimit : cliLimit)
  const entries = paths.map(path => ({
    path,
    kind: sources.tree.kind(path),
    companions: companionsOf(sources, compiled, config, path).slice(0, limit).map(documentOf),
  }))
  return isTool ? fitted(entries) : { paths: entries }
}

export interface Ranked {
  readonly intent: Intent
  readonly candidate: Candidate
}

/** At or above the gates, by confidence, priority, path. */
export function companionsOf(sources: Sources, compiled: Compiled, config: CompanionConfig, path: string): readonly Ranked[] {
  const literal = isLiteral(config, 'exclude')
  if (isExcluded(path, config.exclude, literal)) return []
  return compiled.intents
    .filter(intent => intent.find.length > 0 && isEnabled(intent, config))
    .flatMap(intent => {
      const gate = gateNow(intent, config)
      return rankCandidates(sources, intent, [path], config.evidence, () => null)
        .filter(candidate => candidate.k >= gate)
        .filter(candidate => !isExcluded(candidate.path, config.exclude, literal) && isNameable(candidate))
        .filter(candidate => candidate.missing || isRegular(sources.deps, candidate.path))
        .map(candidate => ({ intent, candidate }))
    })
    .sort(
      (a, b) =>
        b.candidate.k - a.candidate.k || a.intent.priority - b.intent.priority || byCodePoint(a.candidate.path, b.candidate.path),
    )
}

function documentOf({ intent, candidate }: Ranked): CompanionDocument {
  const { path, k, missing, because } = candidate
  return {
    path,
    intent: intent.id,
    priority: intent.priority,
    k: documentNumber(k),
    missing,
    because,
    evidence: evidenceOf(candidate),
  }
}

export function evidenceOf({ evidence }: Candidate): readonly EvidenceDocument[] {
  return evidence.map(({ signal, weight, strength, contribution, detail }) => ({
    signal,
    weight,
    strength: documentNumber(strength),
    contribution: documentNumber(contribution),
    detail: Object.fromEntries(
      Object.entries(detail).map(([key, value]) => [key, typeof value === 'number' ? documentNumber(value) : value]),
    ),
  }))
}

/** Entries are dropped from the end. */
function fitted(entries: ForOutput['paths']): ForOutput {
  const kept = entries.map(entry => ({ ...entry, companions: [...entry.companions] }))
  const size = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
  let isCut = false
  while (size({ paths: kept }) > maxBytes - 200) {
    isCut = true
    const last = kept.at(-1)
    if (last === undefined) break
    if (last.companions.length > 0) last.companions.pop()
    else kept.pop()
  }
  return isCut ? { paths: kept, truncated: true } : { paths: kept }
}

function render({ paths, truncated }: ForOutput): string {
  const lines = paths.flatMap(({ path, companions }) => [
    companions.length === 0 ? `${path}: no companions` : path,
    ...companions.map(
      ({ path: other, intent, k, missing, because }) =>
        `  ${shownConfidence(k)} ${intent.padEnd(9)} ${other}${missing ? ' (missing)' : ''} - because ${because.join('; ')}`,
    ),
  ])
  return [...lines, ...(truncated === true ? ['… more was left out; ask for fewer paths'] : [])].join('\n')
}
