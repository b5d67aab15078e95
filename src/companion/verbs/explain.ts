/** `explain`: everything that speaks for the companions of one file, below the gates too, and what the sources know. */
import { OutriggerError } from '../../errors.ts'
import type { Caller, Operation } from '../../session/operation.ts'
import { baseName } from '../../text/paths.ts'
import { documentNumber, shownConfidence } from '../confidence.ts'
import { isLiteral } from '../config.ts'
import { testsItself } from '../evidence/find.ts'
import { isNameable, rankCandidates } from '../evidence/rank.ts'
import { isExcluded } from '../names.ts'
import { type Companion, gateNow, isEnabled } from '../project.ts'
import type { SourceStatus } from '../sources.ts'
import type { FileClass } from '../types.ts'
import { type EvidenceDocument, evidenceOf } from './for.ts'
import { decoder, exists, type GetCompanion, typedPath } from './shared.ts'

export interface ExplainInput {
  readonly path: string
}

export type Verdict = 'named' | 'below-gate' | 'excluded' | 'unprintable' | 'none' | 'self-tested'

export interface ExplainOutput {
  readonly path: string
  readonly kind: FileClass
  readonly package: { readonly dir: string; readonly name: string }
  readonly intents: readonly {
    readonly id: string
    readonly gate: number
    readonly k: number | null
    readonly verdict: Verdict
    readonly candidates: readonly {
      readonly path: string
      readonly missing: boolean
      readonly sum: number
      readonly k: number
      readonly verdict: Verdict
      readonly because: readonly string[]
      readonly evidence: readonly EvidenceDocument[]
    }[]
  }[]
  readonly sources: readonly SourceStatus[]
}

const input = {
  type: 'object',
  properties: { path: { type: 'string', description: 'a file of the project', minLength: 1, maxLength: 4096 } },
  required: ['path'],
  additionalProperties: false,
} as const

export function explainOperation(get: GetCompanion): Operation<ExplainInput, ExplainOutput> {
  return {
    name: 'companion.explain',
    summary: 'Shows what speaks for the companions of one file, those below the gate too, and what each source knows.',
    input,
    positional: ['path'],
    readOnly: true,
    decode: decoder<ExplainInput>(input),
    run: (given, caller) => run(get(), given, caller),
    render,
    examples: ['outrigger companion explain src/parse.ts', 'outrigger companion explain src/parse.ts --json'],
  }
}

async function run(companion: Companion, given: ExplainInput, caller: Caller): Promise<ExplainOutput> {
  const { deps, knowledge } = companion
  const config = companion.config()
  const path = typedPath(deps, given.path, caller)
  const [declaredBy] = await Promise.all([deps.readEdges(), knowledge.ready()])
  const compiled = companion.compiled(config)
  const sources = knowledge.now(compiled, declaredBy)
  if (!exists(deps, path) && !sources.tree.has(path)) throw noSuchPath(given.path, path, sources.tree.paths())
  const literal = isLiteral(config, 'exclude')
  const isOut = isExcluded(path, config.exclude, literal)
  const intents = compiled.intents
    .filter(intent => intent.find.length > 0 && isEnabled(intent, config))
    .map(intent => {
      const gate = gateNow(intent, config)
      const candidates = rankCandidates(sources, intent, [path], config.evidence, () => null).map(candidate => ({
        path: candidate.path,
        missing: candidate.missing,
        sum: candidate.sum,
        k: documentNumber(candidate.k),
        verdict: ((): Verdict => {
          if (candidate.k < gate) return 'below-gate'
          if (isOut || isExcluded(candidate.path, config.exclude, literal)) return 'excluded'
          return isNameable(candidate) ? 'named' : 'unprintable'
        })(),
        because: candidate.because,
        evidence: evidenceOf(candidate),
      }))
      const isSelfTested = candidates.length === 0 && intent.find.includes('tests') && testsItself(sources, path)
      const verdict =
        candidates.find(each => each.verdict === 'named')?.verdict ??
        candidates[0]?.verdict ??
        (isSelfTested ? 'self-tested' : 'none')
      return { id: intent.id, gate, k: candidates[0]?.k ?? null, verdict, candidates }
    })
  const { dir, name } = knowledge.packages.of(path)
  return {
    path,
    kind: sources.tree.kind(path),
    package: { dir: dir === '' ? '.' : dir, name },
    intents,
    sources: knowledge.status(config.evidence),
  }
}

function noSuchPath(typed: string, path: string, known: Iterable<string>): OutriggerError {
  const name = baseName(path).toLowerCase()
  let near: string | undefined
  for (const other of known) {
    if (baseName(other).toLowerCase() !== name) continue
    near = other
    break
  }
  return new OutriggerError('COMPANION_NO_SUCH_PATH', `there is no ${typed.slice(0, 200)}`, {
    subject: typed,
    hint: near === undefined ? 'give the path of a file that is there' : `did you mean ${near.slice(0, 200)}?`,
  })
}

function render({ path, kind, package: of, intents, sources }: ExplainOutput): string {
  return [
    `${path}: ${kind} of ${of.name} (${of.dir})`,
    ...intents.flatMap(intent => [
      `${intent.id}: ${intent.verdict}, gate ${shownConfidence(intent.gate)}`,
      ...intent.candidates.flatMap(each => [
        `  ${shownConfidence(each.k)} ${each.path}${each.missing ? ' (missing)' : ''}: ${each.verdict}`,
        ...each.evidence.map(({ signal, weight, strength, detail }) =>
          `    ${signal} ${weight} × ${strength} ${Object.entries(detail)
            .map(([key, value]) => `${key}=${value}`)
            .join(' ')}`.trimEnd(),
        ),
      ]),
    ]),
    ...sources.map(({ id, status, why, facts }) => {
      const known = Object.entries(facts).map(([key, value]) => `${value} ${key}`)
      return `source ${id}: ${[status, ...(why === null ? [] : [why]), ...known].join(', ')}`
    }),
  ].join('\n')
}
